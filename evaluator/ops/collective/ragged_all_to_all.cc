// ragged-all-to-all(input, output, input_offsets, send_sizes, output_offsets, recv_sizes). Spec:
// docs/spec/operations-collective.md. Of n members, with u updates for each, member s sends to member m:
//   for update t, with e = m * u + t:  result@m[oo@s[e] + i] = input@s[io@s[e] + i], 0 <= i < ss@s[e];
// other rows keep `output`. Overlapping writes: the higher s wins, then the higher t.
#include <cstring>

#include "base/counted.h"
#include "evaluator/audits/rules.h"
#include "evaluator/bounds/rules.h"
#include "evaluator/ops/collective/collective.h"
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
  ASSAY_ASSIGN_OR_RETURN(const ReplicaGroupSize group, CheckGroups(context, kRules));
  const Shape& sizes = context.operand(2);
  const int64_t members = group.For(sizes.size(0));
  // [n u] means [n, u], row-major.
  if (sizes.rank() == 1 ? sizes.size(0) % members != 0 || sizes.size(0) == 0 : sizes.size(0) != members) {
    return InvalidProgram({}, fmt::format("RaggedAllToAll-C2: {} in the size arrays, the group has {}",
                                          Counted(sizes.size(0), "member"), members));
  }
  return output;
}

// RaggedAllToAll-C4: [offset, offset + size) lies in [0, rows).
absl::Status CheckRange(std::string_view what, int64_t offset, int64_t size, int64_t rows) {
  if (offset >= 0 && size >= 0 && offset <= rows && size <= rows - offset) return absl::OkStatus();
  return EvalError({}, fmt::format("RaggedAllToAll-C4: {} from offset {}, but the {} has {}",
                                   Counted(size, "row"), offset, what, Counted(rows, "row")));
}

int64_t ElementAt(const Literal& array, int64_t position) {
  const ElementType type = array.shape().element_type();
  return LoadIndex(type, array.data() + position * Bytes(type));
}

// Writes what member s sends to member m into m's result.
absl::Status Receive(EvalContext& context, Contributions contributions, int64_t s, int64_t m,
                     Literal& result) {
  const std::vector<Literal>&sender = contributions[s], &receiver = contributions[m];
  const int64_t members = std::ssize(contributions);
  const int64_t updates = sender[2].shape().num_elements() / members;
  const int64_t rows = sender[0].shape().size(0), result_rows = result.shape().size(0);
  const int64_t row_bytes = result_rows == 0 ? 0 : result.shape().num_bytes() / result_rows;
  for (int64_t t = 0; t < updates; ++t) {
    const int64_t e = m * updates + t;
    const int64_t from = ElementAt(sender[2], e), size = ElementAt(sender[3], e),
                  to = ElementAt(sender[4], e);
    ASSAY_RETURN_IF_ERROR(CheckRange("input", from, size, rows));
    ASSAY_RETURN_IF_ERROR(CheckRange("output", to, size, result_rows));
    if (const int64_t wanted = ElementAt(receiver[5], s * updates + t); wanted != size) {
      return EvalError({}, fmt::format("RaggedAllToAll-C5: recv_sizes[{}] is {}, the sender sends {}",
                                       s * updates + t, wanted, size));
    }
    if (size > 0 && row_bytes > 0) {
      std::memcpy(result.MutableBytes().data() + to * row_bytes, sender[0].data() + from * row_bytes,
                  size * row_bytes);
    }
    // Ranges may overlap: together they may be far more than the arrays.
    ASSAY_RETURN_IF_ERROR(context.Charge(std::max<int64_t>(size, 0) * row_bytes));
  }
  return absl::OkStatus();
}

absl::StatusOr<Literal> EvalRaggedAllToAll(EvalContext& context, std::span<Literal> operands) {
  const auto combine = [&](Contributions contributions) -> absl::StatusOr<std::vector<Literal>> {
    std::vector<Literal> results;
    for (int64_t m = 0; m < std::ssize(contributions); ++m) {
      Literal result = std::move(contributions[m][1]);
      ASSAY_RETURN_IF_ERROR(context.Charge(result.shape().num_elements()));
      ASSAY_RETURN_IF_ERROR(result.Unshare());
      for (int64_t s = 0; s < std::ssize(contributions); ++s)
        ASSAY_RETURN_IF_ERROR(Receive(context, contributions, s, m, result));
      results.push_back(std::move(result));
    }
    return results;
  };
  ASSAY_ASSIGN_OR_RETURN(std::optional<Literal> result, MeetGroup(context, kRules, operands, combine));
  ASSAY_CHECK(result.has_value());  // the groups cover all devices
  return *std::move(result);
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
    .bound = bound::NoRule,
    .audit = audit::Nothing,
    .demands = DemandsOfRaggedAllToAll,
    .channel = Channel::kCollective,
    .has_side_effect = true,
};

}  // namespace assay
