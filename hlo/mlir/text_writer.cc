#include "hlo/mlir/text_writer.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "absl/strings/ascii.h"
#include "fmt/format.h"
#include "hlo/mlir/element_names.h"
#include "literal/element_io.h"
#include "literal/float_format.h"

namespace assay::mlir {
namespace {

// Longer constants are written as bytes.
constexpr int64_t kMaxListed = 32;

bool IsWordStart(char c) { return absl::ascii_isalpha(c) || c == '_'; }

std::string BitsText(double value, const FloatFormat& format) {
  return fmt::format("0x{:0{}X}", EncodeFloat(value, format), (format.bits + 3) / 4);
}

// Read as text/dense.cc does: to f64, then to the format.
bool ReadsBack(const std::string& text, double value, const FloatFormat& format) {
  const double read = RoundToFormat(std::strtod(text.c_str(), nullptr), format);
  return read == value && std::signbit(read) == std::signbit(value);
}

template <typename Float>
std::string Shortest(Float value) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::scientific).ptr;
  std::string text(buffer, end);
  if (text.find('.') == std::string::npos) text.insert(text.find('e'), ".0");
  return text;
}

void AppendElement(ElementType type, const std::byte* element, std::string& out) {
  const ScalarValue value = LoadElement(type, element);
  switch (value.kind) {
    case ComputeKind::kBool:
      out += value.b != 0 ? "true" : "false";
      return;
    case ComputeKind::kInt64:
      fmt::format_to(std::back_inserter(out), "{}", value.i);
      return;
    case ComputeKind::kUint64:
      fmt::format_to(std::back_inserter(out), "{}", value.u);
      return;
    case ComputeKind::kReal:
      out += FloatText(value.r, type);
      return;
    case ComputeKind::kComplex:
      out += '(';
      out += FloatText(value.c.real(), ComponentType(type));
      out += ',';
      out += FloatText(value.c.imag(), ComponentType(type));
      out += ')';
  }
}

// One dimension's brackets and what is in them; `element` walks on.
void AppendList(ElementType type, std::span<const int64_t> sizes, const std::byte*& element,
                std::string& out) {
  if (sizes.empty()) {
    AppendElement(type, element, out);
    element += Bytes(type);
    return;
  }
  out += '[';
  for (int64_t i = 0; i < sizes[0]; ++i) {
    if (i > 0) out += ", ";
    AppendList(type, sizes.subspan(1), element, out);
  }
  out += ']';
}

bool AllEqual(std::span<const std::byte> elements, size_t bytes) {
  return elements.size() <= bytes ||
         std::memcmp(elements.data(), elements.data() + bytes, elements.size() - bytes) == 0;
}

void AppendTensor(ElementType type, std::span<const int64_t> sizes, std::string& out) {
  out += "tensor<";
  for (const int64_t size : sizes) fmt::format_to(std::back_inserter(out), "{}x", size);
  out += ElementName(type) + ">";
}

}  // namespace

void AppendType(const Shape& shape, std::string& out) {
  if (shape.IsToken()) {
    out += "!stablehlo.token";
    return;
  }
  if (shape.IsTuple()) {
    out += "tuple<";
    for (size_t i = 0; i < shape.elements().size(); ++i) {
      if (i > 0) out += ", ";
      AppendType(shape.elements()[i], out);
    }
    out += ">";
    return;
  }
  if (!shape.HasDynamic() && !shape.HasUnbounded()) {
    return AppendTensor(shape.element_type(), shape.sizes(), out);
  }
  out += "tensor<";
  std::string bounds;
  bool any_bound = false;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    const bool unbounded = shape.size(d) == kUnboundedSize;
    const bool bounded = shape.is_dynamic(d) && !unbounded;
    out += bounded || unbounded ? "?x" : fmt::format("{}x", shape.size(d));
    bounds += d == 0 ? "" : ", ";
    bounds += bounded ? fmt::format("{}", shape.size(d)) : "?";
    any_bound |= bounded;
  }
  out += ElementName(shape.element_type());
  if (any_bound) out += fmt::format(", #stablehlo.bounds<{}>", bounds);
  out += ">";
}

std::string WithoutType(const Shape& shape) {
  if (shape.IsTuple()) {
    for (const Shape& element : shape.elements()) {
      if (std::string found = WithoutType(element); !found.empty()) return found;
    }
    return {};
  }
  if (shape.IsToken()) return {};
  if (!shape.IsArray()) return shape.ToString();
  const ElementType type = shape.element_type();
  if (type == ElementType::kS1 || type == ElementType::kU1) return fmt::format("an array of {}", Name(type));
  return {};
}

void AppendDenseElements(ElementType type, std::span<const int64_t> sizes,
                         std::span<const std::byte> elements, std::string& out, bool as_splat) {
  const auto bytes = static_cast<size_t>(Bytes(type));
  out += "dense<";
  if (elements.empty()) {
    // No element, no text.
  } else if (elements.size() == bytes || (as_splat && AllEqual(elements, bytes))) {
    AppendElement(type, elements.data(), out);
  } else if (elements.size() / bytes > kMaxListed && Bits(type) >= 8 && type != ElementType::kPred) {
    static constexpr char kDigits[] = "0123456789ABCDEF";
    out += "\"0x";
    out.reserve(out.size() + 2 * elements.size() + 64);
    for (const std::byte byte : elements) {
      out += kDigits[std::to_integer<int>(byte) >> 4];
      out += kDigits[std::to_integer<int>(byte) & 15];
    }
    out += '"';
  } else {
    const std::byte* element = elements.data();
    AppendList(type, sizes, element, out);
  }
  out += '>';
}

void AppendDense(ElementType type, std::span<const int64_t> sizes, std::span<const std::byte> elements,
                 std::string& out) {
  AppendDenseElements(type, sizes, elements, out);
  out += " : ";
  AppendTensor(type, sizes, out);
}

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (byte < 0x20 || byte >= 0x7f) {
      quoted += fmt::format("\\{:02X}", byte);
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string WordOrQuoted(std::string_view text) {
  const auto is_rest = [](char c) {
    return IsWordStart(c) || absl::ascii_isdigit(c) || c == '$' || c == '.';
  };
  const bool is_word =
      !text.empty() && IsWordStart(text[0]) && std::all_of(text.begin(), text.end(), is_rest);
  return is_word ? std::string(text) : Quoted(text);
}

std::string FloatText(double value, ElementType type) {
  const FloatFormat& format = *Info(type).format;
  if (!std::isfinite(value)) return BitsText(value, format);
  std::string text = fmt::format("{:.6e}", value);
  if (ReadsBack(text, value, format)) return text;
  text = format.bits <= 32 ? Shortest(static_cast<float>(value)) : Shortest(value);
  return ReadsBack(text, value, format) ? text : BitsText(value, format);
}

std::string ListText(std::span<const int64_t> values) {
  return fmt::format("[{}]", fmt::join(values.begin(), values.end(), ", "));
}

}  // namespace assay::mlir
