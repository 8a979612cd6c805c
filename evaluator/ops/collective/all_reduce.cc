// all-reduce, its pair, and reduce-scatter. Spec: docs/spec/operations-collective.md; RED-1 and RED-2 of
// docs/spec/operations-linalg.md.
#include <cstring>
#include <utility>

#include "evaluator/audits/rules.h"
#include "evaluator/bounds/rules.h"
#include "evaluator/elements.h"
#include "evaluator/meter.h"
#include "evaluator/ops/collective/collective.h"
#include "evaluator/ops/reduction/element_sum.h"
#include "evaluator/ops/reduction/reducer.h"
#include "evaluator/runtime_sizes.h"
#include "evaluator/scalar_function.h"
#include "fmt/format.h"

namespace assay {
namespace {

constexpr GroupRules kReduceRules = {.has_global_ids = true, .covers_all = true};
constexpr GroupRules kScatterRules = {.has_global_ids = true, .covers_all = true, .equal_sizes = true};

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

// result[I] = f(… f(x_0[I], x_1[I]) …, x_(n-1)[I]) over the members in group order, for operand k; of float
// or complex add the exact sum, rounded once, which no order can show. f computes in the types of its own
// parameters; where they are not the operand's, its result is rounded once more (Decision:
// reduce-window-result-type).
absl::StatusOr<Literal> FoldMembers(EvalContext& context, Contributions contributions, size_t k) {
  ASSAY_RETURN_IF_ERROR(CheckAlike(context, contributions, k));
  const Shape& shape = contributions[0][k].shape();
  ASSAY_ASSIGN_OR_RETURN(ScalarFunction* const f,
                         context.Scalar(*context.attributes().Computation(Attr::kToApply)));
  const ElementType type = f->input_type(0);
  std::vector<Literal> values;
  for (const std::vector<Literal>& member : contributions) {
    ASSAY_ASSIGN_OR_RETURN(Literal value, ConvertForReducer(context, member[k], type));
    values.push_back(std::move(value));
  }
  ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewLiteral(values[0].shared_shape(), shape.HasDynamic()));
  const std::vector<ArrayView> x(values.begin(), values.end());
  const MutableArrayView out(result);
  const DimVector sizes = values[0].runtime_sizes();
  ElementSum sum(type);
  ReducerCall reducer(*f);
  Meter meter(context);
  for (IndexWalk i(sizes); !i.done(); i.Next()) {
    std::byte* const running = out.At(i.index());
    if (f->is_exact_sum()) {
      sum.Clear();
      for (const ArrayView& member : x) sum.Add(member.At(i.index()));
      sum.Store(running);
    } else {
      std::memcpy(running, x[0].At(i.index()), out.element_bytes());
      for (size_t m = 1; m < x.size(); ++m) {
        const std::byte* const added = x[m].At(i.index());
        ASSAY_RETURN_IF_ERROR(reducer.Apply({&running, 1}, {&added, 1}));
      }
    }
    ASSAY_RETURN_IF_ERROR(meter.Add(static_cast<int64_t>(x.size())));
  }
  ASSAY_RETURN_IF_ERROR(meter.Flush());
  SetRuntimeSizes(result, sizes);
  if (type == shape.element_type()) return result.WithShape(contributions[0][k].shared_shape());
  return ConvertForReducer(context, result, shape.element_type());
}

absl::StatusOr<Literal> EvalAllReduce(EvalContext& context, std::span<Literal> operands) {
  const std::shared_ptr<const Shape>& shape = context.shared_result_shape();
  const auto combine = [&](Contributions contributions) -> absl::StatusOr<std::vector<Literal>> {
    if (contributions.size() == 1) return std::vector<Literal>{Bundle(shape, std::move(contributions[0]))};
    std::vector<Literal> results;
    for (size_t k = 0; k < contributions[0].size(); ++k) {
      ASSAY_ASSIGN_OR_RETURN(Literal result, FoldMembers(context, contributions, k));
      results.push_back(std::move(result));
    }
    return std::vector<Literal>(contributions.size(), Bundle(shape, std::move(results)));
  };
  ASSAY_ASSIGN_OR_RETURN(std::optional<Literal> reduced, MeetGroup(context, kReduceRules, operands, combine));
  ASSAY_CHECK(reduced.has_value());  // the groups cover all devices
  return *std::move(reduced);
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
  ASSAY_ASSIGN_OR_RETURN(const ReplicaGroupSize groups, CheckGroups(context, kScatterRules));
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

// Block `number` of x along dimension d, of the sizes of `shape`:
//   result[I] = x[I + number * size_d(shape) * e_d]
absl::StatusOr<Literal> Block(EvalContext& context, const Literal& x, int64_t d, int64_t number,
                              const std::shared_ptr<const Shape>& shape) {
  if (x.shape().HasDynamic() && x.dynamic_size(d) != x.shape().size(d)) {
    return EvalError({}, fmt::format("reduce-scatter: dimension {} has run-time size {}, wanted its bound {}",
                                     d, x.dynamic_size(d), x.shape().size(d)));
  }
  const int64_t start = number * shape->size(d);
  ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewLiteral(shape, shape->HasDynamic()));
  const ArrayView from(x);
  const MutableArrayView out(result);
  DimVector sizes = x.runtime_sizes();
  sizes[d] = shape->size(d);
  DimVector at(sizes.size());
  Meter meter(context);
  for (IndexWalk i(sizes); !i.done(); i.Next()) {
    at.assign(i.index().begin(), i.index().end());
    at[d] += start;
    std::memcpy(out.At(i.index()), from.At(at), from.element_bytes());
    ASSAY_RETURN_IF_ERROR(meter.Add(1));
  }
  ASSAY_RETURN_IF_ERROR(meter.Flush());
  SetRuntimeSizes(result, sizes);
  return result;
}

absl::StatusOr<Literal> EvalReduceScatter(EvalContext& context, std::span<Literal> operands) {
  const std::shared_ptr<const Shape>& shape = context.shared_result_shape();
  const int64_t d = context.attributes().List(Attr::kDimensions)[0];
  const auto combine = [&](Contributions contributions) -> absl::StatusOr<std::vector<Literal>> {
    if (contributions.size() == 1) return std::vector<Literal>{Bundle(shape, std::move(contributions[0]))};
    std::vector<std::vector<Literal>> blocks(contributions.size());  // by member and operand
    for (size_t k = 0; k < contributions[0].size(); ++k) {
      ASSAY_ASSIGN_OR_RETURN(const Literal reduced, FoldMembers(context, contributions, k));
      for (size_t m = 0; m < blocks.size(); ++m) {
        ASSAY_ASSIGN_OR_RETURN(Literal block, Block(context, reduced, d, static_cast<int64_t>(m),
                                                    ShapePart(shape, static_cast<int64_t>(k))));
        blocks[m].push_back(std::move(block));
      }
    }
    std::vector<Literal> results;
    results.reserve(blocks.size());
    for (std::vector<Literal>& member : blocks) results.push_back(Bundle(shape, std::move(member)));
    return results;
  };
  ASSAY_ASSIGN_OR_RETURN(std::optional<Literal> scattered,
                         MeetGroup(context, kScatterRules, operands, combine));
  ASSAY_CHECK(scattered.has_value());  // the groups cover all devices
  return *std::move(scattered);
}

}  // namespace

constinit const OpDef ops::AllReduce = {
    .operands = AtLeast(0),
    .types = kArrayTypes,
    .attributes = kAllReduceAttrs,
    .infer = InferAllReduce,
    .eval = EvalAllReduce,
    .work = work::Move,
    .bound = bound::AllReduce,
    .audit = audit::AllReduce,
    .channel = Channel::kCollective,
    .has_side_effect = true,
};
constinit const OpDef ops::AllReduceStart = {
    .operands = AtLeast(0),
    .types = kArrayTypes,
    .attributes = kAllReduceAttrs,
    .infer = InferAllReduce,
    .eval = EvalAllReduce,
    .work = work::Move,
    .bound = bound::AllReduce,
    .audit = audit::AllReduce,
    .channel = Channel::kCollective,
    .has_side_effect = true,
};
constinit const OpDef ops::AllReduceDone = {.operands = Exactly(1),
                                            .types = kArrayTypes,
                                            .infer = InferAllReduceDone,
                                            .eval = EvalAllReduceDone,
                                            .work = work::Move,
                                            .bound = bound::Structure,
                                            .audit = audit::Nothing};
constinit const OpDef ops::ReduceScatter = {
    .operands = AtLeast(1),
    .types = kArrayTypes,
    .attributes = kReduceScatterAttrs,
    .infer = InferReduceScatter,
    .eval = EvalReduceScatter,
    .work = work::Move,
    .bound = bound::ReduceScatter,
    .audit = audit::AllReduce,
    .channel = Channel::kCollective,
    .has_side_effect = true,
};

}  // namespace assay
