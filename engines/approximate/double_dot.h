// Dots of f64 by the exact engine's tiles without their tests: sums of doubles as the tiles give them.
#ifndef ASSAY_ENGINES_APPROXIMATE_DOUBLE_DOT_H_
#define ASSAY_ENGINES_APPROXIMATE_DOUBLE_DOT_H_

#include "engines/engine.h"
#include "jit/isa.h"

namespace assay::approximate {

// SumInF64: each product and each addition rounds once where the processor has no FMA. NotSupported for fewer
// than `fewest` products, and for other dots that it does not take.
absl::StatusOr<std::shared_ptr<const Kernel>> PrepareDoubleDot(const StepView& step, Isa isa, int64_t fewest);

}  // namespace assay::approximate

#endif  // ASSAY_ENGINES_APPROXIMATE_DOUBLE_DOT_H_
