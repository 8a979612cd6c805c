// What an instruction calls. The rest of the IR is plain data and needs no code.
#include "hlo/module.h"

namespace assay {

std::vector<ComputationId> CalledComputations(const Instruction& instruction) {
  // The order in which spec/hlo-text.md section 8 prints them.
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
  if (instruction.attributes.empty()) return called;
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
