// batch-norm-training, -inference and -grad of every float type.
#ifndef ASSAY_EVALUATOR_NATIVE_BATCH_NORM_H_
#define ASSAY_EVALUATOR_NATIVE_BATCH_NORM_H_

#include "evaluator/native/native_engine.h"

namespace assay::native {

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareBatchNorm(const StepView& step, Isa isa);

}  // namespace assay::native

#endif  // ASSAY_EVALUATOR_NATIVE_BATCH_NORM_H_
