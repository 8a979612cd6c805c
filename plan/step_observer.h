// Who watches a run, step by step: times (run/trace/step_times.h), a trace (run/trace/step_trace.h),
// values (check/audit.cc). A run that nobody watches pays one comparison a computation for this.
#ifndef ASSAY_PLAN_STEP_OBSERVER_H_
#define ASSAY_PLAN_STEP_OBSERVER_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "base/error.h"
#include "base/parallel.h"
#include "hlo/attribute.h"

namespace assay {

struct Computation;
class EvalContext;
class Literal;
struct Step;

class StepObserver : public LoopObserver {
 public:
  virtual ~StepObserver() = default;
  // A step of a plan begins; steps that it runs in other computations begin and end before it ends. The
  // executor's thread calls this.
  virtual void Begin(const Computation& computation, const Step& step) = 0;
  // The step that began last, of those that have not ended, ends. This is called where it failed, too.
  virtual void End() = 0;
  // The kernel of the step that began last left this run to the reference.
  virtual void FellBack(std::string_view) {}
  // The observer looks at values: operands are kept for it until their step is done,
  // so nothing is written over them.
  virtual bool LooksAtValues() const { return false; }
  // The values of a step of one instruction that was evaluated; an error ends the run.
  virtual absl::Status Evaluated(EvalContext&, std::span<const Literal>, const Literal&) {
    return absl::OkStatus();
  }
  // The observer wants to see the steps of each application of a computation of scalars,
  // not its results alone.
  virtual bool LooksInto(ComputationId) const { return false; }
  // LoopObserver::Part is of a loop that the running step had cut, and comes before that step ends.
};

}  // namespace assay

#endif  // ASSAY_PLAN_STEP_OBSERVER_H_
