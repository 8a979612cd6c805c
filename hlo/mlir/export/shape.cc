// Shape and data movement, gather, scatter, sort, dynamic sizes: the inverse of import/shape.cc.
#include <algorithm>
#include <array>

#include "fmt/format.h"
#include "hlo/mlir/export/exporter.h"
#include "hlo/mlir/text_writer.h"

namespace assay::mlir {
namespace {

using Types = Syntax::Types;

// The dimensions from the slowest to the fastest in memory.
Ints MajorToMinor(const Shape& shape) {
  const auto& order = shape.layout().minor_to_major;
  Ints dims(order.rbegin(), order.rend());
  if (dims.size() == static_cast<size_t>(shape.rank())) return dims;
  dims.clear();
  for (int64_t d = 0; d < shape.rank(); ++d) dims.push_back(d);
  return dims;
}

bool IsIdentity(const Ints& order) { return std::is_sorted(order.begin(), order.end()); }

Ints Inverse(const Ints& order) {
  Ints inverse(order.size());
  for (size_t i = 0; i < order.size(); ++i) inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return inverse;
}

const Shape& Permuted(OpExport& out, ElementType type, const Shape& shape, const Ints& order) {
  DimVector sizes;
  for (const int64_t d : order) sizes.push_back(shape.size(d));
  return out.exporter.Keep(Shape::ArrayOrDie(type, sizes));
}

NodeId Transposed(OpExport& out, NodeId operand, const Shape& shape, const Ints& permutation) {
  out.UseLeaves(operand);
  return out.Make("stablehlo.transpose", shape,
                  {Types::kFunction, {}, fmt::format(", dims = {}", ListText(permutation))});
}

bool IsDense(const Shape& shape) { return shape.layout().tail == nullptr && !shape.HasDynamic(); }

// The only operation that sees layouts: the operand in the order of memory, in the sizes that memory has for
// the result, and back from the order of memory.
void ExportBitcast(OpExport& out) {
  const Shape &from = out.OperandShape(0), &to = *out.hlo.shape;
  const ElementType from_type = from.element_type(), to_type = to.element_type();
  if (!IsDense(from) || !IsDense(to)) return out.Refuse("of tiled, padded, packed or dynamic layouts");
  const bool recast = from_type != to_type;
  const auto plain = [](ElementType type) {
    return type != ElementType::kPred && !IsComplex(type) && Bits(type) == 8 * Bytes(type);
  };
  if (from.num_elements() != to.num_elements() ||
      (recast && (!plain(from_type) || !plain(to_type) || Bits(from_type) != Bits(to_type)))) {
    return out.Refuse(fmt::format("from {} to {}", from.ToString(), to.ToString()));
  }
  NodeId value = out.Operand(0);
  const Ints from_order = MajorToMinor(from), to_order = MajorToMinor(to);
  const Shape& memory = Permuted(out, from_type, from, from_order);
  const Shape& target = Permuted(out, from_type, to, to_order);
  if (!IsIdentity(from_order)) value = Transposed(out, value, memory, from_order);
  if (!Shape::SameDimensions(memory, target)) {
    out.UseLeaves(value);
    value = out.Make("stablehlo.reshape", target, {Types::kFunction, {}, {}});
  }
  if (!IsIdentity(to_order)) {
    const Ints back = Inverse(to_order);
    value = Transposed(out, value, Permuted(out, from_type, target, back), back);
  }
  if (recast) {
    out.UseLeaves(value);
    value = out.Make("stablehlo.bitcast_convert", to);
  }
  out.Bind(value);
}

void ExportBroadcast(OpExport& out) {
  const std::span<const int64_t> dims = out.attributes().List(Attr::kDimensions);
  const Node& operand = out.exporter.node(out.Operand(0));
  if (operand.kind == Node::Kind::kConstant && out.OperandShape(0).IsScalar()) {
    return out.Bind(out.Broadcast(out.Operand(0), *out.hlo.shape));
  }
  out.UseOperands();
  out.Emit("stablehlo.broadcast_in_dim", {Types::kFunction, {}, fmt::format(", dims = {}", ListText(dims))});
}

void ExportConcatenate(OpExport& out) {
  out.UseOperands();
  out.Emit("stablehlo.concatenate",
           {Types::kFunction, {}, fmt::format(", dim = {}", out.attributes().List(Attr::kDimensions)[0])});
}

// copy, and what else gives its operand.
void ExportSameValue(OpExport& out) { out.Bind(out.Operand(0)); }

void ExportReshape(OpExport& out) {
  if (out.attributes().Has(Attr::kInferredDimension) && out.hlo.shape->HasDynamic()) {
    return out.Refuse("a dynamic dimension that is inferred");
  }
  out.UseLeaves(out.Operand(0));
  out.Emit("stablehlo.reshape", {Types::kFunction, {}, {}});
}

void ExportDynamicReshape(OpExport& out) {
  if (out.hlo.shape->HasDynamic() || out.OperandShape(0).HasDynamic()) return out.Refuse("of a dynamic size");
  ExportReshape(out);
}

// The operands from number `first` on are scalar starts; in the old form they are one vector.
void UseStarts(OpExport& out, size_t first) {
  if (out.num_operands() <= first) return;
  const Shape& starts = out.OperandShape(first);
  if (starts.IsScalar()) {
    for (size_t i = first; i < out.num_operands(); ++i) out.UseLeaves(out.Operand(i));
    return;
  }
  const Shape& one = out.exporter.Keep(Shape::ArrayOrDie(starts.element_type(), std::array<int64_t, 1>{1}));
  const Shape& scalar = out.exporter.Keep(Shape::Scalar(starts.element_type()));
  for (int64_t i = 0; i < starts.size(0); ++i) {
    const NodeId cut = out.Aside("stablehlo.slice", one, out.Operand(first),
                                 {Types::kFunction, {}, fmt::format(" [{}:{}]", i, i + 1)});
    out.UseLeaves(out.Aside("stablehlo.reshape", scalar, cut, {Types::kFunction, {}, {}}));
  }
}

void ExportDynamicSlice(OpExport& out) {
  out.UseLeaves(out.Operand(0));
  UseStarts(out, 1);
  out.Emit("stablehlo.dynamic_slice",
           {Types::kFunction,
            {},
            fmt::format(", sizes = {}", ListText(out.attributes().List(Attr::kDynamicSliceSizes)))});
}

void ExportDynamicUpdateSlice(OpExport& out) {
  out.UseLeaves(out.Operand(0));
  out.UseLeaves(out.Operand(1));
  UseStarts(out, 2);
  out.Emit("stablehlo.dynamic_update_slice", {Types::kFunction, {}, {}});
}

// name = [...] of a struct, if there are any.
void AppendField(std::string_view name, std::span<const int64_t> values, std::string* fields) {
  if (values.empty()) return;
  *fields += fmt::format("{}{} = {}", fields->empty() ? "" : ", ", name, ListText(values));
}

void ExportGather(OpExport& out) {
  const AttributeMap& attributes = out.attributes();
  std::string fields;
  AppendField("offset_dims", attributes.List(Attr::kOffsetDims), &fields);
  AppendField("collapsed_slice_dims", attributes.List(Attr::kCollapsedSliceDims), &fields);
  AppendField("operand_batching_dims", attributes.List(Attr::kOperandBatchingDims), &fields);
  AppendField("start_indices_batching_dims", attributes.List(Attr::kStartIndicesBatchingDims), &fields);
  AppendField("start_index_map", attributes.List(Attr::kStartIndexMap), &fields);
  fields += fmt::format("{}index_vector_dim = {}", fields.empty() ? "" : ", ",
                        attributes.Int(Attr::kIndexVectorDim));
  out.UseOperands();
  out.Property("dimension_numbers", fmt::format("#stablehlo.gather<{}>", fields));
  if (attributes.Bool(Attr::kIndicesAreSorted)) out.Flag("indices_are_sorted", true);
  out.IntList("slice_sizes", attributes.List(Attr::kSliceSizes));
  out.Emit("stablehlo.gather");
}

void ExportScatter(OpExport& out) {
  const AttributeMap& attributes = out.attributes();
  std::string fields;
  AppendField("update_window_dims", attributes.List(Attr::kUpdateWindowDims), &fields);
  AppendField("inserted_window_dims", attributes.List(Attr::kInsertedWindowDims), &fields);
  AppendField("input_batching_dims", attributes.List(Attr::kInputBatchingDims), &fields);
  AppendField("scatter_indices_batching_dims", attributes.List(Attr::kScatterIndicesBatchingDims), &fields);
  AppendField("scatter_dims_to_operand_dims", attributes.List(Attr::kScatterDimsToOperandDims), &fields);
  fields += fmt::format("{}index_vector_dim = {}", fields.empty() ? "" : ", ",
                        attributes.Int(Attr::kIndexVectorDim));
  out.UseOperands();
  if (attributes.Bool(Attr::kIndicesAreSorted)) out.Flag("indices_are_sorted", true);
  out.Property("scatter_dimension_numbers", fmt::format("#stablehlo.scatter<{}>", fields));
  if (attributes.Bool(Attr::kUniqueIndices)) out.Flag("unique_indices", true);
  out.Region(*attributes.Computation(Attr::kToApply));
  out.Emit("stablehlo.scatter");
}

void ExportDimensionSize(OpExport& out) {
  out.UseOperands();
  const bool get = out.hlo.opcode == Opcode::kGetDimensionSize;
  out.Emit(get ? "stablehlo.get_dimension_size" : "stablehlo.set_dimension_size",
           {Types::kFunction, {}, fmt::format(", dim = {}", out.attributes().List(Attr::kDimensions)[0])});
}

// StableHLO's iota is static: dynamic_iota takes the sizes, which nothing says here. Decision: open-size
void ExportIota(OpExport& out) {
  if (PrintedShape(out.hlo)->HasDynamic()) return out.Refuse("an iota of dynamic dimensions");
  out.Emit("stablehlo.iota",
           {Types::kResult, fmt::format("dim = {}", out.attributes().Int(Attr::kIotaDimension)), {}});
}

void ExportPad(OpExport& out) {
  Ints low, high, interior;
  for (const PaddingDimension& d : std::get<PaddingConfig>(*out.attributes().Find(Attr::kPadding))) {
    low.push_back(d.low);
    high.push_back(d.high);
    interior.push_back(d.interior);
  }
  out.UseOperands();
  out.Emit("stablehlo.pad", {Types::kFunction,
                             {},
                             fmt::format(", low = {}, high = {}, interior = {}", ListText(low),
                                         ListText(high), ListText(interior))});
}

void ExportReverse(OpExport& out) {
  out.UseOperands();
  out.Emit(
      "stablehlo.reverse",
      {Types::kSame, {}, fmt::format(", dims = {}", ListText(out.attributes().List(Attr::kDimensions)))});
}

void ExportTranspose(OpExport& out) {
  out.UseOperands();
  out.Emit(
      "stablehlo.transpose",
      {Types::kFunction, {}, fmt::format(", dims = {}", ListText(out.attributes().List(Attr::kDimensions)))});
}

// %x [0:4, 1:8:2]
void ExportSlice(OpExport& out) {
  std::string ranges;
  for (const SliceDimension& d : std::get<SliceConfig>(*out.attributes().Find(Attr::kSlice))) {
    ranges += fmt::format("{}{}:{}", ranges.empty() ? "" : ", ", d.start, d.limit);
    if (d.stride != 1) ranges += fmt::format(":{}", d.stride);
  }
  out.UseOperands();
  out.Emit("stablehlo.slice", {Types::kFunction, {}, fmt::format(" [{}]", ranges)});
}

void ExportSort(OpExport& out) {
  out.UseOperands();
  out.Int("dimension", out.attributes().List(Attr::kDimensions)[0]);
  out.Flag("is_stable", out.attributes().Bool(Attr::kIsStable));
  out.Region(*out.attributes().Computation(Attr::kToApply));
  out.Emit("stablehlo.sort");
}

void ExportTopK(OpExport& out) {
  if (!out.attributes().Bool(Attr::kLargest, true)) return out.Refuse("CHLO takes the largest elements only");
  out.UseOperands();
  out.Int("k", out.attributes().Int(Attr::kK));
  if (out.attributes().Bool(Attr::kIsStable)) out.Flag("is_stable", true);
  out.Emit("chlo.top_k");
}

constexpr ExportRow kShapeExports[] = {
    {Opcode::kBitcast, ExportBitcast},
    {Opcode::kBroadcast, ExportBroadcast},
    {Opcode::kConcatenate, ExportConcatenate},
    {Opcode::kCopy, ExportSameValue},
    {Opcode::kDynamicReshape, ExportDynamicReshape},
    {Opcode::kDynamicSlice, ExportDynamicSlice},
    {Opcode::kDynamicUpdateSlice, ExportDynamicUpdateSlice},
    {Opcode::kGather, ExportGather},
    {Opcode::kGetDimensionSize, ExportDimensionSize},
    {Opcode::kIota, ExportIota},
    {Opcode::kPad, ExportPad},
    {Opcode::kReshape, ExportReshape},
    {Opcode::kReverse, ExportReverse},
    {Opcode::kScatter, ExportScatter},
    {Opcode::kSetDimensionSize, ExportDimensionSize},
    {Opcode::kSlice, ExportSlice},
    {Opcode::kSort, ExportSort},
    {Opcode::kTopK, ExportTopK},
    {Opcode::kTranspose, ExportTranspose},
};

}  // namespace

std::span<const ExportRow> ShapeExports() { return kShapeExports; }

}  // namespace assay::mlir
