// scatter (docs/spec/operations-shape.md, Scatter; RED of docs/spec/operations-linalg.md for the combiner;
// NUM-5).
//
// results = operands; for every update_index in row-major order (in the specification U, with G, full, win):
//   batch_index = update_index at the dimensions that are not update_window_dims
//   start_index[k] = scatter_indices[batch_index with k at index_vector_dim]
//   full_start_index[scatter_dims_to_operand_dims[k]] = start_index[k], other entries 0
//   full_start_index[input_batching_dims[k]] = batch_index at scatter_indices_batching_dims[k]
//   full_window_index[k-th remaining dimension of the operand] = update_index[update_window_dims[k]]
//   if the whole window is inside, 0 <= full_start_index[d] <= size[d] - extent[d] for all d:
//     result_index = full_start_index + full_window_index
//     results[result_index] = f(results[result_index], updates[update_index])
// where extent[d] is the updates' size in the window dimension that stands for d, else 1.
#include "evaluator/ops/indexing/scatter.h"

#include <algorithm>

#include "evaluator/audits/rules.h"
#include "evaluator/bounds/rules.h"
#include "evaluator/meter.h"
#include "evaluator/open_sizes.h"
#include "evaluator/ops/indexing/index_vectors.h"
#include "evaluator/ops/indexing/start_indices.h"
#include "evaluator/ops/reduction/reducer.h"
#include "evaluator/ops/reduction/scattered_sums.h"
#include "evaluator/scalar_function.h"
#include "evaluator/shape_rules.h"

namespace assay {
namespace {

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
    TakeLayout(context.operand(i), result);
    results.push_back(std::move(result));
  }
  return n == 1 ? std::move(results[0]) : Shape::Tuple(std::move(results));
}

// result_index of an update_index, by the formula above.
class ScatterIndex {
 public:
  ScatterIndex(const Literal& operand, const Literal& indices, const Literal& updates,
               const ScatterNumbers& numbers)
      : numbers_(numbers),
        start_indices_(indices, numbers.index_vector_dim),
        window_operand_dims_(numbers.WindowOperandDims(operand.shape().rank())),
        batch_dims_(Remaining(updates.shape().rank(), numbers.update_window_dims)),
        sizes_(operand.runtime_sizes()),
        extents_(operand.shape().rank(), 1),
        update_sizes_(updates.runtime_sizes()),
        batch_index_(batch_dims_.size()),
        result_index_(operand.shape().rank()) {
    for (size_t k = 0; k < window_operand_dims_.size(); ++k) {
      extents_[window_operand_dims_[k]] = update_sizes_[numbers.update_window_dims[k]];
    }
    const DimVector batch = IndexBatchDims(indices.shape(), numbers.index_vector_dim);
    for (size_t k = 0; k < batch.size(); ++k) update_sizes_[batch_dims_[k]] = indices.dynamic_size(batch[k]);
  }

  // Sets result_index(); false where the window is not wholly inside.
  bool Find(Index update_index) {
    for (size_t k = 0; k < batch_dims_.size(); ++k) batch_index_[k] = update_index[batch_dims_[k]];
    // full_start_index
    std::fill(result_index_.begin(), result_index_.end(), 0);
    for (size_t k = 0; k < numbers_.scatter_dims_to_operand_dims.size(); ++k) {
      result_index_[numbers_.scatter_dims_to_operand_dims[k]] =
          start_indices_.At(batch_index_, static_cast<int64_t>(k));
    }
    for (size_t k = 0; k < numbers_.input_batching_dims.size(); ++k) {
      result_index_[numbers_.input_batching_dims[k]] =
          batch_index_[numbers_.BatchPosition(numbers_.scatter_indices_batching_dims[k])];
    }
    // Decision: scatter-window-drop
    for (size_t d = 0; d < result_index_.size(); ++d) {
      if (result_index_[d] < 0 || result_index_[d] > sizes_[d] - extents_[d]) return false;
    }
    // + full_window_index
    for (size_t k = 0; k < window_operand_dims_.size(); ++k) {
      result_index_[window_operand_dims_[k]] += update_index[numbers_.update_window_dims[k]];
    }
    return true;
  }
  Index result_index() const { return result_index_; }
  // Sizes of the updates at run time; in the batch dimensions, those of the indices.
  const DimVector& update_sizes() const { return update_sizes_; }

 private:
  const ScatterNumbers& numbers_;
  StartIndices start_indices_;
  const DimVector window_operand_dims_;  // of the operand: neither inserted nor batching
  const DimVector batch_dims_;           // of the updates: not in update_window_dims
  const DimVector sizes_;                // of the operand, at run time
  DimVector extents_;                    // of the window, by dimension of the operand
  DimVector update_sizes_;
  DimVector batch_index_, result_index_;
};

// RED-2.
absl::Status CombineInOrder(EvalContext& context, ScalarFunction& combiner, ScatterIndex& index,
                            std::span<const Literal> updates, std::span<Literal> results) {
  const std::vector<ArrayView> from(updates.begin(), updates.end());
  const std::vector<MutableArrayView> out(results.begin(), results.end());
  std::vector<std::byte*> current(out.size());
  std::vector<const std::byte*> update(out.size());
  ReducerCall f(combiner);
  Meter meter(context);
  for (IndexWalk walk(index.update_sizes()); !walk.done(); walk.Next()) {
    const Index update_index = walk.index();
    ASSAY_RETURN_IF_ERROR(meter.Add(1));
    if (!index.Find(update_index)) continue;
    for (size_t k = 0; k < out.size(); ++k) {
      current[k] = out[k].At(index.result_index());
      update[k] = from[k].At(update_index);
    }
    ASSAY_RETURN_IF_ERROR(f.Apply(current, update));
  }
  return meter.Flush();
}

// RED-1 (NUM-5).
absl::Status SumExactly(EvalContext& context, ScatterIndex& index, const Literal& update, Literal& result) {
  ASSAY_ASSIGN_OR_RETURN(ScatteredSums sums, ScatteredSums::Make(context, update, result));
  Meter meter(context);
  for (IndexWalk walk(index.update_sizes()); !walk.done(); walk.Next()) {
    const Index update_index = walk.index();
    if (index.Find(update_index)) sums.AddTerm(index.result_index(), update_index);
    ASSAY_RETURN_IF_ERROR(meter.Add(1));
  }
  ASSAY_RETURN_IF_ERROR(meter.Flush());
  return sums.Store();
}

absl::StatusOr<Literal> EvalScatter(EvalContext& context, std::span<Literal> operands) {
  const int64_t n = static_cast<int64_t>(operands.size()) / 2;
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
  const ScatterNumbers numbers(context.attributes());
  ScatterIndex index(results[0], operands[n], updates[0], numbers);
  ASSAY_RETURN_IF_ERROR(combiner->is_exact_sum()
                            ? SumExactly(context, index, updates[0], results[0])
                            : CombineInOrder(context, *combiner, index, updates, results));
  for (Literal& result : results) {
    if (!result.IsFullSize()) result.ClearDeadElements();
  }
  if (n == 1) return ShareStorage(context, results[0], results[0].runtime_sizes());
  return Literal::Tuple(context.shared_result_shape(), std::move(results));
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

// The updates alone, and the elements that they meet, are read and written.
Work WorkOfScatter(const InstructionView& view) {
  const size_t arrays = view.num_operands() / 2;  // and as many updates behind the indices
  Work work;
  for (size_t k = arrays + 1; k < view.num_operands(); ++k) {
    work.elements += work::Elements(view.operand(k));
    work.written += work::BytesOf(view.operand(k));
  }
  work.read = work.written + work::OperandBytes(view, arrays);
  work.applied = {{Attr::kToApply, work::Elements(view.operand(arrays + 1))}};
  return work;
}

// The extent of a window in an operand dimension is the size of its update dimension, 1 if none.
void DemandsOfScatter(const InstructionView& view, std::vector<OperandDemand>& demands) {
  const AttributeMap& attributes = view.attributes();
  const size_t arrays = view.num_operands() / 2;
  const Shape &operand = view.operand(0), &updates = view.operand(arrays + 1);
  const auto is_in = [&](Attr dims, int64_t d) {
    const std::span<const int64_t> list = attributes.List(dims);
    return std::find(list.begin(), list.end(), d) != list.end();
  };
  const std::span<const int64_t> window = attributes.List(Attr::kUpdateWindowDims);
  DimVector extent(static_cast<size_t>(operand.rank()), 1);
  size_t k = 0;
  for (int64_t d = 0; d < operand.rank(); ++d) {
    const bool absent = is_in(Attr::kInsertedWindowDims, d) || is_in(Attr::kInputBatchingDims, d);
    if (!absent && k < window.size()) extent[static_cast<size_t>(d)] = updates.size(window[k++]);
  }
  demands.push_back({static_cast<int64_t>(arrays),
                     demand::IndexVectors(attributes, operand, view.operand(arrays),
                                          attributes.List(Attr::kScatterDimsToOperandDims), extent)});
}

// Dimension d of every operand, or of every update: they have one size.
std::vector<OperandDimension> InAll(int64_t first, int64_t n, int64_t d) {
  std::vector<OperandDimension> dimensions;
  for (int64_t i = 0; i < n; ++i) dimensions.push_back({first + i, d});
  return dimensions;
}

absl::Status OpenSizesOfScatter(OpenSizes& sizes) {
  const ScatterNumbers s(sizes.context().attributes());
  const int64_t n = sizes.num_operands() / 2;
  const Shape &operand = sizes.shape(0), &indices = sizes.shape(n), &updates = sizes.shape(n + 1);
  if (s.index_vector_dim < indices.rank()) ASSAY_RETURN_IF_ERROR(sizes.Needs(n, s.index_vector_dim));
  // How many windows there are is to be known, and whether they fit. Indices and updates say the first,
  // the operand the second.
  const DimVector batch = IndexBatchDims(indices, s.index_vector_dim);
  const DimVector of_updates = Remaining(updates.rank(), s.update_window_dims);
  for (size_t k = 0; k < batch.size(); ++k) {
    std::vector<OperandDimension> met = InAll(n + 1, n, of_updates[k]);
    met.push_back({n, batch[k]});
    if (sizes.Meet(met)) ASSAY_RETURN_IF_ERROR(sizes.Needs(n, batch[k]));
  }
  const DimVector window = s.WindowOperandDims(operand.rank());
  for (size_t k = 0; k < window.size(); ++k) {
    std::vector<OperandDimension> met = InAll(n + 1, n, s.update_window_dims[k]);
    const bool whole = updates.size(s.update_window_dims[k]) == operand.size(window[k]);
    for (int64_t i = 0; whole && i < n; ++i) met.push_back({i, window[k]});
    if (sizes.Meet(met)) ASSAY_RETURN_IF_ERROR(sizes.Needs(n + 1, s.update_window_dims[k]));
  }
  for (int64_t d = 0; d < operand.rank(); ++d) {
    if (sizes.Meet(InAll(0, n, d))) ASSAY_RETURN_IF_ERROR(sizes.Needs(0, d));
  }
  return absl::OkStatus();
}

}  // namespace

DimVector ScatterNumbers::WindowOperandDims(int64_t operand_rank) const {
  return Remaining(operand_rank, inserted_window_dims, input_batching_dims);
}

constinit const OpDef ops::Scatter = {
    .operands = AtLeast(3),
    .types = kArrayTypes,
    .attributes = kScatterAttrs,
    .infer = InferScatter,
    .eval = EvalScatter,
    .work = WorkOfScatter,
    .bound = bound::Scatter,
    .audit = audit::Scatter,
    .demands = DemandsOfScatter,
    .pass_demand = demand::Moved<0>,
    .open_sizes = OpenSizesOfScatter,
};

}  // namespace assay
