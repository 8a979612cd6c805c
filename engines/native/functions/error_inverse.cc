// erf_inv(a), 0 < a < 1, from an approximation y_0 of single precision (M. Giles,
// "Approximating the erfinv function", 2010) and Taylor's series of the inverse function at erf y_0: with r =
// (a - erf y_0) / erf' y_0,
//   erf_inv(a) = y_0 + r + y_0 r^2 + (1 + 4 y_0^2) r^3 / 3 + R,   |R| < 1.01 (7 y + 12 y^3) / 6 r^4.
// For f64 that is rounded to a double y_1, and one more step with r^2 adds what is missing.
//
// Errors, whatever y_0 is as long as |r| <= 2^-18 y_0 and y_0 <= 4, so that erf' hardly changes between both:
// R is below 2^-59 y. erf is good to 2^-88 (functions.cc), so a - erf y_0 errs by 2^-88 a, and r by that over
// erf' y_0, beside 2^-40 of itself, which enters with 2^-18.
//   Single: r's error is below 2^-56 y where erf' > 2^-24; three roundings: 2^-50 with room.
//   Twofold: r_1 is below 2^-50 y; its own relative error of 2^-40 and r_1^3 are below 2^-89 y.
//   So 2^-87 + 2^-86 a / (erf' y), which is computed, since it grows toward 1.
#include "engines/native/functions/error_inverse.h"

#include <cmath>
#include <numbers>
#include <optional>

#include "engines/native/functions/arithmetic.h"
#include "engines/native/functions/functions.h"
#include "engines/native/functions/rounding_check.h"
#include "engines/native/sums/tiers.h"
#include "evaluator/scalar/real.h"
#include "literal/element_io.h"
#include "literal/float_format.h"

namespace assay::native {
namespace {

constexpr double kFirst[] = {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                             -0.00125372503, -0.00417768164, 0.246640727,    1.50140941};
constexpr double kTail[] = {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                            -0.0076224613,   0.00943887047,  1.00167406,    2.83297682};
constexpr double kSlopeAtZero = 2 * std::numbers::inv_sqrtpi;
constexpr double kSingleBound = 0x1p-50;
// Where nothing is to be computed.
constexpr double kPlaceholder = 0.5;

double Horner(double x, const double (&coefficients)[9]) {
  double value = coefficients[0];
  for (int i = 1; i < 9; ++i) value = value * x + coefficients[i];
  return value;
}

struct Strip {
  alignas(64) double a[kStrip], y[kStrip], r[kStrip];
  alignas(64) double argument[kStrip], hi[kStrip], lo[kStrip], slope[kStrip], unused[kStrip];
  alignas(64) double out[kStrip];
  alignas(64) uint64_t undecided[kStrip];
};

// y = y_0, from w = -log(1 - a^2).
void Approximate(Isa isa, int64_t n, Strip& s) {
  for (int64_t i = 0; i < n; ++i) s.argument[i] = (1 - s.a[i]) * (1 + s.a[i]);
  const double* const in[] = {s.argument};
  kLogPasses.single[static_cast<size_t>(isa)](n, in, s.hi, s.unused);
  for (int64_t i = 0; i < n; ++i) {
    const double w = -s.hi[i];
    const double central = Horner(w - 2.5, kFirst), tail = Horner(std::sqrt(w) - 3, kTail);
    s.y[i] = (w < 5 ? central : tail) * s.a[i];
  }
}

// r = (a - erf y) / erf' y, and erf' y. The difference of neighbours a and the
// leading part of erf y is exact.
void Residual(Isa isa, int64_t n, Strip& s) {
  const double* const y[] = {s.y};
  kErfPasses.twofold[static_cast<size_t>(isa)](n, y, s.hi, s.lo);
  for (int64_t i = 0; i < n; ++i) {
    s.r[i] = (s.a[i] - s.hi[i]) - s.lo[i];
    s.argument[i] = -s.y[i] * s.y[i];
  }
  const double* const in[] = {s.argument};
  kExpPasses.single[static_cast<size_t>(isa)](n, in, s.slope, s.unused);
  for (int64_t i = 0; i < n; ++i) {
    s.slope[i] *= kSlopeAtZero;
    s.r[i] /= s.slope[i];
  }
}

// y = y_1, rounded; NaN where the bounds of this file do not hold.
void Step(int64_t n, Strip& s) {
  for (int64_t i = 0; i < n; ++i) {
    const double y = s.y[i], r = s.r[i];
    const bool holds = std::abs(r) <= 0x1p-18 * y && y <= 4 && y >= 0x1p-900 && s.slope[i] > 0x1p-24;
    const double value = y + r * (1 + r * (y + r * (1 + 4 * y * y) * (1.0 / 3)));
    s.y[i] = holds ? value : kUnknown;
  }
}

// out = RN(y + r + y r^2) with the rest after another step, undecided where its bound leaves that open.
void RoundTwofold(Isa isa, const FloatFormat& format, int64_t n, Strip& s) {
  for (int64_t i = 0; i < n; ++i) s.undecided[i] = s.y[i] != s.y[i] ? 1 : 0;
  for (int64_t i = 0; i < n; ++i) {
    if (s.undecided[i] != 0) s.y[i] = s.a[i] = kPlaceholder;
  }
  Residual(isa, n, s);
  for (int64_t i = 0; i < n; ++i) {
    const double y = s.y[i], r = s.r[i];
    const double bound = 0x1p-87 + 0x1p-86 * s.a[i] / (s.slope[i] * y);
    std::optional<double> value;
    if (s.undecided[i] == 0 && std::abs(r) <= 0x1p-50 * y) {
      const Pair sum = FastSum(y, r + y * r * r);
      value = RoundIfDecided(sum.hi, sum.lo, bound, format);
    }
    s.undecided[i] = value.has_value() ? 0 : 1;
    s.out[i] = value.value_or(0);
  }
}

}  // namespace

void ApplyErfInv(Isa isa, const FloatFormat& format, int64_t n, const double* x, double* out) {
  if (n <= 0) return;
  const int64_t padded = (n + kBlock - 1) & -kBlock;
  Strip s;
  for (int64_t i = 0; i < padded; ++i) {
    const double a = i < n ? std::abs(x[i]) : kPlaceholder;
    s.a[i] = a > 0 && a < 1 ? a : kPlaceholder;
  }
  Approximate(isa, padded, s);
  Residual(isa, padded, s);
  Step(padded, s);
  const bool is_double = format.mantissa_bits == 52;
  if (is_double) {
    RoundTwofold(isa, format, padded, s);
  } else {
    RoundingTestFor(format, isa)(padded, s.y, s.y, kSingleBound, format, s.out, s.undecided);
  }
  int64_t referred = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double a = std::abs(x[i]);
    const bool is_inside = a > 0 && a < 1;
    if (is_inside && s.undecided[i] == 0) {
      out[i] = std::copysign(s.out[i], x[i]);
    } else {
      referred += is_inside ? 1 : 0;
      out[i] = RealErfInv(x[i], format);  // at 0, 1 and beyond without any arithmetic
    }
  }
  CountFunctionTiers({.elements = n, .reference = referred});
}

}  // namespace assay::native
