// Complex functions, each component the exact value rounded once (docs/spec/operations-elementwise.md,
// NUM-9). `format` is the component's format. Specials are C17 Annex G (defect report 471 included), but
// multiplication recovers nothing.
#ifndef ASSAY_EVALUATOR_SCALAR_COMPLEX_H_
#define ASSAY_EVALUATOR_SCALAR_COMPLEX_H_

#include <complex>

#include "shape/element_type.h"

namespace assay {

using Complex = std::complex<double>;
using ComplexFn1 = Complex (*)(Complex z, const FloatFormat& format);
using ComplexFn2 = Complex (*)(Complex a, Complex b, const FloatFormat& format);

double ComplexAbs(Complex z, const FloatFormat& format);
Complex ComplexSign(Complex z, const FloatFormat& format);
Complex ComplexNegate(Complex z, const FloatFormat& format);
Complex ComplexAcos(Complex z, const FloatFormat& format);
Complex ComplexAcosh(Complex z, const FloatFormat& format);
Complex ComplexAsin(Complex z, const FloatFormat& format);
Complex ComplexAsinh(Complex z, const FloatFormat& format);
Complex ComplexAtan(Complex z, const FloatFormat& format);
Complex ComplexAtanh(Complex z, const FloatFormat& format);
Complex ComplexCos(Complex z, const FloatFormat& format);
Complex ComplexCosh(Complex z, const FloatFormat& format);
Complex ComplexExp(Complex z, const FloatFormat& format);
Complex ComplexExpm1(Complex z, const FloatFormat& format);
Complex ComplexLog(Complex z, const FloatFormat& format);
Complex ComplexLog1p(Complex z, const FloatFormat& format);
Complex ComplexLogistic(Complex z, const FloatFormat& format);
Complex ComplexRsqrt(Complex z, const FloatFormat& format);
Complex ComplexSin(Complex z, const FloatFormat& format);
Complex ComplexSinh(Complex z, const FloatFormat& format);
Complex ComplexSqrt(Complex z, const FloatFormat& format);
Complex ComplexTan(Complex z, const FloatFormat& format);
Complex ComplexTanh(Complex z, const FloatFormat& format);

Complex ComplexMultiply(Complex a, Complex b, const FloatFormat& format);
Complex ComplexDivide(Complex a, Complex b, const FloatFormat& format);
Complex ComplexPower(Complex z, Complex w, const FloatFormat& format);
Complex ComplexAtan2(Complex y, Complex x, const FloatFormat& format);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_SCALAR_COMPLEX_H_
