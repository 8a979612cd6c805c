// Reading values from HLO text: ParseLiteral of literal_text.h (docs/spec/hlo-text.md sections 1 and 4,
// docs/spec/shapes.md 9.3). Printing is in literal_text.cc.
//
// Elements are tokens of the HLO lexer, commas between them carry no meaning, and every pair of braces must
// hold as many entries as its dimension has. A decimal is rounded to f64 first and then to the element type:
// two roundings are what defines the value.
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "absl/strings/ascii.h"
#include "base/counted.h"
#include "base/limits.h"
#include "base/quoted.h"
#include "base/text_cursor.h"
#include "fmt/format.h"
#include "literal/element_io.h"
#include "literal/float_format.h"
#include "literal/literal_text.h"

namespace assay {
namespace {

bool IsDigit(char c) { return absl::ascii_isdigit(c); }
bool IsIdentifierChar(char c) { return absl::ascii_isalnum(c) || c == '_' || c == '.' || c == '-'; }

// Whether a decimal that is far from 1 is far above it: where its first digit stands, and the exponent.
bool IsLarge(std::string_view decimal) {
  const size_t exponent_start = decimal.find_first_of("eE");
  const std::string_view digits = decimal.substr(0, exponent_start);
  const auto point = static_cast<int64_t>(std::min(digits.find('.'), digits.size()));
  const auto first = static_cast<int64_t>(std::min(digits.find_first_of("123456789"), digits.size()));
  int64_t exponent = 0;
  if (exponent_start != std::string_view::npos) {
    const bool negative = decimal[exponent_start + 1] == '-';
    for (char c : decimal.substr(exponent_start + 1)) {
      if (IsDigit(c)) exponent = std::min<int64_t>(exponent * 10 + (c - '0'), int64_t{1} << 56);
    }
    if (negative) exponent = -exponent;
  }
  return point - first + exponent > 0;
}

bool HasMinusZero(ElementType type) {
  const FloatSpecials specials = Info(type).format->specials;
  return specials != FloatSpecials::kFnuz && specials != FloatSpecials::kE8M0;
}

// One number as the lexer gives it.
struct Number {
  enum class Kind { kInteger, kReal, kNaN } kind = Kind::kInteger;
  bool negative = false;  // written with '-'
  int64_t integer = 0;    // kInteger; 2^63 .. 2^64 - 1 wrap
  double real = 0;        // kReal, infinities included
  uint64_t payload = 0;   // kNaN: 0 for none
};

class LiteralParser : public TextCursor {
 public:
  LiteralParser(std::string_view text, const LiteralTextOptions& options)
      : TextCursor(text), options_(options) {}

  absl::StatusOr<Literal> ParseValue(std::shared_ptr<const Shape> shape, int depth);
  absl::Status SkipSpace();
  const MinusZeros& minus_zeros() const { return minus_zeros_; }
  absl::Status Error(std::string_view message) const { return ErrorAt(at(), message); }

 private:
  bool TakeWord(std::string_view word);
  std::string Found() const;
  absl::Status ErrorAt(size_t position, std::string_view message) const {
    return InvalidProgram(PositionAt(text(), position), message);
  }

  absl::StatusOr<Literal> ParseTuple(std::shared_ptr<const Shape> shape, int depth);
  absl::StatusOr<Literal> ParseArray(const std::shared_ptr<const Shape>& shape);
  absl::Status ParseDense(const Shape& shape, std::byte* out);
  absl::Status CloseBrace(const Shape& shape, int64_t dimension, int64_t count);
  absl::Status SkipSpaceAndCommas();

  absl::Status ParseElement(ElementType type, std::byte* out);
  absl::Status ParsePred(std::byte* out);
  absl::Status ParseInteger(ElementType type, std::byte* out);
  absl::Status ParseFloat(ElementType type, std::byte* out);
  absl::Status ParseComplex(ElementType type, std::byte* out);
  absl::Status StoreFloat(ElementType type, const Number& number, size_t start, std::byte* out);
  absl::Status StoreNaN(ElementType type, const Number& number, size_t start, std::byte* out) const;

  absl::StatusOr<Number> ScanNumber();
  absl::Status ScanDigits(Number* number);
  absl::Status ScanReal(size_t start, size_t end, Number* number);
  absl::Status ScanHexFloat(size_t start, Number* number);
  absl::Status ScanPayload(Number* number);

  LiteralTextOptions options_;
  MinusZeros minus_zeros_;
};

// What stands at the cursor, for messages.
std::string LiteralParser::Found() const {
  if (AtEnd()) return "the end of the text";
  size_t length = 1;
  if (IsIdentifierChar(Peek())) {
    while (length < 32 && IsIdentifierChar(Peek(length))) ++length;
  }
  return ShownText(rest().substr(0, length), length);
}

// Whitespace and comments.
absl::Status LiteralParser::SkipSpace() {
  return SkipSpaceAndComments() ? absl::OkStatus() : Error("literal: a comment is not closed");
}

absl::Status LiteralParser::SkipSpaceAndCommas() {
  ASSAY_RETURN_IF_ERROR(SkipSpace());
  while (Take(',')) ASSAY_RETURN_IF_ERROR(SkipSpace());
  return absl::OkStatus();
}

// The whole identifier at the cursor is `word`.
bool LiteralParser::TakeWord(std::string_view word) {
  return !IsIdentifierChar(Peek(word.size())) && Take(word);
}

absl::StatusOr<Literal> LiteralParser::ParseValue(std::shared_ptr<const Shape> shape, int depth) {
  if (depth > kMaxNesting) return Error(fmt::format("literal: tuples nest deeper than {}", kMaxNesting));
  ASSAY_RETURN_IF_ERROR(SkipSpace());
  if (shape->IsTuple()) return ParseTuple(std::move(shape), depth);
  if (shape->IsArray()) return ParseArray(shape);
  return Error(fmt::format("literal: a value of shape {} can't be written", shape->ToString()));
}

absl::StatusOr<Literal> LiteralParser::ParseTuple(std::shared_ptr<const Shape> shape, int depth) {
  const size_t arity = shape->elements().size();
  if (!Take('(')) return Error(fmt::format("LIT-1: found {}, but a tuple starts with '('", Found()));
  std::vector<Literal> elements;
  for (size_t i = 0; i < arity; ++i) {
    ASSAY_RETURN_IF_ERROR(SkipSpace());
    if (i > 0 && !Take(',')) {
      return Error(fmt::format("LIT-1: found {} after element {} of a tuple of {}", Found(), i - 1, arity));
    }
    auto element_shape = std::shared_ptr<const Shape>(shape, &shape->elements()[i]);
    ASSAY_ASSIGN_OR_RETURN(Literal element, ParseValue(std::move(element_shape), depth + 1));
    elements.push_back(std::move(element));
  }
  ASSAY_RETURN_IF_ERROR(SkipSpace());
  if (!Take(')'))
    return Error(fmt::format("LIT-1: found {} after all {} of a tuple", Found(), Counted(arity, "element")));
  return Literal::Tuple(std::move(shape), std::move(elements));
}

absl::StatusOr<Literal> LiteralParser::ParseArray(const std::shared_ptr<const Shape>& shape) {
  if (shape->HasUnbounded()) return Error("literal: the shape has an unbounded dimension");
  // Too little text for so many elements: parse only for the error, without storage.
  if (static_cast<uint64_t>(shape->num_elements()) > rest().size()) {
    ASSAY_RETURN_IF_ERROR(ParseDense(*shape, nullptr));
    return Error("LIT-1: too few elements");
  }
  ASSAY_ASSIGN_OR_RETURN(Literal literal, Literal::Make(shape, nullptr, /*zero=*/false));
  ASSAY_RETURN_IF_ERROR(ParseDense(*shape, literal.MutableBytes().data()));
  return literal;
}

absl::Status LiteralParser::CloseBrace(const Shape& shape, int64_t dimension, int64_t count) {
  const int64_t size = shape.size(dimension);
  if (count == size) return absl::OkStatus();
  return Error(
      fmt::format("LIT-1: found {}, but dimension {} has size {}", Counted(count, "entry"), dimension, size));
}

// Elements go to `out` in row-major order; `out` may be null.
absl::Status LiteralParser::ParseDense(const Shape& shape, std::byte* out) {
  const ElementType type = shape.element_type();
  const int64_t rank = shape.rank();
  if (rank == 0) return ParseElement(type, out);
  std::byte scratch[16];
  int64_t counts[kMaxRank + 1] = {};  // entries seen at each open level
  int64_t level = -1;                 // innermost open dimension
  if (Peek() != '{') {
    return Error(fmt::format("LIT-1: found {}, but an array of rank {} starts with '{{'", Found(), rank));
  }
  do {
    if (level >= 0) ASSAY_RETURN_IF_ERROR(SkipSpaceAndCommas());
    const char c = Peek();
    if (c == '}') {
      ASSAY_RETURN_IF_ERROR(CloseBrace(shape, level, counts[level]));
      Skip();
      --level;
      continue;
    }
    if (level >= 0 && counts[level]++ == shape.size(level)) {
      return Error(fmt::format("LIT-1: more than {} entries in dimension {}", shape.size(level), level));
    }
    if (level + 1 < rank) {
      if (!Take('{'))
        return Error(fmt::format("LIT-1: found {}, but {} of braces are open of {}", Found(),
                                 Counted(level + 1, "level"), rank));
      counts[++level] = 0;
      continue;
    }
    ASSAY_RETURN_IF_ERROR(ParseElement(type, out == nullptr ? scratch : out));
    if (out != nullptr) out += Bytes(type);
  } while (level >= 0);
  return absl::OkStatus();
}

absl::Status LiteralParser::ParseElement(ElementType type, std::byte* out) {
  if (rest().starts_with("...")) {
    return Error("LIT-3: the value is elided, '{...}' stands for no particular value");
  }
  std::byte scratch[16];
  if (out == nullptr) out = scratch;
  switch (ClassOf(type)) {
    case TypeClass::kPred:
      return ParsePred(out);
    case TypeClass::kSigned:
    case TypeClass::kUnsigned:
      return ParseInteger(type, out);
    case TypeClass::kFloat:
      return ParseFloat(type, out);
    case TypeClass::kComplex:
      return ParseComplex(type, out);
  }
  return absl::OkStatus();
}

absl::Status LiteralParser::ParsePred(std::byte* out) {
  bool value = TakeWord("true");
  if (!value && !TakeWord("false")) {
    const size_t start = at();
    ASSAY_ASSIGN_OR_RETURN(const Number number, ScanNumber());
    if (number.kind != Number::Kind::kInteger) {
      return ErrorAt(start, "LIT-2: an element of type pred is true, false or an integer");
    }
    value = number.integer != 0;
  }
  *out = std::byte{value};
  return absl::OkStatus();
}

absl::Status LiteralParser::ParseInteger(ElementType type, std::byte* out) {
  const size_t start = at();
  ASSAY_ASSIGN_OR_RETURN(const Number number, ScanNumber());
  if (number.kind != Number::Kind::kInteger) {
    return ErrorAt(start, fmt::format("LIT-2: an element of type {} is an integer", Name(type)));
  }
  const int64_t value = number.integer;
  const int bits = Bits(type);
  const auto pattern = static_cast<uint64_t>(value);
  const bool fits = bits == 64 || (IsSignedIntegral(type) ? WrapSigned(value, bits) == value
                                                          : WrapUnsigned(pattern, bits) == pattern);
  if (!fits) {
    return ErrorAt(start, fmt::format("LIT-2: {} is out of range for {}", value, Name(type)));
  }
  StoreStrip(type, &value, 1, out, 0);
  return absl::OkStatus();
}

absl::Status LiteralParser::ParseFloat(ElementType type, std::byte* out) {
  const size_t start = at();
  ASSAY_ASSIGN_OR_RETURN(const Number number, ScanNumber());
  return StoreFloat(type, number, start, out);
}

// Decision: minus-zero-integer. As in XLA -0 is an integer, whose sign is lost, and -0.0 a float.
absl::Status LiteralParser::StoreFloat(ElementType type, const Number& number, size_t start, std::byte* out) {
  if (number.kind == Number::Kind::kNaN) return StoreNaN(type, number, start, out);
  const bool is_integer = number.kind == Number::Kind::kInteger;
  const double value = is_integer ? static_cast<double>(number.integer) : number.real;
  const double rounded = RoundToFormat(value, *Info(type).format);
  if (is_integer && number.negative && number.integer == 0 && HasMinusZero(type)) {
    if (minus_zeros_.count++ == 0) minus_zeros_.first = start;
  }
  if (std::isfinite(value) && !std::isfinite(rounded)) {
    return ErrorAt(start, fmt::format("LIT-2: {} is out of range for {}", value, Name(type)));
  }
  StoreStrip(type, &rounded, 1, out, 0);
  return absl::OkStatus();
}

// Decision: nan-literal-without-nan
absl::Status LiteralParser::StoreNaN(ElementType type, const Number& number, size_t start,
                                     std::byte* out) const {
  const FloatFormat& format = *Info(type).format;
  uint64_t bits = format.nan_bits;
  const uint64_t sign = uint64_t{1} << (format.bits - 1);
  if (number.payload != 0) {
    const uint64_t limit = (uint64_t{1} << format.mantissa_bits) - 1;
    if (!format.has_infinity() || number.payload > limit) {
      return ErrorAt(start, fmt::format("LIT-2: nan(0x{:x}) has a payload that {} can't hold", number.payload,
                                        Name(type)));
    }
    bits = (((uint64_t{1} << format.exponent_bits) - 1) << format.mantissa_bits) | number.payload;
  }
  const bool has_sign = format.has_infinity() || format.specials == FloatSpecials::kFn ||
                        format.specials == FloatSpecials::kFinite;
  if (number.negative && has_sign) bits ^= sign;
  std::memcpy(out, &bits, Bytes(type));
  return absl::OkStatus();
}

// "(re, im)". Decision: complex-nan-literal
absl::Status LiteralParser::ParseComplex(ElementType type, std::byte* out) {
  const ElementType component = ComponentType(type);
  const int bytes = Bytes(component);
  if (!Take('(')) {
    return Error(
        fmt::format("LIT-2: found {}, but an element of type {} is written (re, im)", Found(), Name(type)));
  }
  ASSAY_RETURN_IF_ERROR(SkipSpace());
  const size_t real_start = at();
  ASSAY_ASSIGN_OR_RETURN(const Number real, ScanNumber());
  ASSAY_RETURN_IF_ERROR(StoreFloat(component, real, real_start, out));
  ASSAY_RETURN_IF_ERROR(SkipSpace());
  if (!Take(',')) return Error(fmt::format("literal: found {} after the real part, wanted ','", Found()));
  ASSAY_RETURN_IF_ERROR(SkipSpace());
  ASSAY_RETURN_IF_ERROR(ParseFloat(component, out + bytes));
  ASSAY_RETURN_IF_ERROR(SkipSpace());
  if (!Take(')'))
    return Error(fmt::format("literal: found {} after the imaginary part, wanted ')'", Found()));
  if (real.kind == Number::Kind::kNaN && !options_.hex_floats) std::memcpy(out + bytes, out, bytes);
  return absl::OkStatus();
}

// INT, DECIMAL, inf, nan (section 1).
absl::StatusOr<Number> LiteralParser::ScanNumber() {
  Number number;
  const size_t start = at();
  number.negative = Take('-');
  const char c = Peek();
  absl::Status status;
  if (TakeWord("inf")) {
    number.kind = Number::Kind::kReal;
    number.real = std::numeric_limits<double>::infinity();
    if (number.negative) number.real = -number.real;
  } else if (TakeWord("nan")) {
    number.kind = Number::Kind::kNaN;
    if (Peek() == '(') status = ScanPayload(&number);
  } else if (options_.hex_floats && c == '0' && (Peek(1) | 0x20) == 'x') {
    status = ScanHexFloat(start, &number);
  } else if (IsDigit(c) || (number.negative && c == '.' && IsDigit(Peek(1)))) {
    status = ScanDigits(&number);
  } else {
    GoTo(start);
    status = Error(fmt::format("LIT-1: found {}, wanted an element", Found()));
  }
  if (!status.ok()) return status;
  return number;
}

// `-?\d+`, or with a fraction or an exponent; the sign is already read.
absl::Status LiteralParser::ScanDigits(Number* number) {
  const size_t start = at();
  uint64_t value = 0;
  const bool overflow = ReadNumber(value).ec == std::errc::result_out_of_range;
  if (overflow) TakeDigits();
  const size_t digits_end = at();
  if (Take('.')) TakeDigits();
  if ((Peek() | 0x20) == 'e') {
    const size_t digit = Peek(1) == '+' || Peek(1) == '-' ? 2 : 1;
    if (IsDigit(Peek(digit))) Skip(digit);
    TakeDigits();
  }
  if (at() != digits_end) return ScanReal(start, at(), number);
  constexpr uint64_t kMinMagnitude = uint64_t{1} << 63;
  if (overflow || (number->negative && value > kMinMagnitude)) {
    return ErrorAt(start, "LIT-2: the integer does not fit 64 bits");
  }
  number->integer = static_cast<int64_t>(number->negative ? 0 - value : value);
  return absl::OkStatus();
}

// The decimal in [start, end) as the nearest double; overflow is an error, underflow is not.
absl::Status LiteralParser::ScanReal(size_t start, size_t end, Number* number) {
  number->kind = Number::Kind::kReal;
  const char* first = text().data() + start;
  const auto result = std::from_chars(first, text().data() + end, number->real);
  if (result.ec == std::errc::result_out_of_range) {
    if (IsLarge(text().substr(start, end - start))) return ErrorAt(start, "LIT-2: the number overflows f64");
    number->real = 0;
  }
  if (number->negative) number->real = -number->real;
  return absl::OkStatus();
}

// C99: 0x1.8p+1.
absl::Status LiteralParser::ScanHexFloat(size_t start, Number* number) {
  number->kind = Number::Kind::kReal;
  Skip(2);
  const bool starts_well = absl::ascii_isxdigit(Peek()) || Peek() == '.';
  if (!starts_well || ReadNumber(number->real, std::chars_format::hex).ec != std::errc())
    return ErrorAt(start, "literal: malformed hexadecimal float, or beyond f64");
  if (number->negative) number->real = -number->real;
  return absl::OkStatus();
}

// "(0xHEX)" after nan: 1 to 52 bits.
absl::Status LiteralParser::ScanPayload(Number* number) {
  const size_t start = at();
  constexpr uint64_t kMaxPayload = (uint64_t{1} << 52) - 1;
  if (Take("(0x") && absl::ascii_isxdigit(Peek())) {
    const bool fits = ReadNumber(number->payload, 16).ec == std::errc();
    const bool in_range = fits && number->payload >= 1 && number->payload <= kMaxPayload;
    TakeWhile(absl::ascii_isxdigit);
    if (Take(')')) {
      if (in_range) return absl::OkStatus();
      return ErrorAt(start, "LIT-2: a nan payload is at least 1 and has at most 52 bits");
    }
  }
  return ErrorAt(start, "literal: a nan payload is written (0x..) in hexadecimal digits");
}

}  // namespace

absl::StatusOr<Literal> ParseLiteral(const Shape& shape, std::string_view text,
                                     const LiteralTextOptions& options, size_t* consumed,
                                     MinusZeros* minus_zeros) {
  LiteralParser parser(text, options);
  ASSAY_ASSIGN_OR_RETURN(Literal literal, parser.ParseValue(std::make_shared<const Shape>(shape), 0));
  if (minus_zeros != nullptr) *minus_zeros = parser.minus_zeros();
  if (consumed != nullptr) {
    *consumed = parser.at();
    return literal;
  }
  ASSAY_RETURN_IF_ERROR(parser.SkipSpace());
  if (!parser.AtEnd()) return parser.Error("literal: text after the value");
  return literal;
}

}  // namespace assay
