// Pretty forms of the test dialects `check` and `interpreter`, which StableHLO's own tests are written in:
//
//   check.expect_eq %a, %b : T
//   check.expect_eq_const %a, dense<..> : T
//   check.expect_almost_eq %a, %b, tolerance = 0.1 : T
//   check.expect_close %a, %b, max_ulp_difference = 3, min_ulp_difference = 0 : T, T
//   check.expect_serialized_eq %a, probe_id = "p", iter = 0 : T
//   %r = interpreter.probe %a, probe_id = "p" : T
#include "fmt/format.h"
#include "hlo/mlir/text_parser.h"

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
  if (draft.name.substr(0, 12) == "interpreter.") draft.results.push_back(types[0]);
  if (types.size() == 1) types.assign(draft.operands.size(), types[0]);
  return CheckOperandTypes(draft, types);
}

}  // namespace assay::mlir
