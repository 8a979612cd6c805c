#include "check/backends/command_backend.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "absl/strings/str_replace.h"
#include "base/error.h"
#include "base/file_io.h"
#include "base/quoted.h"
#include "base/run_guard.h"
#include "check/backends/output_keys.h"
#include "fmt/format.h"
#include "hlo/text/printer.h"
#include "literal/npz.h"
#include "run/inputs/program_io.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr size_t kWordsKept = 4096;  // the end of what a command writes, in bytes
constexpr int kPollMilliseconds = 10;

// The files of the one directory, which a handler of signals removes without asking for memory.
constexpr const char* kFiles[] = {"program.hlo", "inputs.npz", "outputs.npz"};
std::atomic<pid_t> running_group = 0;
char unfinished_directory[PATH_MAX];
std::atomic<bool> has_directory = false;

// A directory that is gone with the object, with all that is in it.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::error_code error;
    path_ = (fs::temp_directory_path(error) / "assay-backend-XXXXXX").string();
    if (error || path_.size() + 16 > sizeof(unfinished_directory) || mkdtemp(path_.data()) == nullptr) {
      path_.clear();
      return;
    }
    path_.copy(unfinished_directory, path_.size());
    unfinished_directory[path_.size()] = '\0';
    has_directory = true;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code error;
    if (!path_.empty()) fs::remove_all(path_, error);
    has_directory = false;
  }
  bool ok() const { return !path_.empty(); }
  std::string File(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;  // empty: it could not be made
};

// What a process wrote, without the beginning of it.
class OutputTail {
 public:
  void Add(std::string_view words) {
    text_ += words;
    if (text_.size() > 2 * kWordsKept) text_.erase(0, text_.size() - kWordsKept);
  }
  // To stand behind a message; empty where there are none.
  std::string Text() const {
    std::string_view text = text_;
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
    if (text.size() > kWordsKept) text.remove_prefix(text.size() - kWordsKept);
    return text.empty() ? "" : fmt::format("; it wrote: {}", text);
  }

 private:
  std::string text_;
};

[[noreturn]] void BecomeCommand(const char* command, int words) {
  setpgid(0, 0);
  // What ends this process by force ends the command, too.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_DFL);
  const int nothing = open("/dev/null", O_RDONLY);
  if (nothing >= 0) dup2(nothing, STDIN_FILENO);
  dup2(words, STDOUT_FILENO);
  dup2(words, STDERR_FILENO);
  execl("/bin/sh", "sh", "-c", command, nullptr);
  _exit(127);
}

// A command that runs, in a group of processes that ends with the object.
class CommandProcess {
 public:
  explicit CommandProcess(const std::string& command) {
    if (pipe2(pipe_, O_CLOEXEC) != 0) return;
    fcntl(pipe_[0], F_SETFL, O_NONBLOCK);
    child_ = fork();
    if (child_ == 0) BecomeCommand(command.c_str(), pipe_[1]);
    error_ = errno;
    close(std::exchange(pipe_[1], -1));
    if (child_ < 0) return;
    setpgid(child_, child_);  // whoever comes first
    running_group = child_;
  }
  CommandProcess(const CommandProcess&) = delete;
  CommandProcess& operator=(const CommandProcess&) = delete;
  ~CommandProcess() {
    End();
    for (const int end : pipe_) {
      if (end >= 0) close(end);
    }
  }

  bool started() const { return child_ > 0; }
  int error() const { return error_; }

  // The status that waitpid tells; the guard's error where that came first.
  absl::StatusOr<int> Wait(OutputTail& words) {
    int status = 0;
    while (true) {
      pollfd end = {pipe_[0], POLLIN, 0};
      poll(&end, 1, kPollMilliseconds);
      // Once all of it have closed their end a poll returns at once.
      if (!Read(words)) usleep(kPollMilliseconds * 1000);
      const pid_t ended = waitpid(child_, &status, WNOHANG);
      if (ended == child_) break;
      if (ended < 0 && errno != EINTR) return EvalError({}, "the backend's process is lost");
      ASSAY_RETURN_IF_ERROR(PollWork());
    }
    Read(words);
    // The number is not another process's before its group, which may have more processes, is ended.
    kill(-child_, SIGKILL);
    running_group = 0;
    child_ = -1;
    return status;
  }

 private:
  // False at the end of what there is to come.
  bool Read(OutputTail& words) {
    char buffer[4096];
    while (true) {
      const ssize_t n = read(pipe_[0], buffer, sizeof(buffer));
      if (n > 0) words.Add({buffer, static_cast<size_t>(n)});
      if (n == 0) return false;
      if (n < 0 && errno != EINTR) return true;
    }
  }

  void End() {
    if (child_ <= 0) return;
    kill(-child_, SIGKILL);
    kill(child_, SIGKILL);
    while (waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
    }
    running_group = 0;
    child_ = -1;
  }

  int pipe_[2] = {-1, -1};
  pid_t child_ = -1;
  int error_ = 0;
};

absl::Status RunCommand(const std::string& command, OutputTail& words) {
  CommandProcess process(command);
  if (!process.started())
    return EvalError({}, fmt::format("the backend can't be started: {}", std::strerror(process.error())));
  ASSAY_ASSIGN_OR_RETURN(const int status, process.Wait(words));
  if (WIFSIGNALED(status)) {
    return EvalError({}, fmt::format("the backend was ended by signal {} ({}){}", WTERMSIG(status),
                                     strsignal(WTERMSIG(status)), words.Text()));
  }
  if (WEXITSTATUS(status) == 0) return absl::OkStatus();
  return EvalError(
      {}, fmt::format("the backend ended with exit code {}, want 0{}", WEXITSTATUS(status), words.Text()));
}

}  // namespace

void EndCommandBackend() {
  if (const pid_t group = running_group; group > 0) kill(-group, SIGKILL);
  if (!has_directory) return;
  const size_t length = std::strlen(unfinished_directory);
  for (const char* const file : kFiles) {
    unfinished_directory[length] = '/';
    std::strcpy(unfinished_directory + length + 1, file);
    unlink(unfinished_directory);
    unfinished_directory[length] = '\0';
  }
  rmdir(unfinished_directory);
}

absl::StatusOr<Backend::Outputs> CommandBackend::Run(const Request& request) {
  const TemporaryDirectory directory;
  if (!directory.ok())
    return EvalError({}, fmt::format("no temporary directory for the backend: {}", std::strerror(errno)));
  const std::string inputs = directory.File(kFiles[1]), outputs = directory.File(kFiles[2]);
  std::string program = request.path;
  if (program.empty()) {
    program = directory.File(kFiles[0]);
    ASSAY_RETURN_IF_ERROR(WriteFileAtomically(program, ModuleToText(request.module)));
  }
  NamedLiterals leaves;
  for (auto& [key, value] : LeavesOfArguments(request.arguments)) leaves.emplace_back(key, value);
  ASSAY_RETURN_IF_ERROR(WriteNpzFile(inputs, leaves));
  const std::string command = absl::StrReplaceAll(command_, {{"{program}", ShellWord(program)},
                                                             {"{inputs}", ShellWord(inputs)},
                                                             {"{outputs}", ShellWord(outputs)}});
  OutputTail words;
  ASSAY_RETURN_IF_ERROR(RunCommand(command, words));
  std::error_code error;
  if (!fs::exists(outputs, error))
    return EvalError({}, fmt::format("the backend wrote no {{outputs}}{}", words.Text()));
  const auto arrays = ReadOutputs(outputs);
  absl::StatusOr<Outputs> read = arrays.ok() ? DecodeOutputs(request.module, *arrays) : arrays.status();
  if (read.ok()) return read;
  return EvalError(
      {}, fmt::format("outputs of the backend: {}{}", std::string(read.status().message()), words.Text()));
}

}  // namespace assay
