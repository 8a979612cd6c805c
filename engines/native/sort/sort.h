// sort by comparators that are orders by keys (sort_order.h).
#ifndef ASSAY_ENGINES_NATIVE_SORT_SORT_H_
#define ASSAY_ENGINES_NATIVE_SORT_SORT_H_

#include "engines/engine.h"
#include "jit/isa.h"

namespace assay::native {

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareSort(const StepView& step, Isa isa);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_SORT_SORT_H_
