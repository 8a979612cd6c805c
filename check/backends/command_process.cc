#include "check/backends/command_process.h"

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
#include <string_view>
#include <utility>

#include "base/run_guard.h"
#include "fmt/format.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr size_t kWordsKept = 4096;  // the end of what a command writes, in bytes
constexpr int kPollMilliseconds = 10;

// What runs and what has to be removed, for a handler of signals, which can't ask for memory.
std::atomic<pid_t> running_groups[kMaxCommands];
struct UnfinishedDirectory {
  std::atomic<bool> is_taken = false, is_there = false;
  char path[PATH_MAX] = {};
};
UnfinishedDirectory unfinished_directories[kMaxCommands];

// What a process wrote, without the beginning of it.
class OutputTail {
 public:
  void Add(std::string_view words) {
    text_ += words;
    if (text_.size() > 2 * kWordsKept) text_.erase(0, text_.size() - kWordsKept);
  }
  std::string Text() const {
    std::string_view text = text_;
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
    if (text.size() > kWordsKept) text.remove_prefix(text.size() - kWordsKept);
    return std::string(text);
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
    for (std::atomic<pid_t>& group : running_groups) {
      pid_t nobody = 0;
      if (group.compare_exchange_strong(nobody, kStarting)) {
        group_ = &group;
        break;
      }
    }
    error_ = EAGAIN;
    if (group_ == nullptr || pipe2(pipe_, O_CLOEXEC) != 0) return;
    fcntl(pipe_[0], F_SETFL, O_NONBLOCK);
    child_ = fork();
    if (child_ == 0) BecomeCommand(command.c_str(), pipe_[1]);
    error_ = errno;
    close(std::exchange(pipe_[1], -1));
    if (child_ < 0) return;
    setpgid(child_, child_);  // whoever comes first
    *group_ = child_;
  }
  CommandProcess(const CommandProcess&) = delete;
  CommandProcess& operator=(const CommandProcess&) = delete;
  ~CommandProcess() {
    End();
    if (group_ != nullptr) *group_ = 0;
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
    *group_ = kStarting;
    child_ = -1;
    return status;
  }

 private:
  static constexpr pid_t kStarting = -1;  // of a slot that has no group yet, or no longer

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
    *group_ = kStarting;
    child_ = -1;
  }

  std::atomic<pid_t>* group_ = nullptr;  // null: too many run
  int pipe_[2] = {-1, -1};
  pid_t child_ = -1;
  int error_ = 0;
};

}  // namespace

TemporaryDirectory::TemporaryDirectory() {
  for (int k = 0; k < kMaxCommands && slot_ < 0; ++k) {
    bool taken = false;
    if (unfinished_directories[k].is_taken.compare_exchange_strong(taken, true)) slot_ = k;
  }
  errno = EAGAIN;
  if (slot_ < 0) return;
  UnfinishedDirectory& slot = unfinished_directories[slot_];
  std::error_code error;
  path_ = (fs::temp_directory_path(error) / "assay-backend-XXXXXX").string();
  if (error || path_.size() + 16 > sizeof(slot.path) || mkdtemp(path_.data()) == nullptr) {
    path_.clear();
    return;
  }
  path_.copy(slot.path, path_.size());
  slot.path[path_.size()] = '\0';
  slot.is_there = true;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code error;
  if (!path_.empty()) fs::remove_all(path_, error);
  if (slot_ < 0) return;
  unfinished_directories[slot_].is_there = false;
  unfinished_directories[slot_].is_taken = false;
}

absl::StatusOr<CommandEnd> RunShellCommand(const std::string& command) {
  CommandProcess process(command);
  if (!process.started())
    return EvalError({}, fmt::format("the backend can't be started: {}", std::strerror(process.error())));
  OutputTail words;
  ASSAY_ASSIGN_OR_RETURN(const int status, process.Wait(words));
  CommandEnd end;
  end.words = words.Text();
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  if (WIFEXITED(status)) end.exit_code = WEXITSTATUS(status);
  return end;
}

void EndCommands() {
  for (const std::atomic<pid_t>& running : running_groups) {
    if (const pid_t group = running; group > 0) kill(-group, SIGKILL);
  }
  for (UnfinishedDirectory& directory : unfinished_directories) {
    if (!directory.is_there) continue;
    const size_t length = std::strlen(directory.path);
    for (const char* const file : kTemporaryFiles) {
      directory.path[length] = '/';
      std::strcpy(directory.path + length + 1, file);
      unlink(directory.path);
      directory.path[length] = '\0';
    }
    rmdir(directory.path);
  }
}

}  // namespace assay
