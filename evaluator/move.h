// Moving elements without looking at them: what every op of spec/operations-shape.md is made of.
#ifndef ASSAY_EVALUATOR_MOVE_H_
#define ASSAY_EVALUATOR_MOVE_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "shape/index.h"

namespace assay {

// dst element at to(I) = src element at from(I), for every I of the index space `sizes`, of elements of
// `element_bytes` (1, 2, 4, 8 or 16). src and dst do not overlap.
void MoveElements(int element_bytes, std::span<const int64_t> sizes, const std::byte* src,
                  const AffineMap& from, std::byte* dst, const AffineMap& to);
// dst[i] = *value for i in [0, n).
void FillElements(int element_bytes, const std::byte* value, std::byte* dst, int64_t n);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_MOVE_H_
