// Commands of the user's: each runs in a shell, in a process group of its own.
#ifndef ASSAY_CHECK_BACKENDS_COMMAND_PROCESS_H_
#define ASSAY_CHECK_BACKENDS_COMMAND_PROCESS_H_

#include <string>

#include "base/error.h"

namespace assay {

// So many commands run, and so many temporary directories exist, at the same time.
inline constexpr int kMaxCommands = 128;

// Names of the files that a TemporaryDirectory may have: a handler of signals removes these.
inline constexpr const char* kTemporaryFiles[] = {"program.hlo", "program.mlir", "program.pb", "inputs.npz",
                                                  "outputs.npz"};

// A directory that is removed with the object, with all that is in it.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory();
  bool ok() const { return !path_.empty(); }  // else errno says why it could not be made
  std::string File(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;  // empty: it could not be made
  int slot_ = -1;
};

// How a command ended.
struct CommandEnd {
  int signal = 0;     // that ended it; 0: none did
  int exit_code = 0;  // where no signal did
  std::string words;  // the end of what it wrote to its standard output and error

  bool ok() const { return signal == 0 && exit_code == 0; }
  // The same signal where it ended a process that the shell waited for: its exit code is then 128 more.
  int SignalBehindShell() const {
    return signal == 0 && exit_code > 128 && exit_code <= 128 + 64 ? exit_code - 128 : signal;
  }
};

// While it runs the guard of the work is asked (PollWork), whose error ends the group. Other errors:
// EvalError where it can't be started. Any thread may call this.
absl::StatusOr<CommandEnd> RunShellCommand(const std::string& command);

// Kills the commands that run, and removes the temporary directories: for a handler of signals that ends the
// process.
void EndCommands();

}  // namespace assay

#endif  // ASSAY_CHECK_BACKENDS_COMMAND_PROCESS_H_
