// Copies between host and device, by memory of the host that the device reads and writes itself. The driver
// may do the same with memory that isn't such, but says neither when it has read it nor that it won't
// wait for the whole stream.
#ifndef ASSAY_GPU_DRIVER_STAGING_H_
#define ASSAY_GPU_DRIVER_STAGING_H_

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "gpu/driver/context.h"

namespace assay::gpu {

// Every function is called inside of StreamContext::Run.
class Staging {
 public:
  static constexpr size_t kRingBytes = 16 << 20;
  static constexpr size_t kPartBytes = kRingBytes / 4;  // the most that is copied at once

  static absl::StatusOr<std::unique_ptr<Staging>> Make(StreamContext& context);
  // All of it, whatever failed before.
  absl::Status Close();

  absl::Status CopyIn(cuda::Address to, std::span<const std::byte> host);
  absl::Status CopyOut(std::span<std::byte> host, cuda::Address from);

 private:
  // A part of the ring that the device may still read.
  struct Region {
    size_t begin = 0;
    size_t end = 0;
    cuda::Event event = nullptr;  // after which it doesn't; null: the stream's end
  };

  explicit Staging(StreamContext& context) : context_(context) {}

  absl::StatusOr<std::byte*> HostMemory(size_t bytes);
  absl::StatusOr<cuda::Event> NewEvent();
  // The beginning of `bytes` of the ring that nobody reads any more.
  absl::StatusOr<size_t> Reserve(size_t bytes);
  absl::Status WaitForOldest();
  absl::Status CopyPartIn(cuda::Address to, std::span<const std::byte> part);
  absl::Status Record(cuda::Event event);
  absl::Status Wait(cuda::Event event);

  StreamContext& context_;

  std::mutex in_mutex_;  // of the ring
  std::byte* ring_ = nullptr;
  size_t next_ = 0;             // where the next region begins, if there is room behind it
  std::deque<Region> regions_;  // oldest first
  std::vector<cuda::Event> unused_events_;

  std::mutex out_mutex_;  // of two buffers, so that one is filled while the other is read
  std::byte* out_[2] = {nullptr, nullptr};
  cuda::Event filled_[2] = {nullptr, nullptr};
};

}  // namespace assay::gpu

#endif  // ASSAY_GPU_DRIVER_STAGING_H_
