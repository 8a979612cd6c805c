// Two programs of the same parameters and results, run on the same inputs: what a compiler made of a program,
// before and after.
#ifndef ASSAY_FIND_PROGRAMS_PAIR_H_
#define ASSAY_FIND_PROGRAMS_PAIR_H_

#include <optional>
#include <string>
#include <vector>

#include "check/conformance.h"
#include "check/profile.h"
#include "find/programs/first_difference.h"
#include "find/programs/value_trace.h"
#include "literal/compare.h"
#include "run/inputs/program_io.h"

namespace assay {

// InvalidProgram where the arrays of the parameters, or those of the results, are not the same ones in the
// same order. Layouts, and how the arrays are put into tuples, make no difference.
absl::Status CheckSameInterface(const Module& first, const Module& second);

// The same arrays as the parameters of `module`, and what the host sends.
std::vector<DeviceInputs> RegroupedFor(const Module& module, const std::vector<DeviceInputs>& inputs);

// The results of two programs by key; where the keys are not the same ones, in order, by the first one's.
struct ResultPair {
  std::string key;
  Literal first, second;
};
absl::StatusOr<std::vector<ResultPair>> PairResults(const NamedLiterals& first, const NamedLiterals& second);

// What each program's exact output is to the bounds of the other one.
struct PairBounds {
  Conformance by_first, by_second;
  // By the bounds of either: inside where one of them says so, or bits are the same, outside where both do.
  int64_t inside = 0, outside = 0, undecided = 0;
};
// By output of the first. Elements with the same bits are inside. The second program's bounds may be
// NotSupported: by_second.error then says why.
absl::StatusOr<std::vector<PairBounds>> BoundPair(const Program& first, const ProgramInputs& first_inputs,
                                                  const Program& second, const ProgramInputs& second_inputs,
                                                  const Profile& profile);

// Where the outputs part: FindFirstDifference of both programs' traces.
absl::StatusOr<std::optional<FirstDifference>> FirstDifferenceOf(const Program& first,
                                                                 const ProgramInputs& first_inputs,
                                                                 const Program& second,
                                                                 const ProgramInputs& second_inputs,
                                                                 const Profile* profile = nullptr);

}  // namespace assay

#endif  // ASSAY_FIND_PROGRAMS_PAIR_H_
