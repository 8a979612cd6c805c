#include "custom/attr_spec.h"

#include <algorithm>

#include "custom/spec_reader.h"
#include "custom/value_text.h"
#include "fmt/format.h"

namespace assay::custom {
namespace {

constexpr OpAttrKind kPlainKinds[] = {OpAttrKind::kString, OpAttrKind::kInt,  OpAttrKind::kFloat,
                                      OpAttrKind::kBool,   OpAttrKind::kType, OpAttrKind::kShape,
                                      OpAttrKind::kTensor};

constexpr std::string_view kWantedType =
    "string, int, float, bool, type, shape, tensor, numbertype, realnumbertype, quantizedtype, a set as "
    "{f32, s32} "
    "or {'a', 'b'}, or list(...) of one of them";

// The types that a shortcut stands for; none: the word is no shortcut.
std::vector<ElementType> TypesOfShortcut(std::string_view word) {
  std::vector<ElementType> types;
  for (int i = 0; i < kNumElementTypes; ++i) {
    const auto type = static_cast<ElementType>(i);
    const bool is_real = IsIntegral(type) || IsFloat(type);
    if ((word == "numbertype" && (is_real || IsComplex(type))) || (word == "realnumbertype" && is_real) ||
        (word == "quantizedtype" && IsIntegral(type) && Bits(type) <= 8)) {
      types.push_back(type);
    }
  }
  return types;
}

// Reads one spec; what it has read is in attr().
class AttrSpecReader {
 public:
  explicit AttrSpecReader(std::string_view spec) : reader_(spec) {}
  absl::Status Read();
  OpAttrDef& attr() { return attr_; }

 private:
  absl::Status ReadName();
  absl::Status ReadType(bool in_list);
  absl::Status ReadSet();
  absl::Status ReadSetItem(std::string* text);
  absl::Status ReadMinimum();
  absl::Status ReadDefault();
  void AddTypes(const std::vector<ElementType>& types);

  SpecReader reader_;
  OpAttrDef attr_;
};

absl::Status AttrSpecReader::Read() {
  ASSAY_RETURN_IF_ERROR(ReadName());
  ASSAY_RETURN_IF_ERROR(ReadType(/*in_list=*/false));
  if (reader_.Eat(">=")) ASSAY_RETURN_IF_ERROR(ReadMinimum());
  if (reader_.Eat("=")) ASSAY_RETURN_IF_ERROR(ReadDefault());
  if (!reader_.AtEnd()) return reader_.Wanted(">= n, = default or the end");
  return absl::OkStatus();
}

absl::Status AttrSpecReader::ReadName() {
  const std::string found = reader_.Found();
  const std::string_view name = reader_.Word();
  if (!IsName(name)) {
    return InvalidProgram({}, fmt::format("found {}, wanted a name, [A-Za-z][A-Za-z0-9_]*", found));
  }
  if (!reader_.Eat(":")) return reader_.Wanted("':' after the name");
  attr_.name = name;
  attr_.spec = fmt::format("{}: ", name);
  return absl::OkStatus();
}

absl::Status AttrSpecReader::ReadType(bool in_list) {
  if (reader_.Peek() == '{') return ReadSet();
  const std::string found = reader_.Found();
  const std::string_view word = reader_.Word();
  if (word == "list") {
    if (in_list) return InvalidProgram({}, "a list of lists, wanted a list of values: lists do not nest");
    if (!reader_.Eat("(")) return reader_.Wanted("'(' after list");
    attr_.is_list = true;
    attr_.spec += "list(";
    ASSAY_RETURN_IF_ERROR(ReadType(/*in_list=*/true));
    if (!reader_.Eat(")")) return reader_.Wanted("')' after the type of a list's elements");
    attr_.spec += ')';
    return absl::OkStatus();
  }
  attr_.spec += word;
  if (const std::vector<ElementType> types = TypesOfShortcut(word); !types.empty()) {
    attr_.kind = OpAttrKind::kType;
    AddTypes(types);
    return absl::OkStatus();
  }
  for (const OpAttrKind kind : kPlainKinds) {
    if (Name(kind) != word) continue;
    attr_.kind = kind;
    return absl::OkStatus();
  }
  if (ElementTypeFromName(word)) {
    return InvalidProgram(
        {},
        fmt::format("the type {} is an element type, wanted type, or a set with it, {{{}}}", found, word));
  }
  return InvalidProgram({}, fmt::format("found the type {}, wanted {}", found, kWantedType));
}

// {'a', 'b'} or {f32, numbertype}.
absl::Status AttrSpecReader::ReadSet() {
  reader_.Eat("{");
  if (reader_.Peek() == '}') return InvalidProgram({}, "an empty set {}, wanted at least one value in it");
  attr_.kind = reader_.Peek() == '\'' ? OpAttrKind::kString : OpAttrKind::kType;
  std::vector<std::string> items;
  do {
    std::string text;
    ASSAY_RETURN_IF_ERROR(ReadSetItem(&text));
    if (std::ranges::count(items, text) > 0) {
      return InvalidProgram({}, fmt::format("{} stands twice in the set, wanted once", text));
    }
    attr_.spec += items.empty() ? "{" : ", ";
    attr_.spec += text;
    items.push_back(std::move(text));
  } while (reader_.Eat(","));
  if (!reader_.Eat("}")) return reader_.Wanted("',' or '}' in a set");
  attr_.spec += '}';
  return absl::OkStatus();
}

absl::Status AttrSpecReader::ReadSetItem(std::string* text) {
  const bool is_string = reader_.Peek() == '\'';
  if (is_string != (attr_.kind == OpAttrKind::kString)) {
    return reader_.Wanted(is_string ? "an element type, as those before it in the set"
                                    : "a string, as those before it in the set");
  }
  if (is_string) {
    ASSAY_ASSIGN_OR_RETURN(std::string value, reader_.QuotedString());
    *text = QuoteText(value);
    attr_.strings.push_back(std::move(value));
    return absl::OkStatus();
  }
  const std::string found = reader_.Found();
  const std::string_view word = reader_.Word();
  std::vector<ElementType> types = TypesOfShortcut(word);
  if (const std::optional<ElementType> type = ElementTypeFromName(word)) types = {*type};
  if (types.empty()) {
    return InvalidProgram(
        {},
        fmt::format("found {} in a set, wanted an element type, numbertype, realnumbertype or quantizedtype",
                    found));
  }
  AddTypes(types);
  *text = word;
  return absl::OkStatus();
}

void AttrSpecReader::AddTypes(const std::vector<ElementType>& types) {
  for (const ElementType type : types) {
    if (std::ranges::count(attr_.types, type) == 0) attr_.types.push_back(type);
  }
}

absl::Status AttrSpecReader::ReadMinimum() {
  if (!attr_.is_list && attr_.kind != OpAttrKind::kInt) {
    return InvalidProgram(
        {}, fmt::format("a {} has a minimum, '>=', wanted one of int and list(...) alone", Name(attr_.kind)));
  }
  const absl::StatusOr<int64_t> minimum = ReadInt(reader_);
  if (!minimum.ok()) return WithSuffix(minimum.status(), ", as the minimum after '>='");
  if (attr_.is_list && *minimum < 0) {
    return InvalidProgram(
        {}, fmt::format("found the minimum {} of a list's length, wanted at least 0", *minimum));
  }
  attr_.minimum = *minimum;
  attr_.spec += fmt::format(" >= {}", *minimum);
  return absl::OkStatus();
}

absl::Status AttrSpecReader::ReadDefault() {
  absl::StatusOr<OpAttrValue> value = ReadValue(attr_.kind, attr_.is_list, reader_);
  if (!value.ok()) return WithPrefix(value.status(), "default");
  attr_.spec += " = " + ValueText(*value);
  attr_.default_value = *std::move(value);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<OpAttrDef> ParseAttrSpec(std::string_view spec) {
  AttrSpecReader reader(spec);
  const absl::Status status = reader.Read();
  if (!status.ok()) return WithPrefix(status, fmt::format("attr {}", ShownText(spec)));
  return std::move(reader.attr());
}

}  // namespace assay::custom
