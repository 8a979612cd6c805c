#include "hlo/float_attribute.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace assay {

double ShortestDouble(float value) {
  char buffer[40];
  for (int digits = 1; digits <= 9; ++digits) {
    std::snprintf(buffer, sizeof buffer, "%.*g", digits, static_cast<double>(value));
    if (std::strtof(buffer, nullptr) == value) return std::strtod(buffer, nullptr);
  }
  return value;
}

bool IsShortestOfFloat(double value) {
  if (!std::isfinite(value)) return true;
  return std::abs(value) <= std::numeric_limits<float>::max() &&
         ShortestDouble(static_cast<float>(value)) == value;
}

}  // namespace assay
