// Walking whole arrays by strips: operands are loaded a strip at a time and large arrays are cut among the
// run's threads; the result lies in the storage of an operand where it can.
#ifndef ASSAY_ENGINES_NATIVE_ELEMENTWISE_RUN_ELEMENTWISE_H_
#define ASSAY_ENGINES_NATIVE_ELEMENTWISE_RUN_ELEMENTWISE_H_

#include <span>

#include "engines/elementwise_fn.h"
#include "evaluator/elementwise.h"
#include "evaluator/eval_context.h"

namespace assay::native {

// Elements that lie in memory as strip functions want them.
bool IsStoredAsComputed(ElementType type);

// What EvalElementwise gives, by a strip function of the op's meaning (1 to 3 operands),
// or by one over stored elements.
absl::StatusOr<Literal> RunElementwise(EvalContext& context, std::span<Literal> operands,
                                       const StripKernel& kernel, ElementwiseFn stored = nullptr);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_ELEMENTWISE_RUN_ELEMENTWISE_H_
