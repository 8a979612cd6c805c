// Sums whose parts a generated kernel has made: their pairs are added and rounded once.
#include "gpu/kernels/device.cuh"
#include "gpu/kernels/fused/reduced_arguments.h"
#include "gpu/kernels/index.cuh"
#include "gpu/kernels/lines.cuh"
#include "gpu/kernels/pairs.cuh"

namespace assay::gpu {

// Of a result: what lane `lane` of `lanes` adds of its parts and of the terms that are in none.
template <typename Input>
__device__ __forceinline__ PairState AddParts(const ReducedArguments& a, int64_t result, uint32_t lane,
                                              uint32_t lanes) {
  PairState state = NoTerms();
  const auto* const parts = reinterpret_cast<const ReducedPart*>(a.parts) + result * a.of_result;
  for (int64_t p = lane; p < a.of_result; p += lanes) {
    const ReducedPart part = parts[p];
    Extent<Input> extent;
    extent.most = part.most;
    extent.least = part.least;
    state = Combine(state, {part.sum, part.error, extent.Total(a.count), extent.Least()});
  }
  if (a.num_terms == 0) return state;
  const auto* const terms = reinterpret_cast<const ReducedTerm*>(a.terms);
  int64_t low = 0, high = a.num_terms;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (terms[middle].result < result) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  for (low += lane; low < a.num_terms && terms[low].result == result; low += lanes) {
    PairTerms<Input> term;
    term.Add(static_cast<typename Input::Bits>(terms[low].bits));
    state = Combine(state, term.Finish(1));
  }
  return state;
}

template <typename Input>
__device__ __forceinline__ void FinishResult(const ReducedArguments& a, const PairState& state,
                                             int64_t result, uint32_t lanes) {
  PairTerms<Input> init;
  init.Add(*reinterpret_cast<const typename Input::Bits*>(a.init));
  const FloatShape shape = ShapeOf(a.result_type);
  const double of_lane = static_cast<double>(a.of_result / lanes + 1) + static_cast<double>(a.num_terms);
  uint64_t bits;
  if (RoundState<Input>(Combine(state, init.Finish(1)), a.depth + of_lane + 12, shape, &bits)) {
    StoreBits(a.result, result, bits, shape.bits);
  } else {
    AtomicAdd(reinterpret_cast<uint32_t*>(a.open_count), 1);
  }
}

template <typename Input>
__device__ __forceinline__ void ReduceParts(const ReducedArguments& a) {
  const auto group = static_cast<uint32_t>(a.group);
  const int64_t result = GridThread() / group;
  const uint32_t lane = threadIdx.x % group;
  PairState state = NoTerms();
  if (result < a.results) state = AddParts<Input>(a, result, lane, group);
  state = CombineLanesOf(state, group);
  if (lane == 0 && result < a.results) FinishResult<Input>(a, state, result, group);
}

struct PairOp {
  using State = PairState;
  __device__ __forceinline__ static State Empty() { return NoTerms(); }
  __device__ __forceinline__ static State CombineLanes(const State& state, uint32_t group) {
    return CombineLanesOf(state, group);
  }
};

template <typename Input>
__device__ __forceinline__ void ReducePartsByBlock(const ReducedArguments& a) {
  const int64_t result = blockIdx.x;
  const PairState state = CombineBlock<PairOp>(AddParts<Input>(a, result, threadIdx.x, kReduceThreads),
                                               reinterpret_cast<PairState*>(SharedMemory()));
  if (threadIdx.x == 0) FinishResult<Input>(a, state, result, kReduceThreads);
}

#define REDUCED_KERNELS(type, Input)                                                  \
  KERNEL(reduced_##type, ReducedArguments, kReduceThreads) { ReduceParts<Input>(a); } \
  KERNEL(reduced_block_##type, ReducedArguments, kReduceThreads) { ReducePartsByBlock<Input>(a); }
REDUCED_KERNELS(f32, InputF32)
REDUCED_KERNELS(bf16, InputBf16)
REDUCED_KERNELS(f16, InputF16)
REDUCED_KERNELS(f64, InputF64)

}  // namespace assay::gpu
