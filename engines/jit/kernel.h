// Runs a program (program.h) over the elements of a fusion.
#ifndef ASSAY_ENGINES_JIT_KERNEL_H_
#define ASSAY_ENGINES_JIT_KERNEL_H_

#include <memory>

#include "engines/jit/program.h"

namespace assay::jit {

std::shared_ptr<const Kernel> MakeKernel(Program program);

}  // namespace assay::jit

#endif  // ASSAY_ENGINES_JIT_KERNEL_H_
