// Components of complex multiplication and division, modulus, sign, roots and logarithms.
//
// Errors. Products of two f32 are exact doubles, of two f64 exact pairs, so a sum of two products errs by u
// (Single) or 3 u^2 (Double), however much cancels. Quotients and roots of such add a few of these:
// 2^-50 and 2^-100.
// Logarithms: s = x^2 + y^2 - 1 errs by 4 u in Single, which is refused below 2^-10 (2^-40 of s is left), and
// by 2^-104 of x^2 - 1 in Double, refused where it is less than 2^-20 of that (2^-83);
// elsewhere as in logarithm.h.
#include "engines/native/functions/arc.h"
#include "engines/native/functions/complex.h"
#include "engines/native/functions/logarithm.h"
#include "engines/native/functions/passes.h"

namespace assay::native {
namespace {

// Whether tier 2 may multiply or divide the number: 0, or far from the ends of the range.
template <class R>
ASSAY_BODY uint64_t IsFactor(double x) {
  if constexpr (!R::kIsDouble) return 1;
  return Bit(x == 0) | (Bit(Absolute(x) >= 0x1p-400) & Bit(Absolute(x) <= 0x1p400));
}
// Whether x^2 + y^2 is in range and what a smaller part loses does not matter.
template <class R>
ASSAY_BODY uint64_t HasNorm(double x, double y) {
  const double most = Choose(Absolute(x) > Absolute(y), Absolute(x), Absolute(y));
  return Bit(most >= 0x1p-400) & Bit(most <= 0x1p400);
}
template <class R>
ASSAY_BODY R Norm(double x, double y) {
  return R::Product(x, x) + R::Product(y, y);
}

// a c - b d and a d + b c
struct MultiplyRe {
  template <class R>
  ASSAY_BODY R Of(double a, double b, double c, double d) {
    const uint64_t known = IsFactor<R>(a) & IsFactor<R>(b) & IsFactor<R>(c) & IsFactor<R>(d);
    return Where(known != 0, R::Product(a, c) + R::Product(-b, d));
  }
};
struct MultiplyIm {
  template <class R>
  ASSAY_BODY R Of(double a, double b, double c, double d) {
    return MultiplyRe::Of<R>(a, -b, d, c);
  }
};

// (a c + b d) / (c^2 + d^2) and (b c - a d) / (c^2 + d^2)
struct DivideRe {
  template <class R>
  ASSAY_BODY R Of(double a, double b, double c, double d) {
    return Where(HasNorm<R>(c, d) != 0, MultiplyRe::Of<R>(a, -b, c, d) / Norm<R>(c, d));
  }
};
struct DivideIm {
  template <class R>
  ASSAY_BODY R Of(double a, double b, double c, double d) {
    return DivideRe::Of<R>(b, -a, c, d);
  }
};

struct Abs {
  template <class R>
  ASSAY_BODY R Of(double x, double y) {
    return Where(HasNorm<R>(x, y) != 0, SquareRoot(Norm<R>(x, y)));
  }
};

struct SignRe {
  template <class R>
  ASSAY_BODY R Of(double x, double y) {
    return Where(IsFactor<R>(x) != 0, R::Of(x) / Abs::Of<R>(x, y));
  }
};
struct SignIm {
  template <class R>
  ASSAY_BODY R Of(double x, double y) {
    return SignRe::Of<R>(y, x);
  }
};

// t = sqrt((|z| + |x|) / 2) and |y| / (2 t); for x >= 0 they are the real and imaginary parts of the root,
// else the imaginary and the real one.
template <class R>
ASSAY_BODY R RootPart(double x, double y, bool larger) {
  const R t = SquareRoot(Scale(Abs::Of<R>(x, y) + Absolute(x), 0.5));
  return Choose(larger, t, Where(IsFactor<R>(y) != 0, R::Of(0.5 * Absolute(y)) / t));
}
struct SqrtRe {
  template <class R>
  ASSAY_BODY R Of(double x, double y) {
    return RootPart<R>(x, y, x > 0);
  }
};
struct SqrtIm {
  template <class R>
  ASSAY_BODY R Of(double x, double y) {
    return SignOf(y, RootPart<R>(x, y, x < 0));
  }
};
// 1 / sqrt z = conj(sqrt z) / |z|
struct RsqrtRe {
  template <class R>
  ASSAY_BODY R Of(double x, double y) {
    return SqrtRe::Of<R>(x, y) / Abs::Of<R>(x, y);
  }
};
struct RsqrtIm {
  template <class R>
  ASSAY_BODY R Of(double x, double y) {
    return SqrtIm::Of<R>(x, -y) / Abs::Of<R>(x, y);
  }
};

// log |z| = log(x^2 + y^2) / 2
struct LogRe {
  template <class R>
  ASSAY_BODY R Of(double x, double y) {
    const R square = R::Product(y, y);
    const R first = R::Product(x, x) + -1.0;
    const R norm = Norm<R>(x, y), rest = first + square;
    const double least = R::kIsDouble ? 0x1p-20 * Absolute(first.hi) : 0x1p-10;
    const uint64_t known = Bit(Absolute(rest.hi) >= least) & HasNorm<R>(x, y);
    return Where(known != 0, Scale(LogOf<R>(norm.hi, norm.Low(), rest), 0.5));
  }
};

// log |1 + z| = log(1 + s) / 2, s = x (x + 2) + y^2
struct Log1pRe {
  template <class R>
  ASSAY_BODY R Of(double x, double y) {
    const R u = R::Sum(x, 1.0);
    const R square = R::Product(y, y);
    const R norm = u * u + square;
    const R first = R::Sum(x, 2.0) * x, rest = first + square;
    const uint64_t known = Bit(Absolute(rest.hi) >= (R::kIsDouble ? 0x1p-20 : 0x1p-4) * Absolute(first.hi)) &
                           HasNorm<R>(x, y) & HasNorm<R>(u.hi, y);
    return Where(known != 0, Scale(LogOf<R>(norm.hi, norm.Low(), rest), 0.5));
  }
};
// The angle of (1 + x, y).
struct Log1pIm {
  template <class R>
  ASSAY_BODY R Of(double x, double y) {
    const R u = R::Sum(x, 1.0);
    const R angle = AngleOf<R>(R::Of(Absolute(y)), SignOf(u.hi, u));
    const uint64_t known = IsFactor<R>(u.hi) & IsFactor<R>(y);
    return Where(known != 0, SignOf(y, Choose(u.hi < 0, Minus(R::Of(kPi), angle), angle)));
  }
};

}  // namespace

constinit const ComponentPasses kComplexMultiply = Components<MultiplyRe, MultiplyIm>();
constinit const ComponentPasses kComplexDivide = Components<DivideRe, DivideIm>();
constinit const ComponentPasses kComplexSign = Components<SignRe, SignIm>();
constinit const ComponentPasses kComplexSqrt = Components<SqrtRe, SqrtIm>();
constinit const ComponentPasses kComplexRsqrt = Components<RsqrtRe, RsqrtIm>();
constinit const ComponentPasses kComplexLog = Components<LogRe, Exchanged<Atan2>>();
constinit const ComponentPasses kComplexLog1p = Components<Log1pRe, Log1pIm>();
constinit const Passes kComplexAbs = PassesOf<Abs>();

}  // namespace assay::native
