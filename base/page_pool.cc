#include "base/page_pool.h"

#include <sanitizer/asan_interface.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

namespace assay {
namespace {

constexpr int64_t kMaxKept = int64_t{512} << 20;

int64_t LimitOfProcess() {
  const int64_t memory = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  return memory > 0 ? std::min(kMaxKept, memory / 16) : kMaxKept;
}

}  // namespace

PagePool& PagePool::OfProcess() {
  static auto* const pool = new PagePool(LimitOfProcess());  // outlives every value
  return *pool;
}

void* PagePool::Take(int64_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto pages = pages_.rbegin(); pages != pages_.rend(); ++pages) {
    if (pages->bytes != bytes) continue;
    void* const mapping = pages->mapping;
    pages_.erase(std::next(pages).base());
    kept_ -= bytes;
    ASAN_UNPOISON_MEMORY_REGION(mapping, MappingLength(bytes));
    return mapping;
  }
  return nullptr;
}

void PagePool::Keep(void* mapping, int64_t bytes) {
  if (bytes > limit_) return UnmapArray(mapping, bytes);
  const std::lock_guard<std::mutex> lock(mutex_);
  while (kept_ + bytes > limit_) DropOldest();
  pages_.push_back({mapping, bytes});
  kept_ += bytes;
  ASAN_POISON_MEMORY_REGION(mapping, MappingLength(bytes));
}

void PagePool::MakeRoom(int64_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const int64_t aim = kept_ - bytes; !pages_.empty() && kept_ > aim;) DropOldest();
}

void PagePool::Clear() {
  const std::lock_guard<std::mutex> lock(mutex_);
  while (!pages_.empty()) DropOldest();
}

int64_t PagePool::kept() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return kept_;
}

void PagePool::DropOldest() {
  const Pages oldest = pages_.front();
  pages_.pop_front();
  kept_ -= oldest.bytes;
  ASAN_UNPOISON_MEMORY_REGION(oldest.mapping, MappingLength(oldest.bytes));
  UnmapArray(oldest.mapping, oldest.bytes);
}

void* MapArray(int64_t bytes) {
  void* const mapping =
      mmap(nullptr, MappingLength(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  if (HasHugePages(bytes))
    madvise(ArrayIn(mapping, bytes), static_cast<size_t>(bytes), MADV_HUGEPAGE);  // only a hint
  return mapping;
}

void UnmapArray(void* mapping, int64_t bytes) { munmap(mapping, MappingLength(bytes)); }

std::byte* ArrayIn(void* mapping, int64_t bytes) {
  if (!HasHugePages(bytes)) return static_cast<std::byte*>(mapping);
  const uintptr_t address = reinterpret_cast<uintptr_t>(mapping) + kHugePage - 1;
  return reinterpret_cast<std::byte*>(address & ~(uintptr_t{kHugePage} - 1));
}

}  // namespace assay
