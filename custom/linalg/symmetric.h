// Eigenvalues and eigenvectors of Hermitian matrices: A = Q T Q* with T tridiagonal, then QL steps with
// implicit shifts.
#ifndef ASSAY_CUSTOM_LINALG_SYMMETRIC_H_
#define ASSAY_CUSTOM_LINALG_SYMMETRIC_H_

#include <algorithm>
#include <numeric>
#include <vector>

#include "custom/linalg/jacobi.h"

namespace assay::linalg {

// T with diagonals d and e, which become the eigenvalues, in no order, and 0; the columns of `vectors`, if
// there are any, take part. T falls apart where e is 0 from the beginning: `sizes` says of each row what its
// block's numbers reach (their exponent), and that of a block of one is an exact eigenvalue.
template <class S>
class TridiagonalQl {
 public:
  using R = RealOf<S>;
  TridiagonalQl(std::vector<R>& d, std::vector<R>& e, Matrix<S>& vectors, Work& work)
      : d_(d), e_(e), vectors_(vectors), work_(work), sizes(d.size()), alone(d.size(), false) {}

  absl::Status Run() {
    const int64_t n = static_cast<int64_t>(d_.size());
    e_.resize(n);  // the last one is 0
    for (int64_t first = 0, end; first < n; first = end) {
      int size = d_[first].exponent();
      for (end = first + 1; end < n && !e_[end - 1].is_zero(); ++end)
        size = std::max({size, d_[end].exponent(), e_[end - 1].exponent()});
      for (int64_t k = first; k < end; ++k) {
        sizes[k] = size;
        alone[k] = end - first == 1;
      }
    }
    for (int64_t k = 0; k < n; ++k) ASSAY_RETURN_IF_ERROR(FindEigenvalue(k));
    return absl::OkStatus();
  }

 private:
  absl::Status FindEigenvalue(int64_t l) {
    constexpr int kMaxSteps = 300;
    const int64_t n = static_cast<int64_t>(d_.size());
    for (int step = 0; step < kMaxSteps; ++step) {
      int64_t m = l;
      while (m + 1 < n && !e_[m].is_zero() && e_[m].exponent() > sizes[m] - R::kBits) ++m;
      if (m == l) return absl::OkStatus();
      ASSAY_RETURN_IF_ERROR(Step(l, m));
    }
    return EvalError({}, "QL steps do not come to an end");
  }

  absl::Status Step(int64_t l, int64_t m) {
    const R one(1.0);
    R g = (d_[l + 1] - d_[l]) / e_[l].Times2To(1);
    R r = Sqrt(g * g + one);
    g = d_[m] - d_[l] + e_[l] / (g.is_negative() ? g - r : g + r);
    R s = one, c = one, p;
    for (int64_t i = m - 1; i >= l; --i) {
      const R f = s * e_[i], b = c * e_[i];
      r = Sqrt(f * f + g * g);
      e_[i + 1] = r;
      if (r.is_zero()) {
        d_[i + 1] -= p;
        e_[m] = R();
        return absl::OkStatus();
      }
      const R scale = Reciprocal(r);
      s = f * scale;
      c = g * scale;
      g = d_[i + 1] - p;
      r = (d_[i] - g) * s + (c * b).Times2To(1);
      p = s * r;
      d_[i + 1] = g + p;
      g = c * r - b;
      if (vectors_.columns > 0)
        RotateColumns(c, s, S(1.0), vectors_.column(i), vectors_.column(i + 1), vectors_.rows);
      ASSAY_RETURN_IF_ERROR(work_.Add<S>(vectors_.rows * 4 + 40));
    }
    d_[l] -= p;
    e_[l] = g;
    e_[m] = R();
    return absl::OkStatus();
  }

  std::vector<R>&d_, &e_;
  Matrix<S>& vectors_;
  Work& work_;

 public:
  std::vector<int> sizes;
  std::vector<bool> alone;
};

template <class S>
struct Eigen {
  std::vector<RealOf<S>> values;  // rising
  Matrix<S> vectors;
};

// Of the lower triangle. Eigenvalues that are apart by less than 2^-kKept of their block's numbers are equal,
// and those that are smaller than that are 0.
template <class S>
absl::StatusOr<Eigen<IteratedOf<S>>> HermitianEigenvalues(Matrix<S> a, bool vectors, Work& work) {
  using I = IteratedOf<S>;
  using R = RealOf<I>;
  const int64_t n = a.rows;
  std::vector<RealOf<S>> d, e;
  std::vector<S> taus;
  ASSAY_RETURN_IF_ERROR(ReduceToTridiagonal(a, d, e, taus, work));
  Matrix<I> q;
  if (vectors) {
    Matrix<S> whole = Identity<S>(n);
    ASSAY_RETURN_IF_ERROR(MultiplyByQ(a, taus, 1, /*adjoint=*/false, whole, work));
    q = ToIterated(whole);
  }
  std::vector<R> values(n), beside(e.size());
  std::ranges::transform(d, values.begin(), [](const auto& x) { return ToIterated(x); });
  std::ranges::transform(e, beside.begin(), [](const auto& x) { return ToIterated(x); });
  TridiagonalQl<I> ql(values, beside, q, work);
  ASSAY_RETURN_IF_ERROR(ql.Run());
  std::vector<int> least(n);
  for (int64_t k = 0; k < n; ++k) {
    least[k] = (ql.alone[k] ? values[k].exponent() : ql.sizes[k]) - R::kKept;
    if (!ql.alone[k] && values[k].exponent() <= least[k]) values[k] = R();
  }
  std::vector<int64_t> rising(n);
  std::iota(rising.begin(), rising.end(), 0);
  std::ranges::stable_sort(rising, [&](int64_t i, int64_t j) { return values[i] < values[j]; });
  Eigen<I> result;
  result.vectors = Matrix<I>(n, vectors ? n : 0);
  for (int64_t k = 0; k < n; ++k) {
    result.values.push_back(values[rising[k]]);
    if (vectors) std::copy_n(q.column(rising[k]), n, result.vectors.column(k));
  }
  for (int64_t first = 0, end; first < n; first = end) {
    R sum = result.values[first];
    for (end = first + 1; end < n; ++end) {
      const int tolerance = std::max(least[rising[end - 1]], least[rising[end]]);
      const R apart = result.values[end] - result.values[end - 1];
      if (!apart.is_zero() && apart.exponent() > tolerance) break;
      sum += result.values[end];
    }
    if (end - first > 1) {
      const R mean = sum / R(static_cast<double>(end - first));
      std::fill(result.values.begin() + first, result.values.begin() + end, mean);
    }
    if (!vectors) continue;
    ASSAY_ASSIGN_OR_RETURN(const Matrix<I> turn,
                           CanonicalCoordinates(Columns(result.vectors, first, end - first), work));
    ASSAY_RETURN_IF_ERROR(MultiplyColumns(result.vectors, first, turn, work));
  }
  return result;
}

}  // namespace assay::linalg

#endif  // ASSAY_CUSTOM_LINALG_SYMMETRIC_H_
