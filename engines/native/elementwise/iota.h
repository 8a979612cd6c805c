// iota of arrays of static sizes.
#ifndef ASSAY_ENGINES_NATIVE_ELEMENTWISE_IOTA_H_
#define ASSAY_ENGINES_NATIVE_ELEMENTWISE_IOTA_H_

#include "engines/engine.h"
#include "jit/isa.h"

namespace assay::native {

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareIota(const StepView& step, Isa isa);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_ELEMENTWISE_IOTA_H_
