// What a pass did: the programs before and after it beside each other.
#ifndef ASSAY_FIND_PASSES_PASS_DETAIL_H_
#define ASSAY_FIND_PASSES_PASS_DETAIL_H_

#include <optional>
#include <string>
#include <vector>

#include "find/passes/baseline.h"
#include "find/programs/first_collective.h"
#include "find/programs/pair.h"

namespace assay {

struct PassDetail {
  // By output, of the two programs; empty without a profile, and where they can't be derived.
  std::vector<PairBounds> bounds;
  std::optional<FirstDifference> difference;
  std::optional<CollectiveDifference> collective;  // where the pass is a partitioner
  std::string why;                                 // the two can't be held beside each other
};

// Both run on the baseline's inputs. Errors: the limits of the work; others are PassDetail::why.
absl::StatusOr<PassDetail> ComparePass(const Baseline& baseline, const Program& before, const Program& after,
                                       const std::optional<Profile>& profile);

}  // namespace assay

#endif  // ASSAY_FIND_PASSES_PASS_DETAIL_H_
