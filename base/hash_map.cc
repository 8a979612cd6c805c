#include "base/hash_map.h"

#include <algorithm>
#include <mutex>
#include <new>

namespace assay {
namespace {

// Blocks one after the other. When the last one is freed, all is free again.
alignas(__STDCPP_DEFAULT_NEW_ALIGNMENT__) std::byte bytes_of_reserve[size_t{4} << 20];

class Reserve {
 public:
  void* Take(size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (bytes > kSize - used_) return nullptr;
    void* const block = bytes_of_reserve + used_;
    used_ += std::min((bytes + kAlignment - 1) / kAlignment * kAlignment, kSize - used_);
    ++blocks_;
    return block;
  }
  // Whether the block was one of these.
  bool Return(void* block) {
    if (block < bytes_of_reserve || block >= bytes_of_reserve + kSize) return false;
    const std::lock_guard lock(mutex_);
    if (--blocks_ == 0) used_ = 0;
    return true;
  }

 private:
  static constexpr size_t kAlignment = __STDCPP_DEFAULT_NEW_ALIGNMENT__, kSize = sizeof(bytes_of_reserve);
  std::mutex mutex_;
  size_t used_ = 0, blocks_ = 0;
};

constinit Reserve reserve;

[[noreturn]] void Throw() { throw std::bad_alloc(); }

}  // namespace

void* AllocateTable(size_t bytes) noexcept {
  if (void* const block = ::operator new(bytes, std::nothrow)) return block;
  if (void* const block = reserve.Take(bytes)) return block;
  Throw();  // which is std::terminate here
}

void FreeTable(void* block, size_t bytes) noexcept {
  if (!reserve.Return(block)) ::operator delete(block, bytes);
}

}  // namespace assay
