// reduce-window: exact sums and folds of the elements under windows, each window by itself. (Windows that
// are all prefixes of a line: scan.cu.)
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

#define WINDOW_SUM_KERNELS(type, Input)                                                      \
  KERNEL(window_sum_##type, WindowReduceArguments, kReduceThreads) { SumWindows<Input>(a); } \
  KERNEL(window_repair_##type, WindowReduceArguments, kSumRepairThreads) {                   \
    RepairSums<Input, OpenWindow<Input>>(a);                                                 \
  }
WINDOW_SUM_KERNELS(f32, InputF32)
WINDOW_SUM_KERNELS(bf16, InputBf16)
WINDOW_SUM_KERNELS(f16, InputF16)
WINDOW_SUM_KERNELS(f64, InputF64)

KERNEL(window_fold_1, WindowReduceArguments, kReduceThreads) { FoldWindows<uint8_t>(a); }
KERNEL(window_fold_2, WindowReduceArguments, kReduceThreads) { FoldWindows<uint16_t>(a); }
KERNEL(window_fold_4, WindowReduceArguments, kReduceThreads) { FoldWindows<uint32_t>(a); }
KERNEL(window_fold_8, WindowReduceArguments, kReduceThreads) { FoldWindows<uint64_t>(a); }

}  // namespace assay::gpu
