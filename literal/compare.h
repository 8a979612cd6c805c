// Comparing values: bitwise, in ULP, and with tolerances; with a readable report.
#ifndef ASSAY_LITERAL_COMPARE_H_
#define ASSAY_LITERAL_COMPARE_H_

#include <cstdint>
#include <string>

#include "literal/literal.h"

namespace assay {

struct Tolerance {
  // An element passes if bits are equal, both are NaN (any payload, unless `bitwise`), or
  // |actual - expected| <= max(atol, rtol * |expected|, scale_rtol * largest finite |expected| of the array)
  // or the distance is at most `ulps` units in the last place of the type.
  double atol = 0;
  double rtol = 0;
  double scale_rtol = 0;
  int64_t ulps = 0;
  bool bitwise = false;
};

struct LeafComparison {
  std::string path;  // "0", "1.0"; empty for a bare array
  int64_t elements = 0;
  int64_t different = 0;  // bits differ (NaN payloads count only when bitwise)
  int64_t outside = 0;    // beyond the tolerance
  int64_t max_ulps = 0;   // over elements that are not NaN; INT64_MAX where signs of infinity differ
  double max_abs = 0;
  std::string worst;  // "[1,2]: expected 1, actual 1.0000001 (1 ulp)"
  std::string error;  // shapes differ: why; the counts are then 0
};
struct Comparison {
  std::vector<LeafComparison> leaves;
  bool ok() const;
  std::string Report() const;  // one line per leaf, worst element first
};

Comparison CompareLiterals(const Literal& expected, const Literal& actual, const Tolerance& tolerance);

// Distance in units in the last place between two values of a float format: number of representable values
// from one to the other; -0 and +0 are 0 apart; INT64_MAX if exactly one is NaN or infinities oppose.
int64_t UlpDistance(double a, double b, const FloatFormat& format);

}  // namespace assay

#endif  // ASSAY_LITERAL_COMPARE_H_
