#include "run/reference.h"

#include <utility>
#include <vector>

#include "base/hash_map.h"
#include "evaluator/open_sizes.h"
#include "evaluator/registry.h"

namespace assay {

absl::StatusOr<Literal> RunReference(EvalContext& context, const Computation& computation, const Step& step,
                                     std::span<Literal> operands) {
  if (step.fusion == nullptr) return EvalSettled(context, *step.op, operands);
  const Fusion& fusion = *step.fusion;
  HashMap<int32_t, Literal> values;
  for (size_t k = 0; k < operands.size(); ++k) values[fusion.operands[k]] = operands[k];
  HashMap<int32_t, size_t> last_uses;
  for (size_t m = 0; m < fusion.members.size(); ++m) {
    for (int32_t operand : computation.instructions[fusion.members[m]].operands) last_uses[operand] = m;
  }
  for (size_t m = 0; m < fusion.members.size(); ++m) {
    const Instruction& instruction = computation.instructions[fusion.members[m]];
    std::vector<Literal> of_member;
    for (int32_t operand : instruction.operands) of_member.push_back(values[operand]);
    for (int32_t operand : instruction.operands) {
      if (last_uses[operand] == m) values.erase(operand);
    }
    EvalContext context_of_member(context, instruction);
    ASSAY_ASSIGN_OR_RETURN(Literal value, EvalSettled(context_of_member, DefinitionOf(instruction.opcode),
                                                      std::span<Literal>(of_member)));
    values[fusion.members[m]] = std::move(value);
  }
  return std::move(values[fusion.members.back()]);
}

}  // namespace assay
