#include "find/origin/backward.h"

#include <utility>

#include "evaluator/ops/collective/collective_terms.h"
#include "evaluator/registry.h"
#include "find/values/value_names.h"
#include "literal/leaves.h"

namespace assay {
namespace {

// Steps of which something is kept: moves' positions are as large as the values.
constexpr size_t kMaxKnown = 64;

}  // namespace

ElementPlace Backward::OutputElement(size_t device, const ShapeIndex& output, int64_t position) const {
  RecordedCall& entry = *record_.devices[device].entry;
  const int32_t root = record_.module->entry_computation().root;
  return {device, SourceOf(*record_.module, {&entry, root, output}), position};
}

bool Backward::IsGiven(const ElementPlace& place) const {
  const Opcode opcode = InstructionOf(place).opcode;
  return opcode == Opcode::kConstant || (opcode == Opcode::kParameter && place.value.call->around == nullptr);
}

Backward::KnownStep& Backward::Known(const ElementPlace& place) {
  const std::pair<const RecordedCall*, int32_t> key = {place.value.call, place.value.instruction};
  const auto it = known_.find(key);
  if (it != known_.end()) return it->second;
  if (known_.size() >= kMaxKnown) known_.clear();
  KnownStep& step = known_[key];
  const RecordedStep& recorded = *StepOf(place);
  step.terms = std::make_unique<StepTerms>(run_, *record_.module,
                                           record_.module->computation(place.value.call->place.computation),
                                           InstructionOf(place), recorded);
  step.sources.resize(recorded.operands.size());
  return step;
}

absl::StatusOr<ElementTerms> Backward::TermsOf(const ElementPlace& place) {
  ASSAY_ASSIGN_OR_RETURN(ElementTerms result, Known(place).terms->Of(place.value.leaf, place.position));
  work_ += std::ssize(result.elements) + 1;
  return result;
}

ElementPlace Backward::OperandPlace(const ElementPlace& place, int32_t operand, ShapeIndex leaf,
                                    int64_t position) const {
  const int32_t index = InstructionOf(place).operands[static_cast<size_t>(operand)];
  return {place.device, SourceOf(*record_.module, {place.value.call, index, std::move(leaf)}), position};
}

RecordedCall& Backward::CallOn(size_t device, const RecordedCall& call) const {
  if (call.around == nullptr) return *record_.devices[device].entry;
  return CallAt(*record_.module, CallOn(device, *call.around), call.place);
}

bool Backward::IsTransfer(const ElementPlace& place) const {
  return DefinitionOf(InstructionOf(place).opcode).channel != Channel::kNone;
}

std::vector<ElementPlace> Backward::StepsOfTransfer(const ElementPlace& place) const {
  std::vector<ElementPlace> steps;
  for (size_t k = 0; k < record_.devices.size(); ++k) {
    ElementPlace there = place;
    there.device = (place.device + k) % record_.devices.size();
    there.value.call = &CallOn(there.device, *place.value.call);
    if (StepOf(there) != nullptr) steps.push_back(std::move(there));
  }
  return steps;
}

std::optional<std::vector<ElementPlace>> Backward::TermsOfTransfer(const ElementPlace& place) const {
  const Instruction& instruction = InstructionOf(place);
  const std::vector<Literal>& operands = StepOf(place)->operands;
  const size_t number = place.value.leaf.empty() ? 0 : static_cast<size_t>(place.value.leaf[0]);
  if (number >= operands.size() || place.value.leaf.size() > 1) return std::nullopt;
  const auto terms = TermsOfCollective(record_.grid, instruction, operands[number].shape(),
                                       LeafShape(instruction, place.value.leaf), place.device,
                                       place.value.leaf, place.position);
  if (!terms) return std::nullopt;
  std::vector<ElementPlace> places;
  for (const DeviceElement& element : *terms) {
    ElementPlace there = place;
    there.device = element.device;
    there.value.call = &CallOn(element.device, *place.value.call);
    places.push_back(OperandPlace(there, element.operand, {}, element.position));
  }
  return places;
}

absl::StatusOr<Backward::Origins> Backward::OriginsOf(const ElementPlace& place) {
  Origins origins;
  origins.place_ = place;
  const RecordedStep* const step = StepOf(place);
  if (step == nullptr || IsGiven(place)) return origins;
  if (IsTransfer(place)) {
    for (const ElementPlace& there : StepsOfTransfer(place)) {
      for (size_t o = 0; o < StepOf(there)->operands.size(); ++o)
        origins.whole_.push_back({there, static_cast<int32_t>(o)});
    }
    return origins;
  }
  ASSAY_ASSIGN_OR_RETURN(ElementTerms terms, TermsOf(place));
  origins.elements_ = std::move(terms.elements);
  for (const int32_t operand : terms.whole) origins.whole_.push_back({place, operand});
  return origins;
}

std::optional<ElementPlace> Backward::Next(Origins& origins, Takes takes) {
  if (!origins.elements_.empty() && origins.next_element_ < origins.elements_.size()) {
    KnownStep& known = Known(origins.place_);
    const RecordedStep& step = *StepOf(origins.place_);
    while (origins.next_element_ < origins.elements_.size()) {
      const OperandElement& element = origins.elements_[origins.next_element_++];
      const size_t k = static_cast<size_t>(element.operand);
      if (!known.sources[k]) known.sources[k] = OperandPlace(origins.place_, element.operand, {}, 0).value;
      ElementPlace at{origins.place_.device, *known.sources[k], element.position};
      if (takes(at, step.operands[k])) return at;
    }
  }
  for (; origins.next_whole_ < origins.whole_.size(); ++origins.next_whole_, origins.next_leaf_ = 0) {
    const Origins::Whole& whole = origins.whole_[origins.next_whole_];
    std::vector<std::pair<ShapeIndex, Literal>> leaves;
    ForEachLeaf(StepOf(whole.user)->operands[static_cast<size_t>(whole.operand)],
                [&](const ShapeIndex& leaf, const Literal& array) { leaves.emplace_back(leaf, array); });
    for (; origins.next_leaf_ < leaves.size(); ++origins.next_leaf_, origins.next_position_ = 0) {
      const auto& [leaf, array] = leaves[origins.next_leaf_];
      if (!array.shape().IsArray()) continue;
      ElementPlace at = OperandPlace(whole.user, whole.operand, leaf, 0);
      while (origins.next_position_ < array.shape().num_elements()) {
        at.position = origins.next_position_++;
        ++work_;
        if (takes(at, array)) return at;
      }
    }
  }
  return std::nullopt;
}

absl::StatusOr<std::optional<ElementPlace>> Backward::FirstOrigin(const ElementPlace& place, Takes takes) {
  ASSAY_RETURN_IF_ERROR(PollWork());
  ASSAY_ASSIGN_OR_RETURN(Origins origins, OriginsOf(place));
  return Next(origins, takes);
}

absl::StatusOr<std::vector<ElementPlace>> Backward::Walk(ElementPlace place, Takes takes) {
  std::vector<ElementPlace> path = {std::move(place)};
  while (true) {
    ASSAY_ASSIGN_OR_RETURN(std::optional<ElementPlace> before, FirstOrigin(path.back(), takes));
    if (!before) return path;
    path.push_back(*std::move(before));
  }
}

std::string Backward::NameOf(const ElementPlace& place) const {
  return place.value.call->path + LeafName(InstructionOf(place), place.value.leaf);
}

}  // namespace assay
