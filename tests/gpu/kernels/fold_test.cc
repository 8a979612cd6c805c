// The kernels of fold.cu against folds one element after the other.
#include <cmath>
#include <random>

#include "gpu/kernels/reduce_arguments.h"
#include "tests/gpu/kernels/formats.h"
#include "tests/gpu/kernels/kernel_run.h"

namespace assay::gpu {
namespace {

struct FoldCase {
  int bytes;
  FoldOp op;
  FoldKind kind;
  Float type = Float::kF32;  // of floats
};

int64_t Signed(uint64_t bits, int bytes) {
  return static_cast<int64_t>(bits << (64 - 8 * bytes)) >> (64 - 8 * bytes);
}

// IEEE's maximum: a NaN wins, and -0 is below +0.
double Maximum(double x, double y, const FloatFormat& format) {
  if (std::isnan(x) || std::isnan(y)) return CanonicalNaN(format);
  if (x == y) return std::signbit(x) ? y : x;
  return x > y ? x : y;
}

uint64_t Combined(const FoldCase& x, uint64_t a, uint64_t b) {
  switch (x.op) {
    case FoldOp::kAnd:
      return a & b;
    case FoldOp::kOr:
      return a | b;
    case FoldOp::kXor:
      return a ^ b;
    case FoldOp::kAdd:
      return a + b;
    case FoldOp::kMultiply:
      return a * b;
    default:
      break;
  }
  const bool largest = x.op == FoldOp::kMax;
  if (x.kind == FoldKind::kUnsigned) return largest ? std::max(a, b) : std::min(a, b);
  if (x.kind == FoldKind::kSigned) {
    const int64_t s = Signed(a, x.bytes), t = Signed(b, x.bytes);
    return static_cast<uint64_t>(largest ? std::max(s, t) : std::min(s, t));
  }
  const FloatFormat& format = *Info(TypeOf(x.type)).format;
  const double s = ValueOf(a, x.type), t = ValueOf(b, x.type);
  return EncodeFloat(largest ? Maximum(s, t, format) : -Maximum(-s, -t, format), format) &
         (std::isnan(s) || std::isnan(t) ? ~(uint64_t{1} << (format.bits - 1)) : ~uint64_t{0});
}

std::vector<uint64_t> ExpectedFolds(const FoldCase& x, const std::vector<uint64_t>& input, int64_t rows,
                                    uint64_t init) {
  const int64_t size = static_cast<int64_t>(input.size()) / rows;
  std::vector<uint64_t> results;
  for (int64_t row = 0; row < rows; ++row) {
    uint64_t result = init;
    for (int64_t i = 0; i < size; ++i) result = Combined(x, result, input[row * size + i]);
    results.push_back(result & (~uint64_t{0} >> (64 - 8 * x.bytes)));
  }
  return results;
}

std::vector<unsigned char> PackedElements(const std::vector<uint64_t>& bits, int bytes) {
  std::vector<unsigned char> packed(bits.size() * bytes);
  for (size_t i = 0; i < bits.size(); ++i) std::memcpy(&packed[i * bytes], &bits[i], bytes);
  return packed;
}

std::vector<uint64_t> RunFold(const FoldCase& x, const std::vector<uint64_t>& input, int64_t rows,
                              uint64_t init, int32_t group, int64_t parts) {
  TestMemory memory;
  const int64_t size = static_cast<int64_t>(input.size()) / rows;
  FoldArguments a{};
  a.plan = {{1, {rows}, {size}}, {1, {size}, {1}}, parts, group};
  a.input = AddressOf(memory.Copy(PackedElements(input, x.bytes)));
  const uint64_t start = AddressOf(memory.Copy(PackedElements({init}, x.bytes)));
  auto* result = memory.Allocate<unsigned char>(rows * parts * x.bytes);
  a.result = AddressOf(result);
  const FloatFormat& format = *Info(TypeOf(x.type)).format;
  if (x.kind == FoldKind::kFloat) {
    a.folding.infinity = EncodeFloat(HUGE_VAL, format);
    a.folding.nan = format.nan_bits;
  }
  a.folding.op = x.op;
  a.folding.kind = x.kind;
  const std::string name = "fold_" + std::to_string(x.bytes);
  a.init = parts == 1 ? start : 0;
  RunKernel("fold", name.c_str(), ReduceBlocks(a.plan), kReduceThreads, 0, a, memory);
  if (parts != 1) {
    a.plan = {{1, {rows}, {parts}}, {1, {parts}, {1}}, 1, 32};
    a.input = a.result;
    a.init = start;
    result = memory.Allocate<unsigned char>(rows * x.bytes);
    a.result = AddressOf(result);
    RunKernel("fold", name.c_str(), ReduceBlocks(a.plan), kReduceThreads, 0, a, memory);
  }
  std::vector<uint64_t> results;
  for (int64_t i = 0; i < rows; ++i) results.push_back(LoadBits(result + i * x.bytes, x.bytes));
  return results;
}

void CheckFold(const FoldCase& x, const std::vector<uint64_t>& input, int64_t rows, uint64_t init) {
  const auto expected = ExpectedFolds(x, input, rows, init);
  for (const int32_t group : {1, 8, 32}) {
    for (const int64_t parts : {1, 4}) CHECK(RunFold(x, input, rows, init, group, parts) == expected);
  }
}

}  // namespace

TEST_CASE("folds of integers of every width", "[kernels][fold]") {
  std::mt19937_64 generator(22);
  for (const int bytes : {1, 2, 4, 8}) {
    for (int op = 0; op <= static_cast<int>(FoldOp::kMultiply); ++op) {
      for (const FoldKind kind : {FoldKind::kUnsigned, FoldKind::kSigned}) {
        std::vector<uint64_t> input(7 * 45);
        for (uint64_t& bits : input) bits = generator() >> (64 - 8 * bytes);
        for (uint64_t& bits : input) bits |= static_cast<FoldOp>(op) == FoldOp::kMultiply ? 1 : 0;
        CheckFold({bytes, static_cast<FoldOp>(op), kind}, input, 7, generator() >> (64 - 8 * bytes));
      }
    }
  }
}

TEST_CASE("extremes of floats: NaN wins, and -0 stands below +0", "[kernels][fold]") {
  std::mt19937_64 generator(23);
  for (const Float type : {Float::kF32, Float::kBf16, Float::kF16, Float::kF64}) {
    const int bytes = BytesOf(type);
    for (const FoldOp op : {FoldOp::kMax, FoldOp::kMin}) {
      const FoldCase x{bytes, op, FoldKind::kFloat, type};
      const FloatFormat& format = *Info(TypeOf(type)).format;
      std::vector<uint64_t> input(6 * 9);
      for (uint64_t& bits : input)
        bits = generator() >> (64 - format.bits) & ~uint64_t{0x10} << (format.bits - 8);
      const uint64_t minus = uint64_t{1} << (format.bits - 1), infinity = EncodeFloat(HUGE_VAL, format);
      for (int i = 9; i < 18; ++i) input[i] = i % 2 == 0 ? 0 : minus;
      input[20] = infinity;
      input[21] = infinity | minus;
      input[30] = infinity | 1;
      input[40] = infinity | 1 | minus;
      CheckFold(x, input, 6, EncodeFloat(op == FoldOp::kMax ? -HUGE_VAL : HUGE_VAL, format));
      CheckFold(x, input, 6, 0);
      CheckFold(x, input, 6, minus);
      // Of nothing, the start value.
      CHECK(RunFold(x, {}, 1, infinity | 1, 32, 1) == std::vector<uint64_t>{infinity | 1});
    }
  }
}

}  // namespace assay::gpu
