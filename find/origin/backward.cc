#include "find/origin/backward.h"

#include <utility>

#include "evaluator/registry.h"
#include "find/values/value_names.h"
#include "literal/leaves.h"

namespace assay {
namespace {

// Of moves' positions, which are as large as the values.
constexpr size_t kMaxCached = 64;

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

absl::StatusOr<ElementTerms> Backward::TermsOf(const ElementPlace& place) {
  std::unique_ptr<StepTerms>& terms = terms_[{place.value.call, place.value.instruction}];
  if (terms == nullptr) {
    if (terms_.size() > kMaxCached) {
      terms_.clear();
      return TermsOf(place);
    }
    const Computation& computation = record_.module->computation(place.value.call->place.computation);
    terms =
        std::make_unique<StepTerms>(run_, *record_.module, computation, InstructionOf(place), *StepOf(place));
  }
  ASSAY_ASSIGN_OR_RETURN(ElementTerms result, terms->Of(place.value.leaf, place.position));
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

std::optional<ElementPlace> Backward::FirstInWhole(const ElementPlace& place, int32_t operand, Takes takes) {
  std::optional<ElementPlace> found;
  const Literal& value = StepOf(place)->operands[static_cast<size_t>(operand)];
  ForEachLeaf(value, [&](const ShapeIndex& leaf, const Literal& array) {
    if (found || !array.shape().IsArray()) return;
    ElementPlace at = OperandPlace(place, operand, leaf, 0);
    for (; at.position < array.shape().num_elements(); ++at.position) {
      if (!takes(at, array)) continue;
      found = at;
      return;
    }
  });
  return found;
}

absl::StatusOr<std::optional<ElementPlace>> Backward::FirstOrigin(const ElementPlace& place, Takes takes) {
  ASSAY_RETURN_IF_ERROR(PollWork());
  const RecordedStep* const step = StepOf(place);
  if (step == nullptr || IsGiven(place)) return std::nullopt;
  if (DefinitionOf(InstructionOf(place).opcode).channel != Channel::kNone) {
    for (size_t k = 0; k < record_.devices.size(); ++k) {
      const size_t device = (place.device + k) % record_.devices.size();
      ElementPlace there = place;
      there.device = device;
      there.value.call = &CallOn(device, *place.value.call);
      const RecordedStep* const other = StepOf(there);
      for (size_t o = 0; other != nullptr && o < other->operands.size(); ++o) {
        if (auto found = FirstInWhole(there, static_cast<int32_t>(o), takes)) return found;
      }
    }
    return std::nullopt;
  }
  ASSAY_ASSIGN_OR_RETURN(const ElementTerms terms, TermsOf(place));
  // Operands are resolved once each.
  std::vector<std::optional<ElementPlace>> sources(step->operands.size());
  for (const OperandElement& element : terms.elements) {
    const size_t k = static_cast<size_t>(element.operand);
    if (!sources[k]) sources[k] = OperandPlace(place, element.operand, {}, 0);
    sources[k]->position = element.position;
    if (takes(*sources[k], step->operands[k])) return sources[k];
  }
  for (const int32_t operand : terms.whole) {
    if (auto found = FirstInWhole(place, operand, takes)) return found;
  }
  return std::nullopt;
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
