#include "check/measure/arguments.h"

#include <cmath>
#include <cstring>
#include <memory>
#include <numbers>

namespace assay {

uint64_t MeasureRandom::Bits() {
  uint64_t z = state_ += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

double MeasureRandom::Uniform() { return (static_cast<double>(Bits() >> 11) + 0.5) * 0x1p-53; }

double MeasureRandom::Normal() {
  const double radius = std::sqrt(-2 * std::log(Uniform()));
  return radius * std::cos(2 * std::numbers::pi * Uniform());
}

std::vector<double> SampledArguments(ElementType type, int64_t count, MeasureRandom& random) {
  static constexpr double kDeviations[] = {0.1, 1, 10};
  const FloatFormat& format = *Info(type).format;
  const double low = format.min_exponent, high = std::log2(format.max_finite) - 1e-3;
  std::vector<double> values;
  for (int64_t k = 0; k < count; ++k) {
    const double magnitude = std::exp2(low + (high - low) * random.Uniform());
    values.push_back((random.Bits() >> 63) != 0 ? -magnitude : magnitude);
  }
  for (int64_t k = 0; k < count; ++k) values.push_back(random.Normal() * kDeviations[random.Bits() % 3]);
  return values;
}

std::vector<double> AllArguments(ElementType type) {
  const FloatFormat& format = *Info(type).format;
  std::vector<double> values;
  for (int exponent = format.min_exponent; exponent <= format.max_exponent; ++exponent) {
    for (int64_t k = 0; k < (int64_t{1} << format.mantissa_bits); ++k) {
      const double number =
          std::ldexp(1 + std::ldexp(static_cast<double>(k), -format.mantissa_bits), exponent);
      if (number > format.max_finite) continue;
      values.push_back(number);
      values.push_back(-number);
    }
  }
  return values;
}

Literal ArrayOf(ElementType type, const std::vector<double>& values) {
  const int64_t size = static_cast<int64_t>(values.size());
  return Literal::FromDoubles(type, {&size, 1}, values);
}

}  // namespace assay
