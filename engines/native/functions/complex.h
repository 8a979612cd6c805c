// The complex functions of the native engine. Each component is a real function of the operands' parts, with
// passes of two tiers and a rounding test as the real functions have (functions.h); an element of which any
// component stays open goes to the reference (evaluator/scalar/complex.h), as do elements with parts that are
// not finite and, where a row does not say otherwise, parts that are zero.
#ifndef ASSAY_ENGINES_NATIVE_FUNCTIONS_COMPLEX_H_
#define ASSAY_ENGINES_NATIVE_FUNCTIONS_COMPLEX_H_

#include <span>

#include "engines/native/functions/functions.h"
#include "evaluator/scalar/complex.h"

namespace assay::native {

struct ComplexRow {
  Opcode opcode;
  const Passes* re;
  const Passes* im;                 // null: the result is real
  ComplexFn1 reference1 = nullptr;  // one of the three
  ComplexFn2 reference2 = nullptr;
  double (*reference_real)(Complex z, const FloatFormat& format) = nullptr;
  bool takes_zeros = false;  // parts that are zero are operands as any others
};

// What the formulas derive, with room (complex_exponential.cc, complex_algebra.cc).
inline constexpr Bounds kComplexBounds = {0x1p-38, 0x1p-70};

std::span<const ComplexRow> ComplexFunctions();
// Null where the opcode is none of these functions.
const ComplexRow* FindComplexFunction(Opcode opcode);

// out[i] = f(z[i]) or f(z[i], w[i]), every component rounded once to `format`, for i in [0, n), n <= kStrip.
// out holds complex numbers, or doubles where row.im is null; it may be z or w.
void ApplyComplexFunction(const ComplexRow& row, Isa isa, const FloatFormat& format, int64_t n,
                          const Complex* z, const Complex* w, void* out);

// The table of complex functions points to these.
extern const ComponentPasses kComplexExp, kComplexExpm1, kComplexLogistic, kComplexSin, kComplexCos,
    kComplexTan, kComplexSinh, kComplexCosh, kComplexTanh;
extern const ComponentPasses kComplexLog, kComplexLog1p, kComplexSqrt, kComplexRsqrt, kComplexSign,
    kComplexMultiply, kComplexDivide;
extern const Passes kComplexAbs;

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_FUNCTIONS_COMPLEX_H_
