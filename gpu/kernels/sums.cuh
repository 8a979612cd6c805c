// Exact sums of elements of a type: what reduce, reduce-window and scatter share.
#ifndef ASSAY_GPU_KERNELS_SUMS_CUH_
#define ASSAY_GPU_KERNELS_SUMS_CUH_

#include "gpu/kernels/device.cuh"
#include "gpu/kernels/exact.cuh"
#include "gpu/kernels/reduce_arguments.h"

namespace assay::gpu {

// Numbers of a type are multiples of 2^(field of the exponent - kUnitBias),
// with 1 for the field of subnormal ones.
struct InputF32 {
  using Bits = uint32_t;
  static constexpr int kFraction = 23, kUnitBias = 150, kLimbs = 1, kLow = -160;
  __device__ __forceinline__ static double Value(Bits bits) { return BitsAs<float>(bits); }
};
struct InputBf16 {
  using Bits = uint16_t;
  static constexpr int kFraction = 7, kUnitBias = 134, kLimbs = 1, kLow = -160;
  __device__ __forceinline__ static double Value(Bits bits) {
    return BitsAs<float>(static_cast<uint32_t>(bits) << 16);
  }
};
struct InputF16 {
  using Bits = uint16_t;
  static constexpr int kFraction = 10, kUnitBias = 25, kLimbs = 1, kLow = -160;
  __device__ __forceinline__ static double Value(Bits bits) { return HalfToFloat(bits); }
};
struct InputF64 {
  using Bits = uint64_t;
  static constexpr int kFraction = 52, kUnitBias = 1075, kLimbs = 3, kLow = -1088;
  __device__ __forceinline__ static double Value(Bits bits) { return BitsAs<double>(bits); }
};

constexpr int kNoLeast = 1 << 20;

template <typename Input>
struct PartialSum {
  using Bits = typename Input::Bits;
  static constexpr int kWidth = 8 * sizeof(Bits);
  static constexpr Bits kSign = static_cast<Bits>(Bits{1} << (kWidth - 1));

  PairSum pair;
  int least = kNoLeast;
  uint32_t kinds = 0;

  __device__ __forceinline__ void Add(Bits bits) {
    const double value = Input::Value(bits);
    const auto magnitude = static_cast<Bits>(bits & ~kSign);
    const int field = static_cast<int>(magnitude >> Input::kFraction);
    const int normal = field == 0 ? 1 : field;
    if (magnitude != 0) least = normal < least ? normal : least;
    if (bits != kSign) kinds |= kSumOther;
    if (!IsFinite(value)) kinds |= IsNan(value) ? kSumNan : value > 0 ? kSumPositive : kSumNegative;
    pair.Add(value);
  }
  __device__ __forceinline__ void Add(const PartialSum& other) {
    pair.Add(other.pair);
    least = other.least < least ? other.least : least;
    kinds |= other.kinds;
  }
  __device__ __forceinline__ void AddLanes(uint32_t group) {
    for (uint32_t mask = group / 2; mask != 0; mask /= 2) {
      PartialSum other;
      other.pair.sum = ShuffleXor(pair.sum, mask);
      other.pair.error = ShuffleXor(pair.error, mask);
      other.pair.magnitude = ShuffleXor(pair.magnitude, mask);
      other.least = ShuffleXor(least, mask);
      other.kinds = ShuffleXor(kinds, mask);
      Add(other);
    }
  }

  // Of `count` terms, the start value among them. False: open.
  __device__ bool Round(double count, const FloatShape& shape, uint64_t* bits) const {
    const SpecialTerms special{(kinds & kSumNan) != 0, (kinds & kSumPositive) != 0,
                               (kinds & kSumNegative) != 0};
    if (special.any()) {
      *bits = special.Bits(shape);
      return true;
    }
    if (least == kNoLeast) {  // zeros alone
      *bits = (kinds & kSumOther) != 0 ? 0 : uint64_t{1} << (shape.bits - 1);
      return true;
    }
    // Nothing overflowed below this.
    if (!(pair.magnitude < 0x1p1020)) return false;
    return RoundPair(pair, PairBound(count, pair.magnitude, PowerOfTwo(least - Input::kUnitBias)), shape,
                     bits);
  }

 private:
  __device__ __forceinline__ static double PowerOfTwo(int exponent) {
    return BitsAs<double>(exponent >= -1022 ? static_cast<uint64_t>(exponent + 1023) << 52
                                            : uint64_t{1} << (exponent + 1074));
  }
};

// Adds the start value to a sum of `count` terms, and stores it as element `at` of the result,
// or `item` as open.
template <typename Input, typename Arguments>
__device__ __forceinline__ void FinishSum(const Arguments& a, PartialSum<Input>& sum,
                                          typename Input::Bits start, int64_t item, int64_t at,
                                          double count) {
  const FloatShape shape = ShapeOf(a.result_type);
  sum.Add(start);
  uint64_t bits;
  if (sum.Round(count + 1, shape, &bits)) {
    StoreBits(a.result, at, bits, shape.bits);
  } else {
    const uint32_t place = AtomicAdd(reinterpret_cast<uint32_t*>(a.open_count), 1);
    reinterpret_cast<uint32_t*>(a.open)[place] = static_cast<uint32_t>(item);
  }
}

// A block takes every so manieth open item; its terms, of which not all are zeros, it sums again. Open
// is made of the arguments and an item, and knows its terms (0 of those that are none), `start` and the
// element `result` of the result.
template <typename Input, typename Open, typename Arguments>
__device__ __forceinline__ void RepairSums(const Arguments& a) {
  constexpr int kWarps = kSumRepairThreads / 32, kLimbs = Input::kLimbs;
  auto* const shared = reinterpret_cast<int64_t*>(SharedMemory());
  auto* const kinds = reinterpret_cast<uint32_t*>(SharedMemory() + kSumRepairThreads / 32 * 96 * 8);
  const uint32_t count = *reinterpret_cast<const uint32_t*>(a.open_count);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (uint32_t i = blockIdx.x; i < count; i += gridDim.x) {
    const Open open(a, reinterpret_cast<const uint32_t*>(a.open)[i]);
    WideSum<kLimbs, Input::kLow> sum;
    SpecialTerms special;
    for (int64_t k = warp * 32; k < open.size(); k += kSumRepairThreads) {
      const double own = k + lane < open.size() ? open.Term(k + lane) : 0.0;
      special.Note(own);
      for (uint32_t from = 0; from < 32; ++from) {
        const Parts parts = PartsOf(Shuffle(own, from));
        sum.Add(parts.integer, parts.exponent, parts.negative);
      }
    }
    if (warp == 0) {
      const Parts parts = PartsOf(Input::Value(open.start));
      sum.Add(parts.integer, parts.exponent, parts.negative);
      special.Note(Input::Value(open.start));
    }
    special.OrLanes();
    SyncThreads();
    for (int j = 0; j < kLimbs; ++j) shared[(warp * kLimbs + j) * 32 + lane] = sum.own(j);
    if (lane == 0) kinds[warp] = special.Mask();
    SyncThreads();
    if (warp != 0) continue;
    for (int other = 1; other < kWarps; ++other) special.OrMask(kinds[other]);
    for (int other = 1; other < kWarps; ++other) {
      for (int j = 0; j < kLimbs; ++j) sum.own(j) += shared[(other * kLimbs + j) * 32 + lane];
    }
    const FloatShape shape = ShapeOf(a.result_type);
    const uint64_t rounded = sum.Round(shape), bits = special.any() ? special.Bits(shape) : rounded;
    if (lane == 0) StoreBits(a.result, open.result, bits, shape.bits);
  }
}

}  // namespace assay::gpu

#endif  // ASSAY_GPU_KERNELS_SUMS_CUH_
