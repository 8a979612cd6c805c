// Estimates where proofs end: conforming backends are sampled, and what they give is held beside the outputs
// whose bounds leave elements undecided (docs/bounds_reference.md).
#ifndef ASSAY_CHECK_ESTIMATE_ESTIMATE_H_
#define ASSAY_CHECK_ESTIMATE_ESTIMATE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "check/conformance.h"

namespace assay {

struct EstimateOptions {
  int64_t samples = 16;  // 0: none
  uint64_t seed = 0;     // of the first; the others follow
  bool all = false;      // also of outputs whose bounds decide every element
};

struct Estimates {
  int64_t samples = 0;                            // that ran: none where the bounds decide all
  std::vector<DerivedBounds::Note> without_rule;  // as SampledProgram
};

// The sampled program, planned: to be run as often as wanted. `subnormals` as PlanBounds takes them. Errors
// are SampleProgram's.
struct PlannedSamples {
  std::shared_ptr<const Plan> plan;
  std::shared_ptr<const Plan> radii;  // run once, for all samples; null: they share none
  std::vector<DerivedBounds::Note> without_rule;
};
absl::StatusOr<PlannedSamples> PlanSamples(const Program& program, const Profile& profile,
                                           const std::vector<bool>& subnormals,
                                           std::span<const Engine* const> engines = EnginesOf());

// Whether the bounds leave an element undecided, so that samples say more.
bool HasUndecided(const BoundedOutput& output);

// Runs the sampled program so often on what RunBounds ran on, and gives BoundedOutput::samples to the outputs
// that have undecided elements.
absl::Status RunSamples(const PlannedSamples& planned, const Program& program, const Profile& profile,
                        const DeviceGrid& grid, const DeviceInputs& inputs, const RunOptions& options,
                        const EstimateOptions& estimate, std::vector<BoundedOutput>& outputs);

// Plans and runs them where an output has undecided elements. On several devices none are run.
absl::StatusOr<Estimates> AddSamples(const Program& program, const Profile& profile, const DeviceGrid& grid,
                                     const DeviceInputs& inputs, const RunOptions& options,
                                     const EstimateOptions& estimate, std::vector<BoundedOutput>& outputs,
                                     std::span<const Engine* const> engines = EnginesOf());

}  // namespace assay

#endif  // ASSAY_CHECK_ESTIMATE_ESTIMATE_H_
