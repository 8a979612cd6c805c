// The parts of a select-and-scatter (docs/spec/operations-linalg.md) that there are several ways to do.
#ifndef ASSAY_ENGINES_NATIVE_SCATTER_GATHER_SELECTION_H_
#define ASSAY_ENGINES_NATIVE_SCATTER_GATHER_SELECTION_H_

#include <span>

#include "absl/functional/function_ref.h"
#include "evaluator/eval_context.h"
#include "literal/literal.h"

namespace assay::native {

struct SelectAndScatterSteps {
  // chosen[source position] = operand position; all are -1 before,
  // and stay so where a window meets no element.
  absl::FunctionRef<absl::Status(const Literal& operand, const Literal& source, std::span<int64_t> chosen)>
      choose;
  // Combines the elements of the result, which are all init, with the source elements that chose them.
  absl::FunctionRef<absl::Status(std::span<const int64_t> chosen, const Literal& source, const Literal& init,
                                 Literal& result)>
      combine;
};
absl::StatusOr<Literal> RunSelectAndScatter(EvalContext& context, std::span<Literal> operands,
                                            const SelectAndScatterSteps& steps);
// `choose` by any select computation.
absl::Status ChooseBySelect(EvalContext& context, const Literal& operand, const Literal& source,
                            std::span<int64_t> chosen);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_SCATTER_GATHER_SELECTION_H_
