// Roots of unity as pairs of doubles, from MPFR.
#ifndef ASSAY_EVALUATOR_SCALAR_UNIT_ROOT_H_
#define ASSAY_EVALUATOR_SCALAR_UNIT_ROOT_H_

#include <cstdint>

namespace assay {

// hi = RN(hi + lo).
struct RootPart {
  double hi = 0, lo = 0;
};
struct UnitRoot {
  RootPart re, im;
};

// e^(-2 pi i t / n), 0 <= t < n: each component within 2^-106 of itself, and exact where it is 0, 1 or -1.
UnitRoot MakeUnitRoot(int64_t t, int64_t n);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_SCALAR_UNIT_ROOT_H_
