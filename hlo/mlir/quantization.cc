#include "hlo/mlir/quantization.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "absl/strings/ascii.h"
#include "base/counted.h"
#include "base/text_cursor.h"
#include "fmt/format.h"
#include "hlo/mlir/element_names.h"
#include "hlo/mlir/text_writer.h"

namespace assay::mlir {
namespace {

absl::Status Broken(std::string_view label, std::string_view message) {
  return InvalidProgram({}, fmt::format("{}: {}", label, message));
}

// storage [ '<' INT ':' INT '>' ] ':' expressed [ ':' INT ] ',' params
class QuantizationReader : private TextCursor {
 public:
  QuantizationReader(std::string_view body, ElementTypeOf element_type_of, Arena& arena, Quantization* type)
      : TextCursor(body), element_type_of_(element_type_of), arena_(arena), type_(*type) {}

  absl::Status Read();

 private:
  bool IsNext(char c) {
    SkipSpace();
    return Peek() == c;
  }
  absl::Status Want(char c) {
    if (TakeNext(c)) return absl::OkStatus();
    return Unexpected(fmt::format("'{}'", c));
  }
  absl::Status Unexpected(std::string_view wanted) {
    SkipSpace();
    const std::string found = AtEnd() ? "the end of the type" : fmt::format("'{}'", Peek());
    return InvalidProgram({}, fmt::format("!quant.uniform: found {}, want {}", found, wanted));
  }
  std::string_view Word() {
    SkipSpace();
    return TakeWhile([](char c) { return absl::ascii_isalnum(c) || c == '_'; });
  }
  absl::Status ReadInteger(std::string_view label, int64_t* value);
  absl::Status ReadScale(double* value);
  absl::Status ReadStorage();
  absl::Status ReadExpressed();
  absl::Status ReadParameters();

  ElementTypeOf element_type_of_;
  Arena& arena_;
  Quantization& type_;
};

absl::Status QuantizationReader::ReadInteger(std::string_view label, int64_t* value) {
  SkipSpace();
  const char* const begin = rest().data();
  const auto [end, error] = ReadNumber(*value);
  if (error == std::errc::invalid_argument) return Unexpected("an integer");
  if (error == std::errc()) return absl::OkStatus();
  return Broken(label, fmt::format("{} does not fit in 64 bits", std::string_view(begin, end)));
}

// A number with a point, or 0x and the bits of an f64.
absl::Status QuantizationReader::ReadScale(double* value) {
  if (TakeNext("0x")) {
    uint64_t bits = 0;
    if (ReadNumber(bits, 16).ec != std::errc())
      return Broken("QUANT-5", "found a scale of 0x that is not a pattern of 64 bits");
    *value = std::bit_cast<double>(bits);
    return absl::OkStatus();
  }
  const char* const begin = rest().data();
  const auto [end, error] = ReadNumber(*value);
  const std::string_view text(begin, end);
  if (error == std::errc::invalid_argument) return Unexpected("a scale: a number with a point");
  if (error != std::errc()) return Broken("QUANT-5", fmt::format("scale {} does not fit in f64", text));
  if (text.find('.') == std::string_view::npos || !absl::ascii_isdigit(text[text[0] == '-' ? 1 : 0])) {
    return Broken("QUANT-5", fmt::format("found scale {}, want a number with a point", text));
  }
  return absl::OkStatus();
}

absl::Status QuantizationReader::ReadStorage() {
  const std::string_view word = Word();
  if (word.empty()) return Unexpected("a storage type: i8, u8, ...");
  // u8 and ui8 are one type.
  const std::string spelled = word[0] == 'u' && word.size() > 1 && absl::ascii_isdigit(word[1])
                                  ? fmt::format("ui{}", word.substr(1))
                                  : std::string(word);
  if (!element_type_of_(spelled, &type_.storage)) {
    return Broken("QUANT-2",
                  fmt::format("found storage type {}, want an integer of 2, 4, 8, 16 or 32 bits", word));
  }
  ASSAY_RETURN_IF_ERROR(CheckStorage(type_.storage));
  type_.storage_min = SmallestOf(type_.storage);
  type_.storage_max = LargestOf(type_.storage);
  if (!TakeNext('<')) return absl::OkStatus();
  ASSAY_RETURN_IF_ERROR(ReadInteger("QUANT-3", &type_.storage_min));
  ASSAY_RETURN_IF_ERROR(Want(':'));
  ASSAY_RETURN_IF_ERROR(ReadInteger("QUANT-3", &type_.storage_max));
  return Want('>');
}

absl::Status QuantizationReader::ReadExpressed() {
  const std::string_view word = Word();
  if (word.empty()) return Unexpected("an expressed type: f32, ...");
  if (word == "tf32" || word == "f80" || word == "f128") {
    return NotSupported({}, fmt::format("QUANT-4: expressed type {}", word));
  }
  if (!element_type_of_(word, &type_.expressed)) {
    return Broken("QUANT-4", fmt::format("found expressed type {}, want a floating-point type", word));
  }
  return CheckExpressed(type_.expressed);
}

absl::Status QuantizationReader::ReadParameters() {
  const bool in_braces = TakeNext('{');
  if (in_braces && IsNext('{')) return NotSupported({}, "QUANT-9: scales of sub-channels");
  if (in_braces != type_.is_per_axis()) {
    return Broken("QUANT-7", in_braces ? "found scales in braces without an axis"
                                       : "found a scale without braces, and an axis");
  }
  std::vector<double> scales;
  std::vector<int64_t> zero_points;
  do {
    ASSAY_RETURN_IF_ERROR(ReadScale(&scales.emplace_back()));
    zero_points.push_back(0);
    if (TakeNext(':')) ASSAY_RETURN_IF_ERROR(ReadInteger("QUANT-6", &zero_points.back()));
  } while (in_braces && TakeNext(','));
  type_.scales = arena_.Copy(scales);
  type_.zero_points = arena_.Copy(zero_points);
  return in_braces ? Want('}') : absl::OkStatus();
}

absl::Status QuantizationReader::Read() {
  ASSAY_RETURN_IF_ERROR(ReadStorage());
  ASSAY_RETURN_IF_ERROR(Want(':'));
  ASSAY_RETURN_IF_ERROR(ReadExpressed());
  if (TakeNext(':')) {
    if (IsNext('{')) return NotSupported({}, "QUANT-9: scales of sub-channels");
    ASSAY_RETURN_IF_ERROR(ReadInteger("QUANT-8", &type_.axis));
    if (type_.axis < 0) return Broken("QUANT-8", fmt::format("axis is {}, want 0 or more", type_.axis));
  }
  ASSAY_RETURN_IF_ERROR(Want(','));
  ASSAY_RETURN_IF_ERROR(ReadParameters());
  SkipSpace();
  if (!AtEnd()) return Unexpected("the end of the type");
  return CheckQuantization(type_);
}

}  // namespace

int64_t SmallestOf(ElementType storage) {
  return IsSignedIntegral(storage) ? -(int64_t{1} << (Bits(storage) - 1)) : 0;
}
int64_t LargestOf(ElementType storage) {
  return (int64_t{1} << (Bits(storage) - (IsSignedIntegral(storage) ? 1 : 0))) - 1;
}

bool Quantization::has_whole_range() const {
  return storage_min == SmallestOf(storage) && storage_max == LargestOf(storage);
}

bool Quantization::has_zero_points() const {
  return std::any_of(zero_points.begin(), zero_points.end(), [](int64_t z) { return z != 0; });
}

bool SameBaseline(const Quantization& a, const Quantization& b) {
  return a.storage == b.storage && a.expressed == b.expressed && a.storage_min == b.storage_min &&
         a.storage_max == b.storage_max && a.axis == b.axis;
}

bool SameQuantization(const Quantization& a, const Quantization& b) {
  return SameBaseline(a, b) && std::ranges::equal(a.scales, b.scales) &&
         std::ranges::equal(a.zero_points, b.zero_points);
}

std::string ToString(const Quantization& type) {
  std::string text = "!quant.uniform<" + ElementName(type.storage);
  if (!type.has_whole_range()) text += fmt::format("<{}:{}>", type.storage_min, type.storage_max);
  text += ":" + ElementName(type.expressed);
  if (type.is_per_axis()) text += fmt::format(":{}", type.axis);
  text += type.is_per_axis() ? ", {" : ", ";
  for (size_t i = 0; i < type.scales.size(); ++i) {
    text += (i == 0 ? "" : ",") + FloatText(type.scales[i], ElementType::kF64);
    if (type.zero_points[i] != 0) text += fmt::format(":{}", type.zero_points[i]);
  }
  return text + (type.is_per_axis() ? "}>" : ">");
}

absl::Status CheckStorage(ElementType storage) {
  const std::string name = ElementName(storage);
  if (!IsIntegral(storage) || Bits(storage) < 2) {
    return Broken("QUANT-2",
                  fmt::format("found storage type {}, want an integer of 2, 4, 8, 16 or 32 bits", name));
  }
  if (Bits(storage) > 32) return NotSupported({}, fmt::format("QUANT-2: storage type {}", name));
  return absl::OkStatus();
}

absl::Status CheckExpressed(ElementType expressed) {
  if (!IsFloat(expressed)) {
    return Broken("QUANT-4",
                  fmt::format("found expressed type {}, want a floating-point type", ElementName(expressed)));
  }
  if (expressed == ElementType::kF8E8M0FNU) return NotSupported({}, "QUANT-4: expressed type f8E8M0FNU");
  return absl::OkStatus();
}

absl::Status CheckQuantization(const Quantization& type) {
  const int64_t smallest = SmallestOf(type.storage), largest = LargestOf(type.storage);
  if (type.storage_min < smallest || type.storage_min >= type.storage_max || type.storage_max > largest) {
    return Broken("QUANT-3", fmt::format("found range {}:{}, want one with a smaller first number in {}:{}",
                                         type.storage_min, type.storage_max, smallest, largest));
  }
  if (type.scales.empty() || type.scales.size() != type.zero_points.size()) {
    return Broken("QUANT-7", fmt::format("found {} and {} zero points, want as many of each",
                                         Counted(type.scales.size(), "scale"), type.zero_points.size()));
  }
  const FloatFormat& format = *Info(type.expressed).format;
  for (const double scale : type.scales) {
    if (!(scale >= format.min_subnormal && scale <= format.max_finite)) {
      return Broken("QUANT-5", fmt::format("scale is {}, want a positive number of {}", scale,
                                           ElementName(type.expressed)));
    }
  }
  for (const int64_t zero_point : type.zero_points) {
    if (zero_point < type.storage_min || zero_point > type.storage_max) {
      return Broken("QUANT-6", fmt::format("zero point is {}, want one in {}:{}", zero_point,
                                           type.storage_min, type.storage_max));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckAxis(const Quantization& type, std::span<const int64_t> sizes) {
  if (!type.is_per_axis()) return absl::OkStatus();
  if (type.axis >= static_cast<int64_t>(sizes.size())) {
    return Broken("QUANT-8", fmt::format("axis is {}, the tensor has rank {}", type.axis, sizes.size()));
  }
  const int64_t size = sizes[static_cast<size_t>(type.axis)];
  if (size >= 0 && size != static_cast<int64_t>(type.scales.size())) {
    return Broken("QUANT-8", fmt::format("found {} for dimension {} of size {}",
                                         Counted(type.scales.size(), "scale"), type.axis, size));
  }
  return absl::OkStatus();
}

absl::Status ParseQuantization(std::string_view body, ElementTypeOf element_type_of, Arena& arena,
                               Quantization* type) {
  return QuantizationReader(body, element_type_of, arena, type).Read();
}

}  // namespace assay::mlir
