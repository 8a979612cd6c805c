// Error bounds. A pass is sqrt(p) times a unitary map, so that with relative errors e_i of the passes
// (in the 2-norm) the transform errs by prod(1 + e_i) - 1. Here u = 2^-53; roots of doubles are within u / 2
// a component and those of pairs within 16 u^2 (Roots below):
//   doubles: sums and differences of radix 2: u; of radix 4: twice that. A complex product: 3 u,
//   with its root 4 u.
//     Radix p: a component is a chain of 2 p - 1 real terms, 2 p + 1 roundings:
//     |error_k| <= (sqrt(2) (2 p + 1) + 1) u sum |x_r|, in the norm sqrt(p) times the factor.
//   pairs: with l the norm of the low parts over that of the elements, at most u where they are normal:
//     A sum errs by u (2 (|a_low| + |b_low|) + u |a + b|), its low part is up to |a_low| + |b_low| +
//     u |a + b|. Radix 2: error u (2.83 l + u), and l becomes 1.42 l + u. Radix 4, twice that:
//     u (6.83 l + 4.83 u) and 2 l + 2.42 u.
//     A complex product, with its root (|w_low| <= u |w|): a component of terms m = |a c| + |b d| with low
//     parts m_low = |a_low c| + |b_low d| errs by at most 7 u (u m + m_low) in the four products of low parts
//     (each fma rounded twice), 3 u (3 u m + m_low) in their sum with errors of the products and of p + q,
//     and u m_low for what is left out; its low part is at most 3 u m + m_low. With the root's 16 u^2 a
//     component: error u (46 u + 16 l), and l becomes 1.42 l + 4.3 u.
//     Radix p, all normal: a sum errs by 3 u^2 (|a| + |b|), a product by 8 u^2. Products 8 u^2, 2 p + 1 sums
//     of 6 u^2, roots 24 u^2: (sqrt(2) (12 p + 20) + 24) sqrt(p) u^2. These passes come first.
//   The last pass of an axis has no products with roots.
#include "engines/native/linalg/fft_plan.h"

#include <algorithm>
#include <cmath>

#include "engines/native/functions/arithmetic.h"
#include "engines/native/sums/sum_kernels.h"
#include "evaluator/scalar/unit_root.h"

namespace assay::native {
namespace {

using Part = Double<false>;
constexpr double kUnit = 0x1p-53;

Part PartOf(const RootPart& part) { return {part.hi, part.lo}; }

void Resize(ComplexTable& table, int64_t size) {
  for (std::vector<double>& plane : table) plane.assign(size, 0.0);
}

// w^t for t < n. A block of them and the starts of the blocks come from MPFR, within u^2; the others are
// products of two: 2 u^2 from the factors, 7 u^2 from two products of pairs and 3 u^2 from their sum,
// below 16 u^2.
ComplexTable MakeRoots(int64_t n) {
  int64_t block = 1;
  while (block * block < n) block *= 2;
  std::vector<UnitRoot> first, starts;
  for (int64_t t = 0; t < std::min(block, n); ++t) first.push_back(MakeUnitRoot(t, n));
  for (int64_t t = 0; t < n; t += block) starts.push_back(MakeUnitRoot(t, n));
  ComplexTable roots;
  Resize(roots, n);
  for (int64_t t = 0; t < n; ++t) {
    const UnitRoot &a = starts[t / block], &b = first[t % block];
    Part re = PartOf(b.re), im = PartOf(b.im);
    if (4 * t % n == 0) {
      const UnitRoot exact = MakeUnitRoot(t, n);
      re = PartOf(exact.re), im = PartOf(exact.im);
    } else if (t >= block) {
      re = PartOf(a.re) * PartOf(b.re) + -(PartOf(a.im) * PartOf(b.im));
      im = PartOf(a.re) * PartOf(b.im) + PartOf(a.im) * PartOf(b.re);
    }
    roots[0][t] = re.hi, roots[1][t] = im.hi, roots[2][t] = re.lo, roots[3][t] = im.lo;
  }
  return roots;
}

// Odd factors first: the first passes are the narrow ones, and the fewer the better. A 4 last, since the last
// pass multiplies by no roots.
std::vector<int64_t> Radices(int64_t n) {
  std::vector<int64_t> radices, twos;
  for (; n % 4 == 0; n /= 4) twos.push_back(4);
  if (n % 2 == 0) n /= 2, twos.insert(twos.begin(), 2);
  for (int64_t p = 3; p * p <= n; p += 2) {
    for (; n % p == 0; n /= p) radices.push_back(p);
  }
  if (n > 1) radices.push_back(n);
  std::reverse(radices.begin(), radices.end());
  radices.insert(radices.end(), twos.begin(), twos.end());
  return radices;
}

// turned: the results are multiplied by roots.
double ErrorOfDoubles(int64_t radix, bool turned) {
  const auto p = static_cast<double>(radix);
  const double sums = radix == 2 ? 1 : radix == 4 ? 2.1 : (1.5 * (2 * p + 1) + 1) * std::sqrt(p);
  return (sums + (turned ? 4.1 : 0)) * kUnit;
}
// The error of a pass; `low`, that of the low parts, becomes that of its result.
double ErrorOfPairs(int64_t radix, bool turned, bool normal, double& low) {
  const auto p = static_cast<double>(radix);
  const bool even = radix == 2 || radix == 4;
  const double before = low;
  const double sums = radix == 2   ? kUnit * (2.9 * before + kUnit)
                      : radix == 4 ? kUnit * (6.9 * before + 5 * kUnit)
                                   : (1.5 * (12 * p + 20) + 24) * std::sqrt(p) * kUnit * kUnit;
  const double added = radix == 2 ? 1.42 * before + 1.1 * kUnit : even ? 2 * before + 2.5 * kUnit : kUnit;
  low = normal ? kUnit : turned ? 1.42 * added + 4.4 * kUnit : added;
  return sums + (turned ? kUnit * (47 * kUnit + 16 * added) : 0);
}

}  // namespace

FftAxis::FftAxis(int64_t size, int64_t neighbours, int lanes) : n(size), inner(neighbours) {
  const ComplexTable all = MakeRoots(n);
  int64_t length = n, width = inner;
  double doubles = 1,
         pairs = 0;  // pairs: the sum, whose excess over prod(1 + e) - 1 is far below its last bit
  double low = kUnit;
  for (int64_t p : Radices(n)) {
    FftPass pass;
    pass.radix = p;
    pass.count = length / p;
    pass.width = width;
    pass.narrow = width < lanes;
    pass.normal = p % 2 == 1 || pass.count == 1;
    const int64_t turn = n / length, used = pass.narrow ? pass.count * width : pass.count;
    pass.stride = used + kMaxLanes;
    Resize(pass.twiddles, (p - 1) * pass.stride);
    for (int64_t k = 1; k < p; ++k) {
      for (int64_t i = 0; i < used; ++i) {
        const int64_t j = pass.narrow ? i / width : i;
        for (size_t plane = 0; plane < all.size(); ++plane)
          pass.twiddles[plane][(k - 1) * pass.stride + i] = all[plane][j * k * turn];
      }
    }
    Resize(pass.roots, p);
    for (int64_t t = 0; t < p; ++t) {
      for (size_t plane = 0; plane < all.size(); ++plane) pass.roots[plane][t] = all[plane][t * (n / p)];
    }
    for (int64_t c = 0; pass.narrow && c < used; ++c)
      pass.places.push_back(c + width * (p - 1) * (c / width));
    passes.push_back(std::move(pass));
    doubles *= 1 + ErrorOfDoubles(p, pass.count > 1);
    pairs += ErrorOfPairs(p, pass.count > 1, pass.normal, low);
    length /= p;
    width *= p;
  }
  error_of_doubles = (doubles - 1) * (1 + 0x1p-20) + 0x1p-80;
  error_of_pairs = pairs * (1 + 0x1p-20);
}

}  // namespace assay::native
