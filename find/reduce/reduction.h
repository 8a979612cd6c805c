// The table of reductions. Each lists the places of a program where it can be applied, and applies itself to
// some of them; whether the result is valid, simpler and still interesting is the search's to find out
// (search.h).
//
// A new reduction is two functions, for places and application, and a line in reductions.cc.
#ifndef ASSAY_FIND_REDUCE_REDUCTION_H_
#define ASSAY_FIND_REDUCE_REDUCTION_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "find/reduce/test_case.h"

namespace assay {

// What the numbers are is the reduction's to say; `computation` and `instruction` are indices.
struct ReductionPlace {
  int32_t computation = 0;
  int32_t instruction = 0;
  int64_t which = 0;
  int64_t how = 0;
};

// How the places of a reduction are tried.
enum class TryOrder : uint8_t {
  kOneByOne,   // each alone, in the order of the list
  kFromStart,  // the same, and from the start of the list again after one that could be applied
  kHalving,    // all at once, then halves, quarters, …, each alone
};

struct Reduction {
  std::string_view name;  // for progress and the README: "drop outputs"
  TryOrder order;
  std::vector<ReductionPlace> (*places)(const CheckedCase& from);
  // Error: InvalidProgram where it can't be applied to these places after all.
  absl::StatusOr<TestCase> (*apply)(const CheckedCase& from, std::span<const ReductionPlace> places);
};

// From large steps to small ones.
std::span<const Reduction> Reductions();

}  // namespace assay

#endif  // ASSAY_FIND_REDUCE_REDUCTION_H_
