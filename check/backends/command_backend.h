// A command of the user's as a backend: it is told by paths where the program and its inputs lie,
// and where its outputs go.
#ifndef ASSAY_CHECK_BACKENDS_COMMAND_BACKEND_H_
#define ASSAY_CHECK_BACKENDS_COMMAND_BACKEND_H_

#include <string>

#include "check/backend.h"
#include "hlo/load/load.h"

namespace assay {

// The command runs in a shell, in a process group of its own, with {program}, {inputs} and {outputs} replaced
// by quoted paths: of the program (in the form `form` where it was made in memory, or as HLO text if it can't
// be written so), of an .npz file of the arguments,
// and of the .npz or .npy file that it has to write. While it runs the guard of the work is asked (PollWork),
// whose error ends the group; the files are gone afterwards. A command that fails or writes nothing of use is
// an EvalError with the last lines that it wrote; several threads may run one.
class CommandBackend final : public Backend {
 public:
  explicit CommandBackend(std::string command, ProgramForm form = ProgramForm::kHloText)
      : command_(std::move(command)), form_(form) {}

  std::string Name() const override { return command_; }
  absl::StatusOr<Outputs> Run(const Request& request) override;

 private:
  const std::string command_;
  const ProgramForm form_;
};

// Of an error of Run: the signal that ended the command; 0: none did.
int SignalOf(const absl::Status& status);

}  // namespace assay

#endif  // ASSAY_CHECK_BACKENDS_COMMAND_BACKEND_H_
