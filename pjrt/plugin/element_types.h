// PJRT's element types and Assay's, and how elements of fewer than 8 bits lie in the host's memory.
#ifndef ASSAY_PJRT_PLUGIN_ELEMENT_TYPES_H_
#define ASSAY_PJRT_PLUGIN_ELEMENT_TYPES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "pjrt/plugin/pjrt_api.h"
#include "shape/shape.h"

namespace assay::pjrt {

// None for tokens and numbers that are no type.
std::optional<ElementType> ElementTypeOf(BufferType type);
BufferType BufferTypeOf(ElementType type);
// Of an array or a token.
BufferType BufferTypeOf(const Shape& shape);

// Elements of some types have bytes that no literal may hold: pred other than 0 and 1,
// bits above a narrow integer's.
bool HasPaddingBits(ElementType type);
// Makes the bytes of such a type what literals hold.
void NormalizeBytes(ElementType type, std::span<std::byte> bytes);
// What hosts hold of a narrow integer is its bits, the others zero; literals have its sign in those.
bool IsSignExtended(ElementType type);
void ClearPaddingBits(ElementType type, std::span<std::byte> bytes);

// Copies the elements of an array of these sizes; strides in bytes, of any sign.
void CopyStrided(std::span<const int64_t> sizes, int64_t element_bytes, const std::byte* from,
                 std::span<const int64_t> from_strides, std::byte* to, std::span<const int64_t> to_strides);

// The strides, in bytes, of an array without gaps whose dimensions lie in this order,
// the first running fastest.
DimVector DenseStrides(std::span<const int64_t> sizes, int64_t element_bytes,
                       std::span<const int64_t> minor_to_major);
DimVector RowMajorOrder(int64_t rank);

// What the caller's layout says of an array of these sizes; null: row-major. NotSupported: tiles.
// InvalidProgram: no permutation, or strides that are too few.
absl::StatusOr<DimVector> StridesOf(const BufferMemoryLayout* layout, std::span<const int64_t> sizes,
                                    int64_t element_bytes);
// The order of dimensions that a layout without strides says.
absl::StatusOr<DimVector> OrderOf(const BufferMemoryLayout* layout, std::span<const int64_t> sizes);

}  // namespace assay::pjrt

#endif  // ASSAY_PJRT_PLUGIN_ELEMENT_TYPES_H_
