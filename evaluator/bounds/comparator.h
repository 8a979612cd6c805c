// What a comparator orders by, found out from what it computes and not from how it is written.
#ifndef ASSAY_EVALUATOR_BOUNDS_COMPARATOR_H_
#define ASSAY_EVALUATOR_BOUNDS_COMPARATOR_H_

#include <cstdint>
#include <optional>

#include "hlo/module.h"

namespace assay::bound {

// The operand whose elements decide first: where two of them are different numbers, the comparator says the
// same of all such pairs with the smaller number first, and the opposite of all with the larger one first,
// whatever the other operands hold. Where it rounds them before, this holds of what they are rounded to: off
// by `relative` of the number and `absolute` at most.
struct FirstKey {
  int64_t operand = 0;
  double relative = 0, absolute = 0;
};
// None where it is not proven.
std::optional<FirstKey> FirstKeyOf(const Module& module, ComputationId comparator);

}  // namespace assay::bound

#endif  // ASSAY_EVALUATOR_BOUNDS_COMPARATOR_H_
