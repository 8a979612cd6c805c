// Dots and convolutions of f32, bf16 and f16 as sums in f32: both operands packed as floats or pairs of bf16,
// a tile of sums in registers.
#ifndef ASSAY_ENGINES_APPROXIMATE_SINGLE_TILES_H_
#define ASSAY_ENGINES_APPROXIMATE_SINGLE_TILES_H_

#include "engines/engine.h"
#include "jit/isa.h"

namespace assay::approximate {

// SumInF32: the sum of an element is a chain of multiply-adds in the order of the contracted index, rounded
// to the result's type once more. bf16 where the machine multiplies its pairs: SumInF32WithoutSubnormals.
// NotSupported for fewer than `fewest` products,
// and for other instructions that it does not take.
absl::StatusOr<std::shared_ptr<const Kernel>> PrepareSingleTiles(const StepView& step, Isa isa,
                                                                 int64_t fewest);

}  // namespace assay::approximate

#endif  // ASSAY_ENGINES_APPROXIMATE_SINGLE_TILES_H_
