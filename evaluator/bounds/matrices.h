// Words for rules of batches of matrices: the last two dimensions of an array are its rows and columns. All
// arrays but those that are named otherwise are magnitudes or radii, in radius type.
#ifndef ASSAY_EVALUATOR_BOUNDS_MATRICES_H_
#define ASSAY_EVALUATOR_BOUNDS_MATRICES_H_

#include <string_view>

#include "evaluator/bound.h"

namespace assay::bound {

// Rows and columns exchanged; none stays none.
Node TransposedMatrix(BoundContext& c, Node a);
// Matrix by matrix: a b, or a b^T.
Node MatrixProduct(BoundContext& c, Node a, Node b, bool transpose_b = false);
// Where row `direction` column holds, of a matrix like this one: "GE" is the lower triangle, "EQ" the
// diagonal.
Node WhereRow(BoundContext& c, std::string_view direction, Node like);
// The elements of the triangle and the diagonal; the others are zero.
Node Triangle(BoundContext& c, Node a, bool is_lower);
// The identity, of the sizes and type of an array of square matrices, whose type may be complex.
Node IdentityLike(BoundContext& c, Node like);

// |T^-1| from above for a triangular T and all matrices near it. Let X be the inverse that Assay computes,
// column by column: (T + D_j) x_j = e_j, |D_j| <= h |T|. For every matrix T' with |T' - T| <= K
//   T'^-1 e_j = x_j + T'^-1 (D_j + T - T') x_j,   so   |T'^-1| <= |X| + |T'^-1| E,   E = (h |T| + K) |X|,
// and |T'^-1| <= |X| (I - E)^-1 = Q: the inverse is not negative as long as no element of E's diagonal
// reaches 1, since E is triangular. Where one does, Q z is infinite or NaN.
class InverseBound {
 public:
  // `inverse`: X, with its sign, of the type in which it was computed, that of T's elements. `reach`: h |T|
  // + K and what results below the smallest normal number may be off by.
  InverseBound(BoundContext& c, Node inverse, Node reach, bool is_lower);
  // Q z from above.
  Node Times(Node z) const;

 private:
  BoundContext& c_;
  bool is_lower_;
  Node inverse_;  // |X|
  Node rest_;     // I - E from below
};

}  // namespace assay::bound

#endif  // ASSAY_EVALUATOR_BOUNDS_MATRICES_H_
