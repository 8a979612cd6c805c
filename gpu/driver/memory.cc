#include "gpu/driver/memory.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <vector>

#include "base/counted.h"
#include "fmt/format.h"

namespace assay::gpu {
namespace {

// A pool of the driver's own, not the device's default one, whose settings are others' as well.
class PoolSource : public MemorySource {
 public:
  explicit PoolSource(StreamContext& context) : MemorySource(context, true) {}

  absl::Status Make(cuda::DeviceNumber device) {
    const cuda::PoolProperties properties{.location_id = device};
    ASSAY_RETURN_IF_ERROR(
        context().Check("cuMemPoolCreate", context().api().cuMemPoolCreate(&pool_, &properties)));
    // What was given back stays in the pool when the stream is waited for:
    // by default it would go to the system each time.
    uint64_t threshold = std::numeric_limits<uint64_t>::max();
    const absl::Status status = context().Check(
        "cuMemPoolSetAttribute",
        context().api().cuMemPoolSetAttribute(pool_, cuda::PoolAttribute::kReleaseThreshold, &threshold));
    return status.ok() ? status : Both(status, CloseSource());
  }

  absl::Status CloseSource() override {
    return context().Check("cuMemPoolDestroy", context().api().cuMemPoolDestroy(pool_));
  }

 private:
  cuda::Result Take(int64_t bytes, cuda::Address* address) override {
    return context().api().cuMemAllocFromPoolAsync(address, bytes, pool_, context().stream());
  }
  absl::Status Give(cuda::Address address, int64_t) override {
    return context().Check("cuMemFreeAsync", context().api().cuMemFreeAsync(address, context().stream()));
  }
  absl::Status Trim() override {
    return context().Check("cuMemPoolTrimTo", context().api().cuMemPoolTrimTo(pool_, 0));
  }
  const char* function() const override { return "cuMemAllocFromPoolAsync"; }

  cuda::Pool pool_ = nullptr;
};

// What was given back is used again at once: whatever still runs with it stands in the stream
// before all that is to come.
class ListSource : public MemorySource {
 public:
  explicit ListSource(StreamContext& context) : MemorySource(context, false) {}

 private:
  absl::Status CloseSource() override { return Trim(); }
  cuda::Result Take(int64_t bytes, cuda::Address* address) override {
    const int64_t rounded = RoundedForReuse(bytes);
    {
      const std::lock_guard lock(mutex_);
      const auto unused = unused_.find(rounded);
      if (unused != unused_.end() && !unused->second.empty()) {
        *address = unused->second.back();
        unused->second.pop_back();
        return cuda::Result::kSuccess;
      }
    }
    return context().api().cuMemAlloc_v2(address, rounded);
  }
  absl::Status Give(cuda::Address address, int64_t bytes) override {
    const std::lock_guard lock(mutex_);
    unused_[RoundedForReuse(bytes)].push_back(address);
    return absl::OkStatus();
  }
  absl::Status Trim() override {
    const std::lock_guard lock(mutex_);
    absl::Status status;
    for (const auto& [bytes, addresses] : unused_) {
      for (const cuda::Address address : addresses)
        status = Both(status, context().Check("cuMemFree_v2", context().api().cuMemFree_v2(address)));
    }
    unused_.clear();
    return status;
  }
  const char* function() const override { return "cuMemAlloc_v2"; }

  std::mutex mutex_;
  std::map<int64_t, std::vector<cuda::Address>> unused_;  // by bytes
};

}  // namespace

int64_t RoundedForReuse(int64_t bytes) {
  const int64_t step = std::max<int64_t>(512, std::bit_floor(static_cast<uint64_t>(bytes)) / 8);
  return bytes > std::numeric_limits<int64_t>::max() - step ? bytes : (bytes + step - 1) / step * step;
}

absl::StatusOr<std::unique_ptr<MemorySource>> MemorySource::Make(StreamContext& context,
                                                                 cuda::DeviceNumber device,
                                                                 bool device_has_pools) {
  if (!device_has_pools) return std::make_unique<ListSource>(context);
  auto pool = std::make_unique<PoolSource>(context);
  ASSAY_RETURN_IF_ERROR(pool->Make(device));
  return pool;
}

absl::StatusOr<cuda::Address> MemorySource::Allocate(int64_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    live_.reserve(live_.size() + 1);  // before there is something to lose
  }
  cuda::Address address = 0;
  const cuda::Result result = Take(bytes, &address);
  const std::lock_guard lock(mutex_);
  if (result != cuda::Result::kSuccess)
    return context_.Check(
        function(), result,
        fmt::format("{}, with {} in use", Counted(bytes, "byte"), Counted(live_bytes_, "byte")));
  live_.emplace(address, bytes);
  live_bytes_ += bytes;
  return address;
}

bool MemorySource::Keep(cuda::Address address) {
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(address);
  ASSAY_CHECK(found != live_.end());
  const int64_t bytes = found->second;
  if (kept_bytes_ + bytes > kMaxKept) return false;
  kept_[bytes].insert(address);
  kept_bytes_ += bytes;
  live_bytes_ -= bytes;
  live_.erase(found);
  return true;
}

std::optional<cuda::Address> MemorySource::TakeKept(int64_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto found = kept_.find(bytes);
  if (found == kept_.end() || found->second.empty()) return std::nullopt;
  const cuda::Address address = *found->second.begin();
  live_.emplace(address, bytes);
  live_bytes_ += bytes;
  found->second.erase(found->second.begin());
  kept_bytes_ -= bytes;
  return address;
}

absl::Status MemorySource::GiveKept() {
  const std::lock_guard lock(mutex_);
  absl::Status status;
  for (const auto& [bytes, addresses] : kept_) {
    for (const cuda::Address address : addresses) {
      if (!context_.broken()) status = Both(status, Give(address, bytes));
    }
  }
  kept_.clear();
  kept_bytes_ = 0;
  return status;
}

absl::Status MemorySource::ReturnUnused() {
  absl::Status status = GiveKept();
  ASSAY_RETURN_IF_ERROR(Both(status, context_.Synchronize()));
  return Trim();
}

absl::Status MemorySource::Close() {
  const absl::Status status = GiveKept();
  return context_.broken() ? status : Both(status, CloseSource());
}

absl::Status MemorySource::Free(cuda::Address address) {
  // Before it is given back: then another thread may be given the same address.
  const int64_t bytes = Forget(address);
  absl::Status status = Give(address, bytes);
  if (status.ok()) return status;
  // Not tried again: whether it was given back is not known. Counted as if not.
  const std::lock_guard lock(mutex_);
  if (live_.emplace(address, bytes).second) live_bytes_ += bytes;
  return status;
}

int64_t MemorySource::Forget(cuda::Address address) {
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(address);
  ASSAY_CHECK(found != live_.end());
  const int64_t bytes = found->second;
  live_bytes_ -= bytes;
  live_.erase(found);
  return bytes;
}

int64_t MemorySource::live() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int64_t>(live_.size());
}

}  // namespace assay::gpu
