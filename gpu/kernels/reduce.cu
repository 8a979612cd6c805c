// Exact sums, rounded once: pairs of doubles, whose rounding is tested,
// and wide fixed-point numbers where it is open.
#include "gpu/kernels/device.cuh"
#include "gpu/kernels/index.cuh"
#include "gpu/kernels/reduce_arguments.h"
#include "gpu/kernels/sums.cuh"

namespace assay::gpu {

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
  FinishSum(a, sum, *reinterpret_cast<const typename Input::Bits*>(a.init), result, result, count);
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

// An open result: the terms of its sum.
template <typename Input>
struct OpenSum {
  using Bits = typename Input::Bits;
  const Elements<Bits> elements;
  Bits start;
  int64_t result;

  __device__ __forceinline__ OpenSum(const SumArguments& a, uint32_t open)
      : elements(a.plan, a.input, open), start(*reinterpret_cast<const Bits*>(a.init)), result(open) {}
  __device__ __forceinline__ int64_t size() const { return elements.size; }
  __device__ __forceinline__ double Term(int64_t i) const { return Input::Value(elements[i]); }
};

#define SUM_KERNELS(type, Input)                                                  \
  KERNEL(sum_##type, SumArguments, kReduceThreads) { Sum<Input>(a); }             \
  KERNEL(sum_finish_##type, SumArguments, kReduceThreads) { SumParts<Input>(a); } \
  KERNEL(sum_repair_##type, SumArguments, kSumRepairThreads) { RepairSums<Input, OpenSum<Input>>(a); }
SUM_KERNELS(f32, InputF32)
SUM_KERNELS(bf16, InputBf16)
SUM_KERNELS(f16, InputF16)
SUM_KERNELS(f64, InputF64)

}  // namespace assay::gpu
