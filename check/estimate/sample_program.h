// The sampled program: every value is moved at random within what a conforming backend may do in its
// instruction.
#ifndef ASSAY_CHECK_ESTIMATE_SAMPLE_PROGRAM_H_
#define ASSAY_CHECK_ESTIMATE_SAMPLE_PROGRAM_H_

#include <cstdint>
#include <vector>

#include "check/derive_bounds.h"

namespace assay {

struct SampledProgram {
  // Takes what the program takes, a key, u32[], which is KeyOfSeed's (mover.h), and radii; gives what the
  // program gives. Each key is another backend.
  Module module;
  // Takes what the program takes and gives the tuple of what `module` takes behind the key: radii of exact
  // values, which all samples share.
  Module radii;
  // Instructions that have no rule: they and their operands are moved by the profile's ulps for them.
  std::vector<DerivedBounds::Note> without_rule;
};

// `subnormal_arguments` as DeriveBounds takes them. Where samples have arguments of their own they share no
// radii: `module` takes none. Errors: NotSupported where the program would be too large.
enum class SampleRadii : uint8_t { kShared, kOfEachSample };
absl::StatusOr<SampledProgram> SampleProgram(const VerifiedModule& program, const Profile& profile,
                                             const std::vector<bool>& subnormal_arguments = {},
                                             SampleRadii which = SampleRadii::kShared);

}  // namespace assay

#endif  // ASSAY_CHECK_ESTIMATE_SAMPLE_PROGRAM_H_
