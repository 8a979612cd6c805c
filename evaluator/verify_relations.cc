#include "evaluator/verify_relations.h"

#include <algorithm>
#include <vector>

#include "base/counted.h"
#include "evaluator/registry.h"
#include "fmt/format.h"
#include "hlo/text/sharding_text.h"

namespace assay {
namespace {

// The arrays of a value of arrays alone; false where something else is among them.
bool ArraysOf(const Shape& shape, std::vector<const Shape*>* arrays) {
  if (shape.IsArray()) arrays->push_back(&shape);
  return shape.IsArray() ||
         (shape.IsTuple() && std::ranges::all_of(shape.elements(), [&](const Shape& element) {
            return ArraysOf(element, arrays);
          }));
}

absl::Status CheckShardingOf(const Instruction& instruction) {
  const std::string& text = instruction.extras->sharding;
  std::vector<const Shape*> arrays;
  const OpDef& op = DefinitionOf(instruction.opcode);
  if (op.gives_async_state || op.takes_async_state || !ArraysOf(*instruction.shape, &arrays) ||
      arrays.empty())
    return absl::OkStatus();
  const std::vector<std::string> shardings = LeafShardings(text);
  // One that is no list is, of a tuple, that of each array; "{}" is a list of none.
  const bool is_one = shardings.size() == 1 && !text.starts_with("{{");
  if (!is_one && shardings.size() != arrays.size()) {
    return InvalidProgram(
        {}, fmt::format("{} for {}", Counted(shardings.size(), "sharding"), instruction.shape->ToString()));
  }
  for (size_t i = 0; i < arrays.size(); ++i)
    ASSAY_RETURN_IF_ERROR(CheckTiles(shardings[is_one ? 0 : i], arrays[i]->rank()));
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckShardings(const Module& module) {
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions) {
      if (instruction.extras == nullptr || instruction.extras->sharding.empty()) continue;
      const absl::Status status = CheckShardingOf(instruction);
      if (!status.ok())
        return WithPosition(WithSuffix(status, fmt::format(" (in '%{}')", instruction.name)),
                            instruction.position);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckAsyncConsumers(const Computation& computation) {
  std::vector<int32_t> consumer(computation.instructions.size(), -1);
  for (size_t i = 0; i < computation.instructions.size(); ++i) {
    const Instruction& user = computation.instructions[i];
    if (!DefinitionOf(user.opcode).takes_async_state || user.operands.empty()) continue;
    const int32_t state = user.operands[0];
    if (!DefinitionOf(computation.instructions[state].opcode).gives_async_state) continue;
    if (consumer[state] >= 0) {
      return InvalidProgram(user.position,
                            fmt::format("Async-C7: '{}' is consumed by both '{}' and '{}'",
                                        computation.instructions[state].name,
                                        computation.instructions[consumer[state]].name, user.name));
    }
    consumer[state] = static_cast<int32_t>(i);
  }
  return absl::OkStatus();
}

absl::Status CheckChannels(const Module& module) {
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions) {
      if (DefinitionOf(instruction.opcode).channel != Channel::kCollective) continue;
      const int64_t channel = instruction.attributes.Int(Attr::kChannelId, 0);
      if (channel >= 0) continue;
      return InvalidProgram(instruction.position,
                            fmt::format("GRP: channel_id is {}, wanted at least 1, or 0 for none", channel));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckCopyStarts(const Computation& computation) {
  const auto& instructions = computation.instructions;
  if (std::none_of(instructions.begin(), instructions.end(),
                   [](const Instruction& instruction) { return instruction.opcode == Opcode::kCopyStart; }))
    return absl::OkStatus();
  std::vector<int> users(instructions.size(), 0), dones(instructions.size(), 0);
  for (const Instruction& instruction : instructions) {
    for (int32_t operand : instruction.operands) {
      ++users[operand];
      dones[operand] += instruction.opcode == Opcode::kCopyDone;
    }
  }
  for (size_t i = 0; i < users.size(); ++i) {
    if (instructions[i].opcode != Opcode::kCopyStart || (users[i] == 1 && dones[i] == 1)) continue;
    return InvalidProgram(
        instructions[i].position,
        fmt::format("Copy-C2: copy-start '{}' has {}, {} of them copy-done; wanted one, a copy-done",
                    instructions[i].name, Counted(users[i], "user"), dones[i]));
  }
  return absl::OkStatus();
}

}  // namespace assay
