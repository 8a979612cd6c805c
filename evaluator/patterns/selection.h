// Reducers of one or several operands that only choose, by comparisons, which element they keep: argmax,
// extremes by select, the element of the least key.
#ifndef ASSAY_EVALUATOR_PATTERNS_SELECTION_H_
#define ASSAY_EVALUATOR_PATTERNS_SELECTION_H_

#include "hlo/module.h"

namespace assay {

// True if the computation f takes elements (x1, .., xk) and (y1, .., yk), gives for each i one of xi and yi,
// chosen by comparisons of such elements of one operand each, and f(f(a, b), c) = f(a, f(b, c)) in every bit:
// then neighbours may be combined first, as long as they stay in their order.
//
// Such a function depends only on how the elements of an operand compare with each other and on which of them
// are NaN. So associativity is tried on all triples from a set in which every way occurs that three elements
// can compare: of integers 3 numbers; of floats two numbers each below and above zero, both zeros, two NaNs.
bool IsAssociativeSelection(const Module& module, ComputationId id);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_PATTERNS_SELECTION_H_
