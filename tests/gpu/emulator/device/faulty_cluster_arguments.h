// Of the kernel of faulty_cluster.cu.
#ifndef ASSAY_TESTS_GPU_EMULATOR_DEVICE_FAULTY_CLUSTER_ARGUMENTS_H_
#define ASSAY_TESTS_GPU_EMULATOR_DEVICE_FAULTY_CLUSTER_ARGUMENTS_H_

#include <cstdint>

namespace assay::gpu {

enum class ClusterFault : int32_t {
  kNone,
  kNoInit,
  kTwoInits,
  kNoFence,
  kNoClusterSync,
  kMoreArrivals,
  kFewerBytes,
  kMoreBytes,
  kNoCopy,
  kNoRelease,
  kNoWaitForFull,
  kNoWaitForEmpty,
  kReleaseBeforeEnd,
  kOneThreadWaits,
  kUnalignedCopy,
  kCopyBeyondShared,
  kCopyBeyondMemory,
  kCopyToNobody,
  kUnalignedMatrix,
  kSwizzle,
  kNoMmaFence,
  kNoMmaWait,
  kReadOfSums,
  kWriteOfSums,
  kDifferentOperands,
  kOrdinaryRead,
  kOrdinaryWrite,
  kUnfinishedCopy,
  kEarlyEnd,
  kDivergentRegisters,
  kDivergentCluster,
  kAccessToBarrier,
};

// Two blocks each multiply 64 rows of A, their own, with 256 rows of B, of which each copies half to both.
struct FaultyClusterArguments {
  uint64_t a;     // int8_t [2][steps][64 * 128], 16-byte pieces of 128 bytes swizzled
  uint64_t b;     // int8_t [2][steps][128 * 128], likewise
  uint64_t sums;  // int32_t [2][128][128]: of the block's consumers
  int32_t steps;
  ClusterFault fault;
};
constexpr uint32_t kFaultyClusterThreads = 256, kFaultyClusterStages = 2;
constexpr uint32_t kFaultyClusterStage = (64 + 256) * 128;
constexpr uint32_t kFaultyClusterShared = kFaultyClusterStages * kFaultyClusterStage + 1024 + 64;

}  // namespace assay::gpu

#endif  // ASSAY_TESTS_GPU_EMULATOR_DEVICE_FAULTY_CLUSTER_ARGUMENTS_H_
