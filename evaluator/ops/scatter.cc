// scatter (spec/operations-shape.md, Scatter; RED of operations-linalg.md for the combiner; NUM-5).
//
// out = operands; for every index U of the updates in row-major order:
//   G = U at the dimensions that are not update_window_dims    an index of B, the batch dimensions of the
//   indices full[scatter_dims_to_operand_dims[k]] = indices[G with k at index_vector_dim], other entries 0
//   full[input_batching_dims[k]] = G at scatter_indices_batching_dims[k]
//   win[k-th remaining dimension of the operand] = U[update_window_dims[k]]
//   if the whole window is inside, 0 <= full[d] <= size[d] - extent[d] for all d:
//     out[full + win] = f(out[full + win], updates[U])
// The shape rule and the geometry are here; what is done with the windows is in scatter_apply.cc.
#include "evaluator/ops/index_vectors.h"
#include "evaluator/ops/reducer.h"
#include "evaluator/ops/scatter_apply.h"
#include "evaluator/ops/shape_rules.h"
#include "evaluator/scalar_function.h"

namespace assay {
namespace {

struct ScatterNumbers {
  explicit ScatterNumbers(const AttributeMap& attributes)
      : update_window_dims(attributes.List(Attr::kUpdateWindowDims)),
        inserted_window_dims(attributes.List(Attr::kInsertedWindowDims)),
        input_batching_dims(attributes.List(Attr::kInputBatchingDims)),
        scatter_indices_batching_dims(attributes.List(Attr::kScatterIndicesBatchingDims)),
        scatter_dims_to_operand_dims(attributes.List(Attr::kScatterDimsToOperandDims)),
        index_vector_dim(attributes.Int(Attr::kIndexVectorDim)) {}
  std::span<const int64_t> update_window_dims, inserted_window_dims, input_batching_dims,
      scatter_indices_batching_dims, scatter_dims_to_operand_dims;
  int64_t index_vector_dim;

  // Operand dimensions that update_window_dims stand for, in order.
  DimVector WindowOperandDims(int64_t operand_rank) const {
    return Remaining(operand_rank, inserted_window_dims, input_batching_dims);
  }
  // Position in B of a dimension of the indices.
  int64_t BatchPosition(int64_t d) const { return d < index_vector_dim ? d : d - 1; }
};

// C1 to C4. Operands are 0 to n - 1, the indices n, updates n + 1 to 2n.
absl::Status CheckOperands(const InferContext& context, int64_t n, const ScatterNumbers& s) {
  if (context.num_operands() % 2 == 0) {
    return Violates("Scatter-C1", "{} operands, wanted an odd number", context.num_operands());
  }
  for (int64_t i = 0; i < context.num_operands(); ++i) {
    ASSAY_RETURN_IF_ERROR(RequireArray(context, i, i == n ? "Scatter-C3" : "Scatter-C2"));
  }
  for (int64_t i = 1; i < n; ++i) {
    if (!Shape::SameDimensions(context.operand(i), context.operand(0))) {
      return Violates("Scatter-C2", "operand {} is {}, operand 0 {}", i, context.operand(i).ToString(),
                      context.operand(0).ToString());
    }
    if (!Shape::SameDimensions(context.operand(n + 1 + i), context.operand(n + 1))) {
      return Violates("Scatter-C2", "updates {} are {}, updates 0 {}", i,
                      context.operand(n + 1 + i).ToString(), context.operand(n + 1).ToString());
    }
  }
  const Shape& indices = context.operand(n);
  if (!IsIntegral(indices.element_type())) {
    return Violates("Scatter-C3", "the indices have element type {}, wanted an integral type",
                    Name(indices.element_type()));
  }
  if (s.index_vector_dim < 0 || s.index_vector_dim > indices.rank()) {
    return Violates("Scatter-C4", "index_vector_dim is {}, the indices have {} dimensions",
                    s.index_vector_dim, indices.rank());
  }
  return absl::OkStatus();
}

// C5 to C8, C10.
absl::Status CheckWindowDims(const Shape& operand, const Shape& updates, int64_t batch_rank,
                             const ScatterNumbers& s) {
  const int64_t window = static_cast<int64_t>(s.update_window_dims.size());
  if (updates.rank() != window + batch_rank) {
    return Violates("Scatter-C5",
                    "the updates have {} dimensions, wanted {} window and {} scatter dimensions",
                    updates.rank(), window, batch_rank);
  }
  ASSAY_RETURN_IF_ERROR(
      RequireAscending("Scatter-C6", "update_window_dims", s.update_window_dims, updates.rank()));
  ASSAY_RETURN_IF_ERROR(
      RequireAscending("Scatter-C7", "inserted_window_dims", s.inserted_window_dims, operand.rank()));
  ASSAY_RETURN_IF_ERROR(
      RequireAscending("Scatter-C8", "input_batching_dims", s.input_batching_dims, operand.rank()));
  ASSAY_RETURN_IF_ERROR(RequireDisjoint("Scatter-C8", "input_batching_dims", s.input_batching_dims,
                                        "inserted_window_dims", s.inserted_window_dims));
  const int64_t sum =
      window + static_cast<int64_t>(s.inserted_window_dims.size() + s.input_batching_dims.size());
  if (sum != operand.rank()) {
    return Violates("Scatter-C10",
                    "{} window, {} inserted and {} batching dimensions, the operand has {} dimensions",
                    window, s.inserted_window_dims.size(), s.input_batching_dims.size(), operand.rank());
  }
  return absl::OkStatus();
}

// C9, C11.
absl::Status CheckIndexMaps(const Shape& operand, const Shape& indices, const ScatterNumbers& s) {
  constexpr std::string_view kName = "scatter_indices_batching_dims";
  ASSAY_RETURN_IF_ERROR(RequireInRange("Scatter-C9", kName, s.scatter_indices_batching_dims, indices.rank()));
  ASSAY_RETURN_IF_ERROR(RequireDistinct("Scatter-C9", kName, s.scatter_indices_batching_dims));
  if (Contains(s.scatter_indices_batching_dims, s.index_vector_dim)) {
    return Violates("Scatter-C9", "{} contains index_vector_dim {}", kName, s.index_vector_dim);
  }
  if (s.scatter_indices_batching_dims.size() != s.input_batching_dims.size()) {
    return Violates("Scatter-C9", "{} has {} entries, input_batching_dims {}", kName,
                    s.scatter_indices_batching_dims.size(), s.input_batching_dims.size());
  }
  for (size_t k = 0; k < s.input_batching_dims.size(); ++k) {
    const int64_t o = s.input_batching_dims[k], i = s.scatter_indices_batching_dims[k];
    if (operand.size(o) != indices.size(i)) {
      return Violates("Scatter-C9", "batching dimension {} of the operand has size {}, {} of the indices {}",
                      o, operand.size(o), i, indices.size(i));
    }
  }
  const int64_t vector_size = IndexVectorSize(indices, s.index_vector_dim);
  const auto map = s.scatter_dims_to_operand_dims;
  if (static_cast<int64_t>(map.size()) != vector_size) {
    return Violates("Scatter-C11", "scatter_dims_to_operand_dims has {} entries, index vector has {}",
                    map.size(), vector_size);
  }
  ASSAY_RETURN_IF_ERROR(RequireInRange("Scatter-C11", "scatter_dims_to_operand_dims", map, operand.rank()));
  ASSAY_RETURN_IF_ERROR(RequireDistinct("Scatter-C11", "scatter_dims_to_operand_dims", map));
  return RequireDisjoint("Scatter-C11", "scatter_dims_to_operand_dims", map, "input_batching_dims",
                         s.input_batching_dims);
}

// C12, C13.
absl::Status CheckUpdateSizes(const Shape& operand, const Shape& indices, const Shape& updates,
                              const ScatterNumbers& s) {
  const DimVector window_operand_dims = s.WindowOperandDims(operand.rank());
  const DimVector batch = IndexBatchDims(indices, s.index_vector_dim);
  size_t next_window = 0, next_batch = 0;
  for (int64_t i = 0; i < updates.rank(); ++i) {
    if (Contains(s.update_window_dims, i)) {
      const int64_t d = window_operand_dims[next_window++];
      if (updates.size(i) > operand.size(d)) {
        return Violates("Scatter-C12",
                        "window dimension {} of the updates has size {}, dimension {} of the "
                        "operand {}",
                        i, updates.size(i), d, operand.size(d));
      }
    } else {
      const int64_t d = batch[next_batch++];
      if (updates.size(i) != indices.size(d)) {
        return Violates("Scatter-C13",
                        "dimension {} of the updates has size {}, dimension {} of the indices {}", i,
                        updates.size(i), d, indices.size(d));
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Shape> InferScatter(const InferContext& context) {
  const int64_t n = context.num_operands() / 2;
  const ScatterNumbers s(context.attributes());
  ASSAY_RETURN_IF_ERROR(CheckOperands(context, n, s));
  const Shape& operand = context.operand(0);
  const Shape& indices = context.operand(n);
  const Shape& updates = context.operand(n + 1);
  const DimVector batch = IndexBatchDims(indices, s.index_vector_dim);
  ASSAY_RETURN_IF_ERROR(CheckWindowDims(operand, updates, static_cast<int64_t>(batch.size()), s));
  ASSAY_RETURN_IF_ERROR(CheckIndexMaps(operand, indices, s));
  ASSAY_RETURN_IF_ERROR(CheckUpdateSizes(operand, indices, updates, s));

  std::vector<ElementType> update_types;
  std::vector<Shape> inits;
  for (int64_t i = 0; i < n; ++i) {
    update_types.push_back(context.operand(n + 1 + i).element_type());
    inits.push_back(Shape::Scalar(context.operand(i).element_type()));
  }
  const auto combiner = context.attributes().Computation(Attr::kToApply);
  auto types = VerifyReducer(context, *combiner, update_types, inits);
  if (!types.ok()) return WithPrefix(types.status(), "Scatter-C14");
  std::vector<Shape> results;
  for (int64_t i = 0; i < n; ++i) {
    ASSAY_ASSIGN_OR_RETURN(Shape result, MakeArray((*types)[i], context.operand(i).sizes(), [&](int64_t d) {
                             return context.operand(i).is_dynamic(d);
                           }));
    results.push_back(std::move(result));
  }
  return n == 1 ? std::move(results[0]) : Shape::Tuple(std::move(results));
}

// Strides and limits, in elements, with run-time sizes.
ScatterGeometry MakeGeometry(const Literal& operand, const Literal& indices, const Literal& updates,
                             const ScatterNumbers& s) {
  ScatterGeometry geometry;
  const DimVector operand_strides = RowMajorStrides(operand.shape().sizes());
  const DimVector update_strides = RowMajorStrides(updates.shape().sizes());
  const DimVector window_operand_dims = s.WindowOperandDims(operand.shape().rank());
  const int64_t batch_rank = updates.shape().rank() - static_cast<int64_t>(s.update_window_dims.size());
  DimVector extents(operand.shape().rank(), 1);
  for (int64_t i = 0; i < updates.shape().rank(); ++i) {
    if (!Contains(s.update_window_dims, i)) {
      geometry.updates.strides.push_back(update_strides[i]);
      geometry.update_dims.push_back({false, updates.dynamic_size(i), update_strides[i]});
      continue;
    }
    const int64_t d = window_operand_dims[geometry.window.size()];
    extents[d] = updates.dynamic_size(i);
    geometry.window.push_back(extents[d]);
    geometry.window_to.push_back(operand_strides[d]);
    geometry.window_from.push_back(update_strides[i]);
    geometry.update_dims.push_back({true, extents[d], operand_strides[d]});
  }
  geometry.batch.strides.assign(batch_rank, 0);
  for (size_t k = 0; k < s.input_batching_dims.size(); ++k) {
    geometry.batch.strides[s.BatchPosition(s.scatter_indices_batching_dims[k])] =
        operand_strides[s.input_batching_dims[k]];
  }
  for (int64_t d : s.scatter_dims_to_operand_dims) {
    geometry.limits.push_back(operand.dynamic_size(d) - extents[d]);
    geometry.strides.push_back(operand_strides[d]);
    geometry.disjoint &= extents[d] <= 1;
  }
  for (int64_t d = 0; d < operand.shape().rank(); ++d) {
    if (!Contains(s.input_batching_dims, d)) geometry.fits &= extents[d] <= operand.dynamic_size(d);
  }
  geometry.windows_last = true;
  for (size_t k = 0; k < s.update_window_dims.size(); ++k) {
    geometry.windows_last &= s.update_window_dims[k] == batch_rank + static_cast<int64_t>(k);
  }
  geometry.index_vector_dim = s.index_vector_dim;
  geometry.indices = &indices;
  return geometry;
}

absl::StatusOr<Literal> EvalScatter(EvalContext& context, std::span<Literal> operands) {
  return EvalScatterWith(context, operands,
                         [&](const ScatterGeometry& geometry, ScalarFunction& combiner,
                             std::span<const Literal> updates, std::span<Literal> results) {
                           return ApplyScatter(context, geometry, combiner, updates, results);
                         });
}

constexpr AttrSpec kScatterAttrs[] = {
    Required(Attr::kUpdateWindowDims),
    Required(Attr::kInsertedWindowDims),
    Required(Attr::kIndexVectorDim),
    Required(Attr::kScatterDimsToOperandDims),
    Required(Attr::kToApply),
    Optional(Attr::kInputBatchingDims),
    Optional(Attr::kScatterIndicesBatchingDims),
    Optional(Attr::kIndicesAreSorted),
    Optional(Attr::kUniqueIndices),
};

}  // namespace

absl::StatusOr<Literal> EvalScatterWith(EvalContext& context, std::span<Literal> operands,
                                        ScatterApplyFn apply) {
  const int64_t n = static_cast<int64_t>(operands.size()) / 2;
  const ScatterNumbers s(context.attributes());
  const ScatterGeometry geometry = MakeGeometry(operands[0], operands[n], operands[n + 1], s);
  ASSAY_ASSIGN_OR_RETURN(ScalarFunction * combiner,
                         context.Scalar(*context.attributes().Computation(Attr::kToApply)));
  std::vector<Literal> results, updates;
  for (int64_t i = 0; i < n; ++i) {
    ASSAY_ASSIGN_OR_RETURN(Literal update,
                           ConvertForReducer(context, operands[n + 1 + i], combiner->input_type(n + i)));
    updates.push_back(std::move(update));
    ASSAY_ASSIGN_OR_RETURN(Literal wide, ConvertForReducer(context, operands[i], combiner->input_type(i)));
    operands[i] = Literal();
    ASSAY_ASSIGN_OR_RETURN(Literal result, Writable(context, std::move(wide)));
    results.push_back(std::move(result));
  }
  // Offsets mean something only where there are elements.
  const bool any = updates[0].shape().num_elements() > 0 && results[0].shape().num_elements() > 0;
  if (any && geometry.fits) ASSAY_RETURN_IF_ERROR(apply(geometry, *combiner, updates, results));
  for (int64_t i = 0; i < n; ++i) {
    if (!results[i].IsFullSize()) results[i].ClearDeadElements();
    const DimVector sizes = results[i].runtime_sizes();
    if (n == 1) return ShareStorage(context, results[0], sizes);
  }
  return Literal::Tuple(context.shared_result_shape(), std::move(results));
}

constinit const OpDef ops::Scatter = {
    .operands = AtLeast(3),
    .types = kArrayTypes,
    .attributes = kScatterAttrs,
    .infer = InferScatter,
    .eval = EvalScatter,
};

}  // namespace assay
