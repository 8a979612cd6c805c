// dense<...> : tensor<...> and dense_resource<...> (docs/spec/stablehlo-text.md section 4).
#include <charconv>

#include "absl/strings/ascii.h"
#include "base/checked.h"
#include "base/counted.h"
#include "base/text_cursor.h"
#include "fmt/format.h"
#include "hlo/mlir/quantization.h"
#include "hlo/mlir/text/parser.h"
#include "literal/element_io.h"
#include "literal/float_format.h"

namespace assay::mlir {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdefABCDEF";

// The bytes of "0x..." without its quotes and prefix; false: not pairs of hexadecimal digits.
bool DecodeHex(std::string_view digits, std::span<std::byte> bytes) {
  if (digits.find_first_not_of(kHexDigits) != std::string_view::npos) return false;
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(HexValue(digits[2 * i]) * 16 + HexValue(digits[2 * i + 1]));
  }
  return true;
}

// The values between "dense<" and ">", of a known tensor type. Positions are offsets in the lexer's text.
class DenseReader : private TextCursor {
 public:
  DenseReader(std::string_view raw, size_t where, const Lexer& lexer, Arena& arena, Attribute* attribute)
      : TextCursor(raw), where_(where), lexer_(lexer), arena_(arena), attribute_(attribute) {}

  absl::Status Read();

 private:
  absl::Status Error(std::string_view message) const { return ErrorAt(at(), message); }
  absl::Status ErrorAt(size_t at, std::string_view message) const {
    return InvalidProgram(lexer_.PositionOf(where_ + at), message);
  }
  std::string Found() const { return AtEnd() ? "the end of dense<...>" : fmt::format("'{}'", Peek()); }
  // The number, with its sign, that starts here.
  std::string_view Number() {
    SkipSpace();
    return TakeWhile([](char c) { return absl::ascii_isalnum(c) || c == '.' || c == '-' || c == '+'; });
  }
  absl::Status ReadHexString();
  absl::Status ReadList(size_t dimension);
  absl::Status ReadElement();
  absl::Status ReadFloat(const FloatFormat& format, double* value);
  absl::Status ReadInteger();
  absl::Status ReadBool();
  absl::Status ReadReal();
  absl::Status ReadComplex();
  std::byte* NextElement() { return bytes_.data() + static_cast<size_t>(done_++) * element_bytes_; }

  size_t where_;
  const Lexer& lexer_;
  Arena& arena_;
  Attribute* attribute_;
  ElementType element_ = ElementType::kS64;
  size_t element_bytes_ = 8;
  std::span<const int64_t> sizes_;
  int64_t count_ = 0, done_ = 0;
  std::span<std::byte> bytes_;
};

absl::Status DenseReader::Read() {
  const Type& type = *attribute_->type;
  if (type.kind != Type::Kind::kTensor || type.element_type->kind == Type::Kind::kUnsupported) {
    return NotSupported(lexer_.PositionOf(where_), fmt::format("dense<...> of type {}", ToString(type)));
  }
  if (type.element_type->kind == Type::Kind::kElement) element_ = type.element_type->element;
  if (type.element_type->kind == Type::Kind::kQuantized) element_ = type.element_type->quantization->storage;
  element_bytes_ = static_cast<size_t>(Bytes(element_));
  sizes_ = type.sizes;
  for (int64_t size : sizes_) {
    if (size < 0)
      return ErrorAt(0, fmt::format("dense<...> of type {}: want a static shape", ToString(type)));
  }
  const std::optional<int64_t> count = CheckedProduct(sizes_);
  if (!count || !CheckedMul(*count, static_cast<int64_t>(element_bytes_))) {
    return ErrorAt(0, fmt::format("dense<...> of type {}: the size overflows", ToString(type)));
  }
  count_ = *count;
  if (TakeNext('"')) return ReadHexString();
  if (AtEnd()) {
    return count_ == 0 ? absl::OkStatus() : Error(fmt::format("found no elements, want {}", count_));
  }
  if (Peek() != '[') {
    bytes_ = arena_.Array<std::byte>(element_bytes_);
    ASSAY_RETURN_IF_ERROR(ReadElement());
    attribute_->is_splat = true;
  } else {
    // Each element takes two bytes of text or more, so a short text can't ask for much memory.
    if (count_ > static_cast<int64_t>(text().size())) {
      return Error(fmt::format("found fewer elements than {} has, want {}", ToString(type), count_));
    }
    bytes_ = arena_.Array<std::byte>(static_cast<size_t>(count_) * element_bytes_);
    ASSAY_RETURN_IF_ERROR(ReadList(0));
  }
  attribute_->data = bytes_;
  SkipSpace();
  return AtEnd() ? absl::OkStatus() : Error(fmt::format("found {}, want '>'", Found()));
}

// Raw little-endian elements; one element's worth of them is a splat.
absl::Status DenseReader::ReadHexString() {
  const size_t begin = at() - 1;
  const std::string_view body = TakeWhile([](char c) { return c != '"'; });
  if (AtEnd() || !body.starts_with("0x") || body.size() % 2 != 0) {
    return ErrorAt(begin, "found a string, want \"0x\" and pairs of hexadecimal digits");
  }
  const size_t size = body.size() / 2 - 1;
  const size_t wanted = static_cast<size_t>(count_) * element_bytes_;
  if (size != wanted && !(size == element_bytes_ && count_ > 0)) {
    return ErrorAt(begin, fmt::format("found {} of elements, want {} for {}", Counted(size, "byte"), wanted,
                                      ToString(*attribute_->type)));
  }
  bytes_ = arena_.Array<std::byte>(size);
  if (!DecodeHex(body.substr(2), bytes_))
    return ErrorAt(begin, "found a character that is not a hexadecimal digit");
  NormalizeElements(element_, bytes_);
  attribute_->data = bytes_;
  attribute_->is_splat = size != wanted || count_ == 1;
  Skip();
  SkipSpace();
  return AtEnd() ? absl::OkStatus() : Error(fmt::format("found {}, want '>'", Found()));
}

absl::Status DenseReader::ReadList(size_t dimension) {
  if (dimension == sizes_.size()) return ReadElement();
  if (!TakeNext('[')) return Error(fmt::format("found {}, want '[' for dimension {}", Found(), dimension));
  // Any empty list stands for no elements, however many dimensions there are.
  if (count_ == 0 && TakeNext(']')) return absl::OkStatus();
  const int64_t size = sizes_[dimension];
  for (int64_t i = 0; i < size; ++i) {
    if (i > 0 && !TakeNext(',')) {
      return Error(fmt::format("found {}, want {} in dimension {}", Counted(i, "element"), size, dimension));
    }
    ASSAY_RETURN_IF_ERROR(ReadList(dimension + 1));
  }
  if (!TakeNext(']'))
    return Error(fmt::format("found {}, want ']' after {}", Found(), Counted(size, "element")));
  return absl::OkStatus();
}

absl::Status DenseReader::ReadElement() {
  switch (ClassOf(element_)) {
    case TypeClass::kPred:
      return ReadBool();
    case TypeClass::kFloat:
      return ReadReal();
    case TypeClass::kComplex:
      return ReadComplex();
    default:
      return ReadInteger();
  }
}

absl::Status DenseReader::ReadBool() {
  const size_t begin = at();
  const std::string_view number = Number();
  if (number == "true" || number == "1") {
    *NextElement() = std::byte{1};
  } else if (number == "false" || number == "0") {
    *NextElement() = std::byte{0};
  } else {
    return ErrorAt(begin, fmt::format("found '{}', want true or false", number.substr(0, 40)));
  }
  return absl::OkStatus();
}

// Signless types take what fits in their width, as signed or as unsigned number: 255 is -1 in i8.
absl::Status DenseReader::ReadInteger() {
  const size_t begin = at();
  std::string_view number = Number();
  const std::string_view whole = number;
  const bool negative = !number.empty() && number[0] == '-';
  if (negative) number.remove_prefix(1);
  const bool is_hex = number.starts_with("0x");
  if (is_hex) number.remove_prefix(2);
  uint64_t value = 0;
  const char* const end = number.data() + number.size();
  const auto [last, error] = std::from_chars(number.data(), end, value, is_hex ? 16 : 10);
  if (error == std::errc::invalid_argument || (error == std::errc() && last != end)) {
    return ErrorAt(begin, fmt::format("found '{}', want an integer", whole.substr(0, 40)));
  }
  const int bits = Bits(element_);
  const uint64_t largest = negative     ? uint64_t{1} << (bits - 1)
                           : bits == 64 ? ~uint64_t{0}
                                        : (uint64_t{1} << bits) - 1;
  if (error != std::errc() || value > largest || (negative && IsUnsignedIntegral(element_))) {
    return ErrorAt(begin, fmt::format("{} does not fit in {}", whole.substr(0, 40),
                                      ToString(*attribute_->type->element_type)));
  }
  ScalarValue scalar;
  if (IsSignedIntegral(element_)) {
    scalar.kind = ComputeKind::kInt64;
    scalar.i = WrapSigned(static_cast<int64_t>(negative ? 0 - value : value), bits);
  } else {
    scalar.kind = ComputeKind::kUint64;
    scalar.u = value;
  }
  StoreElement(element_, scalar, NextElement());
  return absl::OkStatus();
}

// A number with a point, rounded to f64 and then to the format, or the bit pattern in hexadecimal digits.
absl::Status DenseReader::ReadFloat(const FloatFormat& format, double* value) {
  SkipSpace();
  const size_t begin = at();
  const std::string_view number = Number();
  const char* const end = number.data() + number.size();
  if (number.starts_with("0x")) {
    uint64_t bits = 0;
    const auto [last, error] = std::from_chars(number.data() + 2, end, bits, 16);
    if (error != std::errc() || last != end || (format.bits < 64 && bits >> format.bits != 0)) {
      return ErrorAt(
          begin, fmt::format("{} is not a pattern of {}", number.substr(0, 40), Counted(format.bits, "bit")));
    }
    *value = DecodeFloat(bits, format);
    return absl::OkStatus();
  }
  const size_t digits = number.starts_with("-") ? 1 : 0;
  const size_t point = number.find_first_not_of("0123456789", digits);
  if (point == digits || point == std::string_view::npos || number[point] != '.') {
    return ErrorAt(begin, fmt::format("found '{}', want a number with a point, or its bits as 0x...",
                                      number.substr(0, 40)));
  }
  const auto [last, error] = std::from_chars(number.data(), end, *value);
  if (error == std::errc::invalid_argument || (error == std::errc() && last != end)) {
    return ErrorAt(begin, fmt::format("found '{}', want a number", number.substr(0, 40)));
  }
  if (error == std::errc::result_out_of_range) {
    return ErrorAt(begin, fmt::format("{} does not fit in f64", number.substr(0, 40)));
  }
  *value = RoundToFormat(*value, format);
  return absl::OkStatus();
}

absl::Status DenseReader::ReadReal() {
  ScalarValue scalar;
  scalar.kind = ComputeKind::kReal;
  ASSAY_RETURN_IF_ERROR(ReadFloat(*Info(element_).format, &scalar.r));
  StoreElement(element_, scalar, NextElement());
  return absl::OkStatus();
}

absl::Status DenseReader::ReadComplex() {
  ScalarValue scalar;
  scalar.kind = ComputeKind::kComplex;
  double parts[2] = {};
  if (!TakeNext('(')) return Error(fmt::format("found {}, want '(' of a complex number", Found()));
  ASSAY_RETURN_IF_ERROR(ReadFloat(*Info(element_).format, &parts[0]));
  if (!TakeNext(',')) return Error(fmt::format("found {}, want ','", Found()));
  ASSAY_RETURN_IF_ERROR(ReadFloat(*Info(element_).format, &parts[1]));
  if (!TakeNext(')')) return Error(fmt::format("found {}, want ')'", Found()));
  scalar.c = {parts[0], parts[1]};
  StoreElement(element_, scalar, NextElement());
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadDenseElements(std::string_view raw, size_t where, const Lexer& lexer, Arena& arena,
                               Attribute* attribute) {
  return DenseReader(raw, where, lexer, arena, attribute).Read();
}

// dense '<' raw '>' ':' type. Neither numbers nor hexadecimal strings hold a '>'.
absl::Status TextParser::ParseDense(const Attribute** attribute) {
  lexer_.Next();
  if (!At('<')) return Unexpected("'<'");
  const size_t begin = lexer_.end();
  const size_t end = lexer_.text().find('>', begin);
  if (end == std::string_view::npos) return Error(lexer_.position(), "dense<: found no '>'");
  lexer_.ContinueAt(end + 1);
  ASSAY_RETURN_IF_ERROR(Expect(':'));
  Attribute* const dense = tree_->NewAttribute(Attribute::Kind::kDense);
  *attribute = dense;
  ASSAY_RETURN_IF_ERROR(ParseType(&dense->type));
  return ReadDenseElements(lexer_.text().substr(begin, end - begin), begin, lexer_, arena_, dense);
}

// dense_resource '<' key '>' ':' type; the bytes follow at the end of the file.
absl::Status TextParser::ParseDenseResource(const Attribute** attribute) {
  lexer_.Next();
  ASSAY_RETURN_IF_ERROR(Expect('<'));
  Attribute* const dense = tree_->NewAttribute(Attribute::Kind::kDense);
  *attribute = dense;
  resources_later_.push_back({dense, lexer_.position()});
  if (At(Tok::kString)) {
    ASSAY_RETURN_IF_ERROR(ReadString(&dense->text));
  } else {
    ASSAY_RETURN_IF_ERROR(ReadWord(&dense->text, "the key of a resource"));
  }
  ASSAY_RETURN_IF_ERROR(Expect('>'));
  ASSAY_RETURN_IF_ERROR(Expect(':'));
  return ParseType(&dense->type);
}

}  // namespace assay::mlir
