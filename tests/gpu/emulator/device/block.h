// A block of threads of a kernel that runs on the CPU, and what kernels ask of it.
#ifndef ASSAY_TESTS_GPU_EMULATOR_DEVICE_BLOCK_H_
#define ASSAY_TESTS_GPU_EMULATOR_DEVICE_BLOCK_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/gpu/emulator/device/cluster.h"
#include "tests/gpu/emulator/device/fibre.h"
#include "tests/gpu/emulator/device/shadow.h"
#include "tests/gpu/emulator/device/thread.h"
#include "tests/gpu/emulator/emulated_module.h"

namespace assay::emulated {

// What the lanes of a warp do together: `apply` is called once, with what each lane gave.
using WarpOperation = void (*)(void* const* operands);

// One grid. With Launch::order 0 its blocks run one after the other in the order of their numbers. Any other
// number is the seed of a random order in which they start, of how many of them are under way at once (1 to
// 4), and of which one goes on whenever the threads of another one wait. Only then do blocks change: what a
// thread does between two waits is not interrupted.
//
// A thread that polls waits until another thread did something. Where all threads of all blocks that are
// under way wait, and no barrier or operation of a warp is complete, nothing can end the wait: that is an
// error, as a device need not start further blocks before these end.
//
// The blocks of a cluster are under way together, their threads one after the other in the order of the
// blocks.
class GridRun {
 public:
  GridRun(const KernelBody& kernel, const Launch& launch, const Memory& memory);

  // Empty, or what was wrong.
  std::string Run();

  // The grid that runs on this thread of the operating system; null: none.
  static GridRun* Current();

  Index3 thread_index() const;
  Index3 block_index() const { return {here_->first.x + rank(), here_->first.y, here_->first.z}; }
  Index3 block_size() const { return {launch_.block[0], launch_.block[1], launch_.block[2]}; }
  Index3 grid_size() const { return {launch_.grid[0], launch_.grid[1], launch_.grid[2]}; }
  int capability() const { return launch_.capability; }
  uint32_t lane() const { return running_ % 32; }
  uint32_t rank() const { return running_ / threads_; }  // of the block in its cluster
  unsigned char* shared() { return shared_of(rank()); }
  // What kernels of clusters ask for; others end with an error.
  Cluster& cluster();

  void SyncThreads();
  void SyncWarp();
  void SyncCluster();
  void Poll();
  void EndPoll() { running_thread().found = true; }
  void Together(WarpOperation operation, void* operand);
  // [address, address + bytes) is touched; operations of several words need only be
  // aligned as `alignment` says.
  void Touch(uintptr_t address, uint32_t bytes, Access access, uint32_t alignment);

  void CopyAsync(void* shared, const void* global, uint32_t bytes, uint32_t valid_bytes);
  void CommitCopies();
  void WaitCopies(uint32_t groups_left);

  [[noreturn]] void Fail(const std::string& problem);

  // Whether the launch plants this fault here. Each thread counts for itself.
  bool IsFaulty(Fault::Kind kind) {
    return launch_.fault.kind == kind && running_ % threads_ < launch_.fault.threads &&
           running_thread().faulted++ == launch_.fault.number;
  }
  bool HasFault(Fault::Kind kind) const { return launch_.fault.kind == kind; }

 private:
  friend class Cluster;
  enum class State { kReady, kBlockBarrier, kWarp, kPoll, kClusterBarrier, kWarpgroup, kBarrier, kDone };
  struct Copy {
    unsigned char* shared;
    const unsigned char* global;
    uint32_t bytes;
    uint32_t valid_bytes;
  };
  struct Thread {
    State state = State::kReady;
    bool found = false;    // what it polled for
    uint32_t faulted = 0;  // how often it was where a planted fault may be
    std::vector<Copy> open;
    std::vector<std::vector<Copy>> groups;
  };
  struct Warp {
    uint32_t epoch = 1;
    uint32_t arrived = 0;
    WarpOperation operation = nullptr;
    std::array<void*, 32> operands{};
  };
  // The blocks of a cluster that is under way; of a kernel without clusters: one block. What it allocated is
  // used again for others.
  struct Resident {
    Index3 first;  // block
    Fibres* fibres = nullptr;
    std::vector<unsigned char> shared;  // a segment for each block
    Shadow shadow;
    std::vector<Thread> threads;  // those of the first block, then of the next one
    std::vector<Warp> warps;
    std::vector<uint32_t> epochs;      // of each block
    std::unique_ptr<Cluster> cluster;  // null: the kernel is not one of clusters
    bool waits = false;                // all of its threads, since anything happened last
  };
  static constexpr size_t kRedZone = 4096;

  static std::vector<std::unique_ptr<Resident>>& Spare();
  static void Entry();
  void Start(Resident& blocks, uint64_t number);
  // Lets every thread run until it waits. Whether the blocks are not done.
  bool RunThreads(Resident& blocks);
  bool RunReady();         // whether a thread did something but wait
  bool ReleaseBarriers();  // whether all threads of a block, or of the cluster, wait for each other
  std::string Unfinished(const Resident& blocks) const;
  std::string WaitText(const Resident& blocks) const;
  void Wait(State state);
  uint32_t segment() const { return launch_.shared_bytes + 2 * kRedZone; }
  unsigned char* shared_of(uint32_t rank) { return here_->shared.data() + rank * segment() + kRedZone; }
  void Finish(const std::vector<Copy>& copies);
  void TouchShared(uint32_t offset, uint32_t bytes, Access access);
  void Suspend();
  Thread& running_thread() { return here_->threads[running_]; }
  Moment Now() const { return {running_, here_->epochs[rank()], here_->warps[running_ / 32].epoch}; }
  // Whether a whole line of 64 bytes is known to be within an allocation.
  bool LineIsKnown(uintptr_t address);

  const KernelBody& kernel_;
  const Launch& launch_;
  const Memory& memory_;
  const uint32_t threads_;         // of a block
  const uint32_t cluster_blocks_;  // 1 without clusters
  std::vector<std::byte> argument_;
  std::array<uintptr_t, 1024> known_lines_{};
  std::vector<std::unique_ptr<Resident>> resident_;
  Resident* here_ = nullptr;  // the one that runs
  uint32_t running_ = 0;      // and its thread
  std::string problem_;
};

}  // namespace assay::emulated

#endif  // ASSAY_TESTS_GPU_EMULATOR_DEVICE_BLOCK_H_
