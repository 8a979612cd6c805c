#include "evaluator/ops/reduction/fold.h"

#include <cstring>
#include <utility>

#include "evaluator/runtime_sizes.h"
#include "evaluator/scalar_function.h"

namespace assay {

absl::StatusOr<FoldArrays> MakeFoldArrays(EvalContext& context, std::span<const Literal> operands,
                                          const ScalarFunction& reducer) {
  FoldArrays arrays;
  const int64_t n = static_cast<int64_t>(operands.size()) / 2;
  const bool tuple = context.result_shape().IsTuple();
  const bool zero = HasDynamicDimension(context.result_shape());
  for (int64_t i = 0; i < n; ++i) {
    ASSAY_ASSIGN_OR_RETURN(Literal init, ConvertForReducer(context, operands[n + i], reducer.input_type(i)));
    ASSAY_ASSIGN_OR_RETURN(Literal input, ConvertForReducer(context, operands[i], reducer.input_type(n + i)));
    const std::shared_ptr<const Shape> shape =
        tuple ? std::make_shared<const Shape>(context.result_shape().element(i))
              : context.shared_result_shape();
    Shape computed = *shape;
    computed.set_element_type(reducer.output_type(i));
    ASSAY_ASSIGN_OR_RETURN(Literal result,
                           computed.element_type() != shape->element_type()
                               ? context.NewLiteral(std::make_shared<const Shape>(std::move(computed)), zero)
                           : tuple ? context.NewResultElement(i, zero)
                                   : context.NewResult(zero));
    arrays.inits.push_back(std::move(init));
    arrays.inputs.push_back(std::move(input));
    arrays.results.push_back(std::move(result));
  }
  return arrays;
}

absl::StatusOr<Literal> ResultOfFold(EvalContext& context, FoldArrays arrays,
                                     std::span<const int64_t> sizes) {
  const bool tuple = context.result_shape().IsTuple();
  for (size_t i = 0; i < arrays.results.size(); ++i) {
    Literal& result = arrays.results[i];
    SetRuntimeSizes(result, sizes);
    const Shape& wanted =
        tuple ? context.result_shape().element(static_cast<int64_t>(i)) : context.result_shape();
    if (result.shape().element_type() == wanted.element_type()) continue;
    // Decision: reduce-window-result-type
    ASSAY_ASSIGN_OR_RETURN(const Literal rounded, ConvertForReducer(context, result, wanted.element_type()));
    result = rounded.WithShape(std::make_shared<const Shape>(wanted));
    SetRuntimeSizes(result, sizes);
  }
  if (!context.result_shape().IsTuple()) return std::move(arrays.results[0]);
  return Literal::Tuple(context.shared_result_shape(), std::move(arrays.results));
}

// A reducer that is no recognised add is applied in the order in which elements are added (RED-2, NUM-7).
Fold::Fold(ScalarFunction& reducer, FoldArrays& arrays)
    : reducer_(reducer),
      is_exact_sum_(reducer.is_exact_sum()),
      sum_(reducer.output_type(0)),
      inputs_(arrays.inputs.begin(), arrays.inputs.end()),
      inits_(arrays.inits.begin(), arrays.inits.end()),
      results_(arrays.results.begin(), arrays.results.end()),
      running_(arrays.inputs.size()),
      added_(arrays.inputs.size()) {}

void Fold::Start(Index result) {
  for (size_t k = 0; k < running_.size(); ++k) {
    running_[k] = results_[k].At(result);
    std::memcpy(running_[k], inits_[k].At({}), results_[k].element_bytes());
  }
  if (!is_exact_sum_) return;
  sum_.Clear();
  sum_.Add(running_[0]);
}

absl::Status Fold::Add(Index from) {
  for (size_t k = 0; k < added_.size(); ++k) added_[k] = inputs_[k].At(from);
  if (!is_exact_sum_) return reducer_.Apply(running_, added_);
  sum_.Add(added_[0]);
  return absl::OkStatus();
}

void Fold::Finish() {
  if (is_exact_sum_) sum_.Store(running_[0]);
}

}  // namespace assay
