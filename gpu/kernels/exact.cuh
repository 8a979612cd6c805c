// Exact sums: pairs of doubles with a bound, a wide fixed-point sum in the registers of a warp,
// and their rounding.
#ifndef ASSAY_GPU_KERNELS_EXACT_CUH_
#define ASSAY_GPU_KERNELS_EXACT_CUH_

#include "gpu/kernels/device.cuh"
#include "gpu/kernels/formats.h"

namespace assay::gpu {

constexpr double kInfinity = __builtin_huge_val();
constexpr double kUnitRoundoff = 0x1p-53;

__device__ __forceinline__ bool IsFinite(double x) {
  return (BitsAs<uint64_t>(x) & 0x7ff0000000000000) != 0x7ff0000000000000;
}
__device__ __forceinline__ bool IsNan(double x) {
  return (BitsAs<uint64_t>(x) & 0x7fffffffffffffff) > 0x7ff0000000000000;
}

__device__ __forceinline__ uint64_t InfinityBits(const FloatShape& shape) {
  return ((uint64_t{1} << (shape.bits - shape.precision)) - 1) << (shape.precision - 1);
}
__device__ __forceinline__ uint64_t NanBits(const FloatShape& shape) {
  return InfinityBits(shape) | uint64_t{1} << (shape.precision - 2);
}

// The number that is nearest to +-(window + something in (0, 1) where `sticky`) * 2^(exponent - 63), ties to
// even. The window's top bit is set.
__device__ inline uint64_t RoundWindow(bool negative, uint64_t window, int exponent, bool sticky,
                                       const FloatShape& shape) {
  const bool subnormal = exponent < shape.min_exponent;
  const int kept = subnormal ? shape.precision - (shape.min_exponent - exponent) : shape.precision;
  uint64_t bits = 0;
  if (kept >= 0) {
    // With no bit kept the number lies in [1/2, 1) units of the least subnormal one.
    const uint64_t quotient = kept == 0 ? 0 : window >> (64 - kept);
    const uint64_t rest = kept == 0 ? window : window << kept;
    constexpr uint64_t kHalf = uint64_t{1} << 63;
    const bool up = rest > kHalf || (rest == kHalf && (sticky || (quotient & 1) != 0));
    bits = quotient + (up ? 1 : 0);
    // The leading bit counts one in the exponent's field; a carry out of the fraction does so as well.
    if (!subnormal) bits += static_cast<uint64_t>(exponent - shape.min_exponent) << (shape.precision - 1);
  }
  const uint64_t infinity = InfinityBits(shape);
  if (bits > infinity || exponent > 2000) bits = infinity;
  return bits | (negative ? uint64_t{1} << (shape.bits - 1) : 0);
}

__device__ OUTLINE uint64_t RoundToNarrow(double x, FloatShape shape) {
  const uint64_t bits = BitsAs<uint64_t>(x);
  const bool negative = bits >> 63 != 0;
  const int field = static_cast<int>(bits >> 52 & 2047);
  // Subnormal doubles are far below half of every narrower format's least number.
  if (field == 0) return negative ? uint64_t{1} << (shape.bits - 1) : 0;
  return RoundWindow(negative, uint64_t{1} << 63 | (bits & 0xfffffffffffff) << 11, field - 1023, false,
                     shape);
}

// A finite double, rounded once.
__device__ __forceinline__ uint64_t RoundDouble(double x, const FloatShape& shape) {
  if (shape.bits == 32) return BitsAs<uint32_t>(ToFloat(x));
  return shape.bits == 64 ? BitsAs<uint64_t>(x) : RoundToNarrow(x, shape);
}

__device__ __forceinline__ void StoreBits(uint64_t address, int64_t index, uint64_t bits, int width) {
  if (width == 32) {
    reinterpret_cast<uint32_t*>(address)[index] = static_cast<uint32_t>(bits);
  } else if (width == 64) {
    reinterpret_cast<uint64_t*>(address)[index] = bits;
  } else {
    reinterpret_cast<uint16_t*>(address)[index] = static_cast<uint16_t>(bits);
  }
}

// Whether every number in [sum - bound, sum + bound] rounds to *bits. `sum` is finite; a bound of 0 says that
// it is exact, and +0 where it is zero.
__device__ __forceinline__ bool RoundInterval(double sum, double bound, const FloatShape& shape,
                                              uint64_t* bits) {
  if (bound == 0) {
    *bits = RoundDouble(sum, shape);
    return true;
  }
  if (!IsFinite(sum) || !(bound < kInfinity)) return false;
  *bits = RoundDouble(AddDown(sum, -bound), shape);
  return *bits == RoundDouble(AddUp(sum, bound), shape);
}

__device__ __forceinline__ void TwoSum(double a, double b, double* sum, double* error) {
  const double s = AddNearest(a, b);
  const double t = AddNearest(s, -a);
  *error = AddNearest(AddNearest(a, -AddNearest(s, -t)), AddNearest(b, -t));
  *sum = s;
}

// A sum of doubles as sum + error, and at least the sum of the terms' magnitudes.
struct PairSum {
  double sum = 0, error = 0, magnitude = 0;

  __device__ __forceinline__ void Add(double term) {
    double lost;
    TwoSum(sum, term, &sum, &lost);
    error = AddNearest(error, lost);
    magnitude = AddUp(magnitude, __builtin_fabs(term));
  }
  __device__ __forceinline__ void Add(const PairSum& other) {
    double lost;
    TwoSum(sum, other.sum, &sum, &lost);
    error = AddNearest(AddNearest(error, other.error), lost);
    magnitude = AddUp(magnitude, other.magnitude);
  }
  // Of all lanes, to all of them.
  __device__ __forceinline__ void AddLanes() {
#pragma unroll
    for (uint32_t mask = 16; mask != 0; mask /= 2) {
      PairSum other;
      other.sum = ShuffleXor(sum, mask);
      other.error = ShuffleXor(error, mask);
      other.magnitude = ShuffleXor(magnitude, mask);
      Add(other);
    }
  }
};

// The bound of a pair of `count` terms, each of which is a multiple of `unit` (0: nothing is known). The
// errors of `count` additions are at most u T each, and multiples of the unit; so their own sum's rounding
// errors are at most (count + 2)^2 u^2 T, and none while that sum stays below 2^53 units.
__device__ __forceinline__ double PairBound(double count, double magnitude, double unit) {
  const double errors = MulUp(MulUp(AddUp(count, 2), 2 * kUnitRoundoff), magnitude);
  if (errors < 0x1p53 * unit) return 0;
  return MulUp(MulUp(AddUp(count, 64), kUnitRoundoff), errors);
}

// Whether sum + error +- bound rounds to one number, *bits.
__device__ inline bool RoundPair(const PairSum& pair, double bound, const FloatShape& shape, uint64_t* bits) {
  double high, low;
  TwoSum(pair.sum, pair.error, &high, &low);
  if (!IsFinite(high) || !(bound < kInfinity)) return false;
  if (shape.bits == 64) {
    if (bound == 0) {
      *bits = BitsAs<uint64_t>(high);
      return true;
    }
    *bits = BitsAs<uint64_t>(AddNearest(high, AddDown(low, -bound)));
    return *bits == BitsAs<uint64_t>(AddNearest(high, AddUp(low, bound)));
  }
  if (bound == 0) {
    // Rounded to odd, a double keeps what rounding to a narrower format needs to know.
    uint64_t odd = BitsAs<uint64_t>(high);
    if (low != 0) odd = (odd - ((low < 0) != (high < 0) ? 1 : 0)) | 1;
    *bits = RoundDouble(BitsAs<double>(odd), shape);
    return true;
  }
  *bits = RoundDouble(AddDown(high, AddDown(low, -bound)), shape);
  return *bits == RoundDouble(AddUp(high, AddUp(low, bound)), shape);
}

// Which kinds of terms there are that decide without a sum.
struct SpecialTerms {
  bool nan = false, positive = false, negative = false;

  __device__ __forceinline__ void Note(double term) {
    if (IsFinite(term)) return;
    nan |= IsNan(term);
    positive |= term > 0;
    negative |= term < 0;
  }
  // Of all lanes, to all of them.
  __device__ __forceinline__ void OrLanes() {
    nan = AnyOf(nan);
    positive = AnyOf(positive);
    negative = AnyOf(negative);
  }
  __device__ __forceinline__ bool any() const { return nan || positive || negative; }
  __device__ __forceinline__ uint32_t Mask() const {
    return (nan ? 1u : 0u) | (positive ? 2u : 0u) | (negative ? 4u : 0u);
  }
  __device__ __forceinline__ void OrMask(uint32_t mask) {
    nan |= (mask & 1) != 0;
    positive |= (mask & 2) != 0;
    negative |= (mask & 4) != 0;
  }
  __device__ __forceinline__ uint64_t Bits(const FloatShape& shape) const {
    if (nan || (positive && negative)) return NanBits(shape);
    return InfinityBits(shape) | (negative ? uint64_t{1} << (shape.bits - 1) : 0);
  }
};

// The integer m and exponent of a finite x = +-m * 2^exponent.
struct Parts {
  uint64_t integer;
  int exponent;
  bool negative;
};
__device__ __forceinline__ Parts PartsOf(double x) {
  const uint64_t bits = BitsAs<uint64_t>(x);
  const int field = static_cast<int>(bits >> 52 & 2047);
  const uint64_t fraction = bits & 0xfffffffffffff;
  return {field == 0 ? fraction : fraction | uint64_t{1} << 52, field == 0 ? -1074 : field - 1075,
          bits >> 63 != 0};
}

// The sum of limb i times 2^(kLow + 32 i), over the lanes of a warp: limb i is of lane i / kLimbs. All lanes
// call each function with the same arguments. A term adds less than 2^32 to a limb, so that 2^30 terms fit.
// Terms are multiples of 2^kLow: bits of an integer that stand below are zeros.
template <int kLimbs, int kLow>
class WideSum {
 public:
  __device__ __forceinline__ WideSum() : lane_(static_cast<int>(threadIdx.x % 32)) {
#pragma unroll
    for (int j = 0; j < kLimbs; ++j) limbs_[j] = 0;
  }

  __device__ __forceinline__ void Add(uint64_t integer, int exponent, bool negative) {
#pragma unroll
    for (int j = 0; j < kLimbs; ++j) {
      const int shift = 32 * (lane_ * kLimbs + j) - (exponent - kLow);
      if (shift <= -32 || shift >= 64) continue;
      const uint64_t shifted = shift >= 0 ? integer >> shift : integer << -shift;
      const auto piece = static_cast<int64_t>(shifted & 0xffffffff);
      limbs_[j] += negative ? -piece : piece;
    }
  }

  // What this lane has of the sum: sums of several warps are added limb by limb.
  __device__ __forceinline__ int64_t& own(int j) { return limbs_[j]; }

  // Rounded; +0 where the sum is zero.
  __device__ uint64_t Round(const FloatShape& shape) {
    const bool negative = Carry(0, false) < 0;
    if (negative) Carry(1, true);
    int highest = -1;
#pragma unroll
    for (int j = 0; j < kLimbs; ++j) highest = limbs_[j] != 0 ? lane_ * kLimbs + j : highest;
    const uint32_t lanes = Ballot(highest >= 0);
    if (lanes == 0) return 0;
    const int top = Shuffle(highest, 31 - LeadingZeros(lanes));
    const uint64_t first = Limb(top), second = Limb(top - 1), third = Limb(top - 2);
    const int zeros = LeadingZeros(static_cast<uint32_t>(first));
    const uint64_t two = first << 32 | second;
    const uint64_t window = zeros == 0 ? two : two << zeros | third >> (32 - zeros);
    bool rest = (third << zeros & 0xffffffff) != 0;
#pragma unroll
    for (int j = 0; j < kLimbs; ++j) rest |= lane_ * kLimbs + j < top - 2 && limbs_[j] != 0;
    return RoundWindow(negative, window, kLow + 32 * top + 31 - zeros, AnyOf(rest), shape);
  }

 private:
  // Makes limbs 32 bits wide, of the limbs' complements where `complement`; what is carried out of the top.
  __device__ int64_t Carry(int64_t carry, bool complement) {
    for (uint32_t owner = 0; owner < 32; ++owner) {
#pragma unroll
      for (int j = 0; j < kLimbs; ++j) {
        const int64_t limb = Shuffle(limbs_[j], owner);
        const int64_t sum = (complement ? ~limb & 0xffffffff : limb) + carry;
        carry = sum >> 32;
        if (lane_ == static_cast<int>(owner)) limbs_[j] = sum & 0xffffffff;
      }
    }
    return carry;
  }
  __device__ uint64_t Limb(int i) {
    int64_t limb = 0;
#pragma unroll
    for (int j = 0; j < kLimbs; ++j) {
      const int64_t value = Shuffle(limbs_[j], static_cast<uint32_t>(i < 0 ? 0 : i / kLimbs));
      if (i >= 0 && i % kLimbs == j) limb = value;
    }
    return static_cast<uint64_t>(limb);
  }

  const int lane_;
  int64_t limbs_[kLimbs];
};

}  // namespace assay::gpu

#endif  // ASSAY_GPU_KERNELS_EXACT_CUH_
