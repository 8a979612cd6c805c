// Run-time sizes: get-dimension-size, set-dimension-size, dynamic-reshape (docs/spec/operations-shape.md;
// DYN-1 to DYN-7 of docs/spec/shapes.md), and the custom calls PadToStatic and SliceToDynamic.
#include "evaluator/ops/indexing/dynamic.h"

#include <cstring>

#include "base/checked.h"
#include "base/counted.h"
#include "evaluator/audits/rules.h"
#include "evaluator/bounds/rules.h"
#include "evaluator/open_sizes.h"
#include "evaluator/ops/indexing/repack.h"
#include "evaluator/runtime_sizes.h"
#include "evaluator/shape_rules.h"
#include "fmt/format.h"
#include "literal/element_io.h"

namespace assay {
namespace {

constexpr int64_t kMaxBound = 0x7fffffff;  // sizes travel as s32

absl::StatusOr<int64_t> InferSizedDimension(const InferContext& context, std::string_view op,
                                            std::string_view bound_label) {
  ASSAY_RETURN_IF_ERROR(RequireArray(context, 0, fmt::format("{}-C1", op)));
  ASSAY_ASSIGN_OR_RETURN(const int64_t d, SingleDimension(context, fmt::format("{}-C2", op)));
  const int64_t bound = context.operand(0).size(d);
  if (bound > kMaxBound) {
    return Violates(bound_label, "dimension {} has size {}, more than {}", d, bound, kMaxBound);
  }
  return d;
}

int64_t ReadS32(const Literal& scalar) { return LoadIndex(ElementType::kS32, scalar.data()); }

// --- get-dimension-size ---
//
// out = run-time size of dimension d of the operand

absl::StatusOr<Shape> InferGetDimensionSize(const InferContext& context) {
  ASSAY_RETURN_IF_ERROR(InferSizedDimension(context, "GetDimensionSize", "GetDimensionSize-C3").status());
  return Shape::Scalar(ElementType::kS32);
}

absl::StatusOr<Literal> EvalGetDimensionSize(EvalContext& context, std::span<Literal> operands) {
  const int64_t d = context.attributes().List(Attr::kDimensions)[0];
  ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult());
  const int32_t size = static_cast<int32_t>(operands[0].dynamic_size(d));
  std::memcpy(result.MutableBytes().data(), &size, sizeof(size));
  return result;
}

// --- set-dimension-size ---
//
// out = operand, with run-time size n along d; what is then dead is zeroed

absl::StatusOr<Shape> InferSetDimensionSize(const InferContext& context) {
  ASSAY_ASSIGN_OR_RETURN(const int64_t d,
                         InferSizedDimension(context, "SetDimensionSize", "SetDimensionSize-C4"));
  if (!context.operand(1).IsScalar(ElementType::kS32)) {
    return Violates("SetDimensionSize-C3", "the size is {}, wanted s32[]", context.operand(1).ToString());
  }
  const Shape& operand = context.operand(0);
  // A result declared static says that the size is the bound, which evaluation checks.
  // Decision: set-dimension-size-static
  const Shape* declared = context.declared;
  const bool stays_static =
      declared && declared->IsArray() && declared->rank() == operand.rank() && !declared->is_dynamic(d);
  Shape result = operand;
  result.set_dynamic(d, !stays_static);
  return result;
}

// The operand with run-time sizes `sizes`: what is then dead is zeroed.
absl::StatusOr<Literal> WithRuntimeSizes(EvalContext& context, Literal&& operand,
                                         std::span<const int64_t> sizes) {
  bool shrinks = false;
  for (size_t d = 0; d < sizes.size(); ++d)
    shrinks |= sizes[d] < operand.dynamic_size(static_cast<int64_t>(d));
  if (!shrinks) return ShareStorage(context, operand, sizes);
  ASSAY_ASSIGN_OR_RETURN(Literal writable, Writable(context, std::move(operand)));
  ASSAY_ASSIGN_OR_RETURN(Literal result, ShareStorage(context, writable, sizes));
  writable = Literal();
  result.ClearDeadElements();
  return result;
}

absl::StatusOr<Literal> EvalSetDimensionSize(EvalContext& context, std::span<Literal> operands) {
  const int64_t d = context.attributes().List(Attr::kDimensions)[0];
  const int64_t n = ReadS32(operands[1]);
  const int64_t bound = operands[0].shape().size(d);
  if (n < 0 || n > bound) {
    return EvalError(
        context.instruction().position,
        fmt::format("SetDimensionSize-C5: size {} of dimension {}, wanted 0 to {}", n, d, bound));
  }
  DimVector sizes = operands[0].runtime_sizes();
  sizes[d] = n;
  return WithRuntimeSizes(context, std::move(operands[0]), sizes);
}

// --- dynamic-reshape ---
//
// The live elements of the operand in row-major order become those of a result of run-time sizes n0, n1, ...

absl::StatusOr<Shape> InferDynamicReshape(const InferContext& context) {
  ASSAY_RETURN_IF_ERROR(RequireArray(context, 0, "DynamicReshape-C1"));
  ASSAY_ASSIGN_OR_RETURN(Shape declared, context.Declared());
  const Shape& operand = context.operand(0);
  if (!declared.IsArray() || declared.element_type() != operand.element_type()) {
    return Violates("DynamicReshape-C1", "the result is {}, wanted an array of {}", declared.ToString(),
                    Name(operand.element_type()));
  }
  if (context.num_operands() != 1 + declared.rank()) {
    return Violates("DynamicReshape-C1", "{} size operands for {} result dimensions",
                    context.num_operands() - 1, declared.rank());
  }
  for (int64_t i = 1; i < context.num_operands(); ++i) {
    if (!context.operand(i).IsScalar(ElementType::kS32)) {
      return Violates("DynamicReshape-C1", "size operand {} is {}, wanted s32[]", i - 1,
                      context.operand(i).ToString());
    }
  }
  if (declared.HasUnbounded()) return NotSupported({}, "DYN-2: unbounded dynamism in the result");
  if (declared.num_elements() != operand.num_elements()) {
    return Violates("DynamicReshape-C2", "the result's bounds hold {} elements, the operand's {}",
                    declared.num_elements(), operand.num_elements());
  }
  return declared;
}

absl::StatusOr<Literal> EvalDynamicReshape(EvalContext& context, std::span<Literal> operands) {
  const Shape& shape = context.result_shape();
  const SourcePosition where = context.instruction().position;
  DimVector sizes;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    const int64_t n = ReadS32(operands[1 + d]);
    if (n < 0 || n > shape.size(d) || (n != shape.size(d) && !shape.is_dynamic(d))) {
      return EvalError(
          where, fmt::format("DynamicReshape-C3: size {} for dimension {} of {}", n, d, shape.ToString()));
    }
    sizes.push_back(n);
  }
  const int64_t live = CheckedProduct(operands[0].runtime_sizes()).value_or(0);
  const int64_t wanted = CheckedProduct(sizes).value_or(0);
  if (live != wanted) {
    return EvalError(where, fmt::format("DynamicReshape-C3: the sizes hold {}, the operand has {}",
                                        Counted(wanted, "element"), live));
  }
  if (operands[0].IsFullSize()) return ShareStorage(context, operands[0], sizes);
  return RepackLive(context, operands[0], sizes);
}

constexpr AttrSpec kSizeAttrs[] = {Required(Attr::kDimensions)};

void DemandsOfSetDimensionSize(const InstructionView& view, std::vector<OperandDemand>& demands) {
  const int64_t dimension = view.attributes().List(Attr::kDimensions)[0];
  demands.push_back({1, demand::OneRange(0, view.operand(0).size(dimension))});
}

// Other sizes than the largest ones would have to go with the operand's.
void DemandsOfDynamicReshape(const InstructionView& view, std::vector<OperandDemand>& demands) {
  const Shape& result = view.result();
  for (int64_t d = 0; d < result.rank(); ++d)
    demands.push_back({d + 1, demand::OneRange(result.size(d), result.size(d))});
}

absl::Status OpenSizesOfGetDimensionSize(OpenSizes& sizes) {
  return sizes.Needs(0, sizes.context().attributes().List(Attr::kDimensions)[0]);
}

absl::Status OpenSizesOfSetDimensionSize(OpenSizes& sizes) {
  const int64_t set = sizes.context().attributes().List(Attr::kDimensions)[0];
  for (int64_t d = 0; d < sizes.shape(0).rank(); ++d) {
    if (d != set && sizes.IsOpen(0, d)) sizes.Open(d);
  }
  return absl::OkStatus();
}

}  // namespace

// --- PadToStatic, SliceToDynamic ---
//
// PadToStatic(x) = (the elements of x, zero where x has dead ones; the run-time size of
// dimension 0; of dimension 1; …) SliceToDynamic(x, n0, n1, …) = x with run-time sizes n0, n1, …: the element
// at each live index stays there
//
// Decision: pad-to-static

namespace {

absl::Status CheckSizeScalars(std::string_view target, std::span<const Shape* const> sizes, int64_t rank) {
  if (std::ssize(sizes) != rank) {
    return InvalidProgram({}, fmt::format("CustomCall: {} has {} for an array of {}", target,
                                          Counted(sizes.size(), "size"), Counted(rank, "dimension")));
  }
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d]->IsScalar(ElementType::kS32)) continue;
    return InvalidProgram({}, fmt::format("CustomCall: {}: the size of dimension {} is {}, wanted s32[]",
                                          target, d, sizes[d]->ToString()));
  }
  return absl::OkStatus();
}

absl::Status CheckSameArray(std::string_view target, const Shape& operand, const Shape& result) {
  if (operand.IsArray() && result.IsArray() && !operand.HasUnbounded() && !result.HasUnbounded() &&
      Shape::Compatible(operand, result)) {
    return absl::OkStatus();
  }
  return InvalidProgram(
      {}, fmt::format("CustomCall: {} of {} can't give {}", target, operand.ToString(), result.ToString()));
}

absl::Status CheckSizeBounds(const EvalContext& context, std::span<const int64_t> sizes) {
  const Shape& shape = context.result_shape();
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (sizes[d] >= 0 && sizes[d] <= shape.size(d)) continue;
    return EvalError(context.instruction().position,
                     fmt::format("CustomCall: SliceToDynamic: size {} of dimension {}, wanted 0 to {}",
                                 sizes[d], d, shape.size(d)));
  }
  return absl::OkStatus();
}

}  // namespace

bool IsSizeCall(std::string_view target) { return target == "PadToStatic" || target == "SliceToDynamic"; }

absl::Status VerifySizeCall(const InferContext& context, const Shape& result) {
  const std::string_view target = context.attributes().Text(Attr::kCustomCallTarget);
  const bool pads = target == "PadToStatic";
  if (context.num_operands() < 1 || (pads && context.num_operands() > 1)) {
    return InvalidProgram({}, fmt::format("CustomCall: {} has {}, wanted {}", target,
                                          Counted(context.num_operands(), "operand"),
                                          pads ? "1" : "an array and the size of each dimension"));
  }
  if (!pads) {
    ASSAY_RETURN_IF_ERROR(CheckSameArray(target, context.operand(0), result));
    return CheckSizeScalars(target, context.operands.subspan(1), result.rank());
  }
  if (!result.IsTuple() || result.elements().empty() || HasDynamicDimension(result)) {
    return InvalidProgram({},
                          fmt::format("CustomCall: PadToStatic gives {}, wanted a tuple of a static array "
                                      "and the size of each dimension",
                                      result.ToString()));
  }
  ASSAY_RETURN_IF_ERROR(CheckSameArray(target, context.operand(0), result.element(0)));
  for (int64_t size : result.element(0).sizes()) {
    if (size <= kMaxBound) continue;
    return InvalidProgram({}, fmt::format("CustomCall: PadToStatic of {}: a size is more than {}",
                                          result.ToString(), kMaxBound));
  }
  std::vector<const Shape*> sizes;
  for (size_t i = 1; i < result.elements().size(); ++i) sizes.push_back(&result.elements()[i]);
  return CheckSizeScalars(target, sizes, result.element(0).rank());
}

absl::StatusOr<Literal> EvalSizeCall(EvalContext& context, std::span<Literal> operands) {
  const Shape& shape = context.result_shape();
  if (shape.IsTuple()) {
    std::vector<Literal> results = {operands[0].WithShape(
        std::shared_ptr<const Shape>(context.shared_result_shape(), &shape.element(0)))};
    for (int64_t size : operands[0].runtime_sizes())
      results.push_back(Literal::ScalarInt(ElementType::kS32, size));
    return Literal::Tuple(context.shared_result_shape(), std::move(results));
  }
  DimVector sizes;
  for (const Literal& size : operands.subspan(1)) sizes.push_back(ReadS32(size));
  ASSAY_RETURN_IF_ERROR(CheckSizeBounds(context, sizes));
  return WithRuntimeSizes(context, std::move(operands[0]), sizes);
}

constinit const OpDef ops::GetDimensionSize = {
    .operands = Exactly(1),
    .types = kArrayTypes,
    .attributes = kSizeAttrs,
    .infer = InferGetDimensionSize,
    .eval = EvalGetDimensionSize,
    .work = work::None,
    .bound = bound::Exact,
    .audit = audit::Nothing,
    .open_sizes = OpenSizesOfGetDimensionSize,
};
constinit const OpDef ops::SetDimensionSize = {
    .operands = Exactly(2),
    .types = kArrayTypes,
    .attributes = kSizeAttrs,
    .infer = InferSetDimensionSize,
    .eval = EvalSetDimensionSize,
    .work = work::None,
    .bound = bound::Moved,
    .audit = audit::Nothing,
    .moves = {.operands = 1},
    .demands = DemandsOfSetDimensionSize,
    .open_sizes = OpenSizesOfSetDimensionSize,
};
constinit const OpDef ops::DynamicReshape = {
    .operands = AtLeast(1),
    .types = kArrayTypes,
    .attributes = {},
    .infer = InferDynamicReshape,
    .eval = EvalDynamicReshape,
    .work = work::None,
    .bound = bound::Moved,
    .audit = audit::Nothing,
    .moves = {.operands = 1},
    .demands = DemandsOfDynamicReshape,
};

}  // namespace assay
