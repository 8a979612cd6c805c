// From an element of a value back to the elements that it is made of, across calls, loops and devices.
#ifndef ASSAY_FIND_ORIGIN_BACKWARD_H_
#define ASSAY_FIND_ORIGIN_BACKWARD_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "base/run_guard.h"
#include "find/origin/run_record.h"
#include "find/origin/step_terms.h"
#include "find/origin/value_source.h"
#include "run/executor.h"

namespace assay {

// An element of what an instruction computed on a device (SourceOf).
struct ElementPlace {
  size_t device = 0;
  ValuePlace value;
  int64_t position = 0;

  bool operator==(const ElementPlace&) const = default;
};

class Backward {
 public:
  // All outlive this.
  Backward(RunRecord& record, Executor& run) : record_(record), run_(run) {}

  // The element that a leaf of the program's result is; `output`: the path of the leaf.
  ElementPlace OutputElement(size_t device, const ShapeIndex& output, int64_t position) const;
  // Null where nothing was recorded: parameters, constants, and what there was no room for.
  const RecordedStep* StepOf(const ElementPlace& place) const {
    return place.value.call->StepOf(place.value.instruction);
  }
  const Instruction& InstructionOf(const ElementPlace& place) const {
    return InstructionAt(*record_.module, place.value);
  }
  // A parameter of the program or a constant: nothing is before it.
  bool IsGiven(const ElementPlace& place) const;
  std::optional<Literal> ArrayOf(const ElementPlace& place) const {
    return RecordedValue(*record_.module, record_.devices[place.device], place.value);
  }
  // Of an element whose step was recorded; transfers between devices have the operands of all devices in
  // whole.
  absl::StatusOr<ElementTerms> TermsOf(const ElementPlace& place);
  // Where an element of a leaf of the step's operand comes from.
  ElementPlace OperandPlace(const ElementPlace& place, int32_t operand, ShapeIndex leaf,
                            int64_t position) const;
  // The first of the elements that the place is made of which `takes` accepts; `array`: which it is an
  // element of. nullopt: none, or the step was not recorded.
  using Takes = absl::FunctionRef<bool(const ElementPlace& place, const Literal& array)>;
  absl::StatusOr<std::optional<ElementPlace>> FirstOrigin(const ElementPlace& place, Takes takes);
  // From an element back by FirstOrigin to one that has none: all of them, the given one first.
  absl::StatusOr<std::vector<ElementPlace>> Walk(ElementPlace place, Takes takes);
  // "r0p1/while.1/it0002/add.5", of a leaf of a tuple "sort.3{1}".
  std::string NameOf(const ElementPlace& place) const;
  // How many operand elements were looked at.
  int64_t work() const { return work_; }

 private:
  // The same call on another device.
  RecordedCall& CallOn(size_t device, const RecordedCall& call) const;
  std::optional<ElementPlace> FirstInWhole(const ElementPlace& place, int32_t operand, Takes takes);

  RunRecord& record_;
  Executor& run_;
  // Of each step that was asked for: a move's positions are computed once for all of its elements.
  std::map<std::pair<const RecordedCall*, int32_t>, std::unique_ptr<StepTerms>> terms_;
  int64_t work_ = 0;
};

}  // namespace assay

#endif  // ASSAY_FIND_ORIGIN_BACKWARD_H_
