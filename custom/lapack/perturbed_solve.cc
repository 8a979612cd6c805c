// P A = L U by Gaussian elimination of a tridiagonal A with partial pivoting, as gttrf has it; then U x =
// L^-1 P b from the last row up, where a pivot u that would make its quotient overflow becomes u + p, p =
// ±eps max |U| of the sign of u, p twice as large each time until the quotient is in range
// (the rule of LAPACK's lagts). Every operation is rounded to T.
#include "custom/lapack/perturbed_solve.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::custom {
namespace {

// Complex numbers by formulas that no compiler's library chooses;
// imaginary parts of real T are 0 and stay so.
template <typename T>
struct Pair {
  T re = 0, im = 0;
};
template <typename T>
T Size(const Pair<T>& a) {
  return std::abs(a.re) + std::abs(a.im);
}
template <typename T>
Pair<T> operator-(const Pair<T>& a, const Pair<T>& b) {
  return {a.re - b.re, a.im - b.im};
}
template <typename T>
Pair<T> operator*(const Pair<T>& a, const Pair<T>& b) {
  if (a.im == 0 && b.im == 0) return {a.re * b.re, 0};
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
// Smith's formula: no intermediate overflows where the quotient doesn't.
template <typename T>
Pair<T> operator/(const Pair<T>& a, const Pair<T>& b) {
  if (b.im == 0) return {a.re / b.re, a.im == 0 ? T{0} : a.im / b.re};
  if (std::abs(b.re) >= std::abs(b.im)) {
    const T r = b.im / b.re, d = b.re + b.im * r;
    return {(a.re + a.im * r) / d, (a.im - a.re * r) / d};
  }
  const T r = b.re / b.im, d = b.re * r + b.im;
  return {(a.re * r + a.im) / d, (a.im * r - a.re) / d};
}

// An array of T, or of complex T, read and written as pairs.
template <typename T>
struct Pairs {
  T* data;
  int parts;
  Pair<T> get(int64_t i) const { return {data[i * parts], parts == 2 ? data[i * parts + 1] : T{0}}; }
  void set(int64_t i, Pair<T> value) const {
    data[i * parts] = value.re;
    if (parts == 2) data[i * parts + 1] = value.im;
  }
};

template <typename T>
struct System {
  int64_t n, right_sides;
  Pairs<T> lower, diagonal, upper, second,
      x;  // second: what exchanges of rows put two columns beside the diagonal

  void Eliminate() const {
    for (int64_t k = 0; k < n; ++k) second.set(k, {});
    for (int64_t k = 0; k + 1 < n; ++k) {
      const Pair<T> below = lower.get(k + 1), pivot = diagonal.get(k);
      if (Size(below) == 0) continue;
      const bool exchange = Size(below) > Size(pivot);
      const Pair<T> factor = exchange ? pivot / below : below / pivot;
      const Pair<T> next = diagonal.get(k + 1), beside = upper.get(k);
      if (exchange) {
        diagonal.set(k, below);
        upper.set(k, next);
        diagonal.set(k + 1, beside - factor * next);
        if (k + 2 < n) {
          second.set(k, upper.get(k + 1));
          upper.set(k + 1, Pair<T>{} - factor * upper.get(k + 1));
        }
      } else {
        diagonal.set(k + 1, next - factor * beside);
      }
      for (int64_t r = 0; r < right_sides; ++r) {
        const int64_t row = r * n + k;
        const Pair<T> here = x.get(row), there = x.get(row + 1);
        if (exchange) x.set(row, there);
        x.set(row + 1, exchange ? here - factor * there : there - factor * here);
      }
    }
  }

  T Perturbation() const {
    T most = 0;
    for (int64_t k = 0; k < n; ++k) {
      most = std::max(most, Size(diagonal.get(k)));
      if (k + 1 < n) most = std::max(most, Size(upper.get(k)));
      if (k + 2 < n) most = std::max(most, Size(second.get(k)));
    }
    return std::max(most * std::numeric_limits<T>::epsilon(), std::numeric_limits<T>::min());
  }

  static Pair<T> Quotient(Pair<T> value, Pair<T> pivot, T perturbation) {
    constexpr T kSmallest = std::numeric_limits<T>::min(), kLargest = 1 / kSmallest;
    T added = std::copysign(perturbation, pivot.re);
    for (;; added *= 2) {
      const T size = Size(pivot);
      const bool overflows = size < kSmallest ? size == 0 || Size(value) * kSmallest > size
                                              : size < 1 && Size(value) > size * kLargest;
      if (!overflows) break;
      pivot.re += added;
    }
    if (Size(pivot) < kSmallest) {
      value = {value.re * kLargest, value.im * kLargest};
      pivot = {pivot.re * kLargest, pivot.im * kLargest};
    }
    return value / pivot;
  }

  void Substitute() const {
    const T perturbation = Perturbation();
    for (int64_t r = 0; r < right_sides; ++r) {
      for (int64_t k = n - 1; k >= 0; --k) {
        Pair<T> rest = x.get(r * n + k);
        if (k + 1 < n) rest = rest - upper.get(k) * x.get(r * n + k + 1);
        if (k + 2 < n) rest = rest - second.get(k) * x.get(r * n + k + 2);
        x.set(r * n + k, Quotient(rest, diagonal.get(k), perturbation));
      }
    }
  }
};

template <typename T>
void Solve(const LapackArguments& args) {
  const int parts = args.call.is_complex() ? 2 : 1;
  const auto array = [parts](void* data) { return Pairs<T>{static_cast<T*>(data), parts}; };
  const System<T> system{args.size('n'),    args.size('r'),   array(args.in[0]), array(args.in[1]),
                         array(args.in[2]), array(args.work), array(args.out[0])};
  system.Eliminate();
  system.Substitute();
}

int CallSolve(const LapackArguments& args) {
  const bool is_single = args.call.type == ElementType::kF32 || args.call.type == ElementType::kC64;
  if (args.num_work >= 0) is_single ? Solve<float>(args) : Solve<double>(args);
  return 0;
}

constexpr ArrayRule kPerturbedOperands[] = {{ArrayType::kElement, "n"},
                                            {ArrayType::kElement, "n"},
                                            {ArrayType::kElement, "n"},
                                            {ArrayType::kElement, "nr"}};
constexpr ArrayRule kPerturbedResults[] = {{ArrayType::kElement, "nr", 3}};

Workspace WorkspaceOfSecond(const LapackCall& call) { return {.elements = call.size('n')}; }

constexpr Routine kPerturbed = {.name = "tridiagonal_solve_perturbed",
                                .types = "sdcz",
                                .operands = kPerturbedOperands,
                                .results = kPerturbedResults,
                                .workspace = WorkspaceOfSecond,
                                .invoke = CallSolve,
                                .has_info = false};

}  // namespace

const Routine& PerturbedSolve() { return kPerturbed; }

}  // namespace assay::custom
