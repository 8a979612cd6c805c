// Products by digits: kernels against integers of 128 bits, dots against the reference.
#include "engines/native/contraction/digit_product.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <random>

#include "fmt/format.h"
#include "tests/engines/native/native_testing.h"

namespace assay::testing {
namespace {

using native::DigitBlock;
using native::DigitKernels;
using native::DigitPanel;
using native::DigitScales;
using native::kDigitRows;

// 16 rows packed as one panel, in memory of its own.
struct Packed {
  Packed(const DigitKernels& kernels, bool left, const std::vector<float>& rows)
      : n(static_cast<int64_t>(rows.size()) / kDigitRows), memory(native::DigitPanelBytes(n, kMost) + 64) {
    const uintptr_t at = (reinterpret_cast<uintptr_t>(memory.data()) + 63) / 64 * 64;
    panel = native::DigitPanelAt(reinterpret_cast<std::byte*>(at), n, kMost, &scales);
    packed = kernels.pack(n, rows.data(), left, kMost, panel, &scales);
  }
  static constexpr int64_t kMost = 1000;
  int64_t n;
  std::vector<std::byte> memory;
  DigitScales scales{};
  DigitPanel panel;
  bool packed = false;
};

// Whether x is `sum` 2^-40 rounded to odd at some number of bits from 43 to 53: itself where these are
// enough, else the neighbour above or below with an odd last bit.
bool RoundsAs(double x, __int128 sum) {
  for (int bits = 43; bits <= 53; ++bits) {
    auto magnitude = static_cast<unsigned __int128>(sum < 0 ? -sum : sum);
    int cut = 0;
    bool odd = false;
    for (; magnitude >> bits != 0; magnitude >>= 1, ++cut) odd |= (magnitude & 1) != 0;
    const auto last = static_cast<uint64_t>(magnitude) | (odd ? 1 : 0);
    if (std::fabs(x) == std::ldexp(static_cast<double>(last), cut - 40))
      return x == 0 || (x < 0) == (sum < 0);
  }
  return false;
}

// Whether all sums of a block lie within their bounds of the exact ones, and these are narrow; returns how
// many are 0. Left elements are multiples of 2^-left_bits, right ones of 2^(left_bits - 40).
int CheckBlock(const std::vector<float>& left, const std::vector<float>& right, int left_bits = 20) {
  const DigitKernels& kernels = *native::DigitKernelsOf(Isa::kAvx512);
  const Packed a(kernels, true, left), b(kernels, false, right);
  REQUIRE(a.packed);
  REQUIRE(b.packed);
  DigitBlock block;
  kernels.begin();
  kernels.multiply((a.n + 63) / 64 * 64, a.panel, b.panel, &block);
  kernels.end();
  int wrong = 0, exact = 0;
  for (int i = 0; i < kDigitRows; ++i) {
    for (int j = 0; j < kDigitRows; ++j) {
      __int128 sum = 0;  // in units of 2^-40
      for (int64_t k = 0; k < a.n; ++k) {
        sum += static_cast<__int128>(std::ldexp(left[k * kDigitRows + i], left_bits)) *
               static_cast<__int128>(std::ldexp(right[k * kDigitRows + j], 40 - left_bits));
      }
      const int at = i * kDigitRows + j;
      if (block.exact || block.bounds[at] == 0) {
        ++exact;
        wrong += !RoundsAs(block.sums[at], sum);
        continue;
      }
      const auto got = static_cast<__int128>(std::ldexp(static_cast<long double>(block.sums[at]), 40));
      const auto bound = static_cast<__int128>(std::ldexp(static_cast<long double>(block.bounds[at]), 40));
      wrong += got - sum > bound || sum - got > bound;
      // Narrow beside 2^28, the largest product.
      wrong += block.bounds[at] > 0x1p-12 + 0x1p-48 * std::fabs(block.sums[at]);
    }
  }
  CHECK(wrong == 0);
  return exact;
}

// False, with a line that says so, where there are none.
bool HasKernels() {
  static const bool has = [] {
    const bool there = MachineIsa() == Isa::kAvx512 && native::DigitKernelsOf(Isa::kAvx512) != nullptr;
    if (!there) WARN("skipped: no matrix registers for bytes");
    return there;
  }();
  return has;
}

std::string DotOf(const std::string& type, const std::string& result, int m, int k, int n) {
  return fmt::format(
      R"(x = {0}[{2},{3}] parameter(0)
y = {0}[{3},{4}] parameter(1)
ROOT z = {1}[{2},{4}] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}})",
      type, result, m, k, n);
}

void Set(Literal& literal, int64_t i, double value) {
  const ElementType type = literal.shape().element_type();
  StoreStrip(type, &value, 1, literal.MutableBytes().data() + i * Bytes(type), Bytes(type));
}

}  // namespace

TEST_CASE("digits: sums of the largest and the smallest digits, of as many as fit", "[native][dot]") {
  if (!HasKernels()) return;
  std::mt19937_64 random(3);
  for (int64_t n : {1, 63, 64, 65, 1000, 1 << 14}) {
    for (const std::vector<float>& values : std::initializer_list<std::vector<float>>{
             // Digits 127 and 128; 255 each; those of -1; both signs of all.
             {0x7f8000},
             {-0x7f8000},
             {0xffff},
             {0xff},
             {-1},
             {0x7fffff, 0x7ffffd, 0x7ffff1, 0x7ffe03, 0x400001},
             {-0x7f8000, 0x7f8000, 0xffff, 0xff, 0xff00, -1, -255, 0}}) {
      std::vector<float> left(n * kDigitRows), right(n * kDigitRows);
      for (float& x : left) x = values[random() % values.size()];
      for (float& x : right) x = values[random() % values.size()];
      // One element of 2^22 or more makes the unit 1.
      for (int r = 0; r < kDigitRows; ++r) left[r] = right[r] = r % 2 == 0 ? 0x7f8000 : -0x400000;
      CHECK(CheckBlock(left, right) == kDigitRows * kDigitRows);
    }
  }
}

TEST_CASE("digits: elements of any magnitude, remainders", "[native][dot]") {
  if (!HasKernels()) return;
  std::mt19937_64 random(3);
  for (int64_t n : {1, 17, 100, 1024}) {
    for (int depth : {0, 1, 7, 9, 20}) {
      const auto draw = [&] {
        std::vector<float> rows(n * kDigitRows);
        for (float& x : rows) {
          const int below = random() % 16 == 0 ? static_cast<int>(random() % (depth + 1)) : 0;
          const auto bits = static_cast<float>(static_cast<int>(random() % 511) - 255);
          x = std::ldexp(bits, 7 - static_cast<int>(random() % 8) - below);
        }
        for (int r = 0; r < kDigitRows; ++r) rows[r] = 20480;
        return rows;
      };
      const std::vector<float> left = draw(), right = draw();
      // Of remainders that are not too small, or too many.
      const int exact = CheckBlock(left, right);
      if (depth <= 7 || (depth == 9 && n <= 100)) CHECK(exact == kDigitRows * kDigitRows);
    }
  }
}

// Units of 1; remainders meet those of the other side, and decide which side of a tie a sum is on.
TEST_CASE("digits: ties that products of remainders decide", "[native][dot]") {
  if (!HasKernels()) return;
  constexpr int64_t kLength = 70;
  std::vector<float> left(kLength * kDigitRows), right(kLength * kDigitRows);
  for (int r = 0; r < kDigitRows; ++r) {
    left[r] = 0x400000;
    right[r] = static_cast<float>(r % 2 == 0 ? 0x400000 : -0x400000);
    left[kDigitRows + r] = right[kDigitRows + r] = 0x800;  // 2^22 of 2^44
    left[66 * kDigitRows + r] = static_cast<float>(r % 3 - 1) * 0x1p-3F;
    right[66 * kDigitRows + r] = static_cast<float>(r % 5 - 2) * 0x1p-4F;
    left[3 * kDigitRows + r] = r == 7 ? 0.25F : 0;
    right[69 * kDigitRows + r] = r == 9 ? -0.5F : 0;
  }
  CHECK(CheckBlock(left, right) == kDigitRows * kDigitRows);
}

// Elements by k, the same in every row, the last one times 1 to 16 by row.
std::vector<float> RowsOf(const std::vector<float>& elements) {
  std::vector<float> rows(elements.size() * kDigitRows);
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = elements[i / kDigitRows];
  for (int r = 0; r < kDigitRows; ++r) rows[rows.size() - 1 - r] *= static_cast<float>(r + 1);
  return rows;
}

TEST_CASE("digits: sums of more than 53 bits", "[native][dot]") {
  if (!HasKernels()) return;
  constexpr int kAll = kDigitRows * kDigitRows;
  const std::vector<float> with = RowsOf({0x400000, 0x1p-12F}), without = RowsOf({0x400001, 3});
  CHECK(CheckBlock(with, without) == kAll);
  CHECK(CheckBlock(without, with) == kAll);
  // Integers that cancel leave 2^21 + 2^-18 + 3 2^-40, which has too many bits for a sum in doubles.
  const std::vector<float> small = RowsOf({0x400000, -0x400000, 0.5F, 0x1p-40F}),
                           large = RowsOf({0x400000, 0x400000, 0x400001, 0x400003});
  CHECK(CheckBlock(small, large, 40) == 0);
  CHECK(CheckBlock(large, small, 0) == 0);
}

TEST_CASE("digits: rows that are not for them are refused", "[native][dot]") {
  if (!HasKernels()) return;
  const DigitKernels& kernels = *native::DigitKernelsOf(Isa::kAvx512);
  for (float value : {HUGE_VALF, -HUGE_VALF, std::nanf(""), 0x1p-124F}) {
    std::vector<float> rows(100 * kDigitRows, 1.0F);
    CHECK(Packed(kernels, true, rows).packed);
    rows[77 * kDigitRows + 5] = value;
    CHECK(!Packed(kernels, true, rows).packed);
  }
}

TEST_CASE("digits: dots of every draw, odd shapes, layouts", "[native][dot]") {
  CheckAgainstReference(DotOf("bf16", "f32", 65, 129, 63), kAllDraws);
  CheckAgainstReference(DotOf("bf16", "bf16", 47, 255, 33), kAllDraws);
  CheckAgainstReference(DotOf("bf16", "f16", 64, 64, 65), {Draw::kNormal, Draw::kIntegers, Draw::kLarge});
  CheckAgainstReference(DotOf("f8e4m3fn", "f32", 130, 128, 17), kAllDraws);
  CheckAgainstReference(DotOf("f8e5m2", "bf16", 130, 128, 17), {Draw::kNormal, Draw::kWide, Draw::kZeros});
  CheckAgainstReference(
      R"(x = bf16[3,100,50] parameter(0)
y = bf16[3,100,40] parameter(1)
ROOT z = f32[3,50,40] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={1})",
      kAllDraws);
  CheckAgainstReference(
      R"(x = bf16[80,64] parameter(0)
y = bf16[70,64] parameter(1)
ROOT z = f32[80,70] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={1})",
      kAllDraws);
}

TEST_CASE("digits: rows of one magnitude, of another, of zeros, with few remainders", "[native][dot]") {
  constexpr int64_t kRows = 40, kLength = 300, kColumns = 50;
  const NativePlans plans(DotOf("bf16", "f32", kRows, kLength, kColumns));
  std::mt19937_64 random(9);
  std::normal_distribution<double> normal;
  for (const auto& [largest, smallest] : std::initializer_list<std::pair<int, int>>{
           {0, 0}, {120, 0}, {-120, 0}, {60, -60}, {-60, -70}, {127, -133}}) {
    std::vector<Literal> arguments = DrawnArguments(plans.reference(), Draw::kNormal, 1);
    for (int side = 0; side < 2; ++side) {
      const int64_t rows = side == 0 ? kRows : kColumns;
      for (int64_t r = 0; r < rows; ++r) {
        const double scale = r % 7 == 3 ? 0 : std::ldexp(1, random() % 2 == 0 ? largest : smallest);
        for (int64_t k = 0; k < kLength; ++k) {
          const uint64_t kind = random() % 3000;
          double value = (kind < 3 ? 0x1p-19 : kind < 100 ? 0x1p-9 : 1) * normal(random) * scale / 4;
          if (scale == 0) value = random() % 2 == 0 ? -0.0 : 0.0;
          Set(arguments[side], side == 0 ? r * kLength + k : k * kColumns + r, value);
        }
      }
    }
    INFO(largest << " " << smallest);
    plans.Check(arguments);
  }
}

TEST_CASE("digits: zeros of both signs, ties, cancelling sums", "[native][dot]") {
  constexpr int64_t kRows = 40, kLength = 300, kColumns = 50;
  const NativePlans plans(DotOf("bf16", "f32", kRows, kLength, kColumns));
  std::vector<Literal> arguments = DrawnArguments(plans.reference(), Draw::kNormal, 1);
  for (int64_t k = 0; k < kLength; ++k) {
    for (int64_t j = 0; j < kColumns; ++j)
      Set(arguments[1], k * kColumns + j, -1 - static_cast<double>(j % 3));
    Set(arguments[0], k, 0.0);                                          // every product -0, the sum +0
    Set(arguments[0], kLength + k, -0.0);                               // every product +0
    Set(arguments[0], 2 * kLength + k, k == kLength - 1 ? -0.0 : 0.0);  // -0 but for the last
    Set(arguments[0], 3 * kLength + k, k % 2 == 0 ? 1.5 : -1.5);        // cancels
    // 1 + 2^-24, a tie of f32; and a hair above it.
    Set(arguments[0], 4 * kLength + k, k == 0 ? 1 : k == 1 ? 0x1p-24 : 0);
    Set(arguments[0], 5 * kLength + k, k == 0 ? 1 : k == 1 ? 0x1p-24 : k == 2 ? 0x1p-70 : 0);
    Set(arguments[0], 6 * kLength + k, k == 0 ? 1 : k == 1 ? 0x1p-24 : k == 2 ? -0x1p-70 : 0);
  }
  plans.Check(arguments);
}

}  // namespace assay::testing
