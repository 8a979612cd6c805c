// Runs a program (program.h) over the elements of a fusion.
#ifndef ASSAY_EVALUATOR_FUSED_KERNEL_H_
#define ASSAY_EVALUATOR_FUSED_KERNEL_H_

#include <memory>

#include "evaluator/fused/program.h"

namespace assay::fused {

std::shared_ptr<const Kernel> MakeKernel(Program program);

}  // namespace assay::fused

#endif  // ASSAY_EVALUATOR_FUSED_KERNEL_H_
