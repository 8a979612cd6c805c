#include "pjrt/plugin/element_types.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/counted.h"
#include "fmt/format.h"
#include "pjrt/plugin/error.h"
#include "shape/index.h"

namespace assay::pjrt {
namespace {

constexpr std::pair<BufferType, ElementType> kTypes[] = {
    {BufferType::kPred, ElementType::kPred},
    {BufferType::kS1, ElementType::kS1},
    {BufferType::kS2, ElementType::kS2},
    {BufferType::kS4, ElementType::kS4},
    {BufferType::kS8, ElementType::kS8},
    {BufferType::kS16, ElementType::kS16},
    {BufferType::kS32, ElementType::kS32},
    {BufferType::kS64, ElementType::kS64},
    {BufferType::kU1, ElementType::kU1},
    {BufferType::kU2, ElementType::kU2},
    {BufferType::kU4, ElementType::kU4},
    {BufferType::kU8, ElementType::kU8},
    {BufferType::kU16, ElementType::kU16},
    {BufferType::kU32, ElementType::kU32},
    {BufferType::kU64, ElementType::kU64},
    {BufferType::kF16, ElementType::kF16},
    {BufferType::kF32, ElementType::kF32},
    {BufferType::kF64, ElementType::kF64},
    {BufferType::kBF16, ElementType::kBF16},
    {BufferType::kC64, ElementType::kC64},
    {BufferType::kC128, ElementType::kC128},
    {BufferType::kF8E5M2, ElementType::kF8E5M2},
    {BufferType::kF8E4M3, ElementType::kF8E4M3},
    {BufferType::kF8E4M3FN, ElementType::kF8E4M3FN},
    {BufferType::kF8E4M3B11FNUZ, ElementType::kF8E4M3B11FNUZ},
    {BufferType::kF8E3M4, ElementType::kF8E3M4},
    {BufferType::kF8E5M2FNUZ, ElementType::kF8E5M2FNUZ},
    {BufferType::kF8E4M3FNUZ, ElementType::kF8E4M3FNUZ},
    {BufferType::kF8E8M0FNU, ElementType::kF8E8M0FNU},
    {BufferType::kF6E3M2FN, ElementType::kF6E3M2FN},
    {BufferType::kF6E2M3FN, ElementType::kF6E2M3FN},
    {BufferType::kF4E2M1FN, ElementType::kF4E2M1FN},
};
static_assert(std::size(kTypes) == kNumElementTypes);

template <typename T>
void CopyRun(const std::byte* from, int64_t from_stride, std::byte* to, int64_t to_stride, int64_t length) {
  for (int64_t i = 0; i < length; ++i) {
    T value;
    std::memcpy(&value, from + i * from_stride, sizeof(T));
    std::memcpy(to + i * to_stride, &value, sizeof(T));
  }
}

struct Wide {
  uint64_t parts[2];
};

}  // namespace

std::optional<ElementType> ElementTypeOf(BufferType type) {
  for (const auto& [theirs, ours] : kTypes) {
    if (theirs == type) return ours;
  }
  return std::nullopt;
}

BufferType BufferTypeOf(ElementType type) {
  for (const auto& [theirs, ours] : kTypes) {
    if (ours == type) return theirs;
  }
  return BufferType::kInvalid;
}

BufferType BufferTypeOf(const Shape& shape) {
  if (shape.IsToken()) return BufferType::kToken;
  return shape.IsArray() ? BufferTypeOf(shape.element_type()) : BufferType::kInvalid;
}

bool HasPaddingBits(ElementType type) { return type == ElementType::kPred || Bits(type) < 8; }

bool IsSignExtended(ElementType type) { return IsSignedIntegral(type) && Bits(type) < 8; }

void ClearPaddingBits(ElementType type, std::span<std::byte> bytes) {
  for (std::byte& byte : bytes) byte &= std::byte((1 << Bits(type)) - 1);
}

void NormalizeBytes(ElementType type, std::span<std::byte> bytes) {
  if (type == ElementType::kPred) {
    for (std::byte& byte : bytes) byte = std::byte(byte != std::byte{0});
    return;
  }
  ClearPaddingBits(type, bytes);
  if (!IsSignExtended(type)) return;
  const int sign = 1 << (Bits(type) - 1);
  for (std::byte& byte : bytes) byte = std::byte((std::to_integer<int>(byte) ^ sign) - sign);
}

void CopyStrided(std::span<const int64_t> sizes, int64_t element_bytes, const std::byte* from,
                 std::span<const int64_t> from_strides, std::byte* to, std::span<const int64_t> to_strides) {
  const AffineMap maps[] = {{0, {from_strides.begin(), from_strides.end()}},
                            {0, {to_strides.begin(), to_strides.end()}}};
  ForEachRun(sizes, maps, [&](const int64_t* offsets, const int64_t* strides, int64_t length) {
    const std::byte* const source = from + offsets[0];
    std::byte* const target = to + offsets[1];
    if (strides[0] == element_bytes && strides[1] == element_bytes) {
      std::memcpy(target, source, static_cast<size_t>(length * element_bytes));
    } else if (element_bytes == 1) {
      CopyRun<uint8_t>(source, strides[0], target, strides[1], length);
    } else if (element_bytes == 2) {
      CopyRun<uint16_t>(source, strides[0], target, strides[1], length);
    } else if (element_bytes == 4) {
      CopyRun<uint32_t>(source, strides[0], target, strides[1], length);
    } else if (element_bytes == 8) {
      CopyRun<uint64_t>(source, strides[0], target, strides[1], length);
    } else {
      CopyRun<Wide>(source, strides[0], target, strides[1], length);
    }
  });
}

DimVector RowMajorOrder(int64_t rank) {
  DimVector order(static_cast<size_t>(rank));
  std::iota(order.rbegin(), order.rend(), 0);
  return order;
}

DimVector DenseStrides(std::span<const int64_t> sizes, int64_t element_bytes,
                       std::span<const int64_t> minor_to_major) {
  DimVector strides(sizes.size());
  // No element has a place, and the product of the other sizes may overflow.
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return strides;
  int64_t stride = element_bytes;
  for (const int64_t d : minor_to_major) {
    strides[static_cast<size_t>(d)] = stride;
    stride *= sizes[static_cast<size_t>(d)];
  }
  return strides;
}

absl::StatusOr<DimVector> OrderOf(const BufferMemoryLayout* layout, std::span<const int64_t> sizes) {
  const auto rank = static_cast<int64_t>(sizes.size());
  if (layout == nullptr) return RowMajorOrder(rank);
  if (layout->type != MemoryLayoutType::kTiled)
    return NotSupported({}, "a layout by strides, where the order of dimensions is wanted");
  const BufferMemoryLayoutTiled& tiled = layout->tiled;
  if (tiled.num_tiles > 0)
    return NotSupported({}, fmt::format("a layout with {}, want none", Counted(tiled.num_tiles, "tile")));
  if (tiled.minor_to_major_size != sizes.size()) {
    return InvalidProgram({}, fmt::format("a layout of {} for an array of {}",
                                          Counted(tiled.minor_to_major_size, "dimension"), sizes.size()));
  }
  if (rank > 0) ASSAY_RETURN_IF_ERROR(Wanted(tiled.minor_to_major, "minor_to_major"));
  DimVector order(tiled.minor_to_major, tiled.minor_to_major + rank);
  DimVector sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (int64_t d = 0; d < rank; ++d) {
    if (sorted[static_cast<size_t>(d)] != d)
      return InvalidProgram({}, fmt::format("minor_to_major is not a permutation of 0 to {}", rank - 1));
  }
  return order;
}

absl::StatusOr<DimVector> StridesOf(const BufferMemoryLayout* layout, std::span<const int64_t> sizes,
                                    int64_t element_bytes) {
  if (layout == nullptr || layout->type == MemoryLayoutType::kTiled) {
    ASSAY_ASSIGN_OR_RETURN(const DimVector order, OrderOf(layout, sizes));
    return DenseStrides(sizes, element_bytes, order);
  }
  if (layout->type != MemoryLayoutType::kStrides) {
    return InvalidProgram({},
                          fmt::format("there is no layout of type {}", static_cast<int32_t>(layout->type)));
  }
  const BufferMemoryLayoutStrides& strides = layout->strides;
  if (strides.num_byte_strides != sizes.size()) {
    return InvalidProgram({}, fmt::format("{} for {}", Counted(strides.num_byte_strides, "stride"),
                                          Counted(sizes.size(), "dimension")));
  }
  if (!sizes.empty()) ASSAY_RETURN_IF_ERROR(Wanted(strides.byte_strides, "byte_strides"));
  return DimVector(strides.byte_strides, strides.byte_strides + sizes.size());
}

}  // namespace assay::pjrt
