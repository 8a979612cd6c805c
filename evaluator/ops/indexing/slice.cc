// Ops that take a part of an array, or put one into a larger one: slice, pad, concatenate, dynamic-slice,
// dynamic-update-slice (docs/spec/operations-shape.md; DYN-3 and DYN-7 of docs/spec/shapes.md for run-time
// sizes).
#include <algorithm>
#include <limits>

#include "absl/numeric/int128.h"
#include "base/checked.h"
#include "evaluator/audits/rules.h"
#include "evaluator/bounds/rules.h"
#include "evaluator/element_moves.h"
#include "evaluator/open_sizes.h"
#include "evaluator/runtime_sizes.h"
#include "evaluator/shape_rules.h"
#include "literal/element_io.h"

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
  DimVector sizes(shape.sizes().begin(), shape.sizes().end());
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (!shape.is_dynamic(d)) continue;
    // Each stride-th of the live positions from the start on gives one.
    const int64_t live = std::max<int64_t>(operand.dynamic_size(d) - slice[d].start, 0);
    sizes[d] = std::min(CeilDiv(live, slice[d].stride), shape.size(d));
  }
  ASSAY_ASSIGN_OR_RETURN(Literal result, NewSizedResult(context, sizes));
  // A result dimension of size 1 is static; where it selects a dead element, that is zero.
  const auto from = [&](Index i, DimVector& j) {
    for (size_t d = 0; d < i.size(); ++d) j[d] = slice[d].start + i[d] * slice[d].stride;
  };
  ASSAY_RETURN_IF_ERROR(TakeElements(context, sizes, operand, from, result));
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
  DimVector sizes;
  for (size_t d = 0; d < live.size(); ++d) {
    // Decision: pad-runtime-size
    sizes.push_back(static_cast<int64_t>(std::max<absl::int128>(PaddedSize(live[d], padding[d]), 0)));
  }
  ASSAY_ASSIGN_OR_RETURN(Literal result, NewSizedResult(context, sizes));
  ASSAY_RETURN_IF_ERROR(FillElements(context, sizes, operands[1], result));
  const auto to = [&](Index j, DimVector& i) {
    for (size_t d = 0; d < j.size(); ++d) {
      const absl::int128 at = padding[d].low + absl::int128(j[d]) * (absl::int128(padding[d].interior) + 1);
      if (at < 0 || at >= sizes[d]) return false;
      i[d] = static_cast<int64_t>(at);
    }
    return true;
  };
  ASSAY_RETURN_IF_ERROR(PutElements(context, live, operand, to, result));
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
  ASSAY_ASSIGN_OR_RETURN(DimVector sizes, CommonRuntimeSizes(context, operands, along));
  DimVector part = sizes;
  for (const Literal& operand : operands.subspan(1)) sizes[along] += operand.dynamic_size(along);
  ASSAY_ASSIGN_OR_RETURN(Literal result, NewSizedResult(context, sizes));
  int64_t offset = 0;
  for (const Literal& operand : operands) {
    const auto to = [&](Index j, DimVector& i) {
      i.assign(j.begin(), j.end());
      i[along] += offset;
      return true;
    };
    part[along] = operand.dynamic_size(along);
    ASSAY_RETURN_IF_ERROR(PutElements(context, part, operand, to, result));
    offset += part[along];
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
    const int64_t start = LoadIndex(type, starts[vector ? 0 : d].data() + (vector ? d * Bytes(type) : 0));
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
  const DimVector starts = ClampedStarts(operands.subspan(1), live, sizes);
  ASSAY_ASSIGN_OR_RETURN(Literal result, NewSizedResult(context, sizes));
  // Beyond the run-time size of the operand there are zeros, which is what a dead element gives.
  const auto from = [&](Index i, DimVector& j) {
    for (size_t d = 0; d < i.size(); ++d) j[d] = starts[d] + i[d];
  };
  ASSAY_RETURN_IF_ERROR(TakeElements(context, sizes, operand, from, result));
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
  DimVector sizes;
  for (int64_t d = 0; d < shape.rank(); ++d) sizes.push_back(operands[0].dynamic_size(d));
  const DimVector window = update.runtime_sizes();
  const DimVector starts = ClampedStarts(operands.subspan(2), sizes, window);
  ASSAY_ASSIGN_OR_RETURN(Literal result, Writable(context, std::move(operands[0])));
  // Of an update larger than the live operand, writes to dead positions are lost.
  const auto to = [&](Index j, DimVector& i) {
    for (size_t d = 0; d < j.size(); ++d) {
      i[d] = starts[d] + j[d];
      if (i[d] >= sizes[d]) return false;
    }
    return true;
  };
  ASSAY_RETURN_IF_ERROR(PutElements(context, window, update, to, result));
  return result;
}

constexpr AttrSpec kSliceAttrs[] = {Required(Attr::kSlice)};
constexpr AttrSpec kPadAttrs[] = {Required(Attr::kPadding)};
constexpr AttrSpec kConcatenateAttrs[] = {Required(Attr::kDimensions)};
constexpr AttrSpec kDynamicSliceAttrs[] = {Required(Attr::kDynamicSliceSizes)};

std::optional<AffineMap> SourceOfSlice(const InstructionView& view) {
  const auto& parts = std::get<SliceConfig>(*view.attributes().Find(Attr::kSlice));
  const DimVector strides = RowMajorStrides(view.operand(0).sizes());
  AffineMap source{0, {}};
  for (size_t d = 0; d < parts.size(); ++d) {
    source.base += parts[d].start * strides[d];
    // Where one element is taken, the stride may be any and means nothing.
    const bool one = view.result().size(static_cast<int64_t>(d)) <= 1;
    source.strides.push_back(one ? strides[d] : parts[d].stride * strides[d]);
  }
  return source;
}

// The update alone is read and written.
Work WorkOfDynamicUpdateSlice(const InstructionView& view) {
  return {.elements = work::Elements(view.operand(1)),
          .read = work::OperandBytes(view, 1),
          .written = work::BytesOf(view.operand(1))};
}

void DemandsOfDynamicSlice(const InstructionView& view, std::vector<OperandDemand>& demands) {
  demand::AddStarts(view, 1, view.attributes().List(Attr::kDynamicSliceSizes), demands);
}
void DemandsOfDynamicUpdateSlice(const InstructionView& view, std::vector<OperandDemand>& demands) {
  if (view.operand(0).IsArray()) demand::AddStarts(view, 2, view.operand(1).sizes(), demands);
}

// Where the parts are the components of index vectors, as traced programs write them, each part gets its own
// component; the first also what is promised of whole vectors.
void PassDemandToParts(const InstructionView& view, const InputDemand& demand, std::span<const int64_t>,
                       std::vector<OperandDemand>& demands) {
  const size_t parts = view.num_operands();
  const int64_t dimension = view.attributes().List(Attr::kDimensions)[0];
  bool by_component = demand.kind == InputDemand::Kind::kIndices && demand.inner == 1 &&
                      demand.components.size() == parts && dimension == view.result().rank() - 1;
  for (size_t i = 0; i < parts; ++i) by_component &= view.operand(i).size(dimension) == 1;
  for (size_t i = 0; i < parts; ++i) {
    if (!by_component) {
      demand::AddLoosened(static_cast<int64_t>(i), demand, demands);
      continue;
    }
    OperandDemand part{static_cast<int64_t>(i), demand};
    part.demand.components = {demand.components[i]};
    part.demand.sorted = demand.sorted && i == 0;
    part.demand.unique = demand.unique && i == 0;
    demands.push_back(std::move(part));
  }
}

// No element of a slice depends on the size, but for the one of a slice of size 1, which may be dead.
absl::Status OpenSizesOfSlice(OpenSizes& sizes) {
  for (int64_t d = 0; d < sizes.shape(0).rank(); ++d) {
    if (!sizes.context().result_shape().is_dynamic(d)) ASSAY_RETURN_IF_ERROR(sizes.Needs(0, d));
    if (sizes.IsOpen(0, d)) sizes.Open(d);
  }
  return absl::OkStatus();
}

// Where padding stands behind the elements depends on their number.
absl::Status OpenSizesOfPad(OpenSizes& sizes) {
  const PaddingConfig& padding = PaddingOf(sizes.context().attributes());
  for (int64_t d = 0; d < sizes.shape(0).rank(); ++d) {
    if (padding[d].high > 0) ASSAY_RETURN_IF_ERROR(sizes.Needs(0, d));
    if (sizes.IsOpen(0, d)) sizes.Open(d);
  }
  return absl::OkStatus();
}

absl::Status OpenSizesOfConcatenate(OpenSizes& sizes) {
  const int64_t along = sizes.context().attributes().List(Attr::kDimensions)[0];
  for (int64_t k = 0; k < sizes.num_operands(); ++k) ASSAY_RETURN_IF_ERROR(sizes.Needs(k, along));
  return open::Elementwise(sizes);
}

// The start of a slice of the whole dimension is 0; any other is clamped by the size.
absl::Status OpenSizesOfDynamicSlice(OpenSizes& sizes) {
  const auto slice = sizes.context().attributes().List(Attr::kDynamicSliceSizes);
  for (int64_t d = 0; d < sizes.shape(0).rank(); ++d) {
    if (slice[d] != sizes.shape(0).size(d)) ASSAY_RETURN_IF_ERROR(sizes.Needs(0, d));
    if (sizes.IsOpen(0, d)) sizes.Open(d);
  }
  return absl::OkStatus();
}

// An update with the operand's bound and no size is one of the whole dimension.
absl::Status OpenSizesOfDynamicUpdateSlice(OpenSizes& sizes) {
  for (int64_t d = 0; d < sizes.shape(0).rank(); ++d) {
    const bool whole = sizes.shape(0).size(d) == sizes.shape(1).size(d);
    const bool updates_all = whole && (sizes.IsOpen(1, d) || !sizes.shape(1).is_dynamic(d));
    if (!updates_all) {
      ASSAY_RETURN_IF_ERROR(sizes.Needs(0, d));
      ASSAY_RETURN_IF_ERROR(sizes.Needs(1, d));
    } else if (sizes.IsOpen(0, d)) {
      sizes.Open(d);
    } else {
      sizes.Meet({{0, d}, {1, d}});
    }
  }
  return absl::OkStatus();
}

}  // namespace

constinit const OpDef ops::Slice = {
    .operands = Exactly(1),
    .types = kArrayTypes,
    .attributes = kSliceAttrs,
    .infer = InferSlice,
    .eval = EvalSlice,
    .work = work::Part,
    .bound = bound::Moved,
    .audit = audit::Nothing,
    .moves = {.operands = 1},
    .source = SourceOfSlice,
    .open_sizes = OpenSizesOfSlice,
    .never_in_place = true,
};
constinit const OpDef ops::Pad = {
    .operands = Exactly(2),
    .types = kArrayTypes,
    .attributes = kPadAttrs,
    .infer = InferPad,
    .eval = EvalPad,
    .work = work::Move,
    .bound = bound::Moved,
    .audit = audit::Nothing,
    .moves = {.operands = 2},
    .open_sizes = OpenSizesOfPad,
};
constinit const OpDef ops::Concatenate = {
    .operands = AtLeast(1),
    .types = kArrayTypes,
    .attributes = kConcatenateAttrs,
    .infer = InferConcatenate,
    .eval = EvalConcatenate,
    .work = work::Move,
    .bound = bound::Moved,
    .audit = audit::Nothing,
    .moves = {.operands = MoveDef::kAll},
    .pass_demand = PassDemandToParts,
    .open_sizes = OpenSizesOfConcatenate,
};
constinit const OpDef ops::DynamicSlice = {
    .operands = AtLeast(1),
    .types = kArrayTypes,
    .attributes = kDynamicSliceAttrs,
    .infer = InferDynamicSlice,
    .eval = EvalDynamicSlice,
    .work = work::Part,
    .bound = bound::Moved,
    .audit = audit::DynamicSlice,
    .moves = {.operands = 1},
    .demands = DemandsOfDynamicSlice,
    .open_sizes = OpenSizesOfDynamicSlice,
    .never_in_place = true,
};
constinit const OpDef ops::DynamicUpdateSlice = {
    .operands = AtLeast(2),
    .types = kArrayTypes,
    .attributes = {},
    .infer = InferDynamicUpdateSlice,
    .eval = EvalDynamicUpdateSlice,
    .work = WorkOfDynamicUpdateSlice,
    .bound = bound::Moved,
    .audit = audit::DynamicUpdateSlice,
    .moves = {.operands = 2},
    .demands = DemandsOfDynamicUpdateSlice,
    .open_sizes = OpenSizesOfDynamicUpdateSlice,
};

}  // namespace assay
