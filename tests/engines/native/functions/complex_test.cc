// The native complex functions: their strips against the reference (evaluator/scalar/complex.h) for both
// complex types and every instruction set of the machine; their approximations against MPC at 1,000 bits,
// which must keep half of the bounds that the rounding test uses.
//
// ASSAY_NATIVE_TEST_VALUES=N in the environment tries N random values a function and type (default 400).
#include "engines/native/functions/complex.h"

#include <mpc.h>

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

#include "engines/native/elementwise/elementwise.h"
#include "engines/native/functions/rounding_check.h"
#include "engines/native/sums/tiers.h"
#include "hlo/module.h"
#include "literal/element_io.h"
#include "literal/float_format.h"
#include "tests/evaluator/scalar/rounding_oracle.h"

namespace assay::native {
namespace {

using testing::Bits;

bool SameBits(Complex a, Complex b) {
  return Bits(a.real()) == Bits(b.real()) && Bits(a.imag()) == Bits(b.imag());
}

std::vector<Complex> RunComplexStrips(const ComplexRow& row, ElementType type, Isa isa,
                                      const std::vector<Complex>& z, const std::vector<Complex>& w) {
  Instruction instruction;
  instruction.opcode = row.opcode;
  const std::vector<ElementType> types(row.reference2 != nullptr ? 2 : 1, type);
  const ElementType result = row.im != nullptr ? type : ComponentType(type);
  const StripKernel kernel = NativeStrip(instruction, types, result, isa);
  REQUIRE(kernel.fn != nullptr);
  std::vector<Complex> out(z);
  std::vector<double> real(kStrip);
  int64_t length = 1;
  for (size_t i = 0; i < z.size(); i += static_cast<size_t>(length)) {
    length = std::min<int64_t>(1 + (length * 7) % kStrip, static_cast<int64_t>(z.size() - i));
    const void* in[] = {&out[i], &w[i]};
    if (row.im != nullptr) {
      kernel.fn(kernel.params, length, in, &out[i]);  // in place
    } else {
      kernel.fn(kernel.params, length, in, real.data());
      std::copy_n(real.begin(), length, out.begin() + static_cast<ptrdiff_t>(i));
    }
  }
  return out;
}

Complex Reference(const ComplexRow& row, Complex z, Complex w, const FloatFormat& format) {
  if (row.reference_real != nullptr) return row.reference_real(z, format);
  return row.reference1 != nullptr ? row.reference1(z, format) : row.reference2(z, w, format);
}

void CompareComplex(const ComplexRow& row, ElementType type, const std::vector<Complex>& z,
                    const std::vector<Complex>& w) {
  std::vector<Complex> want(z.size());
  for (size_t i = 0; i < z.size(); ++i) want[i] = Reference(row, z[i], w[i], *Info(type).format);
  for (int isa = 0; isa <= static_cast<int>(MachineIsa()); ++isa) {
    const std::vector<Complex> got = RunComplexStrips(row, type, static_cast<Isa>(isa), z, w);
    size_t wrong = 0;
    while (wrong < z.size() && SameBits(got[wrong], want[wrong])) ++wrong;
    if (wrong == z.size()) continue;
    CAPTURE(Name(row.opcode), Name(type), isa, z[wrong], w[wrong], got[wrong], want[wrong]);
    CHECK(SameBits(got[wrong], want[wrong]));
  }
}

int64_t RandomComplexValues() {
  const char* text = std::getenv("ASSAY_NATIVE_TEST_VALUES");
  return text != nullptr ? std::atoll(text) : 400;
}

std::vector<Complex> SomeComplexValues(const FloatFormat& format, uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto uniform = [&] { return std::ldexp(static_cast<double>(static_cast<int64_t>(random())), -63); };
  const auto part = [&](int64_t kind) {
    if (kind == 0) return 4 * uniform();
    if (kind == 1) return std::ldexp(uniform(), static_cast<int>(random() % 80) - 60);
    if (kind == 2) return static_cast<double>(static_cast<int64_t>(random() % 17) - 8) / 2;  // exact results
    double value = DecodeFloat(random(), format);
    return std::fabs(value) > 0x1p300 || std::fabs(value) < 0x1p-300 ? std::ldexp(uniform(), 20) : value;
  };
  std::vector<Complex> values;
  for (int64_t i = 0; i < RandomComplexValues(); ++i) {
    double x = part(i % 4), y = part(random() % 8 == 0 ? 1 : i % 4);
    if (i % 16 == 5) {  // near the unit circle
      x = std::cos(4 * x);
      y = std::sin(4 * y);
    }
    values.emplace_back(RoundToFormat(x, format), RoundToFormat(y, format));
  }
  const double specials[] = {0.0,
                             1.0,
                             0.5,
                             format.max_finite,
                             format.min_subnormal,
                             RoundToFormat(705, format),
                             RoundToFormat(0x1p-410, format),
                             RoundToFormat(0x1.749cef6790544p-186, format),
                             8 * format.min_subnormal,
                             9 * format.min_subnormal,
                             std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN()};
  for (const double x : specials) {
    for (const double y : specials) {
      for (int signs = 0; signs < 4; ++signs) {
        values.emplace_back(RoundToFormat(signs % 2 == 0 ? x : -x, format),
                            RoundToFormat(signs < 2 ? y : -y, format));
      }
    }
  }
  std::shuffle(values.begin(), values.end(), random);
  return values;
}

}  // namespace

TEST_CASE("native complex functions", "[native][functions]") {
  for (const ElementType type : {ElementType::kC64, ElementType::kC128}) {
    const FloatFormat& format = *Info(type).format;
    const std::vector<Complex> z = SomeComplexValues(format, 1), w = SomeComplexValues(format, 2);
    for (const ComplexRow& row : ComplexFunctions()) CompareComplex(row, type, z, w);
  }
}

namespace {

class Wide {
 public:
  Wide() { mpc_init2(value_, 1000); }
  explicit Wide(Complex z) : Wide() { mpc_set_d_d(value_, z.real(), z.imag(), MPC_RNDNN); }
  ~Wide() { mpc_clear(value_); }
  Wide(const Wide&) = delete;
  Wide& operator=(const Wide&) = delete;
  mpc_ptr get() { return value_; }

 private:
  mpc_t value_;
};

// f(z, w) at 1,000 bits less what cancels.
void ExactComplex(Opcode opcode, Complex z, Complex w, mpc_ptr result) {
  using Fn = int (*)(mpc_ptr, mpc_srcptr, mpc_rnd_t);
  static const std::pair<Opcode, Fn> kTable[] = {
      {Opcode::kExp, mpc_exp},   {Opcode::kSin, mpc_sin},   {Opcode::kCos, mpc_cos},
      {Opcode::kTan, mpc_tan},   {Opcode::kSinh, mpc_sinh}, {Opcode::kCosh, mpc_cosh},
      {Opcode::kTanh, mpc_tanh}, {Opcode::kLog, mpc_log},   {Opcode::kSqrt, mpc_sqrt},
  };
  Wide a(z), b(w);
  for (const auto& [op, fn] : kTable) {
    if (op == opcode) fn(result, a.get(), MPC_RNDNN);
  }
  switch (opcode) {
    case Opcode::kExpm1:
      mpc_exp(a.get(), a.get(), MPC_RNDNN);
      mpc_sub_ui(result, a.get(), 1, MPC_RNDNN);
      break;
    case Opcode::kLog1p:
      mpc_add_ui(a.get(), a.get(), 1, MPC_RNDNN);
      mpc_log(result, a.get(), MPC_RNDNN);
      break;
    case Opcode::kLogistic:
      mpc_neg(a.get(), a.get(), MPC_RNDNN);
      mpc_exp(a.get(), a.get(), MPC_RNDNN);
      mpc_add_ui(a.get(), a.get(), 1, MPC_RNDNN);
      mpc_ui_div(result, 1, a.get(), MPC_RNDNN);
      break;
    case Opcode::kRsqrt:
      mpc_sqrt(a.get(), a.get(), MPC_RNDNN);
      mpc_ui_div(result, 1, a.get(), MPC_RNDNN);
      break;
    case Opcode::kSign:
      mpc_abs(mpc_realref(b.get()), a.get(), MPFR_RNDN);
      mpc_div_fr(result, a.get(), mpc_realref(b.get()), MPC_RNDNN);
      break;
    case Opcode::kAbs:
      mpc_abs(mpc_realref(result), a.get(), MPFR_RNDN);
      break;
    case Opcode::kMultiply:
      mpc_mul(result, a.get(), b.get(), MPC_RNDNN);
      break;
    case Opcode::kDivide:
      mpc_div(result, a.get(), b.get(), MPC_RNDNN);
      break;
    default:
      break;
  }
}

// log2 of the relative error of hi + lo.
double ComplexErrorBits(double hi, double lo, mpfr_srcptr exact) {
  Wide difference;
  mpfr_ptr d = mpc_realref(difference.get());
  mpfr_sub_d(d, exact, hi, MPFR_RNDN);
  mpfr_sub_d(d, d, lo, MPFR_RNDN);
  mpfr_div(d, d, exact, MPFR_RNDN);
  const double error = std::fabs(mpfr_get_d(d, MPFR_RNDN));
  return error == 0 ? -1000 : std::log2(error);
}

double WorstComplexError(const ComplexRow& row, bool imaginary, bool twofold, Isa isa,
                         const std::vector<Complex>& z, const std::vector<Complex>& w) {
  const size_t n = z.size() / kBlock * kBlock;
  std::vector<double> parts[4], hi(n), lo(n);
  for (size_t i = 0; i < n; ++i) {
    const double values[] = {z[i].real(), z[i].imag(), w[i].real(), w[i].imag()};
    for (int k = 0; k < 4; ++k) parts[k].push_back(values[k]);
  }
  const double* const in[] = {parts[0].data(), parts[1].data(), parts[2].data(), parts[3].data()};
  const Passes& passes = imaginary ? *row.im : *row.re;
  (twofold ? passes.twofold : passes.single)[static_cast<size_t>(isa)](static_cast<int64_t>(n), in, hi.data(),
                                                                       lo.data());
  double worst = -1000;
  Wide exact;
  for (size_t i = 0; i < n; ++i) {
    // What the walk does not use, or what lies beyond every narrow format and is clamped.
    const double magnitude = std::fabs(hi[i]), limit = twofold ? 0x1p960 : 0x1p150;
    if (!(magnitude >= 1 / limit && magnitude <= limit)) continue;
    if (z[i].real() == 0 || z[i].imag() == 0 || w[i].real() == 0 || w[i].imag() == 0) continue;
    ExactComplex(row.opcode, z[i], w[i], exact.get());
    mpfr_srcptr part = imaginary ? mpc_imagref(exact.get()) : mpc_realref(exact.get());
    if (mpfr_regular_p(part)) worst = std::max(worst, ComplexErrorBits(hi[i], lo[i], part));
  }
  return worst;
}

}  // namespace

TEST_CASE("native complex functions: approximations keep half of their bounds", "[native][functions]") {
  for (const bool twofold : {false, true}) {
    const FloatFormat& format = *Info(twofold ? ElementType::kF64 : ElementType::kF32).format;
    const std::vector<Complex> z = SomeComplexValues(format, 5), w = SomeComplexValues(format, 6);
    for (const ComplexRow& row : ComplexFunctions()) {
      for (const bool imaginary : {false, true}) {
        if (imaginary && row.im == nullptr) continue;
        const double worst = WorstComplexError(row, imaginary, twofold, MachineIsa(), z, w);
        CAPTURE(Name(row.opcode), imaginary, twofold, worst);
        CHECK(worst < std::log2(twofold ? kComplexBounds.twofold : kComplexBounds.single) - 1);
        if (std::getenv("ASSAY_NATIVE_TEST_VALUES") != nullptr) {
          WARN(Name(row.opcode) << (imaginary ? " im " : " re ") << worst);
        }
      }
    }
  }
}

TEST_CASE("native complex functions leave little to the reference", "[native][functions]") {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  for (const ElementType type : {ElementType::kC64, ElementType::kC128}) {
    const FloatFormat& format = *Info(type).format;
    std::vector<Complex> z(2000), w(2000);
    for (Complex& value : z)
      value = {RoundToFormat(normal(random), format), RoundToFormat(normal(random), format)};
    for (Complex& value : w)
      value = {RoundToFormat(normal(random), format), RoundToFormat(normal(random), format)};
    for (const ComplexRow& row : ComplexFunctions()) {
      const FunctionTiers before = FunctionTierCounts();
      RunComplexStrips(row, type, MachineIsa(), z, w);
      CAPTURE(Name(row.opcode), Name(type));
      const FunctionTiers after = FunctionTierCounts();
      CHECK(after.elements - before.elements == 2000);
      CHECK(after.second - before.second <= 400);
      CHECK(after.reference - before.reference <= 2);
    }
  }
}

}  // namespace assay::native
