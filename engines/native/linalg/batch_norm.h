// batch-norm-training, -inference and -grad of every float type.
#ifndef ASSAY_ENGINES_NATIVE_LINALG_BATCH_NORM_H_
#define ASSAY_ENGINES_NATIVE_LINALG_BATCH_NORM_H_

#include "engines/engine.h"
#include "jit/isa.h"

namespace assay::native {

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareBatchNorm(const StepView& step, Isa isa);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_LINALG_BATCH_NORM_H_
