// What the emulated driver (driver.cc) runs on the CPU: kernels of gpu/kernels that were compiled as C++,
// and PTX.
#ifndef ASSAY_TESTS_GPU_EMULATOR_EMULATED_MODULE_H_
#define ASSAY_TESTS_GPU_EMULATOR_EMULATED_MODULE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace assay::emulated {

// Device memory as kernels may touch it. Addresses are those of the host.
class Memory {
 public:
  virtual ~Memory() = default;
  // Whether [address, address + bytes) lies within one live allocation.
  virtual bool Contains(uint64_t address, uint64_t bytes) const = 0;
};

// A fault that a launch plants in a correct kernel, so that tests see what finds it.
struct Fault {
  enum class Kind : uint8_t {
    kNone,
    kSkipBarrier,  // the threads' barrier of that number is left out, by all threads
    kEarlyCopies,  // that wait for asynchronous copies leaves one group more under way
    kSkipWait,     // that wait of a thread for a barrier in shared memory is left out
    kSwizzle,      // products of warpgroups take pieces of 16 bytes as if rows counted from 1
  };
  Kind kind = Kind::kNone;
  uint32_t number = 0;     // which one of each thread, from 0 on
  uint32_t threads = ~0U;  // of those below this number of each block alone
};

struct Launch {
  uint32_t grid[3] = {1, 1, 1};
  uint32_t block[3] = {1, 1, 1};
  uint32_t shared_bytes = 0;            // of dynamic shared memory
  const std::byte* argument = nullptr;  // the structure that the kernel takes by value
  uint64_t order = 0;                   // of blocks: 0 is that of their numbers, else a seed (device/block.h)
  Fault fault{};
  int capability = 90;  // of the device: 90 is 9.0
};

class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual uint32_t argument_bytes() const = 0;
  // Runs every block of the grid. What was wrong (an access outside of every allocation or
  // of shared memory, a data race, a barrier that not all threads reach, a trap), naming kernel, block,
  // thread and address; empty where nothing was.
  virtual std::string Run(const Launch& launch, const Memory& memory) const = 0;
};

class Module {
 public:
  virtual ~Module() = default;
  virtual const Kernel* Find(std::string_view name) const = 0;  // null: there is none
  // Whether it has kernels of clusters, which are code for compute capability 9.0 alone.
  virtual bool IsOnlyFor90() const { return false; }
};

// PTX as text. Null with the reason in `log` where it is wrong or goes beyond the emulated subset.
std::unique_ptr<Module> CompilePtx(std::string_view text, std::string* log);

// The kernels of gpu/kernels/NAME.cu; null where there is no such file.
const Module* CompiledModule(std::string_view name);

}  // namespace assay::emulated

#endif  // ASSAY_TESTS_GPU_EMULATOR_EMULATED_MODULE_H_
