// reduce and map (docs/spec/operations-linalg.md: RED, Reduce, Map). The rules for reducers are in
// reducer.cc, scan in scan.cc, windows in window.cc.

#include <algorithm>
#include <vector>

#include "base/counted.h"
#include "evaluator/audits/rules.h"
#include "evaluator/bounds/rules.h"
#include "evaluator/elements.h"
#include "evaluator/meter.h"
#include "evaluator/open_sizes.h"
#include "evaluator/ops/reduction/fold.h"
#include "evaluator/ops/reduction/reducer.h"
#include "evaluator/runtime_sizes.h"
#include "evaluator/scalar_function.h"
#include "fmt/format.h"

namespace assay {
namespace {

absl::Status InvalidReduce(const InferContext& context, std::string_view message) {
  return InvalidProgram(context.instruction.position, message);
}

// ---- reduce ----------------------------------------------------------------------------------------------
//
// out[J] = f(… f(f(init, x[I0]), x[I1]) …) over all I, in row-major order, whose entries in the remaining
// dimensions are J. With N operands f takes and returns N values. A float or complex add means the exact sum
// of init and the elements, rounded once (RED-1).

// Reduce-C1, C2: operands x0..x(N-1), init0..init(N-1), the x of the same dimensions. Returns N.
absl::StatusOr<int64_t> CheckReduced(const InferContext& context) {
  const int64_t count = context.num_operands();
  if (count < 2 || count % 2 != 0) {
    return InvalidReduce(context, fmt::format("Reduce-C1: {}, wanted inputs and as many init values",
                                              Counted(count, "operand")));
  }
  for (int64_t i = 0; i < count / 2; ++i) {
    const Shape& x = context.operand(i);
    if (!x.IsArray()) {
      return InvalidReduce(context,
                           fmt::format("Reduce-C1: operand {} is {}, wanted an array", i, x.ToString()));
    }
    if (!Shape::SameDimensions(context.operand(0), x)) {
      return InvalidReduce(
          context, fmt::format("Reduce-C2: operands 0 and {} are {} and {}, wanted the same dimensions", i,
                               context.operand(0).ToString(), x.ToString()));
    }
  }
  return count / 2;
}

// Reduce-C3, C4: which of the dimensions are reduced.
absl::StatusOr<std::vector<bool>> ReducedDimensions(const InferContext& context, int64_t rank) {
  std::vector<bool> reduced(rank);
  for (int64_t d : context.attributes().List(Attr::kDimensions)) {
    if (d < 0 || d >= rank) {
      return InvalidReduce(context,
                           fmt::format("Reduce-C3: dimension {} is out of range for rank {}", d, rank));
    }
    if (reduced[d]) return InvalidReduce(context, fmt::format("Reduce-C4: dimension {} stands twice", d));
    reduced[d] = true;
  }
  return reduced;
}

absl::StatusOr<Shape> InferReduce(const InferContext& context) {
  ASSAY_ASSIGN_OR_RETURN(const int64_t n, CheckReduced(context));
  const Shape& x = context.operand(0);
  ASSAY_ASSIGN_OR_RETURN(const std::vector<bool> reduced, ReducedDimensions(context, x.rank()));
  std::vector<ElementType> types;
  std::vector<Shape> inits;
  for (int64_t i = 0; i < n; ++i) {
    types.push_back(context.operand(i).element_type());
    inits.push_back(context.operand(n + i));
  }
  const ComputationId reducer = *context.attributes().Computation(Attr::kToApply);
  ASSAY_ASSIGN_OR_RETURN(const std::vector<ElementType> result_types,
                         VerifyReducer(context, reducer, types, inits));
  DimVector sizes;
  std::vector<bool> dynamic;
  for (int64_t d = 0; d < x.rank(); ++d) {
    if (reduced[d]) continue;
    sizes.push_back(x.size(d));
    bool is_dynamic = false;
    for (int64_t i = 0; i < n; ++i) is_dynamic |= context.operand(i).is_dynamic(d);
    dynamic.push_back(is_dynamic);
  }
  std::vector<Shape> results;
  for (ElementType type : result_types) {
    ASSAY_ASSIGN_OR_RETURN(Shape result, Shape::Array(type, sizes));
    for (size_t d = 0; d < dynamic.size(); ++d) result.set_dynamic(static_cast<int64_t>(d), dynamic[d]);
    results.push_back(std::move(result));
  }
  return context.Called(reducer).result.IsTuple() ? Shape::Tuple(std::move(results)) : std::move(results[0]);
}

absl::StatusOr<Literal> EvalReduce(EvalContext& context, std::span<Literal> operands) {
  ASSAY_ASSIGN_OR_RETURN(const DimVector sizes,
                         CommonRuntimeSizes(context, operands.first(operands.size() / 2)));
  ASSAY_ASSIGN_OR_RETURN(ScalarFunction* const reducer,
                         context.Scalar(*context.attributes().Computation(Attr::kToApply)));
  ASSAY_ASSIGN_OR_RETURN(FoldArrays arrays, MakeFoldArrays(context, operands, *reducer));
  const std::span<const int64_t> dimensions = context.attributes().List(Attr::kDimensions);
  DimVector remaining, reduced, result_sizes, reduced_sizes;  // dimensions, ascending, and their sizes
  for (int64_t d = 0; d < static_cast<int64_t>(sizes.size()); ++d) {
    const bool is_reduced = std::find(dimensions.begin(), dimensions.end(), d) != dimensions.end();
    (is_reduced ? reduced : remaining).push_back(d);
    (is_reduced ? reduced_sizes : result_sizes).push_back(sizes[d]);
  }
  Fold fold(*reducer, arrays);
  Meter meter(context);
  DimVector operand_index(sizes.size());
  for (IndexWalk result_index(result_sizes); !result_index.done(); result_index.Next()) {
    fold.Start(result_index.index());
    for (size_t d = 0; d < remaining.size(); ++d) operand_index[remaining[d]] = result_index[d];
    for (IndexWalk reduced_index(reduced_sizes); !reduced_index.done(); reduced_index.Next()) {
      for (size_t d = 0; d < reduced.size(); ++d) operand_index[reduced[d]] = reduced_index[d];
      ASSAY_RETURN_IF_ERROR(fold.Add(operand_index));
      ASSAY_RETURN_IF_ERROR(meter.Add(1));
    }
    fold.Finish();
    ASSAY_RETURN_IF_ERROR(meter.Add(1));
  }
  ASSAY_RETURN_IF_ERROR(meter.Flush());
  return ResultOfFold(context, std::move(arrays), result_sizes);
}

// ---- map -------------------------------------------------------------------------------------------------
//
// out[I] = f(x0[I], x1[I], …).

// Map-C4: one scalar parameter an operand, of its type, and a scalar result. Returns the result's type.
absl::StatusOr<ElementType> CheckMapped(const InferContext& context) {
  const ProgramShape called = context.Called(*context.attributes().Computation(Attr::kToApply));
  const int64_t parameters = static_cast<int64_t>(called.parameters.size());
  if (parameters != context.num_operands()) {
    return InvalidReduce(context, fmt::format("Map-C4: the computation has {}, wanted {}, one an operand",
                                              Counted(parameters, "parameter"), context.num_operands()));
  }
  for (int64_t i = 0; i < parameters; ++i) {
    if (called.parameters[i].IsScalar(context.operand(i).element_type())) continue;
    return InvalidReduce(
        context, fmt::format("Map-C4: parameter {} of the computation is {}, wanted {}[]", i,
                             called.parameters[i].ToString(), Name(context.operand(i).element_type())));
  }
  if (!called.result.IsScalar()) {
    return InvalidReduce(context, fmt::format("Map-C4: the computation returns {}, wanted a scalar",
                                              called.result.ToString()));
  }
  return called.result.element_type();
}

absl::StatusOr<Shape> InferMap(const InferContext& context) {
  if (context.num_operands() < 1) return InvalidReduce(context, "Map-C1: no operand, wanted at least one");
  const Shape& x = context.operand(0);
  for (int64_t i = 0; i < context.num_operands(); ++i) {
    const Shape& operand = context.operand(i);
    if (!operand.IsArray()) {
      return InvalidReduce(context,
                           fmt::format("Map-C1: operand {} is {}, wanted an array", i, operand.ToString()));
    }
    if (!Shape::SameDimensions(x, operand)) {
      return InvalidReduce(
          context, fmt::format("Map-C2: operands 0 and {} are {} and {}, wanted the same dimensions", i,
                               x.ToString(), operand.ToString()));
    }
  }
  if (context.attributes().Has(Attr::kDimensions)) {
    const std::span<const int64_t> dimensions = context.attributes().List(Attr::kDimensions);
    bool all =
        dimensions.empty() || static_cast<int64_t>(dimensions.size()) == x.rank();  // {}: as if left out
    for (int64_t d = 0; all && d < std::ssize(dimensions); ++d) all = dimensions[d] == d;
    if (!all) {
      return InvalidReduce(context, fmt::format("Map-C3: dimensions are {{{}}}, wanted 0..{} in order",
                                                fmt::join(dimensions, ","), x.rank() - 1));
    }
  }
  ASSAY_ASSIGN_OR_RETURN(const ElementType type, CheckMapped(context));
  ASSAY_ASSIGN_OR_RETURN(Shape result, Shape::Array(type, x.sizes()));
  for (int64_t d = 0; d < x.rank(); ++d) {
    for (const Shape* operand : context.operands) {
      if (operand->is_dynamic(d)) result.set_dynamic(d, true);
    }
  }
  return result;
}

absl::StatusOr<Literal> EvalMap(EvalContext& context, std::span<Literal> operands) {
  ASSAY_ASSIGN_OR_RETURN(const DimVector sizes, CommonRuntimeSizes(context, operands));
  ASSAY_ASSIGN_OR_RETURN(ScalarFunction* const f,
                         context.Scalar(*context.attributes().Computation(Attr::kToApply)));
  ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult(context.result_shape().HasDynamic()));
  const std::vector<ArrayView> x(operands.begin(), operands.end());
  const MutableArrayView out(result);
  std::vector<const std::byte*> arguments(x.size());
  const std::vector<int64_t> strides(x.size(), 0);  // of single elements
  const int64_t out_stride = 0;
  Meter meter(context);
  for (IndexWalk i(sizes); !i.done(); i.Next()) {
    for (size_t k = 0; k < x.size(); ++k) arguments[k] = x[k].At(i.index());
    std::byte* const value = out.At(i.index());
    ASSAY_RETURN_IF_ERROR(f->Run(1, arguments, strides, {&value, 1}, {&out_stride, 1}));
    ASSAY_RETURN_IF_ERROR(meter.Add(1));
  }
  ASSAY_RETURN_IF_ERROR(meter.Flush());
  SetRuntimeSizes(result, sizes);
  return result;
}

constexpr AttrSpec kReduceAttributes[] = {Required(Attr::kDimensions), Required(Attr::kToApply)};
constexpr AttrSpec kMapAttributes[] = {Optional(Attr::kDimensions), Required(Attr::kToApply)};

// A result element of n operand elements takes n - 1 applications.
Work WorkOfReduce(const InstructionView& view) {
  Work work = work::Move(view);
  work.applied = {
      {Attr::kToApply, work::ElementsOfFirst(view.operand(0)) - work::ElementsOfFirst(view.result())}};
  return work;
}

Work WorkOfMap(const InstructionView& view) {
  Work work = work::Move(view);
  work.applied = {{Attr::kToApply, work::ElementsOfFirst(view.result())}};
  return work;
}

void AddTermsOfReduce(const InstructionView& view, std::span<const int64_t> index, Terms& terms) {
  const std::span<const int64_t> dims = view.attributes().List(Attr::kDimensions);
  const DimVector strides = RowMajorStrides(view.operand(0).sizes());
  DimVector sizes, reduced;
  int64_t base = 0;
  size_t result_dimension = 0;
  for (int64_t d = 0; d < view.operand(0).rank(); ++d) {
    if (std::find(dims.begin(), dims.end(), d) != dims.end()) {
      sizes.push_back(view.operand(0).size(d));
      reduced.push_back(strides[d]);
    } else {
      base += index[result_dimension++] * strides[d];
    }
  }
  int64_t count = 0;
  for (IndexWalk k(sizes); !k.done(); k.Next(), ++count)
    terms.operands[0].push_back(base + LinearPosition(k.index(), reduced));
  terms.counts.push_back(count);
}

int64_t MaxTermsOfReduce(const InstructionView& view) {
  const int64_t results = view.result().num_elements();
  return results == 0 ? 0 : view.operand(0).num_elements() / results;
}

absl::Status OpenSizesOfReduce(OpenSizes& sizes) {
  const auto dimensions = sizes.context().attributes().List(Attr::kDimensions);
  const Shape& result = sizes.context().result_shape();
  const int64_t results = result.IsTuple() ? std::ssize(result.elements()) : 1;
  int64_t to = 0;
  for (int64_t d = 0; d < sizes.shape(0).rank(); ++d) {
    const bool is_reduced = std::find(dimensions.begin(), dimensions.end(), d) != dimensions.end();
    std::vector<OperandDimension> met;
    for (int64_t i = 0; i < sizes.num_operands() / 2; ++i) met.push_back({i, d});
    const bool open = sizes.Meet(met);
    if (open && is_reduced) ASSAY_RETURN_IF_ERROR(sizes.Needs(0, d));
    for (int64_t i = 0; open && i < results; ++i) sizes.Open(to, i);
    to += !is_reduced;
  }
  return absl::OkStatus();
}

}  // namespace

constinit const OpDef ops::Reduce = {
    .operands = AtLeast(2),
    .types = kArrayTypes,
    .attributes = kReduceAttributes,
    .infer = InferReduce,
    .eval = EvalReduce,
    .work = WorkOfReduce,
    .bound = bound::Reduce,
    .audit = audit::Reduce,
    .sum = {SumDef::Of::kFold, AddTermsOfReduce, MaxTermsOfReduce},
    .open_sizes = OpenSizesOfReduce,
    .never_in_place = true,
};

constinit const OpDef ops::Map = {
    .operands = AtLeast(1),
    .types = kArrayTypes,
    .attributes = kMapAttributes,
    .infer = InferMap,
    .eval = EvalMap,
    .work = WorkOfMap,
    .bound = bound::Mapped,
    .audit = audit::Nothing,
    .open_sizes = open::Elementwise,
    .arguments = Arguments::kElements,
};

}  // namespace assay
