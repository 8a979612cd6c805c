// The kernels of dot_fast.cu: results within the bound that TensorCoreSums states, of exact sums of the
// reference; faults that are planted are found.
#include <bit>
#include <cmath>
#include <random>

#include "engines/accuracy.h"
#include "evaluator/scalar/exact_sum.h"
#include "gpu/kernels/fast/dot_fast_arguments.h"
#include "literal/element_io.h"
#include "tests/gpu/kernels/formats.h"
#include "tests/gpu/kernels/kernel_run.h"

namespace assay::gpu {
namespace {

struct Case {
  std::string name = "tf32";  // of the kernels: tf32, bf16, f16
  int64_t batch = 1, m = 33, n = 17, k = 41;
  bool lhs_rows_inside = false, rhs_rows_inside = false;
  Float result = Float::kF32;
  bool has_padding = false;
  int64_t offset = 0;  // of the operands' first elements
  int capability = 90;

  ElementType type() const {
    return name == "tf32" ? ElementType::kF32 : name == "bf16" ? ElementType::kBF16 : ElementType::kF16;
  }
};

struct Operand {
  std::vector<std::byte> bytes;
  std::vector<double> values;
  int64_t strides[3];  // of the batch, the row and k
};

std::mt19937_64& FastRandom() {
  static std::mt19937_64 generator(40);
  return generator;
}
double SmallDouble() { return std::uniform_real_distribution<double>(-1, 1)(FastRandom()); }
double PositiveDouble() { return std::uniform_real_distribution<double>(0.5, 1)(FastRandom()); }
double Wide() { return std::ldexp(SmallDouble(), static_cast<int>(FastRandom()() % 60) - 30); }
double Special() {
  switch (FastRandom()() % 200) {
    case 0:
      return HUGE_VAL;
    case 1:
      return -HUGE_VAL;
    case 2:
      return std::nan("");
    case 3:
      return 3.4028234e38;  // becomes an infinity as TF32
    case 4:
      return -0.0;
    case 5:
      return std::ldexp(SmallDouble(), -140);
    default:
      return SmallDouble();
  }
}

template <typename Draw>
Operand Random(const Case& c, int64_t rows, bool rows_inside, Draw draw) {
  Operand operand;
  operand.strides[0] = rows * c.k;
  operand.strides[1] = rows_inside ? 1 : c.k;
  operand.strides[2] = rows_inside ? rows : 1;
  const int64_t count = c.batch * rows * c.k, width = Bytes(c.type());
  operand.bytes.resize(static_cast<size_t>(count * width));
  for (int64_t i = 0; i < count; ++i) {
    const ScalarValue value{.kind = ComputeKind::kReal, .r = RoundToFormat(draw(), *Info(c.type()).format)};
    StoreElement(c.type(), value, operand.bytes.data() + i * width);
    operand.values.push_back(LoadElement(c.type(), operand.bytes.data() + i * width).r);
  }
  return operand;
}

SumOfTerms SumAt(const Case& c, const Operand& lhs, const Operand& rhs, int64_t batch, int64_t row,
                 int64_t column) {
  ExactSum sum, magnitude, subnormal;
  SumOfTerms terms;
  sum.Add(0.0);
  for (int64_t k = 0; k < c.k; ++k) {
    const double x = lhs.values[batch * lhs.strides[0] + row * lhs.strides[1] + k * lhs.strides[2]];
    const double y = rhs.values[batch * rhs.strides[0] + column * rhs.strides[1] + k * rhs.strides[2]];
    if (c.has_padding && x == 0 && std::signbit(x)) continue;
    ++terms.terms;
    sum.AddProduct(x, y);
    magnitude.AddProduct(std::fabs(x), std::fabs(y));
    const auto is_subnormal = [](double factor) { return std::fabs(factor) < 0x1p-126; };
    if (is_subnormal(x) || is_subnormal(y)) subnormal.AddProduct(std::fabs(x), std::fabs(y));
  }
  const FloatFormat& format = *Info(ElementType::kF64).format;
  terms.sum = sum.Round(format);
  terms.magnitude = magnitude.Round(format);
  terms.subnormal = subnormal.Round(format);
  return terms;
}

TensorCoreSums AccuracyOf(const Case& c) {
  return TensorCoreSums({.factor_bits = c.name == "tf32" ? 11 : 0,
                         .fraction_bits = c.capability >= 90 ? 25 : 24,
                         .terms_of_group = (c.capability >= 90 ? 32 : 16) / Bytes(c.type()),
                         .has_gaps = c.has_padding});
}

// What is wrong when the kernel runs: an error, or how many elements are beyond the bound.
std::string Wrong(const Case& c, const Operand& lhs, const Operand& rhs, bool small, uint64_t order = 0,
                  emulated::Fault fault = {}, const TensorCoreSums* accuracy = nullptr) {
  TestMemory memory;
  FastDotArguments a{};
  const auto operand = [&](const Operand& of, int64_t rows) {
    const int64_t width = Bytes(c.type());
    auto* const at = memory.Copy(of.bytes, c.offset * width);
    return FastOperand{AddressOf(at),
                       {1, {c.batch}, {of.strides[0]}},
                       {1, {rows}, {of.strides[1]}},
                       {1, {c.k}, {of.strides[2]}}};
  };
  a.lhs = operand(lhs, c.m);
  a.rhs = operand(rhs, c.n);
  const int64_t bytes = BytesOf(c.result);
  auto* const result = memory.Allocate<unsigned char>(c.batch * c.m * c.n * bytes);
  a.result = AddressOf(result);
  a.batch_strides[0] = c.m * c.n;
  a.row_strides[0] = c.n;
  a.column_strides[0] = 1;
  a.result_type = c.result;
  a.lhs_has_padding = c.has_padding ? 1 : 0;
  const DotTile& tile = small ? kSmallDotTile : kDotTile;
  const std::string name = (small ? "dot_small_" : "dot_") + c.name;
  const std::string problem = TryKernel("dot_fast", name.c_str(), FastDotBlocks(tile, a), tile.threads,
                                        tile.shared_bytes, a, memory, order, fault, c.capability);
  if (!problem.empty()) return problem;
  if (!memory.ZonesAreIntact()) return "wrote beyond the result";
  const TensorCoreSums own = AccuracyOf(c);
  int outside = 0;
  for (int64_t i = 0; i < c.batch * c.m * c.n; ++i) {
    const SumOfTerms sum = SumAt(c, lhs, rhs, i / (c.m * c.n), i / c.n % c.m, i % c.n);
    const ExactElement exact{TypeOf(c.result), nullptr, &sum};
    outside += !(accuracy == nullptr ? own : *accuracy)
                    .Allows(exact, reinterpret_cast<const std::byte*>(result + i * bytes));
  }
  return outside == 0 ? "" : std::to_string(outside) + " elements beyond the bound";
}

template <typename Draw>
void CheckFast(const Case& c, Draw draw) {
  const Operand lhs = Random(c, c.m, c.lhs_rows_inside, draw), rhs = Random(c, c.n, c.rhs_rows_inside, draw);
  INFO(c.name << " " << c.m << " " << c.n << " " << c.k);
  CHECK(Wrong(c, lhs, rhs, true) == "");
  CHECK(Wrong(c, lhs, rhs, false, 7) == "");
}

constexpr const char* kNames[] = {"tf32", "bf16", "f16"};

}  // namespace

TEST_CASE("fast dots of every layout and odd sizes are within their bound", "[kernels][dot_fast]") {
  for (const char* name : kNames) {
    for (const bool lhs : {false, true}) {
      for (const bool rhs : {false, true})
        CheckFast({.name = name, .batch = 2, .lhs_rows_inside = lhs, .rhs_rows_inside = rhs}, SmallDouble);
    }
    CheckFast({.name = name, .m = 130, .n = 9, .k = 24}, SmallDouble);
    CheckFast({.name = name, .m = 5, .n = 129, .k = 64, .offset = 1}, SmallDouble);
    CheckFast({.name = name, .m = 3, .n = 2, .k = 0}, SmallDouble);
    CheckFast({.name = name, .m = 3, .n = 2, .k = 1}, SmallDouble);
  }
}

TEST_CASE("fast dots of wide ranges, of one sign, and long ones", "[kernels][dot_fast]") {
  for (const char* name : kNames) {
    CheckFast({.name = name, .m = 20, .n = 12, .k = 100}, Wide);
    CheckFast({.name = name, .m = 9, .n = 8, .k = 1000}, PositiveDouble);
  }
}

TEST_CASE("fast dots by tensor cores of compute capability 8.0, which cut earlier", "[kernels][dot_fast]") {
  for (const char* name : kNames) {
    CheckFast({.name = name, .m = 20, .n = 12, .k = 100, .capability = 80}, Wide);
    CheckFast({.name = name, .m = 9, .n = 8, .k = 1000, .capability = 80}, PositiveDouble);
  }
}

TEST_CASE("fast dots to other result types", "[kernels][dot_fast]") {
  for (const char* name : kNames) {
    for (const Float result : {Float::kBf16, Float::kF16, Float::kF64}) {
      CheckFast({.name = name, .k = 70, .result = result}, SmallDouble);
      CheckFast({.name = name, .k = 70, .result = result}, Special);
    }
  }
}

TEST_CASE("fast dots beside NaN, infinities and the largest numbers", "[kernels][dot_fast]") {
  for (const char* name : kNames) {
    CheckFast({.name = name, .m = 40, .n = 36, .k = 50}, Special);
    CheckFast({.name = name, .m = 40, .n = 36, .k = 50}, [] { return std::nan(""); });
  }
  // TF32 rounds these to infinity, and their products with small numbers are finite.
  const auto largest = [i = 0]() mutable { return i++ % 2 == 0 ? 0x1.fffffep127 : 0x1p-100; };
  CheckFast({.name = "tf32", .m = 20, .n = 10, .k = 8}, largest);
}

TEST_CASE("padding of a fast dot is no term, whatever stands beside it", "[kernels][dot_fast]") {
  Case c{.name = "tf32", .m = 20, .n = 18, .k = 40, .has_padding = true};
  Operand lhs = Random(c, c.m, false, [i = 0]() mutable { return i++ % 3 == 0 ? -0.0 : SmallDouble(); });
  const Operand rhs = Random(c, c.n, true, [i = 0]() mutable {
    return i++ % 37 == 0 ? HUGE_VAL : i % 41 == 0 ? std::nan("") : SmallDouble();
  });
  CHECK(Wrong(c, lhs, rhs, true) == "");
  CHECK(Wrong(c, lhs, rhs, false) == "");
}

TEST_CASE("faults in fast dots are found", "[kernels][dot_fast][faults]") {
  using emulated::Fault;
  for (const char* name : kNames) {
    const int64_t k = std::string(name) == "tf32" ? 128 : 256;  // eight stages
    const Case c{.name = name, .m = 40, .n = 36, .k = k};
    const Operand lhs = Random(c, c.m, false, SmallDouble), rhs = Random(c, c.n, false, SmallDouble);
    REQUIRE(Wrong(c, lhs, rhs, true) == "");
    // Barriers: the first is that of the rows' offsets, one for each stage follows, then two of the results'
    // places.
    for (uint32_t number = 0; number < 11; ++number) {
      INFO(name << " without barrier " << number);
      CHECK(Wrong(c, lhs, rhs, true, 0, {Fault::Kind::kSkipBarrier, number, 64}) != "");
    }
    for (uint32_t number = 0; number < 4; ++number)
      CHECK(Wrong(c, lhs, rhs, true, 0, {Fault::Kind::kEarlyCopies, number}) != "");
    // A block of k that is left out: the last stage.
    Case shorter = c;
    shorter.k = k / 8 * 7;
    Operand cut_lhs = lhs, cut_rhs = rhs;
    for (int64_t row = 0; row < c.m; ++row) {
      for (int64_t i = shorter.k; i < k; ++i) cut_lhs.values[row * k + i] = 0;
    }
    CHECK(Wrong(c, cut_lhs, cut_rhs, true) != "");
  }
}

TEST_CASE("bounds of fast dots that are too small are found", "[kernels][dot_fast][faults]") {
  // Without what TF32 cuts off the factors.
  const Case tf32{.name = "tf32", .m = 40, .n = 36, .k = 64};
  const Operand lhs = Random(tf32, tf32.m, false, SmallDouble),
                rhs = Random(tf32, tf32.n, false, SmallDouble);
  const TensorCoreSums exact_factors({.fraction_bits = 25, .terms_of_group = 8});
  CHECK(Wrong(tf32, lhs, rhs, true, 0, {}, &exact_factors) != "");
  // Sums of one sign that are cut always err in one direction: a sum that were rounded would be within this.
  const Case bf16{.name = "bf16", .m = 40, .n = 36, .k = 1024};
  const Operand x = Random(bf16, bf16.m, false, PositiveDouble),
                y = Random(bf16, bf16.n, false, PositiveDouble);
  const TensorCoreSums rounded({.fraction_bits = 60, .terms_of_group = 128});
  CHECK(Wrong(bf16, x, y, true, 0, {}, &rounded) != "");
}

}  // namespace assay::gpu
