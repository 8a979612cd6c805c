// Estimates where proofs end: conforming backends are sampled, and what they give is held beside the outputs
// whose bounds leave elements undecided (docs/bounds.md).
#ifndef ASSAY_CHECK_ESTIMATE_ESTIMATE_H_
#define ASSAY_CHECK_ESTIMATE_ESTIMATE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "check/conformance.h"

namespace assay {

struct EstimateOptions {
  int64_t samples = 16;  // 0: none
  uint64_t seed = 0;     // of the first; the others follow
};

struct Estimates {
  int64_t samples = 0;                            // that ran: none where the bounds decide all
  std::vector<DerivedBounds::Note> without_rule;  // as SampledProgram
};

// Runs the sampled program so often on what RunWithBounds ran on, and gives BoundedOutput::samples to the
// outputs that have undecided elements. Errors are SampleProgram's and those of the runs.
absl::StatusOr<Estimates> AddSamples(const Program& program, const Profile& profile, const DeviceGrid& grid,
                                     const DeviceInputs& inputs, const RunOptions& options,
                                     const EstimateOptions& estimate, std::vector<BoundedOutput>& outputs,
                                     std::span<const Engine* const> engines = EnginesOf());

}  // namespace assay

#endif  // ASSAY_CHECK_ESTIMATE_ESTIMATE_H_
