// How long each step of a plan takes, and what its sums and functions needed of the second and third tier.
#ifndef ASSAY_RUN_TRACE_STEP_TIMES_H_
#define ASSAY_RUN_TRACE_STEP_TIMES_H_

#include <cstdint>
#include <vector>

#include "plan/plan.h"
#include "plan/step_observer.h"

namespace assay {

// Sums and values of functions that were rounded with a test (engines/native/sums/tiers.h), how many of them
// the first tier left open, and how many the second left open as well.
struct TierUse {
  int64_t tested = 0, second = 0, third = 0;
};

struct StepTime {
  int64_t calls = 0;
  int64_t fallbacks = 0;  // of the calls, those that the kernel left to the reference
  double total = 0;       // seconds, with the steps that it runs in other computations
  double self = 0;        // without
  TierUse tiers;          // its own
};

// Adds up what the steps of runs take. Reading the counts of tiers takes longer than small steps do, so that
// times and tiers are for runs of their own. What other evaluations in this process do at the same time
// counts towards the tiers.
class StepTimes final : public StepObserver {
 public:
  enum class What : uint8_t { kTimes, kTiers };
  StepTimes(const Plan& plan, What what);

  void Begin(const Computation& computation, const Step& step) override;
  void End() override;
  void FellBack(std::string_view) override { ++running_.back().time->fallbacks; }
  void Part(Clock::time_point, Clock::time_point, int64_t, int64_t) override {}

  // The times by computation and step of the plan.
  const std::vector<std::vector<StepTime>>& times() const { return times_; }

 private:
  struct Running {
    StepTime* time;
    Clock::time_point begin;
    double nested = 0;  // seconds of the steps within
    TierUse before, of_nested;
  };

  const Plan& plan_;
  const What what_;
  std::vector<std::vector<StepTime>> times_;
  std::vector<Running> running_;  // the innermost last
};

}  // namespace assay

#endif  // ASSAY_RUN_TRACE_STEP_TIMES_H_
