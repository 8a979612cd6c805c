// A sum known to lie within a bound, and its one rounding: the rounding test of all exact sums.
//
// RN_F is monotonic, so RN_F(s - e) = RN_F(s + e) is RN_F of every number between, the exact sum among them.
#ifndef ASSAY_ENGINES_NATIVE_SUMS_ENCLOSED_SUM_H_
#define ASSAY_ENGINES_NATIVE_SUMS_ENCLOSED_SUM_H_

#include <optional>

#include "shape/element_type.h"

namespace assay::native {

// RN_F(x) for |x - (sum + error)| <= bound, if that is decided; bound 0 says that sum + error is the exact
// value. It is not decided for a zero sum (its sign is another matter) and for anything that is not finite.
std::optional<double> RoundEnclosed(double sum, double error, double bound, const FloatFormat& format);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_SUMS_ENCLOSED_SUM_H_
