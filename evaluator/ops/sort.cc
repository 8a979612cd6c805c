// sort and topk (spec/operations-shape.md; NUM-10 of operations.md for the total order).
//
// sort permutes lines of operands along one dimension by a comparator of the program, which need not be an
// order: its result is that of the top-down merge sort in merge_sort.cc. Comparators that are one comparison
// of an operand's two elements sort by keys (sort_keys.h) instead, with the same result.
#include <algorithm>
#include <cstring>
#include <limits>

#include "evaluator/move.h"
#include "evaluator/ops/merge_sort.h"
#include "evaluator/ops/shape_rules.h"
#include "evaluator/ops/sort_keys.h"
#include "evaluator/ops/sort_results.h"
#include "evaluator/scalar_function.h"
#include "shape/checked.h"

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
  for (int64_t k = 0; k < context.num_operands(); ++k) {
    const Shape& operand = context.operand(k);
    ASSAY_ASSIGN_OR_RETURN(Shape result, MakeArray(operand.element_type(), operand.sizes(),
                                                   [&](int64_t d) { return operand.is_dynamic(d); }));
    results.push_back(std::move(result));
  }
  return results.size() == 1 ? std::move(results[0]) : Shape::Tuple(std::move(results));
}

// The live lines of an array along one dimension: lines are numbered in row-major order of the others.
struct Lines {
  Lines(const Shape& shape, std::span<const int64_t> live, int64_t along) {
    const DimVector strides = RowMajorStrides(shape.sizes());
    length = live[along];
    stride = strides[along];
    for (int64_t d = 0; d < shape.rank(); ++d) {
      if (d == along) continue;
      sizes.push_back(live[d]);
      map.strides.push_back(strides[d]);
    }
    count = CheckedProduct(sizes).value_or(0);
  }
  int64_t length, stride, count;
  DimVector sizes;
  AffineMap map;
};

// order[line * length + j] = p(j), for a block of lines whose first elements are at `starts`.
absl::Status OrderLines(EvalContext& context, std::span<const Literal> operands, const Lines& lines,
                        std::span<const int64_t> starts, std::span<int32_t> order) {
  const ComputationId id = *context.attributes().Computation(Attr::kToApply);
  if (const auto plain = RecognisePlainComparator(context.module(), id)) {
    const Literal& keyed = operands[plain->operand];
    if (SortByKeys(keyed, *plain, starts, lines.length, lines.stride, order)) {
      return context.Charge(static_cast<int64_t>(order.size()));
    }
  }
  ASSAY_ASSIGN_OR_RETURN(ScalarFunction * comparator, context.Scalar(id));
  return MergeSort(context, *comparator, operands, starts, lines.length, lines.stride, order);
}

// Moves one block of lines of one operand, of elements of kBytes, into the result.
template <int kBytes>
void PermuteLinesOf(const std::byte* src, const Lines& lines, std::span<const int64_t> starts,
                    std::span<const int32_t> order, std::byte* dst) {
  const int64_t step = lines.stride * kBytes;
  for (size_t l = 0; l < starts.size(); ++l) {
    const std::byte* from = src + starts[l] * kBytes;
    std::byte* to = dst + starts[l] * kBytes;
    const int32_t* p = order.data() + l * lines.length;
    for (int64_t j = 0; j < lines.length; ++j) std::memcpy(to + j * step, from + p[j] * step, kBytes);
  }
}
void PermuteLines(const Literal& operand, const Lines& lines, std::span<const int64_t> starts,
                  std::span<const int32_t> order, Literal& result) {
  const std::byte* src = operand.data();
  std::byte* dst = result.MutableBytes().data();
  switch (Bytes(operand.shape().element_type())) {
    case 1:
      return PermuteLinesOf<1>(src, lines, starts, order, dst);
    case 2:
      return PermuteLinesOf<2>(src, lines, starts, order, dst);
    case 4:
      return PermuteLinesOf<4>(src, lines, starts, order, dst);
    case 8:
      return PermuteLinesOf<8>(src, lines, starts, order, dst);
    default:
      return PermuteLinesOf<16>(src, lines, starts, order, dst);
  }
}

absl::StatusOr<Literal> EvalSort(EvalContext& context, std::span<Literal> operands) {
  ASSAY_RETURN_IF_ERROR(CheckSortSizes(context, operands));
  const DimVector live = operands[0].runtime_sizes();
  const Lines lines(operands[0].shape(), live, context.attributes().List(Attr::kDimensions)[0]);
  ASSAY_ASSIGN_OR_RETURN(std::vector<Literal> results, NewSortResults(context, operands));
  if (lines.count > 0 && lines.length > std::numeric_limits<int32_t>::max()) {
    return LimitExceeded("sort: elements of a line", lines.length, std::numeric_limits<int32_t>::max());
  }
  // Lines are sorted in blocks, so that the comparator sees many elements at once.
  constexpr int64_t kBlockElements = 1 << 16;
  const int64_t block = std::clamp<int64_t>(kBlockElements / std::max<int64_t>(lines.length, 1), 1,
                                            std::max<int64_t>(lines.count, 1));
  std::vector<int32_t> order(lines.count > 0 ? block * lines.length : 0);
  std::vector<int64_t> starts;
  DimVector index(lines.sizes.size(), 0);
  for (int64_t first = 0; first < lines.count && lines.length > 0; first += block) {
    starts.clear();
    const int64_t n = std::min(block, lines.count - first);
    for (int64_t l = 0; l < n; ++l) {
      starts.push_back(LinearPosition(index, lines.map.strides));
      NextIndex(lines.sizes, {index.data(), index.size()});
    }
    const std::span<int32_t> block_order(order.data(), n * lines.length);
    ASSAY_RETURN_IF_ERROR(OrderLines(context, operands, lines, starts, block_order));
    for (size_t k = 0; k < operands.size(); ++k) {
      PermuteLines(operands[k], lines, starts, block_order, results[k]);
    }
  }
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

absl::StatusOr<Literal> EvalTopK(EvalContext& context, std::span<Literal> operands) {
  const Literal& operand = operands[0];
  const int64_t k = context.attributes().Int(Attr::kK);
  const bool largest = context.attributes().Bool(Attr::kLargest, true);
  DimVector live = operand.runtime_sizes();
  const Lines lines(operand.shape(), live, operand.shape().rank() - 1);
  if (lines.length < k) {
    // Decision: topk-too-few
    return EvalError(
        context.instruction().position,
        fmt::format("TopK-C2: k is {}, the last dimension has run-time size {}", k, lines.length));
  }
  live.back() = k;
  std::vector<Literal> results;
  for (int64_t i = 0; i < 2; ++i) {
    ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResultElement(i, /*zero=*/!operand.IsFullSize()));
    ASSAY_RETURN_IF_ERROR(SetRuntimeSizes(context.instruction(), live, result));
    results.push_back(std::move(result));
  }
  const ElementType type = operand.shape().element_type();
  const int bytes = Bytes(type);
  std::byte* values = results[0].MutableBytes().data();
  std::byte* indices = results[1].MutableBytes().data();
  const int64_t operand_row = operand.shape().sizes().back();
  std::vector<SortKey> keys(lines.count > 0 ? lines.length : 0);
  DimVector index(lines.sizes.size(), 0);
  for (int64_t line = 0; line < lines.count && k > 0; ++line) {
    const int64_t start = LinearPosition(index, lines.map.strides);
    NextIndex(lines.sizes, {index.data(), index.size()});
    TotalOrderKeys(type, operand.data() + start * bytes, bytes, /*descending=*/largest, keys);
    std::partial_sort(keys.begin(), keys.begin() + k, keys.end());
    const int64_t out = start / operand_row * k;
    for (int64_t j = 0; j < k; ++j) {
      const int32_t p = keys[j].position;
      std::memcpy(values + (out + j) * bytes, operand.data() + (start + p) * bytes, bytes);
      std::memcpy(indices + (out + j) * sizeof(p), &p, sizeof(p));
    }
    ASSAY_RETURN_IF_ERROR(context.Charge(lines.length));
  }
  return Literal::Tuple(context.shared_result_shape(), std::move(results));
}

constexpr AttrSpec kSortAttrs[] = {Required(Attr::kDimensions), Required(Attr::kToApply),
                                   Optional(Attr::kIsStable)};
constexpr AttrSpec kTopKAttrs[] = {Required(Attr::kK), Optional(Attr::kLargest), Optional(Attr::kIsStable)};

}  // namespace

absl::Status CheckSortSizes(const EvalContext& context, std::span<const Literal> operands) {
  for (size_t k = 1; k < operands.size(); ++k) {
    if (operands[k].runtime_sizes() == operands[0].runtime_sizes()) continue;
    return EvalError(context.instruction().position,
                     fmt::format("DYN-4: run-time sizes of operand {} and operand 0 differ", k));
  }
  return absl::OkStatus();
}

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
};
constinit const OpDef ops::TopK = {
    .operands = Exactly(1),
    .types = kPredTypes | kIntegralTypes | kFloatTypes,
    .attributes = kTopKAttrs,
    .infer = InferTopK,
    .eval = EvalTopK,
};

}  // namespace assay
