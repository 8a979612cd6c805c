// select-and-scatter whose scatter is an exact sum (RED-1).
#ifndef ASSAY_ENGINES_NATIVE_SCATTER_GATHER_SELECT_AND_SCATTER_H_
#define ASSAY_ENGINES_NATIVE_SCATTER_GATHER_SELECT_AND_SCATTER_H_

#include "engines/engine.h"
#include "jit/isa.h"

namespace assay::native {

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareSelectAndScatter(const StepView& step, Isa isa);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_SCATTER_GATHER_SELECT_AND_SCATTER_H_
