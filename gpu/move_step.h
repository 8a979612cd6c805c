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

// A concatenate, whose operands may be members that move elements of one array each (plan/move_fusion.h).
absl::StatusOr<std::shared_ptr<const Kernel>> PrepareConcatenate(const std::shared_ptr<Device>& device,
                                                                 const FusionView& step);

// Whether the result is the operand's bytes in the same order (reshape, copy, some bitcasts and transposes):
// it can be the operand itself.
bool IsPassed(const StepView& step);
std::shared_ptr<const Kernel> PreparePassed();

}  // namespace assay::gpu

#endif  // ASSAY_GPU_MOVE_STEP_H_
