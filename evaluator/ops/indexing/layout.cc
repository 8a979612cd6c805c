// Ops that place every element of the operand anew: broadcast, reshape, transpose, reverse, copy
// (docs/spec/operations-shape.md; DYN-7 of docs/spec/shapes.md for run-time sizes). bitcast, the one op that
// sees layouts, is in bitcast.cc; dynamic-reshape in dynamic.cc.
#include <algorithm>

#include "evaluator/audits/rules.h"
#include "evaluator/bounds/rules.h"
#include "evaluator/element_moves.h"
#include "evaluator/open_sizes.h"
#include "evaluator/ops/indexing/repack.h"
#include "evaluator/shape_rules.h"

namespace assay {
namespace {

// --- broadcast ---
//
// out[I] = operand[I[dimensions[0]], I[dimensions[1]], ...]; dimensions are in any order.

// Decision: left-out-broadcast
// Where the shape is left out, `dimensions` are sizes in front of the operand's, as XLA's parser has it.
absl::StatusOr<Shape> BroadcastBySizes(const Shape& operand, std::span<const int64_t> dimensions) {
  DimVector sizes(dimensions.begin(), dimensions.end());
  sizes.insert(sizes.end(), operand.sizes().begin(), operand.sizes().end());
  ASSAY_ASSIGN_OR_RETURN(Shape result, Shape::Array(operand.element_type(), sizes));
  const int64_t added = std::ssize(dimensions);
  for (int64_t d = 0; d < operand.rank(); ++d) result.set_dynamic(added + d, operand.is_dynamic(d));
  return result;
}

absl::StatusOr<Shape> InferBroadcast(const InferContext& context) {
  ASSAY_RETURN_IF_ERROR(RequireArray(context, 0, "Broadcast-C1"));
  const Shape& operand = context.operand(0);
  const auto dimensions = context.attributes().List(Attr::kDimensions);
  ASSAY_ASSIGN_OR_RETURN(const Shape declared, context.declared != nullptr
                                                   ? absl::StatusOr<Shape>(*context.declared)
                                                   : BroadcastBySizes(operand, dimensions));
  if (!declared.IsArray()) return Violates("Broadcast-C1", "the result is not an array");
  if (static_cast<int64_t>(dimensions.size()) != operand.rank()) {
    return Violates("Broadcast-C3", "dimensions has {} entries, the operand has {} dimensions",
                    dimensions.size(), operand.rank());
  }
  ASSAY_RETURN_IF_ERROR(RequireInRange("Broadcast-C4", "dimensions", dimensions, declared.rank()));
  ASSAY_RETURN_IF_ERROR(RequireDistinct("Broadcast-C4", "dimensions", dimensions));
  for (int64_t i = 0; i < operand.rank(); ++i) {
    if (declared.size(dimensions[i]) != operand.size(i)) {
      return Violates("Broadcast-C5",
                      "dimension {} of the result has size {}, dimension {} of the operand {}", dimensions[i],
                      declared.size(dimensions[i]), i, operand.size(i));
    }
  }
  if (declared.element_type() != operand.element_type()) {
    return Violates("Broadcast-C6", "the result has element type {}, the operand {}",
                    Name(declared.element_type()), Name(operand.element_type()));
  }
  return MakeArray(operand.element_type(), declared.sizes(), [&](int64_t d) {
    const auto at = std::find(dimensions.begin(), dimensions.end(), d);
    return at == dimensions.end() ? declared.is_dynamic(d) : operand.is_dynamic(at - dimensions.begin());
  });
}

absl::StatusOr<Literal> EvalBroadcast(EvalContext& context, std::span<Literal> operands) {
  const Literal& operand = operands[0];
  const auto dimensions = context.attributes().List(Attr::kDimensions);
  const auto bounds = context.result_shape().sizes();
  DimVector sizes(bounds.begin(), bounds.end());
  for (size_t d = 0; d < dimensions.size(); ++d) sizes[dimensions[d]] = operand.dynamic_size(d);
  ASSAY_ASSIGN_OR_RETURN(Literal result, NewSizedResult(context, sizes));
  const auto from = [&](Index i, DimVector& j) {
    for (size_t d = 0; d < dimensions.size(); ++d) j[d] = i[dimensions[d]];
  };
  ASSAY_RETURN_IF_ERROR(TakeElements(context, sizes, operand, from, result));
  return result;
}

// --- reshape ---
//
// The elements in row-major order, whatever the layouts: out[I] = operand[J] where I and J have the same
// row-major position. Of a dynamic operand the live elements fill the live result.

absl::StatusOr<Shape> InferReshape(const InferContext& context) {
  ASSAY_RETURN_IF_ERROR(RequireArray(context, 0, "Reshape-C1"));
  ASSAY_ASSIGN_OR_RETURN(Shape declared, context.Declared());
  const Shape& operand = context.operand(0);
  if (!declared.IsArray()) return Violates("Reshape-C1", "the result is not an array");
  if (declared.element_type() != operand.element_type()) {
    return Violates("Reshape-C1", "the result has element type {}, the operand {}",
                    Name(declared.element_type()), Name(operand.element_type()));
  }
  if (declared.HasUnbounded()) return NotSupported({}, "DYN-2: unbounded dynamism in the result");
  if (declared.num_elements() != operand.num_elements()) {
    return Violates("Reshape-C2", "the result has {} elements, the operand {}", declared.num_elements(),
                    operand.num_elements());
  }
  if (!operand.HasDynamic()) return declared;
  const int64_t inferred = context.attributes().Int(Attr::kInferredDimension, -1);
  for (const ReshapeGroup& group : ReshapeGroups(operand.sizes(), declared.sizes())) {
    TransferDynamicFlag(operand, group, inferred, declared);
  }
  return declared;
}

absl::StatusOr<Literal> EvalReshape(EvalContext& context, std::span<Literal> operands) {
  const Literal& operand = operands[0];
  const Shape& shape = context.result_shape();
  if (operand.IsFullSize()) return ShareStorage(context, operand, shape.sizes());
  const int64_t inferred = context.attributes().Int(Attr::kInferredDimension, -1);
  ASSAY_ASSIGN_OR_RETURN(const DimVector sizes, ReshapedSizes(operand, shape, inferred));
  return RepackLive(context, operand, sizes);
}

// --- transpose ---
//
// out[I] = operand[J], J[dimensions[i]] = I[i]; size'[i] = size[dimensions[i]]

absl::StatusOr<Shape> InferTranspose(const InferContext& context) {
  ASSAY_RETURN_IF_ERROR(RequireArray(context, 0, "Transpose-C1"));
  const Shape& operand = context.operand(0);
  const auto permutation = context.attributes().List(Attr::kDimensions);
  if (static_cast<int64_t>(permutation.size()) != operand.rank()) {
    return Violates("Transpose-C1", "dimensions has {} entries, the operand has {} dimensions",
                    permutation.size(), operand.rank());
  }
  ASSAY_RETURN_IF_ERROR(RequireInRange("Transpose-C1", "dimensions", permutation, operand.rank()));
  ASSAY_RETURN_IF_ERROR(RequireDistinct("Transpose-C1", "dimensions", permutation));
  DimVector sizes;
  for (int64_t d : permutation) sizes.push_back(operand.size(d));
  ASSAY_ASSIGN_OR_RETURN(Shape result, MakeArray(operand.element_type(), sizes, [&](int64_t i) {
                           return operand.is_dynamic(permutation[i]);
                         }));
  TakePermutedLayout(operand, permutation, result);
  return result;
}

absl::StatusOr<Literal> EvalTranspose(EvalContext& context, std::span<Literal> operands) {
  const Literal& operand = operands[0];
  const auto permutation = context.attributes().List(Attr::kDimensions);
  DimVector sizes;
  for (int64_t d : permutation) sizes.push_back(operand.dynamic_size(d));
  ASSAY_ASSIGN_OR_RETURN(Literal result, NewSizedResult(context, sizes));
  const auto from = [&](Index i, DimVector& j) {
    for (size_t d = 0; d < permutation.size(); ++d) j[permutation[d]] = i[d];
  };
  ASSAY_RETURN_IF_ERROR(TakeElements(context, sizes, operand, from, result));
  return result;
}

// --- reverse ---
//
// out[I] = operand[J], J[d] = d in dimensions ? size_d - 1 - I[d] : I[d], with run-time sizes

absl::StatusOr<Shape> InferReverse(const InferContext& context) {
  ASSAY_RETURN_IF_ERROR(RequireArray(context, 0, "Rev"));
  const Shape& operand = context.operand(0);
  const auto dimensions = context.attributes().List(Attr::kDimensions);
  ASSAY_RETURN_IF_ERROR(RequireDistinct("Rev-C1", "dimensions", dimensions));
  ASSAY_RETURN_IF_ERROR(RequireInRange("Rev-C2", "dimensions", dimensions, operand.rank()));
  return operand;
}

absl::StatusOr<Literal> EvalReverse(EvalContext& context, std::span<Literal> operands) {
  const Literal& operand = operands[0];
  const DimVector sizes = operand.runtime_sizes();
  const auto dimensions = context.attributes().List(Attr::kDimensions);
  ASSAY_ASSIGN_OR_RETURN(Literal result, NewSizedResult(context, sizes));
  const auto from = [&](Index i, DimVector& j) {
    j.assign(i.begin(), i.end());
    for (int64_t d : dimensions) j[d] = sizes[d] - 1 - i[d];
  };
  ASSAY_RETURN_IF_ERROR(TakeElements(context, sizes, operand, from, result));
  return result;
}

// --- copy ---
//
// out = operand, of any shape; the layout may differ, which no value shows.

absl::StatusOr<Shape> InferCopy(const InferContext& context) { return context.operand(0); }

absl::StatusOr<Literal> EvalCopy(EvalContext& context, std::span<Literal> operands) {
  // The value of a buffer is its array.
  if (!context.result_shape().IsArray()) return std::move(operands[0]);
  return ShareStorage(context, operands[0], operands[0].runtime_sizes());
}

constexpr AttrSpec kBroadcastAttrs[] = {Optional(Attr::kDimensions)};
constexpr AttrSpec kReshapeAttrs[] = {Optional(Attr::kInferredDimension)};
constexpr AttrSpec kPermutationAttrs[] = {Required(Attr::kDimensions)};

std::optional<AffineMap> SourceOfBroadcast(const InstructionView& view) {
  const std::span<const int64_t> dims = view.attributes().List(Attr::kDimensions);
  const DimVector strides = RowMajorStrides(view.operand(0).sizes());
  AffineMap source{0, DimVector(static_cast<size_t>(view.result().rank()), 0)};
  for (size_t d = 0; d < dims.size(); ++d) source.strides[static_cast<size_t>(dims[d])] = strides[d];
  return source;
}

std::optional<AffineMap> SourceOfTranspose(const InstructionView& view) {
  const DimVector strides = RowMajorStrides(view.operand(0).sizes());
  AffineMap source{0, {}};
  for (int64_t d : view.attributes().List(Attr::kDimensions))
    source.strides.push_back(strides[static_cast<size_t>(d)]);
  return source;
}

// The same elements in the same row-major order; of copy, too.
std::optional<AffineMap> SourceOfReshape(const InstructionView& view) {
  if (!view.operand(0).IsArray() || !view.result().IsArray()) return std::nullopt;
  return AffineMap{0, RowMajorStrides(view.result().sizes())};
}

absl::Status OpenSizesOfBroadcast(OpenSizes& sizes) {
  const auto dimensions = sizes.context().attributes().List(Attr::kDimensions);
  for (int64_t d = 0; d < sizes.context().result_shape().rank(); ++d) {
    const auto at = std::find(dimensions.begin(), dimensions.end(), d);
    if (at == dimensions.end() || sizes.IsOpen(0, at - dimensions.begin())) sizes.Open(d);
  }
  return absl::OkStatus();
}

// An open dimension that becomes one dimension, but for such of size 1, stays open.
absl::Status OpenSizesOfReshape(OpenSizes& sizes) {
  const Shape &operand = sizes.shape(0), &result = sizes.context().result_shape();
  for (const ReshapeGroup& group : ReshapeGroups(operand.sizes(), result.sizes())) {
    int64_t from = -1, to = -1, others = 0;
    for (int64_t d = group.in_begin; d < group.in_end; ++d) {
      if (sizes.IsOpen(0, d)) from = d;
      others += operand.size(d) != 1 || operand.is_dynamic(d);
    }
    if (from < 0) continue;
    for (int64_t d = group.out_begin; d < group.out_end; ++d) {
      if (result.size(d) == 1 && !result.is_dynamic(d)) continue;
      ++others;
      to = d;
    }
    if (to < 0 || others != 2) return sizes.Needs(0, from);
    sizes.Open(to);
  }
  return absl::OkStatus();
}

absl::Status OpenSizesOfTranspose(OpenSizes& sizes) {
  const auto permutation = sizes.context().attributes().List(Attr::kDimensions);
  for (size_t i = 0; i < permutation.size(); ++i) {
    if (sizes.IsOpen(0, permutation[i])) sizes.Open(static_cast<int64_t>(i));
  }
  return absl::OkStatus();
}

absl::Status OpenSizesOfReverse(OpenSizes& sizes) {
  for (int64_t d : sizes.context().attributes().List(Attr::kDimensions))
    ASSAY_RETURN_IF_ERROR(sizes.Needs(0, d));
  return open::Elementwise(sizes);
}

}  // namespace

constinit const OpDef ops::Broadcast = {
    .operands = Exactly(1),
    .types = kArrayTypes,
    .attributes = kBroadcastAttrs,
    .infer = InferBroadcast,
    .eval = EvalBroadcast,
    .work = work::Move,
    .bound = bound::Moved,
    .audit = audit::Nothing,
    .moves = {.operands = 1},
    .source = SourceOfBroadcast,
    .open_sizes = OpenSizesOfBroadcast,
};
constinit const OpDef ops::Reshape = {
    .operands = Exactly(1),
    .types = kArrayTypes,
    .attributes = kReshapeAttrs,
    .infer = InferReshape,
    .eval = EvalReshape,
    .work = work::None,
    .bound = bound::Moved,
    .audit = audit::Nothing,
    .moves = {.operands = 1, .in_place = true},
    .source = SourceOfReshape,
    .open_sizes = OpenSizesOfReshape,
};
constinit const OpDef ops::Transpose = {
    .operands = Exactly(1),
    .types = kArrayTypes,
    .attributes = kPermutationAttrs,
    .infer = InferTranspose,
    .eval = EvalTranspose,
    .work = work::Move,
    .bound = bound::Moved,
    .audit = audit::Nothing,
    .moves = {.operands = 1},
    .source = SourceOfTranspose,
    .open_sizes = OpenSizesOfTranspose,
};
constinit const OpDef ops::Reverse = {
    .operands = Exactly(1),
    .types = kArrayTypes,
    .attributes = kPermutationAttrs,
    .infer = InferReverse,
    .eval = EvalReverse,
    .work = work::Move,
    .bound = bound::Moved,
    .audit = audit::Nothing,
    .moves = {.operands = 1},
    .open_sizes = OpenSizesOfReverse,
};
constinit const OpDef ops::Copy = {
    .operands = Exactly(1),
    .types = kArrayTypes,
    .attributes = {},
    .infer = InferCopy,
    .eval = EvalCopy,
    .work = work::None,
    .bound = bound::Passed,
    .audit = audit::Nothing,
    .moves = {.operands = 1, .in_place = true},
    .source = SourceOfReshape,
    .open_sizes = open::Elementwise,
};

}  // namespace assay
