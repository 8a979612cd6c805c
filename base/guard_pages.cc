#include "base/guard_pages.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/error.h"

namespace assay {
namespace {

constexpr size_t kPage = 4096;
constexpr std::byte kAround{0xa5};

std::atomic<ArrayGuard> current{ArrayGuard::kNone};

size_t RoundUp(size_t n, size_t multiple) { return (n + multiple - 1) / multiple * multiple; }

bool AllAre(const std::byte* begin, const std::byte* end, std::byte value) {
  return std::all_of(begin, end, [value](std::byte b) { return b == value; });
}

}  // namespace

GuardedArrays::GuardedArrays(ArrayGuard guard) : before_(current.exchange(guard)) {}
GuardedArrays::~GuardedArrays() { current.store(before_); }

ArrayGuard GuardedArrays::Current() { return current.load(std::memory_order_relaxed); }

GuardedBlock::GuardedBlock(ArrayGuard guard, int64_t size, size_t alignment)
    : length_(RoundUp(static_cast<size_t>(size), kPage) + 2 * kPage), size_(static_cast<size_t>(size)) {
  void* const mapping = mmap(nullptr, length_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSAY_CHECK(mapping != MAP_FAILED);
  pages_ = static_cast<std::byte*>(mapping);
  std::byte* const first = pages_ + kPage;
  std::byte* const last = pages_ + length_ - kPage;
  data_ = guard == ArrayGuard::kInFront ? first : last - RoundUp(size_, alignment);
  std::memset(first, static_cast<int>(kAround), static_cast<size_t>(last - first));
  std::memset(data_, 0, size_);
  ASSAY_CHECK(mprotect(pages_, kPage, PROT_NONE) == 0 && mprotect(last, kPage, PROT_NONE) == 0);
}

GuardedBlock::~GuardedBlock() {
  ASSAY_CHECK(AllAre(pages_ + kPage, data_, kAround));
  ASSAY_CHECK(AllAre(data_ + size_, pages_ + length_ - kPage, kAround));
  munmap(pages_, length_);
}

}  // namespace assay
