// Dots of every pair of types, by residues and by the other kernels, of data that are hard to sum and to
// round.
#include <cmath>
#include <random>

#include "fmt/format.h"
#include "literal/element_io.h"
#include "tests/gpu/device_programs.h"

namespace assay::gpu {
namespace {

constexpr int64_t kRows = 6, kTerms = 12, kColumns = 5;

enum class Hard { kWide, kCancelling, kSubnormal, kSpecial, kOverflow };
constexpr Hard kAllHard[] = {Hard::kWide, Hard::kCancelling, Hard::kSubnormal, Hard::kSpecial,
                             Hard::kOverflow};

// Of a type: the largest power of two, the least number, the bits of a significand.
struct Limits {
  double largest, least;
  int precision;
};
Limits LimitsOf(ElementType type) {
  switch (type) {
    case ElementType::kF64:
      return {0x1p1023, 0x1p-1074, 53};
    case ElementType::kF32:
      return {0x1p127, 0x1p-149, 24};
    case ElementType::kBF16:
      return {0x1p127, 0x1p-133, 8};
    case ElementType::kF16:
      return {0x1p15, 0x1p-24, 11};
    default:
      break;
  }
  // Of at most 8 bits: by all of its values.
  REQUIRE(Info(type).bits <= 8);
  Limits limits{0, HUGE_VAL, 1};
  int in_binade = 0;
  for (int bits = 0; bits < 1 << Info(type).bits; ++bits) {
    const auto byte = static_cast<std::byte>(bits);
    const double x = LoadElement(type, &byte).r;
    if (!(x > 0) || !std::isfinite(x)) continue;
    limits.largest = std::max(limits.largest, std::ldexp(1, std::ilogb(x)));
    limits.least = std::min(limits.least, x);
    if (x >= 1 && x < 2) ++in_binade;
  }
  limits.precision = 1 + std::ilogb(in_binade);
  return limits;
}

class HardNumbers {
 public:
  HardNumbers(Hard kind, ElementType type) : kind_(kind), limits_(LimitsOf(type)) {}

  // Of one side: `sign` is that of the second half of a sum that cancels.
  double At(int64_t row, int64_t k, double sign) {
    std::mt19937_64 numbers(
        static_cast<uint64_t>(row * 64 + (kind_ == Hard::kCancelling ? k % (kTerms / 2) : k)));
    const double x = 1 + std::ldexp(static_cast<double>(numbers() >> 11), -53);
    const bool negative = numbers() % 2 == 0;
    const int exponent = std::ilogb(limits_.largest);
    switch (kind_) {
      case Hard::kWide:
        return std::ldexp(negative ? -x : x,
                          static_cast<int>(numbers() % static_cast<uint64_t>(exponent)) - exponent / 2);
      case Hard::kCancelling:
        return (k < kTerms / 2 ? 1 : sign) * (negative ? -x : x);
      case Hard::kSubnormal:
        return limits_.least * static_cast<double>(numbers() % 9) * (negative ? -1 : 1);
      case Hard::kSpecial: {
        const double special[] = {HUGE_VAL, -HUGE_VAL, std::nan(""), 0.0, -0.0};
        return numbers() % 12 == 0 ? special[numbers() % 5] : negative ? -x : x;
      }
      case Hard::kOverflow:
        // The largest number, then half a unit of its last place, then little: sums at the end of the range.
        if (sign > 0)
          return k == 0   ? limits_.largest * (2 - std::ldexp(1, 1 - limits_.precision))
                 : k == 1 ? std::ldexp(limits_.largest, -limits_.precision)
                 : k == 2 ? (row % 3 - 1) * limits_.least
                          : 0;
        return 1;
    }
    return 0;
  }

 private:
  const Hard kind_;
  const Limits limits_;
};

std::vector<Literal> Arguments(const std::string& text, Hard kind) {
  std::vector<Literal> arguments = RandomInputs(ProgramOf(text).verified(), 1).value();
  for (size_t side = 0; side < 2; ++side) {
    Literal& argument = arguments[side];
    const ElementType type = argument.shape().element_type();
    HardNumbers numbers(kind, type);
    const std::span<std::byte> bytes = argument.MutableBytes();
    const auto width = static_cast<size_t>(Bytes(type));
    for (size_t i = 0; i < bytes.size() / width; ++i) {
      const auto at = static_cast<int64_t>(i);
      const double x = side == 0 ? numbers.At(at / kTerms, at % kTerms, 1)
                                 : numbers.At(100 + at % kColumns, at / kColumns, -1);
      ScalarValue value = LoadElement(type, bytes.data() + i * width);
      value.r = x;
      StoreElement(type, value, bytes.data() + i * width);
    }
  }
  return arguments;
}

void CheckPair(const char* lhs, const char* rhs, const char* result, Engines engines,
               const char* algorithm = "residues on integer tensor cores") {
  const std::string text = fmt::format(
      "HloModule m\nENTRY e {{\n  x = {0}[{3},{4}] parameter(0)\n  w = {1}[{4},{5}] parameter(1)\n"
      "  ROOT r = {2}[{3},{5}] dot(x, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n}}\n",
      lhs, rhs, result, kRows, kTerms, kColumns);
  for (const Hard kind : kAllHard) {
    INFO(text << static_cast<int>(kind));
    CHECK_THAT(PlanOfEqualRun(text, Arguments(text, kind), engines), Catch::Contains(algorithm));
  }
}

}  // namespace

TEST_CASE("dots by residues of every pair of types have the reference's bits on hard data",
          "[gpu][dot][residues]") {
  const char* const narrow[] = {"f32", "bf16", "f16", "f8e5m2"};
  for (const char* lhs : narrow) {
    for (const char* rhs : narrow) {
      for (const char* result : {"f32", "bf16", "f16"}) CheckPair(lhs, rhs, result, EmulatedResidues());
    }
  }
  for (const char* result : {"f64", "f32", "bf16", "f16"})
    CheckPair("f64", "f64", result, EmulatedResidues());
}

// All of them: not part of the ordinary run.
constexpr const char* kNarrowTypes[] = {"f32",       "bf16",          "f16",      "f8e5m2",     "f8e4m3",
                                        "f8e4m3fn",  "f8e4m3b11fnuz", "f8e3m4",   "f8e5m2fnuz", "f8e4m3fnuz",
                                        "f8e8m0fnu", "f6e3m2fn",      "f6e2m3fn", "f4e2m1fn"};

TEST_CASE("dots of any two types of floats have the reference's bits on hard data", "[.pairs][gpu][dot]") {
  for (const char* lhs : kNarrowTypes) {
    for (const char* rhs : kNarrowTypes) {
      for (const char* result : {"f64", "f32", "bf16", "f16"})
        CheckPair(lhs, rhs, result, Emulated(), "f64 tensor cores");
    }
  }
  for (const char* result : {"f64", "f32", "bf16", "f16"})
    CheckPair("f64", "f64", result, Emulated(), "pairs of doubles");
}

TEST_CASE("dots by residues of all types of floats have the reference's bits on hard data",
          "[.pairs][gpu][dot][residues]") {
  for (const char* type : kNarrowTypes) {
    for (const char* result : {"f32", "bf16", "f16"}) {
      CheckPair(type, type, result, EmulatedResidues());
      CheckPair(type, "f32", result, EmulatedResidues());
    }
  }
}

TEST_CASE("dots of any two types of integers have the reference's bits", "[.pairs][gpu][dot]") {
  const char* const types[] = {"s2", "u2", "s4", "u4", "s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"};
  for (const char* lhs : types) {
    for (const char* rhs : types) {
      for (const char* result : types) {
        const std::string text = fmt::format(
            "HloModule m\nENTRY e {{\n  x = {0}[{3},{4}] parameter(0)\n  w = {1}[{4},{5}] parameter(1)\n"
            "  ROOT r = {2}[{3},{5}] dot(x, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n}}\n",
            lhs, rhs, result, kRows, kTerms, kColumns);
        CheckOnDevice(text, 1);
        // By clusters: one of each kind of widths and signs.
        if (std::string_view(lhs).size() == 2 && lhs[1] != '8') continue;
        if (std::string_view(lhs).substr(1) != std::string_view(rhs).substr(1)) continue;
        CHECK_THAT(PlanOfEqualRun(text, HostileArguments(text, 1), EmulatedResidues()),
                   Catch::Contains("products of warpgroups"));
      }
    }
  }
}

}  // namespace assay::gpu
