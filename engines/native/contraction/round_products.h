// One sum of few products, rounded once, where its sum in doubles leaves the rounding open.
#ifndef ASSAY_ENGINES_NATIVE_CONTRACTION_ROUND_PRODUCTS_H_
#define ASSAY_ENGINES_NATIVE_CONTRACTION_ROUND_PRODUCTS_H_

#include <cmath>
#include <cstdint>
#include <optional>

#include "engines/native/sums/enclosed_sum.h"
#include "engines/native/sums/tiers.h"
#include "evaluator/scalar/exact_sum.h"
#include "literal/float_format.h"

namespace assay::native {

// RN of the sum of a(k) b(k) over k < n, whose products are exact doubles and whose sum in doubles, in
// whatever order, is `sum`: by TwoSum with the bound of pairs (product_bounds.h), and then exactly.
template <class A, class B>
double RoundProducts(int64_t n, const A& a, const B& b, double sum, const FloatFormat& format,
                     TierCounts& counts) {
  // Of finite exact products no sum in doubles is infinite.
  if (!std::isfinite(sum)) return RoundToFormat(sum, format);
  ++counts.pairs;
  double s = 0, errors = 0, magnitude = 0;
  bool exact = true;
  for (int64_t k = 0; k < n; ++k) {
    const double p = a(k) * b(k);
    const double t = s + p, z = t - s;
    const double error = (s - (t - z)) + (p - z);
    exact = exact && error == 0;
    errors += error;
    magnitude += std::fabs(p);
    s = t;
  }
  if (exact) return RoundToFormat(s, format);  // of zeros too: +0
  const auto count = static_cast<double>(n + 16);
  const double bound = 4 * count * count * 0x1p-106 * magnitude;
  if (const std::optional<double> rounded = RoundEnclosed(s, errors, bound, format)) return *rounded;
  ++counts.slices;
  ExactSum exact_sum;
  exact_sum.Add(0.0);
  for (int64_t k = 0; k < n; ++k) exact_sum.AddProduct(a(k), b(k));
  return exact_sum.Round(format);
}

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_CONTRACTION_ROUND_PRODUCTS_H_
