#include "engines/accuracy.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "evaluator/registry.h"
#include "fmt/format.h"
#include "literal/compare.h"
#include "literal/element_io.h"
#include "literal/float_format.h"

namespace assay {
namespace {

class BitExactness final : public Accuracy {
 public:
  bool Allows(const ExactElement& exact, const std::byte* actual) const override {
    return std::memcmp(exact.value, actual, static_cast<size_t>(Bytes(exact.type))) == 0;
  }
  std::string Bound() const override { return "bit-exact"; }
};

// The ends of what is allowed for a sum, as values of the result's type.
struct AllowedRange {
  double low, high;
  bool anything = false;

  bool Allows(const ExactElement& exact, const std::byte* actual) const {
    const double value = LoadElement(exact.type, actual).r;
    if (anything || (value >= low && value <= high)) return true;
    return std::isnan(value) && !std::isfinite(exact.sum->sum);
  }
  std::string Text() const { return fmt::format(", allowed from {} to {}", low, high); }
};

// Within gamma sum |t| + `absolute`, in a format whose greatest number is `largest`.
AllowedRange RangeOfSum(const ExactElement& exact, double gamma, double absolute, double largest) {
  const FloatFormat& format = *Info(exact.type).format;
  const SumOfTerms& sum = *exact.sum;
  constexpr double kUp = 1 + 0x1p-40;  // more than the rounding errors of the few operations below
  if (!std::isfinite(sum.sum)) {
    const double value = RoundToFormat(sum.sum, format);
    return {value, value};
  }
  const double magnitude = sum.magnitude * kUp;
  if (!(magnitude * (1 + gamma) < largest)) return {0, 0, true};
  // Of sum.sum, and of the ends.
  const double e = (gamma * magnitude + absolute) * kUp + std::fabs(sum.sum) * 0x1p-52;
  return {RoundToFormat(sum.sum - e, format), RoundToFormat(sum.sum + e, format)};
}

constexpr double kLargestF32 = 0x1.fffffep127, kLargestF64 = 0x1.fffffffffffffp1023;

class SumBound final : public Accuracy {
 public:
  SumBound(bool in_f64, bool counts_subnormals) : in_f64_(in_f64), counts_subnormals_(counts_subnormals) {}

  Basis basis() const override { return Basis::kSum; }

  bool Allows(const ExactElement& exact, const std::byte* actual) const override {
    return AllowedRangeOf(exact).Allows(exact, actual);
  }

  std::string Bound() const override {
    return fmt::format("sums in {}: within gamma(n + 2) of the sum of magnitudes{}", in_f64_ ? "f64" : "f32",
                       counts_subnormals_ ? "" : ", subnormal factors may count as zero");
  }

  std::string Allowed(const ExactElement& exact) const override { return AllowedRangeOf(exact).Text(); }

 private:
  AllowedRange AllowedRangeOf(const ExactElement& exact) const {
    const SumOfTerms& sum = *exact.sum;
    // An infinite sum of f64 may be one of finite terms, whose partial sums may be anything.
    if (in_f64_ && std::isinf(sum.sum)) return {0, 0, true};
    const double n = static_cast<double>(sum.terms + 2) * (in_f64_ ? 0x1p-53 : 0x1p-24);
    const double gamma = n < 0.5 ? n / (1 - n) : HUGE_VAL;
    double absolute = static_cast<double>(sum.terms) * (in_f64_ ? 0x1p-1074 : 0x1p-126);
    if (!counts_subnormals_) absolute += sum.subnormal;
    return RangeOfSum(exact, gamma, absolute, in_f64_ ? kLargestF64 : kLargestF32);
  }

  const bool in_f64_, counts_subnormals_;
};

AllowedRange RangeOnCores(const TensorCoreSums::Cores& cores, const ExactElement& exact) {
  const SumOfTerms& sum = *exact.sum;
  const auto n = static_cast<double>(sum.terms);
  const double groups = cores.has_gaps ? n : std::ceil(n / static_cast<double>(cores.terms_of_group));
  const double factor = cores.factor_bits == 0 ? 0 : std::ldexp(1, -cores.factor_bits);
  const double d = factor * (2 + factor);
  const double cut = (n + groups) * std::ldexp(1, -cores.fraction_bits) + groups * 0x1p-23;
  const double gamma = cut < 0.5 ? d + (1 + d) * cut / (1 - cut) : HUGE_VAL;
  const double absolute = n * 0x1p-126 + (d > 0 ? sum.subnormal : 0);
  return RangeOfSum(exact, gamma, absolute, kLargestF32);
}

class UlpBound final : public Accuracy {
 public:
  explicit UlpBound(int64_t ulps) : ulps_(ulps) {}

  bool Allows(const ExactElement& exact, const std::byte* actual) const override {
    if (std::memcmp(exact.value, actual, static_cast<size_t>(Bytes(exact.type))) == 0) return true;
    const double x = LoadElement(exact.type, exact.value).r, y = LoadElement(exact.type, actual).r;
    return !std::isnan(x) && !std::isnan(y) && std::signbit(x) == std::signbit(y) &&
           UlpDistance(x, y, *Info(exact.type).format) <= ulps_;
  }
  std::string Bound() const override {
    return fmt::format("within {} ulp of the correctly rounded result", ulps_);
  }
  std::string Allowed(const ExactElement&) const override { return fmt::format(", allowed {} ulp", ulps_); }

 private:
  const int64_t ulps_;
};

AllowedRange RangeWithin(double relative, double absolute, const ExactElement& exact) {
  const FloatFormat& format = *Info(exact.type).format;
  double value = LoadElement(exact.type, exact.value).r;
  if (std::isinf(value)) value = std::copysign(std::ldexp(1, format.max_exponent + 1), value);
  const int exponent = value == 0 ? format.min_exponent : std::max(std::ilogb(value), format.min_exponent);
  const double half = std::ldexp(0.5, exponent - format.mantissa_bits);
  constexpr double kUp = 1 + 0x1p-40;  // more than the rounding errors here
  const double e = (relative * (std::fabs(value) + half) + absolute + half) * kUp;
  return {RoundToFormat(value - e, format), RoundToFormat(value + e, format)};
}

// "2^-21.3", rounded up.
std::string PowerOfTwo(double value) {
  constexpr double kOfLogarithm = 1e-9;
  return fmt::format("2^{:g}", std::ceil(std::log2(value) * 10 - kOfLogarithm) / 10);
}

class MemberBounds final : public Accuracy {
 public:
  Basis basis() const override { return Basis::kMembers; }
  // Judges what members without an approximation make of the others' results.
  bool Allows(const ExactElement& exact, const std::byte* actual) const override {
    return BitExact().Allows(exact, actual);
  }
  std::string Bound() const override { return "each approximate function within its own bound"; }
};

constexpr int64_t kMaxUlps = 16;

template <size_t... ulps>
std::array<UlpBound, sizeof...(ulps)> UlpBounds(std::index_sequence<ulps...>) {
  return {UlpBound(static_cast<int64_t>(ulps))...};
}

}  // namespace

std::string Accuracy::Allowed(const ExactElement&) const { return {}; }

const Accuracy& BitExact() {
  static const BitExactness accuracy;
  return accuracy;
}

const Accuracy& SumInF32() {
  static const SumBound accuracy(/*in_f64=*/false, /*counts_subnormals=*/true);
  return accuracy;
}

const Accuracy& SumInF64() {
  static const SumBound accuracy(/*in_f64=*/true, /*counts_subnormals=*/true);
  return accuracy;
}

const Accuracy& SumInF32WithoutSubnormals() {
  static const SumBound accuracy(/*in_f64=*/false, /*counts_subnormals=*/false);
  return accuracy;
}

bool TensorCoreSums::Allows(const ExactElement& exact, const std::byte* actual) const {
  return RangeOnCores(cores_, exact).Allows(exact, actual);
}

std::string TensorCoreSums::Allowed(const ExactElement& exact) const {
  return RangeOnCores(cores_, exact).Text();
}

std::string TensorCoreSums::Bound() const {
  std::string factors, subnormals;
  if (cores_.factor_bits != 0) {
    factors = fmt::format("2^{} + ", 1 - cores_.factor_bits);
    subnormals = fmt::format("; of factors rounded to {} bits, of which subnormal ones may count as zero",
                             cores_.factor_bits);
  }
  const std::string groups =
      cores_.has_gaps ? "g = n" : fmt::format("g = n / {} groups", cores_.terms_of_group);
  return fmt::format(
      "sums on tensor cores: within ({}(n + g) 2^-{} + g 2^-23) times the sum of magnitudes, {}{}", factors,
      cores_.fraction_bits, groups, subnormals);
}

bool WithinError::Allows(const ExactElement& exact, const std::byte* actual) const {
  const double x = LoadElement(exact.type, exact.value).r, y = LoadElement(exact.type, actual).r;
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
  const AllowedRange allowed = RangeWithin(relative_, absolute_, exact);
  return y >= allowed.low && y <= allowed.high;
}

std::string WithinError::Allowed(const ExactElement& exact) const {
  if (std::isnan(LoadElement(exact.type, exact.value).r)) return {};
  return RangeWithin(relative_, absolute_, exact).Text();
}

std::string WithinError::Bound() const {
  std::vector<std::string> parts;
  if (relative_ > 0) parts.push_back(PowerOfTwo(relative_) + " of the result");
  if (absolute_ > 0) parts.push_back(PowerOfTwo(absolute_));
  return fmt::format("within {}, rounded once", fmt::join(parts, " + "));
}

const Accuracy& WithinUlps(int64_t ulps) {
  static const auto bounds = UlpBounds(std::make_index_sequence<kMaxUlps + 1>());
  ASSAY_CHECK(ulps >= 0 && ulps <= kMaxUlps);
  return bounds[static_cast<size_t>(ulps)];
}

const Accuracy& ByMembers() {
  static const MemberBounds accuracy;
  return accuracy;
}

int64_t TermsOfProduct(const Computation& computation, const Instruction& instruction) {
  const SumDef& sum = DefinitionOf(instruction.opcode).sum;
  return sum.of == SumDef::Of::kProducts ? sum.most_terms({computation, instruction}) : 1;
}

}  // namespace assay
