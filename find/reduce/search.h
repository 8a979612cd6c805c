// Greedy search for a smaller test case that is still interesting: reductions are applied from large steps to
// small ones until none can be.
#ifndef ASSAY_FIND_REDUCE_SEARCH_H_
#define ASSAY_FIND_REDUCE_SEARCH_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "find/reduce/cost.h"
#include "find/reduce/interest.h"
#include "find/reduce/reduction.h"

namespace assay {

struct SearchProgress {
  int64_t tries = 0;
  int64_t instructions = 0, elements = 0;
  std::string_view reduction;  // that is tried
};

struct SearchOptions {
  int jobs = 1;             // test cases that are asked at the same time
  double try_seconds = 10;  // limit of one; a test case that takes longer is not interesting
  double seconds = 0;       // limit of the search; 0: none
  RunLimits limits;         // of each test case, but for the time
  RunOptions run;           // of the runs that give instructions their values
  std::function<bool()> interrupted;
  std::function<void(const SearchProgress&)> progress;
  std::span<const Reduction> reductions = Reductions();
};

struct SearchResult {
  CheckedCase best;
  std::string what;   // InterestTest's, of the best
  int64_t tries = 0;  // test cases that were asked; those that only parallel tries asked are not counted
  std::string ended;  // why before nothing was left to try; empty: there was nothing
  std::vector<std::pair<std::string, int64_t>> applied;  // reductions, and how often they were
};

// The given test case must be interesting; `what` is what was found of it. The result does not depend on
// `jobs`: of several candidates that are interesting the first in order is taken.
SearchResult Reduce(CheckedCase given, std::string what, const InterestTest& test,
                    const SearchOptions& options);

// Asks one test case under the limits of a try.
absl::StatusOr<Interest> AskOnce(const CheckedCase& test_case, const InterestTest& test,
                                 const SearchOptions& options);

}  // namespace assay

#endif  // ASSAY_FIND_REDUCE_SEARCH_H_
