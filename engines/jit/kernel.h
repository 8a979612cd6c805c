// Runs a stages (stages.h) over the elements of a fusion.
#ifndef ASSAY_ENGINES_JIT_KERNEL_H_
#define ASSAY_ENGINES_JIT_KERNEL_H_

#include <memory>

#include "engines/jit/stages.h"

namespace assay::jit {

std::shared_ptr<const Kernel> MakeKernel(Stages stages);

}  // namespace assay::jit

#endif  // ASSAY_ENGINES_JIT_KERNEL_H_
