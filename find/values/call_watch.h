// Where in a program a running step stands: in which call of which computation, and in which iterations of
// the loops around it. It watches runs of plans as written (PlanForm::kAsWritten).
#ifndef ASSAY_FIND_VALUES_CALL_WATCH_H_
#define ASSAY_FIND_VALUES_CALL_WATCH_H_

#include <string>
#include <vector>

#include "plan/plan.h"
#include "plan/step_observer.h"
#include "run/program.h"

namespace assay {

// A call of a computation in the run of a program.
struct CallPlace {
  ComputationId computation;
  int32_t caller = -1;        // the instruction that calls it, in the computation around; -1: the entry
  int64_t iteration = -1;     // of a while; -1: another instruction calls it
  bool is_condition = false;  // of that while
};

// The program's plan of one step for each instruction, loops included: a while is evaluated as the call of
// its condition and its body, so that its result is observed, too.
absl::StatusOr<Plan> ObservedPlan(const Program& program);

// Whether the calls of the instruction are followed: those of call, fusion, conditional and while. What
// others apply (reducers, comparators, bodies of scans), and what runs between the start and the end of an
// asynchronous instruction, is part of the instruction.
bool IsFollowed(Opcode opcode);

class CallWatch : public StepObserver {
 public:
  // The module outlives the watch.
  explicit CallWatch(const Module& module) : module_(module) {}

  void Begin(const Computation& computation, const Step& step) final;
  void End() final;
  void Part(Clock::time_point, Clock::time_point, int64_t, int64_t) final {}
  bool LooksAtValues() const final { return true; }
  absl::Status Evaluated(EvalContext& context, std::span<const Literal> operands,
                         const Literal& result) final;

 protected:
  struct ActiveCall {
    CallPlace place;
    std::string path;                    // names of callers and iterations: "call.3/while.1/it0002/"
    const Step* step = nullptr;          // the one that began last
    bool runs = false;                   // that step has not ended
    int64_t conditions = 0, bodies = 0;  // calls that it made; of others than whiles all are bodies
  };

  // The value of an instruction in the innermost call. An error ends the run.
  virtual absl::Status Take(EvalContext& context, int32_t instruction, std::span<const Literal> operands,
                            const Literal& result) = 0;
  const Module& module() const { return module_; }
  // From the entry computation inward.
  std::span<const ActiveCall> calls() const { return calls_; }
  // How many iterations the while had that Take gets the value of; -1: neither its condition nor its body has
  // a step to count them by.
  int64_t iterations() const;

 private:
  // The call that the innermost running step makes now.
  void PushCall(ComputationId id);

  const Module& module_;
  std::vector<ActiveCall> calls_;
  int64_t ignored_ = 0;  // steps in computations that are not followed
};

}  // namespace assay

#endif  // ASSAY_FIND_VALUES_CALL_WATCH_H_
