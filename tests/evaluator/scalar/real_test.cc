// Real functions against MPFR called by the test at 320 bits with both directed roundings, which must round
// alike (rounding_oracle.h), and against numbers printed in the specification.
#include "evaluator/scalar/real.h"

#include <mpfr.h>

#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "catch2/catch.hpp"
#include "tests/evaluator/scalar/rounding_oracle.h"

namespace assay {
namespace {

using testing::AllValues;
using testing::Bits;
using testing::F32;
using testing::F64;
using testing::Format;
using testing::kInf;
using testing::kMax;
using testing::kNaN;
using testing::kTiny;
using testing::RoundingOracle;

using Mpfr1 = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);

// logistic(x) = (1 + tanh(x/2)) / 2, or e^x / (1 + e^x) where that cancels; good to 2^-300 relatively.
int LogisticByTanh(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t rounding) {
  mpfr_t t;
  mpfr_init2(t, 400);
  if (mpfr_sgn(x) >= 0) {
    mpfr_div_ui(t, x, 2, MPFR_RNDN);
    mpfr_tanh(t, t, MPFR_RNDN);
    mpfr_add_ui(t, t, 1, MPFR_RNDN);
    mpfr_div_ui(result, t, 2, rounding);
  } else {
    mpfr_exp(t, x, MPFR_RNDN);
    mpfr_t u;
    mpfr_init2(u, 400);
    mpfr_add_ui(u, t, 1, MPFR_RNDN);
    mpfr_div(result, t, u, rounding);
    mpfr_clear(u);
  }
  mpfr_clear(t);
  return 0;
}

// 1/sqrt(x), with IEEE's 1/(-0).
int ReciprocalRoot(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t rounding) {
  if (mpfr_zero_p(x)) {
    mpfr_set_inf(result, mpfr_signbit(x) ? -1 : 1);
    return 0;
  }
  return mpfr_rec_sqrt(result, x, rounding);
}

struct Function {
  const char* name;
  RealFn1 ours;
  Mpfr1 oracle;
};
const Function kRealFunctions[] = {
    {"acos", RealAcos, mpfr_acos},        {"acosh", RealAcosh, mpfr_acosh},
    {"asin", RealAsin, mpfr_asin},        {"asinh", RealAsinh, mpfr_asinh},
    {"atanh", RealAtanh, mpfr_atanh},     {"cbrt", RealCbrt, mpfr_cbrt},
    {"cos", RealCos, mpfr_cos},           {"cosh", RealCosh, mpfr_cosh},
    {"erf", RealErf, mpfr_erf},           {"exp", RealExp, mpfr_exp},
    {"expm1", RealExpm1, mpfr_expm1},     {"log", RealLog, mpfr_log},
    {"log1p", RealLog1p, mpfr_log1p},     {"sin", RealSin, mpfr_sin},
    {"sinh", RealSinh, mpfr_sinh},        {"sqrt", RealSqrt, mpfr_sqrt},
    {"tan", RealTan, mpfr_tan},           {"tanh", RealTanh, mpfr_tanh},
    {"rsqrt", RealRsqrt, ReciprocalRoot}, {"logistic", RealLogistic, LogisticByTanh},
};

struct Wide {
  Wide() { mpfr_init2(value, 320); }
  ~Wide() { mpfr_clear(value); }
  Wide(const Wide&) = delete;
  Wide& operator=(const Wide&) = delete;
  mpfr_t value;
};

// False where the two bounds round differently: only for results below every threshold of the format.
void Check(const Function& function, double x, const RoundingOracle& oracle, const FloatFormat& format) {
  Wide argument, down, up;
  mpfr_set_d(argument.value, x, MPFR_RNDN);
  function.oracle(down.value, argument.value, MPFR_RNDD);
  function.oracle(up.value, argument.value, MPFR_RNDU);
  const double want = oracle.Round(down.value);
  const double got = function.ours(x, format);
  if (Bits(want) != Bits(oracle.Round(up.value)) || Bits(got) != Bits(want)) {
    CAPTURE(function.name, x, format.bits, format.mantissa_bits, got, want, oracle.Round(up.value));
    CHECK(Bits(want) == Bits(oracle.Round(up.value)));
    CHECK(Bits(got) == Bits(want));
  }
}

std::vector<ElementType> SmallTypes() {
  std::vector<ElementType> types;
  for (int t = 0; t < kNumElementTypes; ++t) {
    const auto type = static_cast<ElementType>(t);
    if (IsFloat(type) && assay::Bits(type) <= 8) types.push_back(type);
  }
  return types;
}

}  // namespace

TEST_CASE("real functions: every value of every type of 8 bits and less", "[real]") {
  for (const ElementType type : SmallTypes()) {
    const FloatFormat& format = Format(type);
    const RoundingOracle oracle(type);
    for (const double x : AllValues(type)) {
      if (std::isnan(x) && !format.has_nan()) continue;
      for (const Function& function : kRealFunctions) Check(function, x, oracle, format);
    }
  }
}

TEST_CASE("real functions: every bf16 and f16 value of some functions", "[real]") {
  const auto sweep = [](ElementType type, int function) {
    const RoundingOracle oracle(type);
    for (const double x : AllValues(type)) Check(kRealFunctions[function], x, oracle, Format(type));
  };
  sweep(ElementType::kBF16, 9);   // exp
  sweep(ElementType::kF16, 17);   // tanh
  sweep(ElementType::kF16, 5);    // cbrt
  sweep(ElementType::kBF16, 18);  // rsqrt
}

TEST_CASE("real functions: f32, f64 and 16 bits on random and extreme values", "[real]") {
  std::mt19937_64 random(7);
  const ElementType types[] = {ElementType::kF64, ElementType::kF32, ElementType::kF16, ElementType::kBF16};
  for (const ElementType type : types) {
    const FloatFormat& format = Format(type);
    const RoundingOracle oracle(type);
    std::vector<double> values = {0.0,
                                  -0.0,
                                  kInf,
                                  -kInf,
                                  kNaN,
                                  -kNaN,
                                  1.0,
                                  -1.0,
                                  0.5,
                                  2.0,
                                  -2.0,
                                  0.25,
                                  27.0,
                                  -8.0,
                                  710.0,
                                  -745.2,
                                  88.75,
                                  -104.0,
                                  1e308,
                                  format.max_finite,
                                  0x1p-1022,
                                  format.min_subnormal,
                                  -format.min_subnormal,
                                  1 + 0x1p-52,
                                  1 - 0x1p-53,
                                  -1 + 0x1p-53,
                                  36.75,
                                  -36.75,
                                  0x1.921fb54442d18p+0,
                                  5.9,
                                  6.0,
                                  19.1};
    for (int i = 0; i < 60; ++i) {
      values.push_back(DecodeFloat(random() >> (64 - format.bits), format));
      values.push_back(std::uniform_real_distribution<double>(-30, 30)(random));
      values.push_back(std::uniform_real_distribution<double>(-1, 1)(random));
    }
    for (double x : values) {
      x = RoundToFormat(x, format);
      for (const Function& function : kRealFunctions) Check(function, x, oracle, format);
    }
  }
}

TEST_CASE("real functions: arguments whose results lie very near a rounding boundary", "[real]") {
  const RoundingOracle f64(ElementType::kF64), f32(ElementType::kF32);
  const auto check = [&](const char* name, double x) {
    for (const Function& function : kRealFunctions) {
      if (std::string(function.name) != name) continue;
      Check(function, x, f64, F64());
      Check(function, static_cast<float>(x), f32, F32());
    }
  };
  // Published worst cases of double and single precision, and arguments that reduce badly.
  check("log", 0x1.62a88613629b6p+678);
  check("log", 0x1.0000000000001p+0);
  check("sin", 0x1.6ac5b262ca1ffp+849);
  check("cos", 0x1.6ac5b262ca1ffp+849);
  check("tan", 0x1.6ac5b262ca1ffp+849);
  check("sin", 0x1.fffffffffffffp+1023);
  check("exp", 0x1.9e9cbbfd6080bp-31);
  check("exp", -0x1.ed318efb627eap-27);
  check("exp", 0x1.62e42fefa39efp+9);
  check("exp", 0x1.62e42fefa39fp+9);
  check("exp", -0x1.74910d52d3051p+9);
  check("exp", -0x1.74910d52d3052p+9);
  check("expm1", 0x1p-60);
  check("log1p", -0x1p-60);
  check("erf", 0x1.7afb48dc96626p+2);
  check("erf", 1e-8);
  check("logistic", -745.0);
  check("logistic", 36.7368005696771);
  check("tanh", 0x1.30fc1931f09cap+4);
  check("acosh", 0x1.0000000000001p+0);
  check("atanh", 0x1.fffffffffffffp-1);
  check("cosh", 0x1.633ce8fb9f87dp+9);
  check("sinh", 0x1.633ce8fb9f87ep+9);
}

TEST_CASE("real functions: the numbers in the specification", "[real]") {
  const struct {
    RealFn1 function;
    float at_half, at_minus_zero, at_zero, at_minus_infinity, at_infinity;
  } rows[] = {
      {RealExp, 1.6487212f, 1, 1, 0, INFINITY},
      {RealExpm1, 0.6487213f, -0.f, 0, -1, INFINITY},
      {RealLog, -0.6931472f, -INFINITY, -INFINITY, NAN, INFINITY},
      {RealLog1p, 0.4054651f, -0.f, 0, NAN, INFINITY},
      {RealLogistic, 0.62245935f, 0.5, 0.5, 0, 1},
      {RealSin, 0.47942555f, -0.f, 0, NAN, NAN},
      {RealCos, 0.87758255f, 1, 1, NAN, NAN},
      {RealTan, 0.5463025f, -0.f, 0, NAN, NAN},
      {RealTanh, 0.46211717f, -0.f, 0, -1, 1},
      {RealSinh, 0.5210953f, -0.f, 0, -INFINITY, INFINITY},
      {RealCosh, 1.127626f, 1, 1, INFINITY, INFINITY},
      {RealAsin, 0.5235988f, -0.f, 0, NAN, NAN},
      {RealAcos, 1.0471976f, 1.5707964f, 1.5707964f, NAN, NAN},
      {RealAsinh, 0.4812118f, -0.f, 0, -INFINITY, INFINITY},
      {RealAcosh, NAN, NAN, NAN, NAN, INFINITY},
      {RealAtanh, 0.54930615f, -0.f, 0, NAN, NAN},
      {RealErf, 0.5204999f, -0.f, 0, -1, 1},
      {RealCbrt, 0.7937005f, -0.f, 0, -INFINITY, INFINITY},
      {RealSqrt, 0.70710677f, -0.f, 0, NAN, INFINITY},
      {RealRsqrt, 1.4142135f, -INFINITY, INFINITY, NAN, 0},
  };
  for (const auto& row : rows) {
    CAPTURE(&row - rows);
    CHECK(Bits(row.function(0.5, F32())) == Bits(row.at_half));
    CHECK(Bits(row.function(-0.0, F32())) == Bits(row.at_minus_zero));
    CHECK(Bits(row.function(0.0, F32())) == Bits(row.at_zero));
    CHECK(Bits(row.function(-kInf, F32())) == Bits(row.at_minus_infinity));
    CHECK(Bits(row.function(kInf, F32())) == Bits(row.at_infinity));
    CHECK(Bits(row.function(-kNaN, F32())) == Bits(CanonicalNaN(F32())));
  }
  CHECK(RealLog1p(-1, F32()) == -kInf);
  CHECK(RealAtanh(-1, F32()) == -kInf);
  CHECK(RealAtanh(1, F64()) == kInf);
  CHECK(Bits(RealAcos(1, F32())) == Bits(0.0));
  CHECK(Bits(RealAcosh(1, F32())) == Bits(0.0));
  CHECK(RealCbrt(27, F32()) == 3);
  CHECK(RealCbrt(-8, F32()) == -2);
  CHECK(RealCbrt(2, F32()) == 1.2599211f);
  CHECK(RealLogistic(-100, F32()) == 3.8e-44f);
  CHECK(RealErf(1e-8f, F32()) == 1.1283792e-8f);
  CHECK(RealExpm1(1e-8f, F32()) == 1e-8f);
}

TEST_CASE("power: C99's special values and the specification's", "[real]") {
  const auto check = [](double x, double y, double want) {
    CAPTURE(x, y);
    CHECK(Bits(RealPower(x, y, F64())) == Bits(want));
  };
  CHECK(RealPower(2, 0.5, F32()) == 1.4142135f);
  for (const double x : {0.0, -0.0, kNaN, kInf, -kInf, -3.0}) {
    check(x, 0.0, 1);
    check(x, -0.0, 1);
  }
  for (const double y : {0.5, kNaN, kInf, -kInf, -3.0}) check(1, y, 1);
  check(-1, kInf, 1);
  check(-1, -kInf, 1);
  check(-8, 1.0 / 3, CanonicalNaN(F64()));
  check(-0.0, -1, -kInf);
  check(0.0, -1, kInf);
  check(-0.0, -2, kInf);
  check(-0.0, -0.5, kInf);
  check(-0.0, 3, -0.0);
  check(-0.0, 2, 0.0);
  check(-kInf, 3, -kInf);
  check(-kInf, 2, kInf);
  check(-kInf, -3, -0.0);
  check(-kInf, -2, 0.0);
  check(0.5, -kInf, kInf);
  check(0.5, kInf, 0.0);
  check(2, -kInf, 0.0);
  check(-2, kInf, kInf);
  check(2, -1074, kTiny);
  check(2, -1075, 0.0);
  check(2, -1074.5, kTiny);
  check(-2, -1075, -0.0);
  check(-2, 1025, -kInf);
  check(3, 33, 5559060566555523);
  check(0x1.0000002p+0, 2, 0x1.00000040000004p+0);  // (1 + 2^-27)^2 is a midpoint: to even below
  check(-kNaN, 2, CanonicalNaN(F64()));
  // A midpoint of bf16, and a double of it that any second rounding would spoil.
  CHECK(RealPower(0x1.1p+0, 2, Format(ElementType::kBF16)) == 0x1.2p+0);
}

TEST_CASE("atan2: C99's special values and the specification's", "[real]") {
  const float pi = 3.1415927f;
  const float rows[][3] = {{0, -1, pi},
                           {-0.f, -1, -pi},
                           {0, 0, 0},
                           {-0.f, 0, -0.f},
                           {1, 0, 1.5707964f},
                           {1, -1, 2.3561945f},
                           {0, -0.f, pi},
                           {-0.f, -0.f, -pi},
                           {INFINITY, -INFINITY, 2.3561945f},
                           {1, INFINITY, 0},
                           {-INFINITY, -INFINITY, -2.3561945f},
                           {-1, -INFINITY, -pi},
                           {NAN, 1, NAN},
                           {INFINITY, 5, 1.5707964f},
                           {-0.f, 1, -0.f}};
  for (const auto& row : rows) {
    CAPTURE(row[0], row[1]);
    CHECK(Bits(RealAtan2(row[0], row[1], F32())) == Bits(row[2]));
  }
  CHECK(RealAtan2(kTiny, kMax, F64()) == 0);
  CHECK(RealAtan2(-kTiny, 1, F64()) == -kTiny);
  CHECK(RealAtan2(3 * kTiny, 2, F64()) == kTiny);  // just below 1.5 units: tan's cubic term decides
}

namespace {

using Mpfr2 = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);
struct Function2 {
  const char* name;
  RealFn2 ours;
  Mpfr2 oracle;
};
const Function2 kFunctions2[] = {
    {"add", RealAdd, mpfr_add},           {"subtract", RealSubtract, mpfr_sub},
    {"multiply", RealMultiply, mpfr_mul}, {"divide", RealDivide, mpfr_div},
    {"power", RealPower, mpfr_pow},       {"atan2", RealAtan2, mpfr_atan2},
};

void Check(const Function2& function, double x, double y, const RoundingOracle& oracle,
           const FloatFormat& format) {
  Wide a, b, down, up;
  mpfr_set_d(a.value, x, MPFR_RNDN);
  mpfr_set_d(b.value, y, MPFR_RNDN);
  function.oracle(down.value, a.value, b.value, MPFR_RNDD);
  function.oracle(up.value, a.value, b.value, MPFR_RNDU);
  // An exact zero sum is -0 when rounded down only; underflow of 320 bits ends at a zero on one side only.
  if (mpfr_zero_p(down.value) && !mpfr_zero_p(up.value)) mpfr_nextabove(down.value);
  if (mpfr_zero_p(up.value) && !mpfr_zero_p(down.value)) mpfr_nextbelow(up.value);
  const double want = oracle.Round(up.value);
  const double got = function.ours(x, y, format);
  if (Bits(got) != Bits(want) || want != oracle.Round(down.value)) {
    if (std::isnan(want) && Bits(got) == Bits(want)) return;
    CAPTURE(function.name, x, y, format.bits, format.mantissa_bits);
    CHECK(Bits(got) == Bits(want));
    CHECK(want == oracle.Round(down.value));
  }
}

}  // namespace

TEST_CASE("real functions of two arguments: pairs of small types", "[real]") {
  for (const ElementType type : SmallTypes()) {
    const FloatFormat& format = Format(type);
    const RoundingOracle oracle(type);
    const std::vector<double> values = AllValues(type);
    const size_t step = format.bits == 8 ? 9 : 1;
    for (size_t i = format.has_nan() ? 0 : 1; i < values.size(); i += step) {
      for (size_t j = i % 3 == 0 && format.has_nan() ? 0 : 1; j < values.size(); j += step) {
        for (const Function2& function : kFunctions2) Check(function, values[i], values[j], oracle, format);
      }
    }
  }
}

TEST_CASE("real functions of two arguments: random and extreme f16, bf16, f32 and f64", "[real]") {
  std::mt19937_64 random(11);
  for (const ElementType type :
       {ElementType::kF64, ElementType::kF32, ElementType::kF16, ElementType::kBF16}) {
    const FloatFormat& format = Format(type);
    const RoundingOracle oracle(type);
    std::vector<double> values = {0.0,
                                  -0.0,
                                  kInf,
                                  -kInf,
                                  kNaN,
                                  1,
                                  -1,
                                  3,
                                  -0.5,
                                  format.max_finite,
                                  -format.max_finite,
                                  format.min_subnormal,
                                  3 * format.min_subnormal,
                                  std::ldexp(1.0, format.min_exponent)};
    for (int i = 0; i < 12; ++i) {
      values.push_back(DecodeFloat(random() >> (64 - format.bits), format));
      values.push_back(RoundToFormat(std::uniform_real_distribution<double>(-9, 9)(random), format));
    }
    for (const double x : values) {
      for (const double y : values) {
        // MPFR's exact oracle needs room for both operands' bits: sums of f64 far apart are left to 320 bits.
        for (const Function2& function : kFunctions2) Check(function, x, y, oracle, format);
      }
    }
  }
}

TEST_CASE("real functions: threads don't disturb each other", "[real]") {
  std::vector<double> results(4);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < results.size(); ++i) {
    threads.emplace_back([&results, i] {
      for (int k = 0; k < 50; ++k)
        results[i] = RealErf(0.5, F64()) + RealExp(0.5, F32()) + RealLog(0.5, F64());
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const double result : results) {
    CHECK(result == RealErf(0.5, F64()) + RealExp(0.5, F32()) + RealLog(0.5, F64()));
  }
}

}  // namespace assay
