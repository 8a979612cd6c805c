#include "custom/lapack/bounded_sum.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace assay::custom {
namespace {

// Sums beside each other, so that one need not wait for the other.
constexpr int kLanes = 4;

// x + y = sum + error, exactly (Knuth), where nothing overflows.
struct TwoSum {
  double sum, error;
  TwoSum(double x, double y) : sum(x + y) {
    const double of_y = sum - x;
    error = (x - (sum - of_y)) + (y - of_y);
  }
};

// Of f32: products are exact, a sum of n of them in any order is within n 2^-53 of the sum of magnitudes. The
// bound is twice as large, which covers its own roundings and those of sum ± bound.
std::optional<double> SumOfSingles(double b, const double* a, const double* x, int64_t count) {
  double sums[kLanes] = {b}, sizes[kLanes] = {std::abs(b)};
  int64_t k = 0;
  for (; k + kLanes <= count; k += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const double product = a[k + lane] * x[k + lane];
      sums[lane] += product;
      sizes[lane] += std::abs(product);
    }
  }
  for (; k < count; ++k) {
    sums[0] += a[k] * x[k];
    sizes[0] += std::abs(a[k] * x[k]);
  }
  const double sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  const double bound =
      static_cast<double>(count + 8) * 0x1p-52 * ((sizes[0] + sizes[1]) + (sizes[2] + sizes[3]));
  const float least = static_cast<float>(sum - bound), most = static_cast<float>(sum + bound);
  // The sign of a zero is the exact sum's.
  if (least != most || least == 0) return std::nullopt;
  return least;
}

// Of f64: each product is two doubles by Dekker's formula, the sum two doubles as well, of which the second
// collects the errors of the first. With u = 2^-53 its own errors are within 4 (n + 8)^2 u^2 of the sum of
// magnitudes (Ogita, Rump and Oishi, 2005, have a smaller bound),
// and 2^-1069 for each product where its error underflows.
std::optional<double> SumOfDoubles(double b, const SplitNumbers& a, int64_t a_at, const SplitNumbers& x,
                                   int64_t x_at, int64_t count) {
  double sums[kLanes] = {b}, errors[kLanes] = {}, sizes[kLanes] = {std::abs(b)};
  const double *const a_value = a.values(a_at), *const a_high = a.high(a_at), *const a_low = a.low(a_at);
  const double *const x_value = x.values(x_at), *const x_high = x.high(x_at), *const x_low = x.low(x_at);
  const auto add = [&](int64_t k, int lane) {
    const double product = a_value[k] * x_value[k];
    const double of_product =
        ((a_high[k] * x_high[k] - product) + a_high[k] * x_low[k] + a_low[k] * x_high[k]) +
        a_low[k] * x_low[k];
    const TwoSum next(sums[lane], product);
    sums[lane] = next.sum;
    errors[lane] += next.error + of_product;
    sizes[lane] += std::abs(product);
  };
  int64_t k = 0;
  for (; k + kLanes <= count; k += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) add(k + lane, lane);
  }
  for (; k < count; ++k) add(k, 0);
  const TwoSum front(sums[0], sums[1]), back(sums[2], sums[3]), all(front.sum, back.sum);
  const double error =
      ((errors[0] + errors[1]) + (errors[2] + errors[3])) + (front.error + back.error + all.error);
  const TwoSum result(all.sum, error);
  const double n = static_cast<double>(count + 8);
  const double bound = n * n * 0x1p-104 * ((sizes[0] + sizes[1]) + (sizes[2] + sizes[3])) + n * 0x1p-1069 +
                       0x1p-51 * std::abs(result.error);
  const bool is_settled = result.sum + (result.error - bound) == result.sum &&
                          result.sum + (result.error + bound) == result.sum && result.sum != 0 &&
                          std::isfinite(result.sum);
  if (!is_settled) return std::nullopt;
  return result.sum;
}

}  // namespace

SplitNumbers::SplitNumbers(int64_t count, bool is_f64)
    : values_(count), high_(is_f64 ? count : 0), low_(is_f64 ? count : 0) {}

// Veltkamp's: halves of 26 bits, of which one has a sign besides. What overflows is a NaN,
// and its sums are left open.
void SplitNumbers::Set(int64_t i, double value) {
  values_[i] = value;
  if (high_.empty()) return;
  const double scaled = 0x1.0000002p27 * value;
  high_[i] = scaled - (scaled - value);
  low_[i] = value - high_[i];
}

void SplitNumbers::Swap(int64_t a, int64_t b, int64_t count) {
  for (std::vector<double>* const numbers : {&values_, &high_, &low_}) {
    if (!numbers->empty())
      std::swap_ranges(numbers->begin() + a, numbers->begin() + a + count, numbers->begin() + b);
  }
}

BoundedSum::BoundedSum(ElementType part) : is_f64_(part == ElementType::kF64), format_(*Info(part).format) {}

double BoundedSum::Round(double b, const SplitNumbers& a, int64_t a_at, const SplitNumbers& x, int64_t x_at,
                         int64_t count) {
  if (count == 0 && !std::isnan(b)) return b;
  const std::optional<double> sum = is_f64_ ? SumOfDoubles(b, a, a_at, x, x_at, count)
                                            : SumOfSingles(b, a.values(a_at), x.values(x_at), count);
  if (sum) return *sum;
  exact_.Clear();
  exact_.Add(b);
  exact_.AddProducts(a.values(a_at), 1, x.values(x_at), 1, count);
  return exact_.Round(format_);
}

}  // namespace assay::custom
