// Exact sums, rounded once: pairs of doubles, whose rounding is tested, and wide fixed-point numbers where it is open.
#include "gpu/kernels/device.cuh"
#include "gpu/kernels/exact.cuh"
#include "gpu/kernels/index.cuh"
#include "gpu/kernels/reduce_arguments.h"

namespace assay::gpu {

// Numbers of a type are multiples of 2^(field of the exponent - kUnitBias), with 1 for the field of subnormal ones.
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

// The elements of a result, and which of them a part has.
template <typename Bits>
struct Elements {
  const Bits* from;
  const Strides& reduced;
  int64_t size;

  __device__ __forceinline__ Elements(const ReducePlan& plan, uint64_t input, int64_t result)
      : from(reinterpret_cast<const Bits*>(input) + OffsetOf(plan.kept, result)),
        reduced(plan.reduced),
        size(SizeOf(plan.reduced)) {}
  __device__ __forceinline__ Bits operator[](int64_t i) const {
    return from[reduced.rank == 1 ? i * reduced.strides[0] : OffsetOf(reduced, i)];
  }
};

template <typename Input>
__device__ __forceinline__ void FinishSum(const SumArguments& a, PartialSum<Input>& sum, int64_t result,
                                          double count) {
  const FloatShape shape = ShapeOf(a.result_type);
  sum.Add(*reinterpret_cast<const typename Input::Bits*>(a.init));
  uint64_t bits;
  if (sum.Round(count + 1, shape, &bits)) {
    StoreBits(a.result, result, bits, shape.bits);
  } else {
    const uint32_t at = AtomicAdd(reinterpret_cast<uint32_t*>(a.open_count), 1);
    reinterpret_cast<uint32_t*>(a.open)[at] = static_cast<uint32_t>(result);
  }
}

template <typename Input>
__device__ __forceinline__ void Sum(const SumArguments& a) {
  using Bits = typename Input::Bits;
  const int64_t results = SizeOf(a.plan.kept), group = a.plan.group;
  const int64_t place = GridThread() / group, lane = GridThread() % group;
  // Parts stand side by side: result by result for one part, else part by part within a result.
  const int64_t result = place / a.plan.parts, part = place % a.plan.parts;
  PartialSum<Input> sum;
  int64_t size = 0;
  if (result < results) {
    const Elements<Bits> elements(a.plan, a.input, result);
    size = elements.size;
    const int64_t begin = size * part / a.plan.parts, end = size * (part + 1) / a.plan.parts;
    int64_t i = begin + lane;
    for (; i + 3 * group < end; i += 4 * group) {
      Bits bits[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) bits[j] = elements[i + j * group];
#pragma unroll
      for (int j = 0; j < 4; ++j) sum.Add(bits[j]);
    }
    for (; i < end; i += group) sum.Add(elements[i]);
  }
  sum.AddLanes(static_cast<uint32_t>(group));
  if (lane != 0 || result >= results) return;
  if (a.plan.parts == 1) {
    FinishSum(a, sum, result, static_cast<double>(size + group));
  } else {
    reinterpret_cast<SumPart*>(a.parts)[place] = {sum.pair.sum, sum.pair.error, sum.pair.magnitude, sum.least,
                                                  sum.kinds};
  }
}

// A warp adds the parts of a result.
template <typename Input>
__device__ __forceinline__ void SumParts(const SumArguments& a) {
  const int64_t result = GridThread() / 32, lane = GridThread() % 32;
  if (result >= SizeOf(a.plan.kept)) return;
  PartialSum<Input> sum;
  for (int64_t i = lane; i < a.plan.parts; i += 32) {
    const SumPart part = reinterpret_cast<const SumPart*>(a.parts)[result * a.plan.parts + i];
    PartialSum<Input> other;
    other.pair.sum = part.sum;
    other.pair.error = part.error;
    other.pair.magnitude = part.magnitude;
    other.least = part.least;
    other.kinds = part.kinds;
    sum.Add(other);
  }
  sum.AddLanes(32);
  const auto terms = static_cast<double>(SizeOf(a.plan.reduced) + 32 * (a.plan.parts + 1));
  if (lane == 0) FinishSum(a, sum, result, terms);
}

// A block takes every so manieth open result; its finite terms, of which not all are zeros, it sums again.
template <typename Input>
__device__ __forceinline__ void RepairSum(const SumArguments& a) {
  constexpr int kWarps = kSumRepairThreads / 32, kLimbs = Input::kLimbs;
  auto* const shared = reinterpret_cast<int64_t*>(SharedMemory());
  const uint32_t count = *reinterpret_cast<const uint32_t*>(a.open_count);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (uint32_t i = blockIdx.x; i < count; i += gridDim.x) {
    const uint32_t result = reinterpret_cast<const uint32_t*>(a.open)[i];
    const Elements<typename Input::Bits> elements(a.plan, a.input, result);
    WideSum<kLimbs, Input::kLow> sum;
    for (int64_t k = warp * 32; k < elements.size; k += kSumRepairThreads) {
      const double own = k + lane < elements.size ? Input::Value(elements[k + lane]) : 0.0;
      for (uint32_t from = 0; from < 32; ++from) {
        const Parts parts = PartsOf(Shuffle(own, from));
        sum.Add(parts.integer, parts.exponent, parts.negative);
      }
    }
    if (warp == 0) {
      const Parts parts = PartsOf(Input::Value(*reinterpret_cast<const typename Input::Bits*>(a.init)));
      sum.Add(parts.integer, parts.exponent, parts.negative);
    }
    SyncThreads();
    for (int j = 0; j < kLimbs; ++j) shared[(warp * kLimbs + j) * 32 + lane] = sum.own(j);
    SyncThreads();
    if (warp != 0) continue;
    for (int other = 1; other < kWarps; ++other) {
      for (int j = 0; j < kLimbs; ++j) sum.own(j) += shared[(other * kLimbs + j) * 32 + lane];
    }
    const FloatShape shape = ShapeOf(a.result_type);
    const uint64_t bits = sum.Round(shape);
    if (lane == 0) StoreBits(a.result, result, bits, shape.bits);
  }
}

#define SUM_KERNELS(type, Input)                                                  \
  KERNEL(sum_##type, SumArguments, kReduceThreads) { Sum<Input>(a); }             \
  KERNEL(sum_finish_##type, SumArguments, kReduceThreads) { SumParts<Input>(a); } \
  KERNEL(sum_repair_##type, SumArguments, kSumRepairThreads) { RepairSum<Input>(a); }
SUM_KERNELS(f32, InputF32)
SUM_KERNELS(bf16, InputBf16)
SUM_KERNELS(f16, InputF16)
SUM_KERNELS(f64, InputF64)

}  // namespace assay::gpu
