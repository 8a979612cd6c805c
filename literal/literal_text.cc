// Printing values: the canonical HLO text of docs/spec/hlo-text.md section 8. Reading is in literal_parse.cc,
// the form for terminals in literal_display.cc.
#include "literal/literal_text.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/limits.h"
#include "fmt/format.h"
#include "literal/element_io.h"
#include "literal/float_format.h"
#include "shape/index.h"

namespace assay {
namespace {

// Arrays without elements print one pair of braces a row; beyond so many rows the value is elided.
constexpr int64_t kMaxEmptyRows = int64_t{1} << 20;

// Decimal digits that bring every value of the format back (f32 and f64 try fewer first).
int SignificantDigits(ElementType type) {
  switch (type) {
    case ElementType::kF64:
      return 17;
    case ElementType::kF32:
      return 9;
    case ElementType::kF16:
      return 5;
    case ElementType::kBF16:
      return 4;
    case ElementType::kF8E5M2:
    case ElementType::kF8E5M2FNUZ:
    case ElementType::kF8E8M0FNU:
    case ElementType::kF6E3M2FN:
    case ElementType::kF4E2M1FN:
      return 2;
    default:
      return 3;
  }
}

// printf's %.<digits>g, whatever the locale.
std::string_view FormatGeneral(double value, int digits, std::span<char> buffer) {
  const auto result =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::general, digits);
  return std::string_view(buffer.data(), result.ptr - buffer.data());
}
double ReadBack(std::string_view text, const FloatFormat& format) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return RoundToFormat(value, format);
}

void AppendNaN(uint64_t bits, const FloatFormat& format, std::string* out) {
  if (std::signbit(DecodeFloat(bits, format))) *out += '-';
  *out += "nan";
  if (!format.has_infinity()) return;
  const uint64_t mask = (uint64_t{1} << format.mantissa_bits) - 1;
  if ((bits & mask) != (format.nan_bits & mask))
    fmt::format_to(std::back_inserter(*out), "(0x{:x})", bits & mask);
}

void AppendHexFloat(double value, std::string* out) {
  char buffer[64];
  const auto result =
      std::to_chars(buffer, buffer + sizeof(buffer), std::fabs(value), std::chars_format::hex);
  *out += std::signbit(value) ? "-0x" : "0x";
  out->append(buffer, result.ptr);
}

void AppendFloat(ElementType type, const std::byte* element, const LiteralTextOptions& options,
                 std::string* out) {
  const FloatFormat& format = *Info(type).format;
  uint64_t bits = 0;
  std::memcpy(&bits, element, Bytes(type));
  const double value = DecodeFloat(bits, format);
  if (std::isnan(value)) return AppendNaN(bits, format, out);
  if (std::isinf(value)) {
    *out += value < 0 ? "-inf" : "inf";
    return;
  }
  if (options.hex_floats) return AppendHexFloat(value, out);
  if (value == 0) {
    *out += std::signbit(value) ? "-0.0" : "0";
    return;
  }
  char buffer[64];
  const int digits = SignificantDigits(type);
  const int first_try = type == ElementType::kF64 ? 15 : type == ElementType::kF32 ? 6 : digits;
  std::string_view text = FormatGeneral(value, first_try, buffer);
  if (first_try != digits && ReadBack(text, format) != value) text = FormatGeneral(value, digits, buffer);
  *out += text;
}

void AppendInteger(ElementType type, const std::byte* element, std::string* out) {
  char buffer[24];
  const ScalarValue value = LoadElement(type, element);
  const auto result = value.kind == ComputeKind::kInt64 ? std::to_chars(buffer, buffer + 24, value.i)
                                                        : std::to_chars(buffer, buffer + 24, value.u);
  out->append(buffer, result.ptr);
}

void AppendElement(ElementType type, const std::byte* element, const LiteralTextOptions& options,
                   std::string* out) {
  switch (ClassOf(type)) {
    case TypeClass::kPred:
      *out += *element != std::byte{0} ? '1' : '0';
      return;
    case TypeClass::kSigned:
    case TypeClass::kUnsigned:
      return AppendInteger(type, element, out);
    case TypeClass::kFloat:
      return AppendFloat(type, element, options, out);
    case TypeClass::kComplex:
      const ElementType component = ComponentType(type);
      *out += '(';
      AppendFloat(component, element, options, out);
      *out += ", ";
      AppendFloat(component, element + Bytes(component), options, out);
      *out += ')';
      return;
  }
}

class ArrayPrinter {
 public:
  ArrayPrinter(const Literal& array, const LiteralTextOptions& options, std::string* out)
      : type_(array.shape().element_type()),
        sizes_(array.runtime_sizes()),
        strides_(RowMajorStrides(array.shape().sizes())),
        data_(array.data()),
        options_(options),
        out_(out) {}

  void Print() {
    int64_t empty_rows = 1;
    for (int64_t size : sizes_) {
      if (size == 0) break;
      if (__builtin_mul_overflow(empty_rows, size, &empty_rows)) empty_rows = kMaxEmptyRows + 1;
    }
    const bool has_elements = std::find(sizes_.begin(), sizes_.end(), 0) == sizes_.end();
    if (!has_elements && empty_rows > kMaxEmptyRows) {
      *out_ += "{...}";
      return;
    }
    PrintDimension(0, 0, 0);
  }

 private:
  int64_t rank() const { return static_cast<int64_t>(sizes_.size()); }

  // Row `parent_index` of dimension d - 1, whose first element is at `offset`. Recursion ends at the rank.
  void PrintDimension(int64_t d, int64_t parent_index, int64_t offset) {
    if (d == rank()) return AppendElement(type_, data_ + offset * Bytes(type_), options_, out_);
    const bool innermost = d + 1 == rank();
    const bool spaced = !innermost || (rank() > 1 && sizes_[d] > 1);
    *out_ += spaced ? "{ " : "{";
    if (rank() > 3 && d > 0 && !innermost) {
      fmt::format_to(std::back_inserter(*out_), "/*i{}={}*/ ", d - 1, parent_index);
    }
    for (int64_t i = 0; i < sizes_[d]; ++i) {
      if (i > 0) *out_ += ", ";
      PrintDimension(d + 1, i, offset + i * strides_[d]);
    }
    *out_ += spaced ? " }" : "}";
  }

  ElementType type_;
  DimVector sizes_;
  DimVector strides_;
  const std::byte* data_;
  const LiteralTextOptions& options_;
  std::string* out_;
};

void AppendLiteral(const Literal& literal, const LiteralTextOptions& options, int depth, std::string* out) {
  const Shape& shape = literal.shape();
  if (shape.IsArray() && shape.rank() == 0) {
    *out += ElementToText(shape.element_type(), literal.data(), options);
  } else if (shape.IsArray()) {
    ArrayPrinter(literal, options, out).Print();
  } else if (!shape.IsTuple()) {
    *out += shape.ToString();
  } else if (depth > kMaxNesting) {
    *out += "(...)";
  } else {
    *out += "( ";
    for (int64_t i = 0; i < literal.tuple_size(); ++i) {
      if (i > 0) *out += ", ";
      AppendLiteral(literal.element(i), options, depth + 1, out);
    }
    *out += " )";
  }
}

}  // namespace

std::string LiteralToText(const Literal& literal, const LiteralTextOptions& options) {
  std::string out;
  AppendLiteral(literal, options, 0, &out);
  return out;
}

std::string ElementToText(ElementType type, const std::byte* element, const LiteralTextOptions& options) {
  if (type == ElementType::kPred) return *element != std::byte{0} ? "true" : "false";
  std::string out;
  AppendElement(type, element, options, &out);
  return out;
}

}  // namespace assay
