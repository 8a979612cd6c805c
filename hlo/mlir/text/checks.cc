// Pretty forms of the test dialects `check` and `interpreter`, which StableHLO's own tests are written in:
//
//   check.expect_eq %a, %b : T
//   check.expect_eq_const %a, dense<..> : T
//   check.expect_almost_eq %a, %b, tolerance = 0.1 : T
//   check.expect_close %a, %b, max_ulp_difference = 3, min_ulp_difference = 0 : T, T
//   check.expect_serialized_eq %a, probe_id = "p", iter = 0 : T
//   %r = interpreter.probe %a, probe_id = "p" : T
//
// And those of dialects that compute sizes, arith, tensor, shape and index, which refine/ evaluates:
//
//   arith.constant 0 : index        arith.addi %a, %b : index             arith.index_cast %a : index to i64
//   tensor.dim %x, %i : tensor<..>  tensor.extract %s[%i] : tensor<..>
//   shape.const_shape [1, 2] : tensor<2xindex>
//   shape.shape_of %x : tensor<..> -> tensor<..>                          shape.assuming %w -> (T) { .. }
#include "fmt/format.h"
#include "hlo/mlir/import/importer.h"
#include "hlo/mlir/text/parser.h"

namespace assay::mlir {

using Kind = Attribute::Kind;

absl::Status TextParser::ParseCheck(Draft& draft) {
  bool has_constant = false;
  do {
    if (At(Tok::kValue)) {
      ASSAY_RETURN_IF_ERROR(ParseOperand(&draft.operands.emplace_back()));
    } else if (AtWord("dense") || AtWord("dense_resource") || At(Tok::kHash)) {
      const Attribute* value = nullptr;
      ASSAY_RETURN_IF_ERROR(ParseAttribute(&value));
      Set(draft, "value", value);
      has_constant = true;
    } else {
      ASSAY_RETURN_IF_ERROR(ParseCheckField(draft));
    }
  } while (Eat(','));
  ASSAY_RETURN_IF_ERROR(ParseOptionalDictionary(draft));
  if (Eat(':')) return ParseCheckTypes(draft);
  return has_constant ? absl::OkStatus() : Unexpected("':' and the types");
}

// keyword '=' string or number. A type behind the number may be the operands', so it is left for the tail.
absl::Status TextParser::ParseCheckField(Draft& draft) {
  NamedAttribute field;
  ASSAY_RETURN_IF_ERROR(ReadWord(&field.name, "an operand or a field"));
  if (field.name == "iter") field.name = "iteration";
  ASSAY_RETURN_IF_ERROR(Expect('='));
  if (At(Tok::kString)) {
    std::string_view text;
    ASSAY_RETURN_IF_ERROR(ReadString(&text));
    field.value = Text(Kind::kString, text);
  } else {
    const bool negative = Eat('-');
    if (!At(Tok::kInt) && !At(Tok::kHex) && !At(Tok::kFloat)) return Unexpected("a number or a string");
    const Token number = lexer_.token();
    const SourcePosition where = lexer_.position();
    lexer_.Next();
    Attribute* const value = tree_->NewAttribute(Kind::kInteger);
    ASSAY_RETURN_IF_ERROR(ParseTypedNumber(negative, number, where, nullptr, value));
    field.value = value;
  }
  draft.attributes.push_back(field);
  return absl::OkStatus();
}

// [attributes] T {',' T}, before which a number's own type may stand: "f64 : T".
absl::Status TextParser::ParseCheckTypes(Draft& draft) {
  ASSAY_RETURN_IF_ERROR(ParseOptionalDictionary(draft));
  std::vector<const Type*> types;
  do {
    ASSAY_RETURN_IF_ERROR(ParseType(&types.emplace_back()));
    if (types.size() == 1 && Eat(':')) ASSAY_RETURN_IF_ERROR(ParseType(&types[0]));
  } while (Eat(','));
  if (draft.name.starts_with("interpreter.")) draft.results.push_back(types[0]);
  if (types.size() == 1) types.assign(draft.operands.size(), types[0]);
  return CheckOperandTypes(draft, types);
}

// mhlo.X is read as stablehlo.X where there is one: their forms are the same. What both have beside the
// dialect shape is read as its own.
void TextParser::ReplaceMhlo(std::string_view* name) {
  for (const std::string_view of_shapes : {"shape.compute_reshape_shape", "shape.cstr_reshapable"}) {
    const std::string_view last = of_shapes.substr(6);
    if (name->ends_with(last) && (name->substr(0, name->size() - last.size()) == "mhlo." ||
                                  name->substr(0, name->size() - last.size()) == "stablehlo."))
      *name = of_shapes;
  }
  if (name->substr(0, 5) != "mhlo.") return;
  const std::string stablehlo = fmt::format("stablehlo.{}", name->substr(5));
  if (FactsOf(stablehlo).import != nullptr || stablehlo == "stablehlo.return") *name = arena_.Copy(stablehlo);
}

absl::Status TextParser::OtherDialect(const Draft& draft) const {
  const std::string_view name = draft.name.substr(0, 200);
  const std::string_view dialect = name.substr(0, name.find('.'));
  return NotSupported(
      draft.operation->position,
      fmt::format(
          "operation '{}': the dialect '{}' is not part of StableHLO; convert the program to StableHLO "
          "where it is made{}",
          name, dialect, dialect == "mhlo" ? " (mlir-hlo-opt --hlo-legalize-to-stablehlo)" : ""));
}

// value, or '[' sizes ']'
absl::Status TextParser::ParseSizeConstant(Draft& draft) {
  ASSAY_RETURN_IF_ERROR(ParseOptionalDictionary(draft));
  if (draft.name == "shape.const_shape") {
    std::vector<int64_t> sizes;
    ASSAY_RETURN_IF_ERROR(ReadInts(&sizes));
    Set(draft, "shape", Integers(sizes));
    ASSAY_RETURN_IF_ERROR(Expect(':'));
    return ParseType(&draft.results.emplace_back());
  }
  const Attribute* value = nullptr;
  ASSAY_RETURN_IF_ERROR(ParseAttribute(&value));
  Set(draft, draft.name == "shape.const_witness" ? "passing" : "value", value);
  const Type* type = value->type;
  if (value->kind == Kind::kBool) type = types_["i1"];
  if (draft.name == "index.constant") type = types_["index"];
  if (type == nullptr || draft.name.starts_with("shape.")) type = OtherType("!shape.size");
  draft.results.push_back(type);
  return absl::OkStatus();
}

const Type* TextParser::OtherType(std::string_view text) {
  Type* const type = tree_->NewType(Type::Kind::kUnsupported);
  type->text = text;
  return type;
}

// The type of a result that the form does not write.
const Type* TextParser::SizeResult(const Draft& draft, const Types& types) {
  const std::string_view name = draft.name;
  const Type* const first = types.operands.empty() ? types_["index"] : types.operands[0];
  if (name == "arith.cmpi" || name == "index.cmp") {
    if (first->kind != Type::Kind::kTensor) return types_["i1"];
    Type* const tensor = tree_->NewType(Type::Kind::kTensor);
    tensor->sizes = first->sizes;
    tensor->element_type = types_["i1"];
    return tensor;
  }
  if (name == "shape.shape_eq" || name == "shape.is_broadcastable") return types_["i1"];
  if (name == "tensor.dim" || name == "tensor.rank") return types_["index"];
  if (name == "tensor.extract" && first->kind == Type::Kind::kTensor) return first->element_type;
  if (name.starts_with("shape.cstr_") || name == "shape.assuming_all") return OtherType("!shape.witness");
  if (name == "shape.compute_reshape_shape") return types.operands.back();
  if (name == "shape.from_extents") return OtherType("!shape.shape");
  return name == "arith.select" ? types.operands.back() : first;
}

absl::Status TextParser::ParseSizeOperation(Draft& draft) {
  const std::string_view name = draft.name;
  if (name == "arith.constant" || name == "index.constant" || name.starts_with("shape.const_"))
    return ParseSizeConstant(draft);
  ASSAY_RETURN_IF_ERROR(ParseOptionalDictionary(draft));
  while (At(Tok::kValue) || At(Tok::kString) || At(Tok::kWord)) {
    if (At(Tok::kValue)) {
      ASSAY_RETURN_IF_ERROR(ParseOperand(&draft.operands.emplace_back()));
      if (At('[')) ASSAY_RETURN_IF_ERROR(ParseOperandList('[', ']', draft));
    } else {
      std::string_view text;
      const bool is_string = At(Tok::kString);
      ASSAY_RETURN_IF_ERROR(is_string ? ReadString(&text) : ReadWord(&text, "an operand or a word"));
      Set(draft, is_string ? "msg" : "predicate", is_string ? Text(Kind::kString, text) : Word(text));
    }
    if (!Eat(',')) break;
  }
  std::string_view skipped;
  if (EatWord("overflow")) ASSAY_RETURN_IF_ERROR(SkipBalanced(&skipped));
  if (name == "shape.assuming") {
    std::vector<const Type*> results;
    if (Eat(Tok::kArrow)) ASSAY_RETURN_IF_ERROR(ParseTypeList('(', ')', &results));
    draft.results.assign(results.begin(), results.end());
    return ParseRegion({}, /*isolated=*/false, draft);
  }
  ASSAY_RETURN_IF_ERROR(ParseOptionalDictionary(draft));
  Types types;
  if (Eat(':')) ASSAY_RETURN_IF_ERROR(ParseTypes(&types));
  if (EatWord("to")) {
    ASSAY_RETURN_IF_ERROR(ParseType(&draft.results.emplace_back()));
  } else if (types.has_arrow) {
    draft.results.assign(types.results.begin(), types.results.end());
  } else if (name != "shape.assuming_yield") {
    draft.results.push_back(SizeResult(draft, types));
  }
  if (types.operands.size() != draft.operands.size())
    return absl::OkStatus();  // some forms leave out the same types
  // What is written of these is the result's type.
  const bool is_other = name == "arith.select" || name == "tensor.from_elements" || name == "tensor.splat";
  return is_other ? absl::OkStatus() : CheckOperandTypes(draft, types.operands);
}

}  // namespace assay::mlir
