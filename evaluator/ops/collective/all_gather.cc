// Collectives, on one process: every group is {this process}, so each moving collective gives its operand
// back in the result's shape. Spec: operations-collective.md. Plans for several processes are refused
// (plan.cc); the shape rules below hold for any number of them, also for a number that is not said yet
// (replica_groups.h).
#include <algorithm>
#include <optional>

#include "evaluator/eval_context.h"
#include "evaluator/op.h"
#include "evaluator/ops/reducer.h"
#include "evaluator/replica_groups.h"
#include "fmt/format.h"
#include "shape/checked.h"

namespace assay {
namespace {

constexpr GroupRules kGatherRules = {.has_global_ids = true, .covers_all = true, .equal_sizes = true};
constexpr GroupRules kReduceRules = {.has_global_ids = true, .covers_all = true};
constexpr GroupRules kExchangeRules = {.covers_all = true, .equal_sizes = true};
constexpr GroupRules kBroadcastRules = {};

absl::StatusOr<ReplicaGroupSize> CheckGroups(const InferContext& context, const GroupRules& rules) {
  return CheckReplicaGroups(context.module, context.attributes(), rules, DeviceCounts::kAsWritten);
}

// Decision: device-counts. What has to be said of a collective that runs on this one device.
absl::Status OnOneDevice(const absl::Status& status) {
  return status.ok() ? status
                     : NotSupported({}, fmt::format("{} (on one device)", std::string(status.message())));
}

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
    return InvalidProgram({}, fmt::format("{}: dimensions has {} entries, wanted 1", op, dimensions.size()));
  }
  for (int64_t i = 0; i < context.num_operands(); ++i) {
    if (dimensions[0] < 0 || dimensions[0] >= context.operand(i).rank()) {
      return InvalidProgram({}, fmt::format("{}: dimension is {}, operand {} has rank {}", op, dimensions[0],
                                            i, context.operand(i).rank()));
    }
  }
  return dimensions[0];
}

// With one member in every group the result of a moving collective is its operand.
absl::StatusOr<Literal> EvalOperands(EvalContext& context, std::span<Literal> operands) {
  if (operands.size() == 1 && !context.result_shape().IsTuple()) return std::move(operands[0]);
  return Literal::Tuple(context.shared_result_shape(),
                        {std::make_move_iterator(operands.begin()), std::make_move_iterator(operands.end())});
}

// The same where the groups, now that the number of devices is settled, have one member, and the result has the shapes of
// the operands.
template <const GroupRules& rules>
absl::StatusOr<Literal> EvalGroups(EvalContext& context, std::span<Literal> operands) {
  ASSAY_RETURN_IF_ERROR(OnOneDevice(
      CheckReplicaGroups(context.module(), context.attributes(), rules, DeviceCounts::kSettled).status()));
  const Shape& result = context.result_shape();
  for (size_t i = 0; i < operands.size(); ++i) {
    const Shape& shape = result.IsTuple() ? result.element(static_cast<int64_t>(i)) : result;
    if (shape.sizes().size() == operands[i].shape().sizes().size() &&
        std::equal(shape.sizes().begin(), shape.sizes().end(), operands[i].shape().sizes().begin()))
      continue;
    return NotSupported({}, fmt::format("{}: {} from {} takes groups of more than one device",
                                        Name(context.instruction().opcode), shape.ToString(),
                                        operands[i].shape().ToString()));
  }
  return EvalOperands(context, operands);
}

absl::StatusOr<Literal> EvalDoneElement1(EvalContext&, std::span<Literal> operands) {
  return operands[0].element(1);
}

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

absl::StatusOr<Literal> EvalAllGatherStart(EvalContext& context, std::span<Literal> operands) {
  ASSAY_RETURN_IF_ERROR(OnOneDevice(
      CheckReplicaGroups(context.module(), context.attributes(), kGatherRules, DeviceCounts::kSettled)
          .status()));
  if (const Shape& shape = context.result_shape(); !Shape::Compatible(shape.element(0), shape.element(1))) {
    return NotSupported({}, fmt::format("all-gather-start: {} from {} takes groups of more than one device",
                                        shape.element(1).ToString(), shape.element(0).ToString()));
  }
  if (operands.size() == 1) return Literal::Tuple(context.shared_result_shape(), {operands[0], operands[0]});
  const std::shared_ptr<const Shape>& shape = context.shared_result_shape();
  std::vector<Literal> parts;
  for (int64_t i = 0; i < 2; ++i) {
    parts.push_back(Literal::Tuple(std::shared_ptr<const Shape>(shape, &shape->element(i)),
                                   std::vector<Literal>(operands.begin(), operands.end())));
  }
  return Literal::Tuple(shape, std::move(parts));
}

// `label`: the operand of a -done is its -start.
absl::Status RequireStart(const InferContext& context, Opcode start, std::string_view label) {
  if (context.computation == nullptr || context.operand_instruction(0).opcode == start)
    return absl::OkStatus();
  return InvalidProgram(
      {}, fmt::format("{}: the operand of {} is a {}, wanted {}", label, Name(context.instruction.opcode),
                      Name(context.operand_instruction(0).opcode), Name(start)));
}

absl::StatusOr<Shape> InferAllGatherDone(const InferContext& context) {
  ASSAY_RETURN_IF_ERROR(RequireStart(context, Opcode::kAllGatherStart, "AllGather-C4"));
  return context.operand(0).element(1);
}

// all-reduce: out[I]@q = fold of f over x@m[I], members m in group order; of one member, x itself.
constexpr AttrSpec kAllReduceAttrs[] = {
    Required(Attr::kToApply),         Optional(Attr::kReplicaGroups),      Optional(Attr::kChannelId),
    Optional(Attr::kConstrainLayout), Optional(Attr::kUseGlobalDeviceIds), Optional(Attr::kMode)};

// AllReduce-C2: f takes two scalars and gives one, of the operands' class.
absl::Status CheckCombiner(const InferContext& context, std::string_view op) {
  const ProgramShape f = context.Called(*context.attributes().Computation(Attr::kToApply));
  const bool shape_fits = f.parameters.size() == 2 && f.parameters[0].IsScalar() &&
                          f.parameters[1].IsScalar() && Shape::Compatible(f.parameters[0], f.parameters[1]) &&
                          Shape::Compatible(f.parameters[0], f.result);
  if (!shape_fits) {
    return InvalidProgram({},
                          fmt::format("{}-C2: to_apply must take two scalars of one type and give one", op));
  }
  for (int64_t i = 0; i < context.num_operands(); ++i) {
    const Shape scalar = Shape::Scalar(context.operand(i).element_type());
    if (!Shape::CompatibleIgnoringFpPrecision(f.result, scalar)) {
      return InvalidProgram({}, fmt::format("{}-C2: to_apply combines {}, operand {} is {}", op,
                                            Name(f.result.element_type()), i, context.operand(i).ToString()));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Shape> InferAllReduce(const InferContext& context) {
  ASSAY_RETURN_IF_ERROR(RequireArrays(context, "AllReduce"));
  ASSAY_RETURN_IF_ERROR(CheckCombiner(context, "AllReduce"));
  ASSAY_RETURN_IF_ERROR(CheckGroups(context, kReduceRules).status());
  return BareOrTuple(OperandShapes(context));
}

absl::StatusOr<Shape> InferAllReduceDone(const InferContext& context) {
  ASSAY_RETURN_IF_ERROR(RequireStart(context, Opcode::kAllReduceStart, "AllReduce-C4"));
  return context.operand(0);
}

absl::StatusOr<Literal> EvalAllReduceDone(EvalContext&, std::span<Literal> operands) {
  return std::move(operands[0]);
}

// reduce-scatter: member number i gets block i along d of the all-reduce result.
constexpr AttrSpec kReduceScatterAttrs[] = {
    Required(Attr::kToApply),   Required(Attr::kDimensions),      Optional(Attr::kReplicaGroups),
    Optional(Attr::kChannelId), Optional(Attr::kConstrainLayout), Optional(Attr::kUseGlobalDeviceIds),
    Optional(Attr::kMode)};

absl::StatusOr<Shape> InferReduceScatter(const InferContext& context) {
  ASSAY_RETURN_IF_ERROR(RequireArrays(context, "ReduceScatter"));
  ASSAY_ASSIGN_OR_RETURN(const int64_t d, OneDimension(context, "ReduceScatter-C1"));
  ASSAY_RETURN_IF_ERROR(CheckCombiner(context, "ReduceScatter"));
  ASSAY_ASSIGN_OR_RETURN(const ReplicaGroupSize groups, CheckGroups(context, kGatherRules));
  std::vector<Shape> shapes;
  for (const Shape* operand : context.operands) {
    const int64_t size = groups.For(Ratio(operand, PartOf(context.declared, context, shapes.size()), d));
    if (operand->size(d) % size != 0) {
      return InvalidProgram(
          {}, fmt::format("ReduceScatter-C2: dimension {} of {} is not divisible by the group size {}", d,
                          operand->ToString(), size));
    }
    ASSAY_ASSIGN_OR_RETURN(Shape shape, Resized(*operand, d, operand->size(d) / size));
    shapes.push_back(std::move(shape));
  }
  return BareOrTuple(std::move(shapes));
}

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
      return InvalidProgram(
          {}, fmt::format("AllToAll-C5: {} operands for groups of {}", context.num_operands(), groups.size));
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
    return InvalidProgram(
        {}, fmt::format("AllToAll-C4: {} operands in the array form, wanted 1", context.num_operands()));
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

// The tuple form has an operand a member.
absl::StatusOr<Literal> EvalAllToAll(EvalContext& context, std::span<Literal> operands) {
  if (!context.attributes().Has(Attr::kDimensions) && operands.size() != 1)
    return NotSupported({}, "all-to-all: several operands take groups of more than one device");
  return EvalGroups<kExchangeRules>(context, operands);
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

bool InSomeGroup(const AttributeMap& attributes, int64_t id) {
  const AttrValue* value = attributes.Find(Attr::kReplicaGroups);
  if (value == nullptr) return true;
  const IntLists& groups = std::get<std::shared_ptr<const ReplicaGroups>>(*value)->groups;
  return groups.empty() || std::any_of(groups.begin(), groups.end(), [&](const Ints& group) {
           return std::find(group.begin(), group.end(), id) != group.end();
         });
}

absl::StatusOr<Literal> EvalCollectiveBroadcast(EvalContext& context, std::span<Literal> operands) {
  const absl::StatusOr<ReplicaGroupSize> groups =
      CheckReplicaGroups(context.module(), context.attributes(), kBroadcastRules, DeviceCounts::kSettled);
  ASSAY_RETURN_IF_ERROR(OnOneDevice(WithPrefix(groups.status(), "CollectiveBroadcast-C2")));
  if (context.attributes().Bool(Attr::kHasDynamicRoot)) {
    const Literal& root = operands.back();
    for (int64_t k = 0; k < root.shape().num_elements(); ++k) {
      if (root.GetInt(k) != 0) {
        return EvalError({}, fmt::format("CollectiveBroadcast-C3: root[{}] is {}, the group has 1 member", k,
                                         root.GetInt(k)));
      }
    }
    operands = operands.first(operands.size() - 1);
  }
  if (!InSomeGroup(context.attributes(), 0)) return context.NewResult(/*zero=*/true);
  return EvalOperands(context, operands);
}

// collective-permute: out@t = x@s for each pair (s, t); a process that is no target gets zeros.
constexpr AttrSpec kPermuteAttrs[] = {Required(Attr::kSourceTargetPairs), Optional(Attr::kChannelId),
                                      Optional(Attr::kSliceSizes), Optional(Attr::kMode)};

// With slice_sizes: (input, output, starts in the input, starts in the output), of which the result is the output.
bool IsInPlace(const AttributeMap& attributes) { return attributes.Has(Attr::kSliceSizes); }

// Decision: permute-in-place
absl::Status RefuseInPlace(const AttributeMap& attributes) {
  if (!IsInPlace(attributes)) return absl::OkStatus();
  return NotSupported({}, "CollectivePermute-C4: running the in-place form with slice_sizes");
}

absl::StatusOr<Shape> InferCollectivePermute(const InferContext& context) {
  ASSAY_RETURN_IF_ERROR(
      CheckSourceTargetPairs(context.module, context.attributes(), DeviceCounts::kAsWritten));
  if (IsInPlace(context.attributes())) {
    if (context.num_operands() != 4)
      return InvalidProgram({}, "CollectivePermute-C4: slice_sizes wants 4 operands");
    for (int64_t i : {2, 3}) {
      if (context.operand(i).IsTuple()) continue;
      return InvalidProgram({},
                            fmt::format("CollectivePermute-C4: operand {} is {}, wanted a tuple of starts", i,
                                        context.operand(i).ToString()));
    }
    return context.operand(1);
  }
  ASSAY_RETURN_IF_ERROR(RequireArrays(context, "CollectivePermute"));
  return BareOrTuple(OperandShapes(context));
}

// Whether this process is a target, on one device.
absl::StatusOr<bool> IsTarget(const EvalContext& context) {
  ASSAY_RETURN_IF_ERROR(
      OnOneDevice(CheckSourceTargetPairs(context.module(), context.attributes(), DeviceCounts::kSettled)));
  return !context.attributes().Lists(Attr::kSourceTargetPairs).empty();
}

absl::StatusOr<Literal> EvalCollectivePermute(EvalContext& context, std::span<Literal> operands) {
  ASSAY_RETURN_IF_ERROR(RefuseInPlace(context.attributes()));
  ASSAY_ASSIGN_OR_RETURN(const bool is_target, IsTarget(context));
  if (!is_target) return context.NewResult(/*zero=*/true);
  return EvalOperands(context, operands);
}

// collective-permute-start: (operand, result [, u32 context...]).
absl::StatusOr<Shape> InferCollectivePermuteStart(const InferContext& context) {
  ASSAY_ASSIGN_OR_RETURN(Shape result, InferCollectivePermute(context));
  std::vector<Shape> elements = {
      IsInPlace(context.attributes()) ? context.operand(0) : BareOrTuple(OperandShapes(context)),
      std::move(result)};
  const Shape* const declared = context.declared;
  if (declared != nullptr && declared->IsTuple()) {
    for (size_t i = 2; i < declared->elements().size(); ++i) {
      if (!declared->element(i).IsScalar(ElementType::kU32)) {
        return InvalidProgram({}, fmt::format("collective-permute-start: context {} is {}, wanted u32[]", i,
                                              declared->element(i).ToString()));
      }
      elements.push_back(declared->element(i));
    }
  }
  return Shape::Tuple(std::move(elements));
}

absl::StatusOr<Literal> EvalCollectivePermuteStart(EvalContext& context, std::span<Literal> operands) {
  ASSAY_RETURN_IF_ERROR(RefuseInPlace(context.attributes()));
  const std::shared_ptr<const Shape>& shape = context.shared_result_shape();
  const auto part = [&](int64_t i) { return std::shared_ptr<const Shape>(shape, &shape->element(i)); };
  const auto bundle = [&](int64_t i) {
    return operands.size() == 1
               ? operands[0]
               : Literal::Tuple(part(i), std::vector<Literal>(operands.begin(), operands.end()));
  };
  std::vector<Literal> elements = {bundle(0)};
  ASSAY_ASSIGN_OR_RETURN(const bool is_target, IsTarget(context));
  if (is_target) {
    elements.push_back(bundle(1));
  } else {
    ASSAY_ASSIGN_OR_RETURN(Literal zeros, context.NewResultElement(1, /*zero=*/true));
    elements.push_back(std::move(zeros));
  }
  for (size_t i = 2; i < shape->elements().size(); ++i)
    elements.push_back(Literal::ScalarInt(ElementType::kU32, 0));
  return Literal::Tuple(shape, std::move(elements));
}

absl::StatusOr<Shape> InferCollectivePermuteDone(const InferContext& context) {
  ASSAY_RETURN_IF_ERROR(RequireStart(context, Opcode::kCollectivePermuteStart, "CollectivePermute-C5"));
  return context.operand(0).element(1);
}

}  // namespace

constinit const OpDef ops::AllGather = {
    .operands = AtLeast(1),
    .types = kArrayTypes,
    .attributes = kAllGatherAttrs,
    .infer = InferAllGather,
    .eval = EvalGroups<kGatherRules>,
    .work = work::Move,
    .pass_demand = demand::Moved<0>,
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
    .channel = Channel::kCollective,
    .has_side_effect = true,
};
constinit const OpDef ops::AllGatherDone = {.operands = Exactly(1),
                                            .types = kArrayTypes,
                                            .infer = InferAllGatherDone,
                                            .eval = EvalDoneElement1,
                                            .work = work::Move};
constinit const OpDef ops::AllReduce = {
    .operands = AtLeast(0),
    .types = kArrayTypes,
    .attributes = kAllReduceAttrs,
    .infer = InferAllReduce,
    .eval = EvalGroups<kReduceRules>,
    .work = work::Move,
    .channel = Channel::kCollective,
    .has_side_effect = true,
};
constinit const OpDef ops::AllReduceStart = {
    .operands = AtLeast(0),
    .types = kArrayTypes,
    .attributes = kAllReduceAttrs,
    .infer = InferAllReduce,
    .eval = EvalGroups<kReduceRules>,
    .work = work::Move,
    .channel = Channel::kCollective,
    .has_side_effect = true,
};
constinit const OpDef ops::AllReduceDone = {.operands = Exactly(1),
                                            .types = kArrayTypes,
                                            .infer = InferAllReduceDone,
                                            .eval = EvalAllReduceDone,
                                            .work = work::Move};
constinit const OpDef ops::ReduceScatter = {
    .operands = AtLeast(1),
    .types = kArrayTypes,
    .attributes = kReduceScatterAttrs,
    .infer = InferReduceScatter,
    .eval = EvalGroups<kGatherRules>,
    .work = work::Move,
    .channel = Channel::kCollective,
    .has_side_effect = true,
};
constinit const OpDef ops::AllToAll = {
    .operands = AtLeast(1),
    .types = kArrayTypes,
    .attributes = kAllToAllAttrs,
    .infer = InferAllToAll,
    .eval = EvalAllToAll,
    .work = work::Move,
    .pass_demand = demand::Moved<0>,
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
    .pass_demand = demand::Moved<0>,
    .channel = Channel::kCollective,
    .has_side_effect = true,
};
constinit const OpDef ops::CollectivePermute = {
    .operands = AtLeast(1),
    .types = kArrayTypes,
    .attributes = kPermuteAttrs,
    .infer = InferCollectivePermute,
    .eval = EvalCollectivePermute,
    .work = work::Move,
    .pass_demand = demand::Moved<0>,
    .channel = Channel::kCollective,
    .has_side_effect = true,
};
constinit const OpDef ops::CollectivePermuteStart = {
    .operands = AtLeast(1),
    .types = kArrayTypes,
    .attributes = kPermuteAttrs,
    .infer = InferCollectivePermuteStart,
    .eval = EvalCollectivePermuteStart,
    .work = work::Move,
    .channel = Channel::kCollective,
    .has_side_effect = true,
};
constinit const OpDef ops::CollectivePermuteDone = {.operands = Exactly(1),
                                                    .types = kArrayTypes,
                                                    .infer = InferCollectivePermuteDone,
                                                    .eval = EvalDoneElement1,
                                                    .work = work::Move};

}  // namespace assay
