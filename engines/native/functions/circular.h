// sin, cos and tan. |x| = M 2^g with an integer M; the part of 2^g * 2 / pi below 4 is taken from a table of
// 2 / pi (Payne and Hanek), so that M times it is |x| in quarter turns but for whole turns: k + f, |f| <=
// 1/2. Then r = f pi / 2 and polynomials of r^2; below pi / 4, r = |x| itself.
//
// Errors. Single, M below 2^24 (every narrow operand): two table parts leave 2^-104 * 2^24 = 2^-80, as much
// as the rounding of e + p1 (both below 2^-26); no f32 is nearer than 2^-33 to a multiple of a quarter turn,
// so r errs by 2^-46 at worst and by 4 u as a rule; the polynomials by 2^-57 and 2 u. Double, M below 2^53:
// four parts leave 2^-157, no f64 is nearer than 2^-62: 2^-94 at worst. Each sum below errs by 2 u^2 of
// itself; until p2, of order 2^-51, is in, that is 2^-156 where the result is small. The polynomials: 2^-111,
// heads 2^-101, tails 2^-53 of 2^-50: 2^-100.
#ifndef ASSAY_ENGINES_NATIVE_FUNCTIONS_CIRCULAR_H_
#define ASSAY_ENGINES_NATIVE_FUNCTIONS_CIRCULAR_H_

#include "engines/native/functions/polynomial.h"

namespace assay::native {

inline constexpr int kTurnPartBits = 53;
inline constexpr int kTurnFirst = -64, kTurnLast = 1001;  // exponents g of the table, inf's too

// Bits [from, from + count) of 2 / pi after the point, from >= -200; bits before the point are 0.
constexpr uint64_t TwoOverPiBits(int from, int count) {
  uint64_t bits = 0;
  for (int i = from; i < from + count; ++i) {
    bits = 2 * bits + (i < 0 ? 0 : (kTwoOverPi[i / 64] >> (63 - i % 64)) & 1);
  }
  return bits;
}
// 2^exponent for constants.
constexpr double ConstantPower(int exponent) {
  return std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
}

// at[g - kTurnFirst]: bits of 2^g * 2 / pi worth 2^1 to 2^-51 (part 0), 2^-52 to 2^-104 (part 1), ...
struct TurnPart {
  double at[kTurnLast - kTurnFirst + 1];
};
constexpr TurnPart MakeTurnPart(int part) {
  TurnPart table = {};
  for (int g = kTurnFirst; g <= kTurnLast; ++g) {
    const uint64_t bits = TwoOverPiBits(g - 2 + kTurnPartBits * part, kTurnPartBits);
    table.at[g - kTurnFirst] = static_cast<double>(bits) * ConstantPower(2 - kTurnPartBits * (part + 1));
  }
  return table;
}
alignas(64) inline constexpr TurnPart kTurns0 = MakeTurnPart(0), kTurns1 = MakeTurnPart(1),
                                      kTurns2 = MakeTurnPart(2), kTurns3 = MakeTurnPart(3);

// x >= 0 to the nearest integer.
ASSAY_BODY double RoundPositive(double x) { return x < 0x1p52 ? (x + 0x1p52) - 0x1p52 : x; }

template <class R>
struct Quadrant {
  uint64_t k;  // of which the lowest two bits count
  R r;
};

// M = mantissa * 2^bits.
template <bool F>
ASSAY_BODY Quadrant<Single<F>> TurnsOf(uint64_t index, double mantissa, Single<F>*) {
  const double m = mantissa * 0x1p23;
  const uint64_t at = index - 23;
  const Pair p = ExactProduct<F>(m, kTurns0.at[at]);
  const double shifted = p.hi + kRounder;
  const double f = (p.hi - (shifted - kRounder)) + MulAdd<F>(m, kTurns1.at[at], p.lo);
  return {BitsOf(shifted), {f * kHalfPi.hi}};
}
template <bool F>
ASSAY_BODY Quadrant<Double<F>> TurnsOf(uint64_t index, double mantissa, Double<F>*) {
  const double m = mantissa * 0x1p52;
  const uint64_t at = index - 52;
  const Pair p0 = ExactProduct<F>(m, kTurns0.at[at]);
  const Pair p1 = ExactProduct<F>(m, kTurns1.at[at]);
  const Pair p2 = ExactProduct<F>(m, kTurns2.at[at]);
  const double p3 = m * kTurns3.at[at];
  const double whole = RoundPositive(p0.hi);
  const double quarters = whole - 4 * RoundPositive(0.25 * whole);  // in [-2, 2]
  // p0.hi - whole and p0.lo are multiples of 2^-51 and at most 2.5 together.
  const Pair s = ExactSum((p0.hi - whole) + p0.lo, p1.hi);
  const double shifted = s.hi + kRounder;
  const Double<F> head = Double<F>::Of(ExactSum(s.hi - (shifted - kRounder), s.lo));
  const Double<F> f = (((head + p1.lo) + p2.hi) + p2.lo) + p3;
  return {BitsOf(shifted) + BitsOf(quarters + kRounder), f * Double<F>::Of(kHalfPi)};
}

template <class R>
ASSAY_BODY Quadrant<R> QuadrantOf(double a) {
  const uint64_t keep = Bit(a < 0x1.9p-1) - 1;  // all ones where the argument must be reduced
  const double safe = Blend(keep, a, 1.0);
  const uint64_t index = (BitsOf(safe) >> 52) - (1023 + kTurnFirst);
  const double mantissa = FromBits((BitsOf(safe) & ((uint64_t{1} << 52) - 1)) | (uint64_t{1023} << 52));
  const Quadrant<R> q = TurnsOf(index, mantissa, static_cast<R*>(nullptr));
  return {q.k & keep, Blend(keep, q.r, R::Of(a))};
}

template <class R>
ASSAY_BODY R SinOfSmall(R r, R square) {
  return AddSmaller(r, r * (square * Polynomial<SinPolynomial>(square)));
}
template <class R>
ASSAY_BODY R CosOfSmall(R square) {
  return AddSmaller(R::Of(1.0),
                    AddSmaller(Scale(square, -0.5), (square * square) * Polynomial<CosPolynomial>(square)));
}

ASSAY_BODY bool IsFiniteValue(double a) { return a <= std::numeric_limits<double>::max(); }

// sin(|x| + k quarter turns), negated for an odd number of half turns.
template <class R>
ASSAY_BODY R SinFrom(const Quadrant<R>& q, uint64_t quarters) {
  const uint64_t k = q.k + quarters;
  const R square = q.r * q.r;
  const R value = Choose((k & 1) != 0, CosOfSmall(square), SinOfSmall(q.r, square));
  return SignOf(FromBits(k << 62 & (uint64_t{1} << 63)), value);
}

struct Sin {
  template <class R>
  ASSAY_BODY R Of(double x) {
    const double a = Absolute(x);
    return Where(IsFiniteValue(a), SignOf(x, SinFrom(QuadrantOf<R>(a), 0)));
  }
};

struct Cos {
  template <class R>
  ASSAY_BODY R Of(double x) {
    const double a = Absolute(x);
    return Where(IsFiniteValue(a), SinFrom(QuadrantOf<R>(a), 1));
  }
};

// sin / cos; an odd number of quarter turns makes it -cos / sin.
struct Tan {
  template <class R>
  ASSAY_BODY R Of(double x) {
    const double a = Absolute(x);
    const Quadrant<R> q = QuadrantOf<R>(a);
    const bool odd = (q.k & 1) != 0;
    const R square = q.r * q.r;
    const R sine = SinOfSmall(q.r, square), cosine = CosOfSmall(square);
    const R value = Choose(odd, -cosine, sine) / Choose(odd, sine, cosine);
    return Where(IsFiniteValue(a), SignOf(x, value));
  }
};

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_FUNCTIONS_CIRCULAR_H_
