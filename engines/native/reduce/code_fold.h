// Left folds (RED-2) by generated code: reduce and cumulative reduce-window with
// computations whose order results show.
#ifndef ASSAY_ENGINES_NATIVE_REDUCE_CODE_FOLD_H_
#define ASSAY_ENGINES_NATIVE_REDUCE_CODE_FOLD_H_

#include <optional>

#include "engines/codegen/scalar_code.h"
#include "engines/engine.h"
#include "engines/native/reduce/reduce_loops.h"
#include "jit/isa.h"

namespace assay::native {

// The computation as code, where its 2 n parameters are of the types of n operands, as are its results. The
// parameters are the operands from `first` and from `second` on; `work` is the number of applications,
// which must be worth code.
absl::StatusOr<std::shared_ptr<const codegen::ScalarCode>> CodeFor(const StepView& step, Isa isa, int64_t n,
                                                                   int64_t first, int64_t second,
                                                                   int64_t work, bool vectors);

// `through`: of the one operand.
absl::StatusOr<std::shared_ptr<const Kernel>> PrepareCodeReduce(
    const StepView& step, Isa isa, const std::optional<ReadThrough>& through = {});

// A reduce-window of one operand whose elements are of the computation's type: where every window begins with
// its line's first element, each is the one before, folded with what is new at its end; where not,
// by `others`.
std::shared_ptr<const Kernel> MakeCumulativeWindow(std::shared_ptr<const codegen::ScalarCode> code,
                                                   std::shared_ptr<const Kernel> others);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_REDUCE_CODE_FOLD_H_
