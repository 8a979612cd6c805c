// A kernel whose blocks wait for each other, each for the tile before its own: sums[t] becomes t (t + 1) / 2.
#include "gpu/kernels/device.cuh"
#include "tests/gpu/emulator/device/waiting_arguments.h"

namespace assay::gpu {

KERNEL(chain, WaitingArguments, 64) {
  auto* const shared = reinterpret_cast<uint32_t*>(SharedMemory());
  auto* const states = reinterpret_cast<uint64_t*>(a.states);
  constexpr uint64_t kThere = uint64_t{1} << 32;
  if (threadIdx.x == 0) {
    shared[0] =
        a.fault == WaitFault::kNoTicket ? blockIdx.x : AtomicAdd(reinterpret_cast<uint32_t*>(a.ticket), 1);
  }
  SyncThreads();
  const uint32_t tile = shared[0];
  if (a.fault == WaitFault::kOtherThreads && threadIdx.x >= 32 && tile == 3) return;
  if (threadIdx.x == 0) {
    uint64_t before = 0;
    if (tile > 0 && a.fault == WaitFault::kEarlyRead) {
      before = LoadLatest(states + tile - 1);
    } else if (tile > 0) {
      before = LoadWhen(states + tile - 1, [](uint64_t state) { return state >= kThere; });
    }
    const auto sum = static_cast<uint32_t>(before) + tile;
    shared[1] = sum;
    if (a.fault != WaitFault::kNoWrite || tile != 2) StoreLatest(states + tile, kThere | sum);
  }
  SyncThreads();
  if (threadIdx.x == 63) reinterpret_cast<uint32_t*>(a.sums)[tile] = shared[1];
}

}  // namespace assay::gpu
