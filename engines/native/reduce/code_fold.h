// Left folds (RED-2) by generated code: reduce, cumulative reduce-window and scatter with computations whose order
// results show.
#ifndef ASSAY_ENGINES_NATIVE_REDUCE_CODE_FOLD_H_
#define ASSAY_ENGINES_NATIVE_REDUCE_CODE_FOLD_H_

#include "engines/codegen/scalar_code.h"
#include "engines/native/native_engine.h"

namespace assay::native {

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareCodeReduce(const StepView& step, Isa isa);
absl::StatusOr<std::shared_ptr<const Kernel>> PrepareCodeScatter(const StepView& step, Isa isa);

// A reduce-window of one operand whose elements are of the computation's type: where every window begins with its line's
// first element, each is the one before, folded with what is new at its end; where not, by `others`.
std::shared_ptr<const Kernel> MakeCumulativeWindow(std::shared_ptr<const fused::ScalarCode> code,
                                                   std::shared_ptr<const Kernel> others);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_REDUCE_CODE_FOLD_H_
