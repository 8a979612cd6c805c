// The work of decompositions, as runs are told of it.
#ifndef ASSAY_CUSTOM_LINALG_WORK_H_
#define ASSAY_CUSTOM_LINALG_WORK_H_

#include <cstdint>

#include "custom/linalg/matrix.h"
#include "evaluator/meter.h"

namespace assay::linalg {

class Work {
 public:
  explicit Work(Meter& meter) : meter_(meter) {}
  // So many products of S: of two limbs 64 of them are less than a microsecond.
  template <class S>
  absl::Status Add(int64_t products) {
    constexpr int64_t kLimbs = RealOf<S>::kLimbs;
    return meter_.Add(products * kLimbs * kLimbs * (Of<S>::kIsComplex ? 4 : 1) / 256 + 1);
  }

  // Says that a decision was not sure, so that the results want more digits.
  void Doubt() { in_doubt_ = true; }
  bool in_doubt() const { return in_doubt_; }

 private:
  Meter& meter_;
  bool in_doubt_ = false;
};

}  // namespace assay::linalg

#endif  // ASSAY_CUSTOM_LINALG_WORK_H_
