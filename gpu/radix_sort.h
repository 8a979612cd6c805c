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
  // uint32_t; 0 before the first sort: positions are in order.
  DeviceAddress order() const { return has_order_ ? order_ : 0; }
  DeviceAddress keys() const { return keys_; }

 private:
  friend class RadixSort;
  int64_t count_ = 0, key_bytes_ = 0;
  bool has_order_ = false;
  std::shared_ptr<DeviceMemory> memory_;
  DeviceAddress order_ = 0, keys_ = 0, next_order_ = 0, next_keys_ = 0, bases_ = 0, zeroed_ = 0;
};

class RadixSort {
 public:
  static absl::StatusOr<RadixSort> Make(Device& device);

  // The order becomes that of the elements of lines of `length` with the last one of each line first.
  absl::Status StartReversed(Device& device, SortMemory& memory, int64_t length) const;
  // Sorts by keys of 4 or 8 bytes, of which `bits` bits count, and the order with them. Between both calls
  // the caller's kernel makes the keys, and counts their bytes.
  absl::StatusOr<SortCounts> BeginKeys(Device& device, const SortMemory& memory, int bits) const;
  absl::Status SortByKeys(Device& device, SortMemory& memory, int64_t key_bytes, int bits) const;
  // Sorts the order by the number of the line.
  absl::Status SortByLines(Device& device, SortMemory& memory, int64_t length) const;

 private:
  const DeviceFunction *start_ = nullptr, *lines_ = nullptr, *pass_ = nullptr, *pass_small_ = nullptr,
                       *pass_wide_ = nullptr;
};

}  // namespace assay::gpu

#endif  // ASSAY_GPU_RADIX_SORT_H_
