// Forms of the state of loops. A state of n elements is off by d = T' s + rest, where s are m numbers in
// [-1, 1], one for each element in each of the last m / n iterations, and T is a matrix of m rows and n
// columns. In an iteration each element has one symbol, e_k = (T' s)_k / c_k, c_k = sum_i |T_ik|, whatever m
// is: its body gives tangents A of these, n by n, and T becomes T (A / c).
#ifndef ASSAY_EVALUATOR_BOUNDS_LOOP_STATE_H_
#define ASSAY_EVALUATOR_BOUNDS_LOOP_STATE_H_

#include <span>
#include <vector>

#include "evaluator/bound.h"

namespace assay::bound {

struct LoopState {
  Node matrix, rest, sizes;  // T, rest and c
};

// Before the first iteration: nothing is one number for all readers.
LoopState StartOfLoop(BoundContext& c, const std::vector<Node>& radii, int64_t rows);

// The forms of arrays of these shapes, which are the state's elements, one array after the other.
std::vector<LoopForm> FormsOfState(BoundContext& c, const LoopState& state, std::span<const Shape> shapes);

// An array of the state at the end of an iteration. Without a form nothing is known of it but its radius.
struct StateArray {
  LoopForm form;
  Node value, radius;
};
// What two readers of the next state may differ by: one may have a product as it is before its rounding, and
// one may have zero for what is smaller than `flushed`.
struct BetweenReaders {
  bool unrounded = false;
  double flushed = 0;
};
// The state for the next iteration. The symbols of the oldest iteration go into the rest,
// the others move up, and the rest becomes one new symbol of each element, so that all readers of the state
// have one number, but for what is between them. Radii become those of the forms where these are smaller.
LoopState NextState(BoundContext& c, const LoopState& state, std::vector<StateArray>& arrays,
                    const BetweenReaders& between);

}  // namespace assay::bound

#endif  // ASSAY_EVALUATOR_BOUNDS_LOOP_STATE_H_
