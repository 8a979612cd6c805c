// What programs that build shapes ask of them (docs/spec/shapes.md sections 3 and 4): ranks, dimension
// numbers counted from the end, and where elements lie in memory. The builder's callers use these; operations
// take no negative numbers (SHAPE-5).
#ifndef ASSAY_SHAPE_SHAPE_UTIL_H_
#define ASSAY_SHAPE_SHAPE_UTIL_H_

#include <cstdint>
#include <optional>
#include <span>

#include "absl/status/statusor.h"
#include "shape/shape.h"

namespace assay {

// SHAPE-1: the number of dimensions of size > 1; f32[1,5,1,3] has 2.
int64_t TrueRank(const Shape& array);
// SHAPE-5: d in [-rank, rank), of which -1 is the last dimension, as a dimension number. Error: out of range.
absl::StatusOr<int64_t> DimensionNumber(const Shape& array, int64_t d);
// The size of that dimension, its bound if it is dynamic.
absl::StatusOr<int64_t> SizeOfDimension(const Shape& array, int64_t d);
// INDEX-1: where the element lies in memory under the array's layout, in elements. Error: the index has not
// as many entries as the array has dimensions, or one is out of range.
absl::StatusOr<int64_t> PositionOfIndex(const Shape& array, std::span<const int64_t> index);
// The index of the element at a position, which is one of the layout's slots (LayoutSlots). Error: it is
// none, or the slot is padding, of padded dimensions, of tiles or of the tail.
absl::StatusOr<DimVector> IndexAtPosition(const Shape& array, int64_t position);
// The same, nothing where the slot holds no element; `position` is one of the slots (layout.cc).
std::optional<DimVector> LayoutIndex(const Shape& array, int64_t position);

}  // namespace assay

#endif  // ASSAY_SHAPE_SHAPE_UTIL_H_
