// Proofs of the approximate functions of --engine fast (engines/approximate/functions.h):
// tools/prove --approximate FUNCTION.
//
// Every f32, f16 and bf16 against the exact engine's function, which is proved by itself; f64 on n random,
// boundary and hard inputs against MPFR. Wrong is what is further away than the function states, a NaN that
// is not the canonical one, a wrong sign, and a bit that differs between the instruction sets.
#ifndef ASSAY_PROVE_APPROXIMATE_H_
#define ASSAY_PROVE_APPROXIMATE_H_

#include <string>

#include "absl/status/status.h"
#include "engines/approximate/functions.h"
#include "prove/report.h"

namespace assay::prove {

// How many numbers of the type b is from a in their order; infinity is the one behind the largest, -0 and 0
// are one number. INT64_MAX if signs differ, or if one alone is NaN or they are different NaNs.
int64_t PatternDistance(ElementType type, uint64_t a, uint64_t b);

// The functions of a name ("exp") or of all ("all").
absl::Status ProveApproximate(const std::string& name, int64_t doubles, int jobs, Ledger& ledger);
// Patterns [first, first + n) of a narrow type.
Proof ProveApproximatePatterns(const approximate::ApproximateFunction& row, int64_t first, int64_t n);

}  // namespace assay::prove

#endif  // ASSAY_PROVE_APPROXIMATE_H_
