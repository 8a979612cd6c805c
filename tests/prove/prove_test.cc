// The prover's own oracle on values known by hand, and its verdict on subjects that are wrong on purpose.
#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "prove/exact_total.h"
#include "prove/functions.h"
#include "prove/narrow.h"
#include "prove/random_proof.h"
#include "prove/report.h"
#include "prove/single.h"
#include "prove/sums.h"
#include "prove/worst_cases.h"

namespace assay::prove {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

uint64_t Round(double x, ElementType type) { return RoundReal(RealOf(x), FormatOf(type)); }

TEST_CASE("The prover rounds to every format as docs/spec/shapes.md 2.1 says") {
  using T = ElementType;
  CHECK(Round(1.5, T::kF8E4M3FN) == 0x3c);
  CHECK(Round(1e10, T::kF8E4M3FN) == 0x7f);
  CHECK(Round(464, T::kF8E4M3FN) == 0x7e);  // half way to 480, to even
  CHECK(Round(464.5, T::kF8E4M3FN) == 0x7f);
  CHECK(Round(1e10, T::kF8E5M2) == 0x7c);
  CHECK(Round(-1e10, T::kF8E5M2) == 0xfc);
  CHECK(Round(1, T::kF8E4M3B11FNUZ) == 0x58);
  CHECK(Round(-0.0, T::kF8E4M3B11FNUZ) == 0x00);
  CHECK(Round(1.5, T::kF4E2M1FN) == 0x3);
  CHECK(Round(1e10, T::kF4E2M1FN) == 0x7);
  CHECK(Round(-1, T::kF4E2M1FN) == 0xa);
  CHECK(Round(kNaN, T::kF4E2M1FN) == 0x8);
  CHECK(Round(-kInf, T::kF6E3M2FN) == 0x3f);
  CHECK(Round(1.5, T::kF6E3M2FN) == 0x0e);
  CHECK(Round(1.5, T::kF8E8M0FNU) == 0x80);
  CHECK(Round(2.99, T::kF8E8M0FNU) == 0x80);
  CHECK(Round(3, T::kF8E8M0FNU) == 0x81);
  CHECK(Round(0, T::kF8E8M0FNU) == 0xff);
  CHECK(Round(1e-300, T::kF8E8M0FNU) == 0x00);
  CHECK(Round(0x1.8p127, T::kF8E8M0FNU) == 0xff);
  CHECK(Round(65519, T::kF16) == 0x7bff);
  CHECK(Round(65520, T::kF16) == 0x7c00);
  CHECK(Round(0x1p-25, T::kF16) == 0x0000);
  CHECK(Round(-0x1.001p-25, T::kF16) == 0x8001);
  CHECK(Round(kNaN, T::kBF16) == 0x7fc0);
  CHECK(Round(0x1.fffffefffffffp127, T::kF32) == 0x7f7fffff);
  CHECK(Round(0x1.ffffffp127, T::kF32) == 0x7f800000);
  CHECK(ValueOf(0x7c00, FormatOf(T::kF16)) == kInf);
  CHECK(ValueOf(0x03ff, FormatOf(T::kF16)) == 1023 * 0x1p-24);
  CHECK(std::isnan(ValueOf(0x80, FormatOf(T::kF8E5M2FNUZ))));
  CHECK(ValueOf(0x7f, FormatOf(T::kF8E5M2FNUZ)) == 57344);
}

TEST_CASE("What lies just beside a half way point is not rounded to even") {
  const NumberFormat& f16 = FormatOf(ElementType::kF16);
  const double half_way = 1 + 0x1p-11;
  CHECK(RoundReal({.magnitude = half_way}, f16) == 0x3c00);
  CHECK(RoundReal({.magnitude = half_way, .cut = true}, f16) == 0x3c01);
}

TEST_CASE("The prover's functions have the special values of the specification") {
  Oracle oracle;
  const NumberFormat& f32 = FormatOf(ElementType::kF32);
  const auto want = [&](const char* name, double x) {
    return std::bit_cast<float>(static_cast<uint32_t>(oracle.Want(*FindFunction1(name), x, f32)));
  };
  CHECK(want("exp", 0.5) == 1.6487212f);
  CHECK(want("logistic", 0.5) == 0.62245935f);
  CHECK(want("logistic", -100) == 3.783505e-44f);
  CHECK(want("logistic", -1e30) == 0);
  CHECK(want("logistic", 1e30) == 1);
  CHECK(want("erf", 0.5) == 0.5204999f);
  CHECK(want("rsqrt", -0.0) == -std::numeric_limits<float>::infinity());
  CHECK(std::signbit(want("ceil", -0.5)));
  CHECK(want("round-nearest-afz", 2.5) == 3);
  CHECK(want("round-nearest-even", 2.5) == 2);
  CHECK(want("acos", 0.5) == 1.0471976f);
  CHECK(std::isnan(want("log", -1)));
  // 2/3 and the smallest subnormal numbers, where double has few bits.
  CHECK(oracle.WantDouble(*FindFunction1("exp"), 1) == 0x4005bf0a8b145769);  // e = 2.718281828459045
  CHECK(oracle.WantDouble(*FindFunction1("exp"), -745) == 1);
  CHECK(oracle.WantDouble(*FindFunction1("exp"), -745.2) == 0);
  CHECK(oracle.WantDouble(*FindFunction1("logistic"), -745) == 1);
  CHECK(oracle.WantDouble(*FindFunction1("logistic"), 40) == 0x3ff0000000000000);
  CHECK(oracle.WantDouble(*FindFunction1("sin"), 0x1p-1074) == 1);
}

Subject Reference(Opcode opcode, ElementType type, int operands) {
  const ElementType types[] = {type, type};
  return SubjectStrip("reference", opcode, std::span(types, static_cast<size_t>(operands)), type);
}

// `right` with one answer changed: the lowest bit, wherever the first operand is `pattern`.
Subject Spoiled(Subject right, ElementType type, uint64_t pattern) {
  return [=](int64_t n, const std::byte* const* in, std::byte* out) {
    right(n, in, out);
    for (int64_t i = 0; i < n; ++i) {
      if (PatternAt(in[0], i, type) == pattern) SetPattern(out, i, type, PatternAt(out, i, type) ^ 1);
    }
  };
}

TEST_CASE("A proof over all values finds the one wrong answer and nothing else") {
  const ElementType f8 = ElementType::kF8E4M3;
  const Subject exp = Reference(Opcode::kExp, f8, 1);
  CHECK(ProveAllValues(*FindFunction1("exp"), FormatOf(f8), exp).wrong == 0);
  const Proof proof = ProveAllValues(*FindFunction1("exp"), FormatOf(f8), Spoiled(exp, f8, 0x38));
  CHECK(proof.tried == 256);
  CHECK(proof.wrong == 1);
  REQUIRE(proof.examples.size() == 1);
  CHECK(proof.examples[0] == "f8e4m3 0x38: got 0x42, wanted 0x43");  // e is nearest to 2.75

  const ElementType f4 = ElementType::kF4E2M1FN;
  const Function2& add = Functions2()[0];
  CHECK(ProveAllPairs(add, FormatOf(f4), Reference(Opcode::kAdd, f4, 2)).wrong == 0);
  CHECK(ProveAllPairs(add, FormatOf(f4), Reference(Opcode::kSubtract, f4, 2)).wrong > 100);
}

// erf_inv(0.5) = 0.476936276204469873, e^-0.5 I1(0.5) = 0.156420803188264, digamma(1) = -0.577215664901533,
// lgamma(0.5) = log(pi) / 2; the last decimals of a double from mpmath.
TEST_CASE("The oracles of custom calls know values that others computed") {
  Oracle oracle;
  const auto want = [&](std::string_view name, double x) {
    return std::bit_cast<double>(oracle.WantDouble(*FindFunction1(name), x));
  };
  CHECK(want("erf_inv", 0.5) == 0x1.e861fbb24c00ap-2);
  CHECK(want("erf_inv", 0x1.fffffffffffffp-1) == 0x1.7744f8f74e94ap+2);
  CHECK(want("erf_inv", -1) == -HUGE_VAL);
  CHECK(std::isnan(want("erf_inv", 1.5)));
  CHECK(want("bessel_i1e", 0.5) == 0x1.40598cd0be9efp-3);
  CHECK(want("bessel_i1e", -0x1p-1074) == 0);
  CHECK(want("bessel_i1e", 0x1.8p-1073) == 0x1p-1074);
  CHECK(want("digamma", 1) == -0x1.2788cfc6fb619p-1);
  CHECK(std::isnan(want("digamma", 0)));
  CHECK(want("lgamma", 0.5) == 0x1.250d048e7a1bdp-1);
}

TEST_CASE("The approximations of custom calls are within 2^-48") {
  for (const char* const name : {"atan", "bessel_i1e", "erf_inv", "erfc", "lgamma"}) {
    const Function1& f = *FindFunction1(name);
    Oracle oracle;
    for (const double x :
         {1e-30, 0.001, 0.3, 0.4999, 0.5001, 0.97, 1 - 0x1p-24, 1.7, 3.1, 11.0, 49.9, 50.1, 1e4, 1e30}) {
      for (const double argument : {x, -x}) {
        const double wanted = std::bit_cast<double>(oracle.WantDouble(f, argument));
        INFO(name << " of " << argument);
        if (!std::isfinite(wanted)) {
          const double near = f.approximate(argument);
          CHECK((near == wanted || (std::isnan(near) && std::isnan(wanted))));
        } else {
          CHECK(std::abs(f.approximate(argument) - wanted) <= 0x1p-48 * std::abs(wanted));
        }
      }
    }
  }
}

TEST_CASE("Custom calls are right for all values of narrow types") {
  for (const char* const name : {"atan", "bessel_i1e", "digamma", "erf_inv", "erfc", "lgamma"}) {
    for (const ElementType type :
         {ElementType::kF4E2M1FN, ElementType::kF8E4M3, ElementType::kF8E5M2, ElementType::kF8E8M0FNU}) {
      for (const char* const engine : {"reference", "exact", "exact-baseline"}) {
        const Function1& f = *FindFunction1(name);
        INFO(name << " by " << engine);
        CHECK(ProveAllValues(f, FormatOf(type), SubjectStrip(engine, f, type)).wrong == 0);
      }
    }
  }
}

TEST_CASE("Integer proofs and conversions find wrong answers") {
  const IntegerFunction* divide = nullptr;
  for (const IntegerFunction& f : IntegerFunctions()) {
    if (f.opcode == Opcode::kDivide) divide = &f;
  }
  REQUIRE(divide != nullptr);
  const ElementType s4 = ElementType::kS4;
  CHECK(ProveIntegers(*divide, s4, Reference(Opcode::kDivide, s4, 2)).wrong == 0);
  CHECK(ProveIntegers(*divide, s4, Spoiled(Reference(Opcode::kDivide, s4, 2), s4, 0x8)).wrong == 16);
  CHECK(divide->value(-8, -1, 4, true) == -8);
  CHECK(divide->value(7, 0, 4, true) == -1);

  CHECK(WantConversion(ElementType::kF16, ElementType::kS8, 0x7c00) == 0x7f);      // inf
  CHECK(WantConversion(ElementType::kF16, ElementType::kS8, 0xbf9a) == 0xff);      // -1.9
  CHECK(WantConversion(ElementType::kF16, ElementType::kU8, 0xbf9a) == 0);         // -1.9
  CHECK(WantConversion(ElementType::kF16, ElementType::kPred, 0x7e00) == 1);       // NaN
  CHECK(WantConversion(ElementType::kS16, ElementType::kS8, 300) == 44);           // wraps
  CHECK(WantConversion(ElementType::kS16, ElementType::kBF16, 0xffff) == 0xbf80);  // -1
  const ElementType from[] = {ElementType::kS8};
  const Subject wraps = SubjectStrip("reference", Opcode::kConvert, from, s4);
  CHECK(ProveConversion(ElementType::kS8, s4, wraps).wrong == 0);
  CHECK(ProveConversion(ElementType::kU8, s4, wraps).wrong == 0);
  CHECK(ProveConversion(ElementType::kF8E5M2, s4, wraps).wrong > 0);
}

TEST_CASE("A stride of f32 inputs is right by the interval check and by MPFR, and a wrong bit is found") {
  const Function1& log = *FindFunction1("log");
  const Subject subject = Reference(Opcode::kLog, ElementType::kF32, 1);
  // Strips 3, 3 + 4096, …: subnormal and normal numbers, and with enough strips negative ones and NaN.
  const Proof right = ProveUnit(log, subject, 3, 8);
  CHECK(right.tried == 8 * kStrip);
  CHECK(right.wrong == 0);
  const Proof wrong = ProveUnit(log, Spoiled(subject, ElementType::kF32, 3 * kStrip + 5), 3, 8);
  CHECK(wrong.wrong == 1);
  REQUIRE(wrong.examples.size() == 1);
  CHECK(wrong.examples[0].substr(0, 15) == "f32 0x00000305:");
  // Without an approximation every answer is MPFR's.
  Function1 slow = log;
  slow.approximate = nullptr;
  CHECK(ProveUnit(slow, subject, 3, 2).wrong == 0);
  // An approximation that is useless, but within what it promises, changes nothing.
  slow.approximate = [](double x) { return std::log(x) * (1 + 0x1p-49); };
  CHECK(ProveUnit(slow, subject, 3, 8).wrong == 0);
  CHECK(ProveUnit(slow, Spoiled(subject, ElementType::kF32, 3 * kStrip + 5), 3, 8).wrong == 1);
}

TEST_CASE("Rounding an f32 function twice is found where the double is a half way point") {
  // logistic(x) = 1/2 + x/4 - x^3/48 + …; for x = 3 * 2^-23 the double nearest it lies exactly between the
  // floats 1/2 + 2^-24 and 1/2 + 2^-23, and the value just below.
  const ElementType f32 = ElementType::kF32;
  const Function1& logistic = *FindFunction1("logistic");
  const uint32_t pattern = std::bit_cast<uint32_t>(3 * 0x1p-23f);
  const int64_t strip = pattern / kStrip;
  const Subject once = Reference(Opcode::kLogistic, f32, 1);
  const Subject twice = [=](int64_t n, const std::byte* const* in, std::byte* out) {
    once(n, in, out);
    for (int64_t i = 0; i < n; ++i) {
      if (PatternAt(in[0], i, f32) != pattern) continue;
      const double y = 0.5 + 0.5 * std::tanh(static_cast<double>(std::bit_cast<float>(pattern)) / 2);
      SetPattern(out, i, f32, std::bit_cast<uint32_t>(static_cast<float>(y)));
    }
  };
  const Proof proof = ProveUnit(logistic, twice, strip % kUnits, strip / kUnits + 1);
  CHECK(proof.wrong == 1);
  REQUIRE(proof.examples.size() == 1);
  CHECK(proof.examples[0] == "f32 0x34c00000: got 0x3f000002, wanted 0x3f000001");
}

TEST_CASE("Random proofs of f64 find a function that is one bit off now and then") {
  const ElementType f64 = ElementType::kF64;
  const Function1& sqrt = *FindFunction1("sqrt");
  CHECK(ProveRandom(sqrt, Reference(Opcode::kSqrt, f64, 1), 0, 20000).wrong == 0);
  const Proof proof =
      ProveRandom(sqrt, Spoiled(Reference(Opcode::kSqrt, f64, 1), f64, 0x3ff0000000000001), 0, 1);
  CHECK(proof.wrong >= 1);
  CHECK(ProveRandom(*FindFunction1("exp"), Reference(Opcode::kExp, f64, 1), 1, 1000).wrong == 0);
  const Function2& multiply = Functions2()[2];
  for (const ElementType type : {f64, ElementType::kF32}) {
    CHECK(ProveRandomPairs(multiply, type, Reference(Opcode::kMultiply, type, 2), 0, 2000).wrong == 0);
    CHECK(ProveRandomPairs(multiply, type, Reference(Opcode::kDivide, type, 2), 0, 2000).wrong > 1000);
  }
}

// How near f(x), as a multiple of half a unit in its last place as a double, is to an integer: log2 of the
// distance. About -2 for a random argument.
int Hardness(const Function1& f, double x) {
  mpfr_t argument, value, half_units;
  mpfr_init2(argument, 53);
  mpfr_inits2(300, value, half_units, nullptr);
  mpfr_set_d(argument, x, MPFR_RNDN);
  f.mpfr(value, argument, MPFR_RNDN);
  const mpfr_exp_t unit = std::max<mpfr_exp_t>(mpfr_get_exp(value) - 53, -1074);
  mpfr_mul_2si(half_units, value, 1 - unit, MPFR_RNDN);
  mpfr_round(value, half_units);
  mpfr_sub(value, value, half_units, MPFR_RNDN);
  const int hardness = mpfr_zero_p(value) ? -1000 : static_cast<int>(mpfr_get_exp(value));
  mpfr_clears(argument, value, half_units, nullptr);
  return hardness;
}

TEST_CASE("Published worst cases are as hard as they are said to be") {
  for (const WorstCases1& cases : WorstCases()) {
    for (const double x : cases.arguments) {
      const int hardness = Hardness(*FindFunction1(cases.function), x);
      INFO(cases.function << " " << x << " " << Hex(std::bit_cast<uint64_t>(x), 64));
      CHECK(hardness < -38);
      CHECK(hardness > -200);
    }
  }
}

TEST_CASE("The prover's sums are exact and rounded once") {
  const NumberFormat &f16 = FormatOf(ElementType::kF16), &f64 = FormatOf(ElementType::kF64);
  ExactTotal total;
  CHECK(total.Round(f64) == 0);
  total.Add(-0.0);
  CHECK(total.Round(f64) == uint64_t{1} << 63);  // every term is -0
  total.Add(0.0);
  CHECK(total.Round(f64) == 0);
  total.Clear();
  for (const double x : {1e308, 1e308, 1.0, -1e308, -1e308}) total.Add(x);
  CHECK(total.Round(f64) == std::bit_cast<uint64_t>(1.0));
  total.Clear();
  total.AddProduct(0x1p-1074, 0x1p-1074);  // half the smallest number, and a hair
  total.Add(0x1p-1074);
  total.AddProduct(-0x1p-1074, 0.5);
  CHECK(total.Round(f64) == 1);
  CHECK(total.Round(f16) == 0);
  total.AddProduct(-0x1p-1074, 0x1p-1074);
  CHECK(total.Round(f64) == 0);  // half way, to even
  total.Clear();
  total.Add(65504);
  total.Add(16);
  CHECK(total.Round(f16) == 0x7c00);
  total.Add(-0x1p-1074);
  CHECK(total.Round(f16) == 0x7bff);
  total.Add(-kInf);
  CHECK(total.Round(f16) == 0xfc00);
  total.AddProduct(kInf, 0);
  CHECK(total.Round(f16) == 0x7e00);
}

TEST_CASE("A sum that is wrong in one bit or only for one number of threads is found") {
  const absl::StatusOr<Runner> reference = RunnerOf("reference");
  REQUIRE(reference.ok());
  for (const char* name : {"reduce", "reduce-window", "dot", "batch dot", "convolution"}) {
    for (const ElementType type : {ElementType::kF16, ElementType::kC64}) {
      const SumOp op = {name, type, type};
      INFO(name << " " << Name(type));
      const Proof right = ProveSumOp(op, 1, *reference);
      CHECK(right.wrong == 0);
      CHECK(right.tried > 0);
      const Runner spoiled = [&](const std::string& program, const std::vector<Literal>& arguments,
                                 int jobs) {
        absl::StatusOr<Literal> result = (*reference)(program, arguments, jobs);
        if (result.ok() && jobs == 7) result->MutableBytes()[0] ^= std::byte{1};
        return result;
      };
      const Proof wrong = ProveSumOp(op, 1, spoiled);
      CHECK(wrong.wrong == 1);
    }
  }
  CHECK(!RunnerOf("fast").ok());
}

TEST_CASE("A recorded proof replaces the row of the same function, type and engine") {
  const std::string text = "# T\n<!-- proofs: begin -->\n<!-- proofs: end -->\nend\n";
  Proof proof{.function = "exp", .type = "f32", .inputs = "all", .tried = 4294967296, .seconds = 12.3};
  const absl::StatusOr<std::string> once = WithRows(text, {proof}, "exact", "2001-02-03");
  REQUIRE(once.ok());
  CHECK(once->find("| exp | f32 | exact | all | 4,294,967,296 | 0 | 12 | 2001-02-03 |\n") !=
        std::string::npos);
  proof.wrong = 7;
  const absl::StatusOr<std::string> twice = WithRows(*once, {proof}, "exact", "2001-02-04");
  REQUIRE(twice.ok());
  CHECK(twice->find("2001-02-03") == std::string::npos);
  CHECK(twice->find("| exp | f32 | exact | all | 4,294,967,296 | 7 | 12 | 2001-02-04 |\n") !=
        std::string::npos);
  const absl::StatusOr<std::string> other = WithRows(*twice, {proof}, "reference", "2001-02-05");
  REQUIRE(other.ok());
  CHECK(other->find("2001-02-04") != std::string::npos);
  CHECK(other->substr(other->size() - 4) == "end\n");
  CHECK(!WithRows("no table", {proof}, "exact", "").ok());
}

}  // namespace
}  // namespace assay::prove
