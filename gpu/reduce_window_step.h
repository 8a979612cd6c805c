// reduce-window on a device (gpu/kernels/window.cu).
#ifndef ASSAY_GPU_REDUCE_WINDOW_STEP_H_
#define ASSAY_GPU_REDUCE_WINDOW_STEP_H_

#include <memory>

#include "engines/engine.h"
#include "gpu/driver/device.h"

namespace assay::gpu {

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareReduceWindow(const std::shared_ptr<Device>& device,
                                                                  const StepView& step);

}  // namespace assay::gpu

#endif  // ASSAY_GPU_REDUCE_WINDOW_STEP_H_
