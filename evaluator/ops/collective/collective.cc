#include "evaluator/ops/collective/collective.h"

#include <algorithm>
#include <utility>

#include "base/counted.h"
#include "fmt/format.h"

namespace assay {

DeviceCounts CountsFor(const InferContext& context) {
  return context.grid == nullptr ? DeviceCounts::AsWritten(context.module)
                                 : DeviceCounts::Settled(*context.grid);
}

absl::StatusOr<ReplicaGroupSize> CheckGroups(const InferContext& context, const GroupRules& rules) {
  return CheckReplicaGroups(CountsFor(context), context.attributes(), rules);
}

// AllGather-C1, AllReduce-C1, AllReduce-C3, ReduceScatter-C1, AllToAll-C1, CollectiveBroadcast-C1,
// CollectivePermute-C1.
absl::Status RequireArrays(const InferContext& context, std::string_view op) {
  if (context.num_operands() == 0) return NotSupported({}, fmt::format("{}-C3: no operand", op));
  for (int64_t i = 0; i < context.num_operands(); ++i) {
    if (!context.operand(i).IsArray()) {
      return InvalidProgram(
          {}, fmt::format("{}-C1: operand {} is {}, wanted an array", op, i, context.operand(i).ToString()));
    }
  }
  return absl::OkStatus();
}

// A bare shape for one operand, a tuple for several.
Shape BareOrTuple(std::vector<Shape> shapes) {
  return shapes.size() == 1 ? std::move(shapes[0]) : Shape::Tuple(std::move(shapes));
}

std::vector<Shape> OperandShapes(const InferContext& context) {
  std::vector<Shape> shapes;
  shapes.reserve(context.operands.size());
  for (const Shape* operand : context.operands) shapes.push_back(*operand);
  return shapes;
}

// What `declared` says of result i, or null.
const Shape* PartOf(const Shape* declared, const InferContext& context, size_t i) {
  if (declared == nullptr || context.num_operands() == 1) return declared;
  return declared->IsTuple() && i < declared->elements().size() ? &declared->element(static_cast<int64_t>(i))
                                                                : nullptr;
}

// size_d of `larger` divided by that of `smaller`; 0 where that is no integer, or a shape does not say it.
int64_t Ratio(const Shape* larger, const Shape* smaller, int64_t d) {
  for (const Shape* shape : {larger, smaller}) {
    if (shape == nullptr || !shape->IsArray() || d >= shape->rank() || shape->size(d) <= 0) return 0;
  }
  return larger->size(d) % smaller->size(d) == 0 ? larger->size(d) / smaller->size(d) : 0;
}

// `shape` with dimension d of size `size`.
absl::StatusOr<Shape> Resized(const Shape& shape, int64_t d, std::optional<int64_t> size) {
  if (!size) return InvalidProgram({}, "SHAPE-3: shape size overflows int64");
  DimVector sizes(shape.sizes().begin(), shape.sizes().end());
  sizes[d] = *size;
  ASSAY_ASSIGN_OR_RETURN(Shape result, Shape::Array(shape.element_type(), sizes));
  for (int64_t i = 0; i < shape.rank(); ++i) result.set_dynamic(i, shape.is_dynamic(i));
  return result;
}

absl::StatusOr<int64_t> OneDimension(const InferContext& context, std::string_view op) {
  const auto dimensions = context.attributes().List(Attr::kDimensions);
  if (dimensions.size() != 1) {
    return InvalidProgram(
        {}, fmt::format("{}: dimensions has {}, wanted 1", op, Counted(dimensions.size(), "entry")));
  }
  for (int64_t i = 0; i < context.num_operands(); ++i) {
    if (dimensions[0] < 0 || dimensions[0] >= context.operand(i).rank()) {
      return InvalidProgram({}, fmt::format("{}: dimension is {}, operand {} has rank {}", op, dimensions[0],
                                            i, context.operand(i).rank()));
    }
  }
  return dimensions[0];
}

absl::Status RequireStart(const InferContext& context, Opcode start, std::string_view label) {
  if (context.computation == nullptr || context.operand_instruction(0).opcode == start)
    return absl::OkStatus();
  return InvalidProgram(
      {}, fmt::format("{}: the operand of {} is a {}, wanted {}", label, Name(context.instruction.opcode),
                      Name(context.operand_instruction(0).opcode), Name(start)));
}

absl::StatusOr<std::optional<Literal>> MeetGroup(EvalContext& context, const GroupRules& rules,
                                                 std::span<Literal> operands, DeviceLink::Combine combine) {
  DeviceLink& device = context.device();
  const std::vector<int64_t> members = GroupOf(device.grid(), context.attributes(), rules, device.id());
  if (members.empty()) return std::optional<Literal>();
  ASSAY_ASSIGN_OR_RETURN(Literal value, device.Rendezvous(context.instruction(), members,
                                                          {std::make_move_iterator(operands.begin()),
                                                           std::make_move_iterator(operands.end())},
                                                          combine));
  return std::optional<Literal>(std::move(value));
}

absl::Status CheckAlike(const EvalContext& context, Contributions contributions, size_t k, int64_t apart) {
  const DimVector first = contributions[0][k].runtime_sizes();
  for (size_t m = 1; m < contributions.size(); ++m) {
    const DimVector sizes = contributions[m][k].runtime_sizes();
    for (int64_t d = 0; d < std::ssize(sizes); ++d) {
      if (d == apart || sizes[d] == first[d]) continue;
      return EvalError({},
                       fmt::format("{}: dimension {} of operand {} has run-time size {} on member 0 of the "
                                   "group, {} on member {}",
                                   Name(context.instruction().opcode), d, k, first[d], sizes[d], m));
    }
  }
  return absl::OkStatus();
}

std::shared_ptr<const Shape> ShapePart(const std::shared_ptr<const Shape>& shape, int64_t i) {
  return shape->IsTuple() ? std::shared_ptr<const Shape>(shape, &shape->element(i)) : shape;
}

Literal Bundle(const std::shared_ptr<const Shape>& shape, std::vector<Literal> values) {
  return shape->IsTuple() ? Literal::Tuple(shape, std::move(values)) : std::move(values[0]);
}

absl::StatusOr<Literal> EvalDoneElement1(EvalContext&, std::span<Literal> operands) {
  return operands[0].element(1);
}

}  // namespace assay
