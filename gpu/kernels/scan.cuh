// Cumulative sums and folds in one launch, by decoupled look-back.
//
// A block takes the next tile by a ticket, so it only ever waits for tiles that were taken before, by blocks
// that run or have run. It publishes what its own elements are together, looks back for what the tiles
// before are, and publishes both. Which states a look-back meets depends on time; results do not, as they do
// not depend on the order of combinations.
#ifndef ASSAY_GPU_KERNELS_SCAN_CUH_
#define ASSAY_GPU_KERNELS_SCAN_CUH_

#include "gpu/kernels/device.cuh"
#include "gpu/kernels/scan_arguments.h"
#include "gpu/kernels/states.cuh"

namespace assay::gpu {

constexpr uint32_t kTileOwn = 1, kTileUpTo = 2;  // what a tile's word has; 0: nothing yet

// The tile of a block, and its elements in shared memory: those of a thread side by side, with one element of
// padding behind them.
template <typename Bits>
class ScanTile {
 public:
  // All threads of the block call it.
  __device__ __forceinline__ explicit ScanTile(const ScanArguments& a) : a_(a) {
    auto* const ticket = reinterpret_cast<uint32_t*>(SharedMemory());
    if (threadIdx.x == 0) *ticket = AtomicAdd(reinterpret_cast<uint32_t*>(a.ticket), 1);
    SyncThreads();
    number_ = *ticket;
    const uint32_t line = number_ / a.tiles;
    place_ = number_ - line * a.tiles;
    const int64_t o = line / a.inner, c = line % a.inner;
    first_ = o * a.length * a.inner + c;
    begin_ = static_cast<int64_t>(place_) * blockDim.x * kScanItems;
    elements_ = reinterpret_cast<Bits*>(SharedMemory() + kScanBlockBytes);
    const auto* const input = reinterpret_cast<const Bits*>(a.input);
#pragma unroll
    for (int j = 0; j < kScanItems; ++j) {
      const uint32_t i = threadIdx.x + j * blockDim.x;
      if (begin_ + i < a.length)
        elements_[i + i / kScanItems] = LoadStreaming(input + OffsetOfItem(begin_ + i));
    }
    SyncThreads();
  }
  __device__ __forceinline__ uint32_t number() const { return number_; }
  __device__ __forceinline__ uint32_t place() const { return place_; }  // in the line
  __device__ __forceinline__ Bits* own() const { return elements_ + threadIdx.x * (kScanItems + 1); }
  // How many elements this thread has, and which element of the array number j of them is.
  __device__ __forceinline__ int own_count() const {
    const int64_t left = a_.length - begin_ - static_cast<int64_t>(threadIdx.x) * kScanItems;
    return left >= kScanItems ? kScanItems : left > 0 ? static_cast<int>(left) : 0;
  }
  __device__ __forceinline__ int64_t OffsetOfOwn(int j) const {
    return OffsetOfItem(begin_ + static_cast<int64_t>(threadIdx.x) * kScanItems + j);
  }
  // Writes what the threads have put in place of the elements. All threads of the block call it.
  __device__ __forceinline__ void StoreResults() const {
    SyncThreads();
    auto* const result = reinterpret_cast<Bits*>(a_.result);
#pragma unroll
    for (int j = 0; j < kScanItems; ++j) {
      const uint32_t i = threadIdx.x + j * blockDim.x;
      if (begin_ + i < a_.length)
        StoreStreaming(result + OffsetOfItem(begin_ + i), elements_[i + i / kScanItems]);
    }
  }

 private:
  __device__ __forceinline__ int64_t OffsetOfItem(int64_t i) const {
    return first_ + (a_.reversed != 0 ? a_.length - 1 - i : i) * a_.inner;
  }

  const ScanArguments& a_;
  uint32_t number_ = 0, place_ = 0;
  int64_t first_ = 0, begin_ = 0;
  Bits* elements_ = nullptr;
};

// By one warp: publishes the tile's own state, finds that of all before it in its line (of the first one
// that is Scan::Start), and publishes both together. Scan says how states become words.
template <typename Scan>
__device__ __forceinline__ typename Scan::State LookBack(const ScanArguments& a, uint32_t tile,
                                                         uint32_t place, const typename Scan::State& own) {
  using State = typename Scan::State;
  const uint32_t lane = threadIdx.x % 32;
  if (place == 0) {
    const State start = Scan::Start(a);
    if (lane == 0) Scan::Publish(a, tile, Scan::Combine(a, start, own), kTileUpTo);
    return start;
  }
  if (lane == 0) Scan::Publish(a, tile, own, kTileOwn);
  State before = Scan::Empty(a);
  for (int64_t last = static_cast<int64_t>(place) - 1; last >= 0; last -= 32) {
    const auto other = static_cast<uint32_t>(tile - place + last - lane);
    Word16 word{0, kTileUpTo};
    const bool exists = last >= lane;
    if (exists) {
      word = LoadWhen(reinterpret_cast<const Word16*>(a.states) + other,
                      [](const Word16& found) { return (found.high & 3) != 0; });
    }
    const uint32_t ends = Ballot((word.high & 3) == kTileUpTo);
    const uint32_t end =
        ends == 0 ? 31 : static_cast<uint32_t>(TrailingZeros(uint64_t{ends}));  // the nearest
    const State state = exists && lane <= end ? Scan::StateOf(a, other, word) : Scan::Empty(a);
    before = Scan::Combine(a, before, Scan::CombineWarp(a, state));
    if (ends != 0) break;
  }
  if (lane == 0) Scan::Publish(a, tile, Scan::Combine(a, before, own), kTileUpTo);
  return before;
}

}  // namespace assay::gpu

#endif  // ASSAY_GPU_KERNELS_SCAN_CUH_
