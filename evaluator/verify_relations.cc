#include "evaluator/verify_relations.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "evaluator/registry.h"
#include "fmt/format.h"

namespace assay {
namespace {

IntLists GroupsOf(const Instruction& instruction) {
  if (const AttrValue* value = instruction.attributes.Find(Attr::kReplicaGroups))
    return std::get<std::shared_ptr<const ReplicaGroups>>(*value)->groups;
  return instruction.attributes.Lists(Attr::kSourceTargetPairs);
}

absl::Status CheckTransfer(const Instruction& instruction, int64_t channel,
                           std::map<std::tuple<Opcode, bool, int64_t>, const Instruction*>& transfers) {
  const bool host = instruction.attributes.Bool(Attr::kIsHostTransfer);
  const auto [it, added] = transfers.emplace(std::tuple(instruction.opcode, host, channel), &instruction);
  if (added) return absl::OkStatus();
  const bool is_send = instruction.opcode == Opcode::kSend;
  return InvalidProgram(
      instruction.position,
      fmt::format("{}-C4: channel {} has two {} instructions, '{}' and '{}'", is_send ? "Send" : "Recv",
                  channel, Name(instruction.opcode), it->second->name, instruction.name));
}

absl::Status CheckCollective(const Instruction& instruction, int64_t channel,
                             std::map<int64_t, const Instruction*>& collectives) {
  const auto [it, added] = collectives.emplace(channel, &instruction);
  if (added || (it->second->opcode == instruction.opcode && GroupsOf(*it->second) == GroupsOf(instruction)))
    return absl::OkStatus();
  return InvalidProgram(
      instruction.position,
      fmt::format("SYNC-2: channel {} is shared by {} '{}' and {} '{}', which differ in opcode or groups",
                  channel, Name(it->second->opcode), it->second->name, Name(instruction.opcode),
                  instruction.name));
}

}  // namespace

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
  std::map<std::tuple<Opcode, bool, int64_t>, const Instruction*> transfers;
  std::map<int64_t, const Instruction*> collectives;
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions) {
      const Channel use = DefinitionOf(instruction.opcode).channel;
      if (use == Channel::kNone || !instruction.attributes.Has(Attr::kChannelId)) continue;
      const int64_t channel = instruction.attributes.Int(Attr::kChannelId);
      ASSAY_RETURN_IF_ERROR(use == Channel::kTransfer ? CheckTransfer(instruction, channel, transfers)
                                                      : CheckCollective(instruction, channel, collectives));
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
        fmt::format("Copy-C2: copy-start '{}' has {} users, {} of them copy-done; wanted one, a copy-done",
                    instructions[i].name, users[i], dones[i]));
  }
  return absl::OkStatus();
}

}  // namespace assay
