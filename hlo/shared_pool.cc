// Chunks of texts grow with the file, so that a small one takes little.
#include "hlo/shared_pool.h"

#include <algorithm>
#include <cstring>

namespace assay {
namespace {

constexpr size_t kFirstChunk = 512, kLargestChunk = size_t{1} << 15;

}  // namespace

SharedText::SharedText(std::string_view text) : size_(text.size()) {
  if (text.empty()) return;
  std::shared_ptr<char[]> own = std::make_shared_for_overwrite<char[]>(text.size());
  std::memcpy(own.get(), text.data(), text.size());
  char* const first = own.get();
  data_ = std::shared_ptr<const char>(std::move(own), first);
}

SharedText TextPool::Add(std::string_view text) {
  if (text.empty()) return {};
  if (text.size() > capacity_ - used_) {
    if (text.size() > kLargestChunk / 4) return SharedText(text);
    capacity_ = std::max(std::min(kLargestChunk, std::max(kFirstChunk, 2 * capacity_)), text.size());
    chunk_ = std::make_shared_for_overwrite<char[]>(capacity_);
    used_ = 0;
  }
  char* const first = chunk_.get() + used_;
  std::memcpy(first, text.data(), text.size());
  used_ += text.size();
  return SharedText(std::shared_ptr<const char>(chunk_, first), text.size());
}

}  // namespace assay
