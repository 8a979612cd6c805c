// Custom calls of operations whose registration brings a kernel for GPUs (evaluator/custom_op.h).
#ifndef ASSAY_GPU_CUSTOM_STEP_H_
#define ASSAY_GPU_CUSTOM_STEP_H_

#include <memory>

#include "engines/engine.h"
#include "gpu/driver/device.h"

namespace assay::gpu {

// NotSupported where the call is of no such operation.
absl::StatusOr<std::shared_ptr<const Kernel>> PrepareCustom(const std::shared_ptr<Device>& device,
                                                            const StepView& step);

}  // namespace assay::gpu

#endif  // ASSAY_GPU_CUSTOM_STEP_H_
