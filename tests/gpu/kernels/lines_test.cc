// The kernels of sum_lines.cu and fold_lines.cu against exact sums of the reference and folds one element
// after the other, with blocks in several orders.
#include <algorithm>
#include <random>

#include "gpu/kernels/reduce_arguments.h"
#include "tests/gpu/kernels/formats.h"
#include "tests/gpu/kernels/kernel_run.h"

namespace assay::gpu {
namespace {

std::mt19937_64& LineGenerator() {
  static std::mt19937_64 generator(31);
  return generator;
}

struct Lines {
  int64_t outer, length, inner;
  int64_t size() const { return outer * length * inner; }
  int64_t results() const { return outer * inner; }
  int64_t At(int64_t result, int64_t i) const {
    return result / inner * length * inner + i * inner + result % inner;
  }
};

// A way to share the work.
struct Sharing {
  std::string shape;
  int32_t group = 1;
  int64_t parts = 1;
};
std::vector<Sharing> SharingsOf(const Lines& lines, int columns) {
  if (lines.inner == 1)
    return {{"rows", 1}, {"rows", 4}, {"rows", 32}, {"long", 1, 1}, {"long", 1, 3}, {"long", 1, 5}};
  std::vector<Sharing> sharings{{"columns_1", 1, 1}, {"columns_1", 1, 3}};
  if (lines.inner % columns == 0) {
    sharings.push_back({"columns", 1, 1});
    sharings.push_back({"columns", 1, 2});
  }
  return sharings;
}

std::vector<unsigned char> PackedLines(const std::vector<uint64_t>& bits, int64_t bytes) {
  std::vector<unsigned char> packed(bits.size() * bytes);
  for (size_t i = 0; i < bits.size(); ++i) std::memcpy(&packed[i * bytes], &bits[i], bytes);
  return packed;
}

struct LineRun {
  std::string module, kernel;  // but for the shape
  int64_t bytes, state_bytes;
  int columns;
  Float type = Float::kF32;  // of sums
  LineArguments arguments{};
};

struct LineOutcome {
  std::vector<uint64_t> results;
  uint32_t open = 0;
};

// `start`: elements before the first, so that it need not be aligned to more than its size.
LineOutcome RunLines(LineRun run, const Lines& lines, const std::vector<uint64_t>& input, uint64_t init,
                     const Sharing& sharing, int64_t start, uint64_t order) {
  TestMemory memory;
  LineArguments& a = run.arguments;
  a.outer = lines.outer;
  a.length = lines.length;
  a.inner = lines.inner;
  a.parts = sharing.parts;
  a.group = sharing.group;
  std::vector<uint64_t> shifted(static_cast<size_t>(start), 0);
  shifted.insert(shifted.end(), input.begin(), input.end());
  a.input =
      AddressOf(memory.Copy(PackedLines(shifted, run.bytes))) + static_cast<uint64_t>(start * run.bytes);
  a.init = AddressOf(memory.Copy(PackedLines({init}, run.bytes)));
  auto* const result = memory.Allocate<unsigned char>(lines.results() * run.bytes);
  a.result = AddressOf(result);
  const int columns = sharing.shape == "columns" ? run.columns : sharing.shape == "columns_1" ? 1 : 0;
  if (a.parts > 1) {
    a.partial = AddressOf(memory.Allocate<unsigned char>(lines.results() * a.parts * run.state_bytes));
    a.counters = AddressOf(memory.Copy(std::vector<uint32_t>(LineCounters(a, columns))));
  }
  a.open = AddressOf(memory.Allocate<uint32_t>(lines.results()));
  auto* const open_count = memory.Copy<uint32_t>({0});
  a.open_count = AddressOf(open_count);
  const int64_t blocks = columns != 0              ? a.outer * LineBlocksAcross(a, columns) * a.parts
                         : sharing.shape == "rows" ? LineBlocksOfRows(a)
                                                   : a.outer * a.parts;
  const size_t under = run.kernel.find('_');
  const std::string name = run.kernel.substr(0, under + 1) + sharing.shape + run.kernel.substr(under);
  INFO(name << " parts " << a.parts << " group " << a.group << " start " << start << " order " << order);
  RunKernel(run.module.c_str(), name.c_str(), blocks, kReduceThreads,
            LineSharedBytes(columns, run.state_bytes), a, memory, order);
  LineOutcome outcome{{}, *open_count};
  if (run.module == "sum_lines") {
    SumArguments sum{};
    sum.plan.kept = {2, {a.outer, a.inner}, {a.length * a.inner, 1}};
    sum.plan.reduced = {1, {a.length}, {a.inner}};
    sum.input = a.input;
    sum.init = a.init;
    sum.result = a.result;
    sum.open = a.open;
    sum.open_count = a.open_count;
    sum.result_type = a.result_type;
    RunKernel("reduce", ("sum_repair" + run.kernel.substr(under)).c_str(), 2, kSumRepairThreads,
              kSumRepairSharedBytes, sum, memory);
  }
  for (int64_t i = 0; i < a.parts && a.parts > 1; ++i) CHECK(reinterpret_cast<uint32_t*>(a.counters)[0] == 0);
  for (int64_t i = 0; i < lines.results(); ++i)
    outcome.results.push_back(LoadBits(result + i * run.bytes, run.bytes));
  return outcome;
}

constexpr Float kLineTypes[] = {Float::kF32, Float::kBf16, Float::kF16, Float::kF64};

LineRun SumRun(Float type) {
  const int64_t bytes = BytesOf(type);
  const std::string name = type == Float::kF32    ? "f32"
                           : type == Float::kF64  ? "f64"
                           : type == Float::kBf16 ? "bf16"
                                                  : "f16";
  LineRun run{"sum_lines", "sum_" + name, bytes, kSumStateBytes, SumColumns(bytes), type, {}};
  run.arguments.result_type = type;
  return run;
}

uint64_t BitsOfNumber(double value, Float type) {
  const FloatFormat& format = *Info(TypeOf(type)).format;
  return EncodeFloat(RoundToFormat(value, format), format);
}

// Results that are open before the repair.
uint32_t CheckLineSums(Float type, const Lines& lines, const std::vector<uint64_t>& input, uint64_t init) {
  std::vector<uint64_t> expected;
  for (int64_t r = 0; r < lines.results(); ++r) {
    ExactSum sum;
    sum.Add(ValueOf(init, type));
    for (int64_t i = 0; i < lines.length; ++i) sum.Add(ValueOf(input[lines.At(r, i)], type));
    expected.push_back(RoundedBits(sum, type));
  }
  const LineRun run = SumRun(type);
  uint32_t open = 0;
  uint64_t order = 0;
  for (const Sharing& sharing : SharingsOf(lines, run.columns)) {
    const int64_t start = sharing.shape == "columns" ? 0 : static_cast<int64_t>(order % 3);
    const LineOutcome outcome = RunLines(run, lines, input, init, sharing, start, order++);
    CHECK(outcome.results == expected);
    open = std::max(open, outcome.open);
  }
  return open;
}

constexpr Lines kShapes[] = {{3, 301, 1}, {1, 2050, 1}, {11, 7, 1}, {40, 1, 1},
                             {1, 70, 36}, {2, 33, 140}, {1, 9, 9}};

}  // namespace

TEST_CASE("sums over lines are exact, however the work is shared", "[kernels][lines]") {
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (const Float type : kLineTypes) {
    for (const Lines& lines : kShapes) {
      std::vector<uint64_t> input(static_cast<size_t>(lines.size()));
      for (uint64_t& bits : input) bits = BitsOfNumber(uniform(LineGenerator()), type);
      CHECK(CheckLineSums(type, lines, input, BitsOfNumber(0.25, type)) == 0);
    }
  }
}

TEST_CASE("sums over lines of all exponents that cancel", "[kernels][lines]") {
  for (const Float type : kLineTypes) {
    const uint64_t sign = uint64_t{1} << (ShapeOf(type).bits - 1);
    uint32_t open = 0;
    for (const Lines& lines : {Lines{5, 302, 1}, Lines{1, 40, 36}}) {
      std::vector<uint64_t> input(static_cast<size_t>(lines.size()));
      for (int64_t r = 0; r < lines.results(); ++r) {
        for (int64_t i = 0; i < lines.length / 2; ++i) {
          uint64_t bits = LineGenerator()() >> (64 - ShapeOf(type).bits);
          while (!std::isfinite(ValueOf(bits, type))) bits = LineGenerator()() >> (64 - ShapeOf(type).bits);
          input[lines.At(r, i)] = bits;
          input[lines.At(r, lines.length - 1 - i)] = bits ^ sign;
        }
        // Sums of zero, of the least number, and of the last bit of an ordinary one.
        if (r % 3 == 1) input[lines.At(r, 2)] ^= 1;
        if (r % 3 == 2) input[lines.At(r, 3)] = 1;
      }
      open += CheckLineSums(type, lines, input, sign);
    }
    if (type == Float::kF64) CHECK(open > 0);
  }
}

// Sums of plain doubles would lose the last bit of the small terms.
TEST_CASE("sums over lines that are just too wide for plain doubles", "[kernels][lines]") {
  for (const Float type : {Float::kF32, Float::kBf16, Float::kF64}) {
    for (const Lines& lines : {Lines{6, 64, 1}, Lines{1, 8, 36}}) {
      const int precision = ShapeOf(type).precision;
      std::vector<uint64_t> input(static_cast<size_t>(lines.size()),
                                  BitsOfNumber(1 + std::ldexp(1, 1 - precision), type));
      for (int64_t r = 0; r < lines.results(); ++r) {
        const double large = std::ldexp(1, 53 - precision + static_cast<int>(r % 4));
        input[lines.At(r, 0)] = BitsOfNumber(large, type);
        input[lines.At(r, lines.length - 1)] = BitsOfNumber(-large, type);
      }
      CheckLineSums(type, lines, input, BitsOfNumber(-0.0, type));
    }
  }
}

TEST_CASE("sums over lines at ties, with NaN, infinities, zeros and overflow", "[kernels][lines]") {
  for (const Float type : kLineTypes) {
    const FloatFormat& format = *Info(TypeOf(type)).format;
    const int precision = ShapeOf(type).precision;
    const double least = type == Float::kF16 ? 0x1p-24 : 0x1p-120;
    const double rows[][4] = {{1, std::ldexp(1, -precision), 0, 0},
                              {1, std::ldexp(1, -precision), least, 0},
                              {1, std::ldexp(1, -precision), -least, 0},
                              {HUGE_VAL, 1, 2, 3},
                              {-HUGE_VAL, 1, 2, 3},
                              {-HUGE_VAL, HUGE_VAL, 2, 3},
                              {NAN, HUGE_VAL, 2, 3},
                              {NAN, 0, 0, 0},
                              {-0.0, -0.0, -0.0, -0.0},
                              {-0.0, 0.0, -0.0, -0.0},
                              {1, -1, -0.0, -0.0},
                              {format.max_finite, format.max_finite, 0, 0},
                              {format.max_finite, format.max_finite, -format.max_finite, -format.max_finite},
                              {format.max_finite, -format.max_finite, 1, least}};
    const auto count = static_cast<int64_t>(std::size(rows));
    for (const Lines& lines : {Lines{count, 4, 1}, Lines{1, 4, count + 2}, Lines{count, 260, 1}}) {
      std::vector<uint64_t> input(static_cast<size_t>(lines.size()), BitsOfNumber(-0.0, type));
      for (int64_t r = 0; r < count; ++r) {
        // Far from each other where lines are long.
        for (int64_t i = 0; i < 4; ++i)
          input[lines.At(r, lines.length / 4 * i)] = BitsOfNumber(rows[r][i], type);
      }
      for (const double init : {-0.0, 0.0}) CheckLineSums(type, lines, input, BitsOfNumber(init, type));
    }
  }
}

namespace {

struct LineFoldCase {
  std::string name;  // of the kernel, but for the bytes
  uint64_t flip = 0;
  uint64_t (*of)(uint64_t, uint64_t, int bytes);
};

int64_t AsSigned(uint64_t bits, int bytes) {
  return static_cast<int64_t>(bits << (64 - 8 * bytes)) >> (64 - 8 * bytes);
}

const LineFoldCase kFolds[] = {
    {"max", 0, [](uint64_t x, uint64_t y, int) { return std::max(x, y); }},
    {"max", ~uint64_t{0}, [](uint64_t x, uint64_t y, int) { return std::min(x, y); }},
    {"max", 1,
     [](uint64_t x, uint64_t y, int bytes) { return AsSigned(x, bytes) > AsSigned(y, bytes) ? x : y; }},
    {"max", 2,
     [](uint64_t x, uint64_t y, int bytes) { return AsSigned(x, bytes) < AsSigned(y, bytes) ? x : y; }},
    {"or", 0, [](uint64_t x, uint64_t y, int) { return x | y; }},
    {"or", ~uint64_t{0}, [](uint64_t x, uint64_t y, int) { return x & y; }},
    {"xor", 0, [](uint64_t x, uint64_t y, int) { return x ^ y; }},
    {"add", 0, [](uint64_t x, uint64_t y, int) { return x + y; }},
    {"multiply", 0, [](uint64_t x, uint64_t y, int) { return x * y; }},
};

template <typename Of>
void CheckLineFold(const LineRun& run, const Lines& lines, const std::vector<uint64_t>& input, uint64_t init,
                   const Of& of) {
  std::vector<uint64_t> expected;
  for (int64_t r = 0; r < lines.results(); ++r) {
    uint64_t result = init;
    for (int64_t i = 0; i < lines.length; ++i) result = of(result, input[lines.At(r, i)]);
    expected.push_back(result & ~uint64_t{0} >> (64 - 8 * run.bytes));
  }
  uint64_t order = 0;
  for (const Sharing& sharing : SharingsOf(lines, run.columns)) {
    const int64_t start = sharing.shape == "columns" ? 0 : static_cast<int64_t>(order % 3);
    CHECK(RunLines(run, lines, input, init, sharing, start, order++).results == expected);
  }
}

}  // namespace

TEST_CASE("folds of integers over lines", "[kernels][lines]") {
  for (const int bytes : {1, 2, 4, 8}) {
    const uint64_t sign = uint64_t{1} << (8 * bytes - 1);
    for (const LineFoldCase& fold : kFolds) {
      LineRun run{"fold_lines", "fold_" + fold.name + "_" + std::to_string(bytes), bytes,
                  FoldStateBytes(bytes), FoldColumns(bytes)};
      run.arguments.flip = fold.flip == 1 ? sign : fold.flip == 2 ? ~sign : fold.flip;
      for (const Lines& lines : {Lines{2, 2001, 1}, Lines{3, 35, 1}, Lines{1, 70, 48}, Lines{2, 9, 9}}) {
        std::vector<uint64_t> input(static_cast<size_t>(lines.size()));
        for (uint64_t& bits : input)
          bits = LineGenerator()() >> (64 - 8 * bytes) | (fold.name == "multiply" ? 1 : 0);
        CheckLineFold(run, lines, input, LineGenerator()() >> (64 - 8 * bytes),
                      [&](uint64_t x, uint64_t y) { return fold.of(x, y, bytes); });
      }
    }
  }
}

TEST_CASE("extremes of floats over lines: NaN wins, and -0 stands below +0", "[kernels][lines]") {
  for (const Float type : kLineTypes) {
    const FloatFormat& format = *Info(TypeOf(type)).format;
    const uint64_t sign = uint64_t{1} << (format.bits - 1), infinity = EncodeFloat(HUGE_VAL, format);
    const auto bytes = static_cast<int>(BytesOf(type));
    LineRun run{"fold_lines", "fold_float_" + std::to_string(bytes), bytes, FoldStateBytes(bytes),
                FoldColumns(bytes)};
    run.arguments.infinity = infinity;
    run.arguments.nan = format.nan_bits;
    for (const bool largest : {true, false}) {
      run.arguments.flip = largest ? 0 : sign;
      const auto of = [&](uint64_t x, uint64_t y) -> uint64_t {
        const double a = ValueOf(x, type), b = ValueOf(y, type);
        if (std::isnan(a) || std::isnan(b)) return format.nan_bits;
        if (a == b) return (x & sign) != 0 ? (largest ? y : x) : (largest ? x : y);
        return (a > b) == largest ? x : y;
      };
      for (const Lines& lines : {Lines{6, 401, 1}, Lines{1, 9, 48}}) {
        std::vector<uint64_t> input(static_cast<size_t>(lines.size()));
        for (uint64_t& bits : input) {
          do bits = LineGenerator()() >> (64 - format.bits);
          while (std::isnan(ValueOf(bits, type)));
        }
        const int64_t last = lines.results() - 1;
        for (int64_t i = 0; i < lines.length; ++i) input[lines.At(0, i)] = i == 3 ? 0 : sign;
        input[lines.At(1, 4)] = infinity | 1;
        input[lines.At(2, 2)] = infinity | 1 | sign;
        for (int64_t i = 0; i < lines.length; ++i) input[lines.At(last, i)] = infinity | sign;
        CheckLineFold(run, lines, input, infinity | (largest ? sign : 0), of);
        CheckLineFold(run, lines, input, infinity | 1, of);
      }
    }
  }
}

}  // namespace assay::gpu
