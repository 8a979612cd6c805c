// Makes the passes of a function, two tiers for three instruction sets, from its one formula:
//
//   struct Exp { template <class R> ASSAY_BODY R Of(double x) { ... } };       // R: Single or Double
//   const Passes kExpPasses = PassesOf<Exp>();
#ifndef ASSAY_ENGINES_NATIVE_FUNCTIONS_PASSES_H_
#define ASSAY_ENGINES_NATIVE_FUNCTIONS_PASSES_H_

#include "engines/native/functions/arithmetic.h"
#include "engines/native/functions/functions.h"
#include "engines/native/functions/rounding_check.h"

namespace assay::native {

template <class Fn, class R>
ASSAY_BODY void PassBody(int64_t n, const double* const* in, double* __restrict hi, double* __restrict lo) {
  constexpr bool kTwo = requires { Fn::template Of<R>(0.0, 0.0); };
  constexpr bool kFour = requires { Fn::template Of<R>(0.0, 0.0, 0.0, 0.0); };
  const double* __restrict x = in[0];
  [[maybe_unused]] const double* __restrict y = kTwo || kFour ? in[1] : nullptr;
  [[maybe_unused]] const double* __restrict u = kFour ? in[2] : nullptr;
  [[maybe_unused]] const double* __restrict v = kFour ? in[3] : nullptr;
  for (int64_t i = 0; i < (n & -kBlock); ++i) {
    R value;
    if constexpr (kFour) {
      value = Fn::template Of<R>(x[i], y[i], u[i], v[i]);
    } else if constexpr (kTwo) {
      value = Fn::template Of<R>(x[i], y[i]);
    } else {
      value = Fn::template Of<R>(x[i]);
    }
    hi[i] = value.hi;
    if constexpr (R::kIsDouble) lo[i] = value.lo;
  }
}

template <class Fn, template <bool> class R>
void BaselinePass(int64_t n, const double* const* in, double* hi, double* lo) {
  PassBody<Fn, R<false>>(n, in, hi, lo);
}
template <class Fn, template <bool> class R>
ASSAY_AVX2 void Avx2Pass(int64_t n, const double* const* in, double* hi, double* lo) {
  PassBody<Fn, R<true>>(n, in, hi, lo);
}
template <class Fn, template <bool> class R>
ASSAY_AVX512 void Avx512Pass(int64_t n, const double* const* in, double* hi, double* lo) {
  PassBody<Fn, R<true>>(n, in, hi, lo);
}

template <class Fn>
constexpr Passes PassesOf() {
  return {{BaselinePass<Fn, Single>, Avx2Pass<Fn, Single>, Avx512Pass<Fn, Single>},
          {BaselinePass<Fn, Double>, Avx2Pass<Fn, Double>, Avx512Pass<Fn, Double>}};
}

template <class Re, class Im>
constexpr ComponentPasses Components() {
  return {PassesOf<Re>(), PassesOf<Im>()};
}

// The function with its two arguments exchanged.
template <class Fn>
struct Exchanged {
  template <class R>
  ASSAY_BODY R Of(double x, double y) {
    return Fn::template Of<R>(y, x);
  }
};

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_FUNCTIONS_PASSES_H_
