// Makes the passes of a function, two tiers for three instruction sets, from its one formula:
//
//   struct Exp { template <class R> ASSAY_BODY R Of(double x) { ... } };       // R: Single or Double
//   const Passes kExpPasses = PassesOf<Exp>();
#ifndef ASSAY_EVALUATOR_NATIVE_SCALAR_PASSES_H_
#define ASSAY_EVALUATOR_NATIVE_SCALAR_PASSES_H_

#include "evaluator/native/scalar/arithmetic.h"
#include "evaluator/native/scalar/functions.h"
#include "evaluator/native/scalar/rounding_test.h"

namespace assay::native {

template <class Fn, class R>
ASSAY_BODY void PassBody(int64_t n, const double* __restrict x, [[maybe_unused]] const double* __restrict y,
                         double* __restrict hi, double* __restrict lo) {
  for (int64_t i = 0; i < (n & -kBlock); ++i) {
    R value;
    if constexpr (requires { Fn::template Of<R>(x[i], y[i]); }) {
      value = Fn::template Of<R>(x[i], y[i]);
    } else {
      value = Fn::template Of<R>(x[i]);
    }
    hi[i] = value.hi;
    if constexpr (R::kIsDouble) lo[i] = value.lo;
  }
}

template <class Fn, template <bool> class R>
void BaselinePass(int64_t n, const double* x, const double* y, double* hi, double* lo) {
  PassBody<Fn, R<false>>(n, x, y, hi, lo);
}
template <class Fn, template <bool> class R>
ASSAY_AVX2 void Avx2Pass(int64_t n, const double* x, const double* y, double* hi, double* lo) {
  PassBody<Fn, R<true>>(n, x, y, hi, lo);
}
template <class Fn, template <bool> class R>
ASSAY_AVX512 void Avx512Pass(int64_t n, const double* x, const double* y, double* hi, double* lo) {
  PassBody<Fn, R<true>>(n, x, y, hi, lo);
}

template <class Fn>
constexpr Passes PassesOf() {
  return {{BaselinePass<Fn, Single>, Avx2Pass<Fn, Single>, Avx512Pass<Fn, Single>},
          {BaselinePass<Fn, Double>, Avx2Pass<Fn, Double>, Avx512Pass<Fn, Double>}};
}

}  // namespace assay::native

#endif  // ASSAY_EVALUATOR_NATIVE_SCALAR_PASSES_H_
