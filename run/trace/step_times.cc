#include "run/trace/step_times.h"

#include "engines/native/sums/tiers.h"

namespace assay {
namespace {

TierUse CountsNow() {
  const native::TierCounts sums = native::Tiers();
  const native::FunctionTiers functions = native::FunctionTierCounts();
  return {sums.sums + functions.elements, sums.pairs + functions.second, sums.slices + functions.reference};
}
void Add(const TierUse& more, TierUse& sum) {
  sum.tested += more.tested;
  sum.second += more.second;
  sum.third += more.third;
}
TierUse Without(const TierUse& all, const TierUse& part) {
  return {all.tested - part.tested, all.second - part.second, all.third - part.third};
}

}  // namespace

StepTimes::StepTimes(const Plan& plan, What what) : plan_(plan), what_(what) {
  for (const ComputationPlan& computation : plan.computations) times_.emplace_back(computation.steps.size());
}

void StepTimes::Begin(const Computation& computation, const Step& step) {
  const auto c = static_cast<size_t>(&computation - plan_.module->computations.data());
  StepTime& time = times_[c][static_cast<size_t>(&step - plan_.computations[c].steps.data())];
  running_.push_back({.time = &time, .begin = {}});
  if (what_ == What::kTiers) {
    running_.back().before = CountsNow();
  } else {
    running_.back().begin = Clock::now();
  }
}

void StepTimes::End() {
  const Clock::time_point end = what_ == What::kTimes ? Clock::now() : Clock::time_point();
  const Running step = running_.back();
  running_.pop_back();
  ++step.time->calls;
  if (what_ == What::kTiers) {
    const TierUse all = Without(CountsNow(), step.before);
    Add(Without(all, step.of_nested), step.time->tiers);
    if (!running_.empty()) Add(all, running_.back().of_nested);
  } else {
    const double seconds = std::chrono::duration<double>(end - step.begin).count();
    step.time->total += seconds;
    step.time->self += seconds - step.nested;
    if (!running_.empty()) running_.back().nested += seconds;
  }
}

}  // namespace assay
