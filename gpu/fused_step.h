// Fusions of elementwise instructions on a device, by PTX that is made for them (gpu/ptx/fused.h).
#ifndef ASSAY_GPU_FUSED_STEP_H_
#define ASSAY_GPU_FUSED_STEP_H_

#include <memory>

#include "engines/engine.h"
#include "gpu/driver/device.h"

namespace assay::gpu {

// NotSupported says what PTX can't be made for, or what the driver's compiler said.
// `approximate`: functions within a bound (gpu/ptx/approximate.h).
absl::StatusOr<std::shared_ptr<const Kernel>> PrepareFused(const std::shared_ptr<Device>& device,
                                                           const FusionView& step, bool approximate);

}  // namespace assay::gpu

#endif  // ASSAY_GPU_FUSED_STEP_H_
