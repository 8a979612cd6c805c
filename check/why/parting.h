// Where samples of conforming backends part: the first instruction whose results they disagree on so much
// that they say nothing of the output (docs/bounds.md, Why nothing is proven).
#ifndef ASSAY_CHECK_WHY_PARTING_H_
#define ASSAY_CHECK_WHY_PARTING_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "check/estimate/estimate.h"
#include "check/undecided.h"

namespace assay {

struct Parting {
  // `why`: what the samples do there, other than to give numbers that are far apart; empty: that.
  FirstUndecided at;
  double spread = 0;     // the largest distance of a sample's element from the exact one
  double magnitude = 0;  // the largest magnitude of an element
};

// Samples have parted where the spread is more than this share of the largest magnitude: half of what makes
// an output chaotic (OutputSamples::kChaoticShare), since the samples that are looked into are others.
inline constexpr double kPartedShare = 0.125;

// Of each leaf of the program's root that is named: the first instruction whose samples have parted while
// those of its operands have not, and on which the leaf depends by such values. In loops the first iteration.
// None where the samples of the leaf have not parted. The samples of a computation are run with all its
// values as outputs, so that memory bounds their number and the iterations that are looked into; calls,
// branches and loops are looked into from there. Errors are SampleProgram's and those of the runs.
absl::StatusOr<std::vector<std::optional<Parting>>> FindPartings(
    const Program& program, const Profile& profile, const std::vector<Literal>& arguments,
    std::span<const int64_t> leaves, const RunOptions& options, const EstimateOptions& estimate,
    std::span<const Engine* const> engines);

}  // namespace assay

#endif  // ASSAY_CHECK_WHY_PARTING_H_
