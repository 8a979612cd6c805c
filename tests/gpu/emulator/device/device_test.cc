// The emulation sees what a kernel does wrong, and its operations of warps do what CUDA says.
#include <utility>

#include "tests/gpu/emulator/device/faulty_arguments.h"
#include "tests/gpu/emulator/device/waiting_arguments.h"
#include "tests/gpu/kernels/kernel_run.h"

namespace assay::gpu {
namespace {

std::string RunFaulty(Fault fault) {
  TestMemory memory;
  std::vector<int32_t> numbers(64);
  for (int i = 0; i < 64; ++i) numbers[i] = i;
  int32_t* const on_device = memory.Copy(numbers);
  const std::string problem = TryKernel("faulty", "reverse_faulty", 1, 64, 65 * 4,
                                        FaultyArguments{AddressOf(on_device), fault}, memory);
  if (fault == Fault::kNone) {
    for (int i = 0; i < 64; ++i) CHECK(on_device[i] == 63 - i);
  }
  CHECK(memory.ZonesAreIntact());
  return problem;
}

}  // namespace

TEST_CASE("the emulation names what a kernel does wrong", "[emulator]") {
  CHECK(RunFaulty(Fault::kNone) == "");
  const std::pair<Fault, const char*> faults[] = {
      {Fault::kReadAfterWrite,
       "block (0, 0, 0), thread 1: data race: read of what another thread wrote, shared memory offset 0"},
      {Fault::kWriteAfterRead, "data race: write of what another thread reads"},
      {Fault::kTwoWrites,
       "thread 1: data race: write over another thread's write, shared memory offset 0, other: thread 0"},
      {Fault::kRaceBeyondWarpBarrier, "data race: read of what another thread wrote"},
      {Fault::kUnwritten, "read of a byte that nobody wrote, shared memory offset 256"},
      {Fault::kBeyondShared, "access of 4 bytes outside of shared memory, offset 260 of 260"},
      {Fault::kBeforeShared, "access of 4 bytes outside of shared memory, offset -4 of 260"},
      {Fault::kUnalignedShared, "access of 4 bytes that is not aligned, shared memory offset 2"},
      {Fault::kBeyondMemory, "thread 63: write of 4 bytes outside of every allocation"},
      {Fault::kUnalignedMemory, "which is not aligned"},
      {Fault::kDivergentBarrier, "32 threads wait in __syncthreads, 0 for their warps, and 32 are done"},
      {Fault::kEarlyEnd, "63 threads wait in __syncthreads, 0 for their warps, and 1 are done"},
      {Fault::kDivergentWarp, "32 threads wait in __syncthreads, 32 for their warps, and 0 are done"},
      {Fault::kUnfinishedCopy, "ends with asynchronous copies that nobody waited for"},
      {Fault::kReadOfCopy, "data race: read of what another thread wrote"},
      {Fault::kPartialCopy, "asynchronous copy of 4 bytes with 3 source bytes"},
      {Fault::kTrap, "reverse_faulty, block (0, 0, 0), thread 40: trap"},
  };
  for (const auto& [fault, problem] : faults) CHECK_THAT(RunFaulty(fault), Catch::Contains(problem));
}

TEST_CASE("a kernel is run with the threads that it was compiled for", "[emulator]") {
  TestMemory memory;
  const FaultyArguments none{};
  CHECK_THAT(TryKernel("faulty", "reverse_faulty", 1, 96, 0, none, memory), Catch::Contains("at most 64"));
  CHECK_THAT(TryKernel("faulty", "reverse_faulty", 1, 33, 0, none, memory),
             Catch::Contains("want whole warps"));
  CHECK(emulated::CompiledModule("no_such_file") == nullptr);
  CHECK(emulated::CompiledModule("faulty")->Find("no_such_kernel") == nullptr);
}

namespace {

struct ChainOutcome {
  std::string problem;
  bool right = false;
};

ChainOutcome RunChain(WaitFault fault, uint64_t order) {
  constexpr uint32_t kTiles = 9;
  TestMemory memory;
  uint32_t* const sums = memory.Copy(std::vector<uint32_t>(kTiles));
  const WaitingArguments a{AddressOf(memory.Copy<uint32_t>({0})),
                           AddressOf(memory.Copy(std::vector<uint64_t>(kTiles))), AddressOf(sums), fault};
  ChainOutcome outcome{TryKernel("waiting", "chain", kTiles, 64, 16, a, memory, order), true};
  for (uint32_t t = 0; t < kTiles; ++t) outcome.right = outcome.right && sums[t] == t * (t + 1) / 2;
  return outcome;
}

constexpr uint64_t kOrders = 24;

}  // namespace

TEST_CASE("blocks wait for each other, in any order", "[emulator]") {
  for (uint64_t order = 0; order < kOrders; ++order) {
    const ChainOutcome outcome = RunChain(WaitFault::kNone, order);
    CHECK(outcome.problem == "");
    CHECK(outcome.right);
  }
}

TEST_CASE("the emulation finds waits that need not end, and reads that do not wait", "[emulator]") {
  int endless = 0, wrong = 0;
  for (uint64_t order = 0; order < kOrders; ++order) {
    const ChainOutcome by_number = RunChain(WaitFault::kNoTicket, order);
    if (by_number.problem.find("1 poll for what no thread that is under way will write") != std::string::npos)
      ++endless;
    const ChainOutcome early = RunChain(WaitFault::kEarlyRead, order);
    CHECK(early.problem == "");
    if (!early.right) ++wrong;
    CHECK_THAT(RunChain(WaitFault::kNoWrite, order).problem, Catch::Contains("poll for what no thread"));
    CHECK_THAT(RunChain(WaitFault::kOtherThreads, order).problem,
               Catch::Contains("32 threads wait in __syncthreads"));
  }
  CHECK(RunChain(WaitFault::kNoTicket, 0).problem == "");
  CHECK(endless > 4);
  CHECK(wrong > 4);
}

}  // namespace assay::gpu
