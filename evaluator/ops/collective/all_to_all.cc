// all-to-all and collective-broadcast. Spec: docs/spec/operations-collective.md.
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/counted.h"
#include "evaluator/audits/rules.h"
#include "evaluator/bounds/rules.h"
#include "evaluator/elements.h"
#include "evaluator/meter.h"
#include "evaluator/ops/collective/collective.h"
#include "evaluator/runtime_sizes.h"
#include "fmt/format.h"

namespace assay {
namespace {

constexpr GroupRules kExchangeRules = {.covers_all = true, .equal_sizes = true};
constexpr GroupRules kBroadcastRules = {};

// all-to-all, array form: out@j = concatenation over members i of block_j(x@i) along d;
// tuple form: out@j = tuple over i of operand_j@i.
constexpr AttrSpec kAllToAllAttrs[] = {Optional(Attr::kDimensions), Optional(Attr::kReplicaGroups),
                                       Optional(Attr::kChannelId), Optional(Attr::kConstrainLayout),
                                       Optional(Attr::kMode)};

absl::StatusOr<Shape> InferAllToAll(const InferContext& context) {
  ASSAY_RETURN_IF_ERROR(RequireArrays(context, "AllToAll"));
  ASSAY_ASSIGN_OR_RETURN(const ReplicaGroupSize groups, CheckGroups(context, kExchangeRules));
  if (!context.attributes().Has(Attr::kDimensions)) {
    if (context.num_operands() != groups.For(context.num_operands())) {
      return InvalidProgram({}, fmt::format("AllToAll-C5: {} for groups of {}",
                                            Counted(context.num_operands(), "operand"), groups.size));
    }
    for (int64_t i = 1; i < context.num_operands(); ++i) {
      if (!Shape::Compatible(context.operand(i), context.operand(0))) {
        return InvalidProgram({}, fmt::format("AllToAll-C5: operand {} is {}, operand 0 is {}", i,
                                              context.operand(i).ToString(), context.operand(0).ToString()));
      }
    }
    return Shape::Tuple(OperandShapes(context));
  }
  if (context.num_operands() != 1) {
    return InvalidProgram({}, fmt::format("AllToAll-C4: {} in the array form, wanted 1",
                                          Counted(context.num_operands(), "operand")));
  }
  ASSAY_ASSIGN_OR_RETURN(const int64_t d, OneDimension(context, "AllToAll-C1"));
  const Shape& operand = context.operand(0);
  if (operand.HasDynamic()) {
    return InvalidProgram(
        {}, fmt::format("AllToAll-C4: the operand {} has a dynamic dimension", operand.ToString()));
  }
  if (operand.size(d) % groups.size != 0) {
    return InvalidProgram(
        {}, fmt::format("AllToAll-C3: dimension {} of {} is not divisible by the group size {}", d,
                        operand.ToString(), groups.size));
  }
  return operand;
}

// The array form, for member j:  result = concatenation over members i of block j of x@i along d.
absl::StatusOr<Literal> Exchanged(EvalContext& context, Contributions contributions, int64_t j, int64_t d) {
  ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult());
  const MutableArrayView out(result);
  const int64_t members = std::ssize(contributions);
  const Shape& shape = context.result_shape();
  DimVector block(shape.sizes().begin(), shape.sizes().end());
  block[d] /= members;
  DimVector from(block.size()), to(block.size());
  Meter meter(context);
  for (int64_t i = 0; i < members; ++i) {
    const ArrayView x(contributions[i][0]);
    for (IndexWalk e(block); !e.done(); e.Next()) {
      from.assign(e.index().begin(), e.index().end());
      to = from;
      from[d] += j * block[d];
      to[d] += i * block[d];
      std::memcpy(out.At(to), x.At(from), x.element_bytes());
      ASSAY_RETURN_IF_ERROR(meter.Add(1));
    }
  }
  ASSAY_RETURN_IF_ERROR(meter.Flush());
  return result;
}

absl::StatusOr<Literal> EvalAllToAll(EvalContext& context, std::span<Literal> operands) {
  const bool is_array = context.attributes().Has(Attr::kDimensions);
  const auto combine = [&](Contributions contributions) -> absl::StatusOr<std::vector<Literal>> {
    std::vector<Literal> results;
    for (size_t j = 0; j < contributions.size(); ++j) {
      if (is_array) {
        ASSAY_ASSIGN_OR_RETURN(Literal result, Exchanged(context, contributions, static_cast<int64_t>(j),
                                                         context.attributes().List(Attr::kDimensions)[0]));
        results.push_back(std::move(result));
        continue;
      }
      std::vector<Literal> elements;  // i: operand j of member i
      for (const std::vector<Literal>& member : contributions) elements.push_back(member[j]);
      results.push_back(Literal::Tuple(context.shared_result_shape(), std::move(elements)));
    }
    return results;
  };
  ASSAY_ASSIGN_OR_RETURN(std::optional<Literal> exchanged,
                         MeetGroup(context, kExchangeRules, operands, combine));
  ASSAY_CHECK(exchanged.has_value());  // the groups cover all devices
  return *std::move(exchanged);
}

// collective-broadcast: members of a group get the operand of its first listed id (or of position root[k]);
// processes in no group get zeros.
constexpr AttrSpec kCollectiveBroadcastAttrs[] = {Optional(Attr::kReplicaGroups), Optional(Attr::kChannelId),
                                                  Optional(Attr::kHasDynamicRoot), Optional(Attr::kMode)};

absl::StatusOr<Shape> InferCollectiveBroadcast(const InferContext& context) {
  ASSAY_RETURN_IF_ERROR(RequireArrays(context, "CollectiveBroadcast"));
  ASSAY_RETURN_IF_ERROR(WithPrefix(CheckGroups(context, kBroadcastRules).status(), "CollectiveBroadcast-C2"));
  std::vector<Shape> shapes = OperandShapes(context);
  if (context.attributes().Bool(Attr::kHasDynamicRoot)) {
    const Shape& root = shapes.back();
    const int64_t data = static_cast<int64_t>(shapes.size()) - 1;
    if (data < 1 || root.element_type() != ElementType::kS32 || root.rank() != 1 || root.size(0) != data) {
      return InvalidProgram({}, fmt::format("CollectiveBroadcast-C3: the root operand is {}, wanted s32[{}]",
                                            root.ToString(), data));
    }
    shapes.pop_back();
  }
  return BareOrTuple(std::move(shapes));
}

// The member whose operand k all get: root[k], the same on each member, or the first.
absl::StatusOr<size_t> RootOf(Contributions contributions, size_t k, bool has_dynamic_root) {
  if (!has_dynamic_root) return 0;
  const int64_t root = contributions[0].back().GetInt(static_cast<int64_t>(k));
  for (size_t m = 1; m < contributions.size(); ++m) {
    const int64_t other = contributions[m].back().GetInt(static_cast<int64_t>(k));
    if (other == root) continue;
    return EvalError({}, fmt::format("CollectiveBroadcast-C3: root[{}] is {} on member 0 of the group, {} on "
                                     "member {}",
                                     k, root, other, m));
  }
  if (root < 0 || root >= std::ssize(contributions)) {
    return EvalError({}, fmt::format("CollectiveBroadcast-C3: root[{}] is {}, the group has {}", k, root,
                                     Counted(contributions.size(), "member")));
  }
  return static_cast<size_t>(root);
}

absl::StatusOr<Literal> EvalCollectiveBroadcast(EvalContext& context, std::span<Literal> operands) {
  const bool has_dynamic_root = context.attributes().Bool(Attr::kHasDynamicRoot);
  const size_t count = operands.size() - (has_dynamic_root ? 1 : 0);
  const auto combine = [&](Contributions contributions) -> absl::StatusOr<std::vector<Literal>> {
    std::vector<Literal> values;
    for (size_t k = 0; k < count; ++k) {
      ASSAY_ASSIGN_OR_RETURN(const size_t root, RootOf(contributions, k, has_dynamic_root));
      values.push_back(contributions[root][k]);
    }
    return std::vector<Literal>(contributions.size(),
                                Bundle(context.shared_result_shape(), std::move(values)));
  };
  ASSAY_ASSIGN_OR_RETURN(std::optional<Literal> value,
                         MeetGroup(context, kBroadcastRules, operands, combine));
  if (!value) return context.NewResult(/*zero=*/true);
  return *std::move(value);
}

}  // namespace

constinit const OpDef ops::AllToAll = {
    .operands = AtLeast(1),
    .types = kArrayTypes,
    .attributes = kAllToAllAttrs,
    .infer = InferAllToAll,
    .eval = EvalAllToAll,
    .work = work::Move,
    .bound = bound::Moved,
    .audit = audit::Nothing,
    .moves = {.operands = MoveDef::kAll},
    .channel = Channel::kCollective,
    .has_side_effect = true,
};
constinit const OpDef ops::CollectiveBroadcast = {
    .operands = AtLeast(1),
    .types = kArrayTypes,
    .attributes = kCollectiveBroadcastAttrs,
    .infer = InferCollectiveBroadcast,
    .eval = EvalCollectiveBroadcast,
    .work = work::Move,
    .bound = bound::Moved,
    .audit = audit::Nothing,
    .moves = {.operands = MoveDef::kAll, .or_zero = true},
    .channel = Channel::kCollective,
    .has_side_effect = true,
};

}  // namespace assay
