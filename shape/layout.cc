// Where a layout puts elements in linear memory (docs/spec/shapes.md section 4) and how many bytes that takes
// (section 5). The part of shape.h that is about layouts.
#include <algorithm>

#include "base/checked.h"
#include "base/counted.h"
#include "base/error.h"
#include "fmt/format.h"
#include "shape/shape.h"
#include "shape/shape_util.h"

namespace assay {
namespace {

const LayoutTail& TailOf(const Shape& array) {
  static const LayoutTail kNone;
  return array.layout().tail ? *array.layout().tail : kNone;
}

// The shape and the index of an element while tiles are applied, major to minor. `overflow` is set, and the
// content then meaningless, when a size leaves int64.
struct PhysicalSpace {
  std::vector<int64_t> sizes;
  std::vector<int64_t> index;
  bool overflow = false;
};

PhysicalSpace Untiled(const Shape& array, std::span<const int64_t> index) {
  const auto& padded = TailOf(array).padded_dimensions;
  PhysicalSpace space;
  const DimVector& m2m = array.layout().minor_to_major;
  for (int64_t k = static_cast<int64_t>(m2m.size()) - 1; k >= 0; --k) {
    space.sizes.push_back(padded.empty() ? array.size(m2m[k]) : padded[m2m[k]]);
    space.index.push_back(index.empty() ? 0 : index[m2m[k]]);
  }
  return space;
}

// Merges the dimensions of `sizes` whose tile entry is '*' into the next more minor one. Works on the last
// tile.size() dimensions only and gives the tile without its '*' entries.
Tile MergeCombined(const Tile& tile, PhysicalSpace& space) {
  const size_t first = space.sizes.size() - tile.size();
  size_t out = first;
  Tile kept;
  int64_t size = 1, index = 0;
  for (size_t i = 0; i < tile.size(); ++i) {
    const int64_t d = space.sizes[first + i];
    const auto merged = CheckedMul(size, d);
    space.overflow |= !merged.has_value();
    size = merged.value_or(0);
    index = space.overflow ? 0 : index * d + space.index[first + i];
    if (tile[i] == kCombineDimension) continue;
    kept.push_back(tile[i]);
    space.sizes[out] = size;
    space.index[out++] = index;
    size = 1;
    index = 0;
  }
  space.sizes.resize(out);
  space.index.resize(out);
  return kept;
}

// One tiling step: d' = prefix ++ ceil(d_i / t_i) ++ t_i; e' = prefix ++ floor(e_i / t_i) ++ e_i mod t_i.
void ApplyTile(const Tile& tile, PhysicalSpace& space) {
  if (tile.size() > space.sizes.size()) {
    const size_t missing = tile.size() - space.sizes.size();
    space.sizes.insert(space.sizes.begin(), missing, 1);
    space.index.insert(space.index.begin(), missing, 0);
  }
  const Tile kept = MergeCombined(tile, space);
  const size_t first = space.sizes.size() - kept.size();
  for (size_t i = 0; i < kept.size(); ++i) {
    const int64_t inside = space.index[first + i] % kept[i];
    space.sizes[first + i] = CeilDiv(space.sizes[first + i], kept[i]);
    space.index[first + i] /= kept[i];
    space.sizes.push_back(kept[i]);
    space.index.push_back(inside);
  }
}

PhysicalSpace Tiled(const Shape& array, std::span<const int64_t> index) {
  PhysicalSpace space = Untiled(array, index);
  for (const Tile& tile : TailOf(array).tiles) ApplyTile(tile, space);
  return space;
}

// The dimensions that ApplyTile tiled by `tile` in a space of `sizes`, and the index there of the element
// that lies at `index` behind it; false where that is a slot without an element.
bool UndoTile(const Tile& tile, const std::vector<int64_t>& sizes, std::vector<int64_t>& index) {
  std::vector<int64_t> from = sizes;
  if (tile.size() > from.size()) from.insert(from.begin(), tile.size() - from.size(), 1);
  const size_t first = from.size() - tile.size();
  const auto kept = static_cast<size_t>(
      std::count_if(tile.begin(), tile.end(), [](int64_t entry) { return entry != kCombineDimension; }));
  std::vector<int64_t> result(from.size());
  std::copy_n(index.begin(), first, result.begin());
  size_t group = kept;  // of dimensions that were merged into one, from the most minor one on
  int64_t merged = 0;
  for (size_t i = tile.size(); i-- > 0;) {
    if (tile[i] != kCombineDimension) {
      if (i + 1 < tile.size() && merged != 0) return false;
      --group;
      merged = index[first + group] * tile[i] + index[first + kept + group];
    }
    const int64_t size = from[first + i];
    if (size == 0) return false;
    result[first + i] = merged % size;
    merged /= size;
  }
  if (merged != 0) return false;
  const auto added = static_cast<std::ptrdiff_t>(from.size() - sizes.size());
  index.assign(result.begin() + added, result.end());
  return true;
}

absl::Status Overflow(const Shape& array) {
  return InvalidProgram({}, fmt::format("SHAPE-3: memory size of {} overflows int64", array.ToString(true)));
}

absl::Status ValidatePermutation(const Shape& array) {
  const DimVector& m2m = array.layout().minor_to_major;
  if (static_cast<int64_t>(m2m.size()) != array.rank()) {
    return InvalidProgram({}, fmt::format("LAYOUT-1: minor_to_major has {}, want {} for {}",
                                          Counted(m2m.size(), "entry"), array.rank(), array.ToString()));
  }
  uint64_t seen = 0;
  for (int64_t d : m2m) {
    if (d < 0 || d >= array.rank() || ((seen >> d) & 1)) {
      return InvalidProgram({}, fmt::format("LAYOUT-1: minor_to_major {{{}}} is not a permutation of 0..{}",
                                            fmt::join(m2m, ","), array.rank() - 1));
    }
    seen |= uint64_t{1} << d;
  }
  return absl::OkStatus();
}

absl::Status ValidatePadding(const Shape& array, const std::vector<int64_t>& padded) {
  if (padded.empty()) return absl::OkStatus();
  if (static_cast<int64_t>(padded.size()) != array.rank()) {
    return InvalidProgram({}, fmt::format("LAYOUT-3: padded_dimensions has {}, want {} for {}",
                                          Counted(padded.size(), "entry"), array.rank(), array.ToString()));
  }
  for (int64_t d = 0; d < array.rank(); ++d) {
    if (padded[d] < array.size(d) || padded[d] < 0) {
      return InvalidProgram({}, fmt::format("LAYOUT-3: padded_dimensions[{}] is {}, want at least {}", d,
                                            padded[d], array.size(d)));
    }
  }
  return absl::OkStatus();
}

absl::Status ValidateTiles(const std::vector<Tile>& tiles) {
  for (const Tile& tile : tiles) {
    for (int64_t entry : tile) {
      if (entry <= 0 && entry != kCombineDimension) {
        return InvalidProgram({}, fmt::format("LAYOUT-4: tile entry is {}, want more than 0 or *", entry));
      }
    }
    if (!tile.empty() && tile.back() == kCombineDimension) {
      return InvalidProgram({}, "LAYOUT-4: the last entry of a tile is *, there is nothing to merge into");
    }
  }
  return absl::OkStatus();
}

absl::Status ValidateNumber(std::string_view name, int64_t value, int64_t least) {
  if (value >= least) return absl::OkStatus();
  return InvalidProgram({}, fmt::format("layout: {} is {}, want at least {}", name, value, least));
}

absl::Status ValidateSplits(const Shape& array, const LayoutTail& tail) {
  for (const auto& split : tail.split_configs) {
    if (split.dimension < 0 || split.dimension >= array.rank()) {
      return InvalidProgram({}, fmt::format("layout: split config names dimension {} of {}", split.dimension,
                                            array.ToString()));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<int64_t> LayoutSlots(const Shape& array) {
  if (array.HasUnbounded()) return NotSupported({}, "DYN-2: unbounded dynamism");
  const PhysicalSpace space = Tiled(array, {});
  const auto slots = CheckedProduct(space.sizes);
  if (space.overflow || !slots) return Overflow(array);
  const int64_t alignment = TailOf(array).tail_padding_alignment_in_elements;
  const auto rounded = CheckedMul(CeilDiv(*slots, alignment), alignment);
  if (!rounded) return Overflow(array);
  return *rounded;
}

absl::StatusOr<int64_t> LayoutByteSize(const Shape& array) {
  ASSAY_ASSIGN_OR_RETURN(const int64_t slots, LayoutSlots(array));
  const int64_t bits = TailOf(array).element_size_in_bits;
  if (bits == 0) {
    const auto bytes = CheckedMul(slots, Bytes(array.element_type()));
    if (!bytes) return Overflow(array);
    return *bytes;
  }
  const auto total = CheckedMul(slots, bits);
  if (!total) return Overflow(array);
  return CeilDiv(*total, 8);
}

int64_t LayoutPosition(const Shape& array, std::span<const int64_t> index) {
  const PhysicalSpace space = Tiled(array, index);
  int64_t position = 0;
  for (size_t k = 0; k < space.sizes.size(); ++k) position = position * space.sizes[k] + space.index[k];
  return position;
}

std::optional<DimVector> LayoutIndex(const Shape& array, int64_t position) {
  std::vector<std::vector<int64_t>> sizes;  // before each tile
  PhysicalSpace space = Untiled(array, {});
  for (const Tile& tile : TailOf(array).tiles) {
    sizes.push_back(space.sizes);
    ApplyTile(tile, space);
  }
  std::vector<int64_t> at(space.sizes.size());
  for (size_t k = at.size(); k-- > 0;) {
    if (space.sizes[k] == 0) return std::nullopt;
    at[k] = position % space.sizes[k];
    position /= space.sizes[k];
  }
  if (position != 0) return std::nullopt;  // the tail's padding
  for (size_t t = sizes.size(); t-- > 0;) {
    if (!UndoTile(TailOf(array).tiles[t], sizes[t], at)) return std::nullopt;
  }
  DimVector index(array.rank());
  for (size_t k = 0; k < at.size(); ++k) {
    const int64_t d = array.layout().minor_to_major[at.size() - 1 - k];
    if (at[k] >= array.size(d)) return std::nullopt;
    index[d] = at[k];
  }
  return index;
}

absl::Status ValidateLayout(const Shape& array) {
  ASSAY_RETURN_IF_ERROR(ValidatePermutation(array));
  if (!array.layout().tail) return absl::OkStatus();
  const LayoutTail& tail = *array.layout().tail;
  ASSAY_RETURN_IF_ERROR(ValidatePadding(array, tail.padded_dimensions));
  ASSAY_RETURN_IF_ERROR(ValidateTiles(tail.tiles));
  ASSAY_RETURN_IF_ERROR(ValidateNumber("tail padding alignment", tail.tail_padding_alignment_in_elements, 1));
  ASSAY_RETURN_IF_ERROR(ValidateNumber("element size in bits", tail.element_size_in_bits, 0));
  ASSAY_RETURN_IF_ERROR(ValidateNumber("memory space", tail.memory_space, 0));
  ASSAY_RETURN_IF_ERROR(
      ValidateNumber("dynamic shape metadata prefix", tail.dynamic_shape_metadata_prefix_bytes, 0));
  ASSAY_RETURN_IF_ERROR(ValidateSplits(array, tail));
  if (!array.HasUnbounded()) ASSAY_RETURN_IF_ERROR(LayoutByteSize(array).status());
  if (tail.index_type || tail.pointer_type) {
    return NotSupported({}, "layout: index and pointer types belong to sparse layouts");
  }
  return absl::OkStatus();
}

}  // namespace assay
