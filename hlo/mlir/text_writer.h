// Types, constants and names as MLIR text: the inverse of text/types.cc, text/dense.cc and text/lexer.cc.
#ifndef ASSAY_HLO_MLIR_TEXT_WRITER_H_
#define ASSAY_HLO_MLIR_TEXT_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "shape/shape.h"

namespace assay::mlir {

// tensor<2x?xf32, #stablehlo.bounds<?, 4>>, tuple<...>, !stablehlo.token
void AppendType(const Shape& shape, std::string& out);
// What of the shape StableHLO has no type for: "an array of s1"; empty: nothing.
std::string WithoutType(const Shape& shape);

// dense<...> : tensor<...>. `elements` are as in a Literal, all of them or (of a splat) one. Every bit is
// kept: floats that no decimal number gives (infinities, NaNs) are bit patterns,
// and long constants strings of bytes.
void AppendDense(ElementType type, std::span<const int64_t> sizes, std::span<const std::byte> elements,
                 std::string& out);
// The same without its type. Elements that are all equal are written as one, but where as_splat is false.
void AppendDenseElements(ElementType type, std::span<const int64_t> sizes,
                         std::span<const std::byte> elements, std::string& out, bool as_splat = true);

// "text" with escapes.
std::string Quoted(std::string_view text);
// A word, or "text" where it is none.
std::string WordOrQuoted(std::string_view text);
// A number with a point that rounds to `value` in the format; or the bits of it, 0x7FC00000.
std::string FloatText(double value, ElementType type);
// [1, 2]
std::string ListText(std::span<const int64_t> values);

}  // namespace assay::mlir

#endif  // ASSAY_HLO_MLIR_TEXT_WRITER_H_
