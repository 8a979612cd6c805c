// Splitting and the rounding of split sums, for every instruction set of the machine.
#include "engines/native/sums/split_kernels.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <vector>

#include "tests/engines/native/native_testing.h"
#include "tests/evaluator/ops/exact_oracle.h"

namespace assay::testing {
namespace {

using native::NarrowRounding;
using native::SplitKernels;
using native::SplitKernelsOf;

// Sums of one row against columns that are all alike.
struct Columns {
  std::vector<double> norms, low_norms, units, high_units;
  native::SplitScales scales() const {
    return {norms.data(), low_norms.data(), units.data(), high_units.data()};
  }
};
Columns Alike(int64_t n, const native::SplitScale& scale) {
  return {std::vector<double>(n, scale.norm), std::vector<double>(n, scale.low_norm),
          std::vector<double>(n, scale.unit), std::vector<double>(n, scale.high_unit)};
}

}  // namespace

TEST_CASE("split elements: a multiple of the unit, and the rest", "[native][sums]") {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  for (Isa isa : MachineIsas()) {
    const native::SumKernels& sums = native::SumKernelsOf(isa);
    for (int width : {sums.tile_rows, sums.tile_columns}) {
      constexpr int64_t kLength = 13;
      std::vector<double> panel(kLength * width), units(width), high(panel.size() + 1, 7),
          low(panel.size() + 1, 7);
      for (int r = 0; r < width; ++r) units[r] = std::ldexp(1.0, -30 + 7 * r);
      for (size_t i = 0; i < panel.size(); ++i)
        panel[i] = normal(random) * units[i % width] * (i % 3 == 0 ? 0x1p-3 : 0x1p24);
      SplitKernelsOf(isa).split(kLength, panel.data(), width, units.data(), high.data(), low.data());
      for (size_t i = 0; i < panel.size(); ++i) {
        const double unit = units[i % width];
        CHECK(high[i] / unit == std::round(high[i] / unit));
        CHECK(std::fabs(low[i]) <= unit / 2);
        CHECK(high[i] + low[i] == panel[i]);
        CHECK(panel[i] - high[i] == low[i]);
      }
      CHECK(high.back() == 7);
      CHECK(low.back() == 7);
      std::vector<double> squares(width + 1, 7);
      SplitKernelsOf(isa).low_squares(kLength, panel.data(), width, units.data(), squares.data());
      for (int r = 0; r < width; ++r) {
        double sum = 0;
        for (int64_t k = 0; k < kLength; ++k) sum += low[k * width + r] * low[k * width + r];
        CHECK(std::fabs(squares[r] - sum) <= 0x1p-48 * sum);
      }
      CHECK(squares.back() == 7);
    }
  }
}

// Exact sums h + m + l: what is rounded is their rational sum, ties and zeros among them.
TEST_CASE("split sums that are exact", "[native][sums]") {
  constexpr int64_t kSums = 4096;
  std::mt19937_64 random(2);
  for (const char* name : {"f32", "bf16", "f64", "f8e4m3fn"}) {
    const ElementType type = *ElementTypeFromName(name);
    const FloatFormat& format = *Info(type).format;
    std::vector<double> high(kSums), middle(kSums), low(kSums), out(kSums);
    std::vector<int64_t> failed(kSums);
    const auto part = [&](int exponent) {
      const double values[] = {0, 1, -1, 0.5, -0.5, static_cast<double>(random() % 1024), -3};
      return std::ldexp(values[random() % 7], exponent);
    };
    for (int64_t j = 0; j < kSums; ++j) {
      // A neighbourhood of ties: half a unit in the last place below the high part.
      high[j] = part(0);
      middle[j] = part(-1 - format.mantissa_bits - static_cast<int>(random() % 2));
      low[j] = part(-60 - static_cast<int>(random() % 30));
      if (random() % 4 == 0) low[j] = -high[j], high[j] = -middle[j];
    }
    // Norms so small that no sum can have been rounded.
    const native::SplitScale scale{1, 0, 0x1p-20, 0x1p-10};
    const Columns columns = Alike(kSums, scale);
    for (Isa isa : MachineIsas()) {
      for (bool with_low : {true, false}) {
        SplitKernelsOf(isa).round(kSums, {high.data(), middle.data(), with_low ? low.data() : nullptr}, scale,
                                  columns.scales(), 0x1p-40, NarrowRounding(format), out.data(),
                                  failed.data());
        int wrong = 0, settled = 0, zeros = 0;
        for (int64_t j = 0; j < kSums; ++j) {
          RationalSum sum;
          sum.AddProduct(high[j], 1);
          sum.AddProduct(middle[j], 1);
          if (with_low) sum.AddProduct(low[j], 1);
          const double exact = sum.Round(type);
          if (failed[j] == 1) {
            wrong += exact != 0, ++zeros;
          } else if (failed[j] == 0) {
            wrong += !SameBits(out[j], exact), ++settled;
          }
        }
        INFO(name << " " << static_cast<int>(isa));
        CHECK(wrong == 0);
        CHECK(settled > kSums / 2);
        CHECK(zeros > 0);
      }
    }
  }
}

// With a bound e, only what every number within e rounds to is settled.
TEST_CASE("split sums within a bound", "[native][sums]") {
  const int64_t n = 8;
  const NarrowRounding rounding(*Info(ElementType::kF32).format);
  // middle_norm is 2 * norm * low_norm = 2^-20, so that the bound is 2^-20 * factor.
  const native::SplitScale scale{1, 0x1p-21, 0x1p-60, 0x1p-60};
  const Columns columns = Alike(n, scale);
  const double tie = 1 + 0x1p-24, bound = 0x1p-40;
  const std::vector<double> high = {1, tie, tie, tie, tie, 0, 0x1p-130, 0x1p300};
  const std::vector<double> middle = {0, 0, 0x1p-41, 0x1p-39, -0x1p-39, 0, 0, 0};
  for (Isa isa : MachineIsas()) {
    std::vector<double> out(n);
    std::vector<int64_t> failed(n);
    CHECK(SplitKernelsOf(isa).round(n, {high.data(), middle.data(), nullptr}, scale, columns.scales(),
                                    bound * 0x1p20, rounding, out.data(), failed.data()));
    CHECK(failed == std::vector<int64_t>{0, -1, -1, 0, 0, -1, -1, -1});
    CHECK(out[0] == 1);
    CHECK(out[3] == 1 + 0x1p-23);
    CHECK(out[4] == 1);
  }
}

}  // namespace assay::testing
