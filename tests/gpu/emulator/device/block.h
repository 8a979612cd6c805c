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

// One grid, whose blocks run one after the other.
class GridRun {
 public:
  GridRun(const KernelBody& kernel, const Launch& launch, const Memory& memory);

  // Empty, or what was wrong.
  std::string Run();

  // The grid that runs on this thread of the operating system; null: none.
  static GridRun* Current();

  Index3 thread_index() const;
  Index3 block_index() const { return block_; }
  Index3 block_size() const { return {launch_.block[0], launch_.block[1], launch_.block[2]}; }
  Index3 grid_size() const { return {launch_.grid[0], launch_.grid[1], launch_.grid[2]}; }
  uint32_t lane() const { return running_ % 32; }
  unsigned char* shared() { return shared_.data() + kRedZone; }

  void SyncThreads();
  void SyncWarp();
  void Together(WarpOperation operation, void* operand);
  // [address, address + bytes) is touched; operations of several words need only be
  // aligned as `alignment` says.
  void Touch(uintptr_t address, uint32_t bytes, Access access, uint32_t alignment);

  void CopyAsync(void* shared, const void* global, uint32_t bytes, uint32_t valid_bytes);
  void CommitCopies();
  void WaitCopies(uint32_t groups_left);

  [[noreturn]] void Fail(const std::string& problem);

 private:
  enum class State { kReady, kBlockBarrier, kWarp, kDone };
  struct Copy {
    unsigned char* shared;
    const unsigned char* global;
    uint32_t bytes;
    uint32_t valid_bytes;
  };
  struct Thread {
    State state = State::kReady;
    std::vector<Copy> open;
    std::deque<std::vector<Copy>> groups;
  };
  struct Warp {
    uint32_t epoch = 1;
    uint32_t arrived = 0;
    WarpOperation operation = nullptr;
    std::array<void*, 32> operands{};
  };
  static constexpr size_t kRedZone = 4096;

  static void Entry();
  void RunBlock();
  bool RunReady();  // whether a thread ran
  void ReleaseBarrier();
  void Finish(const std::vector<Copy>& copies);
  void TouchShared(uint32_t offset, uint32_t bytes, Access access);
  void Suspend();
  Moment Now() const { return {running_, block_epoch_, warps_[running_ / 32].epoch}; }
  // Whether a whole line of 64 bytes is known to be within an allocation.
  bool LineIsKnown(uintptr_t address);

  const KernelBody& kernel_;
  const Launch& launch_;
  const Memory& memory_;
  const uint32_t threads_;
  Fibres& fibres_;
  std::vector<unsigned char> shared_;
  Shadow shadow_;
  std::vector<std::byte> argument_;
  std::vector<Thread> state_;
  std::vector<Warp> warps_;
  std::array<uintptr_t, 1024> known_lines_{};
  Index3 block_;
  uint32_t running_ = 0, block_epoch_ = 1;
  std::string problem_;
};

}  // namespace assay::emulated

#endif  // ASSAY_TESTS_GPU_EMULATOR_DEVICE_BLOCK_H_
