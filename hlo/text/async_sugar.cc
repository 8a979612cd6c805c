// "negate-start", "negate-update" and "negate-done": async operations around a computation that the text
// leaves out (docs/spec/hlo-text.md section 6, end).
#include <utility>

#include "fmt/format.h"
#include "hlo/op_syntax.h"
#include "hlo/text/module_parser.h"

namespace assay {
namespace {

// The async opcode of whose sugar `text` has the suffix: "-start" of async-start.
std::optional<Opcode> AsyncOf(std::string_view text) {
  const size_t dash = text.rfind('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto opcode = OpcodeFromName(fmt::format("async{}", text.substr(dash)));
  return opcode && Has(*opcode, Syntax::kAsync) ? opcode : std::nullopt;
}

}  // namespace

std::optional<ModuleParser::OpcodeName> ModuleParser::AsyncOpcode(std::string_view text) {
  const auto async = AsyncOf(text);
  if (!async) return std::nullopt;
  const auto wrapped = OpcodeFromName(text.substr(0, text.rfind('-')));
  if (!wrapped || Has(*wrapped, Syntax::kOwnAsyncForm)) return std::nullopt;
  return OpcodeName{*async, wrapped};
}

// Makes the computation that a sugared start calls: parameters of the shapes in element 0 of the start's
// shape, and the wrapped operation with the shape in element 1 and the attributes written on the start.
absl::Status ModuleParser::WrapAsyncStart(const Scope&, Draft& draft) {
  Instruction& start = draft.instruction;
  if (start.shape == nullptr || !start.shape->IsTuple() || start.shape->elements().size() < 2 ||
      !start.shape->element(0).IsTuple()) {
    return InvalidProgram({}, fmt::format("{}-start: shape is {}, want ((operand shapes), result shape, ...)",
                                          Name(*draft.opcode.wrapped),
                                          start.shape == nullptr ? "left out" : start.shape->ToString()));
  }
  Scope scope = NewScope(/*nested=*/true);
  scope.computation.position = start.position;
  Instruction root;
  root.opcode = *draft.opcode.wrapped;
  root.position = start.position;
  root.shape = std::make_shared<const Shape>(start.shape->element(1));
  for (const Shape& shape : start.shape->element(0).elements()) {
    Instruction parameter;
    parameter.opcode = Opcode::kParameter;
    parameter.position = start.position;
    parameter.shape = std::make_shared<const Shape>(shape);
    parameter.parameter_number = static_cast<int64_t>(scope.parameters.size());
    int32_t index;
    const std::string_view name =
        instruction_names_.Keep(fmt::format("async_param.{}", parameter.parameter_number));
    ASSAY_RETURN_IF_ERROR(AddInstruction(scope, name, std::move(parameter), &index));
    root.operands.push_back(index);
  }
  // The start keeps what speaks of itself.
  AttributeMap kept;
  root.attributes = std::move(start.attributes);
  for (const Attr attr : {Attr::kAsyncExecutionThread, Attr::kOutputToOperandAliasing}) {
    if (attr == Attr::kOutputToOperandAliasing && Has(root.opcode, Syntax::kOwnAliasing)) continue;
    if (AttrValue* const value = root.attributes.FindMutable(attr)) {
      kept.Set(attr, std::move(*value));
      root.attributes.Erase(attr);
    }
  }
  scope.computation.execution_thread = std::string(kept.Text(Attr::kAsyncExecutionThread));
  if (scope.computation.execution_thread == "main") scope.computation.execution_thread.clear();
  if (start.extras != nullptr) {
    auto extras = std::make_shared<InstructionExtras>(*start.extras);
    extras->sharding.clear();
    extras->parameter_replication.clear();
    root.extras = std::move(extras);
  }
  ASSAY_RETURN_IF_ERROR(AddInstruction(scope, "async_root", std::move(root), &scope.computation.root));
  ASSAY_ASSIGN_OR_RETURN(const ComputationId id, FinishComputation(scope, "async_wrapped"));
  kept.Set(Attr::kCalls, id);
  start.attributes = std::move(kept);
  return absl::OkStatus();
}

// Remembers what an async op wraps, and checks that an update or done names the op of its start.
absl::Status ModuleParser::NoteAsyncOp(Scope& scope, const Draft& draft, int32_t index) {
  const Instruction& async = draft.instruction;
  if (!Has(async.opcode, Syntax::kAsync)) return absl::OkStatus();
  if (async.opcode == Opcode::kAsyncStart) {
    const auto* const value = async.attributes.Find(Attr::kCalls);
    const auto* const called = value == nullptr ? nullptr : std::get_if<ComputationId>(value);
    if (called != nullptr) scope.async_ops[index] = module_.computation(*called).root_instruction().opcode;
    return absl::OkStatus();
  }
  const auto start = async.operands.empty() ? scope.async_ops.end() : scope.async_ops.find(async.operands[0]);
  if (start == scope.async_ops.end()) {
    if (!draft.opcode.wrapped) return absl::OkStatus();
    return InvalidProgram(
        {}, fmt::format("{}-{}: the first operand is not an async operation", Name(*draft.opcode.wrapped),
                        async.opcode == Opcode::kAsyncDone ? "done" : "update"));
  }
  const Opcode wrapped = start->second;
  if (draft.opcode.wrapped && *draft.opcode.wrapped != wrapped) {
    return InvalidProgram({}, fmt::format("the async operation wraps {}, but its start wraps {}",
                                          Name(*draft.opcode.wrapped), Name(wrapped)));
  }
  if (async.opcode == Opcode::kAsyncUpdate) scope.async_ops[index] = wrapped;
  return absl::OkStatus();
}

}  // namespace assay
