// A frame: the values of a computation's instructions while it runs, by their index. The constants that the
// plan stores are always there; the elements of a tuple that a loop carries (StateSlots) lie in slots of
// their own.
#ifndef ASSAY_RUN_FRAME_H_
#define ASSAY_RUN_FRAME_H_

#include <span>
#include <utility>
#include <vector>

#include "literal/literal.h"
#include "plan/plan.h"

namespace assay {

using Frame = std::vector<Literal>;

// A constant lies in every frame; one whose value is elided is a step instead.
inline bool IsStored(const Instruction& instruction) {
  return instruction.opcode == Opcode::kConstant && instruction.literal != nullptr;
}

// Puts the value of an element into its slot; where nobody needs the element later it is moved.
inline void PutInput(const ElementSlot& input, std::span<Literal> elements, Frame& frame) {
  Literal& element = elements[static_cast<size_t>(input.element)];
  Literal& slot = frame[static_cast<size_t>(input.slot)];
  if (input.last) {
    slot = std::move(element);
  } else {
    slot = element;
  }
}

// The value of an element from its slot; where nobody needs the slot later it is moved.
inline Literal TakeOutput(const ElementSlot& output, Frame& frame) {
  Literal& slot = frame[static_cast<size_t>(output.slot)];
  if (output.last) return std::move(slot);
  return slot;
}

}  // namespace assay

#endif  // ASSAY_RUN_FRAME_H_
