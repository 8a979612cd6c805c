#include "check/samples.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "literal/element_io.h"
#include "literal/float_format.h"

namespace assay {
namespace {

constexpr double kUnlike = std::numeric_limits<double>::infinity();

enum Kind : uint8_t { kFinite = 1, kNan = 2, kPositiveInfinity = 4, kNegativeInfinity = 8 };

// A complex number is NaN where a part is, and infinite of one kind.
Kind KindOfNumber(double real, double imaginary) {
  if (std::isnan(real) || std::isnan(imaginary)) return kNan;
  if (std::isfinite(real) && std::isfinite(imaginary)) return kFinite;
  return imaginary == 0 && real < 0 ? kNegativeInfinity : kPositiveInfinity;
}

double IntegerAsNumber(ElementType type, const std::byte* element) {
  const ScalarValue value = LoadElement(type, element);
  return value.kind == ComputeKind::kInt64 ? static_cast<double>(value.i)
                                           : static_cast<double>(value.u) + value.b;
}

bool IsNumberType(ElementType type) { return IsFloat(type) || IsComplex(type); }

}  // namespace

OutputSamples::OutputSamples(const Literal& exact, double floor_ulps, double floor_absolute)
    : type_(exact.shape().element_type()),
      floor_ulps_(floor_ulps),
      floor_absolute_(floor_absolute),
      exact_(exact) {
  const int64_t n = exact.shape().num_elements();
  if (!IsNumberType(type_)) {
    integers_.push_back(exact);
    for (int64_t i = 0; i < n; ++i)
      scale_ = std::max(scale_, std::fabs(IntegerAsNumber(type_, exact.data() + i * Bytes(type_))));
    return;
  }
  spreads_.resize(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    const auto [real, imaginary] = PartsOf(exact.data() + i * Bytes(type_));
    const Kind kind = KindOfNumber(real, imaginary);
    kinds_.push_back(kind);
    if (kind == kFinite) scale_ = std::max(scale_, std::hypot(real, imaginary));
  }
}

void OutputSamples::Add(const Literal& sample) {
  ++count_;
  if (!IsNumberType(type_)) {
    integers_.push_back(sample);
    return;
  }
  const int64_t n = sample.shape().num_elements();
  for (int64_t first = 0; first < n; first += kStrip) AddStrip(sample, first, std::min(kStrip, n - first));
}

// Strips of numbers that are finite, in the sample and in the exact value, are those of nearly all outputs.
void OutputSamples::AddStrip(const Literal& sample, int64_t first, int64_t n) {
  if (IsFloat(type_)) {
    alignas(64) std::array<double, kStrip> sampled, exact;
    const int bytes = Bytes(type_);
    LoadStrip(type_, sample.data() + first * bytes, bytes, n, sampled.data());
    LoadStrip(type_, exact_.data() + first * bytes, bytes, n, exact.data());
    double sum = 0, scale = scale_;  // of zeros, or NaN
    for (size_t i = 0; i < static_cast<size_t>(n); ++i) sum += 0 * sampled[i] + 0 * exact[i];
    if (sum == 0) {
      double* const spreads = spreads_.data() + first;
      for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
        scale = std::max(scale, std::fabs(sampled[i]));
        spreads[i] = std::max(spreads[i], std::fabs(sampled[i] - exact[i]));
      }
      scale_ = scale;
      return;
    }
  }
  for (int64_t i = first; i < first + n; ++i) AddElement(sample, i);
}

void OutputSamples::AddElement(const Literal& sample, int64_t i) {
  const size_t at = static_cast<size_t>(i);
  const auto [real, imaginary] = PartsOf(sample.data() + i * Bytes(type_));
  const Kind kind = KindOfNumber(real, imaginary);
  const bool is_first = (kinds_[at] & kFinite) == 0;
  kinds_[at] |= kind;
  if (kind != kFinite) return;
  if (is_first) centers_[i] = {real, imaginary};
  scale_ = std::max(scale_, std::hypot(real, imaginary));
  const auto [r, m] = CenterOf(i);
  spreads_[at] = std::max(spreads_[at], std::hypot(real - r, imaginary - m));
}

std::pair<double, double> OutputSamples::PartsOf(const std::byte* element) const {
  const ElementType component = IsComplex(type_) ? ComponentType(type_) : type_;
  double real = 0, imaginary = 0;
  LoadStrip(component, element, 0, 1, &real);
  if (IsComplex(type_)) LoadStrip(component, element + Bytes(component), 0, 1, &imaginary);
  return {real, imaginary};
}

std::pair<double, double> OutputSamples::CenterOf(int64_t i) const {
  const auto it = centers_.find(i);
  return it == centers_.end() ? PartsOf(exact_.data() + i * Bytes(type_)) : it->second;
}

double OutputSamples::FloorAt(double magnitude) const {
  const FloatFormat& format = *Info(IsComplex(type_) ? ComponentType(type_) : type_).format;
  const int exponent =
      magnitude > 0 ? std::max(std::ilogb(magnitude), format.min_exponent) : format.min_exponent;
  return floor_ulps_ * std::ldexp(1, exponent - format.mantissa_bits) + floor_absolute_;
}

Estimate OutputSamples::ByDistance(double distance, double spread, double floor) const {
  Estimate estimate{ElementVerdict::kPlausible, spread, distance, std::max(kMultiple * spread, floor)};
  if (!(distance <= estimate.allowed)) {
    estimate.verdict = ElementVerdict::kImplausible;
  } else if (spread > kChaoticShare * scale_) {
    estimate.verdict = ElementVerdict::kUndecided;
  }
  return estimate;
}

double OutputSamples::IntegerAt(const Literal& array, int64_t i) const {
  return IntegerAsNumber(type_, array.data() + i * Bytes(type_));
}

double OutputSamples::SpreadOf(int64_t i) const {
  if (IsNumberType(type_)) return spreads_[static_cast<size_t>(i)];
  double spread = 0;
  for (const Literal& sample : integers_)
    spread = std::max(spread, std::fabs(IntegerAt(sample, i) - IntegerAt(exact_, i)));
  return spread;
}

Estimate OutputSamples::CompareToBounds(int64_t i, const std::byte* actual) const {
  if (count_ == 0) return {};
  return IsNumberType(type_) ? JudgeNumber(i, actual) : JudgeInteger(i, actual);
}

Estimate OutputSamples::JudgeNumber(int64_t i, const std::byte* actual) const {
  const auto [real, imaginary] = PartsOf(actual);
  const Kind kind = KindOfNumber(real, imaginary);
  const size_t at = static_cast<size_t>(i);
  if ((kinds_[at] & kind) == 0) return {ElementVerdict::kImplausible, spreads_[at], kUnlike, 0};
  if (kind != kFinite) return {ElementVerdict::kPlausible, spreads_[at], 0, 0};
  const auto [r, m] = CenterOf(i);
  return ByDistance(std::hypot(real - r, imaginary - m), spreads_[at], FloorAt(std::hypot(r, m)));
}

// One of few values that were seen, or a number near those that were.
Estimate OutputSamples::JudgeInteger(int64_t i, const std::byte* actual) const {
  const double value = IntegerAsNumber(type_, actual);
  const double center = IntegerAt(exact_, i);
  std::vector<double> seen;
  double spread = 0;
  for (const Literal& sample : integers_) {
    const double one = IntegerAt(sample, i);
    spread = std::max(spread, std::fabs(one - center));
    if (std::find(seen.begin(), seen.end(), one) == seen.end()) seen.push_back(one);
  }
  if (seen.size() > kMaxChoices) return ByDistance(std::fabs(value - center), spread, 0);
  if (std::find(seen.begin(), seen.end(), value) != seen.end())
    return {ElementVerdict::kPlausible, spread, std::fabs(value - center), spread};
  return {ElementVerdict::kImplausible, spread, kUnlike, spread};
}

}  // namespace assay
