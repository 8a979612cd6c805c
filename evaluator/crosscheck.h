// The cross-check: what a fast kernel gave, compared with the reference.
#ifndef ASSAY_EVALUATOR_CROSSCHECK_H_
#define ASSAY_EVALUATOR_CROSSCHECK_H_

#include "absl/functional/function_ref.h"
#include "evaluator/fusion.h"
#include "hlo/module.h"
#include "literal/literal.h"
#include "shape/error.h"

namespace assay {

// Steps for which the reference needs more are not sampled: up to about 20 ms at a microsecond each.
inline constexpr double kSampleWork = 1 << 14;

// The value of a fusion's root by OpDef::eval of one member after the other. `run` evaluates an instruction on
// its operands.
absl::StatusOr<Literal> RunMembers(
    const Computation& computation, const Fusion& fusion, std::span<const Literal> operands,
    absl::FunctionRef<absl::StatusOr<Literal>(const Instruction&, std::span<Literal>)> run);

// About how many element operations the reference needs for an instruction: the elements of operands and
// result; for sums of products the number of products.
double ReferenceWork(const Computation& computation, const Instruction& instruction);

// OK if every bit agrees; else the status of a failed comparison (exit code 1), with the worst element.
absl::Status CompareWithReference(const Literal& reference, const Literal& actual);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_CROSSCHECK_H_
