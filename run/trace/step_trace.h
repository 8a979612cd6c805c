// A run as a trace in Chrome's format, which Perfetto (ui.perfetto.dev) and chrome://tracing open: an event
// for each step and for each part of a step on the thread that computed it.
#ifndef ASSAY_RUN_TRACE_STEP_TRACE_H_
#define ASSAY_RUN_TRACE_STEP_TRACE_H_

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "base/hash_map.h"
#include "plan/plan.h"
#include "plan/step_observer.h"

namespace assay {

class JsonWriter;

// Memory and file are bounded: of what runs inside the steps of the entry computation `most` events are kept,
// the first ones, and of each of these steps no more than half of those that are left, so that one long loop
// leaves something for what comes behind it. The entry's own steps are all kept, up to `most` as well. The
// rest is counted.
class StepTrace final : public StepObserver {
 public:
  static constexpr int64_t kMost = 100'000;
  // Time 0 is now.
  explicit StepTrace(const Plan& plan, int64_t most = kMost);

  void Begin(const Computation& computation, const Step& step) override;
  void End() override;
  void FellBack(std::string_view reason) override;
  void Part(Clock::time_point from, Clock::time_point to, int64_t begin, int64_t end) override;

  int64_t kept() const { return static_cast<int64_t>(events_.size()); }
  int64_t dropped() const { return dropped_; }

  // {"displayTimeUnit": "ns", "otherData": {…, "dropped_events": N}, "traceEvents": [{"ph": "X", "ts": …,
  // "dur": …, …}, …]}: complete events, times in microseconds, pid and tid the system's. The first is the
  // run, from time 0 to now.
  std::string ToJson() const;

 private:
  struct Event {
    const Computation* computation;
    const Step* step;
    Clock::time_point from, to;
    int64_t thread = 0;
    int64_t begin = -1, end = -1;  // of a part: its items
    std::string fallback;          // why the reference ran in place of the kernel
  };
  // Whether there is room for one more event inside a step of the entry.
  bool TakeRoom();
  void WriteEvent(const Event& event, const std::string& arguments, JsonWriter& json) const;

  const Plan& plan_;
  const int64_t most_;
  const Clock::time_point start_;
  const int64_t thread_;
  std::mutex mutex_;  // the members below, which parts change from any thread
  std::vector<Event> events_;
  std::vector<int64_t> running_;  // where they are in events_, the innermost last; -1: dropped
  std::vector<std::pair<const Computation*, const Step*>> steps_;  // the same as steps
  int64_t outer_ = 0, inner_ = 0, room_ = 0, dropped_ = 0;
};

}  // namespace assay

#endif  // ASSAY_RUN_TRACE_STEP_TRACE_H_
