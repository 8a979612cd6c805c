// The memory of a device, taken and given back in the order of the stream.
#ifndef ASSAY_GPU_DRIVER_MEMORY_H_
#define ASSAY_GPU_DRIVER_MEMORY_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>

#include "base/hash_map.h"
#include "gpu/driver/context.h"

namespace assay::gpu {

// Functions that call the driver are called inside of StreamContext::Run.
class MemorySource {
 public:
  // Takes from a pool of the driver's where the device has them; else from a list of
  // what was given back before.
  static absl::StatusOr<std::unique_ptr<MemorySource>> Make(StreamContext& context, cuda::DeviceNumber device,
                                                            bool device_has_pools);
  virtual ~MemorySource() = default;

  absl::StatusOr<cuda::Address> Allocate(int64_t bytes);
  absl::Status Free(cuda::Address address);

  // Small pieces are kept and given out again without the driver. What still runs with them stands in the
  // stream before all that is to come. The lowest address is given out first, so that a loop's iterations get
  // the same ones. Whether a piece of so many bytes may be kept:
  bool Keeps(int64_t bytes) const { return keeps_ && bytes <= kMaxKeptPiece; }
  // In place of Free; false: there is no more room.
  bool Keep(cuda::Address address);
  // In place of Allocate; none is kept of exactly so many bytes.
  std::optional<cuda::Address> TakeKept(int64_t bytes);
  // Waits for the stream, and gives the driver what nobody uses.
  absl::Status ReturnUnused();

  // For what can't be given back, the device being broken. Its bytes.
  int64_t Forget(cuda::Address address);
  absl::Status Close();

  int64_t live() const;

 protected:
  // `keeps`: pieces are worth keeping here.
  MemorySource(StreamContext& context, bool keeps) : context_(context), keeps_(keeps) {}
  StreamContext& context() { return context_; }

 private:
  virtual cuda::Result Take(int64_t bytes, cuda::Address* address) = 0;
  virtual absl::Status Give(cuda::Address address, int64_t bytes) = 0;
  // Gives the driver what nobody uses. The stream has come to its end.
  virtual absl::Status Trim() = 0;
  virtual absl::Status CloseSource() = 0;
  virtual const char* function() const = 0;  // that Take calls

  static constexpr int64_t kMaxKeptPiece = 1 << 20, kMaxKept = 64 << 20;

  absl::Status GiveKept();

  StreamContext& context_;
  const bool keeps_;
  mutable std::mutex mutex_;  // of all below
  HashMap<cuda::Address, int64_t> live_;
  int64_t live_bytes_ = 0;
  HashMap<int64_t, std::set<cuda::Address>> kept_;  // by bytes
  int64_t kept_bytes_ = 0;
};

// The bytes that are asked of a driver without pools, so that pieces can be used again for others of nearly
// that size: at most an eighth more, a multiple of 512.
int64_t RoundedForReuse(int64_t bytes);

}  // namespace assay::gpu

#endif  // ASSAY_GPU_DRIVER_MEMORY_H_
