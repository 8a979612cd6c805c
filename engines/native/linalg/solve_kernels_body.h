// The bodies of SolveKernels (jit/each_isa.inc). No include guard.
#include "engines/native/linalg/solve_kernels.h"
#include "engines/native/sums/lanes_body.h"

namespace assay::native::ASSAY_ISA {
namespace {

constexpr int kColumns = 2 * kLanes;
constexpr double kUp = 1 + 0x1p-28;  // more than the rounding of a norm of up to 2^22 elements
// Elements of this size have products, and errors of products, well inside a double's range.
constexpr double kPlainLargest = 0x1p480, kPlainSmallest = 0x1p-430;
// Results below would have bounds that underflow.
constexpr double kSmallestResult = 0x1p-900;

ASSAY_INLINE U64 RoundBits(F64 x, const NarrowRounding& rounding) {
  const U64 u = (U64)x;
  return (u + rounding.half_less_one + ((u >> rounding.shift) & rounding.lsb)) & rounding.keep;
}

// Lanes of `low` and `high` that round to the same normal number.
ASSAY_INLINE I64 Agree(F64 low, F64 high, const NarrowRounding& rounding, F64& out) {
  const U64 a = RoundBits(low, rounding), b = RoundBits(high, rounding);
  out = (F64)a;
  const F64 magnitude = Magnitude(out);
  return (a == b) & (magnitude >= rounding.smallest) & (magnitude <= rounding.largest);
}

ASSAY_INLINE I64 Mark(I64 good, int64_t* failed) {
  const I64 bad = ~good;
  std::memcpy(failed, &bad, sizeof(bad));
  return bad;
}
ASSAY_INLINE bool Any(I64 bad) {
  bool any = false;
  for (int l = 0; l < kLanes; ++l) any |= bad[l] != 0;
  return any;
}

ASSAY_TARGET void AddProducts(int64_t n, const double* a, int64_t a_stride, const double* x, double* c) {
  F64 c0 = Load(c), c1 = Load(c + kLanes);
  for (int64_t k = 0; k < n; ++k, x += kColumns) {
    const F64 factor = Fill(a[k * a_stride]);
    c0 = Fma(factor, Load(x), c0);
    c1 = Fma(factor, Load(x + kLanes), c1);
  }
  Store(c, c0);
  Store(c + kLanes, c1);
}

ASSAY_TARGET bool RoundSums(const double* c, const double* b, const RowStatistics& columns,
                            const SolveBound& bound, const NarrowRounding& rounding, bool keeps_zeros,
                            double* sums, double* out, int64_t* failed) {
  I64 any = {};
  const int64_t zeros = keeps_zeros ? -1 : 0;
  for (int j = 0; j < kColumns; j += kLanes) {
    const F64 start = Load(b + j), s = Load(c + j) + start;
    const F64 products = bound.norm * kUp * Root(Load(columns.squares + j));
    const F64 size = Magnitude(start) + products;
    const F64 error = products == 0 ? F64{} : size * bound.factor;
    F64 value;
    const I64 good = Agree(s - error, s + error, rounding, value);
    // All terms are zeros and b is +0: so is the sum.
    const I64 zero = (size == 0) & ((U64)start == 0) & zeros;
    value = zero ? F64{} : value;
    Store(sums + j, s);
    Store(out + j, value);
    any |= Mark(good | zero, failed + j);
  }
  return Any(any);
}

ASSAY_TARGET bool RoundPairs(const double* sum, const double* error, const double* b,
                             const RowStatistics& columns, const SolveBound& bound, double* out,
                             int64_t* failed) {
  I64 any = {};
  for (int j = 0; j < kColumns; j += kLanes) {
    const F64 start = Load(b + j);
    F64 s = Load(sum + j);
    F64 e = TwoSum(s, start) + Load(error + j);
    e = TwoSum(s, e);
    const F64 products = bound.norm * kUp * Root(Load(columns.squares + j));
    const F64 size = Magnitude(start) + products;
    // s + e -+ margin is rounded itself before it is rounded to its nearest double.
    const F64 margin = products == 0 ? F64{} : size * bound.factor + Magnitude(e) * 0x1p-51;
    const F64 low = s + (e - margin), high = s + (e + margin);
    const I64 plain = (Load(columns.smallest + j) >= kPlainSmallest) &
                      (Load(columns.largest + j) <= kPlainLargest) & (Magnitude(start) <= 0x1p1000);
    const I64 good =
        plain & (low == high) & (Magnitude(low) >= kSmallestResult) & (Magnitude(low) <= 0x1p1000);
    const I64 zero = plain & (size == 0) & ((U64)start == 0);
    Store(out + j, zero ? F64{} : low);
    any |= Mark(good | zero, failed + j);
  }
  return Any(any);
}

ASSAY_TARGET bool Divide(const double* s, double divisor, const NarrowRounding& rounding, bool keeps_zeros,
                         double* out, int64_t* failed) {
  I64 any = {};
  const int64_t zeros = keeps_zeros ? -1 : 0;
  for (int j = 0; j < kColumns; j += kLanes) {
    const F64 x = Load(s + j), q = x / Fill(divisor);
    F64 value;
    const I64 good = Agree(q, q, rounding, value);
    const I64 zero = (x == 0) & (q == 0) & zeros;
    Store(out + j, zero ? q : value);
    any |= Mark(good | zero, failed + j);
  }
  return Any(any);
}

// a b + c d = h + l up to `bound`; exactly, with bound 0, where the products are exact (kExact).
template <bool kExact>
ASSAY_INLINE void TwoProducts(F64 a, F64 b, F64 c, F64 d, F64& h, F64& l, F64& bound) {
  const F64 p = a * b, q = c * d;
  h = p;
  l = TwoSum(h, q);
  bound = F64{};
  if constexpr (!kExact) {
    // The errors' sum and its sum with l round by 3 u^2 (|p| + |q|).
    l += ProductError(a, b, p) + ProductError(c, d, q);
    bound = (Magnitude(p) + Magnitude(q)) * 0x1p-104;
  }
}

// One component: (h + l) / (nh + nl), the second the sum of two squares.
// f32: h, l, nh and nl are exact, so the quotient h / nh errs by less than 2^-50 of itself.
// f64: q = RN(h / nh), and the rest h + l - q (nh + nl) divided by nh. nh + nl errs by 4 u^2 of itself, h + l
// by `bound`, 4 u^2 P, and the rest's parts, at most 4 u |h| + 2 u P, by 5 u of themselves:
// 32 u^2 |q| + 16 u^2 P / nh in all.
template <bool kF32>
ASSAY_INLINE I64 Quotient(F64 h, F64 l, F64 bound, F64 nh, F64 nl, const NarrowRounding& rounding, F64& out) {
  const F64 q = h / nh;
  if constexpr (kF32) {
    const I64 good = Agree(q - q * 0x1p-50, q + q * 0x1p-50, rounding, out);
    const I64 zero = (h == 0) & (q == 0);
    out = zero ? q : out;
    return good | zero;
  }
  const F64 p = q * nh;
  const F64 rest = ((h - p) - ProductError(q, nh, p)) + (l - q * nl);
  F64 s = q;
  const F64 e = TwoSum(s, rest / nh);
  const F64 margin = Magnitude(q) * 0x1p-101 + bound / nh * 4 + Magnitude(e) * 0x1p-51;
  const F64 low = s + (e - margin), high = s + (e + margin);
  const I64 zero = (h == 0) & (bound == 0) & (q == 0);
  out = zero ? q : low;
  return zero | ((low == high) & (Magnitude(h) >= kSmallestResult) & (Magnitude(low) >= kSmallestResult));
}

// |x| is zero or inside [2^-400, 2^400].
ASSAY_INLINE I64 Moderate(F64 x) {
  const F64 magnitude = Magnitude(x);
  return (magnitude == 0) | ((magnitude >= 0x1p-400) & (magnitude <= 0x1p400));
}

template <bool kF32>
ASSAY_INLINE bool DivideComplexBody(const double* x, const double* y, double c, double d,
                                    const NarrowRounding& rounding, double* re, double* im, int64_t* failed) {
  const F64 a = Fill(c), b = Fill(d);
  F64 nh, nl, unused;
  TwoProducts<kF32>(a, a, b, b, nh, nl, unused);
  I64 any = {};
  for (int j = 0; j < kColumns; j += kLanes) {
    const F64 u = Load(x + j), v = Load(y + j);
    F64 h, l, bound, out;
    TwoProducts<kF32>(u, a, v, b, h, l, bound);
    I64 good = Quotient<kF32>(h, l, bound, nh, nl, rounding, out);
    Store(re + j, out);
    TwoProducts<kF32>(v, a, -u, b, h, l, bound);
    good &= Quotient<kF32>(h, l, bound, nh, nl, rounding, out);
    Store(im + j, out);
    if constexpr (!kF32) good &= Moderate(u) & Moderate(v) & Moderate(a) & Moderate(b);
    any |= Mark(good, failed + j);
  }
  return Any(any);
}
ASSAY_TARGET bool DivideComplexF32(const double* x, const double* y, double c, double d,
                                   const NarrowRounding& rounding, double* re, double* im, int64_t* failed) {
  return DivideComplexBody<true>(x, y, c, d, rounding, re, im, failed);
}
ASSAY_TARGET bool DivideComplexF64(const double* x, const double* y, double c, double d,
                                   const NarrowRounding& rounding, double* re, double* im, int64_t* failed) {
  return DivideComplexBody<false>(x, y, c, d, rounding, re, im, failed);
}

ASSAY_TARGET void AddStatistics(const double* x, RowStatistics* columns) {
  for (int j = 0; j < kColumns; j += kLanes) {
    const F64 v = Load(x + j), magnitude = Magnitude(v), small = Load(columns->smallest + j);
    const F64 large = Load(columns->largest + j);
    U64 bits;
    std::memcpy(&bits, columns->bits + j, sizeof(bits));
    bits |= (U64)v;
    std::memcpy(columns->bits + j, &bits, sizeof(bits));
    Store(columns->squares + j, Fma(v, v, Load(columns->squares + j)));
    const I64 smaller = (magnitude > 0) & (magnitude < small);
    Store(columns->smallest + j, smaller ? magnitude : small);
    Store(columns->largest + j, magnitude > large ? magnitude : large);
  }
}

constexpr SolveKernels kKernels = {.add_products = AddProducts,
                                   .round_sums = RoundSums,
                                   .round_pairs = RoundPairs,
                                   .divide = Divide,
                                   .divide_complex_f32 = DivideComplexF32,
                                   .divide_complex_f64 = DivideComplexF64,
                                   .add_statistics = AddStatistics};

}  // namespace
}  // namespace assay::native::ASSAY_ISA
