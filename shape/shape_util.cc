#include "shape/shape_util.h"

#include <algorithm>

#include "base/counted.h"
#include "base/error.h"
#include "fmt/format.h"

namespace assay {
namespace {

absl::Status CheckIndex(const Shape& array, std::span<const int64_t> index) {
  if (static_cast<int64_t>(index.size()) != array.rank()) {
    return BadInput(fmt::format("INDEX-1: an index of {}, wanted {} for {}", Counted(index.size(), "entry"),
                                array.rank(), array.ToString()));
  }
  for (int64_t d = 0; d < array.rank(); ++d) {
    if (index[d] < 0 || index[d] >= array.size(d)) {
      return BadInput(fmt::format("INDEX-1: index[{}] is {}, wanted 0 to {} for {}", d, index[d],
                                  array.size(d) - 1, array.ToString()));
    }
  }
  return absl::OkStatus();
}

}  // namespace

int64_t TrueRank(const Shape& array) {
  return std::ranges::count_if(array.sizes(), [](int64_t size) { return size > 1; });
}

absl::StatusOr<int64_t> DimensionNumber(const Shape& array, int64_t d) {
  if (d < -array.rank() || d >= array.rank()) {
    return BadInput(fmt::format("SHAPE-5: dimension {} of {}, wanted {} to {}", d, array.ToString(),
                                -array.rank(), array.rank() - 1));
  }
  return d < 0 ? d + array.rank() : d;
}

absl::StatusOr<int64_t> SizeOfDimension(const Shape& array, int64_t d) {
  ASSAY_ASSIGN_OR_RETURN(const int64_t number, DimensionNumber(array, d));
  return array.size(number);
}

absl::StatusOr<int64_t> PositionOfIndex(const Shape& array, std::span<const int64_t> index) {
  ASSAY_RETURN_IF_ERROR(LayoutSlots(array).status());
  ASSAY_RETURN_IF_ERROR(CheckIndex(array, index));
  return LayoutPosition(array, index);
}

absl::StatusOr<DimVector> IndexAtPosition(const Shape& array, int64_t position) {
  ASSAY_ASSIGN_OR_RETURN(const int64_t slots, LayoutSlots(array));
  if (position < 0 || position >= slots) {
    return BadInput(fmt::format("INDEX-1: position {} of {}, which has {}", position, array.ToString(true),
                                Counted(slots, "slot")));
  }
  std::optional<DimVector> index = LayoutIndex(array, position);
  if (!index.has_value())
    return BadInput(fmt::format("INDEX-1: position {} of {} is padding", position, array.ToString(true)));
  return *std::move(index);
}

}  // namespace assay
