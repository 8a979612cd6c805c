// Attributes of MLIR text (docs/spec/stablehlo-text.md section 4).
#include <charconv>
#include <limits>

#include "base/counted.h"
#include "fmt/format.h"
#include "hlo/mlir/text/parser.h"
#include "literal/float_format.h"

namespace assay::mlir {

using Kind = Attribute::Kind;

const Attribute* TextParser::Integer(int64_t value) {
  Attribute* const attribute = tree_->NewAttribute(Kind::kInteger);
  attribute->integer = value;
  return attribute;
}

const Attribute* TextParser::Integers(const std::vector<int64_t>& values) {
  Attribute* const attribute = tree_->NewAttribute(Kind::kIntegers);
  attribute->integers = arena_.Copy(values);
  return attribute;
}

const Attribute* TextParser::Text(Kind kind, std::string_view text) {
  Attribute* const attribute = tree_->NewAttribute(kind);
  attribute->text = text;
  return attribute;
}

const Attribute* TextParser::Word(std::string_view text) { return Text(Kind::kWord, text); }

const Attribute* TextParser::Bool(bool value) {
  Attribute* const attribute = tree_->NewAttribute(Kind::kBool);
  attribute->integer = value ? 1 : 0;
  return attribute;
}

absl::Status TextParser::ParseAttribute(const Attribute** attribute) {
  const Nesting nesting(*this);
  ASSAY_RETURN_IF_ERROR(nesting.status());
  return ParseAttributeUnnested(attribute);
}

absl::Status TextParser::ParseAttributeUnnested(const Attribute** attribute) {
  switch (lexer_.token().kind) {
    case Tok::kWord:
      return ParseWordAttribute(attribute);
    case Tok::kInt:
    case Tok::kHex:
    case Tok::kFloat:
      return ParseNumber(attribute);
    case Tok::kHash:
      return ParseHash(attribute);
    case Tok::kString: {
      *attribute = Text(Kind::kString, StringValue(lexer_.token()));
      lexer_.Next();
      const Type* type = nullptr;
      return Eat(':') ? ParseType(&type) : absl::OkStatus();
    }
    case Tok::kSymbol: {
      std::string_view name;
      ASSAY_RETURN_IF_ERROR(ReadSymbol(&name));
      *attribute = Text(Kind::kSymbol, name);
      return absl::OkStatus();
    }
    default:
      break;
  }
  if (At('-')) return ParseNumber(attribute);
  if (At('[')) {
    std::vector<const Attribute*> elements;
    ASSAY_RETURN_IF_ERROR(ReadList('[', ']', [&] { return ParseAttribute(&elements.emplace_back()); }));
    Attribute* const array = tree_->NewAttribute(Kind::kArray);
    array->elements = arena_.Copy(elements);
    return Weighed(array, attribute);
  }
  if (At('{')) {
    std::vector<NamedAttribute> fields;
    ASSAY_RETURN_IF_ERROR(ParseDictionary(&fields));
    Attribute* const dictionary = tree_->NewAttribute(Kind::kDictionary);
    dictionary->fields = arena_.Copy(fields);
    return Weighed(dictionary, attribute);
  }
  if (!AtType()) return Unexpected("an attribute");
  Attribute* const type = tree_->NewAttribute(Kind::kType);
  ASSAY_RETURN_IF_ERROR(ParseType(&type->type));
  return Weighed(type, attribute);
}

absl::Status TextParser::Weighed(Attribute* made, const Attribute** attribute) {
  *attribute = made;
  if (Tree::Weigh(made)) return absl::OkStatus();
  return ProgramLimitExceeded(lexer_.position(), "parts of an attribute", made->weight, Tree::kMaxWeight - 1);
}

absl::Status TextParser::ParseWordAttribute(const Attribute** attribute) {
  const std::string_view word = lexer_.token().text;
  if (word == "true" || word == "false") {
    *attribute = Bool(word == "true");
    lexer_.Next();
    return absl::OkStatus();
  }
  if (word == "unit") {
    *attribute = tree_->NewAttribute(Kind::kUnit);
    lexer_.Next();
    return absl::OkStatus();
  }
  if (word == "dense") return ParseDense(attribute);
  if (word == "dense_resource") return ParseDenseResource(attribute);
  if (word == "array") return ParseDenseArray(attribute);
  if (word == "loc") return ParseLocationAttribute(attribute);
  if (AtType()) {
    Attribute* const type = tree_->NewAttribute(Kind::kType);
    ASSAY_RETURN_IF_ERROR(ParseType(&type->type));
    return Weighed(type, attribute);
  }
  // sparse<...>, affine_map<...>: kept as they are written.
  const SourcePosition where = lexer_.position();
  lexer_.Next();
  if (!At('<')) return Error(where, fmt::format("found '{}', want an attribute", word.substr(0, 200)));
  std::string_view raw;
  ASSAY_RETURN_IF_ERROR(SkipBalanced(&raw));
  *attribute = Text(Kind::kOpaque, raw);
  const Type* type = nullptr;
  return Eat(':') ? ParseType(&type) : absl::OkStatus();
}

// ['-'] number [':' type]
absl::Status TextParser::ParseNumber(const Attribute** attribute) {
  const bool negative = Eat('-');
  if (!At(Tok::kInt) && !At(Tok::kHex) && !At(Tok::kFloat)) return Unexpected("a number");
  const Token number = lexer_.token();
  const SourcePosition where = lexer_.position();
  lexer_.Next();
  const Type* type = nullptr;
  if (Eat(':')) ASSAY_RETURN_IF_ERROR(ParseType(&type));
  Attribute* const value = tree_->NewAttribute(Kind::kInteger);
  *attribute = value;
  return ParseTypedNumber(negative, number, where, type, value);
}

// An integer has i64 where no type is written, a number with a point f64. A hexadecimal number of a float
// type is a bit pattern.
absl::Status TextParser::ParseTypedNumber(bool negative, const Token& number, SourcePosition where,
                                          const Type* type, Attribute* attribute) {
  const bool is_float = type != nullptr && type->kind == Type::Kind::kElement && IsFloat(type->element);
  attribute->type = type;
  if (number.kind == Tok::kFloat) {
    if (type != nullptr && !is_float) {
      return Error(where, fmt::format("found a number with a point, want one of type {}", ToString(*type)));
    }
    const char* const end = number.text.data() + number.text.size();
    const auto [last, error] = std::from_chars(number.text.data(), end, attribute->real);
    if (error != std::errc() || last != end) return Error(where, "the number does not fit in f64");
    if (negative) attribute->real = -attribute->real;
    if (is_float) attribute->real = RoundToFormat(attribute->real, *Info(type->element).format);
    attribute->kind = Kind::kFloat;
    return absl::OkStatus();
  }
  const bool is_hex = number.kind == Tok::kHex;
  const std::string_view digits = number.text.substr(is_hex ? 2 : 0);
  uint64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [last, error] = std::from_chars(digits.data(), end, value, is_hex ? 16 : 10);
  if (error != std::errc() || last != end) return Error(where, "the integer does not fit in 64 bits");
  if (is_float) {
    if (!is_hex) return Error(where, "found an integer, want a number with a point");
    if (negative || (Bits(type->element) < 64 && value >> Bits(type->element) != 0)) {
      return Error(where, fmt::format("the bit pattern does not fit in {}", ToString(*type)));
    }
    attribute->kind = Kind::kFloat;
    attribute->real = DecodeFloat(value, *Info(type->element).format);
    return absl::OkStatus();
  }
  if (type != nullptr && type->kind == Type::Kind::kElement && !IsIntegral(type->element) &&
      type->element != ElementType::kPred) {
    return Error(where, fmt::format("found an integer, want a value of type {}", ToString(*type)));
  }
  const int bits = type != nullptr && type->kind == Type::Kind::kElement ? Bits(type->element) : 64;
  const uint64_t largest = negative     ? uint64_t{1} << (bits - 1)
                           : bits == 64 ? std::numeric_limits<uint64_t>::max()
                                        : (uint64_t{1} << bits) - 1;
  if (value > largest)
    return Error(where, fmt::format("the integer does not fit in {}", Counted(bits, "bit")));
  attribute->integer = static_cast<int64_t>(negative ? 0 - value : value);
  return absl::OkStatus();
}

// '#' dialect '.' name ['<' ... '>'], '#' dialect '<' enum value '>', '#' alias
absl::Status TextParser::ParseHash(const Attribute** attribute) {
  const std::string_view name = lexer_.token().text;
  const SourcePosition where = lexer_.position();
  const size_t begin = lexer_.offset();
  lexer_.Next();
  const size_t dot = name.find('.');
  if (name == "sdy" || name.starts_with("sdy.")) return ParseShardingAttribute(begin, where, attribute);
  if (At('<') && (name == "stablehlo" || name == "chlo" || name == "mhlo")) {
    lexer_.Next();
    std::string_view enumeration, value;
    ASSAY_RETURN_IF_ERROR(ReadWord(&enumeration, "the name of an enumeration"));
    ASSAY_RETURN_IF_ERROR(ReadWord(&value, "a value of the enumeration"));
    *attribute = Word(value);
    return Expect('>');
  }
  if (dot != std::string_view::npos) {
    const std::string_view dialect = name.substr(0, dot);
    if (dialect == "stablehlo" || dialect == "chlo" || dialect == "mhlo") {
      return ParseStruct(name.substr(dot + 1), attribute);
    }
  }
  if (dot != std::string_view::npos || At('<')) {
    std::string_view raw = name;
    if (At('<')) ASSAY_RETURN_IF_ERROR(SkipBalanced(&raw));
    *attribute = Text(Kind::kOpaque, raw);
    return absl::OkStatus();
  }
  const auto known = aliases_.find(AbslView(name));
  if (known != aliases_.end()) {
    *attribute = known->second;
    return absl::OkStatus();
  }
  Attribute* const alias = tree_->NewAttribute(Kind::kAlias);
  alias->text = name;
  alias->is_open = true;
  Location* const location = tree_->NewLocation();
  alias->location = location;
  aliases_later_.push_back({alias, where, location});
  *attribute = alias;
  return absl::OkStatus();
}

absl::Status TextParser::ParseStruct(std::string_view name, const Attribute** attribute) {
  static constexpr std::string_view kFieldStructs[] = {"gather",
                                                       "scatter",
                                                       "dot",
                                                       "ragged_dot",
                                                       "channel_handle",
                                                       "output_operand_alias",
                                                       "conv",
                                                       "dot_algorithm",
                                                       "result_accuracy",
                                                       "result_accuracy_mode"};
  if (name == "bounds" || name == "type_extensions") return ParseBounds(attribute);
  bool known = false;
  for (std::string_view other : kFieldStructs) known |= name == other;
  if (!known) {
    std::string_view raw = name;
    if (At('<')) ASSAY_RETURN_IF_ERROR(SkipBalanced(&raw));
    *attribute = Text(Kind::kOpaque, raw);
    return absl::OkStatus();
  }
  if (name == "conv") return ParseConv(attribute);
  std::vector<NamedAttribute> fields;
  std::string_view word;
  ASSAY_RETURN_IF_ERROR(Expect('<'));
  while (!At('>')) {
    ASSAY_RETURN_IF_ERROR(ReadWord(&word, "the name of a field"));
    if (At('>') && fields.empty()) {
      *attribute = Word(word);
      return Expect('>');
    }
    ASSAY_RETURN_IF_ERROR(Expect('='));
    NamedAttribute field{word, nullptr};
    ASSAY_RETURN_IF_ERROR(ParseAttribute(&field.value));
    fields.push_back(field);
    if (!Eat(',')) break;
  }
  Attribute* const value = tree_->NewAttribute(Kind::kStruct);
  value->text = name;
  value->fields = arena_.Copy(fields);
  ASSAY_RETURN_IF_ERROR(Weighed(value, attribute));
  return Expect('>');
}

// bounds<4, ?>, type_extensions<bounds = [4, ?]>; old texts write -9223372036854775808 for '?'.
absl::Status TextParser::ParseBounds(const Attribute** attribute) {
  std::vector<int64_t> bounds;
  const auto read = [&]() -> absl::Status {
    if (Eat('?')) {
      bounds.push_back(kDynamicSize);
      return absl::OkStatus();
    }
    return ReadInt(&bounds.emplace_back());
  };
  Attribute* const value = tree_->NewAttribute(Kind::kStruct);
  value->text = "bounds";
  *attribute = value;
  if (!At('<')) return Unexpected("'<'");
  Lexer ahead = lexer_;
  ahead.Next();
  if (ahead.At(Tok::kWord)) {
    lexer_.Next();
    ASSAY_RETURN_IF_ERROR(ExpectWord("bounds"));
    ASSAY_RETURN_IF_ERROR(Expect('='));
    ASSAY_RETURN_IF_ERROR(ReadList('[', ']', read));
    ASSAY_RETURN_IF_ERROR(Expect('>'));
  } else {
    ASSAY_RETURN_IF_ERROR(ReadList('<', '>', read));
  }
  value->integers = arena_.Copy(bounds);
  return absl::OkStatus();
}

// conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]> or conv<raw field = ..., ...>
absl::Status TextParser::ParseConv(const Attribute** attribute) {
  ASSAY_RETURN_IF_ERROR(Expect('<'));
  std::vector<NamedAttribute> fields;
  if (EatWord("raw")) {
    do {
      NamedAttribute field;
      ASSAY_RETURN_IF_ERROR(ReadWord(&field.name, "the name of a field"));
      ASSAY_RETURN_IF_ERROR(Expect('='));
      ASSAY_RETURN_IF_ERROR(ParseAttribute(&field.value));
      fields.push_back(field);
    } while (Eat(','));
  } else {
    ASSAY_RETURN_IF_ERROR(ParseConvFields(&fields));
  }
  Attribute* const value = tree_->NewAttribute(Kind::kStruct);
  value->text = "conv";
  value->fields = arena_.Copy(fields);
  *attribute = value;
  return Expect('>');
}

absl::Status TextParser::ParseConvFields(std::vector<NamedAttribute>* fields) {
  ASSAY_RETURN_IF_ERROR(
      ParseConvDims("b", "f", "input", "input_batch_dimension", "input_feature_dimension", fields));
  // 'x' and the '[' behind it are two tokens, but "x" alone is a word.
  ASSAY_RETURN_IF_ERROR(ExpectWord("x"));
  ASSAY_RETURN_IF_ERROR(ParseConvDims("i", "o", "kernel", "kernel_input_feature_dimension",
                                      "kernel_output_feature_dimension", fields));
  ASSAY_RETURN_IF_ERROR(Expect(Tok::kArrow, "'->'"));
  return ParseConvDims("b", "f", "output", "output_batch_dimension", "output_feature_dimension", fields);
}

// [b, 0, 1, f]: which role each dimension has; '?' has none.
absl::Status TextParser::ParseConvDims(std::string_view first, std::string_view second,
                                       std::string_view prefix, std::string_view first_name,
                                       std::string_view second_name, std::vector<NamedAttribute>* fields) {
  const SourcePosition where = lexer_.position();
  int64_t first_dim = -1, second_dim = -1, dim = 0;
  std::vector<std::pair<int64_t, int64_t>> spatial;  // number, dimension
  const auto read_item = [&]() -> absl::Status {
    if (EatWord(first)) {
      first_dim = dim;
    } else if (EatWord(second)) {
      second_dim = dim;
    } else if (At(Tok::kInt)) {
      ASSAY_RETURN_IF_ERROR(ReadInt(&spatial.emplace_back(0, dim).first));
    } else if (!Eat('?')) {
      return Unexpected(fmt::format("'{}', '{}' or the number of a spatial dimension", first, second));
    }
    ++dim;
    return absl::OkStatus();
  };
  ASSAY_RETURN_IF_ERROR(ReadList('[', ']', read_item));
  std::vector<int64_t> dims(spatial.size(), -1);
  for (const auto& [number, at] : spatial) {
    if (number < 0 || number >= static_cast<int64_t>(dims.size()) || dims[number] >= 0) {
      return Error(where, fmt::format("spatial dimensions are not numbered 0 to {}", spatial.size() - 1));
    }
    dims[number] = at;
  }
  if (first_dim < 0 || second_dim < 0) {
    return Error(where, fmt::format("want '{}' and '{}' among the dimensions", first, second));
  }
  fields->push_back({first_name, Integer(first_dim)});
  fields->push_back({second_name, Integer(second_dim)});
  fields->push_back({arena_.Copy(fmt::format("{}_spatial_dimensions", prefix)), Integers(dims)});
  return absl::OkStatus();
}

// '{' [ key ['=' value] {',' ...} ] '}'
absl::Status TextParser::ParseDictionary(std::vector<NamedAttribute>* fields) {
  return ReadList('{', '}', [&]() -> absl::Status {
    NamedAttribute field;
    if (At(Tok::kString)) {
      ASSAY_RETURN_IF_ERROR(ReadString(&field.name));
    } else {
      ASSAY_RETURN_IF_ERROR(ReadWord(&field.name, "the name of an attribute"));
    }
    if (Eat('=')) {
      ASSAY_RETURN_IF_ERROR(ParseAttribute(&field.value));
    } else {
      field.value = tree_->NewAttribute(Kind::kUnit);
    }
    tree_->has_shardings |= IsShardingName(field.name);
    fields->push_back(field);
    return absl::OkStatus();
  });
}

absl::Status TextParser::ParseOptionalDictionary(Draft& draft) {
  if (!At('{')) return absl::OkStatus();
  std::vector<NamedAttribute> fields;
  ASSAY_RETURN_IF_ERROR(ParseDictionary(&fields));
  for (const NamedAttribute& field : fields) draft.attributes.push_back(field);
  return absl::OkStatus();
}

// array '<' type [':' list of numbers] '>'
absl::Status TextParser::ParseDenseArray(const Attribute** attribute) {
  lexer_.Next();
  ASSAY_RETURN_IF_ERROR(Expect('<'));
  const SourcePosition where = lexer_.position();
  const Type* type = nullptr;
  ASSAY_RETURN_IF_ERROR(ParseType(&type));
  if (type->kind != Type::Kind::kElement) return Error(where, "want a number type in array<...>");
  const bool is_float = IsFloat(type->element);
  std::vector<int64_t> integers;
  std::vector<const Attribute*> floats;
  if (Eat(':')) {
    do {
      Attribute* const value = tree_->NewAttribute(Kind::kInteger);
      if (AtWord("true") || AtWord("false")) {
        value->integer = AtWord("true") ? 1 : 0;
        lexer_.Next();
      } else {
        const bool negative = Eat('-');
        if (!At(Tok::kInt) && !At(Tok::kHex) && !At(Tok::kFloat)) return Unexpected("a number");
        ASSAY_RETURN_IF_ERROR(ParseTypedNumber(negative, lexer_.token(), lexer_.position(), type, value));
        lexer_.Next();
      }
      is_float ? floats.push_back(value) : integers.push_back(value->integer);
    } while (Eat(','));
  }
  Attribute* const array = tree_->NewAttribute(is_float ? Kind::kArray : Kind::kIntegers);
  array->type = type;
  array->integers = arena_.Copy(integers);
  array->elements = arena_.Copy(floats);
  *attribute = array;
  return Expect('>');
}

// loc '(' location ')'
absl::Status TextParser::ParseLocationAttribute(const Attribute** attribute) {
  ASSAY_RETURN_IF_ERROR(ExpectWord("loc"));
  ASSAY_RETURN_IF_ERROR(Expect('('));
  if (At(Tok::kHash)) {
    ASSAY_RETURN_IF_ERROR(ParseHash(attribute));
    return Expect(')');
  }
  Attribute* const made = tree_->NewAttribute(Kind::kLocation);
  Location* const location = tree_->NewLocation();
  made->location = location;
  *attribute = made;
  ASSAY_RETURN_IF_ERROR(ParseLocationBody(location));
  made->text = location->name;
  return Expect(')');
}

// unknown, "file":line:column [to ...], "name" ['(' location ')'], callsite(a at b), fused [<...>] [a,
// b], #alias.
// Kept: the outermost name, and the first place in a file.
absl::Status TextParser::ParseLocationBody(Location* location) {
  const Nesting nesting(*this);
  ASSAY_RETURN_IF_ERROR(nesting.status());
  const auto nested = [&]() -> absl::Status {
    if (At(Tok::kHash)) {
      const Attribute* alias = nullptr;
      return ParseHash(&alias);
    }
    return ParseLocationBody(location);
  };
  if (At(Tok::kString)) {
    std::string_view text;
    ASSAY_RETURN_IF_ERROR(ReadString(&text));
    if (At(':')) {
      if (location->source_file.empty()) location->source_file = text;
      return ParseFileLocation(location);
    }
    if (location->name.empty()) location->name = text;
    if (!Eat('(')) return absl::OkStatus();
    ASSAY_RETURN_IF_ERROR(nested());
    return Expect(')');
  }
  if (EatWord("callsite")) {
    ASSAY_RETURN_IF_ERROR(Expect('('));
    ASSAY_RETURN_IF_ERROR(nested());
    ASSAY_RETURN_IF_ERROR(ExpectWord("at"));
    ASSAY_RETURN_IF_ERROR(nested());
    return Expect(')');
  }
  if (EatWord("fused")) {
    if (Eat('<')) {
      const Attribute* metadata = nullptr;
      ASSAY_RETURN_IF_ERROR(ParseAttribute(&metadata));
      ASSAY_RETURN_IF_ERROR(Expect('>'));
    }
    return ReadList('[', ']', nested);
  }
  return EatWord("unknown") || EatWord("?") ? absl::OkStatus() : Unexpected("a location");
}

// ':' line ':' column ['to' [line] ':' column]
absl::Status TextParser::ParseFileLocation(Location* location) {
  int64_t line = 0, column = 0;
  ASSAY_RETURN_IF_ERROR(Expect(':'));
  ASSAY_RETURN_IF_ERROR(ReadInt(&line));
  if (Eat(':')) ASSAY_RETURN_IF_ERROR(ReadInt(&column));
  if (location->line == 0) {
    location->line = line;
    location->column = static_cast<int32_t>(column & 0x7fffffff);
  }
  if (!EatWord("to")) return absl::OkStatus();
  if (At(Tok::kInt)) ASSAY_RETURN_IF_ERROR(ReadInt(&line));
  ASSAY_RETURN_IF_ERROR(Expect(':'));
  return ReadInt(&column);
}

}  // namespace assay::mlir
