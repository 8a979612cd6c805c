// collective-permute and its pair. Spec: operations-collective.md.
#include <algorithm>
#include <utility>

#include "evaluator/ops/collective/collective.h"
#include "fmt/format.h"

namespace assay {
namespace {

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
  ASSAY_RETURN_IF_ERROR(CheckSourceTargetPairs(CountsFor(context), context.attributes()));
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

// What a target gets: the operands of its source; zeros where it has none.
absl::StatusOr<Literal> Permuted(EvalContext& context, std::span<Literal> operands,
                                 const std::shared_ptr<const Shape>& shape) {
  ASSAY_RETURN_IF_ERROR(RefuseInPlace(context.attributes()));
  DeviceLink& device = context.device();
  const AttributeMap& attributes = context.attributes();
  const IdKind kind = IdKindOf(attributes, /*has_global_ids=*/false);
  const DevicePairs pairs =
      PairsOf(device.grid(), attributes.Lists(Attr::kSourceTargetPairs), kind, device.id());
  // All devices that are named meet, whoever gives to whom (Decision: permute-members).
  std::vector<int64_t> members;
  for (const auto& [source, target] : pairs) members.insert(members.end(), {source, target});
  std::sort(members.begin(), members.end());
  members.erase(std::unique(members.begin(), members.end()), members.end());
  if (!std::binary_search(members.begin(), members.end(), device.id())) {
    return context.NewLiteral(shape, /*zero=*/true);
  }
  const auto number = [&](int64_t id) {
    return static_cast<size_t>(std::lower_bound(members.begin(), members.end(), id) - members.begin());
  };
  const auto combine = [&](Brought brought) -> absl::StatusOr<std::vector<Literal>> {
    ASSAY_ASSIGN_OR_RETURN(const Literal zeros, context.NewLiteral(shape, /*zero=*/true));
    std::vector<Literal> results(brought.size(), zeros);
    for (const auto& [source, target] : pairs)
      results[number(target)] = Bundle(shape, brought[number(source)]);
    return results;
  };
  return device.Meet(context.instruction(), members,
                     {std::make_move_iterator(operands.begin()), std::make_move_iterator(operands.end())},
                     combine);
}

absl::StatusOr<Literal> EvalCollectivePermute(EvalContext& context, std::span<Literal> operands) {
  return Permuted(context, operands, context.shared_result_shape());
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
  const std::shared_ptr<const Shape>& shape = context.shared_result_shape();
  std::vector<Literal> elements = {Bundle(ShapePart(shape, 0), {operands.begin(), operands.end()})};
  ASSAY_ASSIGN_OR_RETURN(Literal result, Permuted(context, operands, ShapePart(shape, 1)));
  elements.push_back(std::move(result));
  for (size_t i = 2; i < shape->elements().size(); ++i)
    elements.push_back(Literal::ScalarInt(ElementType::kU32, 0));
  return Literal::Tuple(shape, std::move(elements));
}

absl::StatusOr<Shape> InferCollectivePermuteDone(const InferContext& context) {
  ASSAY_RETURN_IF_ERROR(RequireStart(context, Opcode::kCollectivePermuteStart, "CollectivePermute-C5"));
  return context.operand(0).element(1);
}

}  // namespace

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
