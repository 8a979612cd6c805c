// Windows whose place is known when they are read: gather, dynamic-slice and dynamic-update-slice
// (window_N of gpu/kernels/move.cu).
#ifndef ASSAY_GPU_SLICE_STEP_H_
#define ASSAY_GPU_SLICE_STEP_H_

#include <memory>

#include "engines/engine.h"
#include "gpu/driver/device.h"

namespace assay::gpu {

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareIndexedSlice(const std::shared_ptr<Device>& device,
                                                                  const StepView& step);

}  // namespace assay::gpu

#endif  // ASSAY_GPU_SLICE_STEP_H_
