// Elements moved as they are on a device: transpose, slice, reverse, broadcast, concatenate,
// pad (gpu/kernels/move.cu).
#ifndef ASSAY_GPU_MOVE_STEP_H_
#define ASSAY_GPU_MOVE_STEP_H_

#include <memory>

#include "engines/engine.h"
#include "gpu/driver/device.h"

namespace assay::gpu {

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareMove(const std::shared_ptr<Device>& device,
                                                          const StepView& step);

}  // namespace assay::gpu

#endif  // ASSAY_GPU_MOVE_STEP_H_
