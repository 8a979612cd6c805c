// A block of threads of a kernel that runs on the CPU, and what kernels ask of it.
#ifndef ASSAY_TESTS_GPU_EMULATOR_DEVICE_BLOCK_H_
#define ASSAY_TESTS_GPU_EMULATOR_DEVICE_BLOCK_H_

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

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
class GridRun {
 public:
  GridRun(const KernelBody& kernel, const Launch& launch, const Memory& memory);

  // Empty, or what was wrong.
  std::string Run();

  // The grid that runs on this thread of the operating system; null: none.
  static GridRun* Current();

  Index3 thread_index() const;
  Index3 block_index() const { return block_->index; }
  Index3 block_size() const { return {launch_.block[0], launch_.block[1], launch_.block[2]}; }
  Index3 grid_size() const { return {launch_.grid[0], launch_.grid[1], launch_.grid[2]}; }
  unsigned char* shared() { return block_->shared.data() + kRedZone; }

  void SyncThreads();
  void SyncWarp();
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

 private:
  enum class State { kReady, kBlockBarrier, kWarp, kPoll, kDone };
  struct Copy {
    unsigned char* shared;
    const unsigned char* global;
    uint32_t bytes;
    uint32_t valid_bytes;
  };
  struct Thread {
    State state = State::kReady;
    bool found = false;  // what it polled for
    std::vector<Copy> open;
    std::deque<std::vector<Copy>> groups;
  };
  struct Warp {
    uint32_t epoch = 1;
    uint32_t arrived = 0;
    WarpOperation operation = nullptr;
    std::array<void*, 32> operands{};
  };
  // A block that is under way.
  struct Block {
    Index3 index;
    Fibres* fibres = nullptr;
    std::vector<unsigned char> shared;
    Shadow shadow;
    std::vector<Thread> threads;
    std::vector<Warp> warps;
    uint32_t epoch = 1;
    bool waits = false;  // all of its threads, since anything happened last
  };
  static constexpr size_t kRedZone = 4096;

  static void Entry();
  void StartBlock(Block& block, uint64_t number);
  // Lets every thread run until it waits. Whether the block is not done.
  bool RunThreads(Block& block);
  bool RunReady();  // whether a thread did something but wait
  void ReleaseBarrier();
  std::string WaitText(const Block& block) const;
  void Finish(const std::vector<Copy>& copies);
  void TouchShared(uint32_t offset, uint32_t bytes, Access access);
  void Suspend();
  Thread& running_thread() { return block_->threads[running_]; }
  Moment Now() const { return {running_, block_->epoch, block_->warps[running_ / 32].epoch}; }
  // Whether a whole line of 64 bytes is known to be within an allocation.
  bool LineIsKnown(uintptr_t address);

  const KernelBody& kernel_;
  const Launch& launch_;
  const Memory& memory_;
  const uint32_t threads_;
  std::vector<std::byte> argument_;
  std::array<uintptr_t, 1024> known_lines_{};
  std::vector<std::unique_ptr<Block>> blocks_;  // under way
  Block* block_ = nullptr;                      // the one that runs, and its thread
  uint32_t running_ = 0;
  std::string problem_;
};

}  // namespace assay::emulated

#endif  // ASSAY_TESTS_GPU_EMULATOR_DEVICE_BLOCK_H_
