// Values where they enter a computation or leave an instruction: they have the sizes that the program
// declares static, whatever an instruction's shape rule says (semantics.md: static-parameter-size,
// static-result-size).
#ifndef ASSAY_RUN_DECLARED_SIZES_H_
#define ASSAY_RUN_DECLARED_SIZES_H_

#include <cstdint>
#include <span>

#include "base/error.h"
#include "hlo/module.h"
#include "literal/literal.h"

namespace assay {

// Argument `number` of the program fits the parameter: type, sizes, run-time sizes (Parameter-C2). Errors:
// BadInput.
absl::Status CheckArgument(int64_t number, const Literal& argument, const Shape& wanted);
// The value of parameter i of a computation. One that has open dimensions gets the declared shape.
absl::Status TakeArgument(const Computation& computation, size_t i, Literal& argument);
// The same of the elements of a loop's state before an iteration, for its body or condition.
absl::Status TakeState(const Computation& computation, std::span<Literal> elements);
// The same of an instruction's result.
absl::Status TakeResult(const Instruction& instruction, Literal& result);

}  // namespace assay

#endif  // ASSAY_RUN_DECLARED_SIZES_H_
