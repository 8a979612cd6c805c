// Runs kernels of gpu/kernels in the emulation, on buffers of the test.
#ifndef ASSAY_TESTS_GPU_KERNELS_KERNEL_RUN_H_
#define ASSAY_TESTS_GPU_KERNELS_KERNEL_RUN_H_

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tests/gpu/emulator/emulated_module.h"

namespace assay::gpu {

// Memory of a device, each allocation with bytes around it that must stay what they are.
class TestMemory final : public emulated::Memory {
 public:
  template <typename T>
  T* Allocate(int64_t count, int64_t offset = 0) {
    const size_t bytes = (count + offset) * sizeof(T);
    auto& allocation = allocations_.emplace_back();
    allocation.storage.assign(bytes + 2 * kZone, kMark);
    const auto begin = (reinterpret_cast<uint64_t>(allocation.storage.data()) + kZone / 2 + 255) / 256 * 256;
    allocation.begin = begin;
    allocation.bytes = bytes;
    return reinterpret_cast<T*>(begin) + offset;
  }
  template <typename T>
  T* Copy(const std::vector<T>& values, int64_t offset = 0) {
    T* const to = Allocate<T>(static_cast<int64_t>(values.size()), offset);
    if (!values.empty()) std::memcpy(to, values.data(), values.size() * sizeof(T));
    return to;
  }
  bool Contains(uint64_t address, uint64_t bytes) const override {
    for (const auto& allocation : allocations_) {
      if (address >= allocation.begin && address + bytes <= allocation.begin + allocation.bytes) return true;
    }
    return false;
  }
  bool ZonesAreIntact() const {
    for (const auto& allocation : allocations_) {
      const auto first = reinterpret_cast<uint64_t>(allocation.storage.data());
      for (size_t i = 0; i < allocation.storage.size(); ++i) {
        const bool inside = first + i >= allocation.begin && first + i < allocation.begin + allocation.bytes;
        if (!inside && allocation.storage[i] != kMark) return false;
      }
    }
    return true;
  }

 private:
  static constexpr size_t kZone = 1024;
  static constexpr unsigned char kMark = 0xc3;
  struct Allocation {
    std::vector<unsigned char> storage;
    uint64_t begin = 0, bytes = 0;
  };
  std::vector<Allocation> allocations_;
};

template <typename T>
uint64_t AddressOf(T* p) {
  return reinterpret_cast<uint64_t>(p);
}

// What was wrong. `order` is that of the blocks (emulator/device/block.h). A fault may be planted.
template <typename Arguments>
std::string TryKernel(const char* module, const char* name, int64_t blocks, int64_t threads,
                      int64_t shared_bytes, const Arguments& arguments, const TestMemory& memory,
                      uint64_t order = 0, emulated::Fault fault = {}, int capability = 90) {
  const emulated::Module* const found = emulated::CompiledModule(module);
  REQUIRE(found != nullptr);
  const emulated::Kernel* const kernel = found->Find(name);
  REQUIRE(kernel != nullptr);
  REQUIRE(kernel->argument_bytes() == sizeof arguments);
  emulated::Launch launch;
  launch.grid[0] = static_cast<uint32_t>(blocks);
  launch.block[0] = static_cast<uint32_t>(threads);
  launch.shared_bytes = static_cast<uint32_t>(shared_bytes);
  launch.argument = reinterpret_cast<const std::byte*>(&arguments);
  launch.order = order;
  launch.fault = fault;
  launch.capability = capability;
  return kernel->Run(launch, memory);
}
template <typename Arguments>
void RunKernel(const char* module, const char* name, int64_t blocks, int64_t threads, int64_t shared_bytes,
               const Arguments& arguments, const TestMemory& memory, uint64_t order = 0) {
  if (blocks == 0) return;
  REQUIRE(TryKernel(module, name, blocks, threads, shared_bytes, arguments, memory, order) == "");
  REQUIRE(memory.ZonesAreIntact());
}

}  // namespace assay::gpu

#endif  // ASSAY_TESTS_GPU_KERNELS_KERNEL_RUN_H_
