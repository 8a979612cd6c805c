// collective-permute and its pair. Spec: docs/spec/operations-collective.md.
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/counted.h"
#include "evaluator/audits/rules.h"
#include "evaluator/bounds/rules.h"
#include "evaluator/elements.h"
#include "evaluator/meter.h"
#include "evaluator/ops/collective/collective.h"
#include "fmt/format.h"
#include "literal/element_io.h"

namespace assay {
namespace {

// collective-permute: out@t = x@s for each pair (s, t); a process that is no target gets zeros.
constexpr AttrSpec kPermuteAttrs[] = {Required(Attr::kSourceTargetPairs), Optional(Attr::kChannelId),
                                      Optional(Attr::kSliceSizes), Optional(Attr::kMode)};

// The in-place form, with slice_sizes: (input, output, starts in the input, starts in the output), of which
// the result is the output. For each pair (s, t) and slice k
//   out@t[to_k@t + I] = input@s[from_k@s + I],  0 <= I < slice_sizes[k],
// where starts are clamped so that slices lie inside, as dynamic-slice's are. Starts are a tuple of integers,
// one a dimension, or a tuple of such tuples, one a slice. (Decision: permute-in-place)
bool IsInPlace(const AttributeMap& attributes) { return attributes.Has(Attr::kSliceSizes); }

bool AreStarts(const Shape& shape, int64_t rank) {
  if (!shape.IsTuple() || std::ssize(shape.elements()) != rank) return false;
  return std::all_of(shape.elements().begin(), shape.elements().end(),
                     [](const Shape& start) { return start.IsScalar() && IsIntegral(start.element_type()); });
}

absl::Status CheckInPlace(const InferContext& context) {
  if (context.num_operands() != 4)
    return InvalidProgram({}, "CollectivePermute-C4: slice_sizes wants 4 operands");
  const IntLists& slices = context.attributes().Lists(Attr::kSliceSizes);
  const Shape &input = context.operand(0), &output = context.operand(1);
  for (int64_t i : {2, 3}) {
    const Shape& starts = context.operand(i);
    if (!starts.IsTuple()) {
      return InvalidProgram({},
                            fmt::format("CollectivePermute-C4: operand {} is {}, wanted a tuple of starts", i,
                                        starts.ToString()));
    }
    if (!input.IsArray() || !output.IsArray()) continue;
    const int64_t rank = (i == 2 ? input : output).rank();
    const bool is_one = std::ssize(slices) == 1 && AreStarts(starts, rank);
    const bool are_several = starts.elements().size() == slices.size() &&
                             std::all_of(starts.elements().begin(), starts.elements().end(),
                                         [&](const Shape& one) { return AreStarts(one, rank); });
    if (!is_one && !are_several) {
      return InvalidProgram({}, fmt::format("CollectivePermute-C4: operand {} is {}, wanted starts of {} of "
                                            "rank {}",
                                            i, starts.ToString(), Counted(slices.size(), "slice"), rank));
    }
  }
  for (const Ints& slice : slices) {
    for (const Shape* shape : {&input, &output}) {
      if (!shape->IsArray()) continue;
      bool fits = std::ssize(slice) == shape->rank() && input.element_type() == output.element_type();
      for (int64_t d = 0; fits && d < shape->rank(); ++d) fits = slice[d] >= 0 && slice[d] <= shape->size(d);
      if (fits) continue;
      return InvalidProgram({}, fmt::format("CollectivePermute-C4: a slice of {{{}}} in {}",
                                            fmt::join(slice, ","), shape->ToString()));
    }
  }
  return absl::OkStatus();
}

// How many pairs may name one device as source, or as target: in place, as many as operand 2, or with several
// inputs its first element, has elements (XLA's verifier has this rule, also where those
// are the components of one start).
int64_t MaxPairsOfOne(const InferContext& context) {
  if (!IsInPlace(context.attributes()) || context.num_operands() != 4) return 1;
  const Shape* starts = &context.operand(2);
  if (!context.operand(0).IsArray() && starts->IsTuple() && !starts->elements().empty())
    starts = &starts->element(0);
  return starts->IsTuple() ? std::max<int64_t>(std::ssize(starts->elements()), 1) : 1;
}

absl::StatusOr<Shape> InferCollectivePermute(const InferContext& context) {
  ASSAY_RETURN_IF_ERROR(
      CheckSourceTargetPairs(CountsFor(context), context.attributes(), MaxPairsOfOne(context)));
  if (IsInPlace(context.attributes())) {
    ASSAY_RETURN_IF_ERROR(CheckInPlace(context));
    return context.operand(1);
  }
  ASSAY_RETURN_IF_ERROR(RequireArrays(context, "CollectivePermute"));
  return BareOrTuple(OperandShapes(context));
}

// Start k of `starts`, clamped so that the slice lies within `shape`.
DimVector StartWithin(const Literal& starts, size_t k, const Ints& slice, const Shape& shape) {
  const bool is_one = starts.tuple_size() == 0 || !starts.element(0).shape().IsTuple();
  const Literal& own = is_one ? starts : starts.element(static_cast<int64_t>(k));
  DimVector start(slice.size());
  for (size_t d = 0; d < start.size(); ++d) {
    const Literal& component = own.element(static_cast<int64_t>(d));
    const int64_t value = LoadIndex(component.shape().element_type(), component.data());
    start[d] = std::clamp<int64_t>(value, 0, shape.size(static_cast<int64_t>(d)) - slice[d]);
  }
  return start;
}

// Writes the slices of what `sender` contributed into the result of `receiver`.
absl::Status MoveSlices(EvalContext& context, const std::vector<Literal>& sender,
                        const std::vector<Literal>& receiver, Literal& result) {
  const IntLists& slices = context.attributes().Lists(Attr::kSliceSizes);
  const ArrayView x(sender[0]);
  Meter meter(context);
  for (size_t k = 0; k < slices.size(); ++k) {
    const DimVector from = StartWithin(sender[2], k, slices[k], sender[0].shape());
    const DimVector to = StartWithin(receiver[3], k, slices[k], result.shape());
    const MutableArrayView out(result);
    DimVector source(from.size()), target(to.size());
    for (IndexWalk i(slices[k]); !i.done(); i.Next()) {
      for (size_t d = 0; d < source.size(); ++d) {
        source[d] = from[d] + i[d];
        target[d] = to[d] + i[d];
      }
      std::memcpy(out.At(target), x.At(source), x.element_bytes());
      ASSAY_RETURN_IF_ERROR(meter.Add(1));
    }
  }
  return meter.Flush();
}

bool NamesOneTwice(const IntLists& pairs) {
  for (const size_t side : {0, 1}) {
    std::vector<int64_t> ids;
    for (const Ints& pair : pairs) ids.push_back(pair[side]);
    std::sort(ids.begin(), ids.end());
    if (std::adjacent_find(ids.begin(), ids.end()) != ids.end()) return true;
  }
  return false;
}

// What a target gets: the operands of its source; zeros, or the output as it was, where it has none.
absl::StatusOr<Literal> Permuted(EvalContext& context, std::span<Literal> operands,
                                 const std::shared_ptr<const Shape>& shape) {
  DeviceLink& device = context.device();
  const AttributeMap& attributes = context.attributes();
  const bool is_in_place = IsInPlace(attributes);
  if (is_in_place && (!operands[0].shape().IsArray() || !operands[1].shape().IsArray()))
    return NotSupported({}, "CollectivePermute-C4: the in-place form of tuples");
  if (is_in_place && NamesOneTwice(attributes.Lists(Attr::kSourceTargetPairs))) {
    return NotSupported(
        {},
        "CollectivePermute-C4: the in-place form with several pairs of one source or target, of which "
        "no document says which slice each moves");
  }
  const IdKind kind = IdKindOf(attributes, /*has_global_ids=*/false);
  const DevicePairs pairs =
      PairsOf(device.grid(), attributes.Lists(Attr::kSourceTargetPairs), kind, device.id());
  // All devices that are named meet, whoever gives to whom (Decision: permute-members).
  std::vector<int64_t> members;
  for (const auto& [source, target] : pairs) members.insert(members.end(), {source, target});
  std::sort(members.begin(), members.end());
  members.erase(std::unique(members.begin(), members.end()), members.end());
  if (!std::binary_search(members.begin(), members.end(), device.id())) {
    if (is_in_place) return std::move(operands[1]);
    return context.NewLiteral(shape, /*zero=*/true);
  }
  const auto number = [&](int64_t id) {
    return static_cast<size_t>(std::lower_bound(members.begin(), members.end(), id) - members.begin());
  };
  const auto combine = [&](Contributions contributions) -> absl::StatusOr<std::vector<Literal>> {
    if (is_in_place) {
      std::vector<Literal> outputs;
      for (const std::vector<Literal>& member : contributions) outputs.push_back(member[1]);
      for (const auto& [source, target] : pairs) {
        ASSAY_RETURN_IF_ERROR(outputs[number(target)].Unshare());
        ASSAY_RETURN_IF_ERROR(MoveSlices(context, contributions[number(source)],
                                         contributions[number(target)], outputs[number(target)]));
      }
      return outputs;
    }
    ASSAY_ASSIGN_OR_RETURN(const Literal zeros, context.NewLiteral(shape, /*zero=*/true));
    std::vector<Literal> results(contributions.size(), zeros);
    for (const auto& [source, target] : pairs)
      results[number(target)] = Bundle(shape, contributions[number(source)]);
    return results;
  };
  return device.Rendezvous(
      context.instruction(), members,
      {std::make_move_iterator(operands.begin()), std::make_move_iterator(operands.end())}, combine);
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
  // In place, the input alone stands in the state.
  std::vector<Literal> elements = {IsInPlace(context.attributes())
                                       ? operands[0]
                                       : Bundle(ShapePart(shape, 0), {operands.begin(), operands.end()})};
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
    .bound = bound::Moved,
    .audit = audit::Nothing,
    .moves = {.operands = MoveDef::kAll, .or_zero = true},
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
    .bound = bound::CollectivePermuteStart,
    .audit = audit::Nothing,
    .channel = Channel::kCollective,
    .has_side_effect = true,
};
constinit const OpDef ops::CollectivePermuteDone = {.operands = Exactly(1),
                                                    .types = kArrayTypes,
                                                    .infer = InferCollectivePermuteDone,
                                                    .eval = EvalDoneElement1,
                                                    .work = work::Move,
                                                    .bound = bound::EndOfPair,
                                                    .audit = audit::Nothing};

}  // namespace assay
