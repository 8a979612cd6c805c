// Eigenvectors of an ordered Schur form, and canonical Schur vectors.
#ifndef ASSAY_CUSTOM_LINALG_EIGENVECTORS_H_
#define ASSAY_CUSTOM_LINALG_EIGENVECTORS_H_

#include <algorithm>
#include <vector>

#include "custom/linalg/eigenvalues.h"
#include "custom/linalg/jacobi.h"

namespace assay::linalg {

// Orthonormal columns, the first `count` of which span what B takes to 0.
template <class C>
struct NullSpace {
  Matrix<C> columns;
  int64_t count = 0;
};

// Columns that B makes smaller than 2^least are taken to 0; at least one is.
template <class C>
absl::StatusOr<NullSpace<C>> NullSpaceOf(const Matrix<C>& b, int least, Work& work) {
  const int64_t k = b.columns;
  Matrix<C> x = b, turned = Identity<C>(k);
  ASSAY_RETURN_IF_ERROR(OrthogonalizeColumns(x, &turned, least, work));
  std::vector<RealOf<C>> squares(k);
  std::vector<int64_t> rising(k);
  std::iota(rising.begin(), rising.end(), 0);
  for (int64_t j = 0; j < k; ++j) squares[j] = SquaredNorm(x.column(j), x.rows);
  std::ranges::stable_sort(rising, [&](int64_t i, int64_t j) { return squares[i] < squares[j]; });
  NullSpace<C> result{Matrix<C>(k, k), 0};
  for (int64_t j = 0; j < k; ++j) {
    std::copy_n(turned.column(rising[j]), k, result.columns.column(j));
    if (squares[rising[j]].exponent() <= 2 * least) ++result.count;
  }
  result.count = std::max<int64_t>(result.count, 1);
  return result;
}

// Rows and columns of a group less the eigenvalue: nilpotent.
template <class C>
Matrix<C> BlockOf(const Matrix<C>& t, const EigenGroup<C>& group) {
  Matrix<C> block(group.count, group.count);
  for (int64_t j = 0; j < group.count; ++j) {
    for (int64_t i = 0; i <= j; ++i) block(i, j) = t(group.first + i, group.first + j);
    block(j, j) -= group.value;
  }
  return block;
}

// Gram and Schmidt's, each column twice.
template <class C>
absl::Status Orthonormalize(Matrix<C>& q, int64_t first, Work& work) {
  for (int64_t j = first; j < q.columns; ++j) {
    C* const x = q.column(j);
    Scale(C(Reciprocal(Sqrt(SquaredNorm(x, q.rows)))), x, q.rows);
    for (int pass = 0; pass < 2; ++pass) {
      for (int64_t i = 0; i < j; ++i) SubtractMultiple(Dot(q.column(i), x, q.rows), q.column(i), x, q.rows);
      ASSAY_RETURN_IF_ERROR(work.Add<C>(2 * j * q.rows));
    }
    Scale(C(Reciprocal(Sqrt(SquaredNorm(x, q.rows)))), x, q.rows);
  }
  return absl::OkStatus();
}

// Length 1, the largest element real and positive: the first of those whose squares are apart by less than
// 2^-48 of it.
template <class C>
void Normalize(C* x, int64_t n, bool is_real) {
  using R = RealOf<C>;
  const R length = Reciprocal(Sqrt(SquaredNorm(x, n)));
  R largest;
  for (int64_t i = 0; i < n; ++i) largest = std::max(largest, Square(x[i]));
  const R least = largest - largest.Times2To(-48);
  int64_t i = 0;
  while (Square(x[i]) < least) ++i;
  const C phase = Conj(x[i]) * (Reciprocal(Modulus(x[i])) * length);
  Scale(phase, x, n);
  x[i].im = R();
  for (int64_t k = 0; is_real && k < n; ++k) x[k].im = R();
}

// The eigenvectors of one group in the coordinates of Schur vectors: W for what its block (or the block's
// adjoint) takes to 0, and what belongs to it before it (behind it).
template <class C>
absl::StatusOr<Matrix<C>> VectorsOfGroup(const Matrix<C>& t, const EigenGroup<C>& group, bool left, int least,
                                         Work& work) {
  const int64_t n = t.rows, first = group.first, end = first + group.count;
  Matrix<C> block = BlockOf(t, group);
  if (left) block = Adjoint(block);
  ASSAY_ASSIGN_OR_RETURN(const NullSpace<C> space, NullSpaceOf(block, least, work));
  Matrix<C> x(n, space.count);
  for (int64_t c = 0; c < space.count; ++c) {
    std::copy_n(space.columns.column(c), group.count, x.column(c) + first);
    const int64_t step = left ? 1 : -1;
    for (int64_t k = left ? end : first - 1; k >= 0 && k < n; k += step) {
      C sum;
      if (left) {
        for (int64_t j = first; j < k; ++j) sum += Conj(t(j, k)) * x(j, c);
      } else {
        for (int64_t j = k + 1; j < end; ++j) sum += t(k, j) * x(j, c);
      }
      const C divisor = t(k, k) - group.value;
      if (!sum.is_zero()) x(k, c) = -sum / (left ? Conj(divisor) : divisor);
      ASSAY_RETURN_IF_ERROR(work.Add<C>(n + 6));
    }
  }
  return x;
}

// A matrix whose column i is an eigenvector of values[i]. A group has the canonical basis of its eigenspace,
// again and again where its value is there more often.
template <class C>
absl::StatusOr<Matrix<C>> Eigenvectors(const Schur<C>& schur, const EigenGroups<C>& groups, bool left,
                                       bool is_real, Work& work) {
  const int64_t n = schur.t.rows;
  const int least = groups.size - RealOf<C>::kKept;
  Matrix<C> result(n, n);
  for (const EigenGroup<C>& group : groups.groups) {
    const bool is_conjugate = is_real && group.value.im.is_negative();
    if (is_conjugate) {
      // The group before it has the conjugate value.
      for (int64_t j = 0; j < group.count; ++j) {
        for (int64_t i = 0; i < n; ++i)
          result(i, group.first + j) = Conj(result(i, group.first + j - group.count));
      }
      continue;
    }
    ASSAY_ASSIGN_OR_RETURN(const Matrix<C> coordinates, VectorsOfGroup(schur.t, group, left, least, work));
    ASSAY_ASSIGN_OR_RETURN(Matrix<C> x, Product(schur.z, coordinates, work));
    ASSAY_RETURN_IF_ERROR(Orthonormalize(x, 0, work));
    ASSAY_ASSIGN_OR_RETURN(const Matrix<C> turn, CanonicalCoordinates(x, work));
    ASSAY_RETURN_IF_ERROR(MultiplyColumns(x, 0, turn, work));
    for (int64_t j = 0; j < x.columns; ++j) Normalize(x.column(j), n, is_real && group.value.im.is_zero());
    for (int64_t j = 0; j < group.count; ++j)
      std::copy_n(x.column(j % x.columns), n, result.column(group.first + j));
  }
  return result;
}

// Makes the Schur vectors of a group canonical: the canonical basis of what the block takes to 0, then that
// of the same for the rest.
template <class C>
absl::Status CanonicalizeGroup(Schur<C>& schur, const EigenGroup<C>& group, int least, Work& work) {
  Matrix<C> block = BlockOf(schur.t, group);
  for (int64_t done = 0; done < group.count;) {
    NullSpace<C> space{Identity<C>(1), 1};
    if (group.count > 1) {
      ASSAY_ASSIGN_OR_RETURN(space, NullSpaceOf(block, least, work));
    }
    Matrix<C> basis = Columns(schur.z, group.first + done, group.count - done);
    ASSAY_ASSIGN_OR_RETURN(const Matrix<C> vectors,
                           Product(basis, Columns(space.columns, 0, space.count), work));
    ASSAY_ASSIGN_OR_RETURN(const Matrix<C> turn, CanonicalCoordinates(vectors, work));
    ASSAY_RETURN_IF_ERROR(MultiplyColumns(space.columns, 0, turn, work));
    ASSAY_RETURN_IF_ERROR(MultiplyColumns(schur.z, group.first + done, space.columns, work));
    const Matrix<C> rest = Columns(space.columns, space.count, space.columns.columns - space.count);
    ASSAY_ASSIGN_OR_RETURN(const Matrix<C> image, Product(block, rest, work));
    ASSAY_ASSIGN_OR_RETURN(block, AdjointProduct(rest, image, work));
    done += space.count;
  }
  return absl::OkStatus();
}

}  // namespace assay::linalg

#endif  // ASSAY_CUSTOM_LINALG_EIGENVECTORS_H_
