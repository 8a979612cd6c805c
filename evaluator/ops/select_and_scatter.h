// The parts of select-and-scatter that engines may do in their own way (spec/operations-linalg.md).
#ifndef ASSAY_EVALUATOR_OPS_SELECT_AND_SCATTER_H_
#define ASSAY_EVALUATOR_OPS_SELECT_AND_SCATTER_H_

#include <span>

#include "absl/functional/function_ref.h"
#include "evaluator/eval_context.h"
#include "literal/literal.h"

namespace assay {

struct SelectAndScatterSteps {
  // chosen[source position] = operand position; all are -1 before, and stay so where a window meets no element.
  absl::FunctionRef<absl::Status(const Literal& operand, const Literal& source, std::span<int64_t> chosen)>
      choose;
  // Combines the elements of the result, which are all init, with the source elements that chose them.
  absl::FunctionRef<absl::Status(std::span<const int64_t> chosen, const Literal& source, const Literal& init,
                                 Literal& result)>
      combine;
};
absl::StatusOr<Literal> EvalSelectAndScatterWith(EvalContext& context, std::span<Literal> operands,
                                                 const SelectAndScatterSteps& steps);
// `choose` by any select computation.
absl::Status ChooseBySelect(EvalContext& context, const Literal& operand, const Literal& source,
                            std::span<int64_t> chosen);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_OPS_SELECT_AND_SCATTER_H_
