// scatter by generated code, with combiners whose order results show (RED-2).
#ifndef ASSAY_ENGINES_NATIVE_SCATTER_GATHER_CODE_SCATTER_H_
#define ASSAY_ENGINES_NATIVE_SCATTER_GATHER_CODE_SCATTER_H_

#include "engines/engine.h"
#include "jit/isa.h"

namespace assay::native {

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareCodeScatter(const StepView& step, Isa isa);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_SCATTER_GATHER_CODE_SCATTER_H_
