// The gradient of a registered operation as a program (docs/spec/custom-ops.md, section 5).
#ifndef ASSAY_CUSTOM_GRADIENT_PROGRAM_H_
#define ASSAY_CUSTOM_GRADIENT_PROGRAM_H_

#include <span>
#include <string>

#include "custom/registry.h"

namespace assay::custom {

// HLO text: parameters are the call's operands, its results and dL/d(result) for each result; the root is a
// tuple of dL/d(operand) for each operand, zeros where there is none. Operands and results are arrays.
// Errors: NotSupported where the operation has registered no gradient; InvalidProgram for an instruction that
// the gradient made wrongly, and for a gradient whose shape is not its operand's.
absl::StatusOr<std::string> GradientProgram(const RegisteredOp& op, const Instruction& call,
                                            std::span<const Shape* const> operands,
                                            std::span<const Shape> results);

}  // namespace assay::custom

#endif  // ASSAY_CUSTOM_GRADIENT_PROGRAM_H_
