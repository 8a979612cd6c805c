// Complex numbers of wide ones, matrices in column-major order, and what both kinds of elements have in
// common.
#ifndef ASSAY_CUSTOM_LINALG_MATRIX_H_
#define ASSAY_CUSTOM_LINALG_MATRIX_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "custom/linalg/wide.h"

namespace assay::linalg {

template <class R>
struct Complex {
  R re, im;

  Complex() = default;
  Complex(const R& real) : re(real) {}  // NOLINT: numbers are written as such
  Complex(double real) : re(real) {}    // NOLINT: likewise
  Complex(const R& real, const R& imaginary) : re(real), im(imaginary) {}

  bool is_zero() const { return re.is_zero() && im.is_zero(); }
  Complex operator-() const { return {-re, -im}; }
  friend Complex operator+(const Complex& a, const Complex& b) { return {a.re + b.re, a.im + b.im}; }
  friend Complex operator-(const Complex& a, const Complex& b) { return {a.re - b.re, a.im - b.im}; }
  friend Complex operator*(const Complex& a, const Complex& b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  friend Complex operator*(const Complex& a, const R& b) { return {a.re * b, a.im * b}; }
  friend Complex operator/(const Complex& a, const Complex& b) {
    const R scale = Reciprocal(b.re * b.re + b.im * b.im);
    return (a * Complex(b.re, -b.im)) * scale;
  }
  Complex& operator+=(const Complex& b) { return *this = *this + b; }
  Complex& operator-=(const Complex& b) { return *this = *this - b; }
  Complex& operator*=(const Complex& b) { return *this = *this * b; }
};

// Of an element type S: its real numbers, its complex ones, and the same without the rule of wide.h for sums.
template <class S>
struct Of;
template <int N, bool kZeros>
struct Of<Wide<N, kZeros>> {
  using Real = Wide<N, kZeros>;
  using Iterated = Wide<N, false>;
  static constexpr bool kIsComplex = false;
};
template <class R>
struct Of<Complex<R>> {
  using Real = R;
  using Iterated = Complex<typename Of<R>::Iterated>;
  static constexpr bool kIsComplex = true;
};
template <class S>
using RealOf = typename Of<S>::Real;
template <class S>
using IteratedOf = typename Of<S>::Iterated;

template <int N, bool kZeros>
Wide<N, kZeros> Conj(const Wide<N, kZeros>& a) {
  return a;
}
template <class R>
Complex<R> Conj(const Complex<R>& a) {
  return {a.re, -a.im};
}
template <int N, bool kZeros>
Wide<N, kZeros> RealPart(const Wide<N, kZeros>& a) {
  return a;
}
template <class R>
R RealPart(const Complex<R>& a) {
  return a.re;
}
template <int N, bool kZeros>
Wide<N, kZeros> ImaginaryPart(const Wide<N, kZeros>&) {
  return {};
}
template <class R>
R ImaginaryPart(const Complex<R>& a) {
  return a.im;
}
// |a|^2
template <int N, bool kZeros>
Wide<N, kZeros> Square(const Wide<N, kZeros>& a) {
  return a * a;
}
template <class R>
R Square(const Complex<R>& a) {
  return a.re * a.re + a.im * a.im;
}
template <class S>
RealOf<S> Modulus(const S& a) {
  if constexpr (Of<S>::kIsComplex)
    return Sqrt(Square(a));
  else
    return Abs(a);
}
template <int N, bool kZeros>
Wide<N, false> ToIterated(const Wide<N, kZeros>& a) {
  if constexpr (kZeros)
    return Wide<N, false>(a);
  else
    return a;
}
template <class R>
Complex<typename Of<R>::Iterated> ToIterated(const Complex<R>& a) {
  return {ToIterated(a.re), ToIterated(a.im)};
}

// |a| at most 2^exponent, roughly: for what is compared with rounding errors.
template <int N, bool kZeros>
int ExponentOf(const Wide<N, kZeros>& a) {
  return a.exponent();
}
template <class R>
int ExponentOf(const Complex<R>& a) {
  return a.re.exponent() > a.im.exponent() ? a.re.exponent() : a.im.exponent();
}

template <class S>
struct Matrix {
  int64_t rows = 0, columns = 0;
  std::vector<S> elements;

  Matrix() = default;
  Matrix(int64_t m, int64_t n) : rows(m), columns(n), elements(m * n) {}
  S& operator()(int64_t i, int64_t j) { return elements[j * rows + i]; }
  const S& operator()(int64_t i, int64_t j) const { return elements[j * rows + i]; }
  S* column(int64_t j) { return elements.data() + j * rows; }
  const S* column(int64_t j) const { return elements.data() + j * rows; }
  void SwapColumns(int64_t i, int64_t j) {
    for (int64_t k = 0; k < rows; ++k) std::swap((*this)(k, i), (*this)(k, j));
  }
};

template <class S>
Matrix<S> Identity(int64_t n) {
  Matrix<S> result(n, n);
  for (int64_t i = 0; i < n; ++i) result(i, i) = S(1.0);
  return result;
}
template <class S>
Matrix<S> Adjoint(const Matrix<S>& a) {
  Matrix<S> result(a.columns, a.rows);
  for (int64_t j = 0; j < a.columns; ++j) {
    for (int64_t i = 0; i < a.rows; ++i) result(j, i) = Conj(a(i, j));
  }
  return result;
}
template <class S>
Matrix<IteratedOf<S>> ToIterated(const Matrix<S>& a) {
  Matrix<IteratedOf<S>> result(a.rows, a.columns);
  for (size_t i = 0; i < a.elements.size(); ++i) result.elements[i] = ToIterated(a.elements[i]);
  return result;
}
// Columns first ... first + count - 1.
template <class S>
Matrix<S> Columns(const Matrix<S>& a, int64_t first, int64_t count) {
  Matrix<S> result(a.rows, count);
  for (int64_t j = 0; j < count; ++j) {
    for (int64_t i = 0; i < a.rows; ++i) result(i, j) = a(i, first + j);
  }
  return result;
}

// sum of |x_i|^2
template <class S>
RealOf<S> SquaredNorm(const S* x, int64_t count) {
  RealOf<S> sum;
  for (int64_t i = 0; i < count; ++i) sum += Square(x[i]);
  return sum;
}
// sum of conj(x_i) y_i
template <class S>
S Dot(const S* x, const S* y, int64_t count) {
  S sum;
  for (int64_t i = 0; i < count; ++i) sum += Conj(x[i]) * y[i];
  return sum;
}
// y -= a x
template <class S>
void SubtractMultiple(const S& a, const S* x, S* y, int64_t count) {
  if (a.is_zero()) return;
  for (int64_t i = 0; i < count; ++i) y[i] -= a * x[i];
}
template <class S>
void Scale(const S& a, S* x, int64_t count) {
  for (int64_t i = 0; i < count; ++i) x[i] *= a;
}
template <class S>
RealOf<S> FrobeniusNorm(const Matrix<S>& a) {
  return Sqrt(SquaredNorm(a.elements.data(), static_cast<int64_t>(a.elements.size())));
}

}  // namespace assay::linalg

#endif  // ASSAY_CUSTOM_LINALG_MATRIX_H_
