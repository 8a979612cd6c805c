// The two arithmetics of the native scalar functions, so that each function is written once.
//
// Single is a double: relative error u = 2^-53 an operation (tier 1, for f32 and narrower results). Double is
// the unevaluated sum of two doubles, |lo| <= ulp(hi) / 2: relative errors of 2 u^2 to 16 u^2 as stated at
// each operation (tier 2). They hold for hi between 2^-960 and 2^960; results outside are not trusted.
// kFma says whether the code may use fused multiply-add; without it exact products are Dekker's.
#ifndef ASSAY_ENGINES_NATIVE_FUNCTIONS_ARITHMETIC_H_
#define ASSAY_ENGINES_NATIVE_FUNCTIONS_ARITHMETIC_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "jit/isa.h"

namespace assay::native {

struct Pair {
  double hi, lo;
};

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();  // "ask the next tier"
// Adding and subtracting it rounds |x| < 2^51 to an integer; before the subtraction the low bits of the
// pattern are that integer in two's complement.
inline constexpr double kRounder = 0x1.8p52;

ASSAY_BODY uint64_t BitsOf(double x) { return std::bit_cast<uint64_t>(x); }
ASSAY_BODY double FromBits(uint64_t bits) { return std::bit_cast<double>(bits); }
ASSAY_BODY double Absolute(double x) { return FromBits(BitsOf(x) & ~(uint64_t{1} << 63)); }
ASSAY_BODY double SignOf(double x, double magnitude) {
  return FromBits(BitsOf(magnitude) ^ (BitsOf(x) & (uint64_t{1} << 63)));
}
ASSAY_BODY double Choose(bool first, double a, double b) { return first ? a : b; }
// 2^k for an integer k in [-1022, 1023] given as the pattern of kRounder + k.
ASSAY_BODY double PowerOfTwo(uint64_t rounded) { return FromBits((rounded + 1023) << 52); }

template <bool kFma>
ASSAY_BODY double MulAdd(double a, double b, double c) {  // a * b + c, rounded once or twice
  if constexpr (kFma) {
    return __builtin_fma(a, b, c);
  } else {
    return a * b + c;
  }
}

// a + b exactly; FastSum wants |a| >= |b| or a = 0.
ASSAY_BODY Pair FastSum(double a, double b) {
  const double s = a + b;
  return {s, b - (s - a)};
}
ASSAY_BODY Pair ExactSum(double a, double b) {
  const double s = a + b;
  const double t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}
// a * b exactly.
template <bool kFma>
ASSAY_BODY Pair ExactProduct(double a, double b) {
  const double p = a * b;
  if constexpr (kFma) {
    return {p, __builtin_fma(a, b, -p)};
  } else {
    const double ta = a * 0x1.0000002p27, tb = b * 0x1.0000002p27;  // Veltkamp's splitting
    const double ah = ta - (ta - a), bh = tb - (tb - b);
    const double al = a - ah, bl = b - bh;
    return {p, al * bl - (((p - ah * bh) - al * bh) - ah * bl)};
  }
}

template <bool F>
struct Single {
  static constexpr bool kFma = F;
  static constexpr bool kIsDouble = false;
  double hi;
  ASSAY_BODY Single Of(double x) { return {x}; }
  ASSAY_BODY Single Of(Pair x) { return {x.hi}; }
  ASSAY_BODY Single Sum(double a, double b) { return {a + b}; }
  ASSAY_BODY Single Product(double a, double b) { return {a * b}; }
  ASSAY_BODY Single Load(const double* table_hi, const double*, uint64_t i) { return {table_hi[i]}; }
  __attribute__((always_inline)) double Low() const { return 0; }
};

template <bool F>
struct Double {
  static constexpr bool kFma = F;
  static constexpr bool kIsDouble = true;
  double hi, lo;
  ASSAY_BODY Double Of(double x) { return {x, 0}; }
  ASSAY_BODY Double Of(Pair x) { return {x.hi, x.lo}; }
  ASSAY_BODY Double Sum(double a, double b) { return Of(ExactSum(a, b)); }
  ASSAY_BODY Double Product(double a, double b) { return Of(ExactProduct<F>(a, b)); }
  ASSAY_BODY Double Load(const double* table_hi, const double* table_lo, uint64_t i) {
    return {table_hi[i], table_lo[i]};
  }
  __attribute__((always_inline)) double Low() const { return lo; }
};

template <bool F>
ASSAY_BODY Single<F> operator-(Single<F> a) {
  return {-a.hi};
}
template <bool F>
ASSAY_BODY Single<F> operator+(Single<F> a, Single<F> b) {
  return {a.hi + b.hi};
}
template <bool F>
ASSAY_BODY Single<F> operator+(Single<F> a, double b) {
  return {a.hi + b};
}
template <bool F>
ASSAY_BODY Single<F> operator*(Single<F> a, Single<F> b) {
  return {a.hi * b.hi};
}
template <bool F>
ASSAY_BODY Single<F> operator*(Single<F> a, double b) {
  return {a.hi * b};
}
template <bool F>
ASSAY_BODY Single<F> operator/(Single<F> a, Single<F> b) {
  return {a.hi / b.hi};
}
template <bool F>
ASSAY_BODY Single<F> SquareRoot(Single<F> a) {
  return {__builtin_sqrt(a.hi)};
}
// a + b where |a| >= |b| or a = 0.
template <bool F>
ASSAY_BODY Single<F> AddSmaller(Single<F> a, Single<F> b) {
  return {a.hi + b.hi};
}
// Times a power of two.
template <bool F>
ASSAY_BODY Single<F> Scale(Single<F> a, double power) {
  return {a.hi * power};
}
template <bool F>
ASSAY_BODY Single<F> Choose(bool first, Single<F> a, Single<F> b) {
  return {first ? a.hi : b.hi};
}
template <bool F>
ASSAY_BODY Single<F> SignOf(double x, Single<F> a) {
  return {SignOf(x, a.hi)};
}

template <bool F>
ASSAY_BODY Double<F> operator-(Double<F> a) {
  return {-a.hi, -a.lo};
}
// 3 u^2 + 13 u^3 of the exact sum, whatever cancels (Joldes, Muller, Popescu, "Tight and rigorous error
// bounds for basic building blocks of double-word arithmetic", AccurateDWPlusDW).
template <bool F>
ASSAY_BODY Double<F> operator+(Double<F> a, Double<F> b) {
  const Pair s = ExactSum(a.hi, b.hi);
  const Pair t = ExactSum(a.lo, b.lo);
  const Pair v = FastSum(s.hi, s.lo + t.hi);
  return Double<F>::Of(FastSum(v.hi, t.lo + v.lo));
}
// 2 u^2 (DWPlusFP, ibid.).
template <bool F>
ASSAY_BODY Double<F> operator+(Double<F> a, double b) {
  const Pair s = ExactSum(a.hi, b);
  return Double<F>::Of(FastSum(s.hi, a.lo + s.lo));
}
// FastSum of the high parts is exact; s.lo + (a.lo + b.lo) is at most 3 u |a.hi| and errs by 2 u of that:
// 6 u^2 |a|, at most 12 u^2 of the sum where |b| <= |a| / 2.
template <bool F>
ASSAY_BODY Double<F> AddSmaller(Double<F> a, Double<F> b) {
  const Pair s = FastSum(a.hi, b.hi);
  return Double<F>::Of(FastSum(s.hi, s.lo + (a.lo + b.lo)));
}
// The dropped a.lo * b.lo is u^2; the cross products and their sums err by at most 6 u^2.
template <bool F>
ASSAY_BODY Double<F> operator*(Double<F> a, Double<F> b) {
  const Pair p = ExactProduct<F>(a.hi, b.hi);
  const double cross = MulAdd<F>(a.hi, b.lo, a.lo * b.hi);
  return Double<F>::Of(FastSum(p.hi, p.lo + cross));
}
// 4 u^2.
template <bool F>
ASSAY_BODY Double<F> operator*(Double<F> a, double b) {
  const Pair p = ExactProduct<F>(a.hi, b);
  return Double<F>::Of(FastSum(p.hi, MulAdd<F>(a.lo, b, p.lo)));
}
// q is a / b to 2 u, the remainder a - q b is known to 8 u^2 |a| and divided to 3 u: 16 u^2.
template <bool F>
ASSAY_BODY Double<F> operator/(Double<F> a, Double<F> b) {
  const double q = a.hi / b.hi;
  const Pair p = ExactProduct<F>(q, b.hi);
  const double rest = ((a.hi - p.hi) - p.lo) + MulAdd<F>(-q, b.lo, a.lo);
  return Double<F>::Of(FastSum(q, rest / b.hi));
}
// s is the root to 2 u; the Newton step leaves 2 u^2 and errs by 4 u of itself: 8 u^2. a is not 0.
template <bool F>
ASSAY_BODY Double<F> SquareRoot(Double<F> a) {
  const double s = __builtin_sqrt(a.hi);
  const Pair p = ExactProduct<F>(s, s);
  const double rest = ((a.hi - p.hi) - p.lo) + a.lo;
  return Double<F>::Of(FastSum(s, rest / (s + s)));
}
template <bool F>
ASSAY_BODY Double<F> Scale(Double<F> a, double power) {
  return {a.hi * power, a.lo * power};
}
template <bool F>
ASSAY_BODY Double<F> Choose(bool first, Double<F> a, Double<F> b) {
  return {first ? a.hi : b.hi, first ? a.lo : b.lo};
}
template <bool F>
ASSAY_BODY Double<F> SignOf(double x, Double<F> a) {
  return {SignOf(x, a.hi), SignOf(x, a.lo)};
}

// a - b and a - x by the sums.
template <class R>
ASSAY_BODY R Minus(R a, R b) {
  return a + -b;
}
// `a` where it is known, else "ask the next tier".
template <class R>
ASSAY_BODY R Where(bool known, R a) {
  a.hi = known ? a.hi : kUnknown;
  return a;
}
// `a` where the mask is all ones, `b` where it is 0: for values that must not be computed in a branch.
ASSAY_BODY double Blend(uint64_t mask, double a, double b) {
  return FromBits((BitsOf(a) & mask) | (BitsOf(b) & ~mask));
}
template <bool F>
ASSAY_BODY Single<F> Blend(uint64_t mask, Single<F> a, Single<F> b) {
  return {Blend(mask, a.hi, b.hi)};
}
template <bool F>
ASSAY_BODY Double<F> Blend(uint64_t mask, Double<F> a, Double<F> b) {
  return {Blend(mask, a.hi, b.hi), Blend(mask, a.lo, b.lo)};
}
// Conditions to be combined: g++ 12 makes vector code of words, but not of all that && and || become.
ASSAY_BODY uint64_t Bit(bool condition) { return condition ? 1 : 0; }

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_FUNCTIONS_ARITHMETIC_H_
