#include "prove/functions.h"

#include <cmath>

#include "prove/call_functions.h"

namespace assay::prove {
namespace {

int RsqrtOf(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t rounding) {
  if (!mpfr_zero_p(x)) return mpfr_rec_sqrt(result, x, rounding);
  mpfr_set_inf(result, mpfr_signbit(x) ? -1 : 1);
  return 0;
}

int SignOf(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t rounding) {
  if (mpfr_nan_p(x) || mpfr_zero_p(x)) return mpfr_set(result, x, rounding);
  return mpfr_set_si(result, mpfr_sgn(x), rounding);
}

int NegateOf(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t rounding) { return mpfr_neg(result, x, rounding); }
int AbsOf(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t rounding) { return mpfr_abs(result, x, rounding); }

// An enclosure of 1 / (1 + e^-x) for finite x with |x| <= 2^30.
void EncloseLogistic(mpfr_srcptr x, mpfr_ptr low, mpfr_ptr high) {
  mpfr_t minus_x;
  mpfr_init2(minus_x, mpfr_get_prec(x));
  mpfr_neg(minus_x, x, MPFR_RNDN);
  mpfr_exp(low, minus_x, MPFR_RNDU);
  mpfr_add_ui(low, low, 1, MPFR_RNDU);
  mpfr_ui_div(low, 1, low, MPFR_RNDD);
  mpfr_exp(high, minus_x, MPFR_RNDD);
  mpfr_add_ui(high, high, 1, MPFR_RNDD);
  mpfr_ui_div(high, 1, high, MPFR_RNDU);
  if (mpfr_cmp_ui(high, 1) >= 0) {  // the logistic function stays below 1
    mpfr_set_ui(high, 1, MPFR_RNDN);
    mpfr_nextbelow(high);
  }
  mpfr_clear(minus_x);
}

// For rational x other than 0 the value is transcendental (Lindemann), so some precision decides. Beyond |x|
// = 2^30 the value is nearer to 0 or 1 than any format can tell, as it is at 2^30.
int LogisticOf(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t rounding) {
  if (mpfr_nan_p(x)) return mpfr_set(result, x, rounding);
  if (mpfr_zero_p(x)) return mpfr_set_d(result, 0.5, rounding);
  if (mpfr_inf_p(x)) return mpfr_set_ui(result, mpfr_signbit(x) ? 0 : 1, rounding);
  mpfr_t near;
  mpfr_init2(near, mpfr_get_prec(x));
  mpfr_set(near, x, MPFR_RNDN);
  if (mpfr_cmpabs_ui(x, 1u << 30) > 0) mpfr_set_si(near, mpfr_signbit(x) ? -(1 << 30) : 1 << 30, MPFR_RNDN);
  const int ternary =
      RoundEnclosed(result, rounding, [&](mpfr_ptr low, mpfr_ptr high) { EncloseLogistic(near, low, high); });
  mpfr_clear(near);
  return ternary;
}

// IEEE 754 maximum and minimum: NaN wins, -0 < +0.
int Extreme(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr y, bool larger, mpfr_rnd_t rounding) {
  if (mpfr_nan_p(x) || mpfr_nan_p(y)) return mpfr_set_nan(result), 0;
  bool x_is_less = mpfr_less_p(x, y) != 0;
  if (mpfr_zero_p(x) && mpfr_zero_p(y)) x_is_less = mpfr_signbit(x) && !mpfr_signbit(y);
  return mpfr_set(result, x_is_less == larger ? y : x, rounding);
}
int MaximumOf(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr y, mpfr_rnd_t rounding) {
  return Extreme(result, x, y, true, rounding);
}
int MinimumOf(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr y, mpfr_rnd_t rounding) {
  return Extreme(result, x, y, false, rounding);
}

// The approximations are glibc's functions of double, whose largest known errors on x86-64 are 1 ulp for exp,
// expm1, log, log1p, sin, cos, tan, asin, acos, atan, erf, and at most 5 ulp for the hyperbolic functions,
// their inverses, cbrt, erfc and lgamma (GNU C Library manual, "Known Maximum Errors in Math Functions");
// quotients and sums below add at most 3 roundings. 2^-48 is at least 16 ulp.
double Rsqrt(double x) { return 1 / std::sqrt(x); }
double Logistic(double x) { return 1 / (1 + std::exp(-x)); }
double Sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }  // exact

constexpr Function1 kFunctions1[] = {
    {"exp", Opcode::kExp, mpfr_exp, std::exp},
    {"expm1", Opcode::kExpm1, mpfr_expm1, std::expm1},
    {"log", Opcode::kLog, mpfr_log, std::log},
    {"log1p", Opcode::kLog1p, mpfr_log1p, std::log1p},
    {"logistic", Opcode::kLogistic, LogisticOf, Logistic},
    {"sin", Opcode::kSin, mpfr_sin, std::sin},
    {"cos", Opcode::kCos, mpfr_cos, std::cos},
    {"tan", Opcode::kTan, mpfr_tan, std::tan},
    {"tanh", Opcode::kTanh, mpfr_tanh, std::tanh},
    {"sinh", Opcode::kSinh, mpfr_sinh, std::sinh},
    {"cosh", Opcode::kCosh, mpfr_cosh, std::cosh},
    {"asin", Opcode::kAsin, mpfr_asin, std::asin},
    {"acos", Opcode::kAcos, mpfr_acos, std::acos},
    {"asinh", Opcode::kAsinh, mpfr_asinh, std::asinh},
    {"acosh", Opcode::kAcosh, mpfr_acosh, std::acosh},
    {"atanh", Opcode::kAtanh, mpfr_atanh, std::atanh},
    {"erf", Opcode::kErf, mpfr_erf, std::erf},
    {"cbrt", Opcode::kCbrt, mpfr_cbrt, std::cbrt},
    {"sqrt", Opcode::kSqrt, mpfr_sqrt, std::sqrt},
    {"rsqrt", Opcode::kRsqrt, RsqrtOf, Rsqrt},
    {"ceil", Opcode::kCeil, mpfr_rint_ceil, std::ceil},
    {"floor", Opcode::kFloor, mpfr_rint_floor, std::floor},
    {"round-nearest-afz", Opcode::kRoundNearestAfz, mpfr_rint_round},
    {"round-nearest-even", Opcode::kRoundNearestEven, mpfr_rint_roundeven},
    {"abs", Opcode::kAbs, AbsOf},
    {"negate", Opcode::kNegate, NegateOf},
    {"sign", Opcode::kSign, SignOf, Sign},
    {"atan", Opcode::kCustomCall, mpfr_atan, std::atan, "chlo.atan"},
    {"bessel_i1e", Opcode::kCustomCall, BesselI1eOf, NearBesselI1e, "chlo.bessel_i1e"},
    {"digamma", Opcode::kCustomCall, DigammaOf, nullptr, "chlo.digamma"},
    {"erf_inv", Opcode::kCustomCall, ErfInvOf, NearErfInv, "chlo.erf_inv"},
    {"erfc", Opcode::kCustomCall, mpfr_erfc, std::erfc, "chlo.erfc"},
    {"lgamma", Opcode::kCustomCall, LgammaOf, NearLgamma, "chlo.lgamma"},
};

constexpr Function2 kFunctions2[] = {
    {"add", Opcode::kAdd, mpfr_add},
    {"subtract", Opcode::kSubtract, mpfr_sub},
    {"multiply", Opcode::kMultiply, mpfr_mul},
    {"divide", Opcode::kDivide, mpfr_div},
    {"remainder", Opcode::kRemainder, mpfr_fmod},
    {"pow", Opcode::kPower, mpfr_pow},
    {"atan2", Opcode::kAtan2, mpfr_atan2},
    {"maximum", Opcode::kMaximum, MaximumOf},
    {"minimum", Opcode::kMinimum, MinimumOf},
};

// Frees what MPFR keeps for each thread.
struct ThreadCache {
  ~ThreadCache() { mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE); }
};

}  // namespace

std::span<const Function1> Functions1() { return kFunctions1; }
std::span<const Function2> Functions2() { return kFunctions2; }

const Function1* FindFunction1(std::string_view name) {
  for (const Function1& f : kFunctions1) {
    if (f.name == name || Name(f.opcode) == name) return &f;
  }
  return nullptr;
}

Oracle::Oracle() {
  static thread_local ThreadCache cache;
  mpfr_inits2(53, x_, y_, double_, nullptr);
  mpfr_init2(wide_, 64);
}
Oracle::~Oracle() { mpfr_clears(x_, y_, double_, wide_, nullptr); }

// 64 bits toward zero and the ternary value tell on which side of any middle of two values of the format, of
// at most 25 bits, the exact result lies.
uint64_t Oracle::Want(const Function1& f, double x, const NumberFormat& format) {
  mpfr_set_d(x_, x, MPFR_RNDN);
  const int ternary = f.mpfr(wide_, x_, MPFR_RNDZ);
  return RoundReal(RealOf(wide_, ternary), format);
}

uint64_t Oracle::Want(const Function2& f, double x, double y, const NumberFormat& format) {
  mpfr_set_d(x_, x, MPFR_RNDN);
  mpfr_set_d(y_, y, MPFR_RNDN);
  const int ternary = f.mpfr(wide_, x_, y_, MPFR_RNDZ);
  return RoundReal(RealOf(wide_, ternary), format);
}

uint64_t Oracle::WantDouble(const Function1& f, double x) {
  const DoubleRange range;
  mpfr_set_d(x_, x, MPFR_RNDN);
  const int ternary = f.mpfr(double_, x_, MPFR_RNDN);
  return RoundDouble(double_, ternary);
}

uint64_t Oracle::WantDouble(const Function2& f, double x, double y) {
  const DoubleRange range;
  mpfr_set_d(x_, x, MPFR_RNDN);
  mpfr_set_d(y_, y, MPFR_RNDN);
  const int ternary = f.mpfr(double_, x_, y_, MPFR_RNDN);
  return RoundDouble(double_, ternary);
}

}  // namespace assay::prove
