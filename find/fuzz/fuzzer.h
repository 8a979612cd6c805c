// Generated programs, one after the other, against something that runs them; what differs is made smaller,
// and kept once for each cause.
#ifndef ASSAY_FIND_FUZZ_FUZZER_H_
#define ASSAY_FIND_FUZZ_FUZZER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "check/profile.h"
#include "find/fuzz/corpus.h"
#include "find/fuzz/generator.h"
#include "find/reduce/interest.h"
#include "find/reduce/search.h"

namespace assay::fuzz {

// What is asked of every program.
struct FuzzQuestions {
  // Whether results are wrong: the outputs' bounds, or the bits of engines.
  std::shared_ptr<const InterestTest> wrong;
  // What wrong results look like before the program is made smaller, such as the first wrong instruction:
  // those that look the same have one cause. Empty, or null: it can't be said.
  std::function<std::string(const CheckedCase&)> sign;
  // Whether what runs it ends by a signal; null: it is this process. Made anew for each finding, as it
  // remembers the first signal.
  std::function<std::unique_ptr<InterestTest>()> crash;
};

struct FuzzOptions {
  std::string folder;  // findings, and the journal
  std::string what;    // what is asked, in words; a journal of another question is refused
  uint64_t seed = 1;
  int64_t programs = 0;  // 0: no limit
  double seconds = 0;    // 0: no limit
  int64_t findings = 0;  // ends after so many causes; 0: no limit
  GeneratorOptions generator;
  SearchOptions search;  // of the reduction of a finding
  AskOptions ask;        // of Assay's own runs
  Profile profile;       // by whose bounds programs are compared that are rounded in other places
  std::function<bool()> interrupted;
};

// What a finding is of.
enum class FindingKind : uint8_t {
  kWrong,    // results
  kCrash,    // what runs the program ends by a signal, or takes too long
  kMeaning,  // two programs that mean the same give other results: a fault of Assay
};

// "wrong", "crash", "meaning": of folders, titles and JSON.
std::string_view KindName(FindingKind kind);

struct FuzzFinding {
  FindingKind kind = FindingKind::kWrong;
  std::string cause;   // CauseOf the smallest program
  std::string folder;  // of the first one
  int64_t count = 1;   // programs with this cause, or with its first sign
};

struct FuzzState {
  uint64_t seed = 1;
  int64_t next = 0;            // number of the next program
  double seconds = 0;          // of all sessions
  int64_t judged = 0;          // programs of which outputs were compared
  int64_t without_result = 0;  // Assay itself gives an error: a limit, or bad indices
  int64_t rewritten = 0;       // programs that were also written in another way
  Corpus corpus;
  std::map<std::string, int64_t> refused;  // by skeleton: what the backend said that it can't do
  // What findings looked like at first -> their indices. Crashes of several causes look the same.
  std::map<std::string, std::set<size_t>> signs;
  std::vector<FuzzFinding> findings;
};

struct FuzzProgress {
  const FuzzState& state;
  std::string_view doing;  // "reducing"; empty: running programs
};

// Goes on where the folder's journal ends, or begins one. Ends at a limit, or when interrupted, with the
// journal written. Errors: BadInput for a folder or journal that can't be read or written, or of another
// question.
absl::StatusOr<FuzzState> Fuzz(const FuzzOptions& options, const FuzzQuestions& questions,
                               const std::function<void(const FuzzProgress&)>& progress);

}  // namespace assay::fuzz

#endif  // ASSAY_FIND_FUZZ_FUZZER_H_
