// Convolutions on a device: products of rows, each the elements under a window or a
// kernel of one output feature.
#ifndef ASSAY_GPU_CONVOLUTION_STEP_H_
#define ASSAY_GPU_CONVOLUTION_STEP_H_

#include <memory>

#include "engines/engine.h"
#include "gpu/driver/device.h"

namespace assay::gpu {

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareConvolution(const std::shared_ptr<Device>& device,
                                                                 const StepView& step, int64_t residues_from,
                                                                 bool fast);

}  // namespace assay::gpu

#endif  // ASSAY_GPU_CONVOLUTION_STEP_H_
