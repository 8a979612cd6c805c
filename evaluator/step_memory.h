// What a kernel may keep between the turns of a loop (EvalContext::memory):
// made of operands that no turn changes.
#ifndef ASSAY_EVALUATOR_STEP_MEMORY_H_
#define ASSAY_EVALUATOR_STEP_MEMORY_H_

#include <memory>

#include "absl/container/inlined_vector.h"
#include "hlo/module.h"

namespace assay {

struct StepMemory {
  class State {
   public:
    virtual ~State() = default;
  };

  const Instruction* instruction = nullptr;  // of the step; null where every operand may change
  // True for an operand that the loop holds one value for, whose bytes stay where and
  // what they are until it ends.
  absl::InlinedVector<bool, 4> unchanged;
  std::unique_ptr<State> state;  // the kernel's own; null in the first turn
};

}  // namespace assay

#endif  // ASSAY_EVALUATOR_STEP_MEMORY_H_
