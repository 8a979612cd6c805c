// scatter on a device (gpu/kernels/scatter/scatter.cu).
#ifndef ASSAY_GPU_SCATTER_STEP_H_
#define ASSAY_GPU_SCATTER_STEP_H_

#include <memory>

#include "engines/engine.h"
#include "gpu/driver/device.h"

namespace assay::gpu {

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareScatter(const std::shared_ptr<Device>& device,
                                                             const StepView& step);

}  // namespace assay::gpu

#endif  // ASSAY_GPU_SCATTER_STEP_H_
