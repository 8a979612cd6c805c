// Scatters that add whole rows of the operand (gpu/kernels/scatter/scatter_rows.cu).
#ifndef ASSAY_GPU_SCATTER_ROWS_H_
#define ASSAY_GPU_SCATTER_ROWS_H_

#include <memory>
#include <optional>

#include "gpu/driver/device.h"
#include "gpu/kernels/scatter/scatter_arguments.h"
#include "gpu/kernels/scatter/scatter_rows_arguments.h"
#include "shape/element_type.h"

namespace assay::gpu {

// The kernels, and the memory they work in.
class ScatterRows {
 public:
  // `elements`: of the operand. None where the scatter's windows are no rows that lie as they are in the
  // updates, or so few updates that most rows have none.
  static absl::StatusOr<std::optional<ScatterRows>> Make(Device& device, const ScatterArguments& scatter,
                                                         int64_t elements, ElementType type);

  struct Memory {
    std::shared_ptr<DeviceMemory> memory;
    ScatterRowsArguments arguments{};
  };
  absl::StatusOr<Memory> Allocate(Device& device) const;
  // Of updates that are sorted; `scatter` has the addresses. What stays open is in memory.arguments.open.
  absl::Status Sum(Device& device, const Memory& memory, const ScatterArguments& scatter,
                   DeviceAddress operand) const;

 private:
  ScatterRowsArguments arguments_{};
  int columns_ = 1;
  const DeviceFunction *starts_ = nullptr, *rows_ = nullptr, *parts_ = nullptr;
};

}  // namespace assay::gpu

#endif  // ASSAY_GPU_SCATTER_ROWS_H_
