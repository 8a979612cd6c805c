#include "evaluator/inlining.h"

#include <utility>

namespace assay {
namespace {

absl::StatusOr<std::vector<InlinedValue>> Walk(const Module& module, ComputationId id,
                                               std::span<const InlinedValue> arguments,
                                               const InliningRules& rules, int depth) {
  const Computation& computation = module.computation(id);
  ASSAY_ASSIGN_OR_RETURN(const std::vector<bool> live, rules.live(id));
  std::vector<InlinedValue> values(computation.instructions.size());
  for (size_t i = 0; i < values.size(); ++i) {
    if (!live[i]) continue;
    const Instruction& instruction = computation.instructions[i];
    const auto index = static_cast<int32_t>(i);
    if (instruction.opcode == Opcode::kParameter && !arguments.empty()) {
      values[i] = arguments[static_cast<size_t>(instruction.parameter_number)];
      continue;
    }
    ASSAY_ASSIGN_OR_RETURN(const std::optional<ComputationId> callee, rules.callee(id, index, depth));
    if (!callee) {
      ASSAY_ASSIGN_OR_RETURN(values[i], rules.emit(id, index, values));
      continue;
    }
    std::vector<InlinedValue> operands;
    for (int32_t operand : instruction.operands) operands.push_back(values[static_cast<size_t>(operand)]);
    ASSAY_ASSIGN_OR_RETURN(std::vector<InlinedValue> inner,
                           Walk(module, *callee, operands, rules, depth + 1));
    values[i] = std::move(inner[static_cast<size_t>(module.computation(*callee).root)]);
  }
  return values;
}

}  // namespace

InlinedValue TupleOf(const Instruction& tuple, std::span<const InlinedValue> values) {
  std::vector<InlinedValue> elements;
  for (int32_t operand : tuple.operands) elements.push_back(values[static_cast<size_t>(operand)]);
  return {.elements = std::make_shared<const std::vector<InlinedValue>>(std::move(elements))};
}

const InlinedValue& ElementOf(const Instruction& get_tuple_element, std::span<const InlinedValue> values) {
  const InlinedValue& tuple = values[static_cast<size_t>(get_tuple_element.operands[0])];
  return (*tuple.elements)[static_cast<size_t>(get_tuple_element.attributes.Int(Attr::kIndex))];
}

void MarkOperands(const Computation& computation, std::vector<bool>& live) {
  for (size_t i = live.size(); i-- > 0;) {
    if (!live[i]) continue;
    const Instruction& instruction = computation.instructions[i];
    for (int32_t operand : instruction.operands) live[static_cast<size_t>(operand)] = true;
    for (int32_t before : instruction.control_predecessors) live[static_cast<size_t>(before)] = true;
  }
}

absl::StatusOr<std::vector<InlinedValue>> InlineInto(const Module& module, ComputationId id,
                                                     std::span<const InlinedValue> arguments,
                                                     const InliningRules& rules) {
  return Walk(module, id, arguments, rules, /*depth=*/0);
}

}  // namespace assay
