#include "check/estimate/sample_program.h"

#include <algorithm>
#include <utility>

#include "check/estimate/computation_sampler.h"

namespace assay {

absl::StatusOr<SampledProgram> SampleProgram(const VerifiedModule& program, const Profile& profile,
                                             const std::vector<bool>& subnormal_arguments,
                                             SampleRadii which) {
  ModuleSampler radii(program.module(), profile, "_radii");
  ASSAY_ASSIGN_OR_RETURN(SharedRadii shared, radii.WriteRadii());
  if (which == SampleRadii::kOfEachSample) std::fill(shared.begin(), shared.end(), nullptr);
  ModuleSampler sampler(program.module(), profile, "_sampled");
  ASSAY_RETURN_IF_ERROR(sampler.SampleEntry(subnormal_arguments, std::move(shared)));
  DerivedBounds made = std::move(sampler.shared()).TakeResult();
  return SampledProgram{std::move(made.module), std::move(radii.shared()).TakeResult().module,
                        std::move(made.unchecked)};
}

}  // namespace assay
