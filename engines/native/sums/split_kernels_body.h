// The bodies of SplitKernels (jit/each_isa.inc). No include guard.
#include "engines/native/sums/lanes_body.h"
#include "engines/native/sums/split_kernels.h"

namespace assay::native::ASSAY_ISA {
namespace {

// (x + c) - c with c = 1.5 * 2^52 * unit is the multiple of unit nearest to x, |x| < 2^51 * unit, and x minus
// that is a double.
ASSAY_INLINE F64 HighPart(F64 x, F64 c) { return (x + c) - c; }

ASSAY_TARGET void Split(int64_t n, const double* panel, int width, const double* high_units, double* high,
                        double* low) {
  // `width` vectors are kLanes whole steps of k, so that a lane always belongs to the same row.
  alignas(64) double constants[kMaxPanelWidth * kLanes];
  for (int i = 0; i < width * kLanes; ++i) constants[i] = 0x1.8p52 * high_units[i % width];
  int64_t k = 0;
  for (; k + kLanes <= n; k += kLanes) {
    for (int v = 0; v < width; ++v) {
      const int64_t at = k * width + v * kLanes;
      const F64 x = Load(panel + at), h = HighPart(x, Load(constants + v * kLanes));
      Store(high + at, h);
      Store(low + at, x - h);
    }
  }
  for (; k < n; ++k) {
    for (int r = 0; r < width; ++r) {
      const double x = panel[k * width + r], c = constants[r], h = (x + c) - c;
      high[k * width + r] = h;
      low[k * width + r] = x - h;
    }
  }
}

ASSAY_TARGET void LowSquares(int64_t n, const double* panel, int width, const double* high_units,
                             double* squares) {
  // As above; every lane of the `width` vectors adds up squares of one row.
  alignas(64) double constants[kMaxPanelWidth * kLanes], sums[kMaxPanelWidth * kLanes];
  for (int i = 0; i < width * kLanes; ++i) {
    constants[i] = 0x1.8p52 * high_units[i % width];
    sums[i] = 0;
  }
  const int64_t count = n * width, whole = n / kLanes * kLanes * width;
  for (int64_t k = 0; k < whole; k += width * kLanes) {
    for (int v = 0; v < width * kLanes; v += kLanes) {
      const F64 x = Load(panel + k + v), low = x - HighPart(x, Load(constants + v));
      Store(sums + v, Load(sums + v) + low * low);
    }
  }
  for (int64_t i = whole; i < count; ++i) {
    const double c = constants[i % width], low = panel[i] - ((panel[i] + c) - c);
    sums[i % width] += low * low;
  }
  for (int r = 0; r < width; ++r) {
    squares[r] = 0;
    for (int i = r; i < width * kLanes; i += width) squares[r] += sums[i];
  }
}

ASSAY_INLINE U64 RoundBits(U64 u, const NarrowRounding& rounding) {
  return (u + rounding.half_less_one + ((u >> rounding.shift) & rounding.lsb)) & rounding.keep;
}

// high + low, high the double nearest to it, rounded: to doubles it is high; else by way of 53 bits cut off,
// the last of them set where that lost something (literal/float_format.h).
ASSAY_INLINE U64 RoundPair(F64 high, F64 low, const NarrowRounding& rounding) {
  if (rounding.shift == 0) return (U64)high;
  const F64 zero = {};
  const U64 sticky = (U64)(low != zero) & 1;
  const U64 across = (((U64)high ^ (U64)low) >> 63) & sticky;
  return RoundBits(((U64)high - across) | sticky, rounding);
}

ASSAY_INLINE F64 Least(F64 a, F64 b) { return a < b ? a : b; }

ASSAY_TARGET bool Round(int64_t n, const SplitSums& sums, const SplitScale& row, const SplitScales& columns,
                        double factor, const NarrowRounding& rounding, double* out, int64_t* failed) {
  const F64 zero = {};
  const I64 none = {};
  I64 any = {};
  for (int64_t j = 0; j < n; j += kLanes) {
    const F64 norm = Load(columns.norms + j), low_norm = Load(columns.low_norms + j);
    const F64 unit = Load(columns.units + j) * row.unit;
    const F64 middle_norm = norm * row.low_norm + low_norm * row.norm;
    F64 s = Load(sums.high + j), e = Load(sums.middle + j), rest = zero, bound = zero;
    if (sums.low != nullptr) {
      const F64 middle_unit =
          Least(Load(columns.high_units + j) * row.unit, Load(columns.units + j) * row.high_unit);
      bound = middle_norm < middle_unit * 0x1p52 ? zero : middle_norm * factor;
      const F64 smallest_norm = low_norm * row.low_norm;
      bound += smallest_norm < unit * 0x1p52 ? zero : smallest_norm * factor;
      // e = RN(middle + low) and what that loses: a double.
      rest = TwoSum(e, Load(sums.low + j));
    } else {
      bound = middle_norm < unit * 0x1p52 ? zero : middle_norm * factor;
    }
    e = TwoSum(s, e);
    rest = TwoSum(e, rest);
    F64 t = s;
    e = TwoSum(t, e);
    // s + e + rest is the sum, t + e that but for rest.
    bound += Magnitude(rest);
    const F64 margin = bound == zero ? zero : bound + (bound + Magnitude(e)) * 0x1p-51;
    F64 least = t, most = t;
    const F64 below = TwoSum(least, e - margin), above = TwoSum(most, e + margin);
    const U64 low = RoundPair(least, below, rounding), high = RoundPair(most, above, rounding);
    const F64 magnitude = Magnitude((F64)low);
    const I64 good = (low == high) & (magnitude >= rounding.smallest) & (magnitude <= rounding.largest);
    const I64 is_zero = (bound == zero) & (t == zero) & (e == zero);
    Store(out + j, (F64)low);
    const I64 open = ~good & (is_zero ? none + 1 : none - 1);
    std::memcpy(failed + j, &open, sizeof(open));
    any |= open;
  }
  bool result = false;
  for (int l = 0; l < kLanes; ++l) result |= any[l] != 0;
  return result;
}

constexpr SplitKernels kKernels = {.split = Split, .low_squares = LowSquares, .round = Round};

}  // namespace
}  // namespace assay::native::ASSAY_ISA
