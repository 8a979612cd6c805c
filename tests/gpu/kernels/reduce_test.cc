// The kernels of reduce.cu against exact sums of the reference.
#include <algorithm>
#include <random>

#include "gpu/kernels/reduce_arguments.h"
#include "tests/gpu/kernels/formats.h"
#include "tests/gpu/kernels/kernel_run.h"

namespace assay::gpu {
namespace {

struct SumCase {
  Float type;
  Strides kept, reduced;
  std::vector<uint64_t> input;  // bits
  uint64_t init = 0;
  int64_t start = 0;  // of the first element
};

// A dense array, of which some dimensions are reduced.
SumCase DenseSum(Float type, const std::vector<int64_t>& sizes, const std::vector<bool>& reduced) {
  SumCase sum{type, {}, {}, {}};
  int64_t stride = 1;
  for (size_t d = 0; d < sizes.size(); ++d) {
    stride = 1;
    for (size_t e = d + 1; e < sizes.size(); ++e) stride *= sizes[e];
    Strides& strides = reduced[d] ? sum.reduced : sum.kept;
    strides.sizes[strides.rank] = sizes[d];
    strides.strides[strides.rank++] = stride;
  }
  sum.input.resize(SizeOf(sum.kept) * SizeOf(sum.reduced));
  return sum;
}

int64_t OffsetIn(const Strides& dimensions, int64_t index) {
  int64_t offset = 0;
  for (int d = dimensions.rank; d-- > 0;) {
    offset += index % dimensions.sizes[d] * dimensions.strides[d];
    index /= dimensions.sizes[d];
  }
  return offset;
}

std::vector<uint64_t> ExpectedSums(const SumCase& x, Float result_type) {
  std::vector<uint64_t> results;
  for (int64_t o = 0; o < SizeOf(x.kept); ++o) {
    ExactSum sum;
    sum.Add(ValueOf(x.init, x.type));
    for (int64_t i = 0; i < SizeOf(x.reduced); ++i) {
      sum.Add(ValueOf(x.input[x.start + OffsetIn(x.kept, o) + OffsetIn(x.reduced, i)], x.type));
    }
    results.push_back(RoundedBits(sum, result_type));
  }
  return results;
}

std::vector<unsigned char> Packed(const std::vector<uint64_t>& bits, int64_t bytes) {
  std::vector<unsigned char> packed(bits.size() * bytes);
  for (size_t i = 0; i < bits.size(); ++i) std::memcpy(&packed[i * bytes], &bits[i], bytes);
  return packed;
}

struct SumOutcome {
  std::vector<uint64_t> results;
  uint32_t open;
};

SumOutcome RunSum(const SumCase& x, Float result_type, int32_t group, int64_t parts) {
  TestMemory memory;
  const int64_t results = SizeOf(x.kept), bytes = BytesOf(x.type), result_bytes = BytesOf(result_type);
  SumArguments a{};
  a.plan = {x.kept, x.reduced, parts, group};
  a.input = AddressOf(memory.Copy(Packed(x.input, bytes))) + x.start * bytes;
  a.init = AddressOf(memory.Copy(Packed({x.init}, bytes)));
  auto* const result = memory.Allocate<unsigned char>(results * result_bytes);
  a.result = AddressOf(result);
  a.parts = AddressOf(memory.Allocate<SumPart>(parts == 1 ? 0 : results * parts));
  a.open = AddressOf(memory.Allocate<uint32_t>(results));
  auto* const open_count = memory.Copy<uint32_t>({0});
  a.open_count = AddressOf(open_count);
  a.result_type = result_type;
  const std::string type = x.type == Float::kF32    ? "f32"
                           : x.type == Float::kF64  ? "f64"
                           : x.type == Float::kBf16 ? "bf16"
                                                    : "f16";
  RunKernel("reduce", ("sum_" + type).c_str(), ReduceBlocks(a.plan), kReduceThreads, 0, a, memory);
  if (parts != 1) {
    RunKernel("reduce", ("sum_finish_" + type).c_str(), (results * 32 + kReduceThreads - 1) / kReduceThreads,
              kReduceThreads, 0, a, memory);
  }
  RunKernel("reduce", ("sum_repair_" + type).c_str(), 2, kSumRepairThreads, kSumRepairSharedBytes, a, memory);
  SumOutcome outcome{{}, *open_count};
  for (int64_t i = 0; i < results; ++i)
    outcome.results.push_back(LoadBits(result + i * result_bytes, result_bytes));
  return outcome;
}

// Every way to share the work gives the same.
void CheckSum(const SumCase& x, Float result_type) {
  const std::vector<uint64_t> expected = ExpectedSums(x, result_type);
  for (const int32_t group : {1, 4, 32}) {
    for (const int64_t parts : {int64_t{1}, int64_t{3}, std::min<int64_t>(SizeOf(x.reduced), 45)}) {
      if (parts < 1 || parts > SizeOf(x.reduced)) {
        if (parts != 1) continue;
      }
      CHECK(RunSum(x, result_type, group, parts).results == expected);
    }
  }
}
void CheckSum(const SumCase& x) { CheckSum(x, x.type); }

std::mt19937_64& SumGenerator() {
  static std::mt19937_64 generator(21);
  return generator;
}
uint64_t NumberBits(double value, Float type) {
  const FloatFormat& format = *Info(TypeOf(type)).format;
  return EncodeFloat(RoundToFormat(value, format), format);
}
uint64_t OrdinaryBits(Float type) {
  return NumberBits(std::uniform_real_distribution<double>(-1, 1)(SumGenerator()), type);
}
// Any finite number: all exponents are as frequent.
uint64_t FiniteBits(Float type) {
  for (;;) {
    const uint64_t bits = SumGenerator()() >> (64 - ShapeOf(type).bits);
    if (std::isfinite(ValueOf(bits, type))) return bits;
  }
}

constexpr Float kSumTypes[] = {Float::kF32, Float::kBf16, Float::kF16, Float::kF64};

}  // namespace

TEST_CASE("sums over rows, columns and dimensions between are exact", "[kernels][reduce]") {
  for (const Float type : kSumTypes) {
    for (const auto& reduced : {std::vector<bool>{false, false, true},
                                {true, false, false},
                                {false, true, false},
                                {true, false, true},
                                {true, true, true},
                                {false, false, false}}) {
      SumCase x = DenseSum(type, {5, 7, 37}, reduced);
      for (uint64_t& bits : x.input) bits = OrdinaryBits(type);
      x.init = OrdinaryBits(type);
      CheckSum(x);
    }
  }
}

TEST_CASE("sums of operands with any strides, and of nothing", "[kernels][reduce]") {
  SumCase x{Float::kF32, {2, {3, 4}, {40, -3}}, {1, {9}, {1}}, std::vector<uint64_t>(200), 0, 20};
  for (uint64_t& bits : x.input) bits = OrdinaryBits(x.type);
  CheckSum(x);
  for (const Float type : kSumTypes) {
    SumCase empty = DenseSum(type, {4, 0}, {false, true});
    CheckSum(empty);
    empty.init = NumberBits(-0.0, type);
    CheckSum(empty);
    CheckSum(DenseSum(type, {0, 3}, {false, true}));
  }
}

TEST_CASE("sums of numbers of all exponents that cancel", "[kernels][reduce]") {
  for (const Float type : kSumTypes) {
    SumCase x = DenseSum(type, {12, 80}, {false, true});
    const uint64_t sign = uint64_t{1} << (ShapeOf(type).bits - 1);
    for (int64_t row = 0; row < 12; ++row) {
      for (int64_t i = 0; i < 40; ++i) {
        x.input[row * 80 + i] = FiniteBits(type);
        x.input[row * 80 + 79 - i] = x.input[row * 80 + i] ^ sign;
      }
      if (row % 3 == 1) x.input[row * 80 + 5] ^= 1;
      if (row % 3 == 2) x.input[row * 80 + 6] = 1;
    }
    CheckSum(x);
    x.init = FiniteBits(type);
    CheckSum(x);
    if (type == Float::kF64 || type == Float::kF32) CHECK(RunSum(x, type, 32, 1).open > 0);
  }
}

TEST_CASE("sums at ties and beside them, and rounded to other types", "[kernels][reduce]") {
  for (const Float type : kSumTypes) {
    const int precision = ShapeOf(type).precision;
    for (const double last : {0.0, 1.0, -1.0}) {
      SumCase x = DenseSum(type, {1, 3}, {false, true});
      x.input = {NumberBits(1, type), NumberBits(std::ldexp(1, -precision), type),
                 NumberBits(last * (type == Float::kF16 ? 0x1p-24 : 0x1p-120), type)};
      CheckSum(x);
      x.input[0] = NumberBits(1 + std::ldexp(1, 1 - precision), type);
      CheckSum(x);
      for (const Float result_type : kSumTypes) CheckSum(x, result_type);
    }
  }
}

TEST_CASE("sums with NaN, infinities, zeros and overflow", "[kernels][reduce]") {
  for (const Float type : kSumTypes) {
    SumCase x = DenseSum(type, {9, 6}, {false, true});
    for (uint64_t& bits : x.input) bits = OrdinaryBits(type);
    const FloatFormat& format = *Info(TypeOf(type)).format;
    x.input[0] = NumberBits(HUGE_VAL, type);
    x.input[6] = NumberBits(-HUGE_VAL, type);
    x.input[12] = x.input[0];
    x.input[13] = x.input[6];
    x.input[18] = x.input[0] | 1 | uint64_t{1} << (format.bits - 1);
    for (int i = 24; i < 30; ++i) x.input[i] = NumberBits(format.max_finite * (i % 2 == 0 ? 1 : -1), type);
    for (int i = 30; i < 36; ++i) x.input[i] = NumberBits(format.max_finite, type);
    for (int i = 36; i < 42; ++i) x.input[i] = NumberBits(-0.0, type);
    for (int i = 42; i < 48; ++i) x.input[i] = NumberBits(i % 2 == 0 ? 0.0 : -0.0, type);
    for (int i = 48; i < 54; ++i) x.input[i] = NumberBits(format.max_finite * (i < 51 ? 1 : -1), type);
    x.init = NumberBits(-0.0, type);
    CheckSum(x);
    x.init = 0;
    CheckSum(x);
  }
}

TEST_CASE("pairs of doubles settle ordinary sums", "[kernels][reduce]") {
  for (const Float type : kSumTypes) {
    SumCase x = DenseSum(type, {40, 300}, {false, true});
    for (uint64_t& bits : x.input) bits = OrdinaryBits(type);
    const SumOutcome outcome = RunSum(x, type, 32, 2);
    CHECK(outcome.results == ExpectedSums(x, type));
    CHECK(outcome.open == 0);
  }
}

}  // namespace assay::gpu
