// The emulation sees what a kernel of clusters does wrong.
#include <random>
#include <utility>

#include "tests/gpu/emulator/device/faulty_cluster_arguments.h"
#include "tests/gpu/kernels/kernel_run.h"

namespace assay::gpu {
namespace {

constexpr int kSteps = 5;

struct Operands {
  std::vector<int8_t> a, b;  // [rank][step][rows][128]
  int64_t At(const std::vector<int8_t>& x, int rows, int rank, int row, int k) const {
    return x[((rank * kSteps + k / 128) * rows + row) * 128 + k % 128];
  }
};

// A row's pieces of 16 bytes in the order of the swizzle of 128 bytes.
std::vector<int8_t> Swizzled(const std::vector<int8_t>& rows) {
  std::vector<int8_t> result(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const size_t row = i / 128, byte = i % 128;
    result[row * 128 + ((byte / 16) ^ (row % 8)) * 16 + byte % 16] = rows[i];
  }
  return result;
}

std::string RunFaultyCluster(ClusterFault fault, bool* right = nullptr) {
  std::mt19937 random(7);
  Operands x{std::vector<int8_t>(2 * kSteps * 64 * 128), std::vector<int8_t>(2 * kSteps * 128 * 128)};
  for (auto* const values : {&x.a, &x.b}) {
    for (int8_t& value : *values) value = static_cast<int8_t>(random());
  }
  TestMemory memory;
  auto* const sums = memory.Allocate<int32_t>(2 * 128 * 128);
  const std::string problem =
      TryKernel("faulty_cluster", "multiply_faulty", 2, kFaultyClusterThreads, kFaultyClusterShared,
                FaultyClusterArguments{AddressOf(memory.Copy(Swizzled(x.a))),
                                       AddressOf(memory.Copy(Swizzled(x.b))), AddressOf(sums), kSteps, fault},
                memory);
  CHECK(memory.ZonesAreIntact());
  if (right == nullptr) return problem;
  *right = true;
  for (int rank = 0; rank < 2; ++rank) {
    for (int row = 0; row < 64; ++row) {
      for (int column = 0; column < 256; column += 3) {
        int64_t sum = 0;
        for (int k = 0; k < kSteps * 128; ++k)
          sum += x.At(x.a, 64, rank, row, k) * x.At(x.b, 128, column / 128, column % 128, k);
        const int thread = row / 16 * 32 + row % 8 * 4 + column % 8 / 2;
        const int at = column / 8 * 4 + row % 16 / 8 * 2 + column % 2;
        *right &= sums[(rank * 128 + thread) * 128 + at] == sum;
      }
    }
  }
  return problem;
}

}  // namespace

TEST_CASE("a product of bytes by a cluster is right", "[emulator][cluster]") {
  bool right = false;
  CHECK(RunFaultyCluster(ClusterFault::kNone, &right) == "");
  CHECK(right);
}

TEST_CASE("the emulation names what a kernel of clusters does wrong", "[emulator][cluster]") {
  const std::pair<ClusterFault, const char*> faults[] = {
      {ClusterFault::kNoInit, "of a barrier that nobody initialized"},
      {ClusterFault::kTwoInits, "a barrier is initialized twice"},
      {ClusterFault::kNoFence, "without a fence after its initialization"},
      {ClusterFault::kNoClusterSync, "of a barrier"},
      {ClusterFault::kMoreArrivals, "more arrivals at a barrier than the 1 wanted"},
      {ClusterFault::kFewerBytes, "and -16 of the expected bytes never come"},
      {ClusterFault::kMoreBytes, "0 are missing, and 16 of the expected bytes never come"},
      {ClusterFault::kNoCopy, "0 are missing, and 32768 of the expected bytes never come"},
      {ClusterFault::kNoRelease, "of its 2 arrivals 2 are missing"},
      {ClusterFault::kNoWaitForFull, "a product of bytes whose copy has not come"},
      {ClusterFault::kNoWaitForEmpty, "more arrivals at a barrier"},
      {ClusterFault::kReleaseBeforeEnd, "a copy to what a product read, and nothing orders it"},
      {ClusterFault::kOneThreadWaits, "did not wait"},
      {ClusterFault::kUnalignedCopy, "a copy that is not aligned to 16 bytes"},
      {ClusterFault::kCopyBeyondShared, "a copy outside of shared memory"},
      {ClusterFault::kCopyBeyondMemory, "bytes outside of every allocation"},
      {ClusterFault::kCopyToNobody, "a copy to the blocks 4 of a cluster of 2"},
      {ClusterFault::kUnalignedMatrix, "want multiples of 1024"},
      {ClusterFault::kNoMmaFence, "a product without a fence"},
      {ClusterFault::kNoMmaWait, "products that nobody waited for"},
      {ClusterFault::kWriteOfSums, "sums were written while a product"},
      {ClusterFault::kDifferentOperands, "threads of a warpgroup are in different operations"},
      {ClusterFault::kOrdinaryRead, "data race: access to what a copy writes"},
      {ClusterFault::kOrdinaryWrite, "data race: "},
      {ClusterFault::kUnfinishedCopy, "bulk copies that nobody waited for"},
      {ClusterFault::kEarlyEnd, "of the cluster, which has ended"},
      {ClusterFault::kDivergentRegisters, "254 for their warpgroups"},
      {ClusterFault::kDivergentCluster, "wait for the cluster"},
      {ClusterFault::kAccessToBarrier, "access to a barrier"},
  };
  for (const auto& [fault, problem] : faults) {
    INFO(static_cast<int>(fault));
    CHECK_THAT(RunFaultyCluster(fault), Catch::Contains(problem));
  }
}

// What is wrong here gives wrong numbers.
TEST_CASE("sums of products under way, and of the wrong bytes, are wrong", "[emulator][cluster]") {
  for (const ClusterFault fault : {ClusterFault::kReadOfSums, ClusterFault::kSwizzle}) {
    bool right = true;
    CHECK(RunFaultyCluster(fault, &right) == "");
    CHECK_FALSE(right);
  }
}

TEST_CASE("clusters are whole, and their operations those of kernels of clusters", "[emulator][cluster]") {
  TestMemory memory;
  CHECK_THAT(TryKernel("faulty_cluster", "multiply_faulty", 3, kFaultyClusterThreads, kFaultyClusterShared,
                       FaultyClusterArguments{}, memory),
             Catch::Contains("want whole clusters"));
  CHECK(emulated::CompiledModule("faulty_cluster")->IsOnlyFor90());
  CHECK_FALSE(emulated::CompiledModule("faulty")->IsOnlyFor90());
}

}  // namespace assay::gpu
