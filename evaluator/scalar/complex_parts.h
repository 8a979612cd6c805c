// Small pieces that the complex functions share. Only evaluator/scalar includes it.
#ifndef ASSAY_EVALUATOR_SCALAR_COMPLEX_PARTS_H_
#define ASSAY_EVALUATOR_SCALAR_COMPLEX_PARTS_H_

#include <mpc.h>

#include <cmath>
#include <limits>

#include "evaluator/scalar/complex.h"

namespace assay {

// Holds any sum of products of two doubles exactly: bits 2^-2148 to 2^2048 and a few carries.
inline constexpr mpfr_prec_t kExactPrecision = 4224;
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

inline bool IsFinite(Complex z) { return std::isfinite(z.real()) && std::isfinite(z.imag()); }
inline bool HasNaN(Complex z) { return std::isnan(z.real()) || std::isnan(z.imag()); }
inline bool HasInfinity(Complex z) { return std::isinf(z.real()) || std::isinf(z.imag()); }

// Components that are rounded already, or need one rounding of a double.
Complex RoundParts(double re, double im, const FloatFormat& format);
Complex NaNParts(const FloatFormat& format);

// An MPC function toward zero with 64 bits a component, and one rounding from there.
Complex ApplyMpc(int (*f)(mpc_ptr, mpc_srcptr, mpc_rnd_t), Complex z, const FloatFormat& format);
Complex ApplyMpc(int (*f)(mpc_ptr, mpc_srcptr, mpc_srcptr, mpc_rnd_t), Complex z, Complex w,
                 const FloatFormat& format);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_SCALAR_COMPLEX_PARTS_H_
