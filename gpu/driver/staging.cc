#include "gpu/driver/staging.h"

#include <algorithm>
#include <cstring>

namespace assay::gpu {

absl::StatusOr<std::unique_ptr<Staging>> Staging::Make(StreamContext& context) {
  std::unique_ptr<Staging> made(new Staging(context));
  const auto fill = [&staging = *made]() -> absl::Status {
    ASSAY_ASSIGN_OR_RETURN(staging.ring_, staging.HostMemory(kRingBytes));
    for (int i = 0; i < 2; ++i) {
      ASSAY_ASSIGN_OR_RETURN(staging.out_[i], staging.HostMemory(kPartBytes));
      ASSAY_ASSIGN_OR_RETURN(staging.filled_[i], staging.NewEvent());
    }
    return absl::OkStatus();
  };
  const absl::Status status = fill();
  if (!status.ok()) return Both(status, made->Close());
  return made;
}

absl::Status Staging::Close() {
  absl::Status status;
  const auto destroy = [&](cuda::Event event) {
    if (event == nullptr) return;
    status = Both(status, context_.Check("cuEventDestroy_v2", context_.api().cuEventDestroy_v2(event)));
  };
  const auto free_host = [&](std::byte* host) {
    if (host == nullptr) return;
    status = Both(status, context_.Check("cuMemFreeHost", context_.api().cuMemFreeHost(host)));
  };
  for (const Region& region : regions_) destroy(region.event);
  for (const cuda::Event event : unused_events_) destroy(event);
  for (int i = 0; i < 2; ++i) {
    destroy(filled_[i]);
    free_host(out_[i]);
  }
  free_host(ring_);
  return status;
}

absl::Status Staging::CopyIn(cuda::Address to, std::span<const std::byte> host) {
  const std::lock_guard lock(in_mutex_);
  for (size_t done = 0; done < host.size(); done += kPartBytes) {
    const size_t bytes = std::min(kPartBytes, host.size() - done);
    ASSAY_RETURN_IF_ERROR(CopyPartIn(to + done, host.subspan(done, bytes)));
  }
  return absl::OkStatus();
}

absl::Status Staging::CopyPartIn(cuda::Address to, std::span<const std::byte> part) {
  ASSAY_ASSIGN_OR_RETURN(const size_t begin, Reserve(part.size()));
  cuda::Event event = nullptr;
  if (unused_events_.empty()) {
    ASSAY_ASSIGN_OR_RETURN(event, NewEvent());
  } else {
    event = unused_events_.back();
    unused_events_.pop_back();
  }
  regions_.push_back({begin, begin + part.size(), nullptr});
  next_ = begin + part.size();
  std::memcpy(ring_ + begin, part.data(), part.size());
  absl::Status status =
      context_.Check("cuMemcpyHtoDAsync_v2",
                     context_.api().cuMemcpyHtoDAsync_v2(to, ring_ + begin, part.size(), context_.stream()));
  if (status.ok()) status = Record(event);
  if (status.ok())
    regions_.back().event = event;
  else
    unused_events_.push_back(event);
  return status;
}

absl::StatusOr<size_t> Staging::Reserve(size_t bytes) {
  const size_t begin = next_ + bytes > kRingBytes ? 0 : next_;
  const auto used = [&] {
    return std::any_of(regions_.begin(), regions_.end(), [&](const Region& region) {
      return region.begin < begin + bytes && begin < region.end;
    });
  };
  while (used()) ASSAY_RETURN_IF_ERROR(WaitForOldest());
  return begin;
}

absl::Status Staging::WaitForOldest() {
  const cuda::Event event = regions_.front().event;
  ASSAY_RETURN_IF_ERROR(event == nullptr ? context_.Synchronize() : Wait(event));
  if (event != nullptr) unused_events_.push_back(event);
  regions_.pop_front();
  return absl::OkStatus();
}

absl::Status Staging::CopyOut(std::span<std::byte> host, cuda::Address from) {
  const std::lock_guard lock(out_mutex_);
  const size_t parts = (host.size() + kPartBytes - 1) / kPartBytes;
  const auto part = [&](size_t i) {
    return host.subspan(i * kPartBytes, std::min(kPartBytes, host.size() - i * kPartBytes));
  };
  const auto start = [&](size_t i) -> absl::Status {
    ASSAY_RETURN_IF_ERROR(context_.Check(
        "cuMemcpyDtoHAsync_v2", context_.api().cuMemcpyDtoHAsync_v2(out_[i % 2], from + i * kPartBytes,
                                                                    part(i).size(), context_.stream())));
    return Record(filled_[i % 2]);
  };
  if (parts > 0) ASSAY_RETURN_IF_ERROR(start(0));
  for (size_t i = 0; i < parts; ++i) {
    if (i + 1 < parts) ASSAY_RETURN_IF_ERROR(start(i + 1));
    ASSAY_RETURN_IF_ERROR(Wait(filled_[i % 2]));
    std::memcpy(part(i).data(), out_[i % 2], part(i).size());
  }
  return absl::OkStatus();
}

absl::StatusOr<std::byte*> Staging::HostMemory(size_t bytes) {
  void* host = nullptr;
  ASSAY_RETURN_IF_ERROR(context_.Check("cuMemHostAlloc", context_.api().cuMemHostAlloc(&host, bytes, 0)));
  return static_cast<std::byte*>(host);
}

absl::StatusOr<cuda::Event> Staging::NewEvent() {
  cuda::Event event = nullptr;
  ASSAY_RETURN_IF_ERROR(
      context_.Check("cuEventCreate", context_.api().cuEventCreate(&event, cuda::kEventDisableTiming)));
  return event;
}

absl::Status Staging::Record(cuda::Event event) {
  return context_.Check("cuEventRecord", context_.api().cuEventRecord(event, context_.stream()));
}

absl::Status Staging::Wait(cuda::Event event) {
  return context_.Check("cuEventSynchronize", context_.api().cuEventSynchronize(event));
}

}  // namespace assay::gpu
