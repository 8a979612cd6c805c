// tensor_core_bits: sums of products as Hopper's tensor cores make them lie in their bounds.
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <vector>

#include "tests/check/bounds_testing.h"

namespace assay::testing {
namespace {

double CutAt(double value, double quantum) { return std::trunc(value / quantum) * quantum; }

// The sum of x[k] y[k], 16 products at a time: these and the sum so far are cut towards zero at 2^-bits of
// the largest exponent among them, added up without error, and the sum is cut to `kept` fraction bits.
double TensorCoreSum(const std::vector<double>& x, const std::vector<double>& y, int bits, int kept) {
  constexpr size_t kGroup = 16;
  double sum = 0;
  for (size_t begin = 0; begin < x.size(); begin += kGroup) {
    const size_t end = std::min(begin + kGroup, x.size());
    int largest = sum == 0 ? -1000 : std::ilogb(sum);
    for (size_t k = begin; k < end; ++k) {
      if (x[k] != 0 && y[k] != 0) largest = std::max(largest, std::ilogb(x[k]) + std::ilogb(y[k]));
    }
    if (largest == -1000) continue;
    const double quantum = std::ldexp(1, largest - bits);
    double next = CutAt(sum, quantum);
    for (size_t k = begin; k < end; ++k) next += CutAt(x[k] * y[k], quantum);
    sum = next == 0 ? 0 : CutAt(next, std::ldexp(1, std::ilogb(next) - kept));
  }
  return sum;
}

std::vector<double> RandomNumbers(std::mt19937_64& random, size_t count, int significant, bool positive) {
  std::vector<double> numbers;
  for (size_t k = 0; k < count; ++k) {
    const double fraction =
        1 + std::ldexp(static_cast<double>(random() % (1U << (significant - 1))), 1 - significant);
    const double number = std::ldexp(fraction, static_cast<int>(random() % 9) - 4);
    numbers.push_back(!positive && random() % 2 == 0 ? -number : number);
  }
  return numbers;
}

// How many of 200 sums lie beyond their radius.
int NumOutside(const std::string& type, const std::string& lines, int significant, int bits, int kept) {
  std::mt19937_64 random(7);
  int outside = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const size_t n = 1 + random() % 200;
    const auto x = RandomNumbers(random, n, significant, trial % 2 == 0);
    const auto y = RandomNumbers(random, n, significant, trial % 2 == 0);
    const ElementType element = *ElementTypeFromName(type);
    const int64_t size = static_cast<int64_t>(n);
    const std::string text = "ENTRY e {\n  x = " + type + "[" + std::to_string(n) +
                             "] parameter(0)\n  y = " + type + "[" + std::to_string(n) +
                             "] parameter(1)\n  ROOT d = f32[] dot(x, y), "
                             "lhs_contracting_dims={0}, rhs_contracting_dims={0}\n}\n";
    const BoundedOutputs bounded = Bounded(
        text, {Literal::FromDoubles(element, {&size, 1}, x), Literal::FromDoubles(element, {&size, 1}, y)},
        lines);
    const float sum = static_cast<float>(TensorCoreSum(x, y, bits, kept));
    const Literal actual = Literal::ScalarDouble(ElementType::kF32, sum);
    outside += CompareToBounds(bounded.outputs[0], &actual).outside > 0;
  }
  return outside;
}

}  // namespace

TEST_CASE("tensor cores: sums that are cut lie in the bounds of their bits", "[check][bounds]") {
  CHECK(NumOutside("bf16", "tensor_core_bits bf16 25\n", 8, 25, 23) == 0);
  CHECK(NumOutside("f16", "tensor_core_bits f16 24\n", 11, 24, 23) == 0);
  CHECK(NumOutside("f8e4m3fn", "tensor_core_bits f8e4m3fn 13\n", 4, 13, 13) == 0);
  // Rounded sums of f32 have smaller errors.
  CHECK(NumOutside("f8e4m3fn", "", 4, 13, 13) > 100);
  CHECK(NumOutside("f8e4m3fn", "tensor_core_bits f8e4m3fn 13\n", 4, 6, 6) > 100);
}

TEST_CASE("sums of bf16: dots may be kept in f32 where reduces are not", "[check][bounds]") {
  const std::vector<double> ones(64, 1);
  const int64_t size = 64;
  const Literal x = Literal::FromDoubles(ElementType::kBF16, {&size, 1}, ones);
  const std::string text =
      "f {\n  a = bf16[] parameter(0)\n  b = bf16[] parameter(1)\n  ROOT s = bf16[] add(a, b)\n}\nENTRY e {\n"
      "  x = bf16[64] parameter(0)\n  z = bf16[] constant(0)\n";
  const std::string
      dot = text + "  ROOT d = bf16[] dot(x, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n}\n",
      reduce = text + "  ROOT r = bf16[] reduce(x, z), dimensions={0}, to_apply=f\n}\n";
  // An ulp of 64 in bf16 is 1/2, by which the result is rounded in any case; 64 roundings of half an ulp each
  // may be 16 and more.
  CHECK(RadiiOf(dot, {x}, "accumulate_dots bf16 f32\n")[0] < 0.51);
  CHECK(RadiiOf(reduce, {x}, "accumulate_dots bf16 f32\n")[0] > 8);
  CHECK(RadiiOf(reduce, {x}, "accumulate bf16 f32\n")[0] < 0.51);
}

TEST_CASE("tensor cores: an algorithm of a dot says whether they compute", "[check][bounds]") {
  const auto radius = [](const std::string& algorithm) {
    const std::vector<double> ones(64, 1);
    const int64_t size = 64;
    const std::string text =
        "ENTRY e {\n  x = f32[64] parameter(0)\n  y = f32[64] parameter(1)\n  ROOT d = f32[] dot(x, y), "
        "lhs_contracting_dims={0}, rhs_contracting_dims={0}" +
        algorithm + "\n}\n";
    const Literal x = Literal::FromDoubles(ElementType::kF32, {&size, 1}, ones);
    return RadiiOf(text, {x, x}, "tensor_core_bits bf16 13\n")[0];
  };
  // A sum of magnitudes of 64 in f32, and an ulp of it, by which both results may be rounded.
  const double plain = 64 * std::expm1(64 * std::log1p(0x1p-24)) + 64 * 0x1p-23;
  CHECK(radius("") == Approx(plain).epsilon(0.01));
  CHECK(radius(", algorithm=dot_f32_f32_f32") == Approx(plain).epsilon(0.01));
  // Operands that bf16 holds in nine parts are exact but for 2^-24 each; the sum is cut at 13 bits.
  const double cut = 64 * std::expm1(64 * std::log1p(3 * 0x1p-13));
  CHECK(radius(", algorithm=dot_bf16_bf16_f32_x9") == Approx(cut).epsilon(0.01));
}

}  // namespace assay::testing
