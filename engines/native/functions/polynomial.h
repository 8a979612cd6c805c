// Polynomials of both tiers over the generated coefficients (coefficients.h).
#ifndef ASSAY_ENGINES_NATIVE_FUNCTIONS_POLYNOMIAL_H_
#define ASSAY_ENGINES_NATIVE_FUNCTIONS_POLYNOMIAL_H_

#include <iterator>

#include "engines/native/functions/arithmetic.h"
#include "engines/native/functions/coefficients.h"

namespace assay::native {

// Coefficients i and up of the shorter polynomial of P.
template <class P, bool F, int i>
ASSAY_BODY double HornerSingle(double x) {
  if constexpr (i + 1 == std::size(P::kSingle)) {
    return P::kSingle[i];
  } else {
    return MulAdd<F>(HornerSingle<P, F, i + 1>(x), x, P::kSingle[i]);
  }
}
// Coefficients i and up, i >= P::kHead, of the longer one: its tail, which doubles are good enough for.
template <class P, bool F, int i>
ASSAY_BODY double HornerTail(double x) {
  if constexpr (i + 1 == std::size(P::kDouble)) {
    return P::kDouble[i].hi;
  } else {
    return MulAdd<F>(HornerTail<P, F, i + 1>(x), x, P::kDouble[i].hi);
  }
}
template <class P, bool F, int i>
ASSAY_BODY Double<F> HornerHead(Double<F> x) {
  const Double<F> coefficient = Double<F>::Of(P::kDouble[i]);
  if constexpr (i + 1 == P::kHead) {
    return AddSmaller(coefficient, x * HornerTail<P, F, i + 1>(x.hi));
  } else {
    return AddSmaller(coefficient, x * HornerHead<P, F, i + 1>(x));
  }
}

// P(x), where every coefficient is at least as large as what the higher ones add to it.
template <class P, bool F>
ASSAY_BODY Single<F> Polynomial(Single<F> x) {
  return {HornerSingle<P, F, 0>(x.hi)};
}
template <class P, bool F>
ASSAY_BODY Double<F> Polynomial(Double<F> x) {
  return HornerHead<P, F, 0>(x);
}

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_FUNCTIONS_POLYNOMIAL_H_
