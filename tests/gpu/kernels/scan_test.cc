// The kernels of scan.cu against exact sums of the reference and folds one element after the other, with
// blocks in several orders.
#include <algorithm>
#include <random>

#include "gpu/kernels/scan_arguments.h"
#include "gpu/kernels/window_arguments.h"
#include "tests/gpu/kernels/formats.h"
#include "tests/gpu/kernels/kernel_run.h"

namespace assay::gpu {
namespace {

std::mt19937_64& ScanGenerator() {
  static std::mt19937_64 generator(41);
  return generator;
}

struct ScanCase {
  int64_t outer, length, inner;
  bool reversed = false;
  int threads = 32;

  int64_t size() const { return outer * length * inner; }
  int64_t lines() const { return outer * inner; }
  // Element i of a line in the order in which it is added.
  int64_t At(int64_t line, int64_t i) const {
    return line / inner * length * inner + (reversed ? length - 1 - i : i) * inner + line % inner;
  }
};

std::vector<unsigned char> PackedScan(const std::vector<uint64_t>& bits, int64_t bytes) {
  std::vector<unsigned char> packed(bits.size() * bytes);
  for (size_t i = 0; i < bits.size(); ++i) std::memcpy(&packed[i * bytes], &bits[i], bytes);
  return packed;
}

struct ScanOutcome {
  std::vector<uint64_t> results;
  uint32_t open = 0;
};

// `kernel` is scan_sum_TYPE or scan_fold_N.
ScanOutcome RunScan(const std::string& kernel, const ScanCase& x, const std::vector<uint64_t>& input,
                    uint64_t init, int64_t bytes, ScanArguments a, uint64_t order) {
  INFO(kernel << " " << x.outer << " x " << x.length << " x " << x.inner << ", " << x.threads
              << " threads, order " << order);
  TestMemory memory;
  a.length = x.length;
  a.inner = x.inner;
  a.reversed = x.reversed ? 1 : 0;
  const int64_t tile = int64_t{x.threads} * kScanItems;
  a.tiles = static_cast<uint32_t>((x.length + tile - 1) / tile);
  const int64_t blocks = x.lines() * a.tiles;
  a.input = AddressOf(memory.Copy(PackedScan(input, bytes)));
  a.init = AddressOf(memory.Copy(PackedScan({init}, bytes)));
  auto* const result = memory.Allocate<unsigned char>(x.size() * bytes);
  a.result = AddressOf(result);
  auto* const ticket = memory.Copy(std::vector<uint32_t>(2));
  a.ticket = AddressOf(ticket);
  a.states = AddressOf(memory.Copy(std::vector<uint64_t>(2 * blocks)));
  a.errors = AddressOf(memory.Allocate<double>(2 * blocks));
  a.open = AddressOf(memory.Allocate<uint32_t>(x.size()));
  a.open_count = AddressOf(ticket + 1);
  RunKernel("scan", kernel.c_str(), blocks, x.threads, ScanSharedBytes(x.threads, bytes), a, memory, order);
  ScanOutcome outcome{{}, ticket[1]};
  if (kernel.find("sum") != std::string::npos) {
    WindowReduceArguments w{};
    w.input = a.input;
    w.init = a.init;
    w.result = a.result;
    w.open = a.open;
    w.open_count = a.open_count;
    w.results = x.size();
    w.entries = x.length;
    w.rank = 3;
    w.dimensions[0] = {x.outer, x.length * x.inner, x.outer, 1, 1, 1, 1, 0};
    w.dimensions[1] = {x.length, x.inner, x.length, x.length, 1, 1, 1, x.reversed ? 0 : x.length - 1};
    w.dimensions[2] = {x.inner, 1, x.inner, 1, 1, 1, 1, 0};
    w.result_type = a.result_type;
    RunKernel("window", ("window_repair" + kernel.substr(8)).c_str(), 2, kSumRepairThreads,
              kSumRepairSharedBytes, w, memory);
  }
  for (int64_t i = 0; i < x.size(); ++i) outcome.results.push_back(LoadBits(result + i * bytes, bytes));
  return outcome;
}

constexpr Float kScanTypes[] = {Float::kF32, Float::kBf16, Float::kF16, Float::kF64};
constexpr uint64_t kScanOrders[] = {0, 1, 2, 3, 7};

const char* ScanName(Float type) {
  return type == Float::kF32    ? "scan_sum_f32"
         : type == Float::kF64  ? "scan_sum_f64"
         : type == Float::kBf16 ? "scan_sum_bf16"
                                : "scan_sum_f16";
}

uint64_t ScanBits(double value, Float type) {
  const FloatFormat& format = *Info(TypeOf(type)).format;
  return EncodeFloat(RoundToFormat(value, format), format);
}

// The most results that were open before the repair.
uint32_t CheckScan(Float type, const ScanCase& x, const std::vector<uint64_t>& input, uint64_t init,
                   std::span<const uint64_t> orders = kScanOrders) {
  std::vector<uint64_t> expected(input.size());
  for (int64_t line = 0; line < x.lines(); ++line) {
    ExactSum sum;
    sum.Add(ValueOf(init, type));
    for (int64_t i = 0; i < x.length; ++i) {
      sum.Add(ValueOf(input[x.At(line, i)], type));
      expected[x.At(line, i)] = RoundedBits(sum, type);
    }
  }
  ScanArguments a{};
  a.result_type = type;
  uint32_t open = 0;
  for (const uint64_t order : orders) {
    const ScanOutcome outcome = RunScan(ScanName(type), x, input, init, BytesOf(type), a, order);
    CHECK(outcome.results == expected);
    open = std::max(open, outcome.open);
  }
  return open;
}

constexpr ScanCase kScanCases[] = {{1, 5300, 1},  // eleven tiles
                                   {3, 700, 1, true},      {1, 900, 3}, {2, 17, 1},
                                   {1, 2500, 1, true, 64}, {1, 1, 5},   {1, 20000, 1}};

}  // namespace

TEST_CASE("cumulative sums are exact, whichever blocks run first", "[kernels][scan]") {
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (const Float type : kScanTypes) {
    for (const ScanCase& x : kScanCases) {
      if (x.length == 20000 && type != Float::kF32) continue;
      std::vector<uint64_t> input(static_cast<size_t>(x.size()));
      for (uint64_t& bits : input) bits = ScanBits(uniform(ScanGenerator()), type);
      CHECK(CheckScan(type, x, input, ScanBits(0.25, type)) == 0);
    }
  }
}

// Tiles that are plain while the sum before them is a pair with an error, and tiles that are not plain.
TEST_CASE("cumulative sums over wide ranges, of numbers that cancel, and of ties", "[kernels][scan]") {
  constexpr uint64_t kOrders[] = {0, 5};
  for (const Float type : kScanTypes) {
    const int range = type == Float::kF16 ? 14 : 100, precision = ShapeOf(type).precision;
    for (const bool within : {false, true}) {
      const ScanCase x{1, 2300, 1};
      std::vector<uint64_t> input(static_cast<size_t>(x.size()));
      for (int64_t i = 0; i < x.length; ++i) {
        const int64_t group = within ? static_cast<int64_t>(ScanGenerator()() % 41) : i / 512;
        const int exponent = static_cast<int>(group * 7919 % (2 * range)) - range;
        const double x0 =
            std::ldexp(std::uniform_real_distribution<double>(-1, 1)(ScanGenerator()), exponent);
        input[i] =
            i % 3 == 2 ? input[i - 1] ^ uint64_t { 1 } << (ShapeOf(type).bits - 1) : ScanBits(x0, type);
      }
      CheckScan(type, x, input, ScanBits(-0.0, type), kOrders);
    }
    // Prefixes at the middle of two numbers, and beside it by little, over several tiles.
    const ScanCase ties{1, 1700, 1};
    std::vector<uint64_t> input(static_cast<size_t>(ties.size()), ScanBits(std::ldexp(1, -precision), type));
    input[0] = ScanBits(1, type);
    input[600] = ScanBits(type == Float::kF16 ? 0x1p-24 : 0x1p-120, type);
    input[1100] = ScanBits(type == Float::kF16 ? -0x1p-24 : -0x1p-120, type);
    CheckScan(type, ties, input, ScanBits(0, type), kOrders);
  }
}

TEST_CASE("cumulative sums with NaN, infinities, zeros and overflow", "[kernels][scan]") {
  constexpr uint64_t kOrders[] = {0, 6};
  for (const Float type : kScanTypes) {
    const FloatFormat& format = *Info(TypeOf(type)).format;
    const ScanCase x{6, 600, 1};
    std::vector<uint64_t> input(static_cast<size_t>(x.size()), ScanBits(1, type));
    for (int64_t i = 0; i < x.length; ++i) input[x.At(0, i)] = ScanBits(i == 550 ? 0.0 : -0.0, type);
    input[x.At(1, 100)] = input[x.At(2, 100)] = ScanBits(HUGE_VAL, type);
    input[x.At(2, 580)] = ScanBits(-HUGE_VAL, type);
    input[x.At(3, 30)] = ScanBits(NAN, type) | uint64_t{1} << (format.bits - 1);
    for (const int64_t i : {10, 11, 590, 591})
      input[x.At(4, i)] = ScanBits(
          (i < 100 ? format.max_finite : -format.max_finite) * (type == Float::kF64 ? 0x1p-9 : 1), type);
    input[x.At(5, 595)] = input[x.At(5, 596)] = ScanBits(format.max_finite, type);
    input[x.At(5, 599)] = ScanBits(-HUGE_VAL, type);
    const uint32_t open = CheckScan(type, x, input, ScanBits(-0.0, type), kOrders);
    // Those of the tiles with the largest numbers alone, not those around an infinity or a NaN.
    CHECK(open <= 2 * 88 + 10);
    CheckScan(type, x, input, ScanBits(NAN, type), kOrders);
  }
}

TEST_CASE("cumulative folds", "[kernels][scan]") {
  for (const int bytes : {1, 2, 4, 8}) {
    for (const FoldOp op : {FoldOp::kAdd, FoldOp::kMax, FoldOp::kMin, FoldOp::kXor}) {
      for (const ScanCase& x : {ScanCase{2, 1300, 1}, ScanCase{1, 600, 2, true}}) {
        std::vector<uint64_t> input(static_cast<size_t>(x.size())), expected(input.size());
        for (uint64_t& bits : input) bits = ScanGenerator()() >> (64 - 8 * bytes);
        const uint64_t init = 77;
        for (int64_t line = 0; line < x.lines(); ++line) {
          uint64_t so_far = init;
          for (int64_t i = 0; i < x.length; ++i) {
            const uint64_t bits = input[x.At(line, i)];
            so_far = op == FoldOp::kAdd   ? so_far + bits
                     : op == FoldOp::kMax ? std::max(so_far, bits)
                     : op == FoldOp::kMin ? std::min(so_far, bits)
                                          : so_far ^ bits;
            so_far &= ~uint64_t{0} >> (64 - 8 * bytes);
            expected[x.At(line, i)] = so_far;
          }
        }
        ScanArguments a{};
        a.folding.op = op;
        a.folding.kind = FoldKind::kUnsigned;
        for (const uint64_t order : {0, 4})
          CHECK(RunScan("scan_fold_" + std::to_string(bytes), x, input, init, bytes, a, order).results ==
                expected);
      }
    }
  }
}

}  // namespace assay::gpu
