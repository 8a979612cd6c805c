// sort and topk (docs/spec/operations-shape.md; NUM-10 of docs/spec/operations.md for the total order).
//
// sort permutes lines of operands along one dimension by a comparator of the program, which need not be an
// order: its result is that of the top-down merge sort, whatever the comparator says.
#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>

#include "evaluator/audits/rules.h"
#include "evaluator/bounds/rules.h"
#include "evaluator/element_moves.h"
#include "evaluator/elements.h"
#include "evaluator/heap_sort.h"
#include "evaluator/meter.h"
#include "evaluator/open_sizes.h"
#include "evaluator/ops/indexing/sort_results.h"
#include "evaluator/runtime_sizes.h"
#include "evaluator/scalar_function.h"
#include "evaluator/shape_rules.h"
#include "literal/element_io.h"

namespace assay {
namespace {

// --- sort ---
//
// For each line along d: out_k[.., j, ..] = operand_k[.., p(j), ..] where p is the order that merging gives:
//   sort(line) = merge(sort(first floor(n / 2)), sort(rest)), merge takes from the right part only where
//   comparator(right, left) is true.

// That the comparator has no side effect is Verify's.
absl::Status CheckComparator(const InferContext& context) {
  const auto id = context.attributes().Computation(Attr::kToApply);
  const ProgramShape comparator = context.Called(*id);
  const int64_t n = context.num_operands();
  if (static_cast<int64_t>(comparator.parameters.size()) != 2 * n) {
    return Violates("Sort-C4", "the comparator has {} parameters, wanted {}", comparator.parameters.size(),
                    2 * n);
  }
  for (int64_t i = 0; i < 2 * n; ++i) {
    const ElementType type = context.operand(i / 2).element_type();
    if (!comparator.parameters[i].IsScalar(type)) {
      return Violates("Sort-C4", "parameter {} of the comparator is {}, wanted {}[]", i,
                      comparator.parameters[i].ToString(), Name(type));
    }
  }
  if (!comparator.result.IsScalar(ElementType::kPred)) {
    return Violates("Sort-C4", "the comparator returns {}, wanted pred[]", comparator.result.ToString());
  }
  return absl::OkStatus();
}

absl::StatusOr<Shape> InferSort(const InferContext& context) {
  if (context.num_operands() < 1) return Violates("Sort-C1", "no operand");
  for (int64_t k = 0; k < context.num_operands(); ++k) {
    ASSAY_RETURN_IF_ERROR(RequireArray(context, k, "Sort-C1"));
    if (!Shape::SameDimensions(context.operand(k), context.operand(0))) {
      return Violates("Sort-C2", "operand {} is {}, operand 0 {}", k, context.operand(k).ToString(),
                      context.operand(0).ToString());
    }
  }
  ASSAY_RETURN_IF_ERROR(SingleDimension(context, "Sort-C3").status());
  ASSAY_RETURN_IF_ERROR(CheckComparator(context));
  std::vector<Shape> results;
  for (int64_t k = 0; k < context.num_operands(); ++k) results.push_back(context.operand(k));
  return results.size() == 1 ? std::move(results[0]) : Shape::Tuple(std::move(results));
}

// The merge sort of one line after the other.
// Decision: sort-not-an-order
class MergeSorter {
 public:
  MergeSorter(EvalContext& context, ScalarFunction& comparator, std::span<const Literal> operands,
              int64_t dimension)
      : comparator_(comparator),
        operands_(operands.begin(), operands.end()),
        dimension_(dimension),
        meter_(context),
        arguments_(2 * operands.size()),
        strides_(2 * operands.size(), 0) {}

  // order[j] = p(j) for the line through `index`.
  absl::Status Sort(Index index, std::span<int32_t> order) {
    right_.assign(index.begin(), index.end());
    left_ = right_;
    std::iota(order.begin(), order.end(), 0);
    return Sort(order);
  }

 private:
  absl::Status Sort(std::span<int32_t> order) {
    if (order.size() < 2) return absl::OkStatus();
    const size_t middle = order.size() / 2;
    ASSAY_RETURN_IF_ERROR(Sort(order.first(middle)));
    ASSAY_RETURN_IF_ERROR(Sort(order.subspan(middle)));
    return Merge(order, middle);
  }

  absl::Status Merge(std::span<int32_t> order, size_t middle) {
    const std::vector<int32_t> parts(order.begin(), order.end());
    size_t left = 0, right = middle;
    for (int32_t& next : order) {
      bool take_right = left == middle;
      if (left < middle && right < parts.size()) {
        ASSAY_ASSIGN_OR_RETURN(take_right, Compare(parts[right], parts[left]));
      }
      next = take_right ? parts[right++] : parts[left++];
    }
    return absl::OkStatus();
  }

  // comparator(the elements at place `right`, those at `left`)
  absl::StatusOr<bool> Compare(int32_t right, int32_t left) {
    right_[dimension_] = right;
    left_[dimension_] = left;
    for (size_t k = 0; k < operands_.size(); ++k) {
      arguments_[2 * k] = operands_[k].At(right_);
      arguments_[2 * k + 1] = operands_[k].At(left_);
    }
    std::byte answer;
    std::byte* const out = &answer;
    ASSAY_RETURN_IF_ERROR(comparator_.Run(1, arguments_, strides_, {&out, 1}, std::span(strides_).first(1)));
    ASSAY_RETURN_IF_ERROR(meter_.Add(1));
    return answer != std::byte{0};
  }

  ScalarFunction& comparator_;
  const std::vector<ArrayView> operands_;
  const int64_t dimension_;
  Meter meter_;
  DimVector right_, left_;
  std::vector<const std::byte*> arguments_;
  const std::vector<int64_t> strides_;  // of single elements: zeros
};

absl::StatusOr<Literal> EvalSort(EvalContext& context, std::span<Literal> operands) {
  ASSAY_ASSIGN_OR_RETURN(DimVector lines, CommonRuntimeSizes(context, operands));
  const int64_t along = context.attributes().List(Attr::kDimensions)[0];
  const DimVector live = lines;
  const int64_t length = std::exchange(lines[along], 1);
  ASSAY_ASSIGN_OR_RETURN(std::vector<Literal> results, NewSortResults(context, operands));
  if (!IndexWalk(lines).done() && length > std::numeric_limits<int32_t>::max()) {
    return LimitExceeded("sort: elements of a line", length, std::numeric_limits<int32_t>::max());
  }
  ASSAY_ASSIGN_OR_RETURN(ScalarFunction * comparator,
                         context.Scalar(*context.attributes().Computation(Attr::kToApply)));
  MergeSorter sorter(context, *comparator, operands, along);
  for (size_t k = 0; k < operands.size(); ++k) {
    // What lies beyond the sizes of the others stays where it is.
    const auto same = [](Index i, DimVector& j) { j.assign(i.begin(), i.end()); };
    if (operands[k].runtime_sizes() != live)
      ASSAY_RETURN_IF_ERROR(
          TakeElements(context, operands[k].runtime_sizes(), operands[k], same, results[k]));
  }
  const std::vector<ArrayView> from(operands.begin(), operands.end());
  const std::vector<MutableArrayView> to(results.begin(), results.end());
  Meter meter(context);
  for (IndexWalk line(lines); !line.done(); line.Next()) {
    std::vector<int32_t> order(length);
    ASSAY_RETURN_IF_ERROR(sorter.Sort(line.index(), order));
    DimVector at(line.index().begin(), line.index().end()), chosen = at;
    for (int64_t j = 0; j < length; ++j) {
      at[along] = j;
      chosen[along] = order[j];
      for (size_t k = 0; k < from.size(); ++k) {
        std::memcpy(to[k].At(at), from[k].At(chosen), from[k].element_bytes());
      }
      ASSAY_RETURN_IF_ERROR(meter.Add(1));
    }
  }
  ASSAY_RETURN_IF_ERROR(meter.Flush());
  if (results.size() == 1) return std::move(results[0]);
  return Literal::Tuple(context.shared_result_shape(), std::move(results));
}

// --- topk ---
//
// For each row of the last dimension: (values, indices) of the k first elements of the stable order,
// descending where largest, by the total order of the type; ties by lower index.

absl::StatusOr<Shape> InferTopK(const InferContext& context) {
  ASSAY_RETURN_IF_ERROR(RequireArray(context, 0, "TopK-C1"));
  const Shape& operand = context.operand(0);
  if (operand.rank() < 1) return Violates("TopK-C1", "the operand is a scalar, wanted rank 1 or more");
  const int64_t last = operand.rank() - 1;
  const int64_t k = context.attributes().Int(Attr::kK);
  if (k < 0 || k > operand.size(last)) {
    return Violates("TopK-C2", "k is {}, the last dimension has size {}", k, operand.size(last));
  }
  if (IsComplex(operand.element_type())) {
    return Violates("TopK-C3", "element type {} has no order", Name(operand.element_type()));
  }
  if (operand.size(last) > std::numeric_limits<int32_t>::max()) {
    return Violates("TopK-C4", "the last dimension has size {}, more than 2^31 - 1", operand.size(last));
  }
  DimVector sizes(operand.sizes().begin(), operand.sizes().end());
  sizes[last] = k;
  const auto dynamic = [&](int64_t d) { return d != last && operand.is_dynamic(d); };
  ASSAY_ASSIGN_OR_RETURN(Shape values, MakeArray(operand.element_type(), sizes, dynamic));
  ASSAY_ASSIGN_OR_RETURN(Shape indices, MakeArray(ElementType::kS32, sizes, dynamic));
  return Shape::Tuple({std::move(values), std::move(indices)});
}

// The place of an element in the total order of its type (NUM-10; false before true).
// Loading keeps NaN signs and payloads.
int64_t PlaceInOrder(ElementType type, const std::byte* element) {
  const ScalarValue value = LoadElement(type, element);
  switch (value.kind) {
    case ComputeKind::kBool:
      return value.b;
    case ComputeKind::kInt64:
      return value.i;
    case ComputeKind::kUint64:
      return static_cast<int64_t>(value.u ^ (uint64_t{1} << 63));
    default: {
      const int64_t bits = std::bit_cast<int64_t>(value.r);
      return bits < 0 ? bits ^ std::numeric_limits<int64_t>::max() : bits;
    }
  }
}

// order[j] is the place in the row of the element that comes j-th;
// all entries of `row` but the last say which row.
absl::Status OrderRow(const Literal& operand, Index row, bool largest, std::span<int32_t> order,
                      Meter& meter) {
  const ArrayView x(operand);
  DimVector at(row.begin(), row.end());
  std::vector<int64_t> places(order.size());
  for (size_t j = 0; j < order.size(); ++j) {
    at.back() = static_cast<int64_t>(j);
    places[j] = PlaceInOrder(operand.shape().element_type(), x.At(at));
    ASSAY_RETURN_IF_ERROR(meter.Add(1));
  }
  std::iota(order.begin(), order.end(), 0);
  const auto comes_before = [&](int32_t a, int32_t b) {
    if (places[a] == places[b]) return a < b;
    return largest ? places[a] > places[b] : places[a] < places[b];
  };
  return HeapSort(order, comes_before, meter);
}

absl::Status SelectFromRows(EvalContext& context, const Literal& operand, std::span<const int64_t> rows,
                            int64_t length, std::span<Literal> results) {
  const int64_t k = context.attributes().Int(Attr::kK);
  const bool largest = context.attributes().Bool(Attr::kLargest, true);
  const ArrayView x(operand);
  const MutableArrayView values(results[0]), indices(results[1]);
  Meter meter(context);
  for (IndexWalk row(rows); !row.done(); row.Next()) {
    std::vector<int32_t> order(length);
    ASSAY_RETURN_IF_ERROR(OrderRow(operand, row.index(), largest, order, meter));
    DimVector to(row.index().begin(), row.index().end()), from = to;
    for (int64_t j = 0; j < k; ++j) {
      to.back() = j;
      from.back() = order[j];
      std::memcpy(values.At(to), x.At(from), x.element_bytes());
      std::memcpy(indices.At(to), &order[j], sizeof(order[j]));
      ASSAY_RETURN_IF_ERROR(meter.Add(1));
    }
  }
  return meter.Flush();
}

absl::StatusOr<Literal> EvalTopK(EvalContext& context, std::span<Literal> operands) {
  const Literal& operand = operands[0];
  const int64_t k = context.attributes().Int(Attr::kK);
  const DimVector live = operand.runtime_sizes();
  if (live.back() < k) {
    // Decision: topk-too-few
    return EvalError(
        context.instruction().position,
        fmt::format("TopK-C2: k is {}, the last dimension has run-time size {}", k, live.back()));
  }
  DimVector sizes = live, rows = live;
  sizes.back() = k;
  rows.back() = 1;
  std::vector<Literal> results;
  for (int64_t i = 0; i < 2; ++i) {
    ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResultElement(i, /*zero=*/!operand.IsFullSize()));
    ASSAY_RETURN_IF_ERROR(SetRuntimeSizes(context.instruction(), sizes, result));
    results.push_back(std::move(result));
  }
  ASSAY_RETURN_IF_ERROR(SelectFromRows(context, operand, rows, live.back(), results));
  return Literal::Tuple(context.shared_result_shape(), std::move(results));
}

constexpr AttrSpec kSortAttrs[] = {Required(Attr::kDimensions), Required(Attr::kToApply),
                                   Optional(Attr::kIsStable)};
constexpr AttrSpec kTopKAttrs[] = {Required(Attr::kK), Optional(Attr::kLargest), Optional(Attr::kIsStable)};

// A line of n elements takes n ceil(log2 n) comparisons, and as many elements of every operand are looked at.
Work WorkOfSort(const InstructionView& view) {
  Work work = work::Move(view);
  const std::span<const int64_t> dims = view.attributes().List(Attr::kDimensions);
  const double logs = dims.empty() ? 0 : work::CeilLog2(view.operand(0).size(dims[0]));
  work.elements = work::Elements(view.result()) * std::max(logs, 1.0);
  work.flops = work::Elements(view.operand(0)) * logs;
  return work;
}

// A comparison for each element.
Work WorkOfTopK(const InstructionView& view) {
  Work work = work::Move(view);
  work.flops = work::Elements(view.operand(0));
  return work;
}

// Result k is operand k, sorted.
void PassDemandOfSort(const InstructionView& view, const InputDemand& demand, std::span<const int64_t> path,
                      std::vector<OperandDemand>& demands) {
  const int64_t which = path.empty() ? 0 : path[0];
  if (which < static_cast<int64_t>(view.num_operands())) demand::AddLoosened(which, demand, demands);
}

absl::Status OpenSizesOfSort(OpenSizes& sizes) {
  const int64_t along = sizes.context().attributes().List(Attr::kDimensions)[0];
  for (int64_t d = 0; d < sizes.shape(0).rank(); ++d) {
    std::vector<OperandDimension> met;
    for (int64_t k = 0; k < sizes.num_operands(); ++k) met.push_back({k, d});
    if (!sizes.Meet(met)) continue;
    if (d == along) ASSAY_RETURN_IF_ERROR(sizes.Needs(0, d));
    for (int64_t k = 0; k < sizes.num_operands(); ++k) sizes.Open(d, k);
  }
  return absl::OkStatus();
}

absl::Status OpenSizesOfTopK(OpenSizes& sizes) {
  const int64_t last = sizes.shape(0).rank() - 1;
  ASSAY_RETURN_IF_ERROR(sizes.Needs(0, last));
  for (int64_t d = 0; d < last; ++d) {
    if (!sizes.IsOpen(0, d)) continue;
    sizes.Open(d, 0);
    sizes.Open(d, 1);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<Literal>> NewSortResults(EvalContext& context, std::span<const Literal> operands) {
  std::vector<Literal> results;
  for (size_t k = 0; k < operands.size(); ++k) {
    const bool zero = !operands[k].IsFullSize();
    ASSAY_ASSIGN_OR_RETURN(
        Literal result, operands.size() == 1 ? context.NewResult(zero) : context.NewResultElement(k, zero));
    ASSAY_RETURN_IF_ERROR(SetRuntimeSizes(context.instruction(), operands[k].runtime_sizes(), result));
    results.push_back(std::move(result));
  }
  return results;
}

constinit const OpDef ops::Sort = {
    .operands = AtLeast(1),
    .types = kArrayTypes,
    .attributes = kSortAttrs,
    .infer = InferSort,
    .eval = EvalSort,
    .work = WorkOfSort,
    .bound = bound::Sort,
    .audit = audit::Sort,
    .pass_demand = PassDemandOfSort,
    .open_sizes = OpenSizesOfSort,
};
constinit const OpDef ops::TopK = {
    .operands = Exactly(1),
    .types = kPredTypes | kIntegralTypes | kFloatTypes,
    .attributes = kTopKAttrs,
    .infer = InferTopK,
    .eval = EvalTopK,
    .work = WorkOfTopK,
    .bound = bound::TopK,
    .audit = audit::TopK,
    .open_sizes = OpenSizesOfTopK,
};

}  // namespace assay
