// select-and-scatter whose scatter is an exact sum (RED-1).
#ifndef ASSAY_EVALUATOR_NATIVE_SELECT_AND_SCATTER_H_
#define ASSAY_EVALUATOR_NATIVE_SELECT_AND_SCATTER_H_

#include "evaluator/native/native_engine.h"

namespace assay::native {

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareSelectAndScatter(const StepView& step, Isa isa);

}  // namespace assay::native

#endif  // ASSAY_EVALUATOR_NATIVE_SELECT_AND_SCATTER_H_
