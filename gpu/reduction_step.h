// reduce on a device by generated kernels (gpu/ptx/reduction.h): with the elementwise instructions that
// compute its operands, or of several operands.
#ifndef ASSAY_GPU_REDUCTION_STEP_H_
#define ASSAY_GPU_REDUCTION_STEP_H_

#include <memory>
#include <string>

#include "engines/engine.h"
#include "gpu/driver/device.h"

namespace assay::gpu {

// `approximate`: functions within a bound (gpu/ptx/approximate.h).
absl::StatusOr<std::shared_ptr<const Kernel>> PrepareReduction(const std::shared_ptr<Device>& device,
                                                               const FusionView& step, bool approximate);

// Why a reduce can't be a generated kernel, whatever computes its operands; empty: it can.
std::string WhyNoReduction(const StepView& reduce);

}  // namespace assay::gpu

#endif  // ASSAY_GPU_REDUCTION_STEP_H_
