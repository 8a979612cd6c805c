// Tells the run of work done, in batches: EvalContext::Charge polls the timeout and interruption.
#ifndef ASSAY_EVALUATOR_METER_H_
#define ASSAY_EVALUATOR_METER_H_

#include <cstdint>

#include "evaluator/eval_context.h"

namespace assay {

class Meter {
 public:
  explicit Meter(EvalContext& context) : context_(context) {}
  absl::Status Add(int64_t elements) {
    pending_ += elements;
    return pending_ < kBatch ? absl::OkStatus() : Flush();
  }
  absl::Status Flush() {
    const int64_t pending = pending_;
    pending_ = 0;
    return context_.Charge(pending);
  }

 private:
  static constexpr int64_t kBatch = 1 << 16;
  EvalContext& context_;
  int64_t pending_ = 0;
};

}  // namespace assay

#endif  // ASSAY_EVALUATOR_METER_H_
