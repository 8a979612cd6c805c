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
  // Of an element whose step was recorded, but for transfers between devices.
  absl::StatusOr<ElementTerms> TermsOf(const ElementPlace& place);
  // Whether the instruction takes operands of other devices.
  bool IsTransfer(const ElementPlace& place) const;
  // Of a transfer whose step was recorded: elements of operands, of all devices. nullopt: any element of the
  // operands of StepsOfTransfer may be part.
  std::optional<std::vector<ElementPlace>> TermsOfTransfer(const ElementPlace& place) const;
  // The same instruction on the devices that have recorded it, the place's own first.
  std::vector<ElementPlace> StepsOfTransfer(const ElementPlace& place) const;
  // Where an element of a leaf of the step's operand comes from.
  ElementPlace OperandPlace(const ElementPlace& place, int32_t operand, ShapeIndex leaf,
                            int64_t position) const;
  // Whether `takes` accepts an element that a value is made of; `array`: which it is an element of.
  using Takes = absl::FunctionRef<bool(const ElementPlace& place, const Literal& array)>;
  // The elements that a place is made of, one after the other.
  class Origins;
  absl::StatusOr<Origins> OriginsOf(const ElementPlace& place);
  // The next of them that `takes` accepts; nullopt: there are no more.
  std::optional<ElementPlace> Next(Origins& origins, Takes takes);
  // The first of them; nullopt: none, or the step was not recorded.
  absl::StatusOr<std::optional<ElementPlace>> FirstOrigin(const ElementPlace& place, Takes takes);
  // From an element back by FirstOrigin to one that has none: all of them, the given one first.
  absl::StatusOr<std::vector<ElementPlace>> Walk(ElementPlace place, Takes takes);
  // "r0p1/while.1/it0002/add.5", of a leaf of a tuple "sort.3{1}".
  std::string NameOf(const ElementPlace& place) const;
  // How many operand elements were looked at.
  int64_t work() const { return work_; }

 private:
  // What is known of a step that was asked for: a move's positions are computed once for all of its elements.
  struct KnownStep {
    std::unique_ptr<StepTerms> terms;
    std::vector<std::optional<ValuePlace>> sources;  // of its operands that are arrays
  };
  KnownStep& Known(const ElementPlace& place);
  // The same call on another device.
  RecordedCall& CallOn(size_t device, const RecordedCall& call) const;

  RunRecord& record_;
  Executor& run_;
  std::map<std::pair<const RecordedCall*, int32_t>, KnownStep> known_;
  int64_t work_ = 0;
};

class Backward::Origins {
 private:
  friend class Backward;
  struct Whole {
    ElementPlace user;  // the step that has the operand, of a collective on any device
    int32_t operand;
  };
  ElementPlace place_;
  std::vector<OperandElement> elements_;
  std::vector<Whole> whole_;
  size_t next_element_ = 0, next_whole_ = 0, next_leaf_ = 0;
  int64_t next_position_ = 0;
};

}  // namespace assay

#endif  // ASSAY_FIND_ORIGIN_BACKWARD_H_
