// Bases of subspaces that depend on the subspace alone. Where an eigenvalue or a singular value is there
// once, its vector is unique but for its sign or phase, where it is there k times, but for a unitary matrix;
// these rules leave nothing open.
// Decision: lapack-unique.
#ifndef ASSAY_CUSTOM_LINALG_SUBSPACES_H_
#define ASSAY_CUSTOM_LINALG_SUBSPACES_H_

#include <algorithm>
#include <vector>

#include "custom/linalg/matrix.h"
#include "custom/linalg/reflectors.h"
#include "custom/linalg/work.h"

namespace assay::linalg {

// Lengths of vectors squared that count as different from 0 are at least this over the dimension: were all
// axes' projections shorter, the squares would not add up to the subspace's dimension, 1 or more.
inline constexpr double kLeastPart = 0.37;

// A matrix C of k rows and as many columns for n x k orthonormal columns Q: Q C are the projections of the
// axes onto the span of Q, in their order, by Gram and Schmidt's rule; an axis of whose projection less than
// kLeastPart / n is left (squared) has none. So the first element that is not too small of a single vector is
// real and positive.
template <class S>
absl::StatusOr<Matrix<S>> CanonicalCoordinates(const Matrix<S>& q, Work& work) {
  using R = RealOf<S>;
  const int64_t n = q.rows, k = q.columns;
  const R least = R(kLeastPart) / R(static_cast<double>(n));
  Matrix<S> result(k, k);
  std::vector<S> rest(k);
  for (int64_t axis = 0, found = 0; axis < n && found < k; ++axis) {
    for (int64_t j = 0; j < k; ++j) rest[j] = Conj(q(axis, j));
    // The second time for the rounding errors of the first.
    for (int pass = 0; pass < 2; ++pass) {
      for (int64_t j = 0; j < found; ++j)
        SubtractMultiple(Dot(result.column(j), rest.data(), k), result.column(j), rest.data(), k);
      ASSAY_RETURN_IF_ERROR(work.Add<S>(2 * k * found + k));
    }
    const R square = SquaredNorm(rest.data(), k);
    if (square < least) continue;
    const S scale = S(Reciprocal(Sqrt(square)));
    for (int64_t j = 0; j < k; ++j) result(j, found) = rest[j] * scale;
    ++found;
  }
  return result;
}

template <class S>
absl::StatusOr<Matrix<S>> Product(const Matrix<S>& a, const Matrix<S>& b, Work& work) {
  Matrix<S> result(a.rows, b.columns);
  for (int64_t j = 0; j < b.columns; ++j) {
    for (int64_t k = 0; k < a.columns; ++k) SubtractMultiple(-b(k, j), a.column(k), result.column(j), a.rows);
    ASSAY_RETURN_IF_ERROR(work.Add<S>(a.rows * a.columns));
  }
  return result;
}
// A* B
template <class S>
absl::StatusOr<Matrix<S>> AdjointProduct(const Matrix<S>& a, const Matrix<S>& b, Work& work) {
  Matrix<S> result(a.columns, b.columns);
  for (int64_t j = 0; j < b.columns; ++j) {
    for (int64_t k = 0; k < a.columns; ++k) result(k, j) = Dot(a.column(k), b.column(j), a.rows);
    ASSAY_RETURN_IF_ERROR(work.Add<S>(a.rows * a.columns));
  }
  return result;
}

// Q := Q C for columns first ... first + C.columns - 1.
template <class S>
absl::Status MultiplyColumns(Matrix<S>& q, int64_t first, const Matrix<S>& c, Work& work) {
  ASSAY_ASSIGN_OR_RETURN(const Matrix<S> product, Product(Columns(q, first, c.columns), c, work));
  std::ranges::copy(product.elements, q.column(first));
  return absl::OkStatus();
}

// The first `wanted` columns of a unitary matrix whose first ones are Q's, of which there are no more: the
// others are those of the product of the reflectors that make Q triangular.
template <class S>
absl::StatusOr<Matrix<S>> Completed(const Matrix<S>& q, int64_t wanted, Work& work) {
  Matrix<S> result(q.rows, wanted);
  for (int64_t j = q.columns; j < wanted; ++j) result(j, j) = S(1.0);
  if (q.columns < wanted) {
    Matrix<S> packed = q;
    std::vector<S> taus;
    ASSAY_RETURN_IF_ERROR(FactorQr(packed, taus, work));
    ASSAY_RETURN_IF_ERROR(MultiplyByQ(packed, taus, 0, /*adjoint=*/false, result, work));
  }
  std::ranges::copy(q.elements, result.elements.begin());
  return result;
}

}  // namespace assay::linalg

#endif  // ASSAY_CUSTOM_LINALG_SUBSPACES_H_
