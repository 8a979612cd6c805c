// Threefry-2x32 with 20 rounds and Philox-4x32 with 10 rounds (Salmon et al., Parallel
// random numbers: as easy as 1, 2, 3).
#include "gpu/kernels/device.cuh"
#include "gpu/kernels/index.cuh"
#include "gpu/kernels/random_arguments.h"

namespace assay::gpu {

__device__ __forceinline__ uint32_t RotateLeft(uint32_t x, int by) { return x << by | x >> (32 - by); }

// Four rounds, and the injection of the key behind them.
template <int kA, int kB, int kC, int kD>
__device__ __forceinline__ void ThreeFryRounds(uint32_t& x, uint32_t& y, uint32_t key, uint32_t next_key,
                                               uint32_t number) {
  x += y, y = RotateLeft(y, kA) ^ x;
  x += y, y = RotateLeft(y, kB) ^ x;
  x += y, y = RotateLeft(y, kC) ^ x;
  x += y, y = RotateLeft(y, kD) ^ x;
  x += key;
  y += next_key + number;
}

__device__ __forceinline__ uint64_t ThreeFry(uint64_t key, uint64_t counter) {
  const auto k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  const uint32_t k2 = k0 ^ k1 ^ 0x1bd11bda;
  uint32_t x = static_cast<uint32_t>(counter) + k0, y = static_cast<uint32_t>(counter >> 32) + k1;
  ThreeFryRounds<13, 15, 26, 6>(x, y, k1, k2, 1);
  ThreeFryRounds<17, 29, 16, 24>(x, y, k2, k0, 2);
  ThreeFryRounds<13, 15, 26, 6>(x, y, k0, k1, 3);
  ThreeFryRounds<17, 29, 16, 24>(x, y, k1, k2, 4);
  ThreeFryRounds<13, 15, 26, 6>(x, y, k2, k0, 5);
  return x | static_cast<uint64_t>(y) << 32;
}

struct PhiloxBlock {
  uint32_t words[4];
};
__device__ __forceinline__ PhiloxBlock Philox(uint64_t key, uint64_t low, uint64_t high) {
  auto k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  PhiloxBlock c{{static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32), static_cast<uint32_t>(high),
                 static_cast<uint32_t>(high >> 32)}};
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const uint64_t p = uint64_t{0xd2511f53} * c.words[0], q = uint64_t{0xcd9e8d57} * c.words[2];
    c = {{static_cast<uint32_t>(q >> 32) ^ c.words[1] ^ k0, static_cast<uint32_t>(q),
          static_cast<uint32_t>(p >> 32) ^ c.words[3] ^ k1, static_cast<uint32_t>(p)}};
    k0 += 0x9e3779b9;
    k1 += 0xbb67ae85;
  }
  return c;
}

__device__ __forceinline__ void StoreRandom(const RandomArguments& a, int64_t i, uint64_t word) {
  if (a.bytes == 8) {
    reinterpret_cast<uint64_t*>(a.result)[i] = word;
  } else if (a.bytes == 4) {
    reinterpret_cast<uint32_t*>(a.result)[i] = static_cast<uint32_t>(word);
  } else if (a.bytes == 2) {
    reinterpret_cast<uint16_t*>(a.result)[i] = static_cast<uint16_t>(word);
  } else {
    const auto high = static_cast<uint32_t>(word) << (32 - a.bits);
    reinterpret_cast<uint8_t*>(a.result)[i] = static_cast<uint8_t>(
        a.is_signed != 0 ? static_cast<uint32_t>(static_cast<int32_t>(high) >> (32 - a.bits))
                         : high >> (32 - a.bits));
  }
}

// The state behind `used` counters of `counter_words` words.
__device__ __forceinline__ void StoreState(const RandomArguments& a, bool wide_counter) {
  if (a.new_state == 0 || GridThread() != 0) return;
  const auto* const state = reinterpret_cast<const uint64_t*>(a.state);
  auto* const to = reinterpret_cast<uint64_t*>(a.new_state);
  const uint64_t low = state[1] + static_cast<uint64_t>(a.used);
  to[0] = state[0];
  to[1] = low;
  if (a.state_words == 3) to[2] = state[2] + (wide_counter && low < state[1] ? 1 : 0);
}

KERNEL(random_three_fry, RandomArguments, kRandomThreads) {
  const auto* const state = reinterpret_cast<const uint64_t*>(a.state);
  const uint64_t key = state[0], counter = state[1];
  StoreState(a, false);
  if (a.bytes == 8) {
    for (int64_t i = GridThread(); i < a.count; i += GridThreads())
      StoreRandom(a, i, ThreeFry(key, counter + static_cast<uint64_t>(i)));
    return;
  }
  const int64_t half = (a.size + 1) / 2;
  for (int64_t i = GridThread(); i < a.used; i += GridThreads()) {
    const uint64_t pair = ThreeFry(key, counter + static_cast<uint64_t>(i));
    int64_t outer = i;
    const int64_t behind = SplitIndex(&outer, a.inner), place = 2 * SplitIndex(&outer, half);
    const int64_t at = (outer * a.size + place) * a.inner + behind;
    StoreRandom(a, at, pair & 0xffffffff);
    if (place + 1 < a.size) StoreRandom(a, at + a.inner, pair >> 32);
  }
}

KERNEL(random_philox, RandomArguments, kRandomThreads) {
  const auto* const state = reinterpret_cast<const uint64_t*>(a.state);
  const uint64_t key = state[0], low = state[1], high = a.state_words == 3 ? state[2] : state[0];
  StoreState(a, true);
  for (int64_t i = GridThread(); i < a.used; i += GridThreads()) {
    const uint64_t counter = low + static_cast<uint64_t>(i);
    const PhiloxBlock block = Philox(key, counter, high + (counter < low ? 1 : 0));
    if (a.bytes == 8) {
      for (int j = 0; j < 2; ++j) {
        if (2 * i + j < a.count) {
          StoreRandom(a, 2 * i + j, block.words[2 * j] | static_cast<uint64_t>(block.words[2 * j + 1]) << 32);
        }
      }
    } else {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        if (4 * i + j < a.count) StoreRandom(a, 4 * i + j, block.words[j]);
      }
    }
  }
}

}  // namespace assay::gpu
