// erf: a polynomial around the nearest table point c, in t = |x| - c, which is exact. Above 6 it is taken at 6:
// erf x lies between that and 1, which are 2^-55.4 apart and round alike in every format.
//
// Errors. Single: the polynomial 2^-52.3, Horner's rule 2 u, since |t| <= 1/32 makes every step's error small
// beside the first coefficient (at c = 0 that is 0 and the next decides, relative to t): 2^-50. Double: the
// polynomial 2^-107; tail coefficients are below 2^-52 of the first with their powers of t, so 2^-105; each of
// the 13 steps errs by 12 u^2 of a sum at most 2^-4 of the next: 2^-101.
#include "evaluator/native/scalar/passes.h"
#include "evaluator/native/scalar/polynomial.h"

namespace assay::native {
namespace {

// Coefficients i and up of the row at `start`.
template <bool F, int i, int kEnd>
ASSAY_BODY double RowHorner(const double* table, uint64_t start, double t) {
  if constexpr (i + 1 == kEnd) {
    return table[start + i];
  } else {
    return MulAdd<F>(RowHorner<F, i + 1, kEnd>(table, start, t), t, table[start + i]);
  }
}
template <bool F, int i>
ASSAY_BODY Double<F> RowHornerHead(uint64_t row, double t) {
  const double* hi = &kErfDouble[0][0];
  const uint64_t start = row * (kErfDegreeDouble + 1);
  const Double<F> coefficient = {hi[start + i], (&kErfDoubleLo[0][0])[row * kErfHead + i]};
  if constexpr (i + 1 == kErfHead) {
    const double tail = RowHorner<F, i + 1, kErfDegreeDouble + 1>(hi, start, t);
    return coefficient + Double<F>::Product(tail, t);
  } else {
    return coefficient + RowHornerHead<F, i + 1>(row, t) * t;
  }
}

struct Erf {
  template <class R>
  ASSAY_BODY R Of(double x) {
    const double a = Absolute(x) > 6 ? 6 : Absolute(x);
    constexpr int kPerUnit = R::kIsDouble ? kErfPerUnitDouble : kErfPerUnitSingle;
    const double rounded = a * kPerUnit + kRounder;
    const double t = a - (rounded - kRounder) * (1.0 / kPerUnit);
    const uint64_t row = BitsOf(rounded) & 0x7f;
    if constexpr (R::kIsDouble) {
      return SignOf(x, RowHornerHead<R::kFma, 0>(row, t));
    } else {
      const double* table = &kErfSingle[0][0];
      return SignOf(x,
                    R{RowHorner<R::kFma, 0, kErfDegreeSingle + 1>(table, row * (kErfDegreeSingle + 1), t)});
    }
  }
};

}  // namespace

constinit const Passes kErfPasses = PassesOf<Erf>();

}  // namespace assay::native
