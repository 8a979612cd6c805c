// How far a backend's functions are from exact ones, and what it does with sums, subnormal numbers and
// operands of dots: a profile that is measured (docs/bounds.md, Profiles).
#ifndef ASSAY_CHECK_MEASURE_MEASURE_H_
#define ASSAY_CHECK_MEASURE_MEASURE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "check/measure/both.h"
#include "check/profile.h"

namespace assay {

struct MeasuredFunction {
  Opcode op;
  ElementType type;
  // The largest distance from the exact result, in ulps of that one, and half an ulp, by which it was rounded
  // itself.
  double ulps = 0.5;
  std::vector<double> at;      // the arguments
  bool is_exhaustive = false;  // all normal arguments of the type were tried
  int64_t compared = 0;        // results that are normal numbers on both sides
  int64_t not_finite = 0;      // on one side alone
  bool underflows = false;     // results below the smallest normal number were 0
  double allowed() const;      // AllowedUlps of it
};

struct Measurement {
  std::vector<MeasuredFunction> functions;
  std::vector<std::string> refused;  // "tan f64: the backend's words"
  // All but ulps: what the probes found (probes.h).
  Profile found;
  // Nothing differed from what Assay gives.
  bool is_exact() const;
};

// What a profile allows a function of which `ulps` were measured: on all arguments of the type as many. Of
// basic operations, which IEEE 754 wants rounded correctly, none of whose results was off: half an ulp. Else
// one ulp more or a quarter more, whichever is more, rounded up to halves:
// the worst arguments are rare, and a sample does not have them.
double AllowedUlps(Opcode op, double ulps, bool is_exhaustive);

// Errors: the backend's, where it runs none of the programs, and Assay's own.
absl::StatusOr<Measurement> MeasureProfile(Backend& backend, const MeasureOptions& options);

// A text for ParseProfile: the lines of `origin`, and what was measured.
std::string MeasuredProfileText(const Measurement& measurement, const std::vector<Profile::Origin>& origin);

}  // namespace assay

#endif  // ASSAY_CHECK_MEASURE_MEASURE_H_
