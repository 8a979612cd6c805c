#include "plan/broadcast_fusion.h"

#include <algorithm>

#include "evaluator/registry.h"
#include "evaluator/static_shape.h"

namespace assay {
namespace {

bool IsLargeBroadcast(const Computation& computation, const Instruction& instruction) {
  if (instruction.opcode != Opcode::kBroadcast || !IsStaticArray(*instruction.shape) ||
      instruction.shape->num_bytes() < kLeastReadThrough) {
    return false;
  }
  const Shape& from = *computation.instructions[instruction.operands[0]].shape;
  return IsStaticArray(from) && from.num_elements() < instruction.shape->num_elements();
}

}  // namespace

std::optional<Fusion> FusionWithBroadcast(const Computation& computation, int32_t reader,
                                          const std::vector<bool>& may_join) {
  const Instruction& root = computation.instructions[reader];
  if (root.operands.empty() || !may_join[reader] || !may_join[root.operands[0]] ||
      DefinitionOf(root.opcode).strip != nullptr || !IsStaticArray(*root.shape)) {
    return std::nullopt;
  }
  const int32_t member = root.operands[0];
  const Instruction& broadcast = computation.instructions[member];
  if (!IsLargeBroadcast(computation, broadcast)) return std::nullopt;
  // What else the root reads has to be an array of its own.
  if (std::find(root.operands.begin() + 1, root.operands.end(), member) != root.operands.end())
    return std::nullopt;
  Fusion fusion{.members = {member, reader}, .operands = {broadcast.operands[0]}};
  fusion.operands.insert(fusion.operands.end(), root.operands.begin() + 1, root.operands.end());
  std::sort(fusion.operands.begin(), fusion.operands.end());
  fusion.operands.erase(std::unique(fusion.operands.begin(), fusion.operands.end()), fusion.operands.end());
  return fusion;
}

}  // namespace assay
