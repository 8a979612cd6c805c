// Real Schur forms in LAPACK's standard form, out of an ordered complex one whose vectors are canonical.
#ifndef ASSAY_CUSTOM_LINALG_REAL_SCHUR_H_
#define ASSAY_CUSTOM_LINALG_REAL_SCHUR_H_

#include <vector>

#include "custom/linalg/eigenvectors.h"

namespace assay::linalg {

// The 2 x 2 block of a pair of eigenvalues re +- im i: equal diagonal elements, and beside it numbers of
// opposite signs, of which the upper one is at least as large.
template <class R>
struct PairBlock {
  R re, above, below;
};

// Orthonormal real columns, of which the next one or two are added: the parts of a complex vector that are
// left over by those before.
template <class R>
class RealSchurVectors {
 public:
  using C = Complex<R>;
  RealSchurVectors(const Matrix<R>& a, Work& work) : a_(a), work_(work), z(a.rows, a.rows) {}

  absl::Status AddReal(const C* vector) {
    for (int64_t i = 0; i < z.rows; ++i) z(i, count_) = vector[i].re;
    ASSAY_RETURN_IF_ERROR(MakeOrthonormal(count_));
    FixSign(count_);
    ++count_;
    return absl::OkStatus();
  }

  absl::StatusOr<PairBlock<R>> AddPair(const C* vector) {
    for (int64_t i = 0; i < z.rows; ++i) {
      z(i, count_) = vector[i].re;
      z(i, count_ + 1) = vector[i].im;
    }
    // The larger part first: the other one may be nearly 0, but not against what is left of it.
    for (const int64_t j : {count_, count_ + 1}) ASSAY_RETURN_IF_ERROR(TakeOutBefore(j));
    if (SquaredNorm(z.column(count_), z.rows) < SquaredNorm(z.column(count_ + 1), z.rows))
      z.SwapColumns(count_, count_ + 1);
    for (const int64_t j : {count_, count_ + 1}) ASSAY_RETURN_IF_ERROR(MakeOrthonormal(j));
    ASSAY_ASSIGN_OR_RETURN(const Matrix<R> turn, CanonicalCoordinates(Columns(z, count_, 2), work_));
    ASSAY_RETURN_IF_ERROR(MultiplyColumns(z, count_, turn, work_));
    ASSAY_ASSIGN_OR_RETURN(PairBlock<R> block, Standardize());
    count_ += 2;
    return block;
  }

 private:
  absl::Status TakeOutBefore(int64_t j) {
    const int64_t n = z.rows;
    for (int pass = 0; pass < 2; ++pass) {
      for (int64_t i = 0; i < count_; ++i)
        SubtractMultiple(Dot(z.column(i), z.column(j), n), z.column(i), z.column(j), n);
      ASSAY_RETURN_IF_ERROR(work_.Add<R>(2 * count_ * n));
    }
    return absl::OkStatus();
  }
  absl::Status MakeOrthonormal(int64_t j) {
    const int64_t n = z.rows;
    R* const x = z.column(j);
    for (int pass = 0; pass < 2; ++pass) {
      const R square = SquaredNorm(x, n);
      if (!square.is_zero()) Scale(Reciprocal(Sqrt(square)), x, n);
      for (int64_t i = 0; i < j; ++i) SubtractMultiple(Dot(z.column(i), x, n), z.column(i), x, n);
      ASSAY_RETURN_IF_ERROR(work_.Add<R>(2 * j * n));
    }
    const R square = SquaredNorm(x, n);
    if (!square.is_zero()) Scale(Reciprocal(Sqrt(square)), x, n);
    return absl::OkStatus();
  }
  // The rule of CanonicalCoordinates for a single vector: whether it was turned round.
  bool FixSign(int64_t j) {
    const R least = R(kLeastPart) / R(static_cast<double>(z.rows));
    int64_t i = 0;
    while (i + 1 < z.rows && Square(z(i, j)) < least) ++i;
    if (!z(i, j).is_negative()) return false;
    for (int64_t k = 0; k < z.rows; ++k) z(k, j) = -z(k, j);
    return true;
  }

  // By LAPACK's lanv2 for complex pairs, then a quarter turn where the lower number is the larger one.
  absl::StatusOr<PairBlock<R>> Standardize() {
    const int64_t n = z.rows;
    const Matrix<R> pair = Columns(z, count_, 2);
    ASSAY_ASSIGN_OR_RETURN(const Matrix<R> image, Product(a_, pair, work_));
    ASSAY_ASSIGN_OR_RETURN(const Matrix<R> block, AdjointProduct(pair, image, work_));
    R a = block(0, 0), b = block(0, 1), c = block(1, 0), d = block(1, 1);
    const R sum = b + c, difference = a - d;
    const int size = std::max(b.exponent(), c.exponent());
    const bool is_normal = std::max(sum.exponent(), difference.exponent()) <= size - R::kKept;
    if (is_normal) {
      const R mean = (b - c).Times2To(-1);
      PairBlock<R> result{(a + d).Times2To(-1), mean, -mean};
      return Signed(result);
    }
    const R tau = Sqrt(sum * sum + difference * difference);
    const R cs = Sqrt((R(1.0) + Abs(sum) / tau).Times2To(-1));
    R sn = difference.Times2To(-1) / (tau * cs);
    if (!sum.is_negative()) sn = -sn;
    // (a b; c d) := (cs sn; -sn cs) (a b; c d) (cs -sn; sn cs)
    const R aa = a * cs + b * sn, bb = b * cs - a * sn, cc = c * cs + d * sn, dd = d * cs - c * sn;
    a = aa * cs + cc * sn;
    b = bb * cs + dd * sn;
    c = cc * cs - aa * sn;
    d = dd * cs - bb * sn;
    for (int64_t i = 0; i < n; ++i) {
      const R x = z(i, count_), y = z(i, count_ + 1);
      z(i, count_) = x * cs + y * sn;
      z(i, count_ + 1) = y * cs - x * sn;
    }
    PairBlock<R> result{(a + d).Times2To(-1), b, c};
    if (Abs(result.above) < Abs(result.below)) {
      z.SwapColumns(count_, count_ + 1);
      std::swap(result.above, result.below);
    }
    return Signed(result);
  }
  PairBlock<R> Signed(PairBlock<R> block) {
    for (const int64_t j : {count_, count_ + 1}) {
      if (!FixSign(j)) continue;
      block.above = -block.above;
      block.below = -block.below;
    }
    return block;
  }

  const Matrix<R>& a_;
  Work& work_;
  int64_t count_ = 0;

 public:
  Matrix<R> z;
};

}  // namespace assay::linalg

#endif  // ASSAY_CUSTOM_LINALG_REAL_SCHUR_H_
