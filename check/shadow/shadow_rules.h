// What operations mean for numbers of 256 bits.
#ifndef ASSAY_CHECK_SHADOW_SHADOW_RULES_H_
#define ASSAY_CHECK_SHADOW_SHADOW_RULES_H_

#include <memory>
#include <span>

#include "evaluator/eval_context.h"
#include "evaluator/instruction_view.h"
#include "evaluator/scalar/high_array.h"

namespace assay {

using HighPtr = std::shared_ptr<const HighArray>;

// The array's numbers, floats and integers, exactly.
absl::StatusOr<HighPtr> HighOf(EvalContext& context, const Literal& array);

// The numbers of a result of floats: of operands `high` (null: those of the literal),
// where the rounded ones chose as they did.
// Null: there is no rule.
absl::StatusOr<HighPtr> ApplyShadowRule(EvalContext& context, std::span<const Literal> operands,
                                        std::span<const HighPtr> high);

// Comparisons, floor, sign and their like give what the rounded operands decide.
// In how many elements the shadow would not.
// Null: the operation is no such.
struct ShadowDecision {
  bool is_one = false;
  int64_t otherwise = 0;
};
absl::StatusOr<ShadowDecision> CountOtherwise(EvalContext& context, std::span<const Literal> operands,
                                              std::span<const HighPtr> high, const Literal& result);

// Of a sum or difference of rounded operands: the most binary digits that its largest term is
// ahead of the result; else 0.
absl::StatusOr<int64_t> CancelledBits(EvalContext& context, std::span<const Literal> operands,
                                      const Literal& result);

}  // namespace assay

#endif  // ASSAY_CHECK_SHADOW_SHADOW_RULES_H_
