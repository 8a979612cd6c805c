// Copies of elements from one array to places of another, as launches of the kernels of move.cu.
#ifndef ASSAY_GPU_STRIDED_COPY_H_
#define ASSAY_GPU_STRIDED_COPY_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "gpu/box.h"
#include "gpu/driver/device.h"
#include "gpu/kernels/move_arguments.h"
#include "gpu/strided.h"

namespace assay::gpu {

// Elements of an array, copied to places in another. Offsets are in elements.
struct StridedCopy {
  int64_t from = 0, to = 0;
  std::vector<Axis> axes;  // strides[0] in `from`, strides[1] in `to`
};

// Where a dimension of an array goes in one with more room: element j to low + j * (gap + 1).
struct Placing {
  int64_t low = 0;
  int64_t gap = 0;
};
// The elements of an array of `sizes` that have a place in one of `whole`; none: there is none.
std::optional<StridedCopy> CopyInto(std::span<const int64_t> sizes, std::span<const Placing> places,
                                    std::span<const int64_t> whole);

class PreparedCopy {
 public:
  // Elements of `width` bytes. By tiles where that pays, else, and where `kernel` names another kernel of its
  // arguments, one by one. NotSupported: over too many dimensions.
  static absl::StatusOr<PreparedCopy> Make(Device& device, const StridedCopy& copy, int64_t width,
                                           const std::string& kernel = "");
  absl::Status Enqueue(Device& device, DeviceAddress from, DeviceAddress to) const;
  bool is_by_tiles() const { return std::holds_alternative<TransposeArguments>(arguments_); }

 private:
  int64_t width_ = 0, from_ = 0, to_ = 0;  // in bytes
  const DeviceFunction* function_ = nullptr;
  std::variant<CopyArguments, TransposeArguments, BoxArguments> arguments_;
};

// Writes `count` elements of these bytes side by side.
class PreparedFill {
 public:
  static absl::StatusOr<PreparedFill> Make(Device& device, int64_t width);
  absl::Status Enqueue(Device& device, DeviceAddress to, int64_t count,
                       std::span<const std::byte> element) const;

 private:
  const DeviceFunction* function_ = nullptr;
};

}  // namespace assay::gpu

#endif  // ASSAY_GPU_STRIDED_COPY_H_
