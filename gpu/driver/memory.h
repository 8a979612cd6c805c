// The memory of a device, taken and given back in the order of the stream.
#ifndef ASSAY_GPU_DRIVER_MEMORY_H_
#define ASSAY_GPU_DRIVER_MEMORY_H_

#include <cstdint>
#include <memory>
#include <mutex>

#include "absl/container/flat_hash_map.h"
#include "gpu/driver/context.h"

namespace assay::gpu {

// Every function is called inside of StreamContext::Run.
class MemorySource {
 public:
  // Takes from a pool of the driver's where the device has them; else from a list of
  // what was given back before.
  static absl::StatusOr<std::unique_ptr<MemorySource>> Make(StreamContext& context, cuda::DeviceNumber device,
                                                            bool device_has_pools);
  virtual ~MemorySource() = default;

  // Where there is no room, what is unused is given to the driver, and asked again.
  absl::StatusOr<cuda::Address> Allocate(int64_t bytes);
  absl::Status Free(cuda::Address address);
  // For what can't be given back, the device being broken. Its bytes.
  int64_t Forget(cuda::Address address);
  virtual absl::Status Close() = 0;

  int64_t live() const;

 protected:
  explicit MemorySource(StreamContext& context) : context_(context) {}
  StreamContext& context() { return context_; }

 private:
  virtual cuda::Result Take(int64_t bytes, cuda::Address* address) = 0;
  virtual absl::Status Give(cuda::Address address, int64_t bytes) = 0;
  // Gives the driver what nobody uses. The stream has come to its end.
  virtual absl::Status Trim() = 0;
  virtual const char* function() const = 0;  // that Take calls

  StreamContext& context_;
  mutable std::mutex mutex_;  // of the two below
  absl::flat_hash_map<cuda::Address, int64_t> live_;
  int64_t live_bytes_ = 0;
};

// The bytes that are asked of a driver without pools, so that pieces can be used again for others of nearly
// that size: at most an eighth more, a multiple of 512.
int64_t RoundedForReuse(int64_t bytes);

}  // namespace assay::gpu

#endif  // ASSAY_GPU_DRIVER_MEMORY_H_
