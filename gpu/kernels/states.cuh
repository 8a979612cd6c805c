// What lanes and blocks hand to each other: structures of several words, and who comes last.
#ifndef ASSAY_GPU_KERNELS_STATES_CUH_
#define ASSAY_GPU_KERNELS_STATES_CUH_

#include "gpu/kernels/device.cuh"

namespace assay::gpu {

// A state as words that move between lanes and through memory.
template <typename State>
struct StateWords {
  static_assert(sizeof(State) % 4 == 0);
  static constexpr int kWords = sizeof(State) / 4;
  uint32_t words[kWords];
};
template <typename State>
__device__ __forceinline__ State ShuffleXorState(const State& state, uint32_t mask) {
  auto words = BitsAs<StateWords<State>>(state);
#pragma unroll
  for (int i = 0; i < StateWords<State>::kWords; ++i) words.words[i] = ShuffleXor(words.words[i], mask);
  return BitsAs<State>(words);
}
// The state of the lane `by` below; lanes below `by` keep theirs.
template <typename State>
__device__ __forceinline__ State ShuffleUpState(const State& state, uint32_t by) {
  auto words = BitsAs<StateWords<State>>(state);
#pragma unroll
  for (int i = 0; i < StateWords<State>::kWords; ++i) words.words[i] = ShuffleUp(words.words[i], by);
  return BitsAs<State>(words);
}
template <typename State>
__device__ __forceinline__ State LoadPastState(const State* from) {
  StateWords<State> words;
#pragma unroll
  for (int i = 0; i < StateWords<State>::kWords; ++i)
    words.words[i] = LoadPast(reinterpret_cast<const uint32_t*>(from) + i);
  return BitsAs<State>(words);
}

// True in all threads of that block which is the last one of `blocks` to come to the counter; the counter is
// zero again after that. What the others wrote before is then read past the first-level cache. `shared` is a
// word of shared memory.
__device__ __forceinline__ bool IsLastBlock(uint32_t* counter, uint32_t blocks, uint32_t* shared) {
  FenceDevice();  // each thread that wrote, before the barrier
  SyncThreads();
  if (threadIdx.x == 0) {
    *shared = AtomicAdd(counter, 1) == blocks - 1 ? 1 : 0;
    if (*shared != 0) *counter = 0;
    FenceDevice();
  }
  SyncThreads();
  return *shared != 0;
}

}  // namespace assay::gpu

#endif  // ASSAY_GPU_KERNELS_STATES_CUH_
