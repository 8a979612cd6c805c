// Real functions of one and two arguments, correctly rounded to any float format.
//
// Each takes exact values (doubles that are values of the operand's format) and returns RN_F of the exact
// real result as a double. NaN results are CanonicalNaN(format). Exact cases, signed zeros and infinities are
// those of docs/spec/operations-elementwise.md. The reference computes through MPFR (only this folder
// includes mpfr.h and mpc.h).
#ifndef ASSAY_EVALUATOR_SCALAR_REAL_H_
#define ASSAY_EVALUATOR_SCALAR_REAL_H_

#include "shape/element_type.h"

namespace assay {

using RealFn1 = double (*)(double x, const FloatFormat& format);
using RealFn2 = double (*)(double x, double y, const FloatFormat& format);

double RealAcos(double x, const FloatFormat& format);
double RealAcosh(double x, const FloatFormat& format);
double RealAsin(double x, const FloatFormat& format);
double RealAsinh(double x, const FloatFormat& format);
double RealAtan(double x, const FloatFormat& format);
double RealAtanh(double x, const FloatFormat& format);
double RealBesselI1e(double x, const FloatFormat& format);  // e^-|x| I1(x)
double RealCbrt(double x, const FloatFormat& format);
double RealCos(double x, const FloatFormat& format);
double RealCosh(double x, const FloatFormat& format);
double RealDigamma(double x, const FloatFormat& format);  // NaN at 0 and the negative integers
double RealErf(double x, const FloatFormat& format);
double RealErfc(double x, const FloatFormat& format);
double RealErfInv(double x, const FloatFormat& format);  // +-inf at +-1, NaN beyond
double RealExp(double x, const FloatFormat& format);
double RealExpm1(double x, const FloatFormat& format);
double RealLgamma(double x, const FloatFormat& format);  // log |gamma(x)|, inf at 0 and the negative integers
double RealLog(double x, const FloatFormat& format);
double RealLog1p(double x, const FloatFormat& format);
double RealLogistic(double x, const FloatFormat& format);
double RealRsqrt(double x, const FloatFormat& format);
double RealSin(double x, const FloatFormat& format);
double RealSinh(double x, const FloatFormat& format);
double RealSqrt(double x, const FloatFormat& format);
double RealTan(double x, const FloatFormat& format);
double RealTanh(double x, const FloatFormat& format);

double RealAdd(double x, double y, const FloatFormat& format);
double RealSubtract(double x, double y, const FloatFormat& format);
double RealMultiply(double x, double y, const FloatFormat& format);
double RealDivide(double x, double y, const FloatFormat& format);
double RealPower(double x, double y, const FloatFormat& format);
double RealAtan2(double y, double x, const FloatFormat& format);
// The format's neighbour of x toward y; y where they are equal.
double RealNextAfter(double x, double y, const FloatFormat& format);
// The n-th derivative of digamma; NaN where n is no whole number of at least 0.
double RealPolygamma(double n, double x, const FloatFormat& format);
// Hurwitz zeta, the sum of (q + k)^-s over k = 0, 1, 2, ...; inf at s = 1, NaN for s < 1.
double RealZeta(double s, double q, const FloatFormat& format);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_SCALAR_REAL_H_
