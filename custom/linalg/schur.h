// Complex Schur forms: A = Z T Z* with T triangular, by Hessenberg's form and QR steps with one shift;
// eigenvalues in groups that are equal, in a canonical order, and how sure that is.
#ifndef ASSAY_CUSTOM_LINALG_SCHUR_H_
#define ASSAY_CUSTOM_LINALG_SCHUR_H_

#include <algorithm>
#include <numeric>
#include <vector>

#include "custom/linalg/subspaces.h"

namespace assay::linalg {

template <class C>
struct Schur {
  Matrix<C> t, z;  // z has no columns where it was not asked for
  // Rows that nothing couples with others from the beginning: T has an element of A there.
  std::vector<bool> alone;
};

// The rotation that takes (x, y) to (r, 0): (c, s; -conj(s), c).
template <class C>
struct Rotation {
  RealOf<C> c;
  C s;
  Rotation(const C& x, const C& y) {
    const RealOf<C> size = Sqrt(Square(x) + Square(y)), of_x = Modulus(x);
    if (of_x.is_zero()) {
      s = C(1.0);
      return;
    }
    c = of_x / size;
    s = (x * Reciprocal(of_x)) * Conj(y) * Reciprocal(size);
  }
  void Turn(C& a, C& b) const {
    const C x = a, y = b;
    a = x * c + s * y;
    b = y * c - Conj(s) * x;
  }
  // The adjoint from the right.
  void TurnRight(C& a, C& b) const {
    const C x = a, y = b;
    a = x * c + Conj(s) * y;
    b = y * c - s * x;
  }
};

template <class C>
void TurnRows(const Rotation<C>& rotation, Matrix<C>& a, int64_t row, int64_t first, int64_t end) {
  for (int64_t j = first; j < end; ++j) rotation.Turn(a(row, j), a(row + 1, j));
}
template <class C>
void TurnColumns(const Rotation<C>& rotation, Matrix<C>& a, int64_t column, int64_t end) {
  C *const x = a.column(column), *const y = a.column(column + 1);
  for (int64_t i = 0; i < end; ++i) rotation.TurnRight(x[i], y[i]);
}

// Of a Hessenberg matrix; z takes part.
template <class C>
class QrIteration {
 public:
  using R = RealOf<C>;
  QrIteration(Schur<C>& schur, Work& work) : h_(schur.t), z_(schur.z), work_(work) {}

  absl::Status Run() {
    constexpr int kMaxSteps = 400;
    for (const C& value : h_.elements) norm_ = std::max(norm_, ExponentOf(value));
    int64_t high = h_.rows - 1;
    for (int step = 0; high > 0; ++step) {
      const int64_t low = Split(high);
      if (low == high) {
        --high;
        step = 0;
        continue;
      }
      if (step == kMaxSteps) return EvalError({}, "QR steps do not come to an end");
      ASSAY_RETURN_IF_ERROR(Step(low, high, step % 10 == 9 ? Unusual(high) : Shift(high)));
    }
    return absl::OkStatus();
  }

 private:
  // The first row of the block that ends with row `high`.
  int64_t Split(int64_t high) {
    for (int64_t k = high; k > 0; --k) {
      int size = std::max(ExponentOf(h_(k, k)), ExponentOf(h_(k - 1, k - 1)));
      if (size < norm_ - R::kBits) size = norm_;
      if (!h_(k, k - 1).is_zero() && ExponentOf(h_(k, k - 1)) > size - R::kBits) continue;
      h_(k, k - 1) = C();
      return k;
    }
    return 0;
  }

  // Wilkinson's: the eigenvalue of the last two rows that is nearer to the last element.
  C Shift(int64_t high) const {
    const C a = h_(high - 1, high - 1), d = h_(high, high);
    const C product = h_(high - 1, high) * h_(high, high - 1), half = (a - d) * R(0.5);
    if (product.is_zero()) return d;
    const C square = half * half + product;
    C root = SquareRoot(square);
    if ((half.re * root.re + half.im * root.im).is_negative()) root = -root;
    const C sum = half + root;
    return sum.is_zero() ? d : d - product / sum;
  }
  static C SquareRoot(const C& x) {
    const R size = Modulus(x);
    if (size.is_zero()) return {};
    const R large = Sqrt((size + Abs(x.re)).Times2To(-1)), small = Abs(x.im) / large.Times2To(1);
    C root = x.re.is_negative() ? C(small, large) : C(large, small);
    if (x.im.is_negative()) root.im = -root.im;
    return root;
  }
  C Unusual(int64_t high) const { return h_(high, high) + C(Modulus(h_(high, high - 1)) * R(0.75)); }

  absl::Status Step(int64_t low, int64_t high, const C& shift) {
    const int64_t n = h_.rows;
    C x = h_(low, low) - shift, y = h_(low + 1, low);
    for (int64_t k = low; k < high; ++k) {
      const Rotation<C> rotation(x, y);
      TurnRows(rotation, h_, k, std::max(k - 1, low), n);
      TurnColumns(rotation, h_, k, std::min(k + 2, high) + 1);
      if (z_.columns > 0) TurnColumns(rotation, z_, k, n);
      ASSAY_RETURN_IF_ERROR(work_.Add<C>(8 * n));
      if (k > low) h_(k + 1, k - 1) = C();
      if (k + 1 < high) {
        x = h_(k + 1, k);
        y = h_(k + 2, k);
      }
    }
    return absl::OkStatus();
  }

  Matrix<C>&h_, &z_;
  Work& work_;
  int norm_ = std::numeric_limits<int>::min() / 2;
};

template <class S>
struct ComplexOf {
  using Type = Complex<typename Of<S>::Iterated>;
};
template <class R>
struct ComplexOf<Complex<R>> {
  using Type = Complex<typename Of<R>::Iterated>;
};

template <class S>
Matrix<typename ComplexOf<S>::Type> ToComplex(const Matrix<S>& a) {
  Matrix<typename ComplexOf<S>::Type> result(a.rows, a.columns);
  for (size_t i = 0; i < a.elements.size(); ++i)
    result.elements[i] = typename ComplexOf<S>::Type(ToIterated(a.elements[i]));
  return result;
}

template <class S>
absl::StatusOr<Schur<typename ComplexOf<S>::Type>> SchurForm(Matrix<S> a, bool vectors, Work& work) {
  using C = typename ComplexOf<S>::Type;
  const int64_t n = a.rows;
  std::vector<S> taus;
  ASSAY_RETURN_IF_ERROR(ReduceToHessenberg(a, 0, n, taus, work));
  Schur<C> result;
  if (vectors) {
    Matrix<S> q = Identity<S>(n);
    ASSAY_RETURN_IF_ERROR(MultiplyByQ(a, taus, 1, /*adjoint=*/false, q, work));
    result.z = ToComplex(q);
  }
  for (int64_t j = 0; j < n; ++j) std::fill(a.column(j) + std::min(j + 2, n), a.column(j) + n, S());
  result.t = ToComplex(a);
  for (int64_t k = 0; k < n; ++k)
    result.alone.push_back((k == 0 || a(k, k - 1).is_zero()) && (k + 1 == n || a(k + 1, k).is_zero()));
  ASSAY_RETURN_IF_ERROR(QrIteration<C>(result, work).Run());
  return result;
}

// Rows and columns k and k + 1 in the other order.
template <class C>
absl::Status Exchange(Schur<C>& schur, int64_t k, Work& work) {
  Matrix<C>& t = schur.t;
  const C first = t(k, k), second = t(k + 1, k + 1);
  const Rotation<C> rotation(t(k, k + 1), second - first);
  TurnRows(rotation, t, k, k, t.columns);
  TurnColumns(rotation, t, k, k + 2);
  if (schur.z.columns > 0) TurnColumns(rotation, schur.z, k, schur.z.rows);
  t(k, k) = second;
  t(k + 1, k + 1) = first;
  t(k + 1, k) = C();
  return work.Add<C>(8 * t.rows);
}

}  // namespace assay::linalg

#endif  // ASSAY_CUSTOM_LINALG_SCHUR_H_
