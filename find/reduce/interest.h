// Whether a test case still shows what is looked for. Each class is one question; docs/find.md lists them.
#ifndef ASSAY_FIND_REDUCE_INTEREST_H_
#define ASSAY_FIND_REDUCE_INTEREST_H_

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "check/backend.h"
#include "check/backends/command_process.h"
#include "check/backends/written_program.h"
#include "check/profile.h"
#include "find/reduce/test_case.h"
#include "hlo/load/load.h"

namespace assay {

// What was found of one test case.
struct Interest {
  bool is_interesting = false;
  std::string what;  // in words, for the README; of one that is not interesting, why
  // Of outputs that were held to bounds, by leaf of the root: the largest share of its bound that an element
  // came to.
  std::vector<std::pair<int64_t, double>> shares = {};
};

class InterestTest {
 public:
  virtual ~InterestTest() = default;
  // Runs under the guard of the calling thread's work, whose error it returns; any thread may call it. Other
  // errors say that nothing could be asked, which is not interesting.
  virtual absl::StatusOr<Interest> Ask(const CheckedCase& test_case) const = 0;
  // The command that shows it again, of files with these names.
  virtual std::string Command(const std::string& program, const std::string& inputs) const = 0;
};

// The files of one question, gone with the object.
class CaseFiles {
 public:
  static absl::StatusOr<std::unique_ptr<CaseFiles>> Write(const CheckedCase& test_case, ProgramForm form);
  const std::string& program() const { return program_; }
  const std::string& inputs() const { return inputs_; }

 private:
  TemporaryDirectory directory_;
  std::string program_, inputs_;
};

// How the questions run what they ask.
struct AskOptions {
  ProgramForm form = ProgramForm::kHloText;
  RunOptions run;  // of Assay's own runs
  std::span<const Engine* const> engines;
};

// 'CMD {program} {inputs}' ends with exit code 0.
std::unique_ptr<InterestTest> AskCommand(std::string command, AskOptions options);
// An output has elements outside of the bounds, or with `samples` ones that are implausible. `backend_flags`
// are those of `assay diff` that name the backend and the profile.
struct BoundsQuestion {
  Profile profile;
  std::shared_ptr<Backend> backend;
  std::string backend_flags;
  bool or_implausible = false;
  int64_t samples = 16;
};
std::unique_ptr<InterestTest> AskBounds(BoundsQuestion question, AskOptions options);
// What fails: a backend, or a command without outputs.
struct FailingRunner {
  std::shared_ptr<Backend> backend;  // null: the command
  std::string command;               // 'CMD {program} {inputs}'
  std::string backend_flags;
};
// It ends by a signal, or fails, where Assay evaluates the program. Where the first test case that is asked
// ended by a signal the others have to end by the same one.
std::unique_ptr<InterestTest> AskCrash(FailingRunner runner, AskOptions options);
// It fails with a message that contains the text.
std::unique_ptr<InterestTest> AskMessage(FailingRunner runner, std::string text, AskOptions options);
// The outputs of options.engines, which `engine` names, differ from the reference's.
std::unique_ptr<InterestTest> AskDiffers(std::string engine, AskOptions options);

}  // namespace assay

#endif  // ASSAY_FIND_REDUCE_INTEREST_H_
