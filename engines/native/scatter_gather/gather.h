// gather: slices moved by vectors, in parts for the threads.
#ifndef ASSAY_ENGINES_NATIVE_SCATTER_GATHER_GATHER_H_
#define ASSAY_ENGINES_NATIVE_SCATTER_GATHER_GATHER_H_

#include "engines/engine.h"
#include "jit/isa.h"

namespace assay::native {

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareGather(const StepView& step, Isa isa);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_SCATTER_GATHER_GATHER_H_
