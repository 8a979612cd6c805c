// The kernels of dot_f64.cu against exact sums of the reference.
#include <bit>
#include <random>

#include "evaluator/scalar/exact_sum.h"
#include "gpu/kernels/dot_arguments.h"
#include "tests/gpu/kernels/formats.h"
#include "tests/gpu/kernels/kernel_run.h"

namespace assay::gpu {
namespace {

// [m, k] by [n, k], or [k, m] by [k, n] where `rows_inside`.
struct DoubleDot {
  int64_t m, n, k;
  bool rows_inside = false;
  std::vector<double> lhs{}, rhs{};

  template <typename Value>
  void Fill(Value value) {
    lhs.resize(m * k);
    rhs.resize(n * k);
    for (auto* const values : {&lhs, &rhs}) {
      for (double& x : *values) x = value();
    }
  }
  double Left(int64_t row, int64_t i) const { return lhs[rows_inside ? i * m + row : row * k + i]; }
  double Right(int64_t row, int64_t i) const { return rhs[rows_inside ? i * n + row : row * k + i]; }
};

// How many entries pairs left open.
uint32_t CheckDoubleDot(const DoubleDot& x, Float type = Float::kF64) {
  TestMemory memory;
  DotArguments a{};
  const auto operand = [&](const std::vector<double>& values, int64_t rows) {
    const int64_t row_stride = x.rows_inside ? 1 : x.k, stride = x.rows_inside ? rows : 1;
    const DotOperand result{AddressOf(memory.Copy(values)),
                            AddressOf(memory.Allocate<RowScale>(rows)),
                            {},
                            {1, {rows}, {row_stride}},
                            {1, {x.k}, {stride}}};
    RunKernel("dot_f64", "dot_scales_f64", ScaleBlocks(result), kScaleThreads, kScaleSharedBytes,
              DotScaleArguments{result}, memory);
    return result;
  };
  a.lhs = operand(x.lhs, x.m);
  a.rhs = operand(x.rhs, x.n);
  const int64_t bytes = BytesOf(type);
  auto* const result = memory.Allocate<unsigned char>(x.m * x.n * bytes);
  a.result = AddressOf(result);
  a.row_strides[0] = x.n;
  a.column_strides[0] = 1;
  a.open = AddressOf(memory.Allocate<uint32_t>(x.m * x.n));
  auto* const open_count = memory.Copy<uint32_t>({0});
  a.open_count = AddressOf(open_count);
  a.result_type = type;
  RunKernel("dot_f64", "dot_f64", DotBlocks(kPairDotTile, a), kPairDotTile.threads, kPairDotTile.shared_bytes,
            a, memory);
  RunKernel("dot_f64", "dot_repair_f64", 2, kRepairThreads, 0, a, memory);
  bool same = true;
  for (int64_t i = 0; i < x.m * x.n; ++i) {
    ExactSum sum;
    sum.Add(0.0);
    for (int64_t k = 0; k < x.k; ++k) sum.AddProduct(x.Left(i / x.n, k), x.Right(i % x.n, k));
    same &= LoadBits(result + i * bytes, bytes) == RoundedBits(sum, type);
  }
  CHECK(same);
  return *open_count;
}

std::mt19937_64& DoubleGenerator() {
  static std::mt19937_64 generator(25);
  return generator;
}
double UniformDouble() { return std::uniform_real_distribution<double>(-1, 1)(DoubleGenerator()); }
double WildDouble() {
  for (;;) {
    const auto x = std::bit_cast<double>(DoubleGenerator()());
    if (x - x == 0) return x;
  }
}

}  // namespace

TEST_CASE("f64 dots of odd sizes are exact, and pairs settle ordinary ones", "[kernels][dot]") {
  for (const bool rows_inside : {false, true}) {
    for (const int64_t m : {1, 67}) {
      DoubleDot x{m, 9, 37, rows_inside};
      x.Fill(UniformDouble);
      CHECK(CheckDoubleDot(x) == 0);
      CheckDoubleDot(x, Float::kF32);
    }
  }
  DoubleDot nothing{3, 2, 0};
  CHECK(CheckDoubleDot(nothing) == 0);
}

TEST_CASE("f64 dots of all exponents, that cancel, overflow and underflow", "[kernels][dot]") {
  DoubleDot x{10, 9, 20};
  x.Fill(WildDouble);
  CHECK(CheckDoubleDot(x) > 50);
  CheckDoubleDot(x, Float::kBf16);
  for (int64_t i = 0; i < 10; ++i) {
    for (int64_t k = 0; k < 10; ++k) x.lhs[i * 20 + 10 + k] = -x.lhs[i * 20 + k];
  }
  for (int64_t j = 0; j < 9; ++j) {
    for (int64_t k = 0; k < 10; ++k) x.rhs[j * 20 + 10 + k] = x.rhs[j * 20 + k];
    if (j % 2 == 1) x.rhs[j * 20] = std::nextafter(x.rhs[j * 20], 0.0);
  }
  CheckDoubleDot(x);
  x.Fill([] { return UniformDouble() * 0x1p-537; });
  CheckDoubleDot(x);
  x.Fill([] { return UniformDouble() * 0x1p512; });
  CheckDoubleDot(x);
}

TEST_CASE("f64 dots at ties, and with NaN and infinities", "[kernels][dot]") {
  for (const double last : {0.0, 0x1p-600, -0x1p-600}) {
    DoubleDot x{1, 1, 3, false, {1, 0x1p-53, last}, {1, 1, 0x1p-300}};
    CheckDoubleDot(x);
    x.lhs[0] = 1 + 0x1p-52;
    CheckDoubleDot(x);
  }
  DoubleDot x{5, 5, 4};
  x.Fill(UniformDouble);
  x.lhs[0] = HUGE_VAL;
  x.lhs[5] = -HUGE_VAL;
  x.lhs[8] = std::nan("");
  x.rhs[4] = 0;
  x.rhs[9] = HUGE_VAL;
  for (int i = 12; i < 16; ++i) x.rhs[i] = -0.0;
  CheckDoubleDot(x);
}

}  // namespace assay::gpu
