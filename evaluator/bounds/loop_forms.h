// First-order forms of what small arrays are off by (LoopForm, in evaluator/bound.h): affine arithmetic
// (de Figueiredo and Stolfi, Affine arithmetic: concepts and applications, 2004).
#ifndef ASSAY_EVALUATOR_BOUNDS_LOOP_FORMS_H_
#define ASSAY_EVALUATOR_BOUNDS_LOOP_FORMS_H_

#include "evaluator/bound.h"

namespace assay::bound {

// Gives the result of the instruction, which has a radius, the form that follows from its operands' forms.
// Its rule says what it is off by itself (ResultRounding). Where `sharpens`, or where errors may cancel
// each other, the result is given the smaller of both radii: that costs a sum over all symbols. Ops without
// a formula, and results whose tangents would be large, are given no form.
void GiveLoopForm(BoundContext& c, bool sharpens);

// The same form with the rounding of its tangents in the rest.
LoopForm Settled(BoundContext& c, const LoopForm& form);

int64_t SymbolsOf(BoundContext& c, Node tangents);
Node Absolute(BoundContext& c, Node a);
// An array like the value, spread over all symbols.
Node OverSymbols(BoundContext& c, Node a, Node tangents);
Node SumOverSymbols(BoundContext& c, Node tangents);  // of magnitudes
// Nothing is known where the predicate does not hold.
Node KnownWhere(BoundContext& c, Node predicate, Node a);

}  // namespace assay::bound

#endif  // ASSAY_EVALUATOR_BOUNDS_LOOP_FORMS_H_
