// gather (docs/spec/operations-shape.md, Gather; DYN-3 and DYN-7 of docs/spec/shapes.md).
//
// For every result_index (in the specification O, with G, S, full and off):
//   batch_index = result_index at the dimensions that are not offset_dims
//   start_index[k] = start_indices[batch_index with k at index_vector_dim]
//   full_start_index[start_index_map[k]] = start_index[k], other entries 0
//   full_start_index[d] = clamp(full_start_index[d], 0, size[d] - slice_sizes[d])
//   full_start_index[operand_batching_dims[k]] = batch_index at start_indices_batching_dims[k]
//   full_offset_index[k-th remaining dimension of the operand] = result_index[offset_dims[k]]
//   operand_index = full_start_index + full_offset_index
//   result[result_index] = operand[operand_index]
#include "evaluator/ops/indexing/gather.h"

#include <algorithm>
#include <cstring>

#include "evaluator/audits/rules.h"
#include "evaluator/bounds/rules.h"
#include "evaluator/meter.h"
#include "evaluator/open_sizes.h"
#include "evaluator/ops/indexing/index_vectors.h"
#include "evaluator/ops/indexing/start_indices.h"
#include "evaluator/shape_rules.h"

namespace assay {
namespace {

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
    const int64_t operand_dim = g.operand_batching_dims[k], indices_dim = g.start_indices_batching_dims[k];
    if (operand.size(operand_dim) != indices.size(indices_dim)) {
      return Violates("Gather-C9", "batching dimension {} of the operand has size {}, {} of the indices {}",
                      operand_dim, operand.size(operand_dim), indices_dim, indices.size(indices_dim));
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

// operand_index of a result_index, by the formula above.
class GatherIndex {
 public:
  GatherIndex(const Literal& operand, const Literal& indices, const GatherNumbers& numbers)
      : numbers_(numbers),
        start_indices_(indices, numbers.index_vector_dim),
        offset_operand_dims_(numbers.OffsetOperandDims(operand.shape().rank())),
        batch_dims_(
            Remaining(static_cast<int64_t>(numbers.offset_dims.size()) + BatchRank(indices.shape(), numbers),
                      numbers.offset_dims)),
        batch_index_(batch_dims_.size()),
        operand_index_(operand.shape().rank()) {
    for (int64_t d = 0; d < operand.shape().rank(); ++d) {
      // A slice of a whole dynamic dimension has its run-time size.
      const bool whole = numbers.slice_sizes[d] == operand.shape().size(d);
      slice_sizes_.push_back(whole ? operand.dynamic_size(d) : numbers.slice_sizes[d]);
      max_starts_.push_back(std::max<int64_t>(operand.dynamic_size(d) - slice_sizes_[d], 0));
    }
  }

  // The run-time sizes of the result.
  DimVector ResultSizes(const Literal& indices) const {
    const DimVector indices_batch_dims = IndexBatchDims(indices.shape(), numbers_.index_vector_dim);
    DimVector sizes(batch_dims_.size() + numbers_.offset_dims.size());
    for (size_t k = 0; k < batch_dims_.size(); ++k)
      sizes[batch_dims_[k]] = indices.dynamic_size(indices_batch_dims[k]);
    for (size_t k = 0; k < offset_operand_dims_.size(); ++k) {
      sizes[numbers_.offset_dims[k]] = slice_sizes_[offset_operand_dims_[k]];
    }
    return sizes;
  }

  Index OperandIndex(Index result_index) {
    for (size_t k = 0; k < batch_dims_.size(); ++k) batch_index_[k] = result_index[batch_dims_[k]];
    // full_start_index
    std::fill(operand_index_.begin(), operand_index_.end(), 0);
    for (size_t k = 0; k < numbers_.start_index_map.size(); ++k) {
      const int64_t start_index = start_indices_.At(batch_index_, static_cast<int64_t>(k));
      const int64_t d = numbers_.start_index_map[k];
      // Decision: gather-oob-clamp
      operand_index_[d] = std::clamp<int64_t>(start_index, 0, max_starts_[d]);
    }
    for (size_t k = 0; k < numbers_.operand_batching_dims.size(); ++k) {
      operand_index_[numbers_.operand_batching_dims[k]] =
          batch_index_[numbers_.BatchPosition(numbers_.start_indices_batching_dims[k])];
    }
    // + full_offset_index
    for (size_t k = 0; k < offset_operand_dims_.size(); ++k) {
      operand_index_[offset_operand_dims_[k]] += result_index[numbers_.offset_dims[k]];
    }
    return operand_index_;
  }

 private:
  static int64_t BatchRank(const Shape& indices, const GatherNumbers& numbers) {
    return static_cast<int64_t>(IndexBatchDims(indices, numbers.index_vector_dim).size());
  }

  const GatherNumbers& numbers_;
  StartIndices start_indices_;
  const DimVector offset_operand_dims_;  // of the operand: neither collapsed nor batching
  const DimVector batch_dims_;           // of the result: not in offset_dims
  DimVector slice_sizes_;                // at run time
  DimVector max_starts_;                 // the largest start in each dimension of the operand
  DimVector batch_index_, operand_index_;
};

absl::StatusOr<Literal> EvalGather(EvalContext& context, std::span<Literal> operands) {
  const Literal& operand = operands[0];
  const Literal& indices = operands[1];
  const GatherNumbers numbers(context.attributes());
  GatherIndex index(operand, indices, numbers);
  const DimVector sizes = index.ResultSizes(indices);
  // Elements of empty collapsed slices, if the result has any, are zero.
  const bool nothing = operand.shape().num_elements() == 0 || Contains(numbers.slice_sizes, 0);
  ASSAY_ASSIGN_OR_RETURN(Literal result, NewSizedResult(context, sizes, nothing));
  if (nothing) return result;
  const ArrayView x(operand);
  const MutableArrayView out(result);
  Meter meter(context);
  for (IndexWalk walk(sizes); !walk.done(); walk.Next()) {
    const Index result_index = walk.index();
    std::memcpy(out.At(result_index), x.At(index.OperandIndex(result_index)), x.element_bytes());
    ASSAY_RETURN_IF_ERROR(meter.Add(1));
  }
  ASSAY_RETURN_IF_ERROR(meter.Flush());
  return result;
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

void DemandsOfGather(const InstructionView& view, std::vector<OperandDemand>& demands) {
  const AttributeMap& attributes = view.attributes();
  demands.push_back(
      {1, demand::IndexVectors(attributes, view.operand(0), view.operand(1),
                               attributes.List(Attr::kStartIndexMap), attributes.List(Attr::kSliceSizes))});
}

absl::Status OpenSizesOfGather(OpenSizes& sizes) {
  const GatherNumbers g(sizes.context().attributes());
  const Shape &operand = sizes.shape(0), &indices = sizes.shape(1);
  if (g.index_vector_dim < indices.rank()) ASSAY_RETURN_IF_ERROR(sizes.Needs(1, g.index_vector_dim));
  for (size_t k = 0; k < g.operand_batching_dims.size(); ++k)
    sizes.Meet({{0, g.operand_batching_dims[k]}, {1, g.start_indices_batching_dims[k]}});
  // A slice of the whole dimension starts at 0; any other start is clamped by the size.
  for (int64_t d = 0; d < operand.rank(); ++d) {
    if (Contains(g.operand_batching_dims, d) || g.slice_sizes[d] == operand.size(d)) continue;
    ASSAY_RETURN_IF_ERROR(sizes.Needs(0, d));
  }
  const DimVector offset_operand_dims = g.OffsetOperandDims(operand.rank());
  for (size_t k = 0; k < offset_operand_dims.size(); ++k) {
    if (sizes.IsOpen(0, offset_operand_dims[k])) sizes.Open(g.offset_dims[k]);
  }
  const DimVector batch = IndexBatchDims(indices, g.index_vector_dim);
  const DimVector of_result = Remaining(sizes.context().result_shape().rank(), g.offset_dims);
  for (size_t k = 0; k < batch.size(); ++k) {
    if (sizes.IsOpen(1, batch[k])) sizes.Open(of_result[k]);
  }
  return absl::OkStatus();
}

}  // namespace

DimVector GatherNumbers::OffsetOperandDims(int64_t operand_rank) const {
  return Remaining(operand_rank, collapsed_slice_dims, operand_batching_dims);
}

constinit const OpDef ops::Gather = {
    .operands = Exactly(2),
    .types = kArrayTypes,
    .attributes = kGatherAttrs,
    .infer = InferGather,
    .eval = EvalGather,
    .work = work::Part,
    .bound = bound::Moved,
    .audit = audit::Gather,
    .moves = {.operands = 1},
    .demands = DemandsOfGather,
    .open_sizes = OpenSizesOfGather,
    .never_in_place = true,
};

}  // namespace assay
