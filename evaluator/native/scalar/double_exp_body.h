// exp of f64 by pairs of doubles, with the rounding test in the vector. Part of proven_body.h.
//
// x = k log 2 / 128 + r, r = high + low, |r| <= 2^-8.5; e^x = 2^(k / 128) (1 + high + p), p = low + r^2 q(r); 2^(k / 128)
// is table + rest. Errors relative to e^x: r 2^-112 + 2^18 2^-131; the polynomial 2^-76; p, which is below 2^-17.9,
// errs by 3 u of itself, and the two sums that p is in by u each: 2^-68.2. Left out is rest p, 2^-71. The test's own
// sums err by u 2^-17 = 2^-70.
namespace assay::native::proven {
namespace {

constexpr double kDoubleExpBound = 0x1p-67;

// Results for x in (-700, 700) that pass the test; the others are asked for.
struct DoubleExp {
  static constexpr int64_t kBytes = 8;
  ASSAY_INLINE void Run(const std::byte* in, std::byte* out) {
    F64 x;
    std::memcpy(&x, in, sizeof(x));
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
    const F64 below = sum + Fma(sum, Fill(-kDoubleExpBound), small);
    const F64 above = sum + Fma(sum, Fill(kDoubleExpBound), small);
    F64 y = (F64)((U64)above + (((U64)shifted - index) << (52 - kExpTableBits)));
    if (__builtin_expect(!AllBetween(Fill(-700), x, Fill(700)) || !AllEqual(below, above), 0))
      y = Asked<double>(Opcode::kExp, x);
    std::memcpy(out, &y, sizeof(y));
  }
};

}  // namespace
}  // namespace assay::native::proven
