// Shape and data movement, gather, scatter, sort, dynamic sizes (docs/spec/stablehlo-text.md section 6).
#include <algorithm>

#include "fmt/format.h"
#include "hlo/mlir/import/importer.h"

namespace assay::mlir {
namespace {

constexpr std::string_view kGatherNumbers = "dimension_numbers";
constexpr std::string_view kScatterNumbers = "scatter_dimension_numbers";

// `operand` of `from` sizes mapped to `dimensions` of the result. A size that is 1 here and larger there is
// reshaped away first, since HLO's broadcast wants sizes to be equal. `is_attribute`: the operation's
// attributes alone say the dimensions.
void EmitBroadcast(OpImport& in, const Ints& dimensions, bool is_attribute) {
  const Shape& from = in.OperandShape(0);
  const SharedShape& to = in.ResultShape();
  if (!in.ok()) return;
  if (!from.IsArray() || !to->IsArray() || static_cast<int64_t>(dimensions.size()) != from.rank()) {
    return in.Invalid(
        fmt::format("found {} broadcast_dimensions for an operand {}", dimensions.size(), from.ToString()));
  }
  uint64_t expanded = 0;  // a bit a dimension of the operand
  DimVector targets;
  for (int64_t d = 0; d < from.rank(); ++d) {
    const int64_t target = dimensions[d];
    if (target < 0 || target >= to->rank()) {
      return in.Invalid(
          fmt::format("broadcast_dimensions[{}] is {}, the result has rank {}", d, target, to->rank()));
    }
    if (std::find(targets.begin(), targets.end(), target) != targets.end())
      return in.Invalid(fmt::format("broadcast_dimensions has {} twice", target));
    targets.push_back(target);
    if (from.size(d) == 1 && !from.is_dynamic(d) && to->size(target) != 1) expanded |= uint64_t{1} << d;
  }
  if (expanded == 0) {
    const auto build = [&] { return in.Map({{Attr::kDimensions, dimensions}}); };
    return in.Emit(Opcode::kBroadcast, {in.operands[0]}, is_attribute ? in.Attributes(build) : build());
  }
  if (from.HasDynamic()) return in.Unsupported("an expanding broadcast of a dynamic array");
  Ints kept;
  DimVector sizes;
  for (int64_t d = 0; d < from.rank(); ++d) {
    if (expanded >> d & 1) continue;
    kept.push_back(dimensions[d]);
    sizes.push_back(from.size(d));
  }
  absl::StatusOr<Shape> shape = Shape::Array(from.element_type(), sizes);
  if (!shape.ok()) return in.Fail(shape.status());
  const int32_t operand = in.Add(Opcode::kReshape, in.importer.Share(*std::move(shape)), {in.operands[0]});
  in.Emit(Opcode::kBroadcast, {operand}, in.Map({{Attr::kDimensions, std::move(kept)}}));
}

void ImportBroadcastInDim(OpImport& in) {
  if (in.Arity(1)) EmitBroadcast(in, in.RequiredInts("broadcast_dimensions"), true);
}

// broadcast: the operand's dimensions come last.
void ImportBroadcast(OpImport& in) {
  if (!in.Arity(1)) return;
  const auto added = static_cast<int64_t>(in.RequiredInts("broadcast_sizes").size());
  Ints dimensions;
  for (int64_t d = 0; in.OperandShape(0).IsArray() && d < in.OperandShape(0).rank(); ++d)
    dimensions.push_back(added + d);
  EmitBroadcast(in, dimensions, false);
}

void ImportReshape(OpImport& in) {
  if (in.Arity(1)) in.Emit(Opcode::kReshape, in.operands);
}

template <Opcode opcode>
void ImportDimensions(OpImport& in) {
  if (!in.Arity(1)) return;
  in.Emit(opcode, in.operands, in.Attributes([&] {
    const std::string_view name = opcode == Opcode::kTranspose ? "permutation" : "dimensions";
    return in.Map({{Attr::kDimensions, in.RequiredInts(name)}});
  }));
}

void ImportIota(OpImport& in) {
  if (!in.Arity(0)) return;
  in.Emit(Opcode::kIota, {}, in.Attributes([&] {
    return in.Map({{Attr::kIotaDimension, in.Int("iota_dimension")}});
  }));
}

AttributeMap SliceAttributes(OpImport& in) {
  const Ints starts = in.RequiredInts("start_indices"), limits = in.RequiredInts("limit_indices");
  const Ints strides = in.IntsOr("strides", starts.size(), 1);
  if (limits.size() != starts.size()) {
    in.Invalid(fmt::format("found {} start_indices and {} limit_indices", starts.size(), limits.size()));
  }
  if (!in.ok()) return {};
  SliceConfig slices(starts.size());
  for (size_t d = 0; d < starts.size(); ++d) slices[d] = {starts[d], limits[d], strides[d]};
  return in.Map({{Attr::kSlice, std::move(slices)}});
}

void ImportSlice(OpImport& in) {
  if (in.Arity(1)) in.Emit(Opcode::kSlice, in.operands, in.Attributes([&] { return SliceAttributes(in); }));
}

void ImportDynamicSlice(OpImport& in) {
  in.Emit(Opcode::kDynamicSlice, in.operands, in.Attributes([&] {
    return in.Map({{Attr::kDynamicSliceSizes, in.RequiredInts("slice_sizes")}});
  }));
}

void ImportDynamicUpdateSlice(OpImport& in) { in.Emit(Opcode::kDynamicUpdateSlice, in.operands); }

void ImportConcatenate(OpImport& in) {
  in.Emit(Opcode::kConcatenate, in.operands, in.Attributes([&] {
    return in.Map({{Attr::kDimensions, Ints{in.Int("dimension")}}});
  }));
}

AttributeMap PadAttributes(OpImport& in) {
  const Ints low = in.RequiredInts("edge_padding_low"), high = in.RequiredInts("edge_padding_high");
  const Ints interior = in.IntsOr("interior_padding", low.size(), 0);
  if (high.size() != low.size()) {
    in.Invalid(fmt::format("found {} edge_padding_low and {} edge_padding_high", low.size(), high.size()));
  }
  if (!in.ok()) return {};
  PaddingConfig padding(low.size());
  for (size_t d = 0; d < low.size(); ++d) padding[d] = {low[d], high[d], interior[d]};
  return in.Map({{Attr::kPadding, std::move(padding)}});
}

void ImportPad(OpImport& in) {
  if (in.Arity(2)) in.Emit(Opcode::kPad, in.operands, in.Attributes([&] { return PadAttributes(in); }));
}

void SetIfAny(AttributeMap* attributes, Attr attr, Ints values) {
  if (!values.empty()) attributes->Set(attr, std::move(values));
}

void ImportGather(OpImport& in) {
  if (!in.Arity(2)) return;
  in.Emit(Opcode::kGather, in.operands,
          in.Attributes([&] { return GatherAttributes(in, in.RequiredInts("slice_sizes")); }));
}

void ImportScatter(OpImport& in) {
  const std::optional<ComputationId> body = in.Body();
  if (!body) return;
  AttributeMap attributes =
      in.Map({{Attr::kUpdateWindowDims, in.IntList("update_window_dims", kScatterNumbers)},
              {Attr::kInsertedWindowDims, in.IntList("inserted_window_dims", kScatterNumbers)},
              {Attr::kScatterDimsToOperandDims, in.IntList("scatter_dims_to_operand_dims", kScatterNumbers)},
              {Attr::kIndexVectorDim, in.Int("index_vector_dim", 0, kScatterNumbers)},
              {Attr::kToApply, *body}});
  SetIfAny(&attributes, Attr::kInputBatchingDims, in.IntList("input_batching_dims", kScatterNumbers));
  SetIfAny(&attributes, Attr::kScatterIndicesBatchingDims,
           in.IntList("scatter_indices_batching_dims", kScatterNumbers));
  if (in.Bool("indices_are_sorted")) attributes.Set(Attr::kIndicesAreSorted, true);
  if (in.Bool("unique_indices")) attributes.Set(Attr::kUniqueIndices, true);
  in.Emit(Opcode::kScatter, in.operands, std::move(attributes));
}

// sort: dimension -1 is the last.
void ImportSort(OpImport& in) {
  int64_t dimension = in.Int("dimension", -1);
  if (in.num_operands() == 0 || !in.OperandShape(0).IsArray()) return in.Invalid("want arrays to sort");
  if (dimension < 0) dimension += in.OperandShape(0).rank();
  const std::optional<ComputationId> body = in.Body();
  if (!body) return;
  AttributeMap attributes = in.Map({{Attr::kDimensions, Ints{dimension}}, {Attr::kToApply, *body}});
  if (in.Bool("is_stable")) attributes.Set(Attr::kIsStable, true);
  in.Emit(Opcode::kSort, in.operands, std::move(attributes));
}

template <Opcode opcode>
void ImportDimensionSize(OpImport& in) {
  in.Emit(opcode, in.operands, in.Map({{Attr::kDimensions, Ints{in.Int("dimension")}}}));
}

void ImportDynamicIota(OpImport& in) {
  if (!in.Arity(1) || !HasStaticResult(in)) return;
  in.Emit(Opcode::kIota, {}, in.Map({{Attr::kIotaDimension, in.Int("iota_dimension")}}));
}

void ImportDynamicBroadcastInDim(OpImport& in) {
  if (in.Arity(2) && HasStaticResult(in)) EmitBroadcast(in, in.RequiredInts("broadcast_dimensions"), true);
}

void ImportDynamicReshape(OpImport& in) {
  if (in.Arity(2) && HasStaticResult(in)) in.Emit(Opcode::kReshape, {in.operands[0]});
}

constexpr ImportRow kShapeRows[] = {
    {"stablehlo.broadcast_in_dim", ImportBroadcastInDim},
    {"stablehlo.broadcast", ImportBroadcast},
    {"stablehlo.reshape", ImportReshape},
    {"stablehlo.transpose", ImportDimensions<Opcode::kTranspose>},
    {"stablehlo.reverse", ImportDimensions<Opcode::kReverse>},
    {"stablehlo.iota", ImportIota},
    {"stablehlo.slice", ImportSlice},
    {"stablehlo.dynamic_slice", ImportDynamicSlice},
    {"stablehlo.dynamic_update_slice", ImportDynamicUpdateSlice},
    {"stablehlo.concatenate", ImportConcatenate},
    {"stablehlo.pad", ImportPad},
    {"stablehlo.gather", ImportGather},
    {"stablehlo.scatter", ImportScatter},
    {"stablehlo.sort", ImportSort},
    {"stablehlo.get_dimension_size", ImportDimensionSize<Opcode::kGetDimensionSize>},
    {"stablehlo.set_dimension_size", ImportDimensionSize<Opcode::kSetDimensionSize>},
    {"stablehlo.dynamic_iota", ImportDynamicIota},
    {"stablehlo.dynamic_broadcast_in_dim", ImportDynamicBroadcastInDim},
    {"stablehlo.dynamic_reshape", ImportDynamicReshape},
};

}  // namespace

std::span<const ImportRow> ShapeRows() { return kShapeRows; }

AttributeMap GatherAttributes(OpImport& in, Ints slice_sizes) {
  AttributeMap attributes =
      in.Map({{Attr::kOffsetDims, in.IntList("offset_dims", kGatherNumbers)},
              {Attr::kCollapsedSliceDims, in.IntList("collapsed_slice_dims", kGatherNumbers)},
              {Attr::kStartIndexMap, in.IntList("start_index_map", kGatherNumbers)},
              {Attr::kIndexVectorDim, in.Int("index_vector_dim", 0, kGatherNumbers)},
              {Attr::kSliceSizes, std::move(slice_sizes)}});
  SetIfAny(&attributes, Attr::kOperandBatchingDims, in.IntList("operand_batching_dims", kGatherNumbers));
  SetIfAny(&attributes, Attr::kStartIndicesBatchingDims,
           in.IntList("start_indices_batching_dims", kGatherNumbers));
  if (in.Bool("indices_are_sorted")) attributes.Set(Attr::kIndicesAreSorted, true);
  return attributes;
}

}  // namespace assay::mlir
