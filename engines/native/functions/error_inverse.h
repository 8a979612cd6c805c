// The inverse of erf, which HLO has no opcode for (chlo.erf_inv, evaluator/ops/control/function_call.h):
// the reference's bits.
#ifndef ASSAY_ENGINES_NATIVE_FUNCTIONS_ERROR_INVERSE_H_
#define ASSAY_ENGINES_NATIVE_FUNCTIONS_ERROR_INVERSE_H_

#include <cstdint>

#include "jit/isa.h"
#include "shape/element_type.h"

namespace assay::native {

// out[i] = RN(erf_inv(x[i])) for i in [0, n), n <= kStrip. out may be x.
void ApplyErfInv(Isa isa, const FloatFormat& format, int64_t n, const double* x, double* out);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_FUNCTIONS_ERROR_INVERSE_H_
