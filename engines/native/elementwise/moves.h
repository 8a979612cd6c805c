// Ops that only move elements, of arrays of static sizes: what to copy from where is settled in the plan.
#ifndef ASSAY_ENGINES_NATIVE_ELEMENTWISE_MOVES_H_
#define ASSAY_ENGINES_NATIVE_ELEMENTWISE_MOVES_H_

#include "engines/engine.h"
#include "jit/isa.h"

namespace assay::native {

// broadcast, concatenate, copy, dynamic-slice, dynamic-update-slice, pad, reshape, reverse, slice, transpose.
absl::StatusOr<std::shared_ptr<const Kernel>> PrepareMoves(const StepView& step, Isa isa);
// A concatenate with what it reads through (move_fusion.h).
absl::StatusOr<std::shared_ptr<const Kernel>> PrepareConcatenate(const FusionView& fusion);
// A slice or dynamic-slice with the broadcast that it reads (plan/broadcast_fusion.h), which is never stored.
absl::StatusOr<std::shared_ptr<const Kernel>> PrepareSliceOfBroadcast(const FusionView& fusion);
// bitcast of arrays of any size that moves nothing.
absl::StatusOr<std::shared_ptr<const Kernel>> PrepareBitcast(const StepView& step, Isa isa);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_ELEMENTWISE_MOVES_H_
