// The native scalar functions: their strips against the reference (evaluator/scalar/real.h) in every float
// type and for every instruction set of the machine; their approximations against MPFR at 320 bits, which
// must keep half of the bounds that the rounding test uses.
//
// ASSAY_NATIVE_TEST_VALUES=N in the environment tries N random values a function and type (default 1,500).
#include "engines/native/functions/functions.h"

#include <mpfr.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "engines/native/elementwise/elementwise.h"
#include "engines/native/functions/rounding_check.h"
#include "engines/native/sums/tiers.h"
#include "hlo/module.h"
#include "literal/element_io.h"
#include "tests/evaluator/scalar/rounding_oracle.h"

namespace assay::native {
namespace {

using testing::AllValues;
using testing::Bits;
using testing::Format;

constexpr double kInf = std::numeric_limits<double>::infinity();

int64_t RandomValues() {
  const char* text = std::getenv("ASSAY_NATIVE_TEST_VALUES");
  return text != nullptr ? std::atoll(text) : 1500;
}

std::vector<Isa> MachineIsas() {
  std::vector<Isa> isas;
  for (int i = 0; i <= static_cast<int>(MachineIsa()); ++i) isas.push_back(static_cast<Isa>(i));
  return isas;
}

bool IsBinary(const FunctionRow& row) { return row.reference2 != nullptr; }

// Runs the strip function that the engine would take, with strips of many lengths.
std::vector<double> RunStrips(const FunctionRow& row, ElementType type, Isa isa, const std::vector<double>& x,
                              const std::vector<double>& y) {
  Instruction instruction;
  instruction.opcode = row.opcode;
  const std::vector<ElementType> types(IsBinary(row) ? 2 : 1, type);
  const StripKernel kernel = NativeStrip(instruction, types, type, isa);
  REQUIRE(kernel.fn != nullptr);
  std::vector<double> out(x);
  int64_t length = 1;
  for (size_t i = 0; i < x.size(); i += static_cast<size_t>(length)) {
    length = std::min<int64_t>(1 + (length * 7) % kStrip, static_cast<int64_t>(x.size() - i));
    const void* in[] = {&out[i], y.empty() ? nullptr : &y[i]};  // in place
    kernel.fn(kernel.params, length, in, &out[i]);
  }
  return out;
}

void Compare(const FunctionRow& row, ElementType type, const std::vector<double>& x,
             const std::vector<double>& y) {
  const FloatFormat& format = Format(type);
  std::vector<double> want(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    want[i] = IsBinary(row) ? row.reference2(x[i], y[i], format) : row.reference1(x[i], format);
  }
  for (const Isa isa : MachineIsas()) {
    const std::vector<double> got = RunStrips(row, type, isa, x, y);
    size_t wrong = x.size();
    for (size_t i = 0; i < x.size() && wrong == x.size(); ++i) {
      if (Bits(got[i]) != Bits(want[i])) wrong = i;
    }
    if (wrong == x.size()) continue;
    const double second = y.empty() ? 0 : y[wrong];
    CAPTURE(Name(row.opcode), Name(type), static_cast<int>(isa), x[wrong], second, got[wrong], want[wrong]);
    CHECK(Bits(got[wrong]) == Bits(want[wrong]));
  }
}

// Zeros, limits, what is next to numbers at which formulas change or functions come near exact values.
std::vector<double> SpecialValues(const FloatFormat& format) {
  std::vector<double> values = {0,
                                kInf,
                                std::numeric_limits<double>::quiet_NaN(),
                                format.max_finite,
                                format.min_subnormal,
                                std::ldexp(1.0, format.min_exponent)};
  std::vector<double> centers = {1,   0.5, 2,   3,      6,     40,    50,   88.7, 100,
                                 104, 700, 709, 709.78, 710.4, 745.2, 1e10, 1e22};
  const double half_pi = std::acos(0.0);
  for (const double k : {0.5, 1.0, 2.0, 3.0, 11.0, 710.0, 1e6}) centers.push_back(k * half_pi);
  for (const double k : {1.0, 64.0, 500.0}) centers.push_back(k * std::log(2.0) / 128);
  for (int e = -1070; e <= 1020; e += 10) centers.push_back(std::ldexp(1.0, e));
  for (int e = -30; e <= 8; ++e) centers.push_back(std::ldexp(1.0, e));
  for (const double center : centers) {
    const double value = RoundToFormat(center, format);
    values.push_back(value);
    if (!std::isfinite(value)) continue;
    values.push_back(NextBelow(value, format));
    values.push_back(-NextBelow(-value, format));
  }
  const size_t count = values.size();
  for (size_t i = 0; i < count; ++i) values.push_back(RoundToFormat(-values[i], format));
  return values;
}

std::vector<double> SomeValues(ElementType type, uint64_t seed) {
  const FloatFormat& format = Format(type);
  std::vector<double> values = SpecialValues(format);
  std::mt19937_64 random(seed);
  const int64_t count = RandomValues();
  const auto uniform = [&] { return std::ldexp(static_cast<double>(static_cast<int64_t>(random())), -63); };
  for (int64_t i = 0; i < count; ++i) {
    double value = DecodeFloat(random(), format);  // any pattern
    if (i % 4 == 1) value = 8 * uniform();
    if (i % 4 == 2) value = std::ldexp(uniform(), static_cast<int>(random() % 40) - 30);
    if (i % 4 == 3) value = 1 + std::ldexp(uniform(), -static_cast<int>(random() % 30));
    values.push_back(RoundToFormat(value, format));
  }
  std::shuffle(values.begin(), values.end(), random);
  return values;
}

}  // namespace

TEST_CASE("native functions: every value of types of 8 bits and less", "[native][functions]") {
  for (int t = static_cast<int>(ElementType::kF16); t <= static_cast<int>(ElementType::kF4E2M1FN); ++t) {
    const auto type = static_cast<ElementType>(t);
    if (Format(type).bits > 8) continue;
    for (const FunctionRow& row : Functions()) {
      if (!IsBinary(row)) Compare(row, type, AllValues(type), {});
    }
  }
}

TEST_CASE("native functions: every pair of values of some 4- and 8-bit types", "[native][functions]") {
  for (const ElementType type : {ElementType::kF4E2M1FN, ElementType::kF8E8M0FNU, ElementType::kF8E4M3FN}) {
    std::vector<double> x, y;
    const std::vector<double> values = AllValues(type);
    for (size_t i = 0; i<values.size(); i += Format(type).bits> 4 ? 3 : 1) {
      for (const double second : values) {
        x.push_back(values[i]);
        y.push_back(second);
      }
    }
    for (const FunctionRow& row : Functions()) {
      if (IsBinary(row)) Compare(row, type, x, y);
    }
  }
}

TEST_CASE("native functions: values of the wider types", "[native][functions]") {
  for (const ElementType type :
       {ElementType::kBF16, ElementType::kF16, ElementType::kF32, ElementType::kF64}) {
    const std::vector<double> x = SomeValues(type, 1);
    std::vector<double> y = SomeValues(type, 2);
    // Small exponents of power give exact results and midpoints.
    for (size_t i = 0; i < y.size(); i += 5) y[i] = static_cast<double>(i % 9) / 2 - 1;
    for (const FunctionRow& row : Functions())
      Compare(row, type, x, IsBinary(row) ? y : std::vector<double>{});
  }
}

TEST_CASE("native functions: exact powers, midpoints and results next to them", "[native][functions]") {
  std::vector<double> x, y;
  for (int i = 4097; i < 5793; i += 32) {
    x.push_back(i);  // odd, with a square of 25 bits
    y.push_back(2);
    x.push_back(std::ldexp(static_cast<double>(i) * i, -24));
    y.push_back(0.5);
  }
  const FunctionRow& power = *FindFunction(Opcode::kPower);
  const int64_t before = FunctionTierCounts().reference;
  Compare(power, ElementType::kF32, x, y);
  CHECK(FunctionTierCounts().reference > before);
  // cos x = 1 - x^2 / 2 + ... and the like, next to midpoints
  std::vector<double> near;
  for (int e = -60; e <= -1; ++e) {
    for (const double factor : {1.0, 1.5, 1.75}) near.push_back(std::ldexp(factor, e));
  }
  for (const FunctionRow& row : Functions()) {
    if (IsBinary(row)) continue;
    Compare(row, ElementType::kF64, near, {});
    Compare(row, ElementType::kF32, near, {});
  }
}

namespace {

// f(x, y) at 320 bits, by MPFR.
void Exact(const FunctionRow& row, double x, double y, mpfr_ptr result) {
  using Fn = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
  static const std::pair<Opcode, Fn> kTable[] = {
      {Opcode::kExp, mpfr_exp},        {Opcode::kExpm1, mpfr_expm1}, {Opcode::kTanh, mpfr_tanh},
      {Opcode::kSinh, mpfr_sinh},      {Opcode::kCosh, mpfr_cosh},   {Opcode::kLog, mpfr_log},
      {Opcode::kLog1p, mpfr_log1p},    {Opcode::kAsinh, mpfr_asinh}, {Opcode::kAcosh, mpfr_acosh},
      {Opcode::kAtanh, mpfr_atanh},    {Opcode::kErf, mpfr_erf},     {Opcode::kCbrt, mpfr_cbrt},
      {Opcode::kRsqrt, mpfr_rec_sqrt}, {Opcode::kSin, mpfr_sin},     {Opcode::kCos, mpfr_cos},
      {Opcode::kTan, mpfr_tan},        {Opcode::kAsin, mpfr_asin},   {Opcode::kAcos, mpfr_acos},
  };
  mpfr_t a, b;
  mpfr_init2(a, 400);
  mpfr_init2(b, 400);
  mpfr_set_d(a, x, MPFR_RNDN);
  mpfr_set_d(b, y, MPFR_RNDN);
  if (row.opcode == Opcode::kAtan2) mpfr_atan2(result, a, b, MPFR_RNDN);
  if (row.opcode == Opcode::kPower) mpfr_pow(result, a, b, MPFR_RNDN);
  if (row.opcode == Opcode::kLogistic) {
    mpfr_neg(a, a, MPFR_RNDN);
    mpfr_exp(b, a, MPFR_RNDN);
    mpfr_add_ui(b, b, 1, MPFR_RNDN);
    mpfr_ui_div(result, 1, b, MPFR_RNDN);
  }
  for (const auto& [opcode, fn] : kTable) {
    if (opcode == row.opcode) fn(result, a, MPFR_RNDN);
  }
  mpfr_clear(a);
  mpfr_clear(b);
}

// log2 of the relative error of hi + lo.
double ErrorBits(double hi, double lo, mpfr_srcptr exact) {
  mpfr_t difference;
  mpfr_init2(difference, 320);
  mpfr_sub_d(difference, exact, hi, MPFR_RNDN);
  mpfr_sub_d(difference, difference, lo, MPFR_RNDN);
  mpfr_div(difference, difference, exact, MPFR_RNDN);
  const double error = std::fabs(mpfr_get_d(difference, MPFR_RNDN));
  mpfr_clear(difference);
  return error == 0 ? -1000 : std::log2(error);
}

// The worst error of a pass over values, as a power of two.
double WorstError(const FunctionRow& row, bool twofold, Isa isa, std::vector<double> x,
                  std::vector<double> y) {
  x.resize(x.size() / kBlock * kBlock);
  std::vector<double> hi(x.size()), lo(x.size(), 0.0);
  const Pass pass = (twofold ? row.passes->twofold : row.passes->single)[static_cast<size_t>(isa)];
  const double* in[] = {x.data(), y.data()};
  pass(static_cast<int64_t>(x.size()), in, hi.data(), lo.data());
  mpfr_t exact;
  mpfr_init2(exact, 320);
  double worst = -1000;
  for (size_t i = 0; i < x.size(); ++i) {
    const double magnitude = std::fabs(hi[i]);
    // What the rounding test does not use: unknown, or outside the range of the arithmetic.
    if (!(magnitude >= 0x1p-960 && magnitude <= 0x1p960)) continue;
    if (row.opcode == Opcode::kErf && std::fabs(x[i]) > 6)
      continue;  // between erf 6 and 1, which round alike
    Exact(row, x[i], y[i], exact);
    if (!mpfr_regular_p(exact)) continue;
    if (!twofold && std::fabs(mpfr_get_d(exact, MPFR_RNDN)) > 0x1p150) continue;  // clamped
    if (!twofold && std::fabs(mpfr_get_d(exact, MPFR_RNDN)) < 0x1p-160) continue;
    worst = std::max(worst, ErrorBits(hi[i], lo[i], exact));
  }
  mpfr_clear(exact);
  return worst;
}

}  // namespace

TEST_CASE("native functions: approximations keep half of their bounds", "[native][functions]") {
  const std::vector<double> x32 = SomeValues(ElementType::kF32, 3), y32 = SomeValues(ElementType::kF32, 4);
  const std::vector<double> x64 = SomeValues(ElementType::kF64, 5), y64 = SomeValues(ElementType::kF64, 6);
  for (const FunctionRow& row : Functions()) {
    for (const Isa isa : MachineIsas()) {
      const double single = WorstError(row, false, isa, x32, y32);
      const double twofold = WorstError(row, true, isa, x64, y64);
      CAPTURE(Name(row.opcode), static_cast<int>(isa), single, twofold);
      CHECK(single < std::log2(row.bounds.single) - 1);
      CHECK(twofold < std::log2(row.bounds.twofold) - 1);
      if (std::getenv("ASSAY_NATIVE_TEST_VALUES") != nullptr) {
        WARN(Name(row.opcode) << " isa " << static_cast<int>(isa) << ": " << single << ", " << twofold);
      }
    }
  }
}

TEST_CASE("native functions: tier counts, of threads that have ended too", "[native][functions]") {
  const FunctionRow& log = *FindFunction(Opcode::kLog);
  const std::vector<double> x = {1, 2, -1, 0, 3};
  const FunctionTiers before = FunctionTierCounts();
  RunStrips(log, ElementType::kF32, MachineIsa(), x, {});
  std::thread([&] { RunStrips(log, ElementType::kF32, MachineIsa(), x, {}); }).join();
  const FunctionTiers after = FunctionTierCounts();
  CHECK(after.elements - before.elements == 10);
  CHECK(after.second - before.second == 2);  // the pole; -1 is outside the domain
  CHECK(after.reference - before.reference == 2);
  CHECK(FindFunction(Opcode::kAdd) == nullptr);
}

}  // namespace assay::native
