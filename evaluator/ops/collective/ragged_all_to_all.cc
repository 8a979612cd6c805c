// ragged-all-to-all(input, output, input_offsets, send_sizes, output_offsets, recv_sizes). Spec:
// operations-collective.md. On one process the only member sends to itself:
//   for update t: result[oo[t] + i] = input[io[t] + i], 0 <= i < ss[t]; other rows keep `output`.
// Overlapping writes: the higher t wins.
#include <cstring>

#include "evaluator/eval_context.h"
#include "evaluator/op.h"
#include "evaluator/replica_groups.h"
#include "fmt/format.h"
#include "literal/element_io.h"

namespace assay {
namespace {

constexpr AttrSpec kAttrs[] = {Optional(Attr::kReplicaGroups), Optional(Attr::kChannelId),
                               Optional(Attr::kDimensions), Optional(Attr::kMode)};
constexpr GroupRules kRules = {.covers_all = true, .equal_sizes = true};
constexpr std::string_view kNames[] = {"input",      "output",         "input_offsets",
                                       "send_sizes", "output_offsets", "recv_sizes"};

absl::StatusOr<Shape> InferRaggedAllToAll(const InferContext& context) {
  const Shape &input = context.operand(0), &output = context.operand(1);
  bool fits = input.IsArray() && output.IsArray() && input.element_type() == output.element_type() &&
              input.rank() == output.rank() && input.rank() >= 1;
  for (int64_t d = 1; fits && d < input.rank(); ++d) fits = input.size(d) == output.size(d);
  if (!fits) {
    return InvalidProgram(
        {}, fmt::format("RaggedAllToAll-C1: input is {}, output {}: types and all sizes but the "
                        "first must agree",
                        input.ToString(), output.ToString()));
  }
  for (int64_t i = 2; i < 6; ++i) {
    const Shape& sizes = context.operand(i);
    if (!sizes.IsArray() || !IsIntegral(sizes.element_type()) || sizes.rank() < 1 || sizes.rank() > 2 ||
        !Shape::SameDimensions(sizes, context.operand(2))) {
      return InvalidProgram(
          {}, fmt::format("RaggedAllToAll-C2: {} is {}, wanted integers of one shape [n], [n,u] or [n u]",
                          kNames[i], sizes.ToString()));
    }
  }
  ASSAY_ASSIGN_OR_RETURN(
      const ReplicaGroupSize group,
      CheckReplicaGroups(context.module, context.attributes(), kRules, DeviceCounts::kAsWritten));
  const Shape& sizes = context.operand(2);
  const int64_t members = group.For(sizes.size(0));
  // [n u] means [n, u], row-major.
  if (sizes.rank() == 1 ? sizes.size(0) % members != 0 || sizes.size(0) == 0 : sizes.size(0) != members) {
    return InvalidProgram(
        {}, fmt::format("RaggedAllToAll-C2: {} members in the size arrays, the group has {}", sizes.size(0),
                        members));
  }
  return output;
}

// C4: [offset, offset + size) lies in [0, rows).
absl::Status CheckRange(std::string_view what, int64_t offset, int64_t size, int64_t rows) {
  if (offset >= 0 && size >= 0 && offset <= rows && size <= rows - offset) return absl::OkStatus();
  return EvalError({}, fmt::format("RaggedAllToAll-C4: {} rows from offset {}, but the {} has {} rows", size,
                                   offset, what, rows));
}

absl::StatusOr<Literal> EvalRaggedAllToAll(EvalContext& context, std::span<Literal> operands) {
  const absl::StatusOr<ReplicaGroupSize> group =
      CheckReplicaGroups(context.module(), context.attributes(), kRules, DeviceCounts::kSettled);
  if (!group.ok())
    return NotSupported({}, fmt::format("{} (on one device)", std::string(group.status().message())));
  if (operands[2].shape().rank() == 2 && operands[2].shape().size(0) != 1)
    return NotSupported({}, fmt::format("ragged-all-to-all among {} devices", operands[2].shape().size(0)));
  const Literal& input = operands[0];
  Literal result = std::move(operands[1]);
  const int64_t rows = input.shape().size(0), result_rows = result.shape().size(0);
  const int64_t updates = operands[2].shape().num_elements();
  const int64_t row_bytes = result_rows == 0 ? 0 : result.shape().num_bytes() / result_rows;
  ASSAY_RETURN_IF_ERROR(context.Charge(result.shape().num_elements()));
  const auto at = [&](int64_t operand, int64_t t) {
    const ElementType type = operands[operand].shape().element_type();
    return LoadIndex(type, operands[operand].data() + t * Bytes(type));
  };
  for (int64_t t = 0; t < updates; ++t) {
    const int64_t from = at(2, t), size = at(3, t), to = at(4, t);
    ASSAY_RETURN_IF_ERROR(CheckRange("input", from, size, rows));
    ASSAY_RETURN_IF_ERROR(CheckRange("output", to, size, result_rows));
    if (at(5, t) != size) {
      return EvalError(
          {}, fmt::format("RaggedAllToAll-C5: recv_sizes[{}] is {}, the sender sends {}", t, at(5, t), size));
    }
    if (size > 0 && row_bytes > 0) {
      std::memcpy(result.MutableBytes().data() + to * row_bytes, input.data() + from * row_bytes,
                  size * row_bytes);
    }
    // Ranges may overlap: together they may be far more than the arrays.
    ASSAY_RETURN_IF_ERROR(context.Charge(std::max<int64_t>(size, 0) * row_bytes));
  }
  return result;
}

// Ranges of the members must fit together: empty ones do.
void DemandsOfRaggedAllToAll(const InstructionView&, std::vector<OperandDemand>& demands) {
  for (int64_t k = 2; k < 6; ++k) demands.push_back({k, demand::OneRange(0, 0)});
}

}  // namespace

constinit const OpDef ops::RaggedAllToAll = {
    .operands = Exactly(6),
    .types = kArrayTypes,
    .attributes = kAttrs,
    .infer = InferRaggedAllToAll,
    .eval = EvalRaggedAllToAll,
    .work = work::Move,
    .demands = DemandsOfRaggedAllToAll,
    .channel = Channel::kCollective,
    .has_side_effect = true,
};

}  // namespace assay
