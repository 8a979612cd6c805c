#include "engines/accuracy.h"

#include <array>
#include <cmath>
#include <cstring>
#include <utility>

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
};

class SumBound final : public Accuracy {
 public:
  SumBound(bool in_f64, bool counts_subnormals) : in_f64_(in_f64), counts_subnormals_(counts_subnormals) {}

  Basis basis() const override { return Basis::kSum; }

  bool Allows(const ExactElement& exact, const std::byte* actual) const override {
    const double value = LoadElement(exact.type, actual).r;
    const AllowedRange allowed = AllowedRangeOf(exact);
    if (allowed.anything || (value >= allowed.low && value <= allowed.high)) return true;
    return std::isnan(value) && !std::isfinite(exact.sum->sum);
  }

  std::string Bound() const override {
    return fmt::format("sums in {}: within gamma(n + 2) of the sum of magnitudes{}", in_f64_ ? "f64" : "f32",
                       counts_subnormals_ ? "" : ", subnormal factors may count as zero");
  }

  std::string Allowed(const ExactElement& exact) const override {
    const AllowedRange allowed = AllowedRangeOf(exact);
    return fmt::format(", allowed from {} to {}", allowed.low, allowed.high);
  }

 private:
  AllowedRange AllowedRangeOf(const ExactElement& exact) const {
    const FloatFormat& format = *Info(exact.type).format;
    const SumOfTerms& sum = *exact.sum;
    constexpr double kUp = 1 + 0x1p-40;  // more than the rounding errors of the few operations below
    const double unit = in_f64_ ? 0x1p-53 : 0x1p-24, underflow = in_f64_ ? 0x1p-1074 : 0x1p-126;
    const double largest = in_f64_ ? 0x1.fffffffffffffp1023 : 0x1.fffffep127;
    // An infinite sum of f64 may be one of finite terms, whose partial sums may be anything.
    if (in_f64_ && std::isinf(sum.sum)) return {0, 0, true};
    if (!std::isfinite(sum.sum)) {
      const double value = RoundToFormat(sum.sum, format);
      return {value, value};
    }
    const double n = static_cast<double>(sum.terms + 2) * unit;
    const double gamma = n < 0.5 ? n / (1 - n) : HUGE_VAL;
    const double magnitude = sum.magnitude * kUp;
    if (!(magnitude * (1 + gamma) < largest)) return {0, 0, true};
    double e = gamma * magnitude + static_cast<double>(sum.terms) * underflow;
    if (!counts_subnormals_) e += sum.subnormal * kUp;
    e = e * kUp + std::fabs(sum.sum) * 0x1p-52;  // of sum.sum, and of the ends
    return {RoundToFormat(sum.sum - e, format), RoundToFormat(sum.sum + e, format)};
  }

  const bool in_f64_, counts_subnormals_;
};

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
