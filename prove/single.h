// Proofs over all 2^32 inputs of an f32 function: tools/prove --f32 FUNCTION.
//
// The inputs are dealt to kUnits units, each spread over the whole range. A finished unit is noted in a state
// file, so that a run can be stopped and taken up again; the file holds for one build of the prover only.
#ifndef ASSAY_PROVE_SINGLE_H_
#define ASSAY_PROVE_SINGLE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "prove/functions.h"
#include "prove/report.h"
#include "prove/subject.h"

namespace assay::prove {

inline constexpr int64_t kUnits = 4096;

struct Shard {
  int64_t index = 0, count = 1;  // units u with u mod count == index
};

// The strips s of kStrip successive patterns with s mod kUnits == unit; `strips` of them, or all.
Proof ProveUnit(const Function1& f, const Subject& subject, int64_t unit, int64_t strips = INT64_MAX);

// Runs the units of the shard that the state file in `folder` does not have.
absl::Status ProveSingle(const Function1& f, const std::string& engine, Shard shard, int jobs,
                         const std::string& folder, Ledger& ledger);

}  // namespace assay::prove

#endif  // ASSAY_PROVE_SINGLE_H_
