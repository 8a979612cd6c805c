// Whether a program and others that mean the same (rewrites.h) give the same outputs: a question to Assay
// itself.
#ifndef ASSAY_FIND_FUZZ_MEANING_H_
#define ASSAY_FIND_FUZZ_MEANING_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "find/reduce/interest.h"

namespace assay::fuzz {

// How the outputs of two programs differ, in words; empty: they are equal, NaN for NaN. Errors are those of
// the runs.
absl::StatusOr<std::string> OutputsDiffer(const CheckedCase& one, const CheckedCase& other,
                                          const AskOptions& options);

// A program that means the same and has other outputs.
struct OtherMeaning {
  CheckedCase program;
  std::string what;  // the rewrite, and how outputs differ
};
// Tries each rewrite at each of its places; nullopt: none shows a difference.
absl::StatusOr<std::optional<OtherMeaning>> FindOtherMeaning(const CheckedCase& test_case,
                                                             const AskOptions& options);

// Interesting where FindOtherMeaning finds one.
std::unique_ptr<InterestTest> AskMeaning(AskOptions options);

}  // namespace assay::fuzz

#endif  // ASSAY_FIND_FUZZ_MEANING_H_
