// The kernels of dot.cu against exact sums of the reference.
#include <bit>
#include <cmath>
#include <random>

#include "evaluator/scalar/exact_sum.h"
#include "gpu/kernels/dot_arguments.h"
#include "tests/gpu/kernels/formats.h"
#include "tests/gpu/kernels/kernel_run.h"

namespace assay::gpu {
namespace {

struct Matrices {
  int64_t batch, m, n, k;
  std::vector<float> lhs, rhs;
  int64_t lhs_strides[3], rhs_strides[3];
  int64_t offset = 0;        // of the operands' first elements
  bool has_padding = false;  // lhs: its elements -0 are no elements
};

// Dense, with k or the row innermost.
Matrices Dense(int64_t batch, int64_t m, int64_t n, int64_t k, bool lhs_rows_inside, bool rhs_rows_inside) {
  Matrices x{batch, m, n, k, std::vector<float>(batch * m * k), std::vector<float>(batch * n * k), {}, {}};
  const auto set = [&](int64_t(&strides)[3], int64_t rows, bool inside) {
    strides[0] = rows * k;
    strides[1] = inside ? 1 : k;
    strides[2] = inside ? rows : 1;
  };
  set(x.lhs_strides, m, lhs_rows_inside);
  set(x.rhs_strides, n, rhs_rows_inside);
  return x;
}

template <typename Value>
void Fill(Matrices& x, Value value) {
  for (float& element : x.lhs) element = value();
  for (float& element : x.rhs) element = value();
}

std::vector<uint64_t> Expected(const Matrices& x, Float type) {
  std::vector<uint64_t> results;
  for (int64_t b = 0; b < x.batch; ++b) {
    for (int64_t i = 0; i < x.m; ++i) {
      for (int64_t j = 0; j < x.n; ++j) {
        ExactSum sum;
        sum.Add(0.0);
        for (int64_t k = 0; k < x.k; ++k) {
          const float left = x.lhs[b * x.lhs_strides[0] + i * x.lhs_strides[1] + k * x.lhs_strides[2]];
          if (x.has_padding && left == 0 && std::signbit(left)) continue;
          sum.AddProduct(left, x.rhs[b * x.rhs_strides[0] + j * x.rhs_strides[1] + k * x.rhs_strides[2]]);
        }
        results.push_back(RoundedBits(sum, type));
      }
    }
  }
  return results;
}

struct Outcome {
  std::vector<uint64_t> results;
  uint32_t open;
};

Outcome RunDot(const Matrices& x, Float type, bool small) {
  TestMemory memory;
  DotArguments a{};
  const int64_t count = x.batch * x.m * x.n;
  const auto operand = [&](const std::vector<float>& values, const int64_t(&strides)[3], int64_t rows) {
    DotOperand result{AddressOf(memory.Copy(values, x.offset)),
                      AddressOf(memory.Allocate<RowScale>(x.batch * rows)),
                      {1, {x.batch}, {strides[0]}},
                      {1, {rows}, {strides[1]}},
                      {1, {x.k}, {strides[2]}}};
    RunKernel("dot", "dot_scales_f32", ScaleBlocks(result), kScaleThreads, kScaleSharedBytes,
              DotScaleArguments{result}, memory);
    return result;
  };
  a.lhs = operand(x.lhs, x.lhs_strides, x.m);
  a.rhs = operand(x.rhs, x.rhs_strides, x.n);
  const int64_t bytes = BytesOf(type);
  auto* const result = memory.Allocate<unsigned char>(count * bytes);
  a.result = AddressOf(result);
  a.batch_strides[0] = x.m * x.n;
  a.row_strides[0] = x.n;
  a.column_strides[0] = 1;
  a.open = AddressOf(memory.Allocate<uint32_t>(count));
  auto* const open_count = memory.Copy<uint32_t>({0});
  a.open_count = AddressOf(open_count);
  a.result_type = type;
  a.lhs_has_padding = x.has_padding ? 1 : 0;
  const DotTile& tile = small ? kSmallDotTile : kDotTile;
  RunKernel("dot", small ? "dot_small_f32" : "dot_f32", DotBlocks(tile, a), tile.threads, tile.shared_bytes,
            a, memory);
  RunKernel("dot", "dot_repair_f32", 2, kRepairThreads, 0, a, memory);
  Outcome outcome{{}, *open_count};
  for (int64_t i = 0; i < count; ++i) outcome.results.push_back(LoadBits(result + i * bytes, bytes));
  return outcome;
}

void Check(const Matrices& x, Float type = Float::kF32) {
  const std::vector<uint64_t> expected = Expected(x, type);
  CHECK(RunDot(x, type, true).results == expected);
  CHECK(RunDot(x, type, false).results == expected);
}

std::mt19937_64& Generator() {
  static std::mt19937_64 generator(20);
  return generator;
}
float Uniform() { return std::uniform_real_distribution<float>(-1, 1)(Generator()); }
// Any finite bits: subnormals and the largest numbers are as frequent as others.
float Wild() {
  for (;;) {
    const auto x = std::bit_cast<float>(static_cast<uint32_t>(Generator()()));
    if (x - x == 0) return x;
  }
}

}  // namespace

TEST_CASE("f32 dots of every layout and odd sizes are exact", "[kernels][dot]") {
  for (const bool lhs : {false, true}) {
    for (const bool rhs : {false, true}) {
      Matrices x = Dense(2, 33, 17, 41, lhs, rhs);
      Fill(x, Uniform);
      Check(x);
      Matrices wide = Dense(1, 130, 9, 20, lhs, rhs);
      Fill(wide, Uniform);
      Check(wide);
    }
  }
}

TEST_CASE("padding of an f32 dot is no term, whatever stands beside it", "[kernels][dot]") {
  for (const bool has_padding : {false, true}) {
    Matrices x = Dense(1, 20, 18, 40, false, true);
    Fill(x, Uniform);
    for (size_t i = 0; i < x.lhs.size(); i += 3) x.lhs[i] = i % 2 == 0 ? -0.0f : 0.0f;
    for (size_t i = 0; i < x.rhs.size(); i += 37) x.rhs[i] = i % 2 == 0 ? HUGE_VALF : std::nanf("");
    x.has_padding = has_padding;
    Check(x);
    Check(x, Float::kBf16);
  }
}

TEST_CASE("f32 dots of operands that stand anywhere, with any strides", "[kernels][dot]") {
  for (const int64_t offset : {0, 1, 2, 4}) {
    for (const int64_t step : {1, 2}) {
      Matrices x{2,
                 5,
                 6,
                 36,
                 std::vector<float>(2000),
                 std::vector<float>(2000),
                 {400, 72, step},
                 {8, 144, step},
                 offset};
      Fill(x, Uniform);
      Check(x);
    }
  }
  // Broadcast operands have strides of 0, reversed ones negative strides.
  Matrices broadcast{2, 4, 4, 20, std::vector<float>(100), std::vector<float>(100), {0, 20, 1}, {0, 0, 1}};
  Fill(broadcast, Uniform);
  Check(broadcast);
}

TEST_CASE("f32 dots of nothing are positive zeros", "[kernels][dot]") {
  Matrices x = Dense(1, 3, 3, 0, false, false);
  CHECK(RunDot(x, Float::kF32, true).results == std::vector<uint64_t>(9, 0));
  Matrices zeros = Dense(1, 2, 2, 3, false, false);
  Fill(zeros, [] { return -0.0f; });
  CHECK(RunDot(zeros, Float::kF32, true).results == std::vector<uint64_t>(4, 0));
  Check(Dense(3, 1, 0, 5, false, false));
}

TEST_CASE("f32 dots of any exponents, cancelling to the last bit", "[kernels][dot]") {
  Matrices wild = Dense(1, 20, 19, 35, false, true);
  Fill(wild, Wild);
  Check(wild);
  // Sums that are exactly zero, ties and just beside them, far below their terms.
  Matrices x = Dense(1, 24, 24, 40, false, false);
  Fill(x, Wild);
  for (int64_t i = 0; i < 24; ++i) {
    for (int64_t k = 0; k < 20; ++k) {
      x.lhs[i * 40 + 20 + k] = -x.lhs[i * 40 + k];
      x.rhs[i * 40 + 20 + k] = x.rhs[i * 40 + k];
    }
    if (i % 4 == 1) x.lhs[i * 40] = std::bit_cast<float>(std::bit_cast<uint32_t>(x.lhs[i * 40]) ^ 1);
    if (i % 4 == 2) x.lhs[i * 40] = 0x1p-149f;
    if (i % 4 == 3) x.rhs[i * 40 + 7] *= 0.5f;
  }
  const Outcome outcome = RunDot(x, Float::kF32, true);
  CHECK(outcome.results == Expected(x, Float::kF32));
  CHECK(outcome.open > 400);
  Check(x);
}

TEST_CASE("f32 dots at ties and beside them", "[kernels][dot]") {
  // 1 + 2^-24 is a tie; a term of 2^-140 or -2^-140 decides, and is far beyond doubles and pairs.
  for (const float last : {0x1p-70f, -0x1p-70f, 0.0f, 0x1p-149f, -0x1p-149f}) {
    for (const float low : {0x1p-24f, 0x1.8p-23f, -0x1p-25f}) {
      Matrices x{1, 1, 1, 4, {1, low, last, 0x1p-149f}, {1, 1, 0x1p-70f, last}, {4, 4, 1}, {4, 4, 1}};
      Check(x);
    }
  }
}

TEST_CASE("f32 dots at ties that exact pairs decide", "[kernels][dot]") {
  for (const float last : {0x1p-30f, -0x1p-30f, 0.0f}) {
    for (const float first : {1.0f, 1 + 0x1p-23f, -1.0f, -1 - 0x1p-23f}) {
      for (const float low : {0x1p-24f, -0x1p-24f}) {
        Matrices x{1, 1, 1, 3, {first, low, last}, {1, 1, 0x1p-30f}, {3, 3, 1}, {3, 3, 1}};
        Check(x);
      }
    }
  }
}

TEST_CASE("f32 dots of rows that end within a word, and of words that are not aligned", "[kernels][dot]") {
  for (const int64_t k : {1, 2, 3, 33, 34, 35}) {
    Matrices x{1, 6, 5, k, std::vector<float>(400), std::vector<float>(400), {0, 40, 1}, {0, 64, 1}};
    Fill(x, Uniform);
    Check(x);
  }
  // k is [3, 4], whose rows of four stand five apart.
  TestMemory memory;
  std::vector<float> lhs(96), rhs(48);
  for (float& value : lhs) value = Uniform();
  for (float& value : rhs) value = Uniform();
  DotArguments a{};
  a.lhs = {AddressOf(memory.Copy(lhs)),
           AddressOf(memory.Allocate<RowScale>(4)),
           {},
           {1, {4}, {16}},
           {2, {3, 4}, {5, 1}}};
  a.rhs = {AddressOf(memory.Copy(rhs)),
           AddressOf(memory.Allocate<RowScale>(4)),
           {},
           {1, {4}, {12}},
           {2, {3, 4}, {4, 1}}};
  for (const DotOperand& operand : {a.lhs, a.rhs}) {
    RunKernel("dot", "dot_scales_f32", ScaleBlocks(operand), kScaleThreads, kScaleSharedBytes,
              DotScaleArguments{operand}, memory);
  }
  float* const result = memory.Allocate<float>(16);
  a.result = AddressOf(result);
  a.row_strides[0] = 4;
  a.column_strides[0] = 1;
  a.open = AddressOf(memory.Allocate<uint32_t>(16));
  a.open_count = AddressOf(memory.Copy<uint32_t>({0}));
  RunKernel("dot", "dot_small_f32", DotBlocks(kSmallDotTile, a), kSmallDotTile.threads,
            kSmallDotTile.shared_bytes, a, memory);
  RunKernel("dot", "dot_repair_f32", 1, kRepairThreads, 0, a, memory);
  for (int64_t i = 0; i < 16; ++i) {
    ExactSum sum;
    for (int64_t k = 0; k < 12; ++k) sum.AddProduct(lhs[i / 4 * 16 + k / 4 * 5 + k % 4], rhs[i % 4 * 12 + k]);
    CHECK(std::bit_cast<uint32_t>(result[i]) == RoundedBits(sum, Float::kF32));
  }
}

TEST_CASE("f32 dots with NaN and infinities", "[kernels][dot]") {
  const float inf = HUGE_VALF, nan = std::bit_cast<float>(0xffc12345u);
  Matrices x = Dense(1, 12, 12, 18, false, false);
  Fill(x, Uniform);
  x.lhs[0] = inf;
  x.lhs[18 + 1] = -inf;
  x.lhs[36 + 2] = nan;
  x.lhs[54] = inf;
  x.lhs[55] = -inf;
  x.rhs[18] = 0;
  x.rhs[37] = -0.0f;
  x.rhs[54] = inf;
  for (int k = 0; k < 18; ++k) x.rhs[90 + k] = 0;
  // Sums beyond the largest number, and products beyond it that cancel.
  for (int k = 0; k < 18; ++k) x.lhs[144 + k] = x.rhs[144 + k] = k % 2 == 0 ? 0x1.fffffep127f : 0x1p127f;
  for (int k = 0; k < 18; ++k) x.lhs[162 + k] = k % 2 == 0 ? 0x1.fffffep127f : -0x1.fffffep127f;
  Check(x);
}

// Sums in doubles do not overflow: one that is not finite is the result, but for padding beside an infinity.
TEST_CASE("what is not finite leaves nothing of f32 dots open", "[kernels][dot]") {
  const float inf = HUGE_VALF;
  for (const bool has_padding : {false, true}) {
    Matrices x = Dense(1, 40, 35, 60, false, true);
    Fill(x, [] { return static_cast<float>(static_cast<int>(Generator()() % 65) - 32) / 4; });
    for (float& element : x.lhs) element += element == 0 ? 1 : 0;
    x.has_padding = has_padding;
    // An infinity or a NaN in each row, of which some meet a zero; infinities in two columns.
    for (int64_t row = 0; row < x.m; ++row)
      x.lhs[row * x.k + row % x.k] = row % 3 == 0 ? inf : row % 3 == 1 ? -inf : std::nanf("");
    x.rhs[7] = inf;
    x.rhs[11 * x.n + 8] = -inf;
    Check(x);
    if (!has_padding) CHECK(RunDot(x, Float::kF32, true).open == 0);
    x.lhs[30] = -0.0f;  // beside infinities it is padding, or makes a NaN
    for (int64_t column = 20; column < 30; ++column) x.rhs[30 * x.n + column] = inf;
    Check(x);
    // A NaN may be that of padding.
    CHECK((RunDot(x, Float::kF32, true).open == 0) == !has_padding);
  }
}

TEST_CASE("f32 dots rounded to other types", "[kernels][dot]") {
  for (const Float type : {Float::kF64, Float::kBf16, Float::kF16}) {
    Matrices x = Dense(1, 17, 15, 33, false, true);
    Fill(x, Uniform);
    Check(x, type);
    Fill(x, Wild);
    Check(x, type);
    // Near the least numbers of f16.
    Fill(x, [] { return Uniform() * 0x1p-12f; });
    Check(x, type);
    // Numbers of few bits: sums in doubles are known to be exact, ties included.
    Fill(x, [] { return static_cast<float>(static_cast<int>(Generator()() % 65) - 32) / 4; });
    CHECK(RunDot(x, type, true).open == 0);
    Check(x, type);
  }
}

TEST_CASE("what doubles leave open of ordinary f32 dots is little", "[kernels][dot]") {
  Matrices x = Dense(1, 64, 64, 500, false, false);
  Fill(x, Uniform);
  const Outcome outcome = RunDot(x, Float::kF32, true);
  CHECK(outcome.results == Expected(x, Float::kF32));
  CHECK(outcome.open < 20);
}

TEST_CASE("convolutions are dots of windows", "[kernels][dot]") {
  // [2, 7, 9, c] by [3, 2, c, 5], strides of 2 and 1, the second dimension of the window dilated by 3: [2,
  // 3, 6, 5].
  for (const int64_t c : {3, 4}) {
    for (const bool small : {true, false}) {
      TestMemory memory;
      std::vector<float> input(2 * 7 * 9 * c), kernel(3 * 2 * c * 5);
      for (float& x : input) x = Uniform();
      for (float& x : kernel) x = Uniform();
      DotArguments a{};
      a.lhs = {AddressOf(memory.Copy(input)),
               AddressOf(memory.Allocate<RowScale>(36)),
               {},
               {3, {2, 3, 6}, {63 * c, 18 * c, c}},
               {3, {3, 2, c}, {9 * c, 3 * c, 1}}};
      a.rhs = {AddressOf(memory.Copy(kernel)),
               AddressOf(memory.Allocate<RowScale>(5)),
               {},
               {1, {5}, {1}},
               {3, {3, 2, c}, {10 * c, 5 * c, 5}}};
      for (const DotOperand& operand : {a.lhs, a.rhs}) {
        RunKernel("dot", "dot_scales_f32", ScaleBlocks(operand), kScaleThreads, kScaleSharedBytes,
                  DotScaleArguments{operand}, memory);
      }
      // The result's features stand before its places.
      float* const result = memory.Allocate<float>(180);
      a.result = AddressOf(result);
      const int64_t row_strides[] = {90, 6, 1};
      std::copy_n(row_strides, 3, a.row_strides);
      a.column_strides[0] = 18;
      a.open = AddressOf(memory.Allocate<uint32_t>(180));
      a.open_count = AddressOf(memory.Copy<uint32_t>({0}));
      const DotTile& tile = small ? kSmallDotTile : kDotTile;
      RunKernel("dot", small ? "dot_small_f32" : "dot_f32", DotBlocks(tile, a), tile.threads,
                tile.shared_bytes, a, memory);
      RunKernel("dot", "dot_repair_f32", 1, kRepairThreads, 0, a, memory);
      for (int64_t i = 0; i < 180; ++i) {
        const int64_t b = i / 90, f = i / 18 % 5, y = i / 6 % 3, x = i % 6;
        ExactSum sum;
        for (int64_t k = 0; k < 6 * c; ++k) {
          const int64_t v = k / (2 * c), u = k / c % 2, d = k % c;
          sum.AddProduct(input[((b * 7 + 2 * y + v) * 9 + x + 3 * u) * c + d], kernel[(k)*5 + f]);
        }
        CHECK(std::bit_cast<uint32_t>(result[i]) == RoundedBits(sum, Float::kF32));
      }
    }
  }
}

}  // namespace assay::gpu
