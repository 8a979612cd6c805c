// reduce-window: exact sums and folds of the elements under windows,
// one window by itself or all prefixes of a line together.
#include "gpu/kernels/device.cuh"
#include "gpu/kernels/folding.cuh"
#include "gpu/kernels/index.cuh"
#include "gpu/kernels/sums.cuh"
#include "gpu/kernels/window_arguments.h"

namespace assay::gpu {

// The elements under the window of one result.
template <typename Bits>
class UnderWindow {
 public:
  __device__ __forceinline__ UnderWindow(const WindowReduceArguments& a, int64_t result) : a_(a) {
#pragma unroll 1
    for (int d = a.rank - 1; d >= 0; --d) {
      const WindowDimensionArguments& dimension = a.dimensions[d];
      starts_[d] = SplitIndex(&result, dimension.places) * dimension.step - dimension.low;
    }
  }

  // Whether position w of the window meets an element: *bits.
  __device__ __forceinline__ bool Find(int64_t w, Bits* bits) const {
    int64_t offset = 0;
#pragma unroll 1
    for (int d = a_.rank - 1; d >= 0; --d) {
      const WindowDimensionArguments& dimension = a_.dimensions[d];
      int64_t p = starts_[d];
      if (dimension.window != 1) p += SplitIndex(&w, dimension.window) * dimension.dilation;
      if (p < 0) return false;
      if (dimension.base_dilation != 1 && SplitIndex(&p, dimension.base_dilation) != 0) return false;
      if (p >= dimension.size) return false;
      offset += p * dimension.stride;
    }
    *bits = reinterpret_cast<const Bits*>(a_.input)[offset];
    return true;
  }

 private:
  const WindowReduceArguments& a_;
  int64_t starts_[kMaxDimensions];
};

template <typename Input>
__device__ __forceinline__ void SumWindows(const WindowReduceArguments& a) {
  using Bits = typename Input::Bits;
  const int64_t group = a.group, result = GridThread() / group, lane = GridThread() % group;
  PartialSum<Input> sum;
  if (result < a.results) {
    const UnderWindow<Bits> window(a, result);
    for (int64_t w = lane; w < a.entries; w += group) {
      Bits bits;
      if (window.Find(w, &bits)) sum.Add(bits);
    }
  }
  sum.AddLanes(static_cast<uint32_t>(group));
  if (lane != 0 || result >= a.results) return;
  FinishSum(a, sum, *reinterpret_cast<const Bits*>(a.init), result, result,
            static_cast<double>(a.entries + group));
}

// An open result: the terms of its sum.
template <typename Input>
struct OpenWindow {
  using Bits = typename Input::Bits;
  const WindowReduceArguments& a;
  const UnderWindow<Bits> window;
  Bits start;
  int64_t result;

  __device__ __forceinline__ OpenWindow(const WindowReduceArguments& arguments, uint32_t open)
      : a(arguments),
        window(arguments, open),
        start(*reinterpret_cast<const Bits*>(arguments.init)),
        result(open) {}
  __device__ __forceinline__ int64_t size() const { return a.entries; }
  __device__ __forceinline__ double Term(int64_t i) const {
    Bits bits;
    return window.Find(i, &bits) ? Input::Value(bits) : 0.0;
  }
};

template <typename Bits>
__device__ __forceinline__ Bits Folded(const Folding<Bits>& folding, uint64_t key, Bits init, bool any) {
  // Of no elements the start value is the result as it stands, even if it is a NaN.
  return any ? folding.Element(folding.Of(key, folding.Key(init))) : init;
}

template <typename Bits>
__device__ __forceinline__ void FoldWindows(const WindowReduceArguments& a) {
  const Folding<Bits> folding{a.folding};
  const int64_t group = a.group, result = GridThread() / group, lane = GridThread() % group;
  uint64_t key = folding.Neutral();
  uint32_t any = 0;
  if (result < a.results) {
    const UnderWindow<Bits> window(a, result);
    for (int64_t w = lane; w < a.entries; w += group) {
      Bits bits;
      if (!window.Find(w, &bits)) continue;
      key = folding.Of(key, folding.Key(bits));
      any = 1;
    }
  }
  for (uint32_t mask = static_cast<uint32_t>(group) / 2; mask != 0; mask /= 2) {
    key = folding.Of(key, ShuffleXor(key, mask));
    any |= ShuffleXor(any, mask);
  }
  if (lane != 0 || result >= a.results) return;
  reinterpret_cast<Bits*>(a.result)[result] =
      Folded<Bits>(folding, key, *reinterpret_cast<const Bits*>(a.init), any != 0);
}

// Prefixes are made of states that are added in any order.
template <typename Input>
struct SumState {
  using Bits = typename Input::Bits;
  PartialSum<Input> sum;

  __device__ __forceinline__ explicit SumState(const WindowReduceArguments& /*a*/) {}
  __device__ __forceinline__ void Add(Bits bits) { sum.Add(bits); }
  __device__ __forceinline__ void Add(const SumState& other) { sum.Add(other.sum); }
  __device__ __forceinline__ SumState Below(uint32_t by) const {
    SumState below(*this);
    below.sum.pair.sum = ShuffleUp(sum.pair.sum, by);
    below.sum.pair.error = ShuffleUp(sum.pair.error, by);
    below.sum.pair.magnitude = ShuffleUp(sum.pair.magnitude, by);
    below.sum.least = ShuffleUp(sum.least, by);
    below.sum.kinds = ShuffleUp(sum.kinds, by);
    return below;
  }
  __device__ __forceinline__ void Store(const WindowReduceArguments& a, int64_t result, int64_t count) const {
    PartialSum<Input> all = sum;
    FinishSum(a, all, *reinterpret_cast<const Bits*>(a.init), result, result, static_cast<double>(count));
  }
};

template <typename BitsOfElement>
struct FoldState {
  using Bits = BitsOfElement;
  const FoldingArguments* folding;
  uint64_t key;

  __device__ __forceinline__ explicit FoldState(const WindowReduceArguments& a)
      : folding(&a.folding), key(Folding<Bits>{a.folding}.Neutral()) {}
  __device__ __forceinline__ void Add(Bits bits) {
    const Folding<Bits> fold{*folding};
    key = fold.Of(key, fold.Key(bits));
  }
  __device__ __forceinline__ void Add(const FoldState& other) {
    key = Folding<Bits>{*folding}.Of(key, other.key);
  }
  __device__ __forceinline__ FoldState Below(uint32_t by) const {
    FoldState below(*this);
    below.key = ShuffleUp(key, by);
    return below;
  }
  __device__ __forceinline__ void Store(const WindowReduceArguments& a, int64_t result, int64_t) const {
    reinterpret_cast<Bits*>(a.result)[result] =
        Folded<Bits>(Folding<Bits>{*folding}, key, *reinterpret_cast<const Bits*>(a.init), true);
  }
};

// A block has a line, and goes over it a tile at a time.
template <typename State>
__device__ __forceinline__ void Prefixes(const WindowReduceArguments& a) {
  using Bits = typename State::Bits;
  constexpr int kWarps = kReduceThreads / 32;
  auto* const of_warps = reinterpret_cast<State*>(SharedMemory());
  static_assert(sizeof(State) * kWarps <= kPrefixSharedBytes);
  const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const WindowDimensionArguments& along = a.dimensions[a.along];
  int64_t line = blockIdx.x, first = 0, first_result = 0, step_of_result = 1, places = 1;
  for (int d = a.rank - 1; d >= 0; --d) {
    const WindowDimensionArguments& dimension = a.dimensions[d];
    if (d == a.along) {
      step_of_result = places;
    } else {
      const int64_t at = SplitIndex(&line, dimension.places);
      first += at * dimension.stride;
      first_result += at * places;
    }
    places *= dimension.places;
  }
  const Bits* const elements = reinterpret_cast<const Bits*>(a.input) + first;
  State carried(a);
  for (int64_t tile = 0; tile < along.size; tile += kReduceThreads * kPrefixItems) {
    const int64_t begin = tile + threadIdx.x * kPrefixItems;
    Bits bits[kPrefixItems] = {};
    State own(a);
#pragma unroll
    for (int j = 0; j < kPrefixItems; ++j) {
      const int64_t i = begin + j;
      if (i >= along.size) continue;
      bits[j] = elements[(a.reversed != 0 ? along.size - 1 - i : i) * along.stride];
      own.Add(bits[j]);
    }
    for (uint32_t by = 1; by < 32; by *= 2) {
      const State below = own.Below(by);
      if (lane >= by) own.Add(below);
    }
    if (lane == 31) of_warps[warp] = own;
    State prefix = own.Below(1);
    if (lane == 0) prefix = State(a);
    prefix.Add(carried);
    SyncThreads();
    for (uint32_t w = 0; w < kWarps; ++w) {
      if (w < warp) prefix.Add(of_warps[w]);
      carried.Add(of_warps[w]);
    }
    SyncThreads();
#pragma unroll
    for (int j = 0; j < kPrefixItems; ++j) {
      const int64_t i = begin + j;
      if (i >= along.size) continue;
      prefix.Add(bits[j]);
      const int64_t place = a.reversed != 0 ? along.size - 1 - i : i;
      // Each tile adds what warps have, besides the elements.
      prefix.Store(a, first_result + place * step_of_result, i + 1 + (tile / kReduceThreads + 2) * 32);
    }
  }
}

#define WINDOW_SUM_KERNELS(type, Input)                                                              \
  KERNEL(window_sum_##type, WindowReduceArguments, kReduceThreads) { SumWindows<Input>(a); }         \
  KERNEL(prefix_sum_##type, WindowReduceArguments, kReduceThreads) { Prefixes<SumState<Input>>(a); } \
  KERNEL(window_repair_##type, WindowReduceArguments, kSumRepairThreads) {                           \
    RepairSums<Input, OpenWindow<Input>>(a);                                                         \
  }
WINDOW_SUM_KERNELS(f32, InputF32)
WINDOW_SUM_KERNELS(bf16, InputBf16)
WINDOW_SUM_KERNELS(f16, InputF16)
WINDOW_SUM_KERNELS(f64, InputF64)

#define WINDOW_FOLD_KERNELS(bytes, Bits)                                                       \
  KERNEL(window_fold_##bytes, WindowReduceArguments, kReduceThreads) { FoldWindows<Bits>(a); } \
  KERNEL(prefix_fold_##bytes, WindowReduceArguments, kReduceThreads) { Prefixes<FoldState<Bits>>(a); }
WINDOW_FOLD_KERNELS(1, uint8_t)
WINDOW_FOLD_KERNELS(2, uint16_t)
WINDOW_FOLD_KERNELS(4, uint32_t)
WINDOW_FOLD_KERNELS(8, uint64_t)

}  // namespace assay::gpu
