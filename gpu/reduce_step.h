// reduce on a device: exact sums, and reducers whose order no result can show
// (gpu/kernels/reduce.cu, fold.cu).
#ifndef ASSAY_GPU_REDUCE_STEP_H_
#define ASSAY_GPU_REDUCE_STEP_H_

#include <memory>

#include "engines/engine.h"
#include "gpu/driver/device.h"

namespace assay::gpu {

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareReduce(const std::shared_ptr<Device>& device,
                                                            const StepView& step);

}  // namespace assay::gpu

#endif  // ASSAY_GPU_REDUCE_STEP_H_
