#include "hlo/annotation.h"

namespace assay {

bool IsShardingAnnotation(const Instruction& instruction) {
  if (instruction.opcode != Opcode::kCustomCall || instruction.operands.size() != 1) return false;
  const std::string_view target = instruction.attributes.Text(Attr::kCustomCallTarget);
  return target == "Sharding" || target == "xla.sdy.FuncResultSharding" ||
         target == "xla.sdy.PropagationBarrier";
}

bool OnlyObserves(const Instruction& instruction) {
  if (instruction.opcode != Opcode::kCustomCall) return false;
  const std::string_view target = instruction.attributes.Text(Attr::kCustomCallTarget);
  return target.starts_with("check.") || target.starts_with("interpreter.");
}

int32_t WithoutAnnotations(const Computation& computation, int32_t index) {
  while (IsShardingAnnotation(computation.instructions[static_cast<size_t>(index)]))
    index = computation.instructions[static_cast<size_t>(index)].operands[0];
  return index;
}

}  // namespace assay
