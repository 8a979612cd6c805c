// A kernel that reverses 64 numbers, and does one thing wrong.
#include "gpu/kernels/device.cuh"
#include "tests/gpu/emulator/device/faulty_arguments.h"

namespace assay::gpu {

__device__ inline void CopyWrong(const FaultyArguments& a, int32_t* shared, int32_t* numbers,
                                 uint32_t thread) {
  CopyAsync4(shared + thread, numbers + thread, a.fault == Fault::kPartialCopy ? 3 : 4);
  CopyAsyncCommit();
  if (a.fault == Fault::kReadOfCopy) {
    SyncThreads();
    numbers[thread] = shared[63 - thread];
    CopyAsyncWait<0>();
  }
}

__device__ inline void TouchWrong(const FaultyArguments& a, int32_t* shared, int32_t* numbers,
                                  uint32_t thread) {
  auto* const bytes = reinterpret_cast<unsigned char*>(shared);
  if (a.fault == Fault::kReadAfterWrite) numbers[thread] = shared[thread == 0 ? 0 : thread - 1];
  if (a.fault == Fault::kUnwritten) numbers[thread] = shared[64 + thread];
  if (a.fault == Fault::kBeyondShared) shared[65 + thread] = 0;
  if (a.fault == Fault::kBeforeShared) numbers[thread] = shared[static_cast<int>(thread) - 1];
  if (a.fault == Fault::kUnalignedShared) *reinterpret_cast<int32_t*>(bytes + 4 * thread + 2) = 1;
  if (a.fault == Fault::kBeyondMemory) numbers[thread + 1] = 0;
  if (a.fault == Fault::kUnalignedMemory) {
    *reinterpret_cast<int32_t*>(reinterpret_cast<unsigned char*>(numbers) + 4 * (thread % 60) + 1) = 1;
  }
  if (a.fault == Fault::kDivergentBarrier && thread < 32) SyncThreads();
  if (a.fault == Fault::kDivergentWarp && thread % 2 == 0) Ballot(true);
  if (a.fault == Fault::kTrap && thread == 40) Trap();
}

KERNEL(reverse_faulty, FaultyArguments, 64) {
  auto* const shared = reinterpret_cast<int32_t*>(SharedMemory());
  auto* const numbers = reinterpret_cast<int32_t*>(a.numbers);
  const uint32_t thread = threadIdx.x;
  if (a.fault == Fault::kUnfinishedCopy || a.fault == Fault::kReadOfCopy || a.fault == Fault::kPartialCopy) {
    CopyWrong(a, shared, numbers, thread);
    return;
  }
  shared[a.fault == Fault::kTwoWrites ? thread / 2 : thread] = numbers[thread];
  TouchWrong(a, shared, numbers, thread);
  if (a.fault == Fault::kEarlyEnd && thread == 5) return;
  if (a.fault == Fault::kRaceBeyondWarpBarrier) {
    SyncWarp();
  } else {
    SyncThreads();
  }
  numbers[thread] = shared[a.fault == Fault::kRaceBeyondWarpBarrier ? thread % 32 : 63 - thread];
  if (a.fault == Fault::kWriteAfterRead && thread == 63) shared[63] = 7;
}

}  // namespace assay::gpu
