#include "evaluator/scalar/complex_parts.h"

#include "evaluator/scalar/mpfr_real.h"
#include "literal/float_format.h"

namespace assay {
namespace {

class MpcComplex {
 public:
  explicit MpcComplex(mpfr_prec_t precision) {
    UseMpfrCache();
    mpc_init2(value_, precision);
  }
  explicit MpcComplex(Complex z) : MpcComplex(kDoublePrecision) {
    mpc_set_d_d(value_, z.real(), z.imag(), MPC_RNDNN);
  }
  ~MpcComplex() { mpc_clear(value_); }
  MpcComplex(const MpcComplex&) = delete;
  MpcComplex& operator=(const MpcComplex&) = delete;
  mpc_ptr get() { return value_; }

 private:
  mpc_t value_;
};

Complex RoundMpc(mpc_srcptr z, int ternary, const FloatFormat& format) {
  return {RoundMpfr(mpc_realref(z), MPC_INEX_RE(ternary), format),
          RoundMpfr(mpc_imagref(z), MPC_INEX_IM(ternary), format)};
}

}  // namespace

Complex RoundParts(double re, double im, const FloatFormat& format) {
  return {RoundToFormat(re, format), RoundToFormat(im, format)};
}

Complex NaNParts(const FloatFormat& format) { return {CanonicalNaN(format), CanonicalNaN(format)}; }

Complex ApplyMpc(int (*f)(mpc_ptr, mpc_srcptr, mpc_rnd_t), Complex z, const FloatFormat& format) {
  MpcComplex operand(z), result(kTruncatedPrecision);
  const int ternary = f(result.get(), operand.get(), MPC_RNDZZ);
  return RoundMpc(result.get(), ternary, format);
}

Complex ApplyMpc(int (*f)(mpc_ptr, mpc_srcptr, mpc_srcptr, mpc_rnd_t), Complex z, Complex w,
                 const FloatFormat& format) {
  MpcComplex first(z), second(w), result(kTruncatedPrecision);
  const int ternary = f(result.get(), first.get(), second.get(), MPC_RNDZZ);
  return RoundMpc(result.get(), ternary, format);
}

}  // namespace assay
