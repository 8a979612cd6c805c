// Files, functions, operations, regions and names of MLIR text (docs/spec/stablehlo-text.md section 2).
#include "hlo/mlir/text/parser.h"

#include <charconv>

#include "base/counted.h"
#include "base/limits.h"
#include "fmt/format.h"

namespace assay::mlir {

absl::StatusOr<std::unique_ptr<Tree>> ParseMlirText(std::string_view text) {
  return TextParser(text).Parse();
}

absl::Status TextParser::Nesting::status() const {
  if (parser_.nesting_ <= kMaxNesting) return absl::OkStatus();
  return ProgramLimitExceeded(parser_.lexer_.position(), "nesting", parser_.nesting_, kMaxNesting);
}

absl::StatusOr<std::unique_ptr<Tree>> TextParser::Parse() {
  ASSAY_RETURN_IF_ERROR(ParseFile());
  ASSAY_RETURN_IF_ERROR(ResolveLater());
  FillCaptures(*tree_, *tree_->top);
  return std::move(tree_);
}

// Tokens.

absl::Status TextParser::Error(SourcePosition where, std::string_view message) const {
  return InvalidProgram(where, message);
}

absl::Status TextParser::Unexpected(std::string_view wanted) const {
  if (At(Tok::kError)) return lexer_.error();
  if (At(Tok::kEof))
    return Error(lexer_.position(), fmt::format("found the end of the text, want {}", wanted));
  return Error(lexer_.position(),
               fmt::format("found '{}', want {}", lexer_.Spelling().substr(0, 200), wanted));
}

bool TextParser::Eat(char punct) {
  if (!At(punct)) return false;
  lexer_.Next();
  return true;
}

bool TextParser::Eat(Tok kind) {
  if (!At(kind)) return false;
  lexer_.Next();
  return true;
}

bool TextParser::EatWord(std::string_view word) {
  if (!AtWord(word)) return false;
  lexer_.Next();
  return true;
}

absl::Status TextParser::Expect(char punct) {
  return Eat(punct) ? absl::OkStatus() : Unexpected(fmt::format("'{}'", punct));
}

absl::Status TextParser::Expect(Tok kind, std::string_view what) {
  return Eat(kind) ? absl::OkStatus() : Unexpected(what);
}

absl::Status TextParser::ExpectWord(std::string_view word) {
  return EatWord(word) ? absl::OkStatus() : Unexpected(fmt::format("'{}'", word));
}

absl::Status TextParser::ReadInt(int64_t* value) {
  const bool negative = Eat('-');
  if (!At(Tok::kInt)) return Unexpected("an integer");
  const std::string_view digits = lexer_.token().text;
  uint64_t magnitude = 0;
  const auto error = std::from_chars(digits.data(), digits.data() + digits.size(), magnitude).ec;
  if (error != std::errc() || magnitude > (uint64_t{1} << 63) - (negative ? 0 : 1)) {
    return Error(lexer_.position(), "the integer does not fit in 64 bits");
  }
  *value = static_cast<int64_t>(negative ? 0 - magnitude : magnitude);
  lexer_.Next();
  return absl::OkStatus();
}

absl::Status TextParser::ReadWord(std::string_view* word, std::string_view what) {
  if (!At(Tok::kWord)) return Unexpected(what);
  *word = lexer_.token().text;
  lexer_.Next();
  return absl::OkStatus();
}

std::string_view TextParser::StringValue(const Token& token) {
  return token.has_escapes ? arena_.Copy(Unescape(token.text)) : token.text;
}

absl::Status TextParser::ReadString(std::string_view* text) {
  if (!At(Tok::kString)) return Unexpected("a string");
  *text = StringValue(lexer_.token());
  lexer_.Next();
  return absl::OkStatus();
}

// @name, @"name", @outer::@name (of which the last is kept).
absl::Status TextParser::ReadSymbol(std::string_view* name) {
  if (!At(Tok::kSymbol)) return Unexpected("a symbol '@name'");
  do {
    Token token = lexer_.token();
    if (token.text[0] == '"') {
      token.text = token.text.substr(1, token.text.size() - 2);
      token.has_escapes = token.text.find('\\') != std::string_view::npos;
    }
    *name = StringValue(token);
    lexer_.Next();
  } while (Eat(Tok::kColonColon) && At(Tok::kSymbol));
  return absl::OkStatus();
}

absl::Status TextParser::ReadList(char open, char close, absl::FunctionRef<absl::Status()> item) {
  ASSAY_RETURN_IF_ERROR(Expect(open));
  if (Eat(close)) return absl::OkStatus();
  do {
    ASSAY_RETURN_IF_ERROR(item());
  } while (Eat(','));
  return Eat(close) ? absl::OkStatus() : Unexpected(fmt::format("',' or '{}'", close));
}

absl::Status TextParser::ReadInts(std::vector<int64_t>* values) {
  return ReadList('[', ']', [&] { return ReadInt(&values->emplace_back()); });
}

// Skips from an opening bracket to its match; `raw` is the text with both.
absl::Status TextParser::SkipBalanced(std::string_view* raw) {
  const size_t begin = lexer_.offset();
  const SourcePosition where = lexer_.position();
  std::string open;
  do {
    if (At(Tok::kEof)) return Error(where, "found an opening bracket without its match");
    if (At(Tok::kError)) return lexer_.error();
    if (At('<') || At('(') || At('[') || At('{')) open += lexer_.token().punct;
    const size_t close =
        At(Tok::kPunct) ? std::string_view(">)]}").find(lexer_.token().punct) : std::string_view::npos;
    if (close != std::string_view::npos) {
      if (open.back() != "<([{"[close]) return Unexpected("the match of an opening bracket");
      open.pop_back();
    }
    *raw = lexer_.text().substr(begin, lexer_.end() - begin);
    lexer_.Next();
  } while (!open.empty());
  return absl::OkStatus();
}

// Files.

// { alias } { operation } { alias } [ resources ], mixed as they come.
absl::Status TextParser::ParseFile() {
  std::vector<Operation*> operations;
  while (!At(Tok::kEof)) {
    if (At(Tok::kHash) || At(Tok::kBang)) {
      ASSAY_RETURN_IF_ERROR(ParseAlias());
    } else if (At(Tok::kOpenMeta)) {
      ASSAY_RETURN_IF_ERROR(ParseResources());
    } else {
      ASSAY_RETURN_IF_ERROR(ParseOperation(&operations.emplace_back()));
    }
  }
  if (operations.empty()) return Unexpected("a module or a function");
  tree_->top = arena_.New<Region>();
  tree_->top->operations = arena_.Copy(operations);
  return absl::OkStatus();
}

// '#' name '=' attribute, '!' name '=' type
absl::Status TextParser::ParseAlias() {
  const bool is_type = At(Tok::kBang);
  const absl::string_view name = AbslView(lexer_.token().text);
  const SourcePosition where = lexer_.position();
  lexer_.Next();
  ASSAY_RETURN_IF_ERROR(Expect('='));
  bool is_new;
  if (is_type) {
    const Type* type = nullptr;
    ASSAY_RETURN_IF_ERROR(ParseType(&type));
    is_new = type_aliases_.emplace(name, type).second;
  } else {
    const Attribute* attribute = nullptr;
    ASSAY_RETURN_IF_ERROR(ParseAttribute(&attribute));
    is_new = aliases_.emplace(name, attribute).second;
  }
  if (is_new) return absl::OkStatus();
  return Error(where, fmt::format("alias '{}' is defined twice", std::string_view(name.data(), name.size())));
}

// '{-#' section ':' '{' dialect ':' '{' key ':' string ... '}' ... '}' ... '#-}'
absl::Status TextParser::ParseResources() {
  lexer_.Next();
  while (!Eat(Tok::kCloseMeta)) {
    std::string_view section, dialect, key, value;
    ASSAY_RETURN_IF_ERROR(ReadWord(&section, "the name of a section or '#-}'"));
    ASSAY_RETURN_IF_ERROR(Expect(':'));
    const auto read_resource = [&]() -> absl::Status {
      if (At(Tok::kString)) {
        ASSAY_RETURN_IF_ERROR(ReadString(&key));
      } else {
        ASSAY_RETURN_IF_ERROR(ReadWord(&key, "the key of a resource"));
      }
      ASSAY_RETURN_IF_ERROR(Expect(':'));
      if (!At(Tok::kString)) {  // of external resources: true, 5
        const Attribute* other = nullptr;
        return ParseAttribute(&other);
      }
      ASSAY_RETURN_IF_ERROR(ReadString(&value));
      if (section == "dialect_resources") resources_[AbslView(key)] = value;
      return absl::OkStatus();
    };
    const auto read_item = [&]() -> absl::Status {
      ASSAY_RETURN_IF_ERROR(ReadWord(&dialect, "the name of a dialect"));
      ASSAY_RETURN_IF_ERROR(Expect(':'));
      return ReadList('{', '}', read_resource);
    };
    ASSAY_RETURN_IF_ERROR(ReadList('{', '}', read_item));
    Eat(',');
  }
  return absl::OkStatus();
}

// Aliases and resources that were used before their definition. What such an alias stands for is copied, so
// it must be small and complete; locations are.
absl::Status TextParser::ResolveLater() {
  constexpr int32_t kMaxCopied = 64;
  for (const Later& later : aliases_later_) {
    const auto known = aliases_.find(AbslView(later.attribute->text));
    if (known == aliases_.end()) {
      return Error(later.position, fmt::format("alias '#{}' is not defined", later.attribute->text));
    }
    if (known->second->is_open || known->second->weight > kMaxCopied) {
      return Error(later.position,
                   fmt::format("alias '#{}' is used above its definition", later.attribute->text));
    }
    *later.attribute = *known->second;
    if (later.attribute->location != nullptr) *later.location = *later.attribute->location;
  }
  for (const Later& later : resources_later_) {
    const auto known = resources_.find(AbslView(later.attribute->text));
    constexpr size_t kHeader = 2 + 8;  // "0x" and four bytes of alignment
    if (known == resources_.end() || known->second.size() < kHeader) {
      return Error(later.position, fmt::format("resource '{}' is not in the file", later.attribute->text));
    }
    const std::string raw = fmt::format("\"0x{}\"", known->second.substr(kHeader));
    const size_t offset = static_cast<size_t>(later.attribute->text.data() - lexer_.text().data());
    const absl::Status status = ReadDenseElements(raw, 0, Lexer(raw), arena_, later.attribute);
    if (!status.ok()) {
      return Error(lexer_.PositionOf(std::min(offset, lexer_.text().size())), std::string(status.message()));
    }
  }
  return absl::OkStatus();
}

// Operations.

// [ %a [':' count] {',' ...} '=' ] ( generic | pretty ) [ loc ]
absl::Status TextParser::ParseOperation(Operation** operation) {
  const Nesting nesting(*this);
  ASSAY_RETURN_IF_ERROR(nesting.status());
  absl::InlinedVector<Name, 2> names;
  if (At(Tok::kValue)) ASSAY_RETURN_IF_ERROR(ParseResultNames(&names));
  Draft draft;
  draft.operation = arena_.New<Operation>();
  draft.operation->position = lexer_.position();
  draft.operation->offset = lexer_.offset();
  *operation = draft.operation;
  if (At(Tok::kString)) {
    ASSAY_RETURN_IF_ERROR(ParseGeneric(draft));
  } else if (At(Tok::kWord)) {
    draft.name = lexer_.token().text;
    lexer_.Next();
    if (draft.name == "module" || draft.name == "builtin.module") {
      ASSAY_RETURN_IF_ERROR(ParseModule(draft));
    } else if (draft.name == "func.func") {
      ASSAY_RETURN_IF_ERROR(ParseFunction(draft));
    } else {
      ASSAY_RETURN_IF_ERROR(ParsePretty(draft));
    }
  } else {
    return Unexpected("an operation");
  }
  ASSAY_RETURN_IF_ERROR(ParseLocation(draft));
  return Finish(draft, names, draft.operation);
}

absl::Status TextParser::ParseResultNames(absl::InlinedVector<Name, 2>* names) {
  do {
    if (!At(Tok::kValue)) return Unexpected("the name of a result");
    Name name{lexer_.token().text, lexer_.position(), 1};
    lexer_.Next();
    if (Eat(':')) {
      ASSAY_RETURN_IF_ERROR(ReadInt(&name.count));
      if (name.count < 1)
        return Error(name.position, fmt::format("found {}, want 1 or more", Counted(name.count, "result")));
    }
    names->push_back(name);
  } while (Eat(','));
  return Expect('=');
}

absl::Status TextParser::ParseOperand(Value** value) {
  if (!At(Tok::kValue)) return Unexpected("a value '%name'");
  const Token& token = lexer_.token();
  const auto known = names_.find(AbslView(token.text));
  if (known == names_.end()) {
    return Error(lexer_.position(),
                 fmt::format("value '%{}' is not defined above", token.text.substr(0, 200)));
  }
  const int64_t index = token.integer < 0 ? 0 : token.integer;
  if (index >= static_cast<int64_t>(known->second.size())) {
    return Error(lexer_.position(),
                 fmt::format("value '%{}' has {}, found number {}", token.text.substr(0, 200),
                             Counted(known->second.size(), "result"), index));
  }
  *value = &known->second[index];
  lexer_.Next();
  return absl::OkStatus();
}

// "name"(operands) [successors] [<properties>] [(regions)] [attributes] : (types) -> types
absl::Status TextParser::ParseGeneric(Draft& draft) {
  ASSAY_RETURN_IF_ERROR(ReadString(&draft.name));
  ReplaceMhlo(&draft.name);
  ASSAY_RETURN_IF_ERROR(ParseOperandList('(', ')', draft));
  if (At('[')) return NotSupported(lexer_.position(), "operations with successor blocks");
  if (At('<')) {
    lexer_.Next();
    ASSAY_RETURN_IF_ERROR(ParseOptionalDictionary(draft));
    ASSAY_RETURN_IF_ERROR(Expect('>'));
  }
  const bool isolated = draft.name == "func.func" || draft.name == "builtin.module" ||
                        draft.name == "sdy.manual_computation" || draft.name == "sdy.named_computation";
  if (At('(')) ASSAY_RETURN_IF_ERROR(ParseGenericRegions(draft, isolated));
  ASSAY_RETURN_IF_ERROR(ParseOptionalDictionary(draft));
  ASSAY_RETURN_IF_ERROR(Expect(':'));
  if (!At('(')) return Unexpected("a function type");
  const Type* type = nullptr;
  ASSAY_RETURN_IF_ERROR(ParseType(&type));
  draft.results.assign(type->results.begin(), type->results.end());
  return CheckOperandTypes(draft, type->inputs);
}

absl::Status TextParser::ParseGenericRegions(Draft& draft, bool isolated) {
  return ReadList('(', ')', [&] { return ParseRegion({}, isolated, draft); });
}

absl::Status TextParser::CheckOperandTypes(const Draft& draft, std::span<const Type* const> types) const {
  if (types.size() != draft.operands.size()) {
    return Error(draft.operation->position,
                 fmt::format("{}: found {} and {} operand types", draft.name,
                             Counted(draft.operands.size(), "operand"), types.size()));
  }
  for (size_t i = 0; i < types.size(); ++i) {
    if (SameType(*types[i], *draft.operands[i]->type)) continue;
    return Error(draft.operation->position,
                 fmt::format("{}: operand {} has type {}, found {} written", draft.name, i,
                             ToString(*draft.operands[i]->type), ToString(*types[i])));
  }
  return absl::OkStatus();
}

// ['builtin.'] 'module' [@name] ['attributes' dictionary] '{' operations '}'
absl::Status TextParser::ParseModule(Draft& draft) {
  draft.name = "builtin.module";
  if (At(Tok::kSymbol)) {
    std::string_view name;
    ASSAY_RETURN_IF_ERROR(ReadSymbol(&name));
    Set(draft, "sym_name", Text(Attribute::Kind::kString, name));
  }
  if (EatWord("attributes")) {
    if (!At('{')) return Unexpected("'{'");
    ASSAY_RETURN_IF_ERROR(ParseOptionalDictionary(draft));
  }
  return ParseRegion({}, /*isolated=*/true, draft);
}

// 'func.func' [visibility] @name '(' arguments ')' ['->' results] ['attributes' dictionary] [body]
absl::Status TextParser::ParseFunction(Draft& draft) {
  std::string_view visibility, name;
  if (AtWord("public") || AtWord("private") || AtWord("nested")) {
    visibility = lexer_.token().text;
    lexer_.Next();
  }
  ASSAY_RETURN_IF_ERROR(ReadSymbol(&name));
  std::vector<Argument> arguments;
  std::vector<const Attribute*> argument_attributes, result_attributes;
  std::vector<const Type*> types, results;
  ASSAY_RETURN_IF_ERROR(ParseFunctionArguments(&arguments, &argument_attributes, &types));
  if (Eat(Tok::kArrow)) ASSAY_RETURN_IF_ERROR(ParseFunctionResults(&results, &result_attributes));
  if (EatWord("attributes")) ASSAY_RETURN_IF_ERROR(ParseOptionalDictionary(draft));
  Type* const function = tree_->NewType(Type::Kind::kFunction);
  function->inputs = arena_.Copy(types);
  function->results = arena_.Copy(results);
  Attribute* const type = tree_->NewAttribute(Attribute::Kind::kType);
  type->type = function;
  const auto array = [&](const std::vector<const Attribute*>& elements) {
    Attribute* const attribute = tree_->NewAttribute(Attribute::Kind::kArray);
    attribute->elements = arena_.Copy(elements);
    return attribute;
  };
  Set(draft, "sym_name", Text(Attribute::Kind::kString, name));
  Set(draft, "sym_visibility", Text(Attribute::Kind::kString, visibility));
  Set(draft, "function_type", type);
  Set(draft, "arg_attrs", array(argument_attributes));
  Set(draft, "res_attrs", array(result_attributes));
  if (!At('{')) return absl::OkStatus();  // a declaration
  if (arguments.size() != types.size())
    return Error(lexer_.position(), "a function with a body needs named arguments");
  return ParseRegion(arguments, /*isolated=*/true, draft);
}

// '(' list( %name ':' type [dictionary] [loc] ) ')', or types alone.
absl::Status TextParser::ParseFunctionArguments(std::vector<Argument>* arguments,
                                                std::vector<const Attribute*>* attributes,
                                                std::vector<const Type*>* types) {
  return ReadList('(', ')', [&]() -> absl::Status {
    if (At(Tok::kValue)) {
      ASSAY_RETURN_IF_ERROR(ParseArgument(&arguments->emplace_back()));
      types->push_back(arguments->back().type);
    } else {
      ASSAY_RETURN_IF_ERROR(ParseType(&types->emplace_back()));
    }
    Draft dictionary;
    ASSAY_RETURN_IF_ERROR(ParseOptionalDictionary(dictionary));
    Attribute* const fields = tree_->NewAttribute(Attribute::Kind::kDictionary);
    fields->fields = arena_.Copy(std::vector(dictionary.attributes.begin(), dictionary.attributes.end()));
    attributes->push_back(fields);
    return SkipLocation();
  });
}

absl::Status TextParser::ParseFunctionResults(std::vector<const Type*>* types,
                                              std::vector<const Attribute*>* attributes) {
  if (!At('(')) return ParseType(&types->emplace_back());
  return ReadList('(', ')', [&]() -> absl::Status {
    ASSAY_RETURN_IF_ERROR(ParseType(&types->emplace_back()));
    Draft dictionary;
    ASSAY_RETURN_IF_ERROR(ParseOptionalDictionary(dictionary));
    Attribute* const fields = tree_->NewAttribute(Attribute::Kind::kDictionary);
    fields->fields = arena_.Copy(std::vector(dictionary.attributes.begin(), dictionary.attributes.end()));
    attributes->push_back(fields);
    return absl::OkStatus();
  });
}

// %name ':' type
absl::Status TextParser::ParseArgument(Argument* argument) {
  if (!At(Tok::kValue)) return Unexpected("an argument '%name'");
  argument->name = {lexer_.token().text, lexer_.position(), 1};
  lexer_.Next();
  ASSAY_RETURN_IF_ERROR(Expect(':'));
  return ParseType(&argument->type);
}

// '{' [label] operations '}'. The names of an isolated region are its own.
absl::Status TextParser::ParseRegion(const std::vector<Argument>& arguments, bool isolated, Draft& draft) {
  const Nesting nesting(*this);
  ASSAY_RETURN_IF_ERROR(nesting.status());
  ASSAY_RETURN_IF_ERROR(Expect('{'));
  Names outer_names;
  std::vector<absl::string_view> outer_defined;
  if (isolated) {
    std::swap(outer_names, names_);
    std::swap(outer_defined, defined_);
  }
  const size_t first_defined = defined_.size();
  std::vector<Argument> labelled = arguments;
  if (At(Tok::kBlock)) {
    if (!arguments.empty()) return Error(lexer_.position(), "a second block: regions here have one");
    ASSAY_RETURN_IF_ERROR(ParseBlockLabel(&labelled));
  }
  Region region;
  region.depth = ++depth_;
  ASSAY_RETURN_IF_ERROR(ParseBody(labelled, &region));
  --depth_;
  for (size_t i = first_defined; i < defined_.size(); ++i) names_.erase(defined_[i]);
  defined_.resize(first_defined);
  if (isolated) {
    std::swap(outer_names, names_);
    std::swap(outer_defined, defined_);
  }
  draft.regions.push_back(region);
  return Expect('}');
}

absl::Status TextParser::ParseBody(const std::vector<Argument>& arguments, Region* region) {
  region->arguments = tree_->NewValues(arguments.size(), nullptr, depth_);
  for (size_t i = 0; i < arguments.size(); ++i) {
    region->arguments[i].type = arguments[i].type;
    ASSAY_RETURN_IF_ERROR(DefineName(arguments[i].name, region->arguments.subspan(i, 1)));
  }
  std::vector<Operation*> operations;
  while (!At('}')) {
    if (At(Tok::kBlock)) return Error(lexer_.position(), "a second block: regions here have one");
    ASSAY_RETURN_IF_ERROR(ParseOperation(&operations.emplace_back()));
  }
  region->operations = arena_.Copy(operations);
  return SkipLocation();
}

// ^name ['(' arguments ')'] ':'
absl::Status TextParser::ParseBlockLabel(std::vector<Argument>* arguments) {
  lexer_.Next();
  if (At('(')) {
    const auto read_item = [&]() -> absl::Status {
      ASSAY_RETURN_IF_ERROR(ParseArgument(&arguments->emplace_back()));
      return SkipLocation();
    };
    ASSAY_RETURN_IF_ERROR(ReadList('(', ')', read_item));
  }
  return Expect(':');
}

absl::Status TextParser::SkipLocation() {
  const Attribute* location = nullptr;
  return AtWord("loc") ? ParseLocationAttribute(&location) : absl::OkStatus();
}

absl::Status TextParser::ParseLocation(Draft& draft) {
  const Attribute* attribute = nullptr;
  if (AtWord("loc")) ASSAY_RETURN_IF_ERROR(ParseLocationAttribute(&attribute));
  if (attribute != nullptr) draft.operation->location = attribute->location;
  return absl::OkStatus();
}

int32_t TextParser::NameId(std::string_view name) {
  const auto [known, is_new] = name_ids_.try_emplace(AbslView(name), tree_->num_names());
  if (!is_new) return known->second;
  tree_->has_size_operations |= IsSizeOperation(name);
  return tree_->NewName();
}

absl::Status TextParser::DefineName(const Name& name, std::span<Value> values) {
  const auto [known, inserted] = names_.emplace(AbslView(name.text), values);
  if (!inserted)
    return Error(name.position, fmt::format("value '%{}' is defined twice", name.text.substr(0, 200)));
  defined_.push_back(AbslView(name.text));
  return absl::OkStatus();
}

// The operation as the tree keeps it; its results get their names.
absl::Status TextParser::Finish(Draft& draft, const absl::InlinedVector<Name, 2>& names,
                                Operation* operation) {
  const auto copy = [this](const auto& values) { return arena_.Copy(values.data(), values.size()); };
  operation->name = draft.name;
  operation->name_id = NameId(draft.name);
  tree_->has_shardings |= IsShardingName(draft.name);
  operation->operands = copy(draft.operands);
  operation->attributes = copy(draft.attributes);
  operation->regions = copy(draft.regions);
  operation->results = tree_->NewValues(draft.results.size(), operation, depth_);
  for (size_t i = 0; i < draft.results.size(); ++i) operation->results[i].type = draft.results[i];
  size_t named = 0;
  for (const Name& name : names) {
    const size_t count = static_cast<size_t>(name.count);
    if (count > draft.results.size() - named) {
      return Error(name.position, fmt::format("{}: found names for more results than its {}", draft.name,
                                              draft.results.size()));
    }
    ASSAY_RETURN_IF_ERROR(DefineName(name, operation->results.subspan(named, count)));
    named += count;
  }
  if (named == draft.results.size() || named == 0) return absl::OkStatus();
  return Error(operation->position, fmt::format("{}: found names for {} of {}", draft.name, named,
                                                Counted(draft.results.size(), "result")));
}

}  // namespace assay::mlir
