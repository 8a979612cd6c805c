// Arguments of the kernels of random.cu: the bits of rng-bit-generator and the state behind them.
#ifndef ASSAY_GPU_KERNELS_RANDOM_ARGUMENTS_H_
#define ASSAY_GPU_KERNELS_RANDOM_ARGUMENTS_H_

#include <cstdint>

namespace assay::gpu {

// random_three_fry and random_philox, with any number of blocks of kRandomThreads threads.
struct RandomArguments {
  uint64_t state;      // uint64_t [state_words]: key and counter
  uint64_t new_state;  // the same, moved on by `used`; 0: not wanted
  uint64_t result;
  int64_t count;  // of elements
  int64_t used;   // counters
  int32_t state_words;
  int32_t bytes;      // of an element: 1, 2, 4 or 8
  int32_t bits;       // that it has of the random word
  int32_t is_signed;  // whether the bits above repeat its sign
  // Narrow elements of random_three_fry share a counter in pairs, along a dimension of `size` elements with
  // `inner` elements behind each: the even one has the low word.
  int64_t size, inner;
};
constexpr int kRandomThreads = 256;

}  // namespace assay::gpu

#endif  // ASSAY_GPU_KERNELS_RANDOM_ARGUMENTS_H_
