// What collectives share: the shape rules of their operands and groups, and the joint step of a group.
#ifndef ASSAY_EVALUATOR_OPS_COLLECTIVE_COLLECTIVE_H_
#define ASSAY_EVALUATOR_OPS_COLLECTIVE_COLLECTIVE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "evaluator/device.h"
#include "evaluator/eval_context.h"
#include "evaluator/op.h"
#include "evaluator/replica_groups.h"

namespace assay {

// The counts that a shape rule goes by: those of a run where they are settled, else the header's.
DeviceCounts CountsFor(const InferContext& context);
absl::StatusOr<ReplicaGroupSize> CheckGroups(const InferContext& context, const GroupRules& rules);

// `op`-C1, C3: at least one operand, arrays.
absl::Status RequireArrays(const InferContext& context, std::string_view op);
// The one entry of `dimensions`, a dimension of every operand.
absl::StatusOr<int64_t> OneDimension(const InferContext& context, std::string_view op);
// `label`: the operand of a -done is its -start.
absl::Status RequireStart(const InferContext& context, Opcode start, std::string_view label);

std::vector<Shape> OperandShapes(const InferContext& context);
// A bare shape for one operand, a tuple for several.
Shape BareOrTuple(std::vector<Shape> shapes);
// What `declared` says of result i, or null.
const Shape* PartOf(const Shape* declared, const InferContext& context, size_t i);
// size_d of `larger` divided by that of `smaller`; 0 where that is no integer, or a shape does not say it.
int64_t Ratio(const Shape* larger, const Shape* smaller, int64_t d);
// `shape` with dimension d of size `size`; nullopt: the size overflowed.
absl::StatusOr<Shape> Resized(const Shape& shape, int64_t d, std::optional<int64_t> size);

// What the members of a group contribute to a collective: contributions[m][k] is operand k of member m, in
// group order.
using Contributions = std::span<std::vector<Literal>>;

// The joint step of this device's group: `combine` makes a value for each member (DeviceLink::Rendezvous).
// Null where no group has this device; the caller knows what it gets then.
absl::StatusOr<std::optional<Literal>> MeetGroup(EvalContext& context, const GroupRules& rules,
                                                 std::span<Literal> operands, DeviceLink::Combine combine);
// SYNC-1: operand k has the same run-time sizes on each member, dimension `apart` left aside.
absl::Status CheckAlike(const EvalContext& context, Contributions contributions, size_t k,
                        int64_t apart = -1);

// Element i of a tuple's shape, or the shape itself, by a handle that shares the tuple's.
std::shared_ptr<const Shape> ShapePart(const std::shared_ptr<const Shape>& shape, int64_t i);
// Values of a shape that is bare for one and a tuple for several.
Literal Bundle(const std::shared_ptr<const Shape>& shape, std::vector<Literal> values);

// The value of a -done whose -start gave (operands, result, …).
absl::StatusOr<Literal> EvalDoneElement1(EvalContext& context, std::span<Literal> operands);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_OPS_COLLECTIVE_COLLECTIVE_H_
