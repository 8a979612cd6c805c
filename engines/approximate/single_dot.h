// Dots of f32 too small for oneDNN: a chain of f32 multiply-adds an element,
// in the order of the contracted index.
#ifndef ASSAY_ENGINES_APPROXIMATE_SINGLE_DOT_H_
#define ASSAY_ENGINES_APPROXIMATE_SINGLE_DOT_H_

#include "engines/engine.h"
#include "jit/isa.h"

namespace assay::approximate {

// SumInF32: each product and each addition rounds once, n + 1 times for n terms, where the processor has no
// FMA. NotSupported for fewer than `fewest` products, and for other dots that it does not take.
absl::StatusOr<std::shared_ptr<const Kernel>> PrepareSingleDot(const StepView& step, Isa isa, int64_t fewest);

}  // namespace assay::approximate

#endif  // ASSAY_ENGINES_APPROXIMATE_SINGLE_DOT_H_
