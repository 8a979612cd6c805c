// A product of bytes by clusters of two blocks, that does one
// thing wrong.
#include "gpu/kernels/cluster.cuh"
#include "tests/gpu/emulator/device/faulty_cluster_arguments.h"

namespace assay::gpu {

struct FaultyPlace {
  const FaultyClusterArguments& a;
  uint32_t base, rank;
  __device__ __forceinline__ bool Is(ClusterFault fault) const { return a.fault == fault; }
  __device__ __forceinline__ uint32_t full(uint32_t stage) const {
    return base + kFaultyClusterStages * kFaultyClusterStage + 8 * stage;
  }
  __device__ __forceinline__ uint32_t empty(uint32_t stage) const { return full(stage) + 16; }
  __device__ __forceinline__ uint32_t stage(uint32_t stage) const {
    return base + stage * kFaultyClusterStage;
  }
};

__device__ inline void InitBarriers(const FaultyPlace& at) {
  for (uint32_t i = 0; i < kFaultyClusterStages; ++i) {
    if (!at.Is(ClusterFault::kNoInit) || i == 0) BarrierInit(at.full(i), 1);
    BarrierInit(at.empty(i), 2);
    if (at.Is(ClusterFault::kTwoInits)) BarrierInit(at.full(i), 1);
  }
  if (!at.Is(ClusterFault::kNoFence)) BarrierInitFence();
}

__device__ inline void CopyStage(const FaultyPlace& at, int32_t step, uint32_t stage) {
  const FaultyClusterArguments& a = at.a;
  const auto* const left = reinterpret_cast<const uint8_t*>(a.a) + (at.rank * a.steps + step) * 64 * 128;
  const auto* const right = reinterpret_cast<const uint8_t*>(a.b) + (at.rank * a.steps + step) * 128 * 128;
  const uint32_t to = at.stage(stage), half = 128 * 128;
  const uint32_t expected = kFaultyClusterStage - (at.Is(ClusterFault::kFewerBytes) ? 16 : 0) +
                            (at.Is(ClusterFault::kMoreBytes) ? 16 : 0);
  BarrierExpect(at.full(stage), expected);
  if (at.Is(ClusterFault::kMoreArrivals)) BarrierExpect(at.full(stage), 0);
  CopyBlock(to + (at.Is(ClusterFault::kUnalignedCopy) ? 8 : 0), left, 64 * 128, at.full(stage));
  if (at.Is(ClusterFault::kNoCopy)) return;
  const uint32_t place = at.Is(ClusterFault::kCopyBeyondShared) ? 3 * half : 0;
  const int32_t beyond = at.Is(ClusterFault::kCopyBeyondMemory) ? (2 * a.steps - 1) * 128 * 128 : 0;
  CopyBlockToAll(to + 64 * 128 + at.rank * half + place, right + beyond, half, at.full(stage),
                 at.Is(ClusterFault::kCopyToNobody) ? 4 : 3);
}

__device__ inline void Produce(const FaultyPlace& at) {
  for (int32_t step = 0; step < at.a.steps; ++step) {
    const uint32_t stage = step % kFaultyClusterStages, round = step / kFaultyClusterStages;
    if (!at.Is(ClusterFault::kNoWaitForEmpty)) BarrierWait(at.empty(stage), (round & 1) ^ 1);
    CopyStage(at, step, stage);
  }
  if (at.Is(ClusterFault::kEarlyEnd)) return;
  for (int32_t step = at.a.steps; step < at.a.steps + static_cast<int32_t>(kFaultyClusterStages); ++step) {
    BarrierWait(at.empty(step % kFaultyClusterStages), (step / kFaultyClusterStages & 1) ^ 1);
  }
  if (at.Is(ClusterFault::kUnfinishedCopy))
    CopyBlock(at.stage(0), reinterpret_cast<const uint8_t*>(at.a.a), 64 * 128, at.full(0));
}

__device__ inline void MultiplyStage(const FaultyPlace& at, uint32_t stage, bool first,
                                     int32_t (&sums)[128]) {
  const uint32_t swizzle = at.Is(ClusterFault::kUnalignedMatrix) ? 512 : 0;
  const uint64_t left = SharedMatrix(at.stage(stage) + swizzle),
                 right = SharedMatrix(at.stage(stage) + 64 * 128);
  const bool differs = at.Is(ClusterFault::kDifferentOperands) && threadIdx.x % 128 == 100;
  if (!at.Is(ClusterFault::kNoMmaFence)) MmaFence();
  for (int i = 0; i < 4; ++i) {
    const int k = at.Is(ClusterFault::kSwizzle) && i == 3 ? 2 : i;
    MmaS8(sums, left + 2 * k, right + 2 * (differs ? 0 : k), !first || i != 0);
  }
  MmaCommit();
}

__device__ inline void ConsumeOrdinary(const FaultyPlace& at, int32_t* to) {
  auto* const bytes = SharedMemory() + (at.base - SharedAddress(SharedMemory()));
  if (at.Is(ClusterFault::kOrdinaryRead) && threadIdx.x == 128) to[0] = bytes[5];
  if (at.Is(ClusterFault::kOrdinaryWrite) && threadIdx.x == 200) bytes[40] = 1;
  if (at.Is(ClusterFault::kAccessToBarrier) && threadIdx.x == 200)
    bytes[kFaultyClusterStages * kFaultyClusterStage + 4] = 1;
}

__device__ inline void Consume(const FaultyPlace& at) {
  int32_t sums[128];
  const uint32_t thread = threadIdx.x % 128;
  auto* const to = reinterpret_cast<int32_t*>(at.a.sums) + (at.rank * 128 + thread) * 128;
  const auto release = [&](uint32_t stage) {
    if (thread < 2 && !at.Is(ClusterFault::kNoRelease)) BarrierArriveAt(at.empty(stage), thread);
  };
  if (at.Is(ClusterFault::kOrdinaryRead)) ConsumeOrdinary(at, to);
  for (int32_t step = 0; step < at.a.steps; ++step) {
    const uint32_t stage = step % kFaultyClusterStages, parity = step / kFaultyClusterStages & 1;
    const bool waits =
        !at.Is(ClusterFault::kNoWaitForFull) && (!at.Is(ClusterFault::kOneThreadWaits) || thread == 0);
    if (waits) BarrierWait(at.full(stage), parity);
    if (step == 1) ConsumeOrdinary(at, to);
    MultiplyStage(at, stage, step == 0, sums);
    if (at.Is(ClusterFault::kWriteOfSums)) sums[5] = 0;
    if (at.Is(ClusterFault::kReleaseBeforeEnd)) release(stage);
    MmaWait<1>();
    if (step != 0 && !at.Is(ClusterFault::kReleaseBeforeEnd)) release((step - 1) % kFaultyClusterStages);
  }
  if (at.Is(ClusterFault::kReadOfSums)) {
    for (int i = 0; i < 128; ++i) to[i] = sums[i];
  }
  if (!at.Is(ClusterFault::kNoMmaWait)) MmaWait<0>();
  if (!at.Is(ClusterFault::kReleaseBeforeEnd)) release((at.a.steps - 1) % kFaultyClusterStages);
  if (at.Is(ClusterFault::kReadOfSums)) return;
  for (int i = 0; i < 128; ++i) to[i] = sums[i];
}

CLUSTER_KERNEL(multiply_faulty, FaultyClusterArguments, kFaultyClusterThreads, 2) {
  const uint32_t base = (SharedAddress(SharedMemory()) + 1023) & ~uint32_t{1023};
  const FaultyPlace at{a, base, ClusterRank()};
  if (threadIdx.x == 0) InitBarriers(at);
  if (!at.Is(ClusterFault::kNoClusterSync)) ClusterSync();
  if (threadIdx.x < 128) {
    if (!at.Is(ClusterFault::kDivergentRegisters) || threadIdx.x != 3) FewerRegisters<72>();
    if (threadIdx.x == 0) Produce(at);
  } else {
    MoreRegisters<216>();
    Consume(at);
  }
  if (at.Is(ClusterFault::kEarlyEnd) && ClusterRank() == 0) return;
  if (!at.Is(ClusterFault::kDivergentCluster) || threadIdx.x != 9) ClusterSync();
}

}  // namespace assay::gpu
