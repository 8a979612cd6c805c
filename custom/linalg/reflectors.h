// Householder's reflectors H = 1 - tau v v*, v = (1, tail), and the factorizations that they make, as LAPACK
// defines and stores them: larfg, geqr2, geqp3, gehd2, sytd2, orm2r.
#ifndef ASSAY_CUSTOM_LINALG_REFLECTORS_H_
#define ASSAY_CUSTOM_LINALG_REFLECTORS_H_

#include <algorithm>
#include <vector>

#include "custom/linalg/matrix.h"
#include "custom/linalg/work.h"

namespace assay::linalg {

// H* (alpha, x) = (beta, 0) with beta = -sign(re alpha) |(alpha, x)|, the sign of 0 being +; tau = (beta -
// alpha) / beta, and x becomes the tail x / (alpha - beta). tau = 0 where x = 0 and alpha is real. Returns
// tau; alpha becomes beta.
template <class S>
S MakeReflector(S& alpha, S* x, int64_t count) {
  const RealOf<S> rest = SquaredNorm(x, count);
  if (rest.is_zero() && ImaginaryPart(alpha).is_zero()) return {};
  RealOf<S> beta = Sqrt(Square(alpha) + rest);
  if (!RealPart(alpha).is_negative()) beta = -beta;
  const S tau = (S(beta) - alpha) * S(Reciprocal(beta));
  const S scale = S(1.0) / (alpha - S(beta));
  Scale(scale, x, count);
  alpha = S(beta);
  return tau;
}

// H c for columns c, of which c[0] and the `count` numbers behind it are meant.
template <class S>
void ApplyReflector(const S& tau, const S* tail, int64_t count, S* c) {
  if (tau.is_zero()) return;
  const S factor = tau * (c[0] + Dot(tail, c + 1, count));
  c[0] -= factor;
  SubtractMultiple(factor, tail, c + 1, count);
}
// A H: the columns of A that v meets are first, first + 1, ..., first + count; rows 0 ... rows - 1.
template <class S>
void ApplyReflectorRight(const S& tau, const S* tail, int64_t count, Matrix<S>& a, int64_t first,
                         int64_t rows) {
  if (tau.is_zero()) return;
  std::vector<S> product(a.column(first), a.column(first) + rows);
  for (int64_t k = 0; k < count; ++k)
    SubtractMultiple(-tail[k], a.column(first + 1 + k), product.data(), rows);
  Scale(tau, product.data(), rows);
  SubtractMultiple(S(1.0), product.data(), a.column(first), rows);
  for (int64_t k = 0; k < count; ++k)
    SubtractMultiple(Conj(tail[k]), product.data(), a.column(first + 1 + k), rows);
}

// One step of geqr2: column k, and the columns behind it.
template <class S>
absl::Status ReflectColumn(Matrix<S>& a, int64_t k, std::vector<S>& taus, Work& work) {
  S* const diagonal = a.column(k) + k;
  const int64_t below = a.rows - k - 1;
  taus[k] = MakeReflector(*diagonal, diagonal + 1, below);
  for (int64_t j = k + 1; j < a.columns; ++j) {
    ApplyReflector(Conj(taus[k]), diagonal + 1, below, a.column(j) + k);
    ASSAY_RETURN_IF_ERROR(work.Add<S>(2 * below + 2));
  }
  return work.Add<S>(2 * below);
}

// geqrf: A becomes R and the tails of Q = H_0 H_1 ...
template <class S>
absl::Status FactorQr(Matrix<S>& a, std::vector<S>& taus, Work& work) {
  const int64_t k = std::min(a.rows, a.columns);
  taus.assign(k, S());
  for (int64_t i = 0; i < k; ++i) ASSAY_RETURN_IF_ERROR(ReflectColumn(a, i, taus, work));
  return absl::OkStatus();
}

// geqp3: of columns `fixed` and on, the one that comes next is the first of those whose norm, in the rows
// that are left, is the largest; squared norms that are apart by less than 2^-48 of it are equal. `order`
// goes along with the columns.
template <class S, class Index>
absl::Status FactorPivotedQr(Matrix<S>& a, int64_t fixed, Index* order, std::vector<S>& taus, Work& work) {
  const int64_t m = a.rows, n = a.columns, k = std::min(m, n);
  taus.assign(k, S());
  std::vector<RealOf<S>> norms(n);
  for (int64_t i = 0; i < k; ++i) {
    if (i >= fixed) {
      RealOf<S> largest;
      for (int64_t j = i; j < n; ++j) {
        norms[j] = SquaredNorm(a.column(j) + i, m - i);
        if (norms[j] > largest) largest = norms[j];
        ASSAY_RETURN_IF_ERROR(work.Add<S>(m - i));
      }
      const RealOf<S> least = largest - largest.Times2To(-48);
      int64_t pivot = i;
      while (norms[pivot] < least) ++pivot;
      a.SwapColumns(i, pivot);
      std::swap(order[i], order[pivot]);
    }
    ASSAY_RETURN_IF_ERROR(ReflectColumn(a, i, taus, work));
  }
  return absl::OkStatus();
}

// op(H_0 H_1 ... H_k-1) c, the tails in the columns of `packed` below row k + first.
template <class S>
absl::Status MultiplyByQ(const Matrix<S>& packed, const std::vector<S>& taus, int64_t first, bool adjoint,
                         Matrix<S>& c, Work& work) {
  const int64_t count = static_cast<int64_t>(taus.size());
  for (int64_t step = 0; step < count; ++step) {
    const int64_t k = adjoint ? step : count - 1 - step, row = k + first;
    const S tau = adjoint ? Conj(taus[k]) : taus[k];
    for (int64_t j = 0; j < c.columns; ++j) {
      ApplyReflector(tau, packed.column(k) + row + 1, packed.rows - row - 1, c.column(j) + row);
      ASSAY_RETURN_IF_ERROR(work.Add<S>(2 * (packed.rows - row)));
    }
  }
  return absl::OkStatus();
}
// c op(H_0 H_1 ...)
template <class S>
absl::Status MultiplyByQRight(const Matrix<S>& packed, const std::vector<S>& taus, bool adjoint, Matrix<S>& c,
                              Work& work) {
  const int64_t count = static_cast<int64_t>(taus.size());
  for (int64_t step = 0; step < count; ++step) {
    const int64_t k = adjoint ? count - 1 - step : step;
    const S tau = adjoint ? Conj(taus[k]) : taus[k];
    ApplyReflectorRight(tau, packed.column(k) + k + 1, packed.rows - k - 1, c, k, c.rows);
    ASSAY_RETURN_IF_ERROR(work.Add<S>(2 * (packed.rows - k) * c.rows));
  }
  return absl::OkStatus();
}

// gehrd of rows and columns low ... high - 1: A becomes H and the tails of Q, A = Q H Q*.
template <class S>
absl::Status ReduceToHessenberg(Matrix<S>& a, int64_t low, int64_t high, std::vector<S>& taus, Work& work) {
  const int64_t n = a.rows;
  taus.assign(std::max<int64_t>(n - 1, 0), S());
  for (int64_t k = low; k + 1 < high; ++k) {
    S* const alpha = a.column(k) + k + 1;
    const int64_t below = high - k - 2;
    taus[k] = MakeReflector(*alpha, alpha + 1, below);
    ApplyReflectorRight(taus[k], alpha + 1, below, a, k + 1, high);
    ASSAY_RETURN_IF_ERROR(work.Add<S>(2 * (below + 1) * high));
    for (int64_t j = k + 1; j < n; ++j) {
      ApplyReflector(Conj(taus[k]), alpha + 1, below, a.column(j) + k + 1);
      ASSAY_RETURN_IF_ERROR(work.Add<S>(2 * (below + 1)));
    }
  }
  return absl::OkStatus();
}

// sytrd of the lower triangle: A = Q T Q*; the triangle becomes the tails of Q, d and e the diagonals of T.
template <class S>
absl::Status ReduceToTridiagonal(Matrix<S>& a, std::vector<RealOf<S>>& d, std::vector<RealOf<S>>& e,
                                 std::vector<S>& taus, Work& work) {
  const int64_t n = a.rows;
  d.assign(n, {});
  e.assign(std::max<int64_t>(n - 1, 0), {});
  taus.assign(e.size(), S());
  std::vector<S> v, w;
  for (int64_t k = 0; k + 1 < n; ++k) {
    d[k] = RealPart(a(k, k));
    S* const alpha = a.column(k) + k + 1;
    const int64_t size = n - k - 1;
    taus[k] = MakeReflector(*alpha, alpha + 1, size - 1);
    e[k] = RealPart(*alpha);
    ASSAY_RETURN_IF_ERROR(work.Add<S>(2 * size));
    if (taus[k].is_zero()) continue;
    v.assign(alpha, alpha + size);
    v[0] = S(1.0);
    // w = tau A v, then w -= tau (w* v) v / 2; A -= v w* + w v*
    w.assign(size, S());
    for (int64_t j = 0; j < size; ++j) {
      const S* const column = a.column(k + 1 + j) + k + 1;
      w[j] += S(RealPart(column[j])) * v[j];
      for (int64_t i = j + 1; i < size; ++i) {
        w[i] += column[i] * v[j];
        w[j] += Conj(column[i]) * v[i];
      }
      ASSAY_RETURN_IF_ERROR(work.Add<S>(2 * (size - j)));
    }
    Scale(taus[k], w.data(), size);
    S half = taus[k] * Dot(w.data(), v.data(), size);
    half *= S(0.5);
    SubtractMultiple(half, v.data(), w.data(), size);
    for (int64_t j = 0; j < size; ++j) {
      S* const column = a.column(k + 1 + j) + k + 1;
      const S w_j = Conj(w[j]), v_j = Conj(v[j]);
      for (int64_t i = j; i < size; ++i) column[i] -= v[i] * w_j + w[i] * v_j;
      ASSAY_RETURN_IF_ERROR(work.Add<S>(2 * (size - j)));
    }
  }
  if (n > 0) d[n - 1] = RealPart(a(n - 1, n - 1));
  return absl::OkStatus();
}

}  // namespace assay::linalg

#endif  // ASSAY_CUSTOM_LINALG_REFLECTORS_H_
