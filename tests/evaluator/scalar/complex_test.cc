// Complex functions against a table computed with mpmath (quadrants, sizes, cuts, Annex G's special values;
// golden/oracles/transcendental.py), against exact rational arithmetic, and against symmetries.
#include "evaluator/scalar/complex.h"

#include <gmp.h>
#include <mpfr.h>

#include <catch2/catch.hpp>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "evaluator/scalar/real.h"
#include "tests/evaluator/scalar/rounding_oracle.h"

namespace assay {
namespace {

using testing::Bits;
using testing::F32;
using testing::F64;
using testing::Format;
using testing::kInf;
using testing::kMax;
using testing::kNaN;
using testing::kTiny;
using testing::RoundingOracle;

struct UnaryRow {
  const char* opcode;
  ElementType type;
  double x, y, re, im;
};
struct BinaryRow {
  const char* opcode;
  ElementType type;
  double x, y, u, v, re, im;
};
#include "tests/evaluator/scalar/complex_table.inc"

struct NamedFunction {
  const char* opcode;
  ComplexFn1 function;
};
const NamedFunction kComplexFunctions[] = {
    {"acos", ComplexAcos},
    {"acosh", ComplexAcosh},
    {"asin", ComplexAsin},
    {"asinh", ComplexAsinh},
    {"atanh", ComplexAtanh},
    {"cosine", ComplexCos},
    {"cosh", ComplexCosh},
    {"exponential", ComplexExp},
    {"exponential-minus-one", ComplexExpm1},
    {"log", ComplexLog},
    {"log-plus-one", ComplexLog1p},
    {"logistic", ComplexLogistic},
    {"rsqrt", ComplexRsqrt},
    {"sine", ComplexSin},
    {"sinh", ComplexSinh},
    {"sqrt", ComplexSqrt},
    {"tan", ComplexTan},
    {"tanh", ComplexTanh},
};

ComplexFn1 FunctionNamed(const std::string& opcode) {
  for (const NamedFunction& row : kComplexFunctions) {
    if (opcode == row.opcode) return row.function;
  }
  return nullptr;
}

void CheckParts(Complex got, double re, double im) {
  CAPTURE(got.real(), got.imag(), re, im);
  CHECK(Bits(got.real()) == Bits(re));
  CHECK(Bits(got.imag()) == Bits(im));
}

}  // namespace

TEST_CASE("complex functions: mpmath's numbers and Annex G's special values", "[complex]") {
  for (const UnaryRow& row : kUnaryRows) {
    const ComplexFn1 function = FunctionNamed(row.opcode);
    REQUIRE(function != nullptr);
    CAPTURE(row.opcode, row.type, row.x, row.y);
    CheckParts(function({row.x, row.y}, Format(row.type)), row.re, row.im);
  }
}

TEST_CASE("complex functions of two arguments: mpmath's numbers", "[complex]") {
  for (const BinaryRow& row : kBinaryRows) {
    CAPTURE(row.opcode, row.type, row.x, row.y, row.u, row.v);
    const ComplexFn2 function = std::string(row.opcode) == "power" ? ComplexPower : ComplexAtan2;
    CheckParts(function({row.x, row.y}, {row.u, row.v}, Format(row.type)), row.re, row.im);
  }
}

TEST_CASE("complex functions: conjugate arguments give conjugate results", "[complex]") {
  const double parts[] = {0.0, 0.25, 1, 2, 1e300, kTiny, kInf};
  for (const NamedFunction& row : kComplexFunctions) {
    for (const double x : parts) {
      for (const double y : parts) {
        for (const double sign : {1.0, -1.0}) {
          const Complex up = row.function({sign * x, y}, F64());
          const Complex down = row.function({sign * x, -y}, F64());
          CAPTURE(row.opcode, sign * x, y, up.imag(), down.imag());
          CHECK((up.real() == down.real() || (std::isnan(up.real()) && std::isnan(down.real()))));
          CHECK((up.imag() == -down.imag() || (std::isnan(up.imag()) && std::isnan(down.imag()))));
        }
      }
    }
  }
}

TEST_CASE("complex functions: the sign of a NaN operand does not show", "[complex]") {
  for (const NamedFunction& row : kComplexFunctions) {
    for (const double other : {0.0, -0.0, 1.0, -1.0, kInf, -kInf, kNaN}) {
      const Complex right = row.function({kNaN, other}, F64()), left = row.function({-kNaN, other}, F64());
      const Complex up = row.function({other, kNaN}, F64()), down = row.function({other, -kNaN}, F64());
      CAPTURE(row.opcode, other);
      CheckParts(left, right.real(), right.imag());
      CheckParts(down, up.real(), up.imag());
    }
  }
}

TEST_CASE("complex functions: on the real axis they are the real functions", "[complex]") {
  const struct {
    ComplexFn1 complex;
    RealFn1 real;
    double low, high;
  } rows[] = {{ComplexExp, RealExp, -800, 800},
              {ComplexExpm1, RealExpm1, -800, 800},
              {ComplexLog, RealLog, 0, 1e9},
              {ComplexLog1p, RealLog1p, -1, 1e9},
              {ComplexLogistic, RealLogistic, -800, 800},
              {ComplexSin, RealSin, -1e9, 1e9},
              {ComplexCos, RealCos, -1e9, 1e9},
              {ComplexTan, RealTan, -1e9, 1e9},
              {ComplexSinh, RealSinh, -800, 800},
              {ComplexCosh, RealCosh, -800, 800},
              {ComplexTanh, RealTanh, -30, 30},
              {ComplexAsin, RealAsin, -1, 1},
              {ComplexAcos, RealAcos, -1, 1},
              {ComplexAsinh, RealAsinh, -1e300, 1e300},
              {ComplexAcosh, RealAcosh, 1, 1e300},
              {ComplexAtanh, RealAtanh, -1, 1},
              {ComplexSqrt, RealSqrt, 0, 1e300},
              {ComplexRsqrt, RealRsqrt, 0, 1e300}};
  std::mt19937_64 random(3);
  for (const auto& row : rows) {
    for (int i = 0; i < 25; ++i) {
      const double t = std::uniform_real_distribution<double>(0, 1)(random);
      const double x = row.low + (i % 2 == 0 ? t : t * t * t) * (row.high - row.low);
      CAPTURE(&row - rows, x);
      const Complex got = row.complex({x, 0.0}, F64());
      CHECK(Bits(got.real()) == Bits(row.real(x, F64())));
      CHECK(got.imag() == 0);
    }
  }
}

TEST_CASE("complex square root: squares of short numbers give exact roots", "[complex]") {
  std::mt19937_64 random(5);
  for (int i = 0; i < 400; ++i) {
    const double u = static_cast<double>(random() % (1 << 26) + 1),
                 v = static_cast<double>(random() % (1 << 26));
    const double scale = std::ldexp(1.0, static_cast<int>(random() % 400) - 200);
    const Complex z((u - v) * (u + v) * scale * scale, 2 * u * v * scale * scale);
    CheckParts(ComplexSqrt(z, F64()), u * scale, v * scale);
  }
  CheckParts(ComplexSqrt({3, 4}, F32()), 2, 1);
  // 2 sqrt(z) ~ 2 + 3 units: just below the midpoint of two subnormals.
  CheckParts(ComplexSqrt({1, 3 * kTiny}, F64()), 1, kTiny);
  CheckParts(ComplexSqrt({kMax, kMax}, F64()), 0x1.19435caffa9f8p+512, 0x1.d203138f6c828p+510);
}

TEST_CASE("complex functions: results below and beyond the range", "[complex]") {
  CheckParts(ComplexExp({-1e308, 2}, F64()), -0.0, 0.0);
  CheckParts(ComplexExp({1e308, 2}, F64()), -kInf, kInf);
  CheckParts(ComplexExp({710, kTiny}, F64()), kInf, 0x1.3e21a464507f9p-50);
  CheckParts(ComplexSinh({1e9, -1}, F32()), kInf, -kInf);
  CheckParts(ComplexTan({1, 1e300}, F64()), 0.0, 1);
  CheckParts(ComplexTanh({-1e9, 2}, F64()), -1, -0.0);
  CheckParts(ComplexLogistic({-1e9, 2}, F64()), -0.0, 0.0);
  CheckParts(ComplexLogistic({1e300, -2}, F64()), 1, -0.0);
  CheckParts(ComplexAsin({kMax, kMax}, F64()), 0x1.921fb54442d18p-1, 0x1.636945819d7c5p+9);
  CheckParts(ComplexAcos({kMax, kTiny}, F64()), 0.0, -0x1.633ce8fb9f87ep+9);
  CheckParts(ComplexAtanh({kMax, kTiny}, F64()), 0x1p-1024, 0x1.921fb54442d18p+0);
  CheckParts(ComplexLog({1, 0x1p-600}, F64()), 0.0, 0x1p-600);
  CheckParts(ComplexLog({1, 0x1p-500}, F64()), 0x1p-1001, 0x1p-500);
  CheckParts(ComplexLog({kMax, kMax}, F64()), 0x1.63108c75a1936p+9, 0x1.921fb54442d18p-1);
  CheckParts(ComplexLog1p({-0x1p-1001, 0x1p-500}, F64()), 0.0, 0x1p-500);  // |1 + z|^2 = 1 + 2^-2002
  CheckParts(ComplexExpm1({0x1p-1001, 0x1p-500}, F64()), -0.0,
             0x1p-500);  // next terms: x^2/2 - x y^2/2 + y^4/24 < 0
}

TEST_CASE("complex abs: hypotenuse, infinite before NaN", "[complex]") {
  CHECK(ComplexAbs({3, 4}, F32()) == 5);
  CHECK(ComplexAbs({3e38f, 3e38f}, F32()) == kInf);
  CHECK(ComplexAbs({kNaN, -kInf}, F32()) == kInf);
  CHECK(Bits(ComplexAbs({kNaN, 1}, F32())) == Bits(CanonicalNaN(F32())));
  CHECK(Bits(ComplexAbs({-0.0, -0.0}, F64())) == Bits(0.0));
  CHECK(ComplexAbs({3 * kTiny, 4 * kTiny}, F64()) == 5 * kTiny);
  CHECK(ComplexAbs({0x1p600, 0x1p-600}, F64()) == 0x1p600);
}

TEST_CASE("complex sign: divided by the exact absolute value", "[complex]") {
  CheckParts(ComplexSign({3, 4}, F32()), 0.6f, 0.8f);
  CheckParts(ComplexSign({-0.0, -0.0}, F32()), 0.0, 0.0);
  CheckParts(ComplexSign({-5, 0.0}, F64()), -1, 0.0);
  CheckParts(ComplexSign({-0.0, 7}, F64()), -0.0, 1);
  CheckParts(ComplexSign({kInf, 2}, F64()), CanonicalNaN(F64()), 0.0);
  CheckParts(ComplexSign({-1, -kInf}, F64()), -0.0, CanonicalNaN(F64()));
  CheckParts(ComplexSign({kNaN, 2}, F32()), CanonicalNaN(F32()), CanonicalNaN(F32()));
  CheckParts(ComplexSign({kMax, kMax}, F64()), 0x1.6a09e667f3bcdp-1, 0x1.6a09e667f3bcdp-1);
  CheckParts(ComplexSign({3 * kTiny, 2}, F64()), kTiny, 1);  // 1.5 units less a hair
}

TEST_CASE("complex multiply: exact expressions, no recovery of infinities", "[complex]") {
  const double nan32 = CanonicalNaN(F32());
  CheckParts(ComplexMultiply({1, 2}, {3, 4}, F32()), -5, 10);
  // Cancellation to the last bit, and intermediate overflow.
  CheckParts(ComplexMultiply({1 + 0x1p-30, 1}, {1 - 0x1p-30, 1}, F64()), -0x1p-60, 2);
  CheckParts(ComplexMultiply({kMax, kMax}, {kMax, kMax}, F64()), 0.0, kInf);
  CheckParts(ComplexMultiply({kInf, kNaN}, {1, 1}, F32()), nan32, nan32);
  CheckParts(ComplexMultiply({kInf, 0.0}, {1, 1}, F32()), kInf, kInf);
  CheckParts(ComplexMultiply({kInf, kInf}, {1, 1}, F32()), nan32, kInf);
  CheckParts(ComplexMultiply({kInf, 1}, {0.0, 1}, F32()), nan32, kInf);
  CheckParts(ComplexMultiply({-0.0, 0.0}, {1, 1}, F32()), -0.0, 0.0);
  CheckParts(ComplexNegate({0.0, -kNaN}, F32()), -0.0, nan32);
}

namespace {

// (x p + y q) / (c^2 + d^2) to 700 bits; the terms are exact before that.
double Quotient(double x, double p, double y, double q, double c, double d, const RoundingOracle& oracle) {
  mpq_t sum, term, other;
  mpq_inits(sum, term, other, nullptr);
  const auto add = [&](double a, double b) {
    mpq_set_d(term, a);
    mpq_set_d(other, b);
    mpq_mul(term, term, other);
    mpq_add(sum, sum, term);
  };
  add(c, c);
  add(d, d);
  mpq_t norm;
  mpq_init(norm);
  mpq_set(norm, sum);
  mpq_set_si(sum, 0, 1);
  add(x, p);
  add(y, q);
  mpq_div(sum, sum, norm);
  mpfr_t value;
  mpfr_init2(value, 700);
  mpfr_set_q(value, sum, MPFR_RNDN);
  const double result = oracle.Round(value);
  mpfr_clear(value);
  mpq_clears(sum, term, other, norm, nullptr);
  return result;
}

}  // namespace

TEST_CASE("complex divide: rational quotients, rounded once", "[complex]") {
  std::mt19937_64 random(9);
  for (const ElementType type : {ElementType::kF32, ElementType::kF64}) {
    const RoundingOracle oracle(type);
    const auto draw = [&] {
      const int range = type == ElementType::kF32 ? 40 : 500;
      const int exponent = static_cast<int>(random() % (2 * range)) - range;
      const double x = std::ldexp(std::uniform_real_distribution<double>(-2, 2)(random), exponent);
      return random() % 4 == 0 ? static_cast<double>(random() % 9) - 4 : RoundToFormat(x, Format(type));
    };
    for (int i = 0; i < 300; ++i) {
      const double x = draw(), y = draw(), c = draw(), d = draw();
      if (c == 0 && d == 0) continue;
      const Complex got = ComplexDivide({x, y}, {c, d}, Format(type));
      CAPTURE(x, y, c, d);
      CHECK(got.real() == Quotient(x, c, y, d, c, d, oracle));
      CHECK(got.imag() == Quotient(y, c, -x, d, c, d, oracle));
    }
  }
  CheckParts(ComplexDivide({1, 2}, {3, -4}, F32()), -0.2f, 0.4f);
  CheckParts(ComplexDivide({kMax, kMax}, {kMax, kMax}, F64()), 1, 0.0);
  CheckParts(ComplexDivide({kTiny, kTiny}, {kTiny, -kTiny}, F64()), 0.0, 1);
}

TEST_CASE("complex divide: zero and infinite operands", "[complex]") {
  const double nan = CanonicalNaN(F64());
  const auto check = [](Complex a, Complex b, double re, double im) {
    CAPTURE(a.real(), a.imag(), b.real(), b.imag());
    CheckParts(ComplexDivide(a, b, F64()), re, im);
  };
  check({1, 0}, {0.0, 0.0}, kInf, nan);
  check({1, -2}, {-0.0, 0.0}, -kInf, kInf);
  check({0.0, 0.0}, {0.0, 0.0}, nan, nan);
  check({kInf, 1}, {1, 1}, kInf, -kInf);
  check({1, -kInf}, {1, 1}, -kInf, -kInf);
  check({kInf, kInf}, {1, 0.5}, kInf, nan);
  check({kInf, kNaN}, {2, 1}, kInf, -kInf);
  check({1, 1}, {kInf, 1}, 0.0, 0.0);
  check({1e308, 1e308}, {kInf, kInf}, 0.0, 0.0);
  check({-1, 1}, {kInf, kNaN}, -0.0, 0.0);
  check({kNaN, 1}, {1, 1}, nan, nan);
  check({1, 1}, {kNaN, 1}, nan, nan);
  check({kInf, 1}, {kInf, 1}, nan, nan);
}

TEST_CASE("complex power: exact powers, zeros and the specification's examples", "[complex]") {
  const double nan = CanonicalNaN(F64());
  const auto check = [](Complex z, Complex w, double re, double im) {
    CAPTURE(z.real(), z.imag(), w.real(), w.imag());
    const Complex got = ComplexPower(z, w, F64());
    CHECK((got.real() == re || Bits(got.real()) == Bits(re)));
    CHECK((got.imag() == im || Bits(got.imag()) == Bits(im)));
  };
  check({0, 1}, {0, 1}, 0x1.a9bcc46f767dfp-3, 0);
  CHECK(ComplexPower({0, 1}, {0, 1}, F32()).real() == 0.20787957f);
  check({0, 1}, {2, 0}, -1, 0);
  check({1, 1}, {2, 0}, 0, 2);
  check({1, 1}, {8, 0}, 16, 0);
  check({1, 2}, {3, 0}, -11, -2);
  check({3, 4}, {0.5, 0}, 2, 1);
  check({3, 4}, {-1, 0}, 0.12, -0.16);
  check({-4, 0}, {0.5, 0}, 0, 2);
  check({-8, 0.0}, {3, 0}, -512, 0);
  check({kNaN, 1}, {0.0, -0.0}, 1, 0);
  check({1, -0.0}, {kInf, kNaN}, 1, 0);
  check({0.0, 0.0}, {2, 5}, 0, 0);
  check({0.0, 0.0}, {0.0, 5}, nan, nan);
  check({0.0, 0.0}, {-2, 0.0}, nan, nan);
  check({kInf, 0.0}, {0.5, 0.0}, kInf, 0);
  check({kInf, 0.0}, {-0.5, 0.0}, 0, 0);
  check({kNaN, 0.0}, {1, 0.0}, nan, nan);
  check({2, 0}, {1e6, 0}, kInf, 0);
  check({2, 0}, {-1e6, 0}, 0, 0);
}

TEST_CASE("complex atan2: the real function on the real axis", "[complex]") {
  const double nan = CanonicalNaN(F64());
  CheckParts(ComplexAtan2({1, 0.0}, {-1, 0.0}, F64()), RealAtan2(1, -1, F64()), 0.0);
  CheckParts(ComplexAtan2({-0.0, 0.0}, {-1, 0.0}, F64()), RealAtan2(-0.0, -1, F64()), 0.0);
  CheckParts(ComplexAtan2({0.0, 0.0}, {0.0, 0.0}, F64()), nan, nan);
  CheckParts(ComplexAtan2({1, 2}, {kInf, 1}, F64()), nan, nan);
  CheckParts(ComplexAtan2({0.0, -1}, {1, 0.0}, F64()), nan, -kInf);
  CheckParts(ComplexAtan2({0.0, 1}, {1, 0.0}, F64()), nan, nan);
  CheckParts(ComplexAtan2({1, 1}, {2, -3}, F64()), -0x1.7057081d704e6p-4, 0x1.9c041f7ed8d33p-2);
}

}  // namespace assay
