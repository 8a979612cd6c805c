// What an instruction calls. The rest of the IR is plain data and needs no code.
#include "hlo/module.h"

#include <algorithm>
#include <span>
#include <variant>

namespace assay {

std::vector<ComputationId> CalledComputations(const Instruction& instruction) {
  // The order in which docs/spec/hlo-text.md section 8 prints them.
  static constexpr Attr kInOrder[] = {Attr::kCondition,
                                      Attr::kBody,
                                      Attr::kSelect,
                                      Attr::kScatter,
                                      Attr::kTrueComputation,
                                      Attr::kFalseComputation,
                                      Attr::kBranchComputations,
                                      Attr::kToApply,
                                      Attr::kCalledComputations,
                                      Attr::kCalls};
  std::vector<ComputationId> called;
  const auto is_call = [](const AttributeMap::Entry& entry) {
    return std::holds_alternative<ComputationId>(entry.value) ||
           std::holds_alternative<std::vector<ComputationId>>(entry.value);
  };
  const std::span<const AttributeMap::Entry> entries = instruction.attributes.entries();
  if (std::none_of(entries.begin(), entries.end(), is_call)) return called;
  for (Attr attr : kInOrder) {
    const auto ids = instruction.attributes.Computations(attr);
    called.insert(called.end(), ids.begin(), ids.end());
  }
  return called;
}

const std::string* FrontendAttribute(const Instruction& instruction, std::string_view key) {
  if (instruction.extras == nullptr) return nullptr;
  for (const auto& [name, value] : instruction.extras->frontend_attributes) {
    if (name == key) return &value.text;
  }
  return nullptr;
}

}  // namespace assay
