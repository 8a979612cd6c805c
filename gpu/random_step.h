// rng-bit-generator on a device (gpu/kernels/random.cu).
#ifndef ASSAY_GPU_RANDOM_STEP_H_
#define ASSAY_GPU_RANDOM_STEP_H_

#include <memory>

#include "engines/engine.h"
#include "gpu/driver/device.h"

namespace assay::gpu {

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareRandom(const std::shared_ptr<Device>& device,
                                                            const StepView& step);

}  // namespace assay::gpu

#endif  // ASSAY_GPU_RANDOM_STEP_H_
