// What gives the same in each iteration of a loop.
#ifndef ASSAY_PLAN_LOOP_INVARIANT_H_
#define ASSAY_PLAN_LOOP_INVARIANT_H_

#include <vector>

#include "plan/plan.h"

namespace assay {

// The most bytes of loop-invariant results that are planned to stay until a loop ends.
inline constexpr int64_t kMaxInvariantBytes = int64_t{1} << 30;

// What the while loops of a module, which outlives this, leave as it is.
class LoopFacts {
 public:
  explicit LoopFacts(const Module& module);

  // Running it again with the same operands gives the same and does nothing else: no side effect, nothing of
  // other devices, also in what it calls.
  bool IsRepeatable(const Instruction& instruction) const;
  // By element of the tuple that the computation, a loop's body or condition, takes: the loops that it
  // belongs to pass it on as it is. Empty for other computations.
  const std::vector<bool>& UnchangedElements(const Computation& computation) const;
  // Instructions of a body or condition that give the same in each iteration, and are worth a step that runs
  // once: a fusion that runs in each iteration leaves them alone. Not what it has at the cost of an index,
  // nor what would have more than kMaxInvariantBytes kept. Empty where there are none.
  std::vector<bool> WorthAStep(const Computation& computation, const std::vector<bool>& live) const;

 private:
  bool IsPure(const Instruction& instruction) const;
  size_t IndexOf(const Computation& computation) const {
    return static_cast<size_t>(&computation - module_.computations.data());
  }

  const Module& module_;
  std::vector<bool> repeatable_;              // by computation
  std::vector<std::vector<bool>> unchanged_;  // by computation
};

// In a body whose state lies in slots, or a condition that takes it in slots (loop_state.h): marks the steps
// without effects that read only what no iteration changes (Step::loop_invariant), and for every other step
// which of its operands are such (Step::unchanged). Results that other steps read stay until the loop ends,
// up to kMaxInvariantBytes.
void FindLoopInvariants(const LoopFacts& facts, const Computation& computation, ComputationPlan& plan);

}  // namespace assay

#endif  // ASSAY_PLAN_LOOP_INVARIANT_H_
