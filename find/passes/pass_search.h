// How many passes a compiler runs before outputs change: by bisection, where it can stop after so many.
#ifndef ASSAY_FIND_PASSES_PASS_SEARCH_H_
#define ASSAY_FIND_PASSES_PASS_SEARCH_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "find/passes/baseline.h"
#include "find/passes/pass_detail.h"

namespace assay {

// The program after a number of passes.
struct PassPoint {
  std::string why;  // it can't be evaluated, or the compiler failed
  int exit_code = 0;
  std::vector<OutputChange> outputs;  // from the baseline
  bool changed = false, outside = false;
};

// A number of passes after which something does not hold, and a larger one after which it does; the compiler
// fails, or its program can't be evaluated, after all numbers between them.
struct PassBoundary {
  int64_t before = 0, after = 0;
  PassDetail detail;
};

struct PassSearch {
  int64_t low = 0, high = 0;
  std::map<int64_t, PassPoint> points;  // what was evaluated, by the number of passes
  bool has_bounds = false;
  std::string why_no_bounds;  // with a profile
  // Outputs have other bits than the baseline's, and are outside of its bounds. nullopt: both ends agree.
  std::optional<PassBoundary> change, outside;
  absl::Status ended;  // by the limits of the work

  const PassPoint& end() const { return points.at(high); }
};

// Evaluates both ends, and bisects where they do not agree: it takes for granted that what holds after n
// passes holds after more. `compile` gives the program after so many passes. Errors: those of the ends.
absl::StatusOr<PassSearch> SearchPasses(
    const Baseline& baseline, const std::optional<Profile>& profile, int64_t low, int64_t high,
    const std::function<absl::StatusOr<Program>(int64_t passes)>& compile);

}  // namespace assay

#endif  // ASSAY_FIND_PASSES_PASS_SEARCH_H_
