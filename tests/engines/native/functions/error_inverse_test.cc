// erf_inv of the native engine against the reference, by every instruction set of the machine,
// and how much it leaves to it.
#include "engines/native/functions/error_inverse.h"

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "engines/native/sums/tiers.h"
#include "evaluator/scalar/real.h"
#include "literal/element_io.h"
#include "literal/float_format.h"

namespace assay::native {
namespace {

std::vector<double> ErfInvArguments(const FloatFormat& format) {
  std::vector<double> x = {0.0,       -0.0,         1,   -1,   1.5,      -2, HUGE_VAL,
                           -HUGE_VAL, std::nan(""), 0.5, 0.75, 0x1p-1074};
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> unit(-1, 1), exponent(-60, 0), low(-1074, 0);
  for (int i = 0; i < 600; ++i) {
    x.push_back(unit(random));
    x.push_back(1 - std::exp2(exponent(random)));
    x.push_back(-std::exp2(low(random)));
  }
  for (double& value : x) value = RoundToFormat(value, format);
  return x;
}

TEST_CASE("erf_inv: the native engine has the reference's bits", "[native][functions]") {
  for (const ElementType type : {ElementType::kF64, ElementType::kF32, ElementType::kBF16, ElementType::kF16,
                                 ElementType::kF8E4M3FN}) {
    const FloatFormat& format = *Info(type).format;
    const std::vector<double> x = ErfInvArguments(format);
    std::vector<double> wanted;
    for (const double value : x) wanted.push_back(RealErfInv(value, format));
    for (int isa = 0; isa <= static_cast<int>(MachineIsa()); ++isa) {
      std::vector<double> out(x.size());
      int64_t length = 1;
      for (size_t i = 0; i < x.size(); i += static_cast<size_t>(length)) {
        length = std::min<int64_t>(1 + (length * 7) % kStrip, static_cast<int64_t>(x.size() - i));
        ApplyErfInv(static_cast<Isa>(isa), format, length, &x[i], &out[i]);
      }
      for (size_t i = 0; i < x.size(); ++i) {
        INFO(Name(type) << " erf_inv " << x[i] << " by set " << isa);
        CHECK(std::bit_cast<uint64_t>(out[i]) == std::bit_cast<uint64_t>(wanted[i]));
      }
    }
  }
}

TEST_CASE("erf_inv: the reference is asked for few elements", "[native][functions]") {
  for (const ElementType type : {ElementType::kF64, ElementType::kF32}) {
    const FloatFormat& format = *Info(type).format;
    std::mt19937_64 random(9);
    std::uniform_real_distribution<double> unit(-1, 1);
    std::vector<double> x(kStrip);
    const int64_t before = FunctionTierCounts().reference;
    for (int strip = 0; strip < 100; ++strip) {
      for (double& value : x) value = RoundToFormat(unit(random), format);
      ApplyErfInv(MachineIsa(), format, kStrip, x.data(), x.data());
    }
    INFO(Name(type));
    CHECK(FunctionTierCounts().reference - before <= 3);
  }
}

}  // namespace
}  // namespace assay::native
