// gather (spec/operations-shape.md, Gather; DYN-3 and DYN-7 of spec/shapes.md).
//
// For every index O of the result:
//   G = O at the dimensions that are not offset_dims               (an index of B, the batch dimensions of the indices)
//   S[k] = start_indices[G with k at index_vector_dim]
//   full[start_index_map[k]] = S[k], other entries 0
//   full[d] = clamp(full[d], 0, size[d] - slice_sizes[d])
//   full[operand_batching_dims[k]] = G at start_indices_batching_dims[k]
//   off[k-th remaining dimension of the operand] = O[offset_dims[k]]
//   out[O] = operand[full + off]
// So each G moves one slice: the inner loop is a strided move, prepared once. The index operand's walk is in
// index_vectors.cc.
#include "evaluator/ops/gather.h"

#include <algorithm>
#include <cstring>

#include "evaluator/move.h"
#include "evaluator/ops/index_vectors.h"
#include "evaluator/ops/shape_rules.h"
#include "shape/checked.h"

namespace assay {
namespace {

struct GatherNumbers {
  explicit GatherNumbers(const AttributeMap& attributes)
      : offset_dims(attributes.List(Attr::kOffsetDims)),
        collapsed_slice_dims(attributes.List(Attr::kCollapsedSliceDims)),
        start_index_map(attributes.List(Attr::kStartIndexMap)),
        operand_batching_dims(attributes.List(Attr::kOperandBatchingDims)),
        start_indices_batching_dims(attributes.List(Attr::kStartIndicesBatchingDims)),
        index_vector_dim(attributes.Int(Attr::kIndexVectorDim)) {
    // slice_sizes is a list of numbers here and of lists on other ops.
    if (const auto* ints = std::get_if<Ints>(attributes.Find(Attr::kSliceSizes))) slice_sizes = *ints;
  }
  std::span<const int64_t> offset_dims, collapsed_slice_dims, start_index_map, operand_batching_dims,
      start_indices_batching_dims, slice_sizes;
  int64_t index_vector_dim;

  // Operand dimensions that offset_dims stand for, in order.
  DimVector OffsetOperandDims(int64_t operand_rank) const {
    return Remaining(operand_rank, collapsed_slice_dims, operand_batching_dims);
  }
  // Position in B of a dimension of the indices.
  int64_t BatchPosition(int64_t d) const { return d < index_vector_dim ? d : d - 1; }
};

// C1 to C4.
absl::Status CheckIndices(const Shape& operand, const Shape& indices, const GatherNumbers& g) {
  if (!IsIntegral(indices.element_type())) {
    return Violates("Gather-C1", "the indices have element type {}, wanted an integral type",
                    Name(indices.element_type()));
  }
  if (g.index_vector_dim < 0 || g.index_vector_dim > indices.rank()) {
    return Violates("Gather-C2", "index_vector_dim is {}, the indices have {} dimensions", g.index_vector_dim,
                    indices.rank());
  }
  if (static_cast<int64_t>(g.slice_sizes.size()) != operand.rank()) {
    return Violates("Gather-C3", "slice_sizes has {} entries, the operand has {} dimensions",
                    g.slice_sizes.size(), operand.rank());
  }
  for (int64_t d = 0; d < operand.rank(); ++d) {
    if (g.slice_sizes[d] < 0 || g.slice_sizes[d] > operand.size(d)) {
      return Violates("Gather-C3", "slice_sizes[{}] is {}, dimension {} of the operand has size {}", d,
                      g.slice_sizes[d], d, operand.size(d));
    }
  }
  const int64_t vector_size = IndexVectorSize(indices, g.index_vector_dim);
  if (static_cast<int64_t>(g.start_index_map.size()) != vector_size) {
    return Violates("Gather-C4", "start_index_map has {} entries, index vector has {}",
                    g.start_index_map.size(), vector_size);
  }
  ASSAY_RETURN_IF_ERROR(RequireInRange("Gather-C4", "start_index_map", g.start_index_map, operand.rank()));
  return RequireDistinct("Gather-C4", "start_index_map", g.start_index_map);
}

// C6 and C7: dimensions of the operand that the result does not have.
absl::Status CheckUnitDims(std::string_view label, std::string_view name, std::span<const int64_t> list,
                           const Shape& operand, const GatherNumbers& g) {
  ASSAY_RETURN_IF_ERROR(RequireAscending(label, name, list, operand.rank()));
  for (int64_t d : list) {
    if (g.slice_sizes[d] > 1) {
      return Violates(label, "dimension {} is in {}, but slice_sizes[{}] is {}, wanted 0 or 1", d, name, d,
                      g.slice_sizes[d]);
    }
  }
  return absl::OkStatus();
}

// C8 to C10.
absl::Status CheckBatching(const Shape& operand, const Shape& indices, const GatherNumbers& g) {
  constexpr std::string_view kName = "start_indices_batching_dims";
  ASSAY_RETURN_IF_ERROR(RequireInRange("Gather-C8", kName, g.start_indices_batching_dims, indices.rank()));
  ASSAY_RETURN_IF_ERROR(RequireDistinct("Gather-C8", kName, g.start_indices_batching_dims));
  if (Contains(g.start_indices_batching_dims, g.index_vector_dim)) {
    return Violates("Gather-C8", "{} contains index_vector_dim {}", kName, g.index_vector_dim);
  }
  if (g.start_indices_batching_dims.size() != g.operand_batching_dims.size()) {
    return Violates("Gather-C8", "{} has {} entries, operand_batching_dims {}", kName,
                    g.start_indices_batching_dims.size(), g.operand_batching_dims.size());
  }
  for (size_t k = 0; k < g.operand_batching_dims.size(); ++k) {
    const int64_t o = g.operand_batching_dims[k], i = g.start_indices_batching_dims[k];
    if (operand.size(o) != indices.size(i)) {
      return Violates("Gather-C9", "batching dimension {} of the operand has size {}, {} of the indices {}",
                      o, operand.size(o), i, indices.size(i));
    }
  }
  ASSAY_RETURN_IF_ERROR(RequireDisjoint("Gather-C10", "collapsed_slice_dims", g.collapsed_slice_dims,
                                        "operand_batching_dims", g.operand_batching_dims));
  return RequireDisjoint("Gather-C10", "start_index_map", g.start_index_map, "operand_batching_dims",
                         g.operand_batching_dims);
}

absl::StatusOr<Shape> InferGather(const InferContext& context) {
  ASSAY_RETURN_IF_ERROR(RequireArray(context, 0, "Gather"));
  ASSAY_RETURN_IF_ERROR(RequireArray(context, 1, "Gather-C1"));
  const Shape& operand = context.operand(0);
  const Shape& indices = context.operand(1);
  const GatherNumbers g(context.attributes());
  ASSAY_RETURN_IF_ERROR(CheckIndices(operand, indices, g));
  const DimVector batch = IndexBatchDims(indices, g.index_vector_dim);
  const int64_t rank = static_cast<int64_t>(g.offset_dims.size() + batch.size());
  ASSAY_RETURN_IF_ERROR(RequireAscending("Gather-C5", "offset_dims", g.offset_dims, rank));
  ASSAY_RETURN_IF_ERROR(
      CheckUnitDims("Gather-C6", "collapsed_slice_dims", g.collapsed_slice_dims, operand, g));
  ASSAY_RETURN_IF_ERROR(
      CheckUnitDims("Gather-C7", "operand_batching_dims", g.operand_batching_dims, operand, g));
  ASSAY_RETURN_IF_ERROR(CheckBatching(operand, indices, g));
  const DimVector offset_operand_dims = g.OffsetOperandDims(operand.rank());
  if (g.offset_dims.size() != offset_operand_dims.size()) {
    return Violates(
        "Gather-C11", "{} offset, {} collapsed and {} batching dimensions, the operand has {} dimensions",
        g.offset_dims.size(), g.collapsed_slice_dims.size(), g.operand_batching_dims.size(), operand.rank());
  }
  DimVector sizes;
  absl::InlinedVector<bool, 6> dynamic;
  size_t next_offset = 0, next_batch = 0;
  for (int64_t i = 0; i < rank; ++i) {
    if (Contains(g.offset_dims, i)) {
      const int64_t d = offset_operand_dims[next_offset++];
      sizes.push_back(g.slice_sizes[d]);
      dynamic.push_back(operand.is_dynamic(d) && g.slice_sizes[d] == operand.size(d));
    } else {
      const int64_t d = batch[next_batch++];
      sizes.push_back(indices.size(d));
      dynamic.push_back(indices.is_dynamic(d));
    }
  }
  return MakeArray(operand.element_type(), sizes, [&](int64_t i) { return dynamic[i]; });
}

GatherPlan MakeGatherPlan(const Literal& operand, const Literal& indices, const Shape& result,
                          const GatherNumbers& g) {
  GatherPlan plan{.indices = &indices, .index_vector_dim = g.index_vector_dim};
  const DimVector operand_strides = RowMajorStrides(operand.shape().sizes());
  const DimVector result_strides = RowMajorStrides(result.sizes());
  const DimVector batch_dims = IndexBatchDims(indices.shape(), g.index_vector_dim);
  const DimVector offset_operand_dims = g.OffsetOperandDims(operand.shape().rank());
  // A slice of a whole dynamic dimension has its run-time size.
  const auto slice_size = [&](int64_t d) {
    return g.slice_sizes[d] == operand.shape().size(d) ? operand.dynamic_size(d) : g.slice_sizes[d];
  };
  for (int64_t i = 0; i < result.rank(); ++i) {
    if (Contains(g.offset_dims, i)) {
      const int64_t d = offset_operand_dims[plan.slice.size()];
      plan.slice.push_back(slice_size(d));
      plan.from_strides.push_back(operand_strides[d]);
      plan.to_strides.push_back(result_strides[i]);
      plan.sizes.push_back(slice_size(d));
    } else {
      plan.sizes.push_back(indices.dynamic_size(batch_dims[plan.out.strides.size()]));
      plan.out.strides.push_back(result_strides[i]);
    }
  }
  plan.batch.strides.assign(batch_dims.size(), 0);
  for (size_t k = 0; k < g.operand_batching_dims.size(); ++k) {
    plan.batch.strides[g.BatchPosition(g.start_indices_batching_dims[k])] =
        operand_strides[g.operand_batching_dims[k]];
  }
  for (int64_t d : g.start_index_map) {
    // Decision: gather-oob-clamp
    plan.limits.push_back(std::max<int64_t>(operand.dynamic_size(d) - slice_size(d), 0));
    plan.strides.push_back(operand_strides[d]);
  }
  return plan;
}

// Slices of one length in bytes that the compiler knows.
template <int64_t kBytes>
void CopySlices(int64_t n, const std::byte* src, const int64_t* from, int64_t element_bytes, std::byte* dst,
                int64_t step_bytes) {
  for (int64_t i = 0; i < n; ++i) std::memcpy(dst + i * step_bytes, src + from[i] * element_bytes, kBytes);
}
// dst + i * step_bytes = the slice at element from[i].
void MoveSlices(const StridedMove& move, int64_t n, const std::byte* src, const int64_t* from,
                int64_t element_bytes, std::byte* dst, int64_t step_bytes) {
  switch (move.block_bytes()) {
    case 1:
      return CopySlices<1>(n, src, from, element_bytes, dst, step_bytes);
    case 2:
      return CopySlices<2>(n, src, from, element_bytes, dst, step_bytes);
    case 4:
      return CopySlices<4>(n, src, from, element_bytes, dst, step_bytes);
    case 8:
      return CopySlices<8>(n, src, from, element_bytes, dst, step_bytes);
    case 16:
      return CopySlices<16>(n, src, from, element_bytes, dst, step_bytes);
    default:
      for (int64_t i = 0; i < n; ++i) move.Run(src + from[i] * element_bytes, dst + i * step_bytes);
  }
}

// One strip after the other.
absl::Status MoveAllSlices(EvalContext& context, const GatherPlan& plan, const Literal& operand,
                           Literal& result) {
  const int64_t bytes = Bytes(operand.shape().element_type());
  const StridedMove move(static_cast<int>(bytes), plan.slice, plan.from_strides, plan.to_strides);
  const int64_t slice_elements = CheckedProduct(plan.slice).value_or(0);
  const std::byte* src = operand.data();
  std::byte* dst = result.MutableBytes().data();
  return ForEachIndexVector(
      *plan.indices, plan.index_vector_dim, plan.out, plan.batch,
      [&](int64_t n, const int64_t* components, const int64_t* bases, const int64_t* steps) {
        int64_t from[kStrip];
        for (int64_t i = 0; i < n; ++i) from[i] = bases[1] + i * steps[1];
        for (size_t k = 0; k < plan.limits.size(); ++k, components += kStrip) {
          const int64_t limit = plan.limits[k], stride = plan.strides[k];
          for (int64_t i = 0; i < n; ++i) {
            from[i] += std::clamp<int64_t>(components[i], 0, limit) * stride;
          }
        }
        MoveSlices(move, n, src, from, bytes, dst + bases[0] * bytes, steps[0] * bytes);
        return context.Charge(n * slice_elements);
      });
}

absl::StatusOr<Literal> EvalGather(EvalContext& context, std::span<Literal> operands) {
  return EvalGatherWith(context, operands,
                        [&](const GatherPlan& plan, const Literal& operand, Literal& result) {
                          return MoveAllSlices(context, plan, operand, result);
                        });
}

constexpr AttrSpec kGatherAttrs[] = {
    Required(Attr::kOffsetDims),
    Required(Attr::kCollapsedSliceDims),
    Required(Attr::kStartIndexMap),
    Required(Attr::kIndexVectorDim),
    Required(Attr::kSliceSizes),
    Optional(Attr::kOperandBatchingDims),
    Optional(Attr::kStartIndicesBatchingDims),
    Optional(Attr::kIndicesAreSorted),
};

}  // namespace

absl::StatusOr<Literal> EvalGatherWith(EvalContext& context, std::span<Literal> operands, GatherMoveFn move) {
  const Literal& operand = operands[0];
  const GatherNumbers g(context.attributes());
  const GatherPlan plan = MakeGatherPlan(operand, operands[1], context.result_shape(), g);
  // Elements of empty collapsed slices, if the result has any, are zero.
  const bool nothing = operand.shape().num_elements() == 0 || Contains(g.slice_sizes, 0);
  ASSAY_ASSIGN_OR_RETURN(Literal result, NewSizedResult(context, plan.sizes, nothing));
  if (nothing) return result;
  ASSAY_RETURN_IF_ERROR(move(plan, operand, result));
  return result;
}

constinit const OpDef ops::Gather = {
    .operands = Exactly(2),
    .types = kArrayTypes,
    .attributes = kGatherAttrs,
    .infer = InferGather,
    .eval = EvalGather,
};

}  // namespace assay
