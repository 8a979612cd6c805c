// Components of the complex exponential, hyperbolic and circular functions.
//
// Errors. Products and quotients of the real functions' approximations (exponential.h, circular.h): Single at
// most 2^-42.5, since sinh errs by 2^-44.4 and enters up to three times; Double 2^-93. A sum of two such
// terms is known where it is at least kRoom of the first term, which loses 2 / kRoom + 1: 2^-39 and 2^-73.
#include "engines/native/functions/circular.h"
#include "engines/native/functions/complex.h"
#include "engines/native/functions/exponential.h"
#include "engines/native/functions/passes.h"

namespace assay::native {
namespace {

// f(x) g(y)
template <class F, class G>
struct ProductOf {
  template <class R>
  ASSAY_BODY R Of(double x, double y) {
    return F::template Of<R>(x) * G::template Of<R>(y);
  }
};
template <class Fn>
struct Negated {
  template <class R>
  ASSAY_BODY R Of(double x, double y) {
    return -Fn::template Of<R>(x, y);
  }
};

// a + b where not too much of it cancels.
template <class R>
ASSAY_BODY R KnownSum(R a, R b) {
  constexpr double kRoom = R::kIsDouble ? 0x1p-20 : 0x1p-4;
  const R sum = a + b;
  return Where(Absolute(sum.hi) >= kRoom * Absolute(a.hi), sum);
}

// (e^x - 1) cos y - 2 sin^2 (y / 2)
struct Expm1Re {
  template <class R>
  ASSAY_BODY R Of(double x, double y) {
    const R sine = Sin::Of<R>(0.5 * y);
    return KnownSum(Expm1::Of<R>(x) * Cos::Of<R>(y), Scale(sine * sine, -2.0));
  }
};

// 4 (sinh^2 (x / 2) + cos^2 (y / 2)) = 2 (cosh x + cos y)
template <class R>
ASSAY_BODY R LogisticDenominator(double x, double y) {
  const R sinh = Sinh::Of<R>(0.5 * x), cosine = Cos::Of<R>(0.5 * y);
  return Scale(sinh * sinh + cosine * cosine, 4.0);
}
// (e^x + cos y) / denominator
struct LogisticRe {
  template <class R>
  ASSAY_BODY R Of(double x, double y) {
    const R value = KnownSum(Exp::Of<R>(x), Cos::Of<R>(y)) / LogisticDenominator<R>(x, y);
    return Where(Absolute(x) <= kExpLimit, value);
  }
};
// sin y / denominator
struct LogisticIm {
  template <class R>
  ASSAY_BODY R Of(double x, double y) {
    return Where(Absolute(x) <= kExpLimit, Sin::Of<R>(y) / LogisticDenominator<R>(x, y));
  }
};

// tan (x + iy) = (sin x cos x + i sinh y cosh y) / (cos^2 x + sinh^2 y)
template <class R>
ASSAY_BODY R TanDenominator(double x, double y) {
  const R cosine = Cos::Of<R>(x), sinh = Sinh::Of<R>(y);
  return cosine * cosine + sinh * sinh;
}
struct TanRe {
  template <class R>
  ASSAY_BODY R Of(double x, double y) {
    const R value = Sin::Of<R>(x) * Cos::Of<R>(x) / TanDenominator<R>(x, y);
    return Where(Absolute(y) <= kExpLimit / 2, value);
  }
};
struct TanIm {
  template <class R>
  ASSAY_BODY R Of(double x, double y) {
    const R value = Sinh::Of<R>(y) * Cosh::Of<R>(y) / TanDenominator<R>(x, y);
    return Where(Absolute(y) <= kExpLimit / 2, value);
  }
};

}  // namespace

constinit const ComponentPasses kComplexExp = Components<ProductOf<Exp, Cos>, ProductOf<Exp, Sin>>();
constinit const ComponentPasses kComplexExpm1 = Components<Expm1Re, ProductOf<Exp, Sin>>();
constinit const ComponentPasses kComplexLogistic = Components<LogisticRe, LogisticIm>();
constinit const ComponentPasses kComplexSin = Components<ProductOf<Sin, Cosh>, ProductOf<Cos, Sinh>>();
constinit const ComponentPasses kComplexCos =
    Components<ProductOf<Cos, Cosh>, Negated<ProductOf<Sin, Sinh>>>();
constinit const ComponentPasses kComplexTan = Components<TanRe, TanIm>();
constinit const ComponentPasses kComplexSinh = Components<ProductOf<Sinh, Cos>, ProductOf<Cosh, Sin>>();
constinit const ComponentPasses kComplexCosh = Components<ProductOf<Cosh, Cos>, ProductOf<Sinh, Sin>>();
constinit const ComponentPasses kComplexTanh = Components<Exchanged<TanIm>, Exchanged<TanRe>>();

}  // namespace assay::native
