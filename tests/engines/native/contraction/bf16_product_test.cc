// Products of bf16 rounded to bf16: kernels against integers of 128 bits, dots and convolutions against the
// reference.
#include "engines/native/contraction/bf16_product.h"

#include <bit>
#include <catch2/catch.hpp>
#include <random>

#include "base/guard_pages.h"
#include "fmt/format.h"
#include "tests/engines/native/native_testing.h"

namespace assay::testing {
namespace {

using native::Bf16Kernels;
using native::Bf16Scales;
using native::kBf16TileColumns;
using native::kBf16TileRows;

// False, with a line that says so, where there are none.
bool HasPairKernels() {
  static const bool has = [] {
    const bool there = native::Bf16KernelsOf(MachineIsa()) != nullptr;
    if (!there) WARN("skipped: no instructions for pairs of bf16");
    return there;
  }();
  return has;
}
const Bf16Kernels& Kernels() { return *native::Bf16KernelsOf(Isa::kAvx512); }

// Rows packed as one panel; element k of row r is rows[k * width + r].
struct PackedPairs {
  PackedPairs(int panel_width, std::vector<float> elements)
      : width(panel_width),
        n(static_cast<int64_t>(elements.size()) / width),
        pairs((n + 31) / 32 * 16),
        rows(std::move(elements)),
        panel(pairs * width) {
    packed = Kernels().pack(n, width, rows.data(), panel.data(), &scales);
  }
  int width;
  int64_t n, pairs;
  std::vector<float> rows;
  std::vector<uint32_t> panel;
  Bf16Scales scales{};
  bool packed = false;
};

// The largest share of its bound that a sum of the tile is off by. Elements are integers times 2^-20.
double WorstShare(const PackedPairs& a, const PackedPairs& b) {
  REQUIRE(a.packed);
  REQUIRE(b.packed);
  std::vector<int32_t> sums(kBf16TileRows * kBf16TileColumns, -1);
  constexpr int64_t kDepth = 24;
  for (int64_t k = 0; k < a.pairs; k += kDepth)
    Kernels().tile(std::min(kDepth, a.pairs - k), a.panel.data() + k * kBf16TileRows,
                   b.panel.data() + k * kBf16TileColumns, k == 0, sums.data(), kBf16TileColumns);
  const long double slack = static_cast<long double>((a.pairs + 7) / 8) / 2 + 1;
  double worst = 0;
  for (int i = 0; i < kBf16TileRows; ++i) {
    for (int j = 0; j < kBf16TileColumns; ++j) {
      __int128 sum = 0;  // in units of 2^-40
      for (int64_t k = 0; k < a.n; ++k)
        sum += static_cast<__int128>(std::ldexp(a.rows[k * kBf16TileRows + i], 20)) *
               static_cast<__int128>(std::ldexp(b.rows[k * kBf16TileColumns + j], 20));
      const int exponent = static_cast<int>(a.scales.exponent[i] + b.scales.exponent[j]);
      const long double wanted = std::ldexp(static_cast<long double>(sum), -40 - exponent);
      const long double bound = static_cast<long double>(a.scales.weighted[i]) * b.scales.weighted[j] + slack;
      worst =
          std::max(worst, static_cast<double>(std::fabs(sums[i * kBf16TileColumns + j] - wanted) / bound));
    }
  }
  return worst;
}

template <class Draw>
PackedPairs Filled(int width, int64_t n, const Draw& draw) {
  std::vector<float> rows(n * width);
  for (int64_t k = 0; k < n; ++k) {
    for (int r = 0; r < width; ++r) rows[k * width + r] = draw(k, r);
  }
  return {width, std::move(rows)};
}

float Bf16(double x) { return static_cast<float>(RoundToFormat(x, *Info(ElementType::kBF16).format)); }

}  // namespace

TEST_CASE("bf16: sums of chunks are within their bound", "[native][dot]") {
  if (!HasPairKernels()) return;
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  for (int64_t n : {1, 2, 15, 16, 17, 33, 100, 1024, 4000}) {
    INFO(n);
    const auto drawn = [&](int64_t, int) {
      return Bf16(std::ldexp(std::round(std::ldexp(normal(random), 12)), -12));
    };
    CHECK(WorstShare(Filled(kBf16TileRows, n, drawn), Filled(kBf16TileColumns, n, drawn)) <= 1);
    const auto equal = [](int64_t, int r) { return r % 3 == 0 ? -1.0F : 255.0F / 256; };
    CHECK(WorstShare(Filled(kBf16TileRows, n, equal), Filled(kBf16TileColumns, n, equal)) <= 1);
    const auto spread = [&](int64_t, int) {
      return Bf16(std::ldexp(static_cast<double>(random() % 511) - 255, -static_cast<int>(random() % 12)));
    };
    CHECK(WorstShare(Filled(kBf16TileRows, n, spread), Filled(kBf16TileColumns, n, spread)) <= 1);
  }
}

// The first product of each chunk is 2^24, and each of the others a little less than half a unit of it: all
// of them are lost, which is nearly what the bound says.
TEST_CASE("bf16: the bound of chunks is reached, and not exceeded", "[native][dot]") {
  if (!HasPairKernels()) return;
  for (int64_t n : {16, 64, 1024}) {
    for (float sign : {1.0F, -1.0F}) {
      const auto losing = [&](int64_t k, int) { return k % 16 == 0 ? 4096.0F : 255.0F / 256; };
      const auto other = [&](int64_t k, int r) { return sign * losing(k, r); };
      const double share = WorstShare(Filled(kBf16TileRows, n, losing), Filled(kBf16TileColumns, n, other));
      CHECK(share <= 1);
      CHECK(share > 0.8);
    }
  }
}

TEST_CASE("bf16: both sums of single products in doubles are exact enough", "[native][dot]") {
  if (!HasPairKernels()) return;
  std::mt19937_64 random(5);
  for (int64_t pairs : {16, 32, 48, 512}) {
    std::vector<uint32_t> a(pairs), b(pairs);
    __int128 sum = 0;
    double magnitudes = 0;
    const auto element = [&](std::vector<uint32_t>& to, int64_t at) {
      const int integer = static_cast<int>(random() % 511) - 255;
      to[at / 2] |= std::bit_cast<uint32_t>(static_cast<float>(integer)) >> 16 << (at % 2 * 16);
      return integer;
    };
    for (int64_t k = 0; k < 2 * pairs; ++k) {
      const int product = element(a, k) * element(b, k);
      sum += product;
      magnitudes += std::abs(product);
    }
    CHECK(Kernels().dot(pairs, a.data(), b.data()) == static_cast<double>(sum));
    CHECK(std::fabs(Kernels().pair_dot(pairs, a.data(), b.data()) - static_cast<double>(sum)) <=
          magnitudes * 0x1p-23);
  }
}

TEST_CASE("bf16: what the bound leaves open is said to be, the rest is rounded as doubles are",
          "[native][dot]") {
  if (!HasPairKernels()) return;
  std::mt19937_64 random(7);
  const FloatFormat& format = *Info(ElementType::kBF16).format;
  int open_ones = 0, decided = 0;
  for (int turn = 0; turn < 20000; ++turn) {
    alignas(64) int32_t sums[16];
    float weighted[16], exponents[16];
    uint16_t out[16];
    const native::Bf16Row row{static_cast<float>(random() % 64) / 4,
                              static_cast<float>(static_cast<int>(random() % 40) - 20), 1.5F};
    for (int j = 0; j < 16; ++j) {
      weighted[j] = random() % 8 == 0 ? 0 : static_cast<float>(random() % 64) / 4;
      // Beyond the range on either side now and then.
      exponents[j] = static_cast<float>(static_cast<int>(random() % 300) - 170);
      // Near ties: 9 bits and a small distance; else anything.
      const int64_t tie = static_cast<int64_t>(256 + random() % 256) << (random() % 22);
      const int64_t near = tie + static_cast<int64_t>(random() % 600) - 300;
      const int64_t any = static_cast<int64_t>(random() % (1u << 30));
      sums[j] = static_cast<int32_t>((random() % 4 == 0 ? any : near) * (random() % 2 == 0 ? 1 : -1));
    }
    const uint32_t open = Kernels().round(sums, row, weighted, exponents, out);
    for (int j = 0; j < 16; ++j) {
      const double got = std::bit_cast<float>(static_cast<uint32_t>(out[j]) << 16);
      const bool zero = row.weighted == 0 || weighted[j] == 0;
      if (zero) {
        CHECK(((open >> j & 1) == 0 && out[j] == 0));
        continue;
      }
      const double bound = double{row.weighted} * weighted[j] + row.slack;
      const int exponent = static_cast<int>(row.exponent + exponents[j]);
      const double low = RoundToFormat(std::ldexp(sums[j] - bound, exponent), format),
                   high = RoundToFormat(std::ldexp(sums[j] + bound, exponent), format);
      const bool is_open = (open >> j & 1) != 0;
      open_ones += is_open;
      decided += !is_open;
      if (!is_open) CHECK((low == high && got == low));
      // It is not too careful either.
      const bool normal = std::min(std::fabs(low), std::fabs(high)) > 0x1p-126 &&
                          std::max(std::fabs(low), std::fabs(high)) <= format.max_finite;
      const double further = 2 * bound + 2 + std::fabs(sums[j]) * 0x1p-22;
      if (is_open && normal)
        CHECK(RoundToFormat(std::ldexp(sums[j] - further, exponent), format) !=
              RoundToFormat(std::ldexp(sums[j] + further, exponent), format));
    }
  }
  CHECK(open_ones > 1000);
  CHECK(decided > 1000);
}

TEST_CASE("bf16: rows that are not for these kernels are refused", "[native][dot]") {
  if (!HasPairKernels()) return;
  for (float value : {HUGE_VALF, -HUGE_VALF, std::nanf(""), 0x1p-100F}) {
    const auto element = [&](int64_t k, int r) { return k == 77 && r == 5 ? value : 1.0F; };
    CHECK_FALSE(Filled(kBf16TileRows, 100, element).packed);
    CHECK_FALSE(Filled(kBf16TileColumns, 100, element).packed);
  }
  CHECK(Filled(kBf16TileColumns, 100, [](int64_t, int) { return 0x1p-130F; }).packed);
}

namespace {

std::string Bf16DotOf(int m, int k, int n) {
  return fmt::format(
      R"(x = bf16[{0},{1}] parameter(0)
y = bf16[{1},{2}] parameter(1)
ROOT z = bf16[{0},{2}] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}})",
      m, k, n);
}

// Also beside pages that nobody may touch.
void CheckGuarded(const std::string& body, std::initializer_list<Draw> draws) {
  CheckAgainstReference(body, draws);
  for (ArrayGuard guard : {ArrayGuard::kBehind, ArrayGuard::kInFront}) {
    const GuardedArrays guarded(guard);
    CheckAgainstReference(body, {Draw::kNormal, Draw::kCancelling});
  }
}

void SetBf16(Literal& literal, int64_t i, double value) {
  StoreStrip(ElementType::kBF16, &value, 1, literal.MutableBytes().data() + 2 * i, 2);
}

}  // namespace

TEST_CASE("bf16: dots of every draw, odd shapes, layouts, batches", "[native][dot]") {
  CheckGuarded(Bf16DotOf(47, 255, 33), kAllDraws);
  CheckGuarded(Bf16DotOf(101, 70, 300), kAllDraws);
  CheckGuarded(Bf16DotOf(12, 700, 32), kAllDraws);
  CheckGuarded(
      R"(x = bf16[3,100,50] parameter(0)
y = bf16[3,100,40] parameter(1)
ROOT z = bf16[3,50,40] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={1})",
      kAllDraws);
  CheckGuarded(
      R"(x = bf16[80,64] parameter(0)
y = bf16[70,64] parameter(1)
ROOT z = bf16[80,70] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={1})",
      kAllDraws);
}

TEST_CASE("bf16: convolutions with padding, strides, groups", "[native][convolution]") {
  CheckGuarded(R"(x = bf16[2,9,11,16] parameter(0)
k = bf16[3,2,16,37] parameter(1)
ROOT r = bf16[2,9,6,37] convolution(x, k), window={size=3x2 stride=1x2 pad=1_1x1_0}, dim_labels=b01f_01io->b01f)",
               kAllDraws);
  CheckGuarded(R"(x = bf16[2,9,11,32] parameter(0)
k = bf16[3,3,16,64] parameter(1)
ROOT r = bf16[2,9,11,64] convolution(x, k), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, feature_group_count=2)",
               {Draw::kNormal, Draw::kWide});
}

TEST_CASE("bf16: rows of one magnitude, of another, of zeros", "[native][dot]") {
  constexpr int64_t kRows = 40, kLength = 300, kColumns = 50;
  const NativePlans plans(Bf16DotOf(kRows, kLength, kColumns));
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
          double value = normal(random) * scale / 4;
          if (scale == 0) value = random() % 2 == 0 ? -0.0 : 0.0;
          SetBf16(arguments[side], side == 0 ? r * kLength + k : k * kColumns + r, value);
        }
      }
    }
    INFO(largest << " " << smallest);
    plans.Check(arguments);
  }
}

TEST_CASE("bf16: few sums that are ties, nearly ties, zeros, among others", "[native][dot]") {
  constexpr int64_t kRows = 60, kLength = 300, kColumns = 50;
  const NativePlans plans(Bf16DotOf(kRows, kLength, kColumns));
  std::vector<Literal> arguments = DrawnArguments(plans.reference(), Draw::kNormal, 1);
  for (int64_t k = 0; k < kLength; ++k) {
    for (int64_t j = 0; j < kColumns; j += 7)
      SetBf16(arguments[1], k * kColumns + j, -1 - static_cast<double>(j % 3));
    SetBf16(arguments[0], k, k % 2 == 0 ? 1.5 : -1.5);  // cancels
    // 1 + 2^-8, a tie of bf16; and a hair above or below it.
    for (int hair : {-1, 0, 1}) {
      const double element = k == 0 ? 1 : k == 1 ? 0x1p-8 : k == 2 ? hair * 0x1p-40 : 0;
      SetBf16(arguments[0], (2 + hair) * kLength + k, element);
      SetBf16(arguments[0], (5 + hair) * kLength + k, k == 2 ? hair * 0x1p-19 : element);
    }
    SetBf16(arguments[0], 7 * kLength + k, k == 0 ? 1 : k == 1 ? -1 : k == 2 ? 0x1p-50 : 0);
    // A hair that a sum in doubles loses.
    for (int hair : {-1, 1})
      SetBf16(arguments[0], (9 + hair) * kLength + k,
              k == 0    ? 1
              : k == 20 ? 0x1p-8
              : k == 9  ? hair * 0x1p-60
                        : 0);
    // 2^-52 below a tie, and as much above it where 8 + 3 2^-51 is rounded.
    for (int sign : {0, 1}) {
      double element = k == 0 ? 8 : k == 32 ? 3 * 0x1p-51 : k == 4 ? -8 : k == 6 ? 1 : k == 8 ? 0x1p-8 : 0;
      if (k == 10) element = -7 * 0x1p-52;
      SetBf16(arguments[0], (14 + sign) * kLength + k, sign == 0 ? element : -element);
    }
    // Below a tie, but above it where the first two products are summed in f32.
    const double below[] = {1, 3 * 0x1p-25, 0x1p-8, -230 * 0x1p-31};
    for (int sign : {-1, 1}) SetBf16(arguments[0], (12 + sign) * kLength + k, k < 4 ? sign * below[k] : 0);
  }
  plans.Check(arguments);
}

}  // namespace assay::testing
