// Where a program goes over from whole values to those of one device, and back: the custom calls that XLA
// writes for sdy.manual_computation, the body of JAX's shard_map, and its older forms. Spec:
// docs/spec/sharding.md, SDY-10 to SDY-20, SDY-26, SDY-27.
//
// Every device evaluates the whole program. Outside of manual regions all have the same values, unless copies
// differ that the program says are equal: each device then goes on with its own. Entering a region each takes
// its own chunk; leaving it, they meet and put the whole together.
#ifndef ASSAY_EVALUATOR_OPS_CONTROL_MANUAL_REGION_H_
#define ASSAY_EVALUATOR_OPS_CONTROL_MANUAL_REGION_H_

#include <span>

#include "evaluator/eval_context.h"
#include "evaluator/op.h"

namespace assay {

// xla.sdy.GlobalToLocalShape, xla.sdy.LocalToGlobalShape, and SPMDFullToShardShape,
// SPMDShardToFullShape that change the shape.
bool IsRegionBorder(const Computation& computation, const Instruction& call);
// Of these, one that leaves: devices meet there.
bool ExitsRegion(const Instruction& call);

// The mesh, or the tiles, fit the number of devices, and local shapes those of whole values:
// SDY-V13, SDY-V17.
absl::Status CheckBorder(const Module& module, const Computation& computation, const Instruction& call,
                         const DeviceGrid& grid);
// How many devices it is written for.
absl::StatusOr<int64_t> DevicesOfBorder(const Module& module, const Computation& computation,
                                        const Instruction& call);

absl::StatusOr<Literal> EvalBorder(EvalContext& context, std::span<Literal> operands);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_OPS_CONTROL_MANUAL_REGION_H_
