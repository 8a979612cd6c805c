#include "custom/ffi/call_context.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>

#include "base/counted.h"
#include "fmt/format.h"

namespace assay::custom::ffi {
namespace {

constexpr size_t kLeastAlignment = 64, kMaxAlignment = 1 << 16;

}  // namespace

TemporaryMemory::~TemporaryMemory() {
  for (const auto& [data, size] : sizes_) {
    std::free(data);
    if (budget_ != nullptr) budget_->Release(size);
  }
}

absl::StatusOr<void*> TemporaryMemory::Allocate(size_t size, size_t alignment) {
  if (!std::has_single_bit(alignment) || alignment > kMaxAlignment) {
    return absl::InvalidArgumentError(
        fmt::format("alignment is {}, want a power of 2 of at most {}", alignment, kMaxAlignment));
  }
  alignment = std::max(alignment, kLeastAlignment);
  constexpr size_t kMost = size_t{1} << 62;
  if (size > kMost)
    return absl::ResourceExhaustedError(fmt::format("{} of temporary memory", Counted(size, "byte")));
  // What has no byte has an address of its own, too.
  const size_t whole = (std::max(size, size_t{1}) + alignment - 1) / alignment * alignment;
  const auto counted = static_cast<int64_t>(whole);
  if (budget_ != nullptr && !budget_->Reserve(counted)) return budget_->Refusal("temporary memory", counted);
  void* const data = std::aligned_alloc(alignment, whole);
  if (data == nullptr) {
    if (budget_ != nullptr) budget_->Release(counted);
    return OutOfMemory(fmt::format("temporary memory of {}", Counted(size, "byte")));
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  sizes_.emplace(data, counted);
  return data;
}

absl::Status TemporaryMemory::Free(void* data) {
  int64_t size = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = sizes_.find(data);
    if (found == sizes_.end()) return absl::InvalidArgumentError("memory that this call was not given");
    size = found->second;
    sizes_.erase(found);
  }
  std::free(data);
  if (budget_ != nullptr) budget_->Release(size);
  return absl::OkStatus();
}

}  // namespace assay::custom::ffi
