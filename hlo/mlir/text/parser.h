// MLIR text to the generic tree (docs/spec/stablehlo-text.md): syntax, names of values, and types of
// operands. What an operation takes is the importer's business.
//
// text/parser.cc: files, functions, operations, regions. text/forms.cc, text/sharding.cc: pretty forms.
// text/types.cc, text/attributes.cc, text/dense.cc: what their names say.
#ifndef ASSAY_HLO_MLIR_TEXT_PARSER_H_
#define ASSAY_HLO_MLIR_TEXT_PARSER_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "base/hash_map.h"
#include "hlo/mlir/ir.h"
#include "hlo/mlir/text/lexer.h"

namespace assay::mlir {

absl::StatusOr<std::unique_ptr<Tree>> ParseMlirText(std::string_view text);

class TextParser {
 public:
  explicit TextParser(std::string_view text);
  absl::StatusOr<std::unique_ptr<Tree>> Parse();

 private:
  struct Name {
    std::string_view text;
    SourcePosition position;
    int64_t count = 1;
  };
  struct Argument {
    Name name;
    const Type* type = nullptr;
  };
  // An operation that is being read.
  struct Draft {
    Operation* operation = nullptr;
    std::string_view name;
    absl::InlinedVector<Value*, 4> operands;
    absl::InlinedVector<NamedAttribute, 4> attributes;
    absl::InlinedVector<const Type*, 2> results;
    absl::InlinedVector<Region, 1> regions;
  };
  // What follows the last ':' of an operation: "T, U" or "T, U -> V" or "(T, U) -> V".
  struct Types {
    absl::InlinedVector<const Type*, 4> operands;
    absl::InlinedVector<const Type*, 2> results;
    bool has_arrow = false;
  };
  enum class Tail { kSame, kFunction, kResult, kSelect, kTypes, kReturn };
  enum class FieldKind { kNone, kInt, kInts, kWord, kWords, kBool, kString, kPair, kFormat, kStruct };
  struct Field {
    std::string_view keyword, attribute;
    FieldKind kind = FieldKind::kNone;
  };
  struct Form {
    std::string_view name;
    Tail tail = Tail::kFunction;
    Field fields[4];
    absl::Status (TextParser::*special)(Draft&) = nullptr;
  };

  // text/parser.cc: tokens.
  bool At(char punct) const { return lexer_.At(punct); }
  bool At(Tok kind) const { return lexer_.At(kind); }
  bool AtWord(std::string_view word) const { return At(Tok::kWord) && lexer_.token().text == word; }
  bool Eat(char punct);
  bool Eat(Tok kind);
  bool EatWord(std::string_view word);
  absl::Status Expect(char punct);
  absl::Status ExpectWord(std::string_view word);
  absl::Status Expect(Tok kind, std::string_view what);
  absl::Status Unexpected(std::string_view wanted) const;
  absl::Status Error(SourcePosition where, std::string_view message) const;
  absl::Status ReadInt(int64_t* value);
  absl::Status ReadWord(std::string_view* word, std::string_view what);
  absl::Status ReadString(std::string_view* text);
  absl::Status ReadSymbol(std::string_view* name);
  absl::Status ReadInts(std::vector<int64_t>* values);  // [1, 2]
  absl::Status ReadList(char open, char close, absl::FunctionRef<absl::Status()> item);
  absl::Status SkipBalanced(std::string_view* raw);
  std::string_view StringValue(const Token& token);

  // text/parser.cc: operations.
  absl::Status ParseFile();
  absl::Status ParseAlias();
  absl::Status ParseResources();
  absl::Status ResolveLater();
  absl::Status ParseOperation(Operation** operation);
  absl::Status ParseResultNames(absl::InlinedVector<Name, 2>* names);
  absl::Status ParseGeneric(Draft& draft);
  absl::Status ParseGenericRegions(Draft& draft, bool isolated);
  absl::Status ParseModule(Draft& draft);
  absl::Status ParseFunction(Draft& draft);
  absl::Status ParseFunctionArguments(std::vector<Argument>* arguments,
                                      std::vector<const Attribute*>* attributes,
                                      std::vector<const Type*>* types);
  absl::Status ParseFunctionResults(std::vector<const Type*>* types,
                                    std::vector<const Attribute*>* attributes);
  absl::Status ParseArgument(Argument* argument);
  absl::Status ParseRegion(const std::vector<Argument>& arguments, bool isolated, Draft& draft);
  absl::Status ParseBlockLabel(std::vector<Argument>* arguments);
  absl::Status ParseBody(const std::vector<Argument>& arguments, Region* region);
  absl::Status Finish(Draft& draft, const absl::InlinedVector<Name, 2>& names, Operation* operation);
  int32_t NameId(std::string_view name);
  absl::Status DefineName(const Name& name, std::span<Value> values);
  absl::Status ParseOperand(Value** value);
  absl::Status ParseLocation(Draft& draft);
  absl::Status SkipLocation();
  absl::Status CheckOperandTypes(const Draft& draft, std::span<const Type* const> types) const;
  void Set(Draft& draft, std::string_view name, const Attribute* value) {
    draft.attributes.push_back({name, value});
  }

  // text/forms.cc
  static const Form* FindForm(std::string_view name);
  absl::Status ParsePretty(Draft& draft);
  absl::Status ParseOperandsAndFields(Draft& draft, const Form& form);
  absl::Status ParseField(Draft& draft, const Form& form);
  absl::Status ParseTail(Draft& draft, Tail tail);
  absl::Status ParseTypes(Types* types);
  absl::Status ApplyTypes(Draft& draft, Tail tail, const Types& types);
  absl::Status ParseOperandList(char open, char close, Draft& draft);
  absl::Status ParseCompare(Draft& draft);
  absl::Status ParseConstant(Draft& draft);
  absl::Status ParseSlice(Draft& draft);
  absl::Status ParseConvolution(Draft& draft);
  absl::Status ParseWindow(Draft& draft);
  absl::Status ParseReduce(Draft& draft);
  absl::Status ParseReducer(Draft& draft);
  absl::Status BuildReducer(Draft& draft, std::string_view name);
  absl::Status ParseWhile(Draft& draft);
  absl::Status ParseCustomCall(Draft& draft);
  absl::Status ParseComposite(Draft& draft);
  absl::Status ParseCall(Draft& draft);
  absl::Status ParseGetTupleElement(Draft& draft);
  absl::Status ParseTopK(Draft& draft);
  absl::Status ParseScan(Draft& draft);

  // text/sharding.cc
  absl::Status ParseShardingAttribute(size_t begin, SourcePosition where, const Attribute** attribute);
  absl::Status ParseShardingField(std::string_view name, std::string_view prefix, std::string_view suffix,
                                  Draft& draft);
  absl::Status ParseShardingList(std::string_view keyword, Draft& draft);
  absl::Status ParseMesh(Draft& draft);
  absl::Status ParseShardingConstraint(Draft& draft);
  absl::Status ParseDataFlowEdge(Draft& draft);
  absl::Status ParsePropagationBarrier(Draft& draft);
  absl::Status ParseShardingGroup(Draft& draft);
  absl::Status ParseShardingCollective(Draft& draft);
  absl::Status ParseShardingRegion(Draft& draft);
  absl::Status ParseManualComputation(Draft& draft);
  absl::Status ParseNamedComputation(Draft& draft);

  // text/checks.cc
  absl::Status ParseCheck(Draft& draft);
  absl::Status ParseCheckField(Draft& draft);
  absl::Status ParseCheckTypes(Draft& draft);
  void ReplaceMhlo(std::string_view* name);
  absl::Status OtherDialect(const Draft& draft) const;
  absl::Status ParseSizeOperation(Draft& draft);
  absl::Status ParseSizeConstant(Draft& draft);
  const Type* SizeResult(const Draft& draft, const Types& types);
  const Type* OtherType(std::string_view text);

  // text/types.cc
  bool AtType() const;
  absl::Status ParseType(const Type** type);
  absl::Status ParseTypeUnnested(const Type** type);
  absl::Status ParseTensor(const Type** type);
  absl::Status ParseTensorBody(const Type** type);
  absl::Status ParseDialectType(const Type** type);
  absl::Status ParseComplexType(const Type** type);
  absl::Status ParseFunctionType(const Type** type);
  absl::Status CheckWeight(Type* type) const;
  absl::Status ParseQuantizedType(SourcePosition where, const Type** type);
  absl::Status ParseUnsupportedType(size_t begin, const Type** type);
  absl::Status ParseTypeList(char open, char close, std::vector<const Type*>* types);

  // text/attributes.cc
  absl::Status ParseAttribute(const Attribute** attribute);
  absl::Status ParseAttributeUnnested(const Attribute** attribute);
  absl::Status Weighed(Attribute* made, const Attribute** attribute);
  absl::Status ParseWordAttribute(const Attribute** attribute);
  absl::Status ParseNumber(const Attribute** attribute);
  absl::Status ParseTypedNumber(bool negative, const Token& number, SourcePosition where, const Type* type,
                                Attribute* attribute);
  absl::Status ParseHash(const Attribute** attribute);
  absl::Status ParseStruct(std::string_view name, const Attribute** attribute);
  absl::Status ParseConv(const Attribute** attribute);
  absl::Status ParseConvDims(std::string_view first, std::string_view second, std::string_view prefix,
                             std::string_view first_name, std::string_view second_name,
                             std::vector<NamedAttribute>* fields);
  absl::Status ParseConvFields(std::vector<NamedAttribute>* fields);
  absl::Status ParseBounds(const Attribute** attribute);
  absl::Status ParseDictionary(std::vector<NamedAttribute>* fields);
  absl::Status ParseOptionalDictionary(Draft& draft);
  absl::Status ParseDenseArray(const Attribute** attribute);
  absl::Status ParseLocationAttribute(const Attribute** attribute);
  absl::Status ParseLocationBody(Location* location);
  absl::Status ParseFileLocation(Location* location);
  const Attribute* Integer(int64_t value);
  const Attribute* Integers(const std::vector<int64_t>& values);
  const Attribute* Word(std::string_view text);
  const Attribute* Text(Attribute::Kind kind, std::string_view text);
  const Attribute* Bool(bool value);

  // text/dense.cc
  absl::Status ParseDense(const Attribute** attribute);
  absl::Status ParseDenseResource(const Attribute** attribute);

  // Counts a level of nesting for as long as it lives; status() says whether the limit is passed.
  class Nesting {
   public:
    explicit Nesting(TextParser& parser) : parser_(parser) { ++parser_.nesting_; }
    ~Nesting() { --parser_.nesting_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    absl::Status status() const;

   private:
    TextParser& parser_;
  };
  struct Later {
    Attribute* attribute;
    SourcePosition position;
    Location* location = nullptr;  // that of an alias, if it is one
  };

  Lexer lexer_;
  std::unique_ptr<Tree> tree_;
  Arena& arena_;
  int nesting_ = 0;
  int32_t depth_ = 0;
  using Names = HashMap<absl::string_view, std::span<Value>>;
  Names names_;
  // Operation::name_id by name.
  HashMap<absl::string_view, int32_t> name_ids_;
  std::vector<absl::string_view> defined_;         // in the regions that are open, outermost first
  HashMap<absl::string_view, const Type*> types_;  // by text
  HashMap<absl::string_view, const Type*> type_aliases_;
  HashMap<absl::string_view, const Attribute*> aliases_;
  HashMap<absl::string_view, std::string_view> resources_;  // by key: bytes
  std::vector<Later> aliases_later_, resources_later_;
  Operation* module_ = nullptr;
};

inline absl::string_view AbslView(std::string_view s) { return absl::string_view(s.data(), s.size()); }

// The elements of dense<RAW> : type into attribute.data; `where` is RAW's offset in the text of the lexer.
absl::Status ReadDenseElements(std::string_view raw, size_t where, const Lexer& lexer, Arena& arena,
                               Attribute* attribute);

}  // namespace assay::mlir

#endif  // ASSAY_HLO_MLIR_TEXT_PARSER_H_
