// The formulas of the proven functions. Errors need no bounds here: every result was compared (proven.h).
#include "engines/native/functions/arithmetic.h"
#include "engines/native/functions/circular.h"
#include "engines/native/functions/coefficients.h"
#include "engines/native/functions/proven.h"
#include "engines/native/functions/proven_coefficients.h"
// Behind those that they are to be used with.
#include "engines/native/functions/proven_lanes_body.h"
// And behind that.
#include "engines/native/functions/double_exp_body.h"

// Apart from the functions of the same names with a rounding test.
namespace assay::native::ASSAY_ISA::proven {
namespace {

// e^x = scale (1 + small): x = k log 2 / 16 + r, |r| <= 0.0217.
struct Exponential {
  F64 scale, small;
};
ASSAY_INLINE Exponential ExponentialOf(F64 x) {
  const F64 shifted = Fma(x, Fill(kExp16Steps), Fill(kRounder));
  const F64 k = shifted - kRounder;
  const F64 r = Fma(k, Fill(-kExp16StepRest), Fma(k, Fill(-kExp16Step), x));
  const F64 square = r * r;
  const F64 small = Fma(Series<5>(kExp16Polynomial, r, square), square, r);
  const U64 scale = (U64)Lookup(kExp16Table, (U64)shifted) + ((U64)shifted << 48);
  return {(F64)scale, small};
}

// Beyond +-105 every format has overflowed or rounds to the function's limit.
ASSAY_INLINE F64 Clamped(F64 x) { return Most(Fill(-105), Least(Fill(105), x)); }

struct Exp {
  static constexpr bool kKeepsSign = false;
  ASSAY_INLINE F64 Of(F64 x) {
    const Exponential e = ExponentialOf(Clamped(x));
    return Fma(e.scale, e.small, e.scale);
  }
};

struct Expm1 {
  static constexpr bool kKeepsSign = true;
  static constexpr Opcode kAsks = Opcode::kExpm1;
  ASSAY_INLINE F64 Of(F64 x) {
    const Exponential e = ExponentialOf(Clamped(x));
    return Fma(e.scale, e.small, e.scale - 1);
  }
};

// 1 / (1 + e^-x). Near 0 it is 1/2 + x / 4 - x^3 / 48 + ..., where x / 4 may be a midpoint of floats and the
// rest too small for a double.
struct Logistic {
  static constexpr bool kKeepsSign = false;
  static constexpr Opcode kAsks = Opcode::kLogistic;
  ASSAY_INLINE F64 Of(F64 x) {
    const Exponential e = ExponentialOf(-Clamped(x));
    return Fill(1) / (Fma(e.scale, e.small, e.scale) + 1);
  }
};

// E / (E + 2), E = e^2|x| - 1; from 9.02 on it rounds to 1.
struct Tanh {
  static constexpr bool kKeepsSign = true;
  ASSAY_INLINE F64 Of(F64 x) {
    const F64 magnitude = Least(Fill(10), Magnitude(x));
    const Exponential e = ExponentialOf(magnitude + magnitude);
    const F64 power = Fma(e.scale, e.small, e.scale - 1);
    return power / (power + 2);
  }
};

// (E + E / (E + 1)) / 2, E = e^|x| - 1.
struct Sinh {
  static constexpr bool kKeepsSign = true;
  static constexpr Opcode kAsks = Opcode::kSinh;
  ASSAY_INLINE F64 Of(F64 x) {
    const Exponential e = ExponentialOf(Least(Fill(105), Magnitude(x)));
    const F64 power = Fma(e.scale, e.small, e.scale - 1);
    return Fill(0.5) * (power + power / (power + 1));
  }
};

// (u + 1 / u) / 2, u = e^|x|.
struct Cosh {
  static constexpr bool kKeepsSign = false;
  ASSAY_INLINE F64 Of(F64 x) {
    const Exponential e = ExponentialOf(Least(Fill(105), Magnitude(x)));
    const F64 power = Fma(e.scale, e.small, e.scale);
    return Fill(0.5) * (power + Fill(1) / power);
  }
};

// log x for a normal x > 0. x = 2^m z, c near 1 / z, r = z c - 1: m log 2 - log c + log(1 + r). Around 1, c
// is 1; there `near_one` is taken for r where is_near_one says so.
ASSAY_INLINE F64 LogarithmOf(F64 x, F64 near_one, I64 is_near_one) {
  constexpr uint64_t kOne = uint64_t{1023} << 52;
  const U64 bits = (U64)x + (kOne - kLog16Start);
  const F64 m = (F64)((bits >> 52) | BitsOf(0x1p52)) - (0x1p52 + 1023);
  const F64 z = (F64)((bits & ((uint64_t{1} << 52) - 1)) + kLog16Start);
  const U64 index = bits >> 48;
  const F64 by_table = Fma(z, Lookup(kLog16Inverse, index), Fill(-1));
  const F64 r = is_near_one ? near_one : by_table;
  const F64 square = r * r;
  const F64 small = Fma(Series<8>(kLog16Polynomial, r, square), square, r);
  return Fma(m, Fill(kLn2.hi), Lookup(kLog16Table, index) + small);
}
// y but for x outside (pole, infinity).
ASSAY_INLINE F32 LogarithmSpecial(F32 x, F32 y, float pole) {
  const F32 infinity = FillSingle(__builtin_inff());
  if (__builtin_expect(AllBetween(FillSingle(pole), x, infinity), 1)) return y;
  const F32 limit = x == pole ? -infinity : x == infinity ? infinity : FillSingle(__builtin_nanf(""));
  const I32 usual = (x > pole) & (x < infinity);
  return usual ? y : limit;
}

struct Log {
  static constexpr bool kKeepsSign = false;
  static constexpr Opcode kAsks = Opcode::kLog;
  ASSAY_INLINE F64 Of(F64 x) { return LogarithmOf(x, x, (I64){}); }
  ASSAY_INLINE F32 Special(F32 x, F32 y) { return LogarithmSpecial(x, y, 0); }
};

// 1 + x is exact where it is near 1 but for |x| < 2^-29.
struct Log1p {
  static constexpr bool kKeepsSign = true;
  static constexpr Opcode kAsks = Opcode::kLog1p;
  ASSAY_INLINE F64 Of(F64 x) { return LogarithmOf(x + 1, x, (x >= -0x1p-6) & (x < 0x1p-5)); }
  ASSAY_INLINE F32 Special(F32 x, F32 y) { return LogarithmSpecial(x, y, -1); }
};

// erf(c + t) by powers of t, whose coefficients are looked up.
#if ASSAY_BYTES == 64
template <int j>
ASSAY_INLINE F64 ErfFrom(U64 index, F64 t) {
  if constexpr (j == kErf16Degree) {
    return Lookup(kErf16[j], index);
  } else {
    return Fma(ErfFrom<j + 1>(index, t), t, Lookup(kErf16[j], index));
  }
}
ASSAY_INLINE F64 ErfAt(U64 index, F64 t) { return ErfFrom<0>(index, t); }
#else
// The coefficients of a piece behind one another: loads and transposes take a quarter of the time of gathers.
struct ErfPieceTable {
  alignas(64) double of[16][16] = {};
  constexpr ErfPieceTable() {
    for (int piece = 0; piece < 16; ++piece) {
      for (int j = 0; j <= kErf16Degree; ++j) of[piece][j] = kErf16[j][piece];
    }
  }
};
constexpr ErfPieceTable kErfPieces;

// c[i] = coefficients first + i of the pieces.
ASSAY_INLINE void FourCoefficients(const double* const* pieces, int first, F64* c) {
  const __m256d p0 = _mm256_load_pd(pieces[0] + first), p1 = _mm256_load_pd(pieces[1] + first),
                p2 = _mm256_load_pd(pieces[2] + first), p3 = _mm256_load_pd(pieces[3] + first);
  const __m256d even01 = _mm256_unpacklo_pd(p0, p1), odd01 = _mm256_unpackhi_pd(p0, p1),
                even23 = _mm256_unpacklo_pd(p2, p3), odd23 = _mm256_unpackhi_pd(p2, p3);
  c[0] = (F64)_mm256_permute2f128_pd(even01, even23, 0x20);
  c[1] = (F64)_mm256_permute2f128_pd(odd01, odd23, 0x20);
  c[2] = (F64)_mm256_permute2f128_pd(even01, even23, 0x31);
  c[3] = (F64)_mm256_permute2f128_pd(odd01, odd23, 0x31);
}
ASSAY_INLINE F64 ErfAt(U64 index, F64 t) {
  static_assert(kErf16Degree == 12);
  const U64 piece = index & 15;
  const double* const pieces[] = {kErfPieces.of[piece[0]], kErfPieces.of[piece[1]], kErfPieces.of[piece[2]],
                                  kErfPieces.of[piece[3]]};
  const F64 last = {pieces[0][12], pieces[1][12], pieces[2][12], pieces[3][12]};
  F64 sum = last;
#pragma GCC unroll 3
  for (int first = 8; first >= 0; first -= 4) {
    F64 c[4];
    FourCoefficients(pieces, first, c);
#pragma GCC unroll 4
    for (int i = 3; i >= 0; --i) sum = Fma(sum, t, c[i]);
  }
  return sum;
}
#endif
struct Erf {
  static constexpr bool kKeepsSign = true;
  ASSAY_INLINE F64 Of(F64 x) {
    const F64 magnitude = Least(Fill(15.5 * kErf16Spacing), Magnitude(x));
    const F64 shifted = Fma(magnitude, Fill(kErf16PerUnit), Fill(kRounder));
    const F64 t = Fma(Fill(kRounder) - shifted, Fill(kErf16Spacing), magnitude);
    return ErfAt((U64)shifted, t);
  }
};

// From the quotient of floats, 1 + h times too large squared: one step of third order.
struct Rsqrt {
  static constexpr bool kKeepsSign = false;
  ASSAY_INLINE F32 Start(F32 x) { return FillSingle(1) / Root(x); }
  ASSAY_INLINE F64 Of(F64 x) {
    const F64 start = Widen(Start(Narrow(x)));
    const F64 h = Fma(-x * start, start, Fill(1));
    return Fma(start * h, Fma(h, Fill(0.375), Fill(0.5)), start);
  }
  ASSAY_INLINE F32 Special(F32 x, F32 y) {
    const I32 usual = (x > 0) & (x < FillSingle(__builtin_inff()));
    return usual ? y : Start(x);
  }
};

// |x| = 2^(3 q + s) z, z in [1, 2), s in {0, 1, 2}; a polynomial of z and one of Halley's steps.
struct Cbrt {
  static constexpr bool kKeepsSign = true;
  ASSAY_INLINE F64 Of(F64 x) {
    const U64 bits = (U64)Magnitude(x);
    const F64 e = (F64)((bits >> 52) | BitsOf(0x1p52)) - (0x1p52 + 1023);
    const F64 rounded = Fma(e - 1, Fill(1 / 3.0), Fill(kRounder));
    const F64 s = Fma(kRounder - rounded, Fill(3), e);
    const F64 mantissa = (F64)((bits & ((uint64_t{1} << 52) - 1)) | BitsOf(1.0));
    const F64 power = s == 0 ? Fill(1) : s == 1 ? Fill(2) : Fill(4);
    const F64 root = s == 0 ? Fill(1) : s == 1 ? Fill(kCbrt2.hi) : Fill(kCbrt4.hi);
    const F64 start =
        Series<std::size(CbrtPolynomial::kSingle)>(CbrtPolynomial::kSingle, mantissa, mantissa * mantissa) *
        root;
    const F64 z = mantissa * power;
    const F64 cube = start * start * start;
    const F64 y = Fma(-start, (cube - z) / Fma(Fill(2), cube, z), start);
    return y * (F64)(((U64)rounded + 1023) << 52);
  }
  ASSAY_INLINE F32 Special(F32 x, F32 y) {
    const I32 usual = (x != 0) & (x - x == 0);
    return usual ? y : x;
  }
};

// x = k quarter turns + r, |r| <= pi / 4. k quarter turns of fewer than 53 bits are taken off exactly;
// beyond, by Payne and Hanek (circular.h).
struct Turns {
  U64 k;
  F64 r;
};
ASSAY_INLINE Turns TurnsOf(F64 x) {
  const F64 shifted = Fma(x, Fill(kQuarters), Fill(kRounder));
  const F64 k = shifted - kRounder;
  Turns turns = {(U64)shifted, Fma(k, Fill(-kQuarterRest), Fma(k, Fill(-kQuarter), x))};
  const I64 large = ~(Magnitude(x) < 0x1p18);
  if (__builtin_expect(Any(large), 0)) {
    for (int i = 0; i < kLanes; ++i) {
      if (large[i] == 0) continue;
      const Quadrant<Single<true>> q = QuadrantOf<Single<true>>(Absolute(x[i]));
      turns.k[i] = x[i] < 0 ? -q.k : q.k;
      turns.r[i] = IsFiniteValue(Absolute(x[i])) ? SignOf(x[i], 1.0) * q.r.hi : kUnknown;
    }
  }
  return turns;
}
ASSAY_INLINE F64 SineOf(F64 r, F64 square) {
  return r * Fma(Series<6>(kSin6, square, square * square), square, Fill(1));
}
ASSAY_INLINE F64 CosineOf(F64 square) {
  const F64 fourth = square * square;
  return Fma(Series<6>(kCos6, square, fourth), fourth, Fma(square, Fill(-0.5), Fill(1)));
}
// sin of k quarter turns and r.
ASSAY_INLINE F64 SineOf(U64 k, F64 r) {
  const F64 square = r * r;
  const F64 value = (k & 1) != 0 ? CosineOf(square) : SineOf(r, square);
  return (F64)((U64)value ^ (k >> 1 << 63));
}

struct Sin {
  static constexpr bool kKeepsSign = false;
  static constexpr Opcode kAsks = Opcode::kSin;
  ASSAY_INLINE F64 Of(F64 x) {
    const Turns turns = TurnsOf(x);
    return SineOf(turns.k, turns.r);
  }
};

struct Cos {
  static constexpr bool kKeepsSign = false;
  static constexpr Opcode kAsks = Opcode::kCos;
  ASSAY_INLINE F64 Of(F64 x) {
    const Turns turns = TurnsOf(x);
    return SineOf(turns.k + 1, turns.r);
  }
};

constexpr ProvenRow kRows[] = {
    RowOf<Exp>(Opcode::kExp, Apply<Doubles<DoubleExp>>),
    RowOf<Expm1>(Opcode::kExpm1),
    RowOf<Logistic>(Opcode::kLogistic, Apply<Doubles<DoubleLogistic>>),
    RowOf<Tanh>(Opcode::kTanh),
    RowOf<Sinh>(Opcode::kSinh),
    RowOf<Cosh>(Opcode::kCosh),
    RowOf<Log>(Opcode::kLog),
    RowOf<Log1p>(Opcode::kLog1p),
    RowOf<Erf>(Opcode::kErf),
    RowOf<Rsqrt>(Opcode::kRsqrt),
    RowOf<Cbrt>(Opcode::kCbrt),
    RowOf<Sin>(Opcode::kSin),
    RowOf<Cos>(Opcode::kCos),
};

}  // namespace
}  // namespace assay::native::ASSAY_ISA::proven

#if ASSAY_BYTES == 64
#include "engines/native/functions/proven_pieces_body.h"
#endif
