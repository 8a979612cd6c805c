#include "custom/argument_spec.h"

#include <algorithm>

#include "custom/spec_reader.h"
#include "fmt/format.h"

namespace assay::custom {
namespace {

class ArgumentReader {
 public:
  ArgumentReader(std::string_view spec, const std::vector<OpAttrDef>& attrs) : reader_(spec), attrs_(attrs) {}
  absl::Status Read();
  OpArgument& argument() { return argument_; }

 private:
  absl::Status ReadType();
  absl::Status ReadSequence(const OpAttrDef* count, std::string_view word);
  // An element type or an attribute that says it; `may_be_list`: of kind list(type), too.
  absl::Status SetType(const std::string& found, std::string_view word, bool may_be_list);
  const OpAttrDef* Find(std::string_view name) const;

  SpecReader reader_;
  const std::vector<OpAttrDef>& attrs_;
  OpArgument argument_;
};

const OpAttrDef* ArgumentReader::Find(std::string_view name) const {
  const auto attr = std::ranges::find(attrs_, name, &OpAttrDef::name);
  return attr == attrs_.end() ? nullptr : &*attr;
}

absl::Status ArgumentReader::Read() {
  const std::string found = reader_.Found();
  const std::string_view name = reader_.Word();
  if (!IsName(name)) {
    return InvalidProgram({}, fmt::format("found {}, wanted a name, [a-z][a-z0-9_]*", found));
  }
  if (!IsSnakeCase(name)) {
    return InvalidProgram({}, fmt::format("the name {} has capitals, wanted [a-z][a-z0-9_]*", found));
  }
  if (!reader_.Eat(":")) return reader_.Wanted("':' after the name");
  argument_.name = name;
  argument_.spec = fmt::format("{}: ", name);
  ASSAY_RETURN_IF_ERROR(ReadType());
  if (!reader_.AtEnd()) return reader_.Wanted("the end after the type");
  return absl::OkStatus();
}

absl::Status ArgumentReader::ReadType() {
  const std::string found = reader_.Found();
  const std::string_view word = reader_.Word();
  if (word.empty()) {
    return InvalidProgram(
        {}, fmt::format("found {}, wanted an element type, an attribute, N * type, Token, Opaque "
                        "or Ref(type)",
                        found));
  }
  argument_.spec += word;
  if (word == "Token" || word == "Opaque") {
    argument_.kind = word == "Token" ? OpArgument::Kind::kToken : OpArgument::Kind::kOpaque;
    return absl::OkStatus();
  }
  if (word == "Ref") {
    if (!reader_.Eat("(")) return reader_.Wanted("'(' after Ref");
    argument_.is_reference = true;
    const std::string type_found = reader_.Found();
    const std::string_view type = reader_.Word();
    argument_.spec += fmt::format("({})", type);
    ASSAY_RETURN_IF_ERROR(SetType(type_found, type, /*may_be_list=*/false));
    if (!reader_.Eat(")")) return reader_.Wanted("')' after the type of Ref");
    return absl::OkStatus();
  }
  if (reader_.Eat("*")) return ReadSequence(Find(word), word);
  return SetType(found, word, /*may_be_list=*/true);
}

absl::Status ArgumentReader::ReadSequence(const OpAttrDef* count, std::string_view word) {
  if (count == nullptr) {
    return InvalidProgram({},
                          fmt::format("the count '{}' is not an attribute, wanted one of type int", word));
  }
  if (count->kind != OpAttrKind::kInt || count->is_list) {
    return InvalidProgram({}, fmt::format("the count is attr '{}', wanted one of type int", count->spec));
  }
  argument_.count_attr = word;
  const std::string found = reader_.Found();
  const std::string_view type = reader_.Word();
  argument_.spec += fmt::format(" * {}", type);
  return SetType(found, type, /*may_be_list=*/false);
}

absl::Status ArgumentReader::SetType(const std::string& found, std::string_view word, bool may_be_list) {
  const std::string_view wanted = may_be_list ? "type or list(type)" : "type";
  if (const OpAttrDef* const attr = Find(word)) {
    if (attr->kind != OpAttrKind::kType || (attr->is_list && !may_be_list)) {
      return InvalidProgram({},
                            fmt::format("the type is attr '{}', wanted one of type {}", attr->spec, wanted));
    }
    argument_.type_attr = word;
    argument_.has_type_list = attr->is_list;
    return absl::OkStatus();
  }
  argument_.type = ElementTypeFromName(word);
  if (argument_.type) return absl::OkStatus();
  return InvalidProgram(
      {}, fmt::format("the type {} is neither an element type nor an attribute, wanted one of them", found));
}

}  // namespace

absl::StatusOr<OpArgument> ParseArgumentSpec(std::string_view what, std::string_view spec,
                                             const std::vector<OpAttrDef>& attrs) {
  ArgumentReader reader(spec, attrs);
  const absl::Status status = reader.Read();
  if (!status.ok()) return WithPrefix(status, fmt::format("{} {}", what, ShownText(spec)));
  return std::move(reader.argument());
}

}  // namespace assay::custom
