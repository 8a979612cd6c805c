// The reader of MLIR's form, and its writer; config_json.cc reads JSON. Each byte is looked at a few times at
// most: what follows a value decides nothing about it, but for the type behind dense<...>, for which its
// elements are skipped once.
#include "custom/config_dictionary.h"

#include <charconv>
#include <limits>

#include "base/counted.h"
#include "custom/config_cursor.h"
#include "fmt/format.h"
#include "hlo/mlir/element_names.h"
#include "hlo/mlir/text/lexer.h"
#include "hlo/mlir/text_writer.h"
#include "literal/element_io.h"
#include "literal/float_format.h"

namespace assay::custom {
namespace {

// Of all arrays that write many elements as one: text of few bytes is no array of many.
constexpr int64_t kMaxRepeatedElements = int64_t{1} << 20;

// [-] digits, 0x digits, or digits . digits [e digits].
struct NumberText {
  size_t at = 0;
  bool negative = false, is_hex = false, has_point = false;
  std::string_view digits;  // without sign and 0x
};

struct Number {
  int64_t integer = 0;
  double real = 0;
};

// How MLIR writes a type that a ConfigInt, a ConfigFloat or an array may have, and whether its integers have
// a sign by themselves: i8 takes 200 as well as -56.
struct NamedType {
  ElementType type;
  bool is_signless = false;
};

// i8, si8, ui8, index; the floats' names, which are HLO's but for a letter's case; HLO's own names.
std::optional<NamedType> NamedTypeOf(std::string_view word) {
  if (word == "i1") return NamedType{ElementType::kPred};
  if (word == "index") return NamedType{ElementType::kS64, true};
  const size_t digits = word.find_first_of("0123456789");
  const std::string_view kind = word.substr(0, std::min(digits, word.size()));
  if (kind == "i" || kind == "si" || kind == "ui") {
    const std::optional<ElementType> type =
        ElementTypeFromName(fmt::format("{}{}", kind == "ui" ? 'u' : 's', word.substr(kind.size())));
    if (!type) return std::nullopt;
    return NamedType{*type, kind == "i"};
  }
  for (int i = 0; i < kNumElementTypes; ++i) {
    const auto type = static_cast<ElementType>(i);
    if (word == Name(type) || (IsFloat(type) && word == mlir::ElementName(type))) return NamedType{type};
  }
  return std::nullopt;
}

class DictionaryReader {
 public:
  explicit DictionaryReader(std::string_view text) : in_(text) {}

  absl::StatusOr<ConfigDictionary> Run() {
    ConfigDictionary dictionary;
    in_.SkipSpace();
    if (in_.AtEnd()) return dictionary;
    ASSAY_RETURN_IF_ERROR(Dictionary(dictionary));
    in_.SkipSpace();
    if (!in_.AtEnd()) return in_.Unexpected("the end behind the dictionary");
    return dictionary;
  }

 private:
  absl::Status Dictionary(ConfigDictionary& dictionary) {
    HashSet<std::string> names;
    return in_.List('{', '}', [&]() -> absl::Status {
      in_.SkipSpace();
      const size_t at = in_.at();
      std::string name;
      if (in_.Peek() == '"') {
        ASSAY_RETURN_IF_ERROR(String(name));
      } else {
        name = in_.Word();
        if (name.empty()) return in_.Unexpected("a name");
      }
      ASSAY_RETURN_IF_ERROR(ConfigCursor::AddField(at, std::move(name), names, dictionary));
      ConfigValue& value = dictionary.back().second;
      if (in_.TakeNext('=')) return Value(value);
      value.value = true;
      return absl::OkStatus();
    });
  }

  absl::Status Value(ConfigValue& value) {
    in_.SkipSpace();
    const char c = in_.Peek();
    if (c == '{') return Dictionary(value.value.emplace<ConfigDictionary>());
    if (c == '"') return String(value.value.emplace<std::string>());
    if (c == '-' || IsDigit(c)) return TypedNumber(value);
    if (c == '[') {
      ConfigList& list = value.value.emplace<ConfigList>();
      return in_.List('[', ']', [&] { return Value(list.emplace_back()); });
    }
    const size_t at = in_.at();
    const std::string_view word = in_.Word();
    if (word == "true" || word == "unit" || word == "false") {
      value.value = word != "false";
      return absl::OkStatus();
    }
    if (word == "array" || word == "dense") {
      ConfigArray& array = value.value.emplace<ConfigArray>();
      return word == "array" ? Array(array) : Dense(array);
    }
    in_.GoTo(at);
    if (word.empty()) return in_.Unexpected("a value");
    ASSAY_ASSIGN_OR_RETURN(const NamedType type, Type("a value"));
    value.value = ConfigType{type.type};
    return absl::OkStatus();
  }

  // With the escapes of MLIR: \\, \", \n, \t and two hexadecimal digits.
  absl::Status String(std::string& text) {
    const size_t begin = in_.at();
    in_.Skip();
    bool has_escapes = false;
    while (!in_.AtEnd() && in_.Peek() != '"' && in_.Peek() != '\n') {
      if (in_.Peek() == '\\') {
        has_escapes = true;
        in_.Skip();
        const char c = in_.Peek();
        const bool is_hex = absl::ascii_isxdigit(c) && absl::ascii_isxdigit(in_.Peek(1));
        if (!is_hex && std::string_view("\\\"nt").find(c) == std::string_view::npos)
          return in_.Unexpected("an escape: \\\\, \\\", \\n, \\t or two hexadecimal digits");
      }
      in_.Skip();
    }
    if (in_.Peek() != '"') return ConfigCursor::Error(begin, "the string does not end");
    const std::string_view body = in_.From(begin + 1);
    in_.Skip();
    text = has_escapes ? mlir::Unescape(body) : std::string(body);
    return absl::OkStatus();
  }

  // A type by its name, or complex<f32>. `wanted` says what else could stand there.
  absl::StatusOr<NamedType> Type(std::string_view wanted) {
    in_.SkipSpace();
    const size_t at = in_.at();
    const std::string_view word = in_.Word();
    if (word == "complex" && in_.Peek() == '<') {
      in_.Skip();
      const std::string_view part = in_.Word();
      if (part != "f32" && part != "f64") return in_.Unexpected("complex<f32> or complex<f64>");
      ASSAY_RETURN_IF_ERROR(in_.Expect('>'));
      return NamedType{part == "f32" ? ElementType::kC64 : ElementType::kC128};
    }
    if (const std::optional<NamedType> type = NamedTypeOf(word)) return *type;
    if (word.empty()) return in_.Unexpected(wanted);
    return ConfigCursor::Error(at, fmt::format("found '{}', want {}", word.substr(0, 100), wanted));
  }

  absl::StatusOr<NumberText> ReadNumber() {
    NumberText number;
    number.negative = in_.TakeNext('-');
    in_.SkipSpace();
    number.at = in_.at();
    if (!IsDigit(in_.Peek())) return in_.Unexpected("a number");
    if (in_.Peek() == '0' && in_.Peek(1) == 'x' && absl::ascii_isxdigit(in_.Peek(2))) {
      number.is_hex = true;
      in_.Skip(2);
      while (absl::ascii_isxdigit(in_.Peek())) in_.Skip();
      number.digits = in_.From(number.at + 2);
      return number;
    }
    in_.TakeDigits();
    if (in_.Peek() == '.') {
      number.has_point = true;
      in_.Skip();
      in_.TakeDigits();
      const size_t sign = in_.Peek(1) == '-' || in_.Peek(1) == '+' ? 2 : 1;
      if ((in_.Peek() == 'e' || in_.Peek() == 'E') && IsDigit(in_.Peek(sign))) {
        in_.Skip(sign);
        in_.TakeDigits();
      }
    }
    number.digits = in_.From(number.at);
    return number;
  }

  // A decimal number is rounded to f64 and then to the type, as MLIR does; a hexadecimal one of a float type
  // is its bits.
  static absl::StatusOr<double> FloatOf(const NumberText& number, ElementType type) {
    const FloatFormat& format = *Info(type).format;
    const char* const end = number.digits.data() + number.digits.size();
    if (number.has_point) {
      double value = 0;
      if (std::from_chars(number.digits.data(), end, value).ec != std::errc())
        return ConfigCursor::Error(number.at, "the number does not fit in f64");
      return RoundToFormat(number.negative ? -value : value, format);
    }
    if (!number.is_hex || number.negative)
      return ConfigCursor::Error(
          number.at, fmt::format("found an integer, want a number with a point for {}", Name(type)));
    uint64_t bits = 0;
    const std::errc error = std::from_chars(number.digits.data(), end, bits, 16).ec;
    if (error != std::errc() || (format.bits < 64 && bits >> format.bits != 0))
      return ConfigCursor::Error(number.at, fmt::format("the bit pattern does not fit in {}", Name(type)));
    return DecodeFloat(bits, format);
  }

  static absl::StatusOr<int64_t> IntegerOf(const NumberText& number, NamedType named) {
    const ElementType type = named.type;
    if (number.has_point || IsComplex(type)) {
      return ConfigCursor::Error(
          number.at, fmt::format("found {}, want a value of {}",
                                 number.has_point ? "a number with a point" : "an integer", Name(type)));
    }
    uint64_t value = 0;
    const char* const end = number.digits.data() + number.digits.size();
    const std::errc error = std::from_chars(number.digits.data(), end, value, number.is_hex ? 16 : 10).ec;
    const int bits = type == ElementType::kPred ? 1 : Bits(type);
    const uint64_t all = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
    const uint64_t half = uint64_t{1} << (bits - 1);
    const bool is_signed = IsSignedIntegral(type) || type == ElementType::kPred;
    const uint64_t most = number.negative ? (is_signed ? half : 0)
                          : is_signed && !named.is_signless && type != ElementType::kPred ? half - 1
                                                                                          : all;
    if (error != std::errc() || value > most)
      return ConfigCursor::Error(number.at, fmt::format("the integer does not fit in {}", Name(type)));
    const auto whole = static_cast<int64_t>(number.negative ? 0 - value : value);
    if (type == ElementType::kPred) return whole != 0 ? 1 : 0;
    return is_signed ? WrapSigned(whole, bits) : whole;
  }

  // number [':' type]
  absl::Status TypedNumber(ConfigValue& value) {
    ASSAY_ASSIGN_OR_RETURN(const NumberText number, ReadNumber());
    NamedType type{number.has_point ? ElementType::kF64 : ElementType::kS64, true};
    if (in_.TakeNext(':')) {
      ASSAY_ASSIGN_OR_RETURN(type, Type("the number's type"));
    }
    if (IsFloat(type.type)) {
      ASSAY_ASSIGN_OR_RETURN(const double real, FloatOf(number, type.type));
      value.value = ConfigFloat{type.type, real};
    } else {
      ASSAY_ASSIGN_OR_RETURN(const int64_t integer, IntegerOf(number, type));
      value.value = ConfigInt{type.type, integer};
    }
    return absl::OkStatus();
  }

  absl::Status AppendNumber(NamedType type, ConfigArray& array) {
    in_.SkipSpace();
    if (type.type == ElementType::kPred && !IsDigit(in_.Peek()) && in_.Peek() != '-') {
      const size_t at = in_.at();
      const std::string_view word = in_.Word();
      if (word != "true" && word != "false") {
        in_.GoTo(at);
        return in_.Unexpected("true or false");
      }
      array.ints.push_back(word == "true" ? 1 : 0);
      return absl::OkStatus();
    }
    ASSAY_ASSIGN_OR_RETURN(const NumberText number, ReadNumber());
    if (IsFloat(type.type)) {
      ASSAY_ASSIGN_OR_RETURN(array.floats.emplace_back(), FloatOf(number, type.type));
    } else {
      ASSAY_ASSIGN_OR_RETURN(array.ints.emplace_back(), IntegerOf(number, type));
    }
    return absl::OkStatus();
  }

  // One element of dense<...>: a number, or (re, im).
  absl::Status AppendElement(NamedType type, ConfigArray& array) {
    if (!IsComplex(type.type)) return AppendNumber(type, array);
    const NamedType part{ComponentType(type.type)};
    ASSAY_RETURN_IF_ERROR(in_.Expect('('));
    ASSAY_RETURN_IF_ERROR(AppendNumber(part, array));
    ASSAY_RETURN_IF_ERROR(in_.Expect(','));
    ASSAY_RETURN_IF_ERROR(AppendNumber(part, array));
    return in_.Expect(')');
  }

  // array '<' type [':' numbers] '>'
  absl::Status Array(ConfigArray& array) {
    ASSAY_RETURN_IF_ERROR(in_.Expect('<'));
    ASSAY_ASSIGN_OR_RETURN(const NamedType type, Type("the type of the array's elements"));
    array.type = type.type;
    if (in_.TakeNext(':')) {
      do ASSAY_RETURN_IF_ERROR(AppendNumber(type, array));
      while (in_.TakeNext(','));
    }
    return in_.Expect('>');
  }

  // Goes to the '>' that ends the elements of dense<...>.
  void SkipElements() {
    while (!in_.AtEnd() && in_.Peek() != '>') {
      if (in_.Peek() == '"') {
        in_.Skip();
        while (!in_.AtEnd() && in_.Peek() != '"') in_.Skip();
      }
      if (!in_.AtEnd()) in_.Skip();
    }
  }

  // dense '<' elements '>' ':' tensor '<' sizes x type '>': its elements in row-major order,
  // whatever the rank.
  absl::Status Dense(ConfigArray& array) {
    ASSAY_RETURN_IF_ERROR(in_.Expect('<'));
    const size_t begin = in_.at();
    SkipElements();
    const size_t close = in_.at();
    ASSAY_RETURN_IF_ERROR(in_.Expect('>'));
    ASSAY_RETURN_IF_ERROR(in_.Expect(':'));
    std::vector<int64_t> sizes;
    ASSAY_ASSIGN_OR_RETURN(const NamedType type, Tensor(sizes));
    const size_t end = in_.at();
    array.type = type.type;
    int64_t count = 1;
    for (const int64_t size : sizes) {
      if (__builtin_mul_overflow(count, size, &count))
        return ConfigCursor::Error(close, "the tensor has too many elements");
    }
    in_.GoTo(begin);
    in_.SkipSpace();
    if (in_.Peek() == '"') {
      ASSAY_RETURN_IF_ERROR(Bytes(type.type, count, array));
    } else if (in_.Peek() == '[') {
      ASSAY_RETURN_IF_ERROR(Elements(type, sizes, array));
    } else if (in_.at() != close) {
      ASSAY_RETURN_IF_ERROR(AppendElement(type, array));
      ASSAY_RETURN_IF_ERROR(Repeat(count, array));
    } else if (count != 0) {
      return ConfigCursor::Error(begin, fmt::format("no elements, want {}", count));
    }
    in_.SkipSpace();
    if (in_.at() != close) return in_.Unexpected("the '>' of the elements");
    in_.GoTo(end);
    return absl::OkStatus();
  }

  // tensor '<' {size 'x'} type '>'
  absl::StatusOr<NamedType> Tensor(std::vector<int64_t>& sizes) {
    constexpr size_t kMaxSizes = 64;
    in_.SkipSpace();
    if (in_.Peek() != 't' || in_.Word() != "tensor") return in_.Unexpected("a tensor's type");
    ASSAY_RETURN_IF_ERROR(in_.Expect('<'));
    in_.SkipSpace();
    while (IsDigit(in_.Peek())) {
      const size_t at = in_.at();
      in_.TakeDigits();
      const std::string_view digits = in_.From(at);
      int64_t size = 0;
      if (std::from_chars(digits.data(), digits.data() + digits.size(), size).ec != std::errc() ||
          sizes.size() == kMaxSizes)
        return ConfigCursor::Error(at, "the size is too large");
      sizes.push_back(size);
      if (in_.Peek() != 'x') return in_.Unexpected("'x'");
      in_.Skip();
    }
    ASSAY_ASSIGN_OR_RETURN(const NamedType type, Type("the type of the tensor's elements"));
    ASSAY_RETURN_IF_ERROR(in_.Expect('>'));
    return type;
  }

  // Nested lists, one level a dimension.
  absl::Status Elements(NamedType type, std::span<const int64_t> sizes, ConfigArray& array) {
    if (sizes.empty()) return AppendElement(type, array);
    in_.SkipSpace();
    const size_t at = in_.at();
    int64_t count = 0;
    ASSAY_RETURN_IF_ERROR(in_.List('[', ']', [&] {
      ++count;
      return Elements(type, sizes.subspan(1), array);
    }));
    if (count == sizes[0]) return absl::OkStatus();
    return ConfigCursor::Error(at, fmt::format("found {}, want {}", Counted(count, "element"), sizes[0]));
  }

  // The one element that was read, `count` times.
  absl::Status Repeat(int64_t count, ConfigArray& array) {
    repeated_ += std::min(count, kMaxRepeatedElements);
    if (count > kMaxRepeatedElements || repeated_ > kMaxRepeatedElements) {
      return ProgramLimitExceeded({}, "repeated elements of backend_config", std::max(count, repeated_),
                                  kMaxRepeatedElements);
    }
    const auto times = static_cast<size_t>(count);
    if (array.ints.size() == 1) array.ints.resize(times, array.ints[0]);
    if (array.floats.size() == 1) array.floats.resize(times, array.floats[0]);
    if (array.floats.size() == 2 && IsComplex(array.type)) {
      array.floats.resize(2 * times);
      for (size_t i = 2; i < array.floats.size(); ++i) array.floats[i] = array.floats[i - 2];
    }
    return absl::OkStatus();
  }

  // "0x" and the elements' bytes, of all or of the one that all of them are.
  absl::Status Bytes(ElementType type, int64_t count, ConfigArray& array) {
    const size_t at = in_.at();
    const auto bytes = static_cast<size_t>(assay::Bytes(type));
    if (Bits(type) < 8 || type == ElementType::kPred)
      return ConfigCursor::Error(at, fmt::format("bytes of {}, want its elements", Name(type)));
    if (in_.Peek(1) != '0' || in_.Peek(2) != 'x') return ConfigCursor::Error(at, "want 0x and bytes");
    in_.Skip(3);
    const size_t begin = in_.at();
    while (absl::ascii_isxdigit(in_.Peek())) in_.Skip();
    const std::string_view digits = in_.From(begin);
    const size_t elements = digits.size() / (2 * bytes);
    if (in_.Peek() != '"' || digits.size() % (2 * bytes) != 0 ||
        (elements != static_cast<size_t>(count) && elements != 1)) {
      return ConfigCursor::Error(at, fmt::format("found {} digits, want those of {} of {}", digits.size(),
                                                 Counted(count, "element"), Counted(bytes, "byte")));
    }
    in_.Skip();
    std::byte element[16] = {};
    for (size_t i = 0; i < elements; ++i) {
      for (size_t b = 0; b < bytes; ++b) {
        const char* const two = digits.data() + 2 * (i * bytes + b);
        element[b] = static_cast<std::byte>(mlir::HexValue(two[0]) * 16 + mlir::HexValue(two[1]));
      }
      const ScalarValue value = LoadElement(type, element);
      if (IsComplex(type)) {
        array.floats.insert(array.floats.end(), {value.c.real(), value.c.imag()});
      } else if (IsFloat(type)) {
        array.floats.push_back(value.r);
      } else {
        array.ints.push_back(IsSignedIntegral(type) ? value.i : static_cast<int64_t>(value.u));
      }
    }
    return elements == static_cast<size_t>(count) ? absl::OkStatus() : Repeat(count, array);
  }

  ConfigCursor in_;
  int64_t repeated_ = 0;
};

std::string ElementTypeText(ElementType type) {
  if (type == ElementType::kS1) return "si1";  // i1 is a truth value
  return mlir::ElementName(type);
}

void AppendArray(const ConfigArray& array, std::string& out) {
  const auto append = [&out](auto&& text) {
    if (out.back() != '<' && out.back() != '[') out += out.back() == ':' ? " " : ", ";
    out += text;
  };
  if (IsComplex(array.type)) {
    const ElementType part = ComponentType(array.type);
    out += "dense<[";
    for (size_t i = 0; i + 1 < array.floats.size(); i += 2) {
      append(fmt::format("({},{})", mlir::FloatText(array.floats[i], part),
                         mlir::FloatText(array.floats[i + 1], part)));
    }
    out += fmt::format("]> : tensor<{}x{}>", array.floats.size() / 2, ElementTypeText(array.type));
    return;
  }
  out += fmt::format("array<{}", ElementTypeText(array.type));
  if (!array.ints.empty() || !array.floats.empty()) out += ':';
  for (const double value : array.floats) append(mlir::FloatText(value, array.type));
  for (const int64_t value : array.ints) {
    if (array.type == ElementType::kPred) {
      append(value != 0 ? "true" : "false");
    } else if (IsUnsignedIntegral(array.type)) {
      append(fmt::format("{}", static_cast<uint64_t>(value)));
    } else {
      append(fmt::format("{}", value));
    }
  }
  out += '>';
}

void AppendDictionary(const ConfigDictionary& dictionary, std::string& out);

// MLIR leaves out the type of i64 and f64 in lists.
void AppendValue(const ConfigValue& any, bool in_list, std::string& out) {
  if (const bool* const truth = std::get_if<bool>(&any.value)) {
    out += *truth ? "true" : "false";
  } else if (const ConfigInt* const integer = std::get_if<ConfigInt>(&any.value)) {
    out += IsUnsignedIntegral(integer->type) ? fmt::format("{}", static_cast<uint64_t>(integer->value))
                                             : fmt::format("{}", integer->value);
    if (!in_list || integer->type != ElementType::kS64) out += " : " + ElementTypeText(integer->type);
  } else if (const ConfigFloat* const number = std::get_if<ConfigFloat>(&any.value)) {
    const std::string text = mlir::FloatText(number->value, number->type);
    out += text;
    if (!in_list || number->type != ElementType::kF64 || text.find('.') == std::string::npos)
      out += " : " + ElementTypeText(number->type);
  } else if (const std::string* const text = std::get_if<std::string>(&any.value)) {
    out += mlir::Quoted(*text);
  } else if (const ConfigType* const type = std::get_if<ConfigType>(&any.value)) {
    out += ElementTypeText(type->type);
  } else if (const ConfigArray* const array = std::get_if<ConfigArray>(&any.value)) {
    AppendArray(*array, out);
  } else if (const ConfigList* const list = std::get_if<ConfigList>(&any.value)) {
    out += '[';
    for (const ConfigValue& element : *list) {
      if (&element != list->data()) out += ", ";
      AppendValue(element, /*in_list=*/true, out);
    }
    out += ']';
  } else {
    AppendDictionary(std::get<ConfigDictionary>(any.value), out);
  }
}

void AppendDictionary(const ConfigDictionary& dictionary, std::string& out) {
  out += '{';
  for (const auto& [name, value] : dictionary) {
    if (&name != &dictionary.front().first) out += ", ";
    out += mlir::WordOrQuoted(name);
    out += " = ";
    AppendValue(value, /*in_list=*/false, out);
  }
  out += '}';
}

}  // namespace

absl::StatusOr<ConfigDictionary> ParseConfigDictionary(std::string_view text) {
  return DictionaryReader(text).Run();
}

std::string ConfigText(const ConfigDictionary& dictionary) {
  std::string text;
  AppendDictionary(dictionary, text);
  return text;
}

}  // namespace assay::custom
