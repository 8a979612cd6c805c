// Tells the run of work done, in batches: EvalContext::Charge polls the timeout and interruption.
#ifndef ASSAY_EVALUATOR_METER_H_
#define ASSAY_EVALUATOR_METER_H_

#include <cstdint>

#include "evaluator/eval_context.h"

namespace assay {

class Meter {
 public:
  explicit Meter(EvalContext& context) : context_(context) {}
  // A call is as much as 64 elements at least: those of a function that goes through many digits
  // take tens of microseconds.
  absl::Status Add(int64_t elements) {
    pending_ += elements;
    cost_ += elements + 64;
    return cost_ < kBatch ? absl::OkStatus() : Flush();
  }
  absl::Status Flush() {
    const int64_t pending = pending_;
    pending_ = cost_ = 0;
    return context_.Charge(pending);
  }

 private:
  static constexpr int64_t kBatch = 1 << 14;
  EvalContext& context_;
  int64_t pending_ = 0, cost_ = 0;
};

}  // namespace assay

#endif  // ASSAY_EVALUATOR_METER_H_
