// A program of any kind, valid or not, by the exact engines and by the reference, within tight limits;
// and its printed forms.
#ifndef ASSAY_TESTS_MUTANTS_COMPARISON_H_
#define ASSAY_TESTS_MUTANTS_COMPARISON_H_

#include <map>
#include <string>
#include <string_view>

#include "literal/literal.h"

namespace assay::testing {

enum class MutantEnd {
  kRefused,    // no program: exit 3 or 4
  kNotRun,     // its inputs can't be made within the limits, or it needs several devices
  kTimedOut,   // the reference did not end in time
  kFailed,     // the same error by all engines
  kEqual,      // the same bits, steps and values sent
  kDifferent,  // a finding: `text` says what
};
inline constexpr int kNumMutantEnds = 6;

struct MutantOutcome {
  MutantEnd end;
  std::string text;
};

// `name`, of the file that the text is of, says what form it has. `values` are the inputs of the program that
// the mutant was made of; where they do not fit, inputs are drawn from `seed`.
//   - the default exact engines, and those that take steps of any size, give what the reference gives: exit
//     code, results, what is sent to the host, counted steps. Where the reference needs more memory than the
//     limit, they may do without.
//   - HLO text, protos and StableHLO text that the program is printed as are read again, print the same,
//     and give the same.
MutantOutcome CompareMutant(std::string_view name, std::string_view text,
                            const std::map<std::string, Literal>& values, uint64_t seed);

}  // namespace assay::testing

#endif  // ASSAY_TESTS_MUTANTS_COMPARISON_H_
