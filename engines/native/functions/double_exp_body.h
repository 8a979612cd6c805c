// exp and logistic of f64 by pairs of doubles, with the rounding test in the vector. Part of proven_body.h.
//
// x = k log 2 / 128 + r, r = high + low, |r| <= 2^-8.5; e^x = 2^(k / 128) (1 + high + p), p = low + r^2 q(r);
// 2^(k / 128) is table + rest. Errors relative to e^x: r 2^-112 + 2^18 2^-131; the polynomial 2^-76; p, which
// is below 2^-17.9, errs by 3 u of itself, and the two sums that p is in by u each: 2^-68.2. Left out is rest
// p, 2^-71. The test's own sums err by u 2^-17 = 2^-70.
//
// logistic: q near 1 / d, d = 1 + e^-x; 1 - q d is known to 2^-104,
// so q + q (1 - q d) has no more than e^-x's error.
namespace assay::native::ASSAY_ISA::proven {
namespace {

constexpr double kDoubleBound = 0x1p-67;

// e^x = (sum + small) 2^m, |small| <= 2^-17 sum, m 2^52 = power; |x| <= 700.
struct DoubleExponential {
  F64 sum, small;
  U64 power;
};
ASSAY_INLINE DoubleExponential DoubleExponentialOf(F64 x) {
  const F64 shifted = Fma(x, Fill(kExpSteps), Fill(kRounder));
  const F64 k = shifted - kRounder;
  const F64 first = Fma(k, Fill(-kExpStep1), x);  // exact, as is the product with the second part
  const F64 second = k * kExpStep2;
  const F64 high = first - second;
  const F64 low = Fma(k, Fill(-kExpStep3), (first - high) - second);
  const F64 square = high * high;
  const F64 p = Fma(square, Series<5>(ExpPolynomial::kSingle, high, square), low);

  const U64 index = (U64)shifted & ((1 << kExpTableBits) - 1);
  const F64 table = Gather(kExpTableHi, index);
  const F64 product = table * high;
  const F64 sum = table + product;
  const F64 lost = ((table - sum) + product) + Fma(table, high, -product);
  const F64 rest = Gather(kExpTableLo, index);
  const F64 small = lost + Fma(table, p, Fma(rest, high, rest));
  return {sum, small, ((U64)shifted - index) << (52 - kExpTableBits)};
}

// Results that pass the test for x in (-700, 700); the others are asked for.
template <class Fn>
struct Doubles {
  static constexpr int64_t kBytes = 8;
  ASSAY_INLINE void Run(const std::byte* in, std::byte* out) {
    F64 x;
    std::memcpy(&x, in, sizeof(x));
    F64 below, above;
    F64 y = Fn::Of(x, below, above);
    if (__builtin_expect(!AllBetween(Fill(-700), x, Fill(700)) || !AllEqual(below, above), 0))
      y = Asked<double>(Fn::kAsks, x);
    std::memcpy(out, &y, sizeof(y));
  }
};
// The ends of high + low, rounded.
ASSAY_INLINE void Ends(F64 high, F64 low, F64& below, F64& above) {
  below = high + Fma(high, Fill(-kDoubleBound), low);
  above = high + Fma(high, Fill(kDoubleBound), low);
}

struct DoubleExp {
  static constexpr Opcode kAsks = Opcode::kExp;
  ASSAY_INLINE F64 Of(F64 x, F64& below, F64& above) {
    const DoubleExponential e = DoubleExponentialOf(x);
    Ends(e.sum, e.small, below, above);
    return (F64)((U64)above + e.power);
  }
};

struct DoubleLogistic {
  static constexpr Opcode kAsks = Opcode::kLogistic;
  ASSAY_INLINE F64 Of(F64 x, F64& below, F64& above) {
    const DoubleExponential e = DoubleExponentialOf(-x);
    const F64 scale = (F64)(e.power + BitsOf(1.0));
    const F64 sum = e.sum + e.small;
    F64 d = Fill(1);
    const F64 rest = TwoSum(d, sum * scale) + ((e.sum - sum) + e.small) * scale;
    const F64 q = Fill(1) / d;
    Ends(q, q * Fma(-rest, q, Fma(-d, q, Fill(1))), below, above);
    return above;
  }
};

}  // namespace
}  // namespace assay::native::ASSAY_ISA::proven
