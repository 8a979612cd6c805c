// Shape and data movement (docs/spec/operations-shape.md).
#include "base/checked.h"
#include "base/counted.h"
#include "builder/internal.h"

namespace assay::builder {
namespace {

AttributeMap WithDimensions(Ints dimensions) {
  return Attributes({{Attr::kDimensions, std::move(dimensions)}});
}

// `d` is a dimension of the shape, else "LABEL: ...".
absl::Status CheckDimensionOf(int64_t d, const Shape& shape, std::string_view label) {
  if (d >= 0 && d < shape.rank()) return absl::OkStatus();
  return InvalidProgram({}, fmt::format("{}: dimension {} of {}", label, d, shape.ToString()));
}

}  // namespace

// out[i0..ik-1, J] = op[J].
XlaOp Broadcast(XlaOp operand, Int64s broadcast_sizes) {
  XlaBuilder* const builder = operand.builder();
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_ASSIGN_OR_RETURN(const Shape* shape, ArrayShape(builder, operand, "Broadcast-C1"));
    Ints sizes = ToInts(broadcast_sizes), dimensions;
    for (int64_t d = 0; d < shape->rank(); ++d) {
      dimensions.push_back(static_cast<int64_t>(sizes.size()));
      sizes.push_back(shape->size(d));
    }
    return AddBroadcast(builder, operand, sizes, dimensions);
  });
}

// out[I] = op[J], J[i] = operand size i == 1 ? 0 : I[bd[i]].
XlaOp BroadcastInDim(XlaOp operand, Int64s out_dim_size, Int64s broadcast_dimensions) {
  XlaBuilder* const builder = operand.builder();
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_ASSIGN_OR_RETURN(const Shape* shape, ArrayShape(builder, operand, "BroadcastInDim-C1"));
    const auto out_rank = static_cast<int64_t>(out_dim_size.size());
    if (shape->rank() > out_rank) {
      return InvalidProgram(
          {}, fmt::format("BroadcastInDim-C1: operand rank is {}, output rank {}", shape->rank(), out_rank));
    }
    if (static_cast<int64_t>(broadcast_dimensions.size()) != shape->rank()) {
      return InvalidProgram({}, fmt::format("BroadcastInDim-C2: {} broadcast dimensions, operand rank is {}",
                                            broadcast_dimensions.size(), shape->rank()));
    }
    Ints kept_sizes, kept_dimensions;
    for (int64_t i = 0; i < shape->rank(); ++i) {
      const int64_t d = broadcast_dimensions[i];
      if (d < 0 || d >= out_rank) {
        return InvalidProgram(
            {}, fmt::format("BroadcastInDim-C3: broadcast dimension {}, output rank is {}", d, out_rank));
      }
      if (i > 0 && broadcast_dimensions[i - 1] >= d) {
        return InvalidProgram(
            {}, fmt::format("BroadcastInDim-C4: broadcast dimension {} after {}, wanted increasing", d,
                            broadcast_dimensions[i - 1]));
      }
      if (shape->size(i) != 1 && shape->size(i) != out_dim_size[d]) {
        return InvalidProgram({},
                              fmt::format("BroadcastInDim-C5: operand size {} is {}, output size {} is {}", i,
                                          shape->size(i), d, out_dim_size[d]));
      }
      if (shape->size(i) != out_dim_size[d]) continue;
      kept_sizes.push_back(shape->size(i));
      kept_dimensions.push_back(d);
    }
    XlaOp kept = operand;
    if (kept_sizes.size() != shape->sizes().size()) {
      ASSAY_ASSIGN_OR_RETURN(kept, AddReshape(builder, operand, kept_sizes));
    }
    return AddBroadcast(builder, kept, out_dim_size, kept_dimensions);
  });
}

// The dimensions become one, of the product of their sizes, at the first one's place.
XlaOp Collapse(XlaOp operand, Int64s dimensions) {
  XlaBuilder* const builder = operand.builder();
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_ASSIGN_OR_RETURN(const Shape* shape, ArrayShape(builder, operand, "Collapse-C2"));
    for (size_t i = 0; i < dimensions.size(); ++i) {
      ASSAY_RETURN_IF_ERROR(CheckDimensionOf(dimensions[i], *shape, "Collapse-C2"));
      if (i == 0 || dimensions[i] == dimensions[i - 1] + 1) continue;
      return InvalidProgram({}, fmt::format("Collapse-C1: dimension {} after {}, wanted consecutive",
                                            dimensions[i], dimensions[i - 1]));
    }
    if (dimensions.size() < 2) return operand;
    Ints sizes;
    for (int64_t d = 0; d < shape->rank(); ++d) {
      if (d > dimensions.front() && d <= dimensions.back()) {
        const auto product = CheckedMul(sizes.back(), shape->size(d));
        if (!product) return InvalidProgram({}, "Collapse: the product of the sizes is too large");
        sizes.back() = *product;
      } else {
        sizes.push_back(shape->size(d));
      }
    }
    return AddReshape(builder, operand, sizes);
  });
}

XlaOp Concatenate(Ops operands, int64_t dimension) {
  return ConcatInDim(BuilderOf(operands), operands, dimension);
}

XlaOp ConcatInDim(XlaBuilder* builder, Ops operands, int64_t dimension) {
  return Emit(builder, {Opcode::kConcatenate, ToOps(operands), WithDimensions({dimension})});
}

XlaOp Copy(XlaOp operand) { return Emit(operand.builder(), {Opcode::kCopy, {operand}}); }

XlaOp DynamicReshape(XlaOp operand, Ops dim_sizes, Int64s new_size_bounds,
                     const std::vector<bool>& dims_are_dynamic) {
  XlaBuilder* const builder = operand.builder();
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_ASSIGN_OR_RETURN(const Shape* from, ArrayShape(builder, operand, "DynamicReshape-C1"));
    if (dims_are_dynamic.size() != new_size_bounds.size() || dim_sizes.size() != new_size_bounds.size()) {
      return InvalidProgram(
          {}, fmt::format("DynamicReshape-C1: {}, {}, {} dynamic flags", Counted(dim_sizes.size(), "size"),
                          Counted(new_size_bounds.size(), "bound"), dims_are_dynamic.size()));
    }
    ASSAY_ASSIGN_OR_RETURN(Shape shape, Shape::Array(from->element_type(), AsSpan(new_size_bounds)));
    for (int64_t d = 0; d < shape.rank(); ++d) shape.set_dynamic(d, dims_are_dynamic[d]);
    std::vector<XlaOp> operands = {operand};
    operands.insert(operands.end(), dim_sizes.begin(), dim_sizes.end());
    return builder->Add({Opcode::kDynamicReshape, std::move(operands), {}, Shared(std::move(shape))});
  });
}

XlaOp DynamicSlice(XlaOp operand, Ops start_indices, Int64s slice_sizes) {
  std::vector<XlaOp> operands = {operand};
  operands.insert(operands.end(), start_indices.begin(), start_indices.end());
  return Emit(operand.builder(), {Opcode::kDynamicSlice, std::move(operands),
                                  Attributes({{Attr::kDynamicSliceSizes, ToInts(slice_sizes)}})});
}

XlaOp DynamicUpdateSlice(XlaOp operand, XlaOp update, Ops start_indices) {
  std::vector<XlaOp> operands = {operand, update};
  operands.insert(operands.end(), start_indices.begin(), start_indices.end());
  return Emit(BuilderOf({operand, update}), {Opcode::kDynamicUpdateSlice, std::move(operands)});
}

XlaOp Gather(XlaOp operand, XlaOp start_indices, const GatherDimensionNumbers& dimension_numbers,
             Int64s slice_sizes, bool indices_are_sorted) {
  const GatherDimensionNumbers& d = dimension_numbers;
  AttributeMap attributes = Attributes({{Attr::kOffsetDims, d.offset_dims},
                                        {Attr::kCollapsedSliceDims, d.collapsed_slice_dims},
                                        {Attr::kStartIndexMap, d.start_index_map},
                                        {Attr::kIndexVectorDim, d.index_vector_dim},
                                        {Attr::kSliceSizes, ToInts(slice_sizes)}});
  if (!d.operand_batching_dims.empty() || !d.start_indices_batching_dims.empty()) {
    attributes.Set(Attr::kOperandBatchingDims, d.operand_batching_dims);
    attributes.Set(Attr::kStartIndicesBatchingDims, d.start_indices_batching_dims);
  }
  if (indices_are_sorted) attributes.Set(Attr::kIndicesAreSorted, true);
  return Emit(BuilderOf({operand, start_indices}),
              {Opcode::kGather, {operand, start_indices}, std::move(attributes)});
}

XlaOp GetDimensionSize(XlaOp operand, int64_t dimension) {
  return Emit(operand.builder(), {Opcode::kGetDimensionSize, {operand}, WithDimensions({dimension})});
}

XlaOp Pad(XlaOp operand, XlaOp padding_value, const PaddingConfig& padding_config) {
  return Emit(BuilderOf({operand, padding_value}),
              {Opcode::kPad, {operand, padding_value}, Attributes({{Attr::kPadding, padding_config}})});
}

XlaOp PadInDim(XlaOp operand, XlaOp padding_value, int64_t dimno, int64_t pad_lo, int64_t pad_hi) {
  XlaBuilder* const builder = BuilderOf({operand, padding_value});
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_ASSIGN_OR_RETURN(const Shape* shape, ArrayShape(builder, operand, "Pad-C1"));
    ASSAY_RETURN_IF_ERROR(CheckDimensionOf(dimno, *shape, "Pad-C3"));
    PaddingConfig config(shape->rank());
    config[dimno] = {pad_lo, pad_hi, 0};
    return Pad(operand, padding_value, config);
  });
}

// The run-time size becomes the bound; dead elements become live with value zero.
XlaOp RemoveDynamicDimension(XlaOp operand, int64_t dimension) {
  XlaBuilder* const builder = operand.builder();
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_ASSIGN_OR_RETURN(const Shape* shape, ArrayShape(builder, operand, "SetDimensionSize-C1"));
    ASSAY_RETURN_IF_ERROR(CheckDimensionOf(dimension, *shape, "SetDimensionSize-C2"));
    const int64_t bound = shape->size(dimension);
    if (bound < 0 || bound > std::numeric_limits<int32_t>::max()) {
      return InvalidProgram(
          {}, fmt::format("SetDimensionSize-C4: bound is {}, wanted at most 2147483647", bound));
    }
    return SetDimensionSize(operand, ConstantR0<int32_t>(builder, static_cast<int32_t>(bound)), dimension);
  });
}

XlaOp Reshape(XlaOp operand, Int64s dimensions) {
  return ReshapeWithInferredDimension(operand, dimensions, -1);
}

XlaOp Reshape(const Shape& shape, XlaOp operand) {
  return Emit(operand.builder(), {Opcode::kReshape, {operand}, {}, Shared(shape)});
}

XlaOp ReshapeWithInferredDimension(XlaOp operand, Int64s new_sizes, int64_t inferred_dimension) {
  XlaBuilder* const builder = operand.builder();
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_RETURN_IF_ERROR(ArrayShape(builder, operand, "Reshape-C1").status());
    if (inferred_dimension < 0) return AddReshape(builder, operand, new_sizes);
    ASSAY_ASSIGN_OR_RETURN(const Shape* from, builder->GetShapePtr(operand));
    ASSAY_ASSIGN_OR_RETURN(Shape shape, Shape::Array(from->element_type(), AsSpan(new_sizes)));
    return builder->Add({Opcode::kReshape,
                         {operand},
                         Attributes({{Attr::kInferredDimension, inferred_dimension}}),
                         Shared(std::move(shape))});
  });
}

XlaOp Rev(XlaOp operand, Int64s dimensions) {
  return Emit(operand.builder(), {Opcode::kReverse, {operand}, WithDimensions(ToInts(dimensions))});
}

XlaOp Scatter(XlaOp operand, XlaOp scatter_indices, XlaOp updates, const XlaComputation& update_computation,
              const ScatterDimensionNumbers& dimension_numbers, bool indices_are_sorted,
              bool unique_indices) {
  return Scatter(Ops(&operand, 1), scatter_indices, Ops(&updates, 1), update_computation, dimension_numbers,
                 indices_are_sorted, unique_indices);
}

XlaOp Scatter(Ops operands, XlaOp scatter_indices, Ops updates, const XlaComputation& update_computation,
              const ScatterDimensionNumbers& dimension_numbers, bool indices_are_sorted,
              bool unique_indices) {
  XlaBuilder* const builder = BuilderOf(operands);
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    const ScatterDimensionNumbers& d = dimension_numbers;
    ASSAY_ASSIGN_OR_RETURN(const ComputationId f, builder->Import(update_computation));
    AttributeMap attributes = Attributes({{Attr::kUpdateWindowDims, d.update_window_dims},
                                          {Attr::kInsertedWindowDims, d.inserted_window_dims},
                                          {Attr::kScatterDimsToOperandDims, d.scatter_dims_to_operand_dims},
                                          {Attr::kIndexVectorDim, d.index_vector_dim},
                                          {Attr::kToApply, f}});
    if (!d.input_batching_dims.empty() || !d.scatter_indices_batching_dims.empty()) {
      attributes.Set(Attr::kInputBatchingDims, d.input_batching_dims);
      attributes.Set(Attr::kScatterIndicesBatchingDims, d.scatter_indices_batching_dims);
    }
    if (indices_are_sorted) attributes.Set(Attr::kIndicesAreSorted, true);
    if (unique_indices) attributes.Set(Attr::kUniqueIndices, true);
    std::vector<XlaOp> all = ToOps(operands);
    all.push_back(scatter_indices);
    all.insert(all.end(), updates.begin(), updates.end());
    return builder->Add({Opcode::kScatter, std::move(all), std::move(attributes)});
  });
}

// A constant size equal to the bound leaves the dimension static.
XlaOp SetDimensionSize(XlaOp operand, XlaOp val, int64_t dimension) {
  XlaBuilder* const builder = BuilderOf({operand, val});
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_ASSIGN_OR_RETURN(const Shape* shape, ArrayShape(builder, operand, "SetDimensionSize-C1"));
    ASSAY_RETURN_IF_ERROR(CheckDimensionOf(dimension, *shape, "SetDimensionSize-C2"));
    const LiteralPtr value = builder->ConstantValue(val);
    const bool whole = value != nullptr && value->shape().IsScalar(ElementType::kS32) &&
                       value->GetInt(0) == shape->size(dimension);
    if (whole && !shape->is_dynamic(dimension)) return operand;
    return builder->Add({Opcode::kSetDimensionSize, {operand, val}, WithDimensions({dimension})});
  });
}

XlaOp Slice(XlaOp operand, Int64s start_indices, Int64s limit_indices, Int64s strides) {
  return RunIn(operand.builder(), [&]() -> absl::StatusOr<XlaOp> {
    if (start_indices.size() != limit_indices.size() || start_indices.size() != strides.size()) {
      return InvalidProgram({}, fmt::format("Slice-C1: {} starts, {} limits, {}", start_indices.size(),
                                            limit_indices.size(), Counted(strides.size(), "stride")));
    }
    SliceConfig config(start_indices.size());
    for (size_t i = 0; i < config.size(); ++i) config[i] = {start_indices[i], limit_indices[i], strides[i]};
    return operand.builder()->Add(
        {Opcode::kSlice, {operand}, Attributes({{Attr::kSlice, std::move(config)}})});
  });
}

XlaOp SliceInDim(XlaOp operand, int64_t start_index, int64_t limit_index, int64_t stride, int64_t dimno) {
  XlaBuilder* const builder = operand.builder();
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_ASSIGN_OR_RETURN(const Shape* shape, ArrayShape(builder, operand, "Slice-C1"));
    ASSAY_RETURN_IF_ERROR(CheckDimensionOf(dimno, *shape, "Slice-C1"));
    Ints starts(shape->rank(), 0), limits(shape->sizes().begin(), shape->sizes().end());
    Ints strides(shape->rank(), 1);
    starts[dimno] = start_index;
    limits[dimno] = limit_index;
    strides[dimno] = stride;
    return Slice(operand, starts, limits, strides);
  });
}

XlaOp Sort(Ops operands, const XlaComputation& comparator, int64_t dimension, bool is_stable) {
  XlaBuilder* const builder = BuilderOf(operands);
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_ASSIGN_OR_RETURN(const Shape* shape, ArrayShape(builder, operands[0], "Sort-C2"));
    ASSAY_ASSIGN_OR_RETURN(const ComputationId cmp, builder->Import(comparator));
    const int64_t d = dimension == -1 ? shape->rank() - 1 : dimension;
    AttributeMap attributes = Attributes({{Attr::kDimensions, Ints{d}}, {Attr::kToApply, cmp}});
    if (is_stable) attributes.Set(Attr::kIsStable, true);
    return builder->Add({Opcode::kSort, ToOps(operands), std::move(attributes)});
  });
}

XlaOp TopK(XlaOp operand, int64_t k, bool largest) {
  return Emit(operand.builder(),
              {Opcode::kTopK, {operand}, Attributes({{Attr::kK, k}, {Attr::kLargest, largest}})});
}

XlaOp Transpose(XlaOp operand, Int64s permutation) {
  return RunIn(operand.builder(), [&] { return AddTranspose(operand.builder(), operand, permutation); });
}

}  // namespace assay::builder
