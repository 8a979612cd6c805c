// all-gather and its pair. Spec: docs/spec/operations-collective.md.
#include <cstring>
#include <utility>

#include "base/checked.h"
#include "evaluator/audits/rules.h"
#include "evaluator/bounds/rules.h"
#include "evaluator/elements.h"
#include "evaluator/meter.h"
#include "evaluator/ops/collective/collective.h"
#include "evaluator/runtime_sizes.h"
#include "fmt/format.h"

namespace assay {
namespace {

constexpr GroupRules kGatherRules = {.has_global_ids = true, .covers_all = true, .equal_sizes = true};

// all-gather: out@q = concatenation over members m in group order of x@m along d.
constexpr AttrSpec kAllGatherAttrs[] = {Required(Attr::kDimensions),         Optional(Attr::kReplicaGroups),
                                        Optional(Attr::kChannelId),          Optional(Attr::kConstrainLayout),
                                        Optional(Attr::kUseGlobalDeviceIds), Optional(Attr::kMode)};

// `declared`: the operation's results, or null.
absl::StatusOr<std::vector<Shape>> GatheredShapes(const InferContext& context, const Shape* declared) {
  ASSAY_RETURN_IF_ERROR(RequireArrays(context, "AllGather"));
  ASSAY_ASSIGN_OR_RETURN(const int64_t d, OneDimension(context, "AllGather-C2"));
  ASSAY_ASSIGN_OR_RETURN(const ReplicaGroupSize groups, CheckGroups(context, kGatherRules));
  std::vector<Shape> shapes;
  for (const Shape* operand : context.operands) {
    const int64_t size = groups.For(Ratio(PartOf(declared, context, shapes.size()), operand, d));
    ASSAY_ASSIGN_OR_RETURN(Shape shape, Resized(*operand, d, CheckedMul(operand->size(d), size)));
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

absl::StatusOr<Shape> InferAllGather(const InferContext& context) {
  ASSAY_ASSIGN_OR_RETURN(std::vector<Shape> shapes, GatheredShapes(context, context.declared));
  return BareOrTuple(std::move(shapes));
}

// all-gather-start: (operands, results), each bare for one operand. The collective happens at the start.
absl::StatusOr<Shape> InferAllGatherStart(const InferContext& context) {
  const Shape* const declared = context.declared;
  const bool has_results = declared != nullptr && declared->IsTuple() && declared->elements().size() == 2;
  ASSAY_ASSIGN_OR_RETURN(std::vector<Shape> shapes,
                         GatheredShapes(context, has_results ? &declared->element(1) : nullptr));
  return Shape::Tuple({BareOrTuple(OperandShapes(context)), BareOrTuple(std::move(shapes))});
}

// result = concatenation over members m of x@m along d, for operand k.
absl::StatusOr<Literal> Gathered(EvalContext& context, Contributions contributions, size_t k,
                                 std::shared_ptr<const Shape> shape) {
  const int64_t d = context.attributes().List(Attr::kDimensions)[0];
  ASSAY_RETURN_IF_ERROR(CheckAlike(context, contributions, k, /*apart=*/d));
  const bool zero = shape->HasDynamic();
  ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewLiteral(std::move(shape), zero));
  const MutableArrayView out(result);
  DimVector sizes = contributions[0][k].runtime_sizes();
  int64_t offset = 0;
  Meter meter(context);
  for (const std::vector<Literal>& member : contributions) {
    const ArrayView x(member[k]);
    const DimVector member_sizes = member[k].runtime_sizes();
    DimVector to(member_sizes.size());
    for (IndexWalk i(member_sizes); !i.done(); i.Next()) {
      to.assign(i.index().begin(), i.index().end());
      to[d] += offset;
      std::memcpy(out.At(to), x.At(i.index()), x.element_bytes());
      ASSAY_RETURN_IF_ERROR(meter.Add(1));
    }
    offset += member_sizes[d];
  }
  ASSAY_RETURN_IF_ERROR(meter.Flush());
  sizes[d] = offset;
  SetRuntimeSizes(result, sizes);
  return result;
}

// The results of the operands, of `shape` (bare or a tuple): the same for every member.
absl::StatusOr<Literal> GatherGroup(EvalContext& context, std::span<Literal> operands,
                                    const std::shared_ptr<const Shape>& shape) {
  const auto combine = [&](Contributions contributions) -> absl::StatusOr<std::vector<Literal>> {
    std::vector<Literal> results;
    for (size_t k = 0; k < contributions[0].size(); ++k) {
      if (contributions.size() == 1) {
        results.push_back(contributions[0][k]);
        continue;
      }
      ASSAY_ASSIGN_OR_RETURN(Literal result,
                             Gathered(context, contributions, k, ShapePart(shape, static_cast<int64_t>(k))));
      results.push_back(std::move(result));
    }
    return std::vector<Literal>(contributions.size(), Bundle(shape, std::move(results)));
  };
  ASSAY_ASSIGN_OR_RETURN(std::optional<Literal> gathered,
                         MeetGroup(context, kGatherRules, operands, combine));
  ASSAY_CHECK(gathered.has_value());  // the groups cover all devices
  return *std::move(gathered);
}

absl::StatusOr<Literal> EvalAllGather(EvalContext& context, std::span<Literal> operands) {
  return GatherGroup(context, operands, context.shared_result_shape());
}

absl::StatusOr<Literal> EvalAllGatherStart(EvalContext& context, std::span<Literal> operands) {
  const std::shared_ptr<const Shape>& shape = context.shared_result_shape();
  Literal inputs = Bundle(ShapePart(shape, 0), {operands.begin(), operands.end()});
  ASSAY_ASSIGN_OR_RETURN(Literal results, GatherGroup(context, operands, ShapePart(shape, 1)));
  return Literal::Tuple(shape, {std::move(inputs), std::move(results)});
}

absl::StatusOr<Shape> InferAllGatherDone(const InferContext& context) {
  ASSAY_RETURN_IF_ERROR(RequireStart(context, Opcode::kAllGatherStart, "AllGather-C4"));
  return context.operand(0).element(1);
}

}  // namespace

constinit const OpDef ops::AllGather = {
    .operands = AtLeast(1),
    .types = kArrayTypes,
    .attributes = kAllGatherAttrs,
    .infer = InferAllGather,
    .eval = EvalAllGather,
    .work = work::Move,
    .bound = bound::Moved,
    .audit = audit::GroupOrder,
    .moves = {.operands = MoveDef::kAll},
    .channel = Channel::kCollective,
    .has_side_effect = true,
};
constinit const OpDef ops::AllGatherStart = {
    .operands = AtLeast(1),
    .types = kArrayTypes,
    .attributes = kAllGatherAttrs,
    .infer = InferAllGatherStart,
    .eval = EvalAllGatherStart,
    .work = work::Move,
    .bound = bound::AllGatherStart,
    .audit = audit::GroupOrder,
    .channel = Channel::kCollective,
    .has_side_effect = true,
};
constinit const OpDef ops::AllGatherDone = {.operands = Exactly(1),
                                            .types = kArrayTypes,
                                            .infer = InferAllGatherDone,
                                            .eval = EvalDoneElement1,
                                            .work = work::Move,
                                            .bound = bound::EndOfPair,
                                            .audit = audit::Nothing};

}  // namespace assay
