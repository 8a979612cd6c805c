// scatter whose combiner is an exact sum (RED-1) or does not show the order of the updates; others by code
// (code_fold.h).
#ifndef ASSAY_ENGINES_NATIVE_SCATTER_GATHER_SCATTER_H_
#define ASSAY_ENGINES_NATIVE_SCATTER_GATHER_SCATTER_H_

#include "engines/engine.h"
#include "jit/isa.h"

namespace assay::native {

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareScatter(const StepView& step, Isa isa);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_SCATTER_GATHER_SCATTER_H_
