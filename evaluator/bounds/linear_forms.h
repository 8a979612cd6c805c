// First-order forms in elementwise chains. Where an array reaches a result by several ways, its distance d
// from the exact one does so with the signs of the slopes: x (1 - x) moves by (1 - 2 x) d, not by
// (|1 - x| + |x|) |d|.
#ifndef ASSAY_EVALUATOR_BOUNDS_LINEAR_FORMS_H_
#define ASSAY_EVALUATOR_BOUNDS_LINEAR_FORMS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "evaluator/bound.h"

namespace assay::bound {

// An array whose distance d from the exact one is the same for all that read it. |d| <= radius, and a reader
// may take it for something else by `rest` (numbers that are flushed).
struct FormSource {
  int32_t id = -1;
  Node radius;
  double rest = 0;
};

// The distance of an array from the exact one is sum_k slope_k d_k + e, |e| <= rest, for the distances d_k of
// sources of the same sizes, element by element. What the instructions on the way are off by is part of e:
// each reader may have had them computed anew, and rounded otherwise.
struct LinearForm {
  struct Term {
    FormSource source;
    Node slope;  // none: 1
  };
  std::vector<Term> terms;
  Node rest;  // none: zero
  // At least sum_k |slope_k| radius_k if nothing cancels: a share of it covers the rounding of slopes.
  Node total;
  int steps = 0;  // how many instructions there are between a source and the array, at most
  explicit operator bool() const { return !terms.empty(); }
};

LinearForm FormOfSource(BoundContext& c, const FormSource& source);
// Without the terms of sources that are not wanted: their part becomes rest.
LinearForm Kept(BoundContext& c, const LinearForm& form, std::span<const int32_t> wanted);
// The instruction hands forms on, by which of its operands.
bool CarriesForms(const InstructionView& view);
// The form of the result, which was given a radius; `operands`: the forms of these, where they have one.
LinearForm FormOfResult(BoundContext& c, std::span<const LinearForm> operands);
// sum_k |slope_k| radius_k + rest with what their rounding may be, where that is less than the radius.
Node SmallerRadius(BoundContext& c, const LinearForm& form, Node radius);

}  // namespace assay::bound

#endif  // ASSAY_EVALUATOR_BOUNDS_LINEAR_FORMS_H_
