// scatter: updates of one element of the operand are found together, as they are sorted by it.
#include "gpu/kernels/device.cuh"
#include "gpu/kernels/folding.cuh"
#include "gpu/kernels/index.cuh"
#include "gpu/kernels/offsets.cuh"
#include "gpu/kernels/scatter/scatter_arguments.h"
#include "gpu/kernels/sort_digits.cuh"
#include "gpu/kernels/sums.cuh"

namespace assay::gpu {

KERNEL(scatter_keys, ScatterArguments, kScatterThreads) {
  const DigitCounts counts(a.counts);
  for (int64_t i = GridThread(); i < a.items; i += GridThreads()) {
    const int64_t index = OffsetOf(a.batch, a.batch_index_strides, i);
    int64_t to = OffsetOf(a.batch, a.batch_to_strides, i);  // in units of key_stride, as the starts' strides
    bool inside = true;
    for (int32_t c = 0; c < a.components; ++c) {
      const int64_t start = IndexAt(a.starts[c].address, index, a.index_bytes, a.index_is_signed != 0);
      inside = inside && start >= 0 && start <= a.starts[c].most;
      if (inside) to += start * a.starts[c].stride;
    }
    const auto key = static_cast<uint32_t>(inside ? to : a.keys_end);
    reinterpret_cast<uint32_t*>(a.keys)[i] = key;
    counts.Add(key);
  }
  counts.Finish();
}

// The updates of one element of the operand: items [first, end) of the sorted ones, element w of each.
template <typename Bits>
struct Segment {
  const ScatterArguments& a;
  int64_t first, end, w;

  // Item `item` by its number in the order, of those that begin a segment.
  __device__ __forceinline__ Segment(const ScatterArguments& arguments, int64_t item, int64_t of_window)
      : a(arguments), first(item), end(item), w(of_window) {}
  __device__ __forceinline__ const uint32_t* keys() const {
    return reinterpret_cast<const uint32_t*>(a.keys);
  }
  __device__ __forceinline__ bool IsDropped() const { return keys()[first] == a.keys_end; }
  __device__ __forceinline__ bool IsFirst() const { return first == 0 || keys()[first - 1] != keys()[first]; }
  __device__ __forceinline__ bool IsLast() const {
    return first + 1 == a.items || keys()[first + 1] != keys()[first];
  }
  // Finds the end: keys ascend.
  __device__ __forceinline__ void FindEnd() {
    const uint32_t key = keys()[first];
    int64_t low = first + 1, high = a.items;
    // Most segments are short.
    for (int64_t step = 1; low < high; step *= 2) {
      const int64_t at = low + step - 1;
      if (at >= high || keys()[at] != key) {
        high = at < high ? at : high;
        break;
      }
      low = at + 1;
    }
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (keys()[middle] == key) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    end = low;
  }
  __device__ __forceinline__ int64_t To() const {
    return keys()[first] * a.key_stride + OffsetOf(a.window, a.window_to_strides, w);
  }
  __device__ __forceinline__ Bits Update(int64_t item) const {
    const int64_t b = reinterpret_cast<const uint32_t*>(a.order)[item];
    return reinterpret_cast<const Bits*>(a.updates)[OffsetOf(a.batch, b) + OffsetOf(a.window, w)];
  }
};

struct alignas(16) Update16 {
  uint64_t low, high;
};

// The last update stays.
template <typename Bits>
__device__ __forceinline__ void MoveUpdates(const ScatterArguments& a) {
  int64_t item = GridThread();
  const int64_t w = SplitIndex(&item, SizeOf(a.window));
  if (item >= a.items) return;
  const Segment<Bits> segment(a, item, w);
  if (segment.IsDropped() || !segment.IsLast()) return;
  reinterpret_cast<Bits*>(a.result)[segment.To()] = segment.Update(item);
}

template <typename Bits>
__device__ __forceinline__ void FoldUpdates(const ScatterArguments& a) {
  const Folding<Bits> folding{a.folding};
  int64_t item = GridThread() / a.group;
  const int64_t lane = GridThread() % a.group, w = SplitIndex(&item, SizeOf(a.window));
  Segment<Bits> segment(a, item, w);
  const bool active = item < a.items && !segment.IsDropped() && segment.IsFirst();
  uint64_t key = folding.Neutral();
  if (active) {
    segment.FindEnd();
    for (int64_t i = segment.first + lane; i < segment.end; i += a.group)
      key = folding.Of(key, folding.Key(segment.Update(i)));
  }
  for (uint32_t mask = static_cast<uint32_t>(a.group) / 2; mask != 0; mask /= 2)
    key = folding.Of(key, ShuffleXor(key, mask));
  if (!active || lane != 0) return;
  Bits* const to = reinterpret_cast<Bits*>(a.result) + segment.To();
  *to = folding.Element(folding.Of(key, folding.Key(*to)));
}

template <typename Input>
__device__ __forceinline__ void SumUpdates(const ScatterArguments& a) {
  using Bits = typename Input::Bits;
  int64_t item = GridThread() / a.group;
  const int64_t window = SizeOf(a.window), lane = GridThread() % a.group, w = SplitIndex(&item, window);
  Segment<Bits> segment(a, item, w);
  const bool active = item < a.items && !segment.IsDropped() && segment.IsFirst();
  PartialSum<Input> sum;
  if (active) {
    segment.FindEnd();
    for (int64_t i = segment.first + lane; i < segment.end; i += a.group) sum.Add(segment.Update(i));
  }
  sum.AddLanes(static_cast<uint32_t>(a.group));
  if (!active || lane != 0) return;
  const int64_t to = segment.To();
  FinishSum(a, sum, reinterpret_cast<const Bits*>(a.result)[to], item * window + w, to,
            static_cast<double>(segment.end - segment.first + a.group));
}

// An open element: the operand's is still in the result.
template <typename Input>
struct OpenUpdates {
  using Bits = typename Input::Bits;
  Segment<Bits> segment;
  Bits start;
  int64_t result;

  __device__ __forceinline__ OpenUpdates(const ScatterArguments& a, uint32_t open)
      : segment(a, open / SizeOf(a.window), open % SizeOf(a.window)) {
    segment.FindEnd();
    result = segment.To();
    start = reinterpret_cast<const Bits*>(a.result)[result];
  }
  __device__ __forceinline__ int64_t size() const { return segment.end - segment.first; }
  __device__ __forceinline__ double Term(int64_t i) const {
    return Input::Value(segment.Update(segment.first + i));
  }
};

#define SCATTER_SUM_KERNELS(type, Input)                                                  \
  KERNEL(scatter_sum_##type, ScatterArguments, kScatterThreads) { SumUpdates<Input>(a); } \
  KERNEL(scatter_repair_##type, ScatterArguments, kSumRepairThreads) {                    \
    RepairSums<Input, OpenUpdates<Input>>(a);                                             \
  }
SCATTER_SUM_KERNELS(f32, InputF32)
SCATTER_SUM_KERNELS(bf16, InputBf16)
SCATTER_SUM_KERNELS(f16, InputF16)
SCATTER_SUM_KERNELS(f64, InputF64)

#define SCATTER_KERNELS(bytes, Bits)                                                        \
  KERNEL(scatter_move_##bytes, ScatterArguments, kScatterThreads) { MoveUpdates<Bits>(a); } \
  KERNEL(scatter_fold_##bytes, ScatterArguments, kScatterThreads) { FoldUpdates<Bits>(a); }
SCATTER_KERNELS(1, uint8_t)
SCATTER_KERNELS(2, uint16_t)
SCATTER_KERNELS(4, uint32_t)
SCATTER_KERNELS(8, uint64_t)
KERNEL(scatter_move_16, ScatterArguments, kScatterThreads) { MoveUpdates<Update16>(a); }

}  // namespace assay::gpu
