// The rounding test of the native scalar functions: may an approximation be rounded to the result format?
//
// If every real number within the error bound of an approximation rounds alike, that is the exact function
// value rounded once, however the approximation was computed; else the next tier must look. Rounding is
// monotone, so the two ends of the interval decide.
#ifndef ASSAY_ENGINES_NATIVE_FUNCTIONS_ROUNDING_CHECK_H_
#define ASSAY_ENGINES_NATIVE_FUNCTIONS_ROUNDING_CHECK_H_

#include <cstdint>
#include <optional>

#include "jit/isa.h"
#include "shape/element_type.h"

namespace assay::native {

// Strips are computed in blocks of this many elements.
inline constexpr int64_t kBlock = 16;

// For i in [0, n), n a multiple of kBlock: out[i] = RN(hi[i] + lo[i]), undecided[i] = 0, or undecided[i] = 1
// where the relative error `bound` of the approximation leaves the rounding open (a NaN always does). Returns
// how many are undecided. lo is not read for formats other than f64.
using RoundingTestFn = int64_t (*)(int64_t n, const double* hi, const double* lo, double bound,
                                   const FloatFormat& format, double* out, uint64_t* undecided);
RoundingTestFn RoundingTestFor(const FloatFormat& format, Isa isa);

// RN(hi + lo) of one approximation in any format, or nothing where `bound` leaves it open.
std::optional<double> RoundIfDecided(double hi, double lo, double bound, const FloatFormat& format);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_FUNCTIONS_ROUNDING_CHECK_H_
