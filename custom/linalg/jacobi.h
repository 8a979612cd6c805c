// Singular values by Hestenes and Jacobi's rotations of columns, which find small ones as exactly as large
// ones where the columns are only badly scaled.
#ifndef ASSAY_CUSTOM_LINALG_JACOBI_H_
#define ASSAY_CUSTOM_LINALG_JACOBI_H_

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <vector>

#include "custom/linalg/subspaces.h"

namespace assay::linalg {

// Below the exponents of all numbers but 0.
inline constexpr int kNothing = std::numeric_limits<int>::min() / 4;

// (x, y) := (c x - s conj(p) y, s p x + c y)
template <class S>
void RotateColumns(const RealOf<S>& c, const RealOf<S>& s, const S& phase, S* x, S* y, int64_t count) {
  const S sine = S(s) * Conj(phase), other = S(s) * phase, cosine = S(c);
  for (int64_t i = 0; i < count; ++i) {
    const S a = x[i], b = y[i];
    if constexpr (Of<S>::kIsComplex) {
      x[i] = a * c - sine * b;
      y[i] = other * a + b * c;
    } else {
      x[i] = cosine * a - sine * b;
      y[i] = other * a + cosine * b;
    }
  }
}

// Makes the columns of X orthogonal to each other by rotations, which `turned`, if there is one, takes part
// in. A column that is smaller than 2^least is as good as 0. What does not come to an end, rounding errors,
// is in doubt.
template <class S>
absl::Status OrthogonalizeColumns(Matrix<S>& x, Matrix<S>* turned, int least, Work& work) {
  using R = RealOf<S>;
  constexpr int kMaxSweeps = 60;
  // Products of columns that are smaller than this of their norms are rounding errors.
  const int tiny = -2 * (R::kBits - 12 - std::bit_width(static_cast<uint64_t>(x.rows)));
  std::vector<R> squares(x.columns);
  for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
    bool changed = false;
    for (int64_t j = 0; j < x.columns; ++j) squares[j] = SquaredNorm(x.column(j), x.rows);
    for (int64_t i = 0; i < x.columns; ++i) {
      for (int64_t j = i + 1; j < x.columns; ++j) {
        ASSAY_RETURN_IF_ERROR(work.Add<S>(x.rows));
        if (std::min(squares[i].exponent(), squares[j].exponent()) <= 2 * least) continue;
        const S product = Dot(x.column(i), x.column(j), x.rows);
        const R square = Square(product);
        if (square <= (squares[i] * squares[j]).Times2To(tiny)) continue;
        changed = true;
        const R size = Sqrt(square), zeta = (squares[j] - squares[i]) / size.Times2To(1);
        R t = Reciprocal(Abs(zeta) + Sqrt(R(1.0) + zeta * zeta));
        if (zeta.is_negative()) t = -t;
        const R c = Reciprocal(Sqrt(R(1.0) + t * t)), s = c * t;
        const S phase = product * S(Reciprocal(size));
        RotateColumns(c, s, phase, x.column(i), x.column(j), x.rows);
        squares[i] = SquaredNorm(x.column(i), x.rows);
        squares[j] = SquaredNorm(x.column(j), x.rows);
        if (turned != nullptr) RotateColumns(c, s, phase, turned->column(i), turned->column(j), turned->rows);
        ASSAY_RETURN_IF_ERROR(work.Add<S>(6 * x.rows));
      }
    }
    if (!changed) return absl::OkStatus();
  }
  work.Doubt();
  return absl::OkStatus();
}

// A = U diag(values) V*, values falling; of U and V the columns of those that are not 0.
template <class S>
struct Singular {
  std::vector<RealOf<S>> values;
  Matrix<S> u, v;
};

// Equal singular values, which are apart by less than 2^-kKept of themselves, are their mean, and their
// vectors of V the canonical ones of their span.
template <class S>
absl::Status Canonicalize(Singular<S>& singular, Matrix<S>& other, Matrix<S>& canonical, Work& work) {
  using R = RealOf<S>;
  std::vector<R>& values = singular.values;
  const int64_t count = static_cast<int64_t>(values.size());
  for (int64_t first = 0, end; first < count; first = end) {
    R sum = values[first];
    for (end = first + 1; end < count; ++end) {
      if ((values[end - 1] - values[end]) > values[end - 1].Times2To(-R::kKept)) break;
      sum += values[end];
    }
    const R mean = sum / R(static_cast<double>(end - first));
    if (end - first > 1) std::fill(values.begin() + first, values.begin() + end, mean);
    if (canonical.columns == 0) continue;
    ASSAY_ASSIGN_OR_RETURN(const Matrix<S> turn,
                           CanonicalCoordinates(Columns(canonical, first, end - first), work));
    ASSAY_RETURN_IF_ERROR(MultiplyColumns(canonical, first, turn, work));
    ASSAY_RETURN_IF_ERROR(MultiplyColumns(other, first, turn, work));
  }
  return absl::OkStatus();
}

// By A P = Q R with columns exchanged, whose triangle has as many rows as A's rank, and rotations of the
// columns of R*.
template <class S>
absl::StatusOr<Singular<IteratedOf<S>>> SingularValues(const Matrix<S>& a, bool vectors, Work& work) {
  using I = IteratedOf<S>;
  using R = RealOf<I>;
  const bool is_wide = a.rows < a.columns;
  const Matrix<S> tall = is_wide ? Adjoint(a) : a;
  const int64_t m = tall.rows, n = tall.columns;
  Matrix<S> packed = tall;
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::vector<S> taus;
  ASSAY_RETURN_IF_ERROR(FactorPivotedQr(packed, 0, order.data(), taus, work));
  int64_t rank = 0;
  while (rank < n && !packed(rank, rank).is_zero()) ++rank;
  Matrix<I> x(n, rank);
  for (int64_t k = 0; k < rank; ++k) {
    for (int64_t j = k; j < n; ++j) x(j, k) = Conj(ToIterated(packed(k, j)));
  }
  ASSAY_RETURN_IF_ERROR(OrthogonalizeColumns(x, static_cast<Matrix<I>*>(nullptr), kNothing, work));
  std::vector<R> norms(rank);
  for (int64_t k = 0; k < rank; ++k) norms[k] = Sqrt(SquaredNorm(x.column(k), n));
  std::vector<int64_t> falling(rank);
  std::iota(falling.begin(), falling.end(), 0);
  std::ranges::stable_sort(falling, [&](int64_t i, int64_t j) { return norms[i] > norms[j]; });
  Singular<I> result;
  for (const int64_t k : falling) result.values.push_back(norms[k]);
  Matrix<I> of_rows(m, vectors ? rank : 0), of_columns(n, vectors ? rank : 0);
  if (vectors) {
    for (int64_t k = 0; k < rank; ++k) {
      const I scale = I(Reciprocal(result.values[k]));
      for (int64_t j = 0; j < n; ++j) of_columns(order[j], k) = x(j, falling[k]) * scale;
    }
    ASSAY_ASSIGN_OR_RETURN(of_rows, Product(ToIterated(tall), of_columns, work));
    for (int64_t k = 0; k < rank; ++k) Scale(I(Reciprocal(result.values[k])), of_rows.column(k), m);
  }
  if (is_wide) std::swap(of_rows, of_columns);
  result.u = std::move(of_rows);
  result.v = std::move(of_columns);
  ASSAY_RETURN_IF_ERROR(Canonicalize(result, result.u, result.v, work));
  result.values.resize(n);
  return result;
}

}  // namespace assay::linalg

#endif  // ASSAY_CUSTOM_LINALG_JACOBI_H_
