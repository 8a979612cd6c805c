// The sampled program: every value is moved at random within what a conforming backend may do in its
// instruction.
#ifndef ASSAY_CHECK_ESTIMATE_SAMPLE_PROGRAM_H_
#define ASSAY_CHECK_ESTIMATE_SAMPLE_PROGRAM_H_

#include <vector>

#include "check/derive_bounds.h"

namespace assay {

struct SampledProgram {
  // Takes what the program takes and then a seed, u64[]; gives what the program gives. Each seed is another
  // backend.
  Module module;
  // Instructions that have no rule: they and their operands are moved by the profile's ulps for them.
  std::vector<DerivedBounds::Note> without_rule;
};

// `subnormal_arguments` as DeriveBounds takes them. Errors: NotSupported where the program would be too
// large.
absl::StatusOr<SampledProgram> SampleProgram(const VerifiedModule& program, const Profile& profile,
                                             const std::vector<bool>& subnormal_arguments = {});

}  // namespace assay

#endif  // ASSAY_CHECK_ESTIMATE_SAMPLE_PROGRAM_H_
