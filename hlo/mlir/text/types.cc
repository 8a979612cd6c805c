// Types of MLIR text (docs/spec/stablehlo-text.md section 3).
#include <charconv>

#include "absl/strings/ascii.h"
#include "base/counted.h"
#include "base/limits.h"
#include "fmt/format.h"
#include "hlo/mlir/quantization.h"
#include "hlo/mlir/text/parser.h"

namespace assay::mlir {
namespace {

struct ElementWord {
  std::string_view word;
  ElementType type;
};
constexpr ElementWord kElements[] = {
    {"f32", ElementType::kF32},
    {"i1", ElementType::kPred},
    {"i32", ElementType::kS32},
    {"i64", ElementType::kS64},
    {"bf16", ElementType::kBF16},
    {"ui32", ElementType::kU32},
    {"f64", ElementType::kF64},
    {"f16", ElementType::kF16},
    {"i2", ElementType::kS2},
    {"i4", ElementType::kS4},
    {"i8", ElementType::kS8},
    {"i16", ElementType::kS16},
    {"ui2", ElementType::kU2},
    {"ui4", ElementType::kU4},
    {"ui8", ElementType::kU8},
    {"ui16", ElementType::kU16},
    {"ui64", ElementType::kU64},
    {"f8E5M2", ElementType::kF8E5M2},
    {"f8E4M3", ElementType::kF8E4M3},
    {"f8E4M3FN", ElementType::kF8E4M3FN},
    {"f8E4M3B11FNUZ", ElementType::kF8E4M3B11FNUZ},
    {"f8E3M4", ElementType::kF8E3M4},
    {"f8E5M2FNUZ", ElementType::kF8E5M2FNUZ},
    {"f8E4M3FNUZ", ElementType::kF8E4M3FNUZ},
    {"f8E8M0FNU", ElementType::kF8E8M0FNU},
    {"f6E3M2FN", ElementType::kF6E3M2FN},
    {"f6E2M3FN", ElementType::kF6E2M3FN},
    {"f4E2M1FN", ElementType::kF4E2M1FN},
};

// Legal MLIR types that no HLO value has.
bool IsOtherType(std::string_view word) {
  static constexpr std::string_view kWords[] = {"tf32",   "f80",    "f128",   "vector",
                                                "memref", "opaque", "ranked", "unranked"};
  for (std::string_view other : kWords) {
    if (word == other) return true;
  }
  // si32, i7, ui1.
  const size_t digits = word.find_first_of("0123456789");
  if (digits == std::string_view::npos ||
      word.find_first_not_of("0123456789", digits) != std::string_view::npos) {
    return false;
  }
  const std::string_view letters = word.substr(0, digits);
  return letters == "i" || letters == "si" || letters == "ui";
}

// The bytes from '<' to the matching '>' when nothing but words, digits and '?' stands between, else 0: such
// a type means the same wherever it is written.
size_t PlainLength(std::string_view text) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '<') {
      ++depth;
    } else if (c == '>') {
      if (--depth == 0) return i + 1;
    } else if (!absl::ascii_isalnum(c) && c != '?') {
      return 0;
    }
  }
  return 0;
}

}  // namespace

bool TextParser::AtType() const {
  if (At('(') || At(Tok::kBang)) return true;
  if (!At(Tok::kWord)) return false;
  const std::string_view word = lexer_.token().text;
  return word == "tensor" || word == "tuple" || word == "complex" || word == "index" || word == "none" ||
         types_.contains(AbslView(word)) || IsOtherType(word);
}

absl::Status TextParser::ParseType(const Type** type) {
  const Nesting nesting(*this);
  ASSAY_RETURN_IF_ERROR(nesting.status());
  return ParseTypeUnnested(type);
}

absl::Status TextParser::ParseTypeUnnested(const Type** type) {
  if (AtWord("tensor")) return ParseTensor(type);
  if (At('(')) return ParseFunctionType(type);
  if (At(Tok::kBang)) return ParseDialectType(type);
  if (!At(Tok::kWord)) return Unexpected("a type");
  const std::string_view word = lexer_.token().text;
  if (word == "complex") return ParseComplexType(type);
  if (word == "tuple") {
    lexer_.Next();
    Type* const tuple = tree_->NewType(Type::Kind::kTuple);
    std::vector<const Type*> elements;
    ASSAY_RETURN_IF_ERROR(ParseTypeList('<', '>', &elements));
    tuple->inputs = arena_.Copy(elements);
    *type = tuple;
    return CheckWeight(tuple);
  }
  const auto known = types_.find(AbslView(word));
  if (known != types_.end()) {
    *type = known->second;
    lexer_.Next();
    return absl::OkStatus();
  }
  if (!IsOtherType(word)) return Unexpected("a type");
  const size_t begin = lexer_.offset();
  lexer_.Next();
  return ParseUnsupportedType(begin, type);
}

absl::Status TextParser::ParseTensor(const Type** type) {
  const size_t begin = lexer_.offset();
  const std::string_view rest = lexer_.text().substr(lexer_.end());
  const size_t length = PlainLength(rest);
  if (length == 0) return ParseTensorBody(type);
  const absl::string_view key = AbslView(lexer_.text().substr(begin, lexer_.end() - begin + length));
  const auto [known, inserted] = types_.try_emplace(key, nullptr);
  if (!inserted && known->second != nullptr) {
    *type = known->second;
    lexer_.ContinueAt(begin + key.size());
    return absl::OkStatus();
  }
  ASSAY_RETURN_IF_ERROR(ParseTensorBody(type));
  types_[key] = *type;
  return absl::OkStatus();
}

// tensor '<' { ( INT | '?' ) 'x' } element [ ',' encoding ] '>'
absl::Status TextParser::ParseTensorBody(const Type** type) {
  lexer_.Next();
  if (!At('<')) return Unexpected("'<'");
  const std::string_view text = lexer_.text();
  size_t at = lexer_.end();
  std::vector<int64_t> sizes;
  const auto skip = [&] {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
  };
  for (skip(); at < text.size() && (text[at] == '?' || (text[at] >= '0' && text[at] <= '9')); skip()) {
    int64_t size = kDynamicSize;
    const size_t begin = at;
    if (text[at] == '?') {
      tree_->has_free_sizes = true;
      ++at;
    } else {
      const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), size);
      if (error != std::errc()) {
        return Error(lexer_.PositionOf(begin), "the dimension's size does not fit in 64 bits");
      }
      at = static_cast<size_t>(end - text.data());
    }
    if (at >= text.size() || text[at] != 'x') {
      return Error(lexer_.PositionOf(at), "want 'x' after a dimension's size");
    }
    ++at;
    sizes.push_back(size);
    if (sizes.size() > kMaxRank)
      return ProgramLimitExceeded(lexer_.PositionOf(begin), "rank", static_cast<int64_t>(sizes.size()),
                                  kMaxRank);
  }
  lexer_.ContinueAt(at);
  Type* const tensor = tree_->NewType(Type::Kind::kTensor);
  tensor->sizes = arena_.Copy(sizes);
  const SourcePosition where = lexer_.position();
  if (At('*')) return NotSupported(where, "unranked tensor types");
  ASSAY_RETURN_IF_ERROR(ParseType(&tensor->element_type));
  const Type::Kind kind = tensor->element_type->kind;
  if (kind != Type::Kind::kElement && kind != Type::Kind::kIndex && kind != Type::Kind::kQuantized &&
      kind != Type::Kind::kUnsupported) {
    return Error(where, fmt::format("the tensor's element type is {}, want a number type",
                                    ToString(*tensor->element_type)));
  }
  if (kind == Type::Kind::kQuantized) {
    ASSAY_RETURN_IF_ERROR(WithPosition(CheckAxis(*tensor->element_type->quantization, sizes), where));
  }
  if (Eat(',')) {
    const SourcePosition encoding_place = lexer_.position();
    const Attribute* encoding = nullptr;
    ASSAY_RETURN_IF_ERROR(ParseAttribute(&encoding));
    if (encoding->kind == Attribute::Kind::kStruct && encoding->text == "bounds") {
      if (encoding->integers.size() != sizes.size()) {
        return Error(encoding_place, fmt::format("the encoding has {}, the tensor has {}",
                                                 Counted(encoding->integers.size(), "bound"),
                                                 Counted(sizes.size(), "dimension")));
      }
      tensor->bounds = encoding->integers;
    }
  }
  ASSAY_RETURN_IF_ERROR(Expect('>'));
  *type = tensor;
  return absl::OkStatus();
}

absl::Status TextParser::ParseComplexType(const Type** type) {
  lexer_.Next();
  ASSAY_RETURN_IF_ERROR(Expect('<'));
  const SourcePosition where = lexer_.position();
  const Type* component = nullptr;
  ASSAY_RETURN_IF_ERROR(ParseType(&component));
  ASSAY_RETURN_IF_ERROR(Expect('>'));
  const bool is_element = component->kind == Type::Kind::kElement;
  if (is_element && component->element == ElementType::kF32) {
    *type = types_["complex<f32>"];
  } else if (is_element && component->element == ElementType::kF64) {
    *type = types_["complex<f64>"];
  } else {
    const std::string_view label = component->kind == Type::Kind::kQuantized ? "QUANT-1: " : "";
    return Error(where, fmt::format("{}complex<{}>: want f32 or f64", label, ToString(*component)));
  }
  return absl::OkStatus();
}

// '(' types ')' '->' ( type | '(' types ')' )
absl::Status TextParser::ParseFunctionType(const Type** type) {
  Type* const function = tree_->NewType(Type::Kind::kFunction);
  std::vector<const Type*> types;
  ASSAY_RETURN_IF_ERROR(ParseTypeList('(', ')', &types));
  function->inputs = arena_.Copy(types);
  ASSAY_RETURN_IF_ERROR(Expect(Tok::kArrow, "'->'"));
  types.clear();
  if (At('(')) {
    ASSAY_RETURN_IF_ERROR(ParseTypeList('(', ')', &types));
  } else {
    const Type* result = nullptr;
    ASSAY_RETURN_IF_ERROR(ParseType(&result));
    types.push_back(result);
  }
  function->results = arena_.Copy(types);
  *type = function;
  return CheckWeight(function);
}

absl::Status TextParser::CheckWeight(Type* type) const {
  if (Tree::Weigh(type)) return absl::OkStatus();
  return ProgramLimitExceeded(lexer_.position(), "parts of a type", type->weight, Tree::kMaxWeight - 1);
}

absl::Status TextParser::ParseTypeList(char open, char close, std::vector<const Type*>* types) {
  return ReadList(open, close, [&]() -> absl::Status {
    const Type* type = nullptr;
    ASSAY_RETURN_IF_ERROR(ParseType(&type));
    types->push_back(type);
    return absl::OkStatus();
  });
}

absl::Status TextParser::ParseDialectType(const Type** type) {
  const std::string_view name = lexer_.token().text;
  const size_t begin = lexer_.offset();
  const SourcePosition where = lexer_.position();
  lexer_.Next();
  if (name == "stablehlo.token" || name == "mhlo.token") {
    *type = types_["!stablehlo.token"];
    return absl::OkStatus();
  }
  if (name == "quant.uniform" && At('<')) return ParseQuantizedType(where, type);
  if (name.starts_with("quant.")) return NotSupported(where, fmt::format("QUANT-9: type !{}", name));
  if (name.find('.') != std::string_view::npos || At('<')) return ParseUnsupportedType(begin, type);
  const auto alias = type_aliases_.find(AbslView(name));
  if (alias == type_aliases_.end()) return Error(where, fmt::format("type alias '!{}' is not defined", name));
  *type = alias->second;
  return absl::OkStatus();
}

// '<' ... '>' of !quant.uniform
absl::Status TextParser::ParseQuantizedType(SourcePosition where, const Type** type) {
  const auto element_type_of = [](std::string_view word, ElementType* element) {
    for (const ElementWord& row : kElements) {
      if (row.word != word) continue;
      *element = row.type;
      return true;
    }
    return false;
  };
  std::string_view raw;
  ASSAY_RETURN_IF_ERROR(SkipBalanced(&raw));
  Quantization* const read = arena_.New<Quantization>();
  ASSAY_RETURN_IF_ERROR(
      WithPosition(ParseQuantization(raw.substr(1, raw.size() - 2), element_type_of, arena_, read), where));
  Type* const quantized = tree_->NewType(Type::Kind::kQuantized);
  quantized->quantization = read;
  *type = quantized;
  tree_->has_quantized = true;
  return absl::OkStatus();
}

// A name that was read, with <...> behind it if there is one.
absl::Status TextParser::ParseUnsupportedType(size_t begin, const Type** type) {
  Type* const other = tree_->NewType(Type::Kind::kUnsupported);
  std::string_view raw;
  size_t end = lexer_.offset();
  if (At('<')) {
    ASSAY_RETURN_IF_ERROR(SkipBalanced(&raw));
    end = static_cast<size_t>(raw.data() - lexer_.text().data()) + raw.size();
  }
  std::string_view text = lexer_.text().substr(begin, end - begin);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\n')) text.remove_suffix(1);
  other->text = text;
  *type = other;
  return absl::OkStatus();
}

TextParser::TextParser(std::string_view text)
    : lexer_(text), tree_(std::make_unique<Tree>(/*is_text=*/true)), arena_(tree_->arena()) {
  const auto element = [&](std::string_view word, ElementType element_type) {
    Type* const type = tree_->NewType(Type::Kind::kElement);
    type->element = element_type;
    types_.emplace(AbslView(word), type);
  };
  for (const ElementWord& row : kElements) element(row.word, row.type);
  element("complex<f32>", ElementType::kC64);
  element("complex<f64>", ElementType::kC128);
  types_.emplace("index", tree_->NewType(Type::Kind::kIndex));
  types_.emplace("none", tree_->NewType(Type::Kind::kNone));
  types_.emplace("!stablehlo.token", tree_->NewType(Type::Kind::kToken));
}

}  // namespace assay::mlir
