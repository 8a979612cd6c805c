// Whether a program and others that mean the same (rewrites.h) give the same outputs: a question to Assay
// itself.
#ifndef ASSAY_FIND_FUZZ_MEANING_H_
#define ASSAY_FIND_FUZZ_MEANING_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "check/profile.h"
#include "find/fuzz/rewrites.h"
#include "find/reduce/interest.h"

namespace assay::fuzz {

struct MeaningOptions {
  AskOptions ask;
  // By whose bounds outputs are compared where roundings have moved.
  Profile profile;
};

// How the outputs of a program and of one that it was rewritten to differ, in words; empty: they do not. The
// second one runs on as many devices as it has partitions, of which each has to give the outputs.
//
// Keeps::kBits: they are equal, NaN for NaN. Keeps::kMeaning: there are numbers that lie within the bounds of
// both, as the value does that is not rounded anywhere; programs are not compared where a value that the
// rewrite has changed is infinite or NaN. Errors are those of the runs.
absl::StatusOr<std::string> OutputsDiffer(const CheckedCase& one, const CheckedCase& other, Keeps keeps,
                                          const MeaningOptions& options);

// A program that means the same and has other outputs.
struct OtherMeaning {
  CheckedCase program;
  Keeps keeps = Keeps::kBits;
  std::string what = {};  // the rewrite, and how outputs differ
};
// The command that compares the program with the other one, of files with these names.
std::string MeaningCommand(const OtherMeaning& other, std::string_view profile, const std::string& program,
                           const std::string& rewritten, const std::string& inputs);
// Tries each rewrite at each of its places; nullopt: none shows a difference.
absl::StatusOr<std::optional<OtherMeaning>> FindOtherMeaning(const CheckedCase& test_case,
                                                             const MeaningOptions& options);

// Interesting where FindOtherMeaning finds one.
std::unique_ptr<InterestTest> AskMeaning(MeaningOptions options);

}  // namespace assay::fuzz

#endif  // ASSAY_FIND_FUZZ_MEANING_H_
