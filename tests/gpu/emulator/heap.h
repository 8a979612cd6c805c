// The memory of the emulated device: the host's, each allocation between red zones.
#ifndef ASSAY_TESTS_GPU_EMULATOR_HEAP_H_
#define ASSAY_TESTS_GPU_EMULATOR_HEAP_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>

#include "tests/gpu/emulator/emulated_module.h"

namespace assay::emulated {

class Heap final : public Memory {
 public:
  static constexpr uint64_t kZone = 4096;      // bytes of a red zone
  static constexpr uint64_t kFreed = 1 << 20;  // the most bytes of freed memory that is kept and looked at

  // The address is a multiple of 256 and of no more; 0 where the host has no memory.
  uint64_t Allocate(uint64_t bytes);
  // What was wrong around it; empty where nothing was. The address is one that Allocate gave.
  std::string Free(uint64_t address);
  // Nobody may use it until Reuse, though it is not given back: as Free, but for the room that it takes. What
  // was wrong.
  std::string Unuse(uint64_t address);
  std::string Reuse(uint64_t address);
  bool Has(uint64_t address) const { return blocks_.contains(address); }

  bool Contains(uint64_t address, uint64_t bytes) const override;
  // What [address, address + bytes) is, which no allocation contains.
  std::string Describe(uint64_t address, uint64_t bytes) const;
  // Which red zone or freed memory was written; empty where none was. It is as it should be afterwards.
  std::string Check();

  uint64_t blocks() const { return blocks_.size(); }  // without those that are unused
  uint64_t bytes() const { return bytes_; }

 private:
  struct Block {
    uint64_t bytes = 0;
    std::unique_ptr<std::byte[]> storage;
  };
  struct FreedBlock {
    uint64_t address = 0;
    Block block;
  };

  std::map<uint64_t, Block> blocks_;  // by address
  std::deque<FreedBlock> freed_;      // oldest first
  std::map<uint64_t, Block> unused_;
  uint64_t bytes_ = 0;
  uint64_t freed_bytes_ = 0;
  uint64_t changes_ = 0;  // of blocks_, counted over all heaps
};

}  // namespace assay::emulated

#endif  // ASSAY_TESTS_GPU_EMULATOR_HEAP_H_
