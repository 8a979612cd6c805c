// Instructions, operands and attributes of HLO text (docs/spec/hlo-text.md sections 3, 6 and 7).
#include <utility>

#include "fmt/format.h"
#include "hlo/opcode_names.h"
#include "hlo/text/attribute_values.h"
#include "hlo/text/literal_value.h"
#include "hlo/text/module_parser.h"
#include "hlo/text/sharding_text.h"

namespace assay {
namespace {

// The reason why a text can't be a name; empty if it can.
std::string_view WhyNoName(std::string_view name) {
  if (IsPrimitiveTypeName(name)) return "is the name of a type";
  if (name.starts_with("__") && !name.starts_with("__xla_")) return "starts with '__'";
  return {};
}

std::shared_ptr<const Shape> WithoutDynamicFlags(const std::shared_ptr<const Shape>& shape) {
  if (!shape->HasDynamic() || shape->HasUnbounded()) return shape;
  auto fixed = std::make_shared<Shape>(*shape);
  for (int64_t d = 0; d < fixed->rank(); ++d) fixed->set_dynamic(d, false);
  return fixed;
}

}  // namespace

int32_t ModuleParser::FindInstruction(const Scope& scope, std::string_view name) {
  const NameTable::Binding& binding = instruction_names_.binding(instruction_names_.Intern(name));
  return binding.scope == scope.serial ? binding.index : -1;
}

// "add.anon", "add.anon.1", ...: the first that the computation does not know.
std::string_view ModuleParser::AnonymousName(Scope& scope, Opcode opcode) {
  int32_t& next = scope.anonymous[static_cast<int>(opcode)];
  while (true) {
    const std::string_view name = instruction_names_.Keep(
        next == 0 ? fmt::format("{}.anon", Name(opcode)) : fmt::format("{}.anon.{}", Name(opcode), next));
    ++next;
    if (FindInstruction(scope, name) < 0) return name;
  }
}

absl::Status ModuleParser::AddInstruction(Scope& scope, std::string_view name, Instruction&& instruction,
                                          int32_t* index) {
  *index = static_cast<int32_t>(scope.computation.instructions.size());
  const int32_t id = instruction_names_.Intern(name);
  NameTable::Binding& binding = instruction_names_.binding(id);
  if (binding.scope == scope.serial) {
    const SourcePosition first = scope.computation.instructions[binding.index].position;
    return InvalidProgram(instruction.position, fmt::format("instruction '{}' is already defined at line {}",
                                                            name.substr(0, 200), first.line));
  }
  if (scope.nested) scope.shadowed.emplace_back(id, binding);
  binding = {scope.serial, *index};
  if (instruction.opcode == Opcode::kParameter) {
    scope.parameters.emplace_back(instruction.parameter_number, *index);
  }
  if (*index == 0) {
    // Most computations are small: two thirds of what growing one by one would allocate and move.
    scope.computation.instructions.reserve(4);
    scope.names.reserve(8);
  }
  scope.computation.instructions.push_back(std::move(instruction));
  scope.names.push_back(id);
  return absl::OkStatus();
}

// ['ROOT'] name '=' rhs
absl::Status ModuleParser::ParseInstruction(Scope& scope, bool* is_root) {
  *is_root = in_.EatKeyword("ROOT");
  const SourcePosition position = in_.position();
  std::string_view name;
  ASSAY_RETURN_IF_ERROR(in_.ReadName(&name, "an instruction's name"));
  if (const std::string_view why = WhyNoName(name); !why.empty()) {
    return InvalidProgram(position, fmt::format("instruction name '{}' {}", name.substr(0, 200), why));
  }
  ASSAY_RETURN_IF_ERROR(in_.Expect(TokenKind::kEqual));
  return ParseRhs(scope, name, position);
}

// [shape] opcode '(' operands ')' { ',' attribute }
absl::Status ModuleParser::ParseRhs(Scope& scope, std::string_view name, SourcePosition position) {
  Draft draft;
  draft.instruction.position = position;
  if (in_.AtShape()) ASSAY_RETURN_IF_ERROR(in_.ReadShape(&draft.instruction.shape));
  const SourcePosition opcode_position = in_.position();
  ASSAY_RETURN_IF_ERROR(ParseOpcode(&draft.opcode));
  draft.instruction.opcode = draft.opcode.opcode;
  ASSAY_RETURN_IF_ERROR(ParseBody(scope, draft));
  ASSAY_RETURN_IF_ERROR(ParseAttributes(scope, draft));
  if (draft.extras != nullptr) {
    if (!draft.extras->sharding.empty() && draft.instruction.shape != nullptr) {
      SpreadShardingOverTuple(*draft.instruction.shape, &draft.extras->sharding);
    }
    draft.instruction.extras = std::move(draft.extras);
  }
  if (draft.opcode.wrapped && draft.opcode.opcode == Opcode::kAsyncStart) {
    ASSAY_RETURN_IF_ERROR(WithPosition(WrapAsyncStart(scope, draft), opcode_position));
  }
  const auto index = static_cast<int32_t>(scope.computation.instructions.size());
  ASSAY_RETURN_IF_ERROR(WithPosition(NoteAsyncOp(scope, draft, index), opcode_position));
  int32_t added;
  return AddInstruction(scope, name, std::move(draft.instruction), &added);
}

absl::Status ModuleParser::ParseOpcode(OpcodeName* opcode) {
  if (!in_.At(TokenKind::kIdent)) return in_.Unexpected("an opcode");
  if (const auto known = OpcodeFromName(in_.token().text)) {
    opcode->opcode = *known;
  } else if (const auto async = AsyncOpcode(in_.token().text)) {
    *opcode = *async;
  } else {
    return InvalidProgram(in_.position(), UnknownOpcode(in_.token().text));
  }
  in_.Next();
  return absl::OkStatus();
}

absl::Status ModuleParser::ParseBody(Scope& scope, Draft& draft) {
  switch (draft.instruction.opcode) {
    case Opcode::kConstant:
      return ParseConstant(draft);
    case Opcode::kParameter:
      return ParseParameter(draft);
    default:
      return ParseOperands(scope, draft);
  }
}

absl::Status ModuleParser::ParseConstant(Draft& draft) {
  Instruction& constant = draft.instruction;
  if (constant.shape == nullptr) {
    return InvalidProgram(in_.position(), "constant: the result shape is missing");
  }
  if (!in_.At(TokenKind::kLeftParen)) return in_.Unexpected("'('");
  in_.Next();
  // "<=n" in a constant's shape is a static n.
  if (constant.shape->IsArray()) constant.shape = WithoutDynamicFlags(constant.shape);
  ASSAY_ASSIGN_OR_RETURN(constant.literal, ReadLiteral(in_, *constant.shape));
  return in_.Expect(TokenKind::kRightParen);
}

absl::Status ModuleParser::ParseParameter(Draft& draft) {
  if (draft.instruction.shape == nullptr) {
    return InvalidProgram(in_.position(), "parameter: the result shape is missing");
  }
  ASSAY_RETURN_IF_ERROR(in_.Expect(TokenKind::kLeftParen));
  ASSAY_RETURN_IF_ERROR(in_.ReadNonNegative(&draft.instruction.parameter_number, "parameter number"));
  return in_.Expect(TokenKind::kRightParen);
}

// '(' [operand {',' operand} [',']] ')'
absl::Status ModuleParser::ParseOperands(Scope& scope, Draft& draft) {
  ASSAY_RETURN_IF_ERROR(in_.Expect(TokenKind::kLeftParen));
  while (!in_.At(TokenKind::kRightParen)) {
    int32_t index = 0;
    ASSAY_RETURN_IF_ERROR(ParseOperand(scope, &index));
    draft.instruction.operands.push_back(index);
    if (!in_.Eat(TokenKind::kComma) && !in_.At(TokenKind::kRightParen)) return in_.Unexpected("',' or ')'");
  }
  in_.Next();
  return absl::OkStatus();
}

// [shape] name { '#' INT }  or  [shape] opcode '(' operands ')'
absl::Status ModuleParser::ParseOperand(Scope& scope, int32_t* index) {
  const SourcePosition shape_position = in_.position();
  std::shared_ptr<const Shape> shape;
  if (in_.AtShape()) ASSAY_RETURN_IF_ERROR(in_.ReadShape(&shape));
  const SourcePosition position = in_.position();
  if (scope.unknown_operands_are_parameters && shape != nullptr &&
      (in_.At(TokenKind::kComma) || in_.At(TokenKind::kRightParen))) {
    const std::string_view unnamed =
        instruction_names_.Keep(fmt::format("_{}", scope.num_unnamed_parameters++));
    return AddUnknownOperand(scope, unnamed, position, std::move(shape), index);
  }
  if (in_.At(TokenKind::kIdent) && in_.Ahead() == TokenKind::kLeftParen) {
    return ParseNestedInstruction(scope, std::move(shape), index);
  }
  std::string_view name;
  ASSAY_RETURN_IF_ERROR(in_.ReadName(&name, "an operand"));
  *index = FindInstruction(scope, name);
  if (*index < 0) {
    if (scope.unknown_operands_are_parameters) {
      return AddUnknownOperand(scope, name, position, std::move(shape), index);
    }
    return InvalidProgram(
        position, fmt::format("operand '{}' is not defined above in this computation", name.substr(0, 200)));
  }
  if (in_.At(TokenKind::kHash)) ASSAY_RETURN_IF_ERROR(ParseElementSuffixes(scope, index));
  const auto& defined = scope.computation.instructions[*index].shape;
  if (shape == nullptr || defined == nullptr || shape == defined || Shape::Compatible(*shape, *defined)) {
    return absl::OkStatus();
  }
  return InvalidProgram(shape_position,
                        fmt::format("operand '{}' is written with shape {}, but has shape {}",
                                    name.substr(0, 200), shape->ToString(), defined->ToString()));
}

// Decision: operand-element-suffix. "t#0#1" stands for get-tuple-element instructions in front of the user.
absl::Status ModuleParser::ParseElementSuffixes(Scope& scope, int32_t* index) {
  while (in_.Eat(TokenKind::kHash)) {
    Instruction element;
    element.opcode = Opcode::kGetTupleElement;
    element.position = in_.position();
    int64_t i = 0;
    ASSAY_RETURN_IF_ERROR(in_.ReadNonNegative(&i, "tuple index"));
    const auto& tuple = scope.computation.instructions[*index].shape;
    if (tuple != nullptr) {
      if (!tuple->IsTuple() || i >= static_cast<int64_t>(tuple->elements().size())) {
        return InvalidProgram(element.position, fmt::format("operand element #{} of shape {} does not exist",
                                                            i, tuple->ToString()));
      }
      element.shape = std::make_shared<const Shape>(tuple->element(i));
    }
    element.operands.push_back(*index);
    element.attributes.Set(Attr::kIndex, i);
    const std::string_view name = AnonymousName(scope, Opcode::kGetTupleElement);
    ASSAY_RETURN_IF_ERROR(AddInstruction(scope, name, std::move(element), index));
  }
  return absl::OkStatus();
}

absl::Status ModuleParser::ParseNestedInstruction(Scope& scope, std::shared_ptr<const Shape> shape,
                                                  int32_t* index) {
  const TokenReader::Nesting nesting(in_);
  ASSAY_RETURN_IF_ERROR(nesting.status());
  Draft draft;
  draft.instruction.position = in_.position();
  draft.instruction.shape = std::move(shape);
  ASSAY_RETURN_IF_ERROR(ParseOpcode(&draft.opcode));
  if (draft.opcode.wrapped) {
    return InvalidProgram(draft.instruction.position, "an async operation can't be written as an operand");
  }
  draft.instruction.opcode = draft.opcode.opcode;
  ASSAY_RETURN_IF_ERROR(ParseBody(scope, draft));
  const std::string_view name = AnonymousName(scope, draft.instruction.opcode);
  return AddInstruction(scope, name, std::move(draft.instruction), index);
}

// Single instructions only: an operand that nothing defines is the next parameter.
absl::Status ModuleParser::AddUnknownOperand(Scope& scope, std::string_view name, SourcePosition position,
                                             std::shared_ptr<const Shape> shape, int32_t* index) {
  if (shape == nullptr) {
    return InvalidProgram(
        position,
        fmt::format("operand '{}' of a single instruction needs a shape before it", name.substr(0, 200)));
  }
  Instruction parameter;
  parameter.opcode = Opcode::kParameter;
  parameter.position = position;
  parameter.shape = std::move(shape);
  parameter.parameter_number = static_cast<int64_t>(scope.parameters.size());
  return AddInstruction(scope, name, std::move(parameter), index);
}

absl::Status ModuleParser::ParseAttributes(Scope& scope, Draft& draft) {
  while (in_.Eat(TokenKind::kComma)) ASSAY_RETURN_IF_ERROR(ParseAttribute(scope, draft));
  return absl::OkStatus();
}

absl::Status ModuleParser::ParseAttribute(Scope& scope, Draft& draft) {
  if (!in_.At(TokenKind::kAttrName)) return in_.Unexpected("an attribute, its name followed at once by '='");
  const SourcePosition position = in_.position();
  const std::string_view name = in_.token().text;
  const auto twice = [&] {
    return InvalidProgram(position, fmt::format("attribute '{}' is written twice", name));
  };
  AttributeMap& attributes = draft.instruction.attributes;
  if (const std::optional<Attr> attr = AttrFromName(name)) {
    if (attributes.Has(*attr)) return twice();
    in_.Next();
    if (FormOf(*attr) == AttrForm::kComputation) {
      ComputationId id;
      ASSAY_RETURN_IF_ERROR(ParseComputationRef(&id));
      attributes.Set(*attr, id);
    } else if (FormOf(*attr) == AttrForm::kComputations) {
      std::vector<ComputationId> ids;
      ASSAY_RETURN_IF_ERROR(in_.ReadList(TokenKind::kLeftBrace, TokenKind::kRightBrace,
                                         [&] { return ParseComputationRef(&ids.emplace_back()); }));
      attributes.Set(*attr, std::move(ids));
    } else if (*attr == Attr::kDomain) {
      RawText domain;
      ASSAY_RETURN_IF_ERROR(ReadDomain(in_, &domain.text));
      attributes.Set(*attr, std::move(domain));
    } else {
      ASSAY_ASSIGN_OR_RETURN(AttrValue value, ReadAttributeValue(in_, *attr));
      attributes.Set(*attr, std::move(value));
    }
    return absl::OkStatus();
  }
  const std::optional<CommonAttr> common = CommonAttrFromName(name);
  if (!common) return InvalidProgram(position, fmt::format("unknown attribute '{}'", name.substr(0, 60)));
  const uint32_t bit = 1u << static_cast<int>(*common);
  if ((draft.common_seen & bit) != 0) return twice();
  draft.common_seen |= bit;
  in_.Next();
  if (*common == CommonAttr::kControlPredecessors) return ParseControlPredecessors(scope, draft);
  if (draft.extras == nullptr) draft.extras = extras_.New();
  return ReadCommonAttribute(in_, *common, draft.extras.get());
}

absl::Status ModuleParser::ParseControlPredecessors(Scope& scope, Draft& draft) {
  ASSAY_RETURN_IF_ERROR(in_.Expect(TokenKind::kLeftBrace));
  do {
    const SourcePosition position = in_.position();
    std::string_view name;
    ASSAY_RETURN_IF_ERROR(in_.ReadName(&name, "an instruction's name"));
    const int32_t index = FindInstruction(scope, name);
    if (index < 0) {
      return InvalidProgram(position,
                            fmt::format("control predecessor '{}' is not defined above in this computation",
                                        name.substr(0, 200)));
    }
    draft.instruction.control_predecessors.push_back(index);
  } while (in_.Eat(TokenKind::kComma));
  return in_.Expect(TokenKind::kRightBrace);
}

}  // namespace assay
