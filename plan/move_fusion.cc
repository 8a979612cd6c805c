#include "plan/move_fusion.h"

#include <algorithm>

#include "evaluator/static_shape.h"

namespace assay {
namespace {

constexpr size_t kMaxParts = 12;
// An array that a member reads has no more bytes, since it lives until the concatenate.
constexpr int64_t kMaxPartBytes = 1 << 16;

void SortUnique(std::vector<int32_t>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

// An operand of the concatenate that it can read through. Slices that are much smaller than what they read
// are none: they would keep it alive.
bool IsReadThrough(const Computation& computation, const Instruction& operand) {
  if (operand.operands.size() != 1 || !IsStaticArray(*operand.shape) || operand.shape->num_elements() == 0)
    return false;
  const Shape& from = *computation.instructions[operand.operands[0]].shape;
  if (!IsStaticArray(from) || from.TotalBytes() > kMaxPartBytes) return false;
  const bool is_part = from.num_elements() > operand.shape->num_elements();
  return KeepsPositions(computation, operand) || (is_part && IsRecomputed(computation, operand));
}

}  // namespace

std::optional<Fusion> FusionOfConcatenate(const Computation& computation, int32_t concatenate,
                                          const std::vector<bool>& may_join) {
  const Instruction& root = computation.instructions[concatenate];
  const Shape& shape = *root.shape;
  if (root.operands.size() < 2 || root.operands.size() > kMaxParts || !IsStaticArray(shape) ||
      shape.num_elements() == 0 || shape.num_elements() > kMaxConcatenated || !may_join[concatenate]) {
    return std::nullopt;
  }
  Fusion fusion;
  for (int32_t operand : root.operands) {
    const Instruction& instruction = computation.instructions[operand];
    if (!IsStaticArray(*instruction.shape) || instruction.shape->num_elements() == 0) return std::nullopt;
    const bool joins = may_join[operand] && IsReadThrough(computation, instruction);
    if (joins) fusion.members.push_back(operand);
    fusion.operands.push_back(joins ? instruction.operands[0] : operand);
  }
  if (fusion.members.empty()) return std::nullopt;
  SortUnique(fusion.members);
  SortUnique(fusion.operands);
  fusion.members.push_back(concatenate);
  return fusion;
}

}  // namespace assay
