// Single elements of what an instruction or a fusion gives, each from its own terms alone, by the reference.
//
// A position is a row-major one. Elementwise ops, moves, dot, convolution and reduce of static arrays have a
// rule: which elements of each operand an element of the result is made of. These are gathered into small
// arrays, and OpDef::eval runs on those: for dot and convolution as a dot of two rows,
// for reduce as a reduce of one.
#ifndef ASSAY_RUN_ELEMENTS_AT_H_
#define ASSAY_RUN_ELEMENTS_AT_H_

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "engines/accuracy.h"
#include "evaluator/eval_context.h"

namespace assay {

// One instruction, or the members of a fusion, with the values of what they read.
struct StepValues {
  const Computation& computation;
  std::span<const int32_t> members;   // operands before users; the last is the root
  std::span<const int32_t> operands;  // what members read of other instructions
  std::span<const Literal> values;    // of `operands`

  const Instruction& root() const { return computation.instructions[members.back()]; }
};

// The most terms that an element of the step is made of (1 for elementwise ops); nullopt where some member
// has no rule, or a shape is dynamic.
std::optional<int64_t> TermsOfElement(const Computation& computation, std::span<const int32_t> members);

// The elements at `positions` of the root: an array of the root's type and one dimension. TermsOfElement has
// a value for the step.
absl::StatusOr<Literal> ElementsAt(EvalContext& context, const StepValues& step,
                                   std::span<const int64_t> positions);

// The same, where `replace` sees what each elementwise member of one operand gives at some positions, with
// the operand's elements, and may give its users other values.
using ReplaceElements = std::function<absl::Status(
    const Instruction& member, std::span<const int64_t> positions, const Literal& operand, Literal& value)>;
absl::StatusOr<Literal> ElementsAt(EvalContext& context, const StepValues& step,
                                   std::span<const int64_t> positions, ReplaceElements replace);

// The sums behind elements of a dot, convolution or sum of real numbers.
absl::StatusOr<std::vector<SumOfTerms>> SumsAt(EvalContext& context, const StepValues& step,
                                               std::span<const int64_t> positions);

}  // namespace assay

#endif  // ASSAY_RUN_ELEMENTS_AT_H_
