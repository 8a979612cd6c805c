#include "find/programs/counterparts.h"

#include <algorithm>
#include <utility>

#include "absl/hash/hash.h"
#include "evaluator/registry.h"

namespace assay {
namespace {

void ForEachInstruction(const Module& module,
                        absl::FunctionRef<void(InstructionRef, const Instruction&)> fn) {
  for (size_t c = 0; c < module.computations.size(); ++c) {
    const std::vector<Instruction>& instructions = module.computations[c].instructions;
    for (size_t i = 0; i < instructions.size(); ++i)
      fn({{static_cast<int32_t>(c)}, static_cast<int32_t>(i)}, instructions[i]);
  }
}

// Passes that move an instruction to another computation add this to its name.
std::string_view WithoutClone(std::string_view name) {
  constexpr std::string_view kClone = ".clone";
  const size_t at = name.find(kClone);
  return at == std::string_view::npos ? name : name.substr(0, at);
}

std::string_view OpNameOf(const Instruction& instruction) {
  if (instruction.extras == nullptr) return {};
  return std::string_view(instruction.extras->metadata.op_name);
}

bool Moves(const Instruction& instruction) { return DefinitionOf(instruction.opcode).moves.any(); }

bool SameShape(const Instruction& a, const Instruction& b) { return Shape::Compatible(*a.shape, *b.shape); }

}  // namespace

std::string_view Name(MatchedBy by) {
  switch (by) {
    case MatchedBy::kName:
    case MatchedBy::kNameAlone:
      return "name";
    case MatchedBy::kStructure:
      return "structure";
    case MatchedBy::kOpName:
      return "op_name";
    case MatchedBy::kOperands:
      return "operands";
    case MatchedBy::kOutput:
      return "output";
  }
  return "";
}

ModuleMatcher::Hashes ModuleMatcher::StructureOf(const Module& module) {
  Hashes hashes;
  for (const Computation& computation : module.computations) {
    std::vector<uint64_t>& of = hashes.emplace_back();
    for (const Instruction& instruction : computation.instructions) {
      std::vector<uint64_t> parts = {static_cast<uint64_t>(instruction.opcode),
                                     absl::HashOf(instruction.shape->ToString())};
      if (instruction.opcode == Opcode::kParameter)
        parts.push_back(static_cast<uint64_t>(instruction.parameter_number));
      if (instruction.opcode == Opcode::kGetTupleElement)
        parts.push_back(static_cast<uint64_t>(instruction.attributes.Int(Attr::kIndex)));
      for (const int32_t operand : instruction.operands) parts.push_back(of[static_cast<size_t>(operand)]);
      for (const ComputationId callee : CalledComputations(instruction)) {
        parts.push_back(
            hashes[static_cast<size_t>(callee.value)][static_cast<size_t>(module.computation(callee).root)]);
      }
      of.push_back(absl::HashOf(parts));
    }
  }
  return hashes;
}

ModuleMatcher::ModuleMatcher(const Module& first, const Module& second)
    : first_(first), second_(second), structure_of_second_(StructureOf(second)) {
  const Hashes structure = StructureOf(first);
  ForEachInstruction(first, [&](InstructionRef ref, const Instruction& instruction) {
    by_name_.emplace(WithoutClone(instruction.name), ref);
    if (const std::string_view op_name = OpNameOf(instruction); !op_name.empty())
      by_op_name_.emplace(op_name, ref);
    by_structure_[structure[static_cast<size_t>(ref.computation.value)][static_cast<size_t>(ref.instruction)]]
        .push_back(ref);
  });
  for (const std::vector<uint64_t>& computation : structure_of_second_) {
    for (const uint64_t hash : computation) ++structures_of_second_[hash];
  }
}

const InstructionRef* ModuleMatcher::ByName(const InstructionRef& second, bool same_opcode) const {
  const Instruction& instruction = InstructionOf(second_, second);
  const InstructionRef* found = nullptr;
  const auto [begin, end] = by_name_.equal_range(std::string(WithoutClone(instruction.name)));
  for (auto it = begin; it != end; ++it) {
    const Instruction& candidate = InstructionOf(first_, it->second);
    if (!SameShape(candidate, instruction)) continue;
    if (same_opcode && candidate.opcode != instruction.opcode) continue;
    const bool same_computation =
        first_.computation(it->second.computation).name == second_.computation(second.computation).name;
    if (found == nullptr || same_computation) found = &it->second;
    if (same_computation) break;
  }
  return found;
}

// Several instructions may come from one operation of the user's: the last one gives its result. Where a call
// was inlined, the names of its instructions have the call's before them.
const InstructionRef* ModuleMatcher::ByOpName(const Instruction& instruction) const {
  std::string_view op_name = OpNameOf(instruction);
  while (!op_name.empty()) {
    if (const InstructionRef* const found = ByOpName(instruction, op_name)) return found;
    const size_t scope = op_name.find('/');
    if (scope == std::string_view::npos) break;
    op_name.remove_prefix(scope + 1);
  }
  return nullptr;
}

const InstructionRef* ModuleMatcher::ByOpName(const Instruction& instruction,
                                              std::string_view op_name) const {
  const InstructionRef* found = nullptr;
  bool found_opcode = false;
  const auto [begin, end] = by_op_name_.equal_range(std::string(op_name));
  for (auto it = begin; it != end; ++it) {
    const Instruction& candidate = InstructionOf(first_, it->second);
    const bool same_opcode = candidate.opcode == instruction.opcode;
    if (!SameShape(candidate, instruction) || (found_opcode && !same_opcode)) continue;
    // What moves values stands for nothing that computes.
    if (!same_opcode && Moves(candidate) != Moves(instruction)) continue;
    found = &it->second;
    found_opcode = same_opcode;
  }
  return found;
}

std::optional<ModuleMatcher::Match> ModuleMatcher::FirstOf(const InstructionRef& second) const {
  const Instruction& instruction = InstructionOf(second_, second);
  const uint64_t hash = structure_of_second_[static_cast<size_t>(second.computation.value)]
                                            [static_cast<size_t>(second.instruction)];
  const auto alike = by_structure_.find(hash);
  const bool is_alone =
      alike != by_structure_.end() && alike->second.size() == 1 && structures_of_second_.at(hash) == 1;
  const InstructionRef* const by_name = ByName(second, /*same_opcode=*/true);
  // A name that is in both programs by chance (importers number by position) has another structure.
  if (is_alone) {
    const bool agree = by_name != nullptr && *by_name == alike->second[0];
    return Match{alike->second[0], agree ? MatchedBy::kName : MatchedBy::kStructure};
  }
  if (by_name != nullptr) return Match{*by_name, MatchedBy::kName};
  // Another opcode. Each layer of a model has instructions of one op_name: where the names agree as well, it
  // is this one.
  const InstructionRef* const by_name_alone = ByName(second, /*same_opcode=*/false);
  if (by_name_alone != nullptr && !OpNameOf(instruction).empty() &&
      OpNameOf(InstructionOf(first_, *by_name_alone)) == OpNameOf(instruction))
    return Match{*by_name_alone, MatchedBy::kName};
  if (const InstructionRef* const found = ByOpName(instruction)) return Match{*found, MatchedBy::kOpName};
  if (by_name_alone != nullptr) return Match{*by_name_alone, MatchedBy::kNameAlone};
  return std::nullopt;
}

}  // namespace assay
