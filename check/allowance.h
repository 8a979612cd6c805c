// What a profile lets a backend do in one instruction.
#ifndef ASSAY_CHECK_ALLOWANCE_H_
#define ASSAY_CHECK_ALLOWANCE_H_

#include "check/profile.h"
#include "evaluator/bound.h"
#include "hlo/module.h"

namespace assay {

// Of a result of this type: `result_accuracy` says more than the profile. What is flushed is part of
// `absolute`.
Allowance AllowanceOf(const Profile& profile, const Instruction& instruction, ElementType type);
// The same of a sum's last rounding: what a profile says of all operations is about functions.
Allowance SumAllowanceOf(const Profile& profile, const Instruction& instruction, ElementType type);
// Units of roundoff (half an ulp) of the format in which sums of the type are kept, and of what dots cut
// operands to.
double SumUnitOf(const Profile& profile, const InstructionView& view, ElementType type);
double InputUnitOf(const Profile& profile, const Instruction& dot, ElementType type);

}  // namespace assay

#endif  // ASSAY_CHECK_ALLOWANCE_H_
