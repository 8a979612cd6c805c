// Ops that take a part of an array, or put one into a larger one: slice, pad, concatenate, dynamic-slice,
// dynamic-update-slice (spec/operations-shape.md; DYN-3 and DYN-7 of spec/shapes.md for run-time sizes).
#include <algorithm>
#include <limits>

#include "absl/numeric/int128.h"
#include "evaluator/move.h"
#include "evaluator/ops/shape_rules.h"
#include "shape/checked.h"

namespace assay {
namespace {

// --- slice ---
//
// out[I] = operand[start + I * stride]; size'[d] = ceil((limit[d] - start[d]) / stride[d])

const SliceConfig& SliceOf(const AttributeMap& attributes) {
  return std::get<SliceConfig>(*attributes.Find(Attr::kSlice));
}

absl::StatusOr<Shape> InferSlice(const InferContext& context) {
  ASSAY_RETURN_IF_ERROR(RequireArray(context, 0, "Slice"));
  const Shape& operand = context.operand(0);
  const SliceConfig& slice = SliceOf(context.attributes());
  if (static_cast<int64_t>(slice.size()) != operand.rank()) {
    return Violates("Slice-C1", "slice has {} entries, the operand has {} dimensions", slice.size(),
                    operand.rank());
  }
  DimVector sizes;
  for (int64_t d = 0; d < operand.rank(); ++d) {
    const auto [start, limit, stride] = slice[d];
    if (start < 0) return Violates("Slice-C2", "start of dimension {} is {}, wanted 0 or more", d, start);
    if (limit > operand.size(d)) {
      return Violates("Slice-C3", "limit of dimension {} is {}, the operand has size {}", d, limit,
                      operand.size(d));
    }
    if (start > limit) {
      return Violates("Slice-C4", "start of dimension {} is {}, beyond its limit {}", d, start, limit);
    }
    if (stride < 1) return Violates("Slice-C5", "stride of dimension {} is {}, wanted 1 or more", d, stride);
    sizes.push_back(CeilDiv(limit - start, stride));
  }
  return MakeArray(operand.element_type(), sizes,
                   [&](int64_t d) { return operand.is_dynamic(d) && sizes[d] != 1; });
}

absl::StatusOr<Literal> EvalSlice(EvalContext& context, std::span<Literal> operands) {
  const Literal& operand = operands[0];
  const Shape& shape = context.result_shape();
  const SliceConfig& slice = SliceOf(context.attributes());
  DimVector runtime, moved;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    // Selected positions that are live; a result dimension of size 1 is static, and zero where it is dead.
    const int64_t span = std::max<int64_t>(operand.dynamic_size(d) - slice[d].start, 0);
    moved.push_back(std::min(CeilDiv(span, slice[d].stride), shape.size(d)));
    runtime.push_back(shape.is_dynamic(d) ? moved[d] : shape.size(d));
  }
  if (shape.num_elements() == operand.shape().num_elements()) return ShareStorage(context, operand, runtime);
  const auto bounds = shape.sizes();
  const bool zero = !std::equal(bounds.begin(), bounds.end(), moved.begin());
  ASSAY_ASSIGN_OR_RETURN(Literal result, NewSizedResult(context, runtime, zero));
  if (Contains(moved, 0)) return result;
  AffineMap from{0, RowMajorStrides(operand.shape().sizes())};
  for (int64_t d = 0; d < shape.rank(); ++d) {
    from.base += slice[d].start * from.strides[d];
    from.strides[d] *= moved[d] > 1 ? slice[d].stride : 0;
  }
  ASSAY_RETURN_IF_ERROR(MoveInto(context, moved, operand, from, result));
  return result;
}

// --- pad ---
//
// out = padding value everywhere, then out[low + J * (interior + 1)] = operand[J] wherever that is in out

const PaddingConfig& PaddingOf(const AttributeMap& attributes) {
  return std::get<PaddingConfig>(*attributes.Find(Attr::kPadding));
}

// low + size + max(size - 1, 0) * interior + high; of any parts that fit int64, only the sum must.
absl::int128 PaddedSize(int64_t size, const PaddingDimension& padding) {
  const absl::int128 holes = absl::int128(std::max<int64_t>(size - 1, 0)) * padding.interior;
  return holes + size + padding.low + padding.high;
}

absl::StatusOr<Shape> InferPad(const InferContext& context) {
  ASSAY_RETURN_IF_ERROR(RequireArray(context, 0, "Pad-C1"));
  const Shape& operand = context.operand(0);
  if (!context.operand(1).IsScalar(operand.element_type())) {
    return Violates("Pad-C2", "the padding value is {}, wanted {}[]", context.operand(1).ToString(),
                    Name(operand.element_type()));
  }
  const PaddingConfig& padding = PaddingOf(context.attributes());
  if (static_cast<int64_t>(padding.size()) != operand.rank()) {
    return Violates("Pad-C3", "padding has {} entries, the operand has {} dimensions", padding.size(),
                    operand.rank());
  }
  DimVector sizes;
  for (int64_t d = 0; d < operand.rank(); ++d) {
    if (padding[d].interior < 0) {
      return Violates("Pad-C4", "interior padding of dimension {} is {}, wanted 0 or more", d,
                      padding[d].interior);
    }
    const absl::int128 size = PaddedSize(operand.size(d), padding[d]);
    if (size < 0) return Violates("Pad-C5", "padded size of dimension {} is below 0", d);
    if (size > std::numeric_limits<int64_t>::max()) {
      return Violates("SHAPE-3", "padded size of dimension {} overflows int64", d);
    }
    sizes.push_back(static_cast<int64_t>(size));
  }
  return MakeArray(operand.element_type(), sizes, [&](int64_t d) { return operand.is_dynamic(d); });
}

absl::StatusOr<Literal> EvalPad(EvalContext& context, std::span<Literal> operands) {
  const Literal& operand = operands[0];
  const PaddingConfig& padding = PaddingOf(context.attributes());
  const DimVector live = operand.runtime_sizes();
  const bool empty = context.result_shape().num_elements() == 0;
  DimVector sizes, moved;
  AffineMap from{0, RowMajorStrides(operand.shape().sizes())};
  AffineMap to{0, RowMajorStrides(context.result_shape().sizes())};
  for (size_t d = 0; d < live.size(); ++d) {
    // Decision: pad-runtime-size
    const absl::int128 size = std::max<absl::int128>(PaddedSize(live[d], padding[d]), 0);
    sizes.push_back(static_cast<int64_t>(size));
    // Operand indices [first, last) land inside: 0 <= low + J * step < size'.
    const absl::int128 low = padding[d].low, step = absl::int128(padding[d].interior) + 1;
    const absl::int128 first = low >= 0 ? 0 : std::min<absl::int128>((-low + step - 1) / step, live[d]);
    const absl::int128 last =
        size <= low ? 0 : std::min<absl::int128>((size - low + step - 1) / step, live[d]);
    moved.push_back(static_cast<int64_t>(std::max<absl::int128>(last - first, 0)));
    if (moved[d] == 0 || empty) continue;
    from.base += static_cast<int64_t>(first) * from.strides[d];
    to.base += static_cast<int64_t>(low + first * step) * to.strides[d];
    to.strides[d] *= moved[d] > 1 ? static_cast<int64_t>(step) : 0;
  }
  ASSAY_ASSIGN_OR_RETURN(Literal result, NewSizedResult(context, sizes));
  if (empty) return result;
  const int bytes = Bytes(operand.shape().element_type());
  const auto out = result.MutableBytes();
  FillElements(bytes, operands[1].data(), out.data(), out.size() / bytes);
  ASSAY_RETURN_IF_ERROR(ChargedMove(context, bytes, moved, operand.data(), from, out.data(), to));
  if (!result.IsFullSize()) result.ClearDeadElements();
  return result;
}

// --- concatenate ---
//
// out[.., offset_k + j, ..] = operand_k[.., j, ..] along dimension d, offset_k = sum of the sizes before k

absl::StatusOr<Shape> InferConcatenate(const InferContext& context) {
  if (context.num_operands() < 1) return Violates("ConcatInDim-C1", "no operand");
  for (int64_t k = 0; k < context.num_operands(); ++k) {
    ASSAY_RETURN_IF_ERROR(RequireArray(context, k, "ConcatInDim-C1"));
  }
  ASSAY_ASSIGN_OR_RETURN(const int64_t along, SingleDimension(context, "ConcatInDim-C2"));
  const Shape& first = context.operand(0);
  DimVector sizes(first.sizes().begin(), first.sizes().end());
  uint64_t dynamic = 0;
  for (int64_t k = 0; k < context.num_operands(); ++k) {
    const Shape& shape = context.operand(k);
    if (shape.rank() != first.rank()) {
      return Violates("ConcatInDim-C3", "operand {} has {} dimensions, operand 0 {}", k, shape.rank(),
                      first.rank());
    }
    if (shape.element_type() != first.element_type()) {
      return Violates("ConcatInDim-C4", "operand {} has element type {}, operand 0 {}", k,
                      Name(shape.element_type()), Name(first.element_type()));
    }
    for (int64_t d = 0; d < first.rank(); ++d) {
      dynamic |= uint64_t{shape.is_dynamic(d)} << d;
      if (d != along && shape.size(d) != first.size(d)) {
        return Violates("ConcatInDim-C5", "dimension {} of operand {} has size {}, of operand 0 {}", d, k,
                        shape.size(d), first.size(d));
      }
    }
    if (k == 0) continue;
    const auto sum = CheckedAdd(sizes[along], shape.size(along));
    if (!sum) return Violates("SHAPE-3", "size of dimension {} overflows int64", along);
    sizes[along] = *sum;
  }
  return MakeArray(first.element_type(), sizes, [&](int64_t d) { return (dynamic >> d) & 1; });
}

absl::StatusOr<Literal> EvalConcatenate(EvalContext& context, std::span<Literal> operands) {
  const int64_t along = context.attributes().List(Attr::kDimensions)[0];
  DimVector sizes = operands[0].runtime_sizes();
  for (size_t k = 1; k < operands.size(); ++k) {
    const DimVector part = operands[k].runtime_sizes();
    for (size_t d = 0; d < sizes.size(); ++d) {
      if (static_cast<int64_t>(d) == along || sizes[d] == part[d]) continue;
      return EvalError(context.instruction().position,
                       fmt::format("DYN-4: dimension {} of operand {} has run-time size {}, of operand 0 {}",
                                   d, k, part[d], sizes[d]));
    }
    sizes[along] += part[along];
  }
  if (operands.size() == 1) return ShareStorage(context, operands[0], sizes);
  ASSAY_ASSIGN_OR_RETURN(Literal result, NewSizedResult(context, sizes));
  if (result.shape().num_elements() == 0) return result;
  AffineMap to{0, RowMajorStrides(result.shape().sizes())};
  std::byte* out = result.MutableBytes().data();
  for (const Literal& operand : operands) {
    const DimVector part = operand.runtime_sizes();
    ASSAY_RETURN_IF_ERROR(ChargedMove(context, Bytes(operand.shape().element_type()), part, operand.data(),
                                      {0, RowMajorStrides(operand.shape().sizes())}, out, to));
    to.base += part[along] * to.strides[along];
  }
  return result;
}

// --- dynamic-slice, dynamic-update-slice: start indices ---

// One integral scalar a dimension, all of one type, or (the old form) one vector with an entry a dimension;
// operands `first` and on.
absl::Status CheckStarts(const InferContext& context, int64_t first, int64_t rank, std::string_view label) {
  const int64_t count = context.num_operands() - first;
  if (count == 1 && context.operand(first).IsArray() && context.operand(first).rank() == 1) {
    const Shape& starts = context.operand(first);
    if (!IsIntegral(starts.element_type()) || starts.size(0) != rank || starts.HasDynamic()) {
      return Violates(label, "start indices are {}, wanted {} integers", starts.ToString(), rank);
    }
    return absl::OkStatus();
  }
  if (count != rank) {
    return Violates(label, "{} start indices for an operand of {} dimensions", count, rank);
  }
  for (int64_t i = first; i < context.num_operands(); ++i) {
    const Shape& start = context.operand(i);
    if (!start.IsScalar() || !IsIntegral(start.element_type())) {
      return Violates(label, "start index {} is {}, wanted an integral scalar", i - first, start.ToString());
    }
    if (start.element_type() != context.operand(first).element_type()) {
      return Violates(label, "start index {} has element type {}, start index 0 {}", i - first,
                      Name(start.element_type()), Name(context.operand(first).element_type()));
    }
  }
  return absl::OkStatus();
}

// s[d] = clamp(start[d], 0, size[d] - window[d]), with run-time sizes (DYN-3).
// Decision: dynamic-slice-clamp
DimVector ClampedStarts(std::span<const Literal> starts, std::span<const int64_t> sizes,
                        std::span<const int64_t> window) {
  DimVector result(sizes.size(), 0);
  for (size_t d = 0; d < sizes.size(); ++d) {
    const bool vector = starts[0].shape().rank() == 1;
    const ElementType type = starts[0].shape().element_type();
    int64_t start;
    LoadIndices(type, starts[vector ? 0 : d].data() + (vector ? d * Bytes(type) : 0), 0, 1, &start);
    result[d] = std::clamp<int64_t>(start, 0, std::max<int64_t>(sizes[d] - window[d], 0));
  }
  return result;
}

// --- dynamic-slice ---
//
// out[I] = operand[s + I], s[d] = clamp(start[d], 0, size[d] - dynamic_slice_sizes[d])

absl::StatusOr<Shape> InferDynamicSlice(const InferContext& context) {
  ASSAY_RETURN_IF_ERROR(RequireArray(context, 0, "DynamicSlice-C1"));
  const Shape& operand = context.operand(0);
  ASSAY_RETURN_IF_ERROR(CheckStarts(context, 1, operand.rank(), "DynamicSlice-C1"));
  const auto sizes = context.attributes().List(Attr::kDynamicSliceSizes);
  if (static_cast<int64_t>(sizes.size()) != operand.rank()) {
    return Violates("DynamicSlice-C2", "dynamic_slice_sizes has {} entries, the operand has {} dimensions",
                    sizes.size(), operand.rank());
  }
  for (int64_t d = 0; d < operand.rank(); ++d) {
    if (sizes[d] < 0 || sizes[d] > operand.size(d)) {
      return Violates("DynamicSlice-C3",
                      "dynamic_slice_sizes[{}] is {}, dimension {} of the operand has size {}", d, sizes[d],
                      d, operand.size(d));
    }
  }
  return MakeArray(operand.element_type(), sizes, [&](int64_t d) {
    return operand.is_dynamic(d) && sizes[d] == operand.size(d) && sizes[d] > 1;
  });
}

absl::StatusOr<Literal> EvalDynamicSlice(EvalContext& context, std::span<Literal> operands) {
  const Literal& operand = operands[0];
  const Shape& shape = context.result_shape();
  const DimVector live = operand.runtime_sizes();
  DimVector sizes(shape.sizes().begin(), shape.sizes().end());
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (shape.is_dynamic(d) && sizes[d] == operand.shape().size(d)) sizes[d] = live[d];
  }
  if (shape.num_elements() == operand.shape().num_elements()) return ShareStorage(context, operand, sizes);
  const DimVector starts = ClampedStarts(operands.subspan(1), live, sizes);
  const DimVector strides = RowMajorStrides(operand.shape().sizes());
  ASSAY_ASSIGN_OR_RETURN(Literal result, NewSizedResult(context, sizes));
  if (shape.num_elements() == 0) return result;
  // Beyond the run-time size of the operand there are zeros, which is what a dead element gives.
  ASSAY_RETURN_IF_ERROR(
      MoveInto(context, sizes, operand, {LinearPosition(starts, strides), strides}, result));
  return result;
}

// --- dynamic-update-slice ---
//
// out = operand, then out[s + J] = update[J], s[d] = clamp(start[d], 0, size[d] - update size[d])

absl::StatusOr<Shape> InferDynamicUpdateSlice(const InferContext& context) {
  const Shape& operand = ArrayOf(context.operand(0));
  if (!context.operand(0).IsBuffer()) {
    ASSAY_RETURN_IF_ERROR(RequireArray(context, 0, "DynamicUpdateSlice-C1"));
  }
  ASSAY_RETURN_IF_ERROR(RequireArray(context, 1, "DynamicUpdateSlice-C2"));
  const Shape& update = context.operand(1);
  ASSAY_RETURN_IF_ERROR(CheckStarts(context, 2, operand.rank(), "DynamicUpdateSlice-C1"));
  if (update.rank() != operand.rank()) {
    return Violates("DynamicUpdateSlice-C2", "the update has {} dimensions, the operand {}", update.rank(),
                    operand.rank());
  }
  if (update.element_type() != operand.element_type()) {
    return Violates("DynamicUpdateSlice-C3", "the update has element type {}, the operand {}",
                    Name(update.element_type()), Name(operand.element_type()));
  }
  for (int64_t d = 0; d < operand.rank(); ++d) {
    if (update.size(d) > operand.size(d)) {
      return Violates("DynamicUpdateSlice-C4", "dimension {} of the update has size {}, of the operand {}", d,
                      update.size(d), operand.size(d));
    }
  }
  return context.operand(0);
}

absl::StatusOr<Literal> EvalDynamicUpdateSlice(EvalContext& context, std::span<Literal> operands) {
  const Literal& update = operands[1];
  const Shape& shape = ArrayOf(operands[0].shape());
  if (update.shape().num_elements() == 0) return std::move(operands[0]);
  DimVector sizes(shape.sizes().begin(), shape.sizes().end());
  DimVector written = update.runtime_sizes();
  for (int64_t d = 0; d < shape.rank(); ++d) sizes[d] = operands[0].dynamic_size(d);
  DimVector starts(sizes.size(), 0);
  if (shape.rank() > 0) starts = ClampedStarts(operands.subspan(2), sizes, written);
  // An update larger than the live operand is cut: writes to dead positions are lost.
  for (size_t d = 0; d < sizes.size(); ++d) written[d] = std::min(written[d], sizes[d] - starts[d]);
  const DimVector strides = RowMajorStrides(shape.sizes());
  ASSAY_ASSIGN_OR_RETURN(Literal result, Writable(context, std::move(operands[0])));
  ASSAY_RETURN_IF_ERROR(ChargedMove(context, Bytes(shape.element_type()), written, update.data(),
                                    {0, RowMajorStrides(update.shape().sizes())},
                                    result.MutableBytes().data(),
                                    {LinearPosition(starts, strides), strides}));
  return result;
}

constexpr AttrSpec kSliceAttrs[] = {Required(Attr::kSlice)};
constexpr AttrSpec kPadAttrs[] = {Required(Attr::kPadding)};
constexpr AttrSpec kConcatenateAttrs[] = {Required(Attr::kDimensions)};
constexpr AttrSpec kDynamicSliceAttrs[] = {Required(Attr::kDynamicSliceSizes)};

}  // namespace

constinit const OpDef ops::Slice = {
    .operands = Exactly(1),
    .types = kArrayTypes,
    .attributes = kSliceAttrs,
    .infer = InferSlice,
    .eval = EvalSlice,
};
constinit const OpDef ops::Pad = {
    .operands = Exactly(2),
    .types = kArrayTypes,
    .attributes = kPadAttrs,
    .infer = InferPad,
    .eval = EvalPad,
};
constinit const OpDef ops::Concatenate = {
    .operands = AtLeast(1),
    .types = kArrayTypes,
    .attributes = kConcatenateAttrs,
    .infer = InferConcatenate,
    .eval = EvalConcatenate,
};
constinit const OpDef ops::DynamicSlice = {
    .operands = AtLeast(1),
    .types = kArrayTypes,
    .attributes = kDynamicSliceAttrs,
    .infer = InferDynamicSlice,
    .eval = EvalDynamicSlice,
};
constinit const OpDef ops::DynamicUpdateSlice = {
    .operands = AtLeast(2),
    .types = kArrayTypes,
    .attributes = {},
    .infer = InferDynamicUpdateSlice,
    .eval = EvalDynamicUpdateSlice,
};

}  // namespace assay
