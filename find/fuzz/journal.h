// The state of a campaign as a text file, from which a later session goes on.
#ifndef ASSAY_FIND_FUZZ_JOURNAL_H_
#define ASSAY_FIND_FUZZ_JOURNAL_H_

#include <string>
#include <string_view>

#include "base/error.h"
#include "find/fuzz/fuzzer.h"

namespace assay::fuzz {

// Lines "key value"; `question` is one of them, so that a session asks what the others asked.
std::string WriteJournal(const FuzzState& state, std::string_view question);

// BadInput, with the line, for a text that WriteJournal did not write, or of another question.
absl::StatusOr<FuzzState> ReadJournal(std::string_view text, std::string_view question);

}  // namespace assay::fuzz

#endif  // ASSAY_FIND_FUZZ_JOURNAL_H_
