// Stable sorts of positions by keys on a device (gpu/kernels/sort.cu).
#ifndef ASSAY_GPU_RADIX_SORT_H_
#define ASSAY_GPU_RADIX_SORT_H_

#include <memory>
#include <utility>

#include "gpu/driver/device.h"
#include "gpu/kernels/sort_arguments.h"

namespace assay::gpu {

// Of fewer elements than this.
inline constexpr int64_t kMaxSorted = (int64_t{1} << 32) - 1;

// What a sort works in, in memory of its own: the order, keys of 4 or 8 bytes, and a second copy of both.
class SortMemory {
 public:
  static absl::StatusOr<SortMemory> Make(Device& device, int64_t count, int64_t key_bytes);
  int64_t count() const { return count_; }
  DeviceAddress order() const { return order_; }  // uint32_t
  DeviceAddress keys() const { return keys_; }

 private:
  friend class RadixSort;
  int64_t count_ = 0;
  std::shared_ptr<DeviceMemory> memory_;
  DeviceAddress order_ = 0, keys_ = 0, next_order_ = 0, next_keys_ = 0, counts_ = 0, totals_ = 0;
};

class RadixSort {
 public:
  static absl::StatusOr<RadixSort> Make(Device& device);

  // The order becomes that of the elements of lines of `length`, or that with the
  // last one of each line first.
  absl::Status Start(Device& device, const SortMemory& memory, int64_t length, bool reversed) const;
  // Sorts keys, of which `bits` bits count, and the order with them; `key_bytes` are 4 or 8.
  absl::Status SortByKeys(Device& device, SortMemory& memory, int64_t key_bytes, int bits) const;
  // Sorts the order by the number of the line.
  absl::Status SortByLines(Device& device, SortMemory& memory, int64_t length) const;

 private:
  absl::Status Pass(Device& device, SortMemory& memory, SortPassArguments pass, bool is_wide) const;

  const DeviceFunction *start_ = nullptr, *scan_ = nullptr;
  const DeviceFunction *count_[2] = {}, *scatter_[2] = {};  // of keys of 4 and of 8 bytes
};

}  // namespace assay::gpu

#endif  // ASSAY_GPU_RADIX_SORT_H_
