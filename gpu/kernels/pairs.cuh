// Exact sums as pairs of doubles whose error is bounded by the depth of the tree of additions.
//
// u = 2^-53. A pair (sum, error) is made by TwoSum, whose errors are added plainly. Let D be the depth: how
// many additions any one term passes, in whatever tree. The sums of all nodes of one level are together at
// most T = sum of |terms| (1 + D u), so the errors of that level are at most u T, and those of all levels D
// u T. `error` adds them in two additions a level, so it is off by at most 2 D u (D u T). Where D u T < 2^52
// units, all errors and their sums are multiples of the unit below 2^53 units: then `error` is exact, and so
// is the pair.
//
// Plain sums: where T < 2^53 units, no addition of doubles rounds at all, in any order. Few terms nearly
// always are such; it is known at the end, and where it is not so the terms are read again and added as
// pairs.
#ifndef ASSAY_GPU_KERNELS_PAIRS_CUH_
#define ASSAY_GPU_KERNELS_PAIRS_CUH_

#include "gpu/kernels/device.cuh"
#include "gpu/kernels/exact.cuh"
#include "gpu/kernels/reduce_arguments.h"
#include "gpu/kernels/states.cuh"
#include "gpu/kernels/sums.cuh"

namespace assay::gpu {

// What is known of a set of terms: `total` is at least the sum of their magnitudes, 2^least divides all of
// them (kNoLeast: all are zeros). Without terms the sum is -0, as -0 + x = x for every x.
struct PairState {
  double sum, error, total;
  int64_t least;
};
static_assert(sizeof(PairState) == kSumStateBytes);
__device__ __forceinline__ PairState NoTerms() { return {-0.0, 0.0, 0.0, kNoLeast}; }

__device__ __forceinline__ double PowerOfTwo(int exponent) {
  return BitsAs<double>(exponent >= -1022 ? static_cast<uint64_t>(exponent + 1023) << 52
                                          : uint64_t{1} << (exponent + 1074));
}

__device__ __forceinline__ PairState Combine(const PairState& a, const PairState& b) {
  PairState c;
  double lost;
  TwoSum(a.sum, b.sum, &c.sum, &lost);
  c.error = AddNearest(AddNearest(a.error, b.error), lost);
  c.total = AddUp(a.total, b.total);
  c.least = a.least < b.least ? a.least : b.least;
  return c;
}

// Whether no sum of some of the terms rounds. False where there are infinities or NaNs.
__device__ __forceinline__ bool PlainIsExact(double total, int64_t least) {
  return least == kNoLeast || total < 0x1p53 * PowerOfTwo(static_cast<int>(least));
}

// How far `error` may be off; 0: the pair is exact.
__device__ __forceinline__ double DepthBound(double depth, double total, int64_t least) {
  const double errors = MulUp(MulUp(AddUp(depth, 2), kUnitRoundoff), total);
  if (least == kNoLeast || errors < 0x1p52 * PowerOfTwo(static_cast<int>(least))) return 0;
  return MulUp(MulUp(AddUp(2 * depth, 8), kUnitRoundoff), errors);
}

// The sum's one rounding, where `error` may be off by `bound`; false: open. Sums of terms of f32 and less do
// not overflow in doubles, so a sum that is infinite or NaN is the result. Of f64 it is where `total`, which
// bounds the finite terms, says so; others are open.
template <typename Input>
__device__ __forceinline__ bool RoundSum(const PairState& state, double bound, const FloatShape& shape,
                                         uint64_t* bits) {
  if (sizeof(typename Input::Bits) == 8 && !(state.total < 0x1p1020)) return false;
  if (!IsFinite(state.sum)) {
    const SpecialTerms special{IsNan(state.sum), state.sum > 0, state.sum < 0};
    *bits = special.Bits(shape);
    return true;
  }
  if (state.sum == 0 && state.error == 0 && bound == 0) {
    *bits = BitsAs<uint64_t>(state.sum) == 0 ? 0 : uint64_t{1} << (shape.bits - 1);
    return true;
  }
  PairSum pair;
  pair.sum = state.sum;
  pair.error = state.error;
  return RoundPair(pair, bound, shape, bits);
}
template <typename Input>
__device__ __forceinline__ bool RoundState(const PairState& state, double depth, const FloatShape& shape,
                                           uint64_t* bits) {
  return RoundSum<Input>(state, DepthBound(depth, state.total, state.least), shape, bits);
}

// The state of all lanes of groups of `group`. Where no lane of a warp has an error, and no sum of all of
// them rounds, sums alone go round.
__device__ __forceinline__ PairState CombineLanesOf(PairState state, uint32_t group) {
  if (group == 32) {
    const uint32_t most = MaxOfLanes(static_cast<uint32_t>(BitsAs<uint64_t>(state.total) >> 32) + 1);
    const int64_t least = MinOfLanes(static_cast<uint32_t>(state.least + 4096)) - int64_t{4096};
    const double total = MulUp(32, BitsAs<double>(static_cast<uint64_t>(most) << 32));
    const bool plain = state.error == 0 && IsFinite(state.sum);
    if (AllOf(plain && PlainIsExact(total, least))) {
#pragma unroll
      for (uint32_t mask = 16; mask != 0; mask /= 2)
        state.sum = AddNearest(state.sum, ShuffleXor(state.sum, mask));
      return {state.sum, 0.0, total, least};
    }
  }
  for (uint32_t mask = group / 2; mask != 0; mask /= 2) state = Combine(state, ShuffleXorState(state, mask));
  return state;
}

// The largest and the least magnitude of terms as words: of f64 the upper half. Doubled and less one, zeros
// are the largest number. kFinite: the largest of finite terms, which f64 needs to know that no sum
// overflowed.
template <typename Input, bool kFinite = sizeof(typename Input::Bits) == 8>
struct Extent {
  using Bits = typename Input::Bits;
  static constexpr int kWidth = 8 * sizeof(Bits);
  uint32_t most = 0, least = ~uint32_t{0};

  __device__ __forceinline__ void Note(Bits bits) {
    if constexpr (kWidth == 64) {
      const uint32_t doubled = 2 * static_cast<uint32_t>(bits >> 32);
      if (!kFinite || doubled < 0xffe00000) most = doubled > most ? doubled : most;
      const uint32_t own = (doubled | (static_cast<uint32_t>(bits) != 0 ? 1 : 0)) - 1;
      least = own < least ? own : least;
    } else {
      const uint32_t word = static_cast<uint32_t>(bits) << (32 - kWidth), magnitude = word & 0x7fffffff;
      constexpr uint32_t kInfinity32 =
          (uint32_t{1} << 31) - (uint32_t{1} << (Input::kFraction + 32 - kWidth));
      if (!kFinite || magnitude < kInfinity32) most = magnitude > most ? magnitude : most;
      least = 2 * word - 1 < least ? 2 * word - 1 : least;
    }
  }
  __device__ __forceinline__ double Total(double count) const {
    if constexpr (kWidth == 64) {
      return MulUp(count, BitsAs<double>(static_cast<uint64_t>(most / 2 + 1) << 32));
    } else {
      return MulUp(count, Input::Value(static_cast<Bits>(most >> (32 - kWidth))));
    }
  }
  __device__ __forceinline__ int64_t Least() const {
    if (least == ~uint32_t{0}) return kNoLeast;
    constexpr int kShift = kWidth == 64 ? 21 : 33 - kWidth + Input::kFraction;
    const auto field = static_cast<int>((least + 1) >> kShift);
    return (field == 0 ? 1 : field) - Input::kUnitBias;
  }
};

// Terms that one thread adds as pairs.
template <typename InputType, bool kFinite = sizeof(typename InputType::Bits) == 8>
struct PairTerms {
  using Input = InputType;
  using Bits = typename Input::Bits;
  double sum = -0.0, error = 0.0;
  Extent<Input, kFinite> extent;

  __device__ __forceinline__ void Add(Bits bits) {
    double lost;
    TwoSum(sum, Input::Value(bits), &sum, &lost);
    error = AddNearest(error, lost);
    extent.Note(bits);
  }
  __device__ __forceinline__ void AddVector(const Vector16& vector) {
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      if constexpr (sizeof(Bits) == 8) {
        if (w % 2 == 0) Add(static_cast<uint64_t>(vector.words[w + 1]) << 32 | vector.words[w]);
      } else if constexpr (sizeof(Bits) == 4) {
        Add(vector.words[w]);
      } else {
        Add(static_cast<Bits>(vector.words[w]));
        Add(static_cast<Bits>(vector.words[w] >> 16));
      }
    }
  }
  __device__ __forceinline__ bool IsExact(double) const { return true; }
  __device__ __forceinline__ PairState Finish(double count) const {
    return {sum, error, extent.Total(count), extent.Least()};
  }
};

// Terms that one thread adds in plain doubles; IsExact says whether that was right.
struct PlainF32 {
  using Input = InputF32;
  using Bits = uint32_t;
  double sum = -0.0;
  Extent<Input> extent;

  __device__ __forceinline__ void Add(Bits bits) {
    sum = AddNearest(sum, Input::Value(bits));
    extent.Note(bits);
  }
  __device__ __forceinline__ void AddVector(const Vector16& vector) {
#pragma unroll
    for (int w = 0; w < 4; ++w) Add(vector.words[w]);
  }
  __device__ __forceinline__ bool IsExact(double count) const {
    return extent.most < 0x7f800000 && PlainIsExact(extent.Total(count), extent.Least());
  }
  __device__ __forceinline__ PairState Finish(double count) const {
    return {sum, 0.0, extent.Total(count), extent.Least()};
  }
};

// The same of 16-bit floats, two in a word; of both halves `most` is the largest magnitude and `least` the
// least of (magnitude - 1 - 2^15), signed, which is 2^15 - 1 of zeros.
template <typename InputType>
struct Plain16 {
  using Input = InputType;
  using Bits = uint16_t;
  double sum = -0.0;
  uint32_t most = 0, least = 0x7fff7fff;

  // A bf16's bits at the place of a double's upper word, three lower, are the number times 2^-896, also of
  // subnormal ones and zeros: that is cheaper than a conversion.
  static constexpr bool kShifts = Input::kFraction == 7;
  __device__ __forceinline__ static double Value(uint32_t upper_half) {
    if constexpr (kShifts) {
      const uint32_t high = (upper_half & 0x80000000) | (upper_half & 0x7fff0000) >> 3;
      return BitsAs<double>(static_cast<uint64_t>(high) << 32);
    } else {
      return Input::Value(static_cast<uint16_t>(upper_half >> 16));
    }
  }
  __device__ __forceinline__ void Note(uint32_t word) {
    most = MaxU16x2(most, word & 0x7fff7fff);
    least = MinS16x2(least, (word | 0x80008000) - 0x00010001);
  }
  __device__ __forceinline__ void AddWord(uint32_t word) {
    sum = AddNearest(sum, Value(word << 16));
    sum = AddNearest(sum, Value(word));
    Note(word);
  }
  __device__ __forceinline__ void Add(Bits bits) {
    const uint32_t word = static_cast<uint32_t>(bits) << 16;
    sum = AddNearest(sum, Value(word));
    Note(word);
  }
  __device__ __forceinline__ void AddVector(const Vector16& vector) {
#pragma unroll
    for (int w = 0; w < 4; ++w) AddWord(vector.words[w]);
  }
  __device__ __forceinline__ double Total(double count) const {
    const uint32_t low = most & 0xffff, high = most >> 16;
    return MulUp(count, Input::Value(static_cast<Bits>(low > high ? low : high)));
  }
  __device__ __forceinline__ int64_t Least() const {
    const int low = static_cast<int16_t>(least & 0xffff), high = static_cast<int16_t>(least >> 16);
    const int both = low < high ? low : high, field = (both + 32769) >> Input::kFraction;
    return both == 32767 ? kNoLeast : (field == 0 ? 1 : field) - Input::kUnitBias;
  }
  __device__ __forceinline__ bool IsExact(double count) const {
    const double total = Total(count);
    return IsFinite(total) && PlainIsExact(total, Least());
  }
  __device__ __forceinline__ PairState Finish(double count) const {
    return {kShifts ? MulNearest(sum, 0x1p896) : sum, 0.0, Total(count), Least()};
  }
};

}  // namespace assay::gpu

#endif  // ASSAY_GPU_KERNELS_PAIRS_CUH_
