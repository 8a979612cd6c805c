// dot on a device: exact, rounded once (gpu/kernels/dot.cu); or `fast`, within a bound (gpu/fast_product.h).
#ifndef ASSAY_GPU_DOT_STEP_H_
#define ASSAY_GPU_DOT_STEP_H_

#include <memory>

#include "engines/engine.h"
#include "gpu/driver/device.h"

namespace assay::gpu {

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareDot(const std::shared_ptr<Device>& device,
                                                         const StepView& step, int64_t residues_from,
                                                         bool fast);

}  // namespace assay::gpu

#endif  // ASSAY_GPU_DOT_STEP_H_
