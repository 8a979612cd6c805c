// Aligned memory of small values.
#ifndef ASSAY_CUSTOM_BLOCK_POOL_H_
#define ASSAY_CUSTOM_BLOCK_POOL_H_

#include <atomic>
#include <cstddef>

namespace assay::custom {

// What kernels are promised of memory. Small literals, and those that lie in memory of a caller's, may lie
// otherwise; a block has the bytes of such a one while the kernel runs.
constexpr size_t kAlignment = 64;
struct alignas(kAlignment) Block {
  std::byte bytes[kAlignment];
};

// The blocks of a kernel's runs, of which each needs equally many. Those of a run that is over are kept for
// the next one, since aligned memory costs as much as the rest of a call of a small kernel.
// Safe from many threads.
class BlockPool {
 public:
  BlockPool() = default;
  ~BlockPool() { delete[] spare_.load(std::memory_order_acquire); }
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  // The bytes are any.
  Block* Take(size_t count) {
    Block* const spare = spare_.exchange(nullptr, std::memory_order_acq_rel);
    return spare == nullptr ? new Block[count] : spare;
  }
  // Null is nothing.
  void GiveBack(Block* blocks) {
    if (blocks != nullptr) delete[] spare_.exchange(blocks, std::memory_order_acq_rel);
  }

 private:
  std::atomic<Block*> spare_ = nullptr;
};

}  // namespace assay::custom

#endif  // ASSAY_CUSTOM_BLOCK_POOL_H_
