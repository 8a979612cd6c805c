#include "custom/library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "custom/float_environment.h"
#include "fmt/format.h"

namespace assay::custom {
namespace {

constexpr int kSecondsOfStart = 10;

absl::StatusOr<Registrations> OpenAndCollect(const std::string& path) {
  // A name without a slash would be looked for in the system's folders.
  const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  const KeptFloatEnvironment kept;
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();
    return BadInput(fmt::format("it can't be opened: {}", why == nullptr ? "no reason given" : why));
  }
  const auto version = reinterpret_cast<uint32_t (*)()>(dlsym(library, "assay_abi_version"));
  const auto tell = reinterpret_cast<void (*)(const AssayRegistrar*)>(dlsym(library, "assay_register_ops"));
  if (version == nullptr || tell == nullptr) {
    return BadInput(fmt::format("it is not a library of operations: it exports no {}",
                                version == nullptr ? "assay_abi_version" : "assay_register_ops"));
  }
  if (version() != ASSAY_OP_ABI_VERSION) {  // LIB-2
    return BadInput(
        fmt::format("it is for version {} of the interface, this is {}", version(), ASSAY_OP_ABI_VERSION));
  }
  return Collect(tell);
}

// call() until no signal interrupts it.
template <typename Call>
auto Repeated(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

// What opens the library in a process of its own tells through a pipe that it came to an end, so that one
// that ends the process with exit code 0 is found, too.
absl::Status TryInChild(const std::string& path) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return BadInput(fmt::format("no pipe to a child process: {}", strerror(errno)));
  const pid_t child = fork();
  if (child == 0) {
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM, SIGTERM})
      std::signal(signal, SIG_DFL);
    alarm(kSecondsOfStart);
    static_cast<void>(OpenAndCollect(path));
    const char done = 1;
    _exit(Repeated([&] { return write(ends[1], &done, 1); }) == 1 ? 0 : 1);
  }
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    return BadInput(fmt::format("no child process: {}", strerror(errno)));
  }
  char done = 0;
  // It may have blocked the alarm, or left the pipe to processes of its own.
  pollfd end = {ends[0], POLLIN, 0};
  const auto last = std::chrono::steady_clock::now() + std::chrono::seconds(kSecondsOfStart + 1);
  int ready = 0;
  do {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(last - std::chrono::steady_clock::now());
    ready = poll(&end, 1, static_cast<int>(std::max<int64_t>(left.count(), 0)));
  } while (ready < 0 && errno == EINTR);
  const bool came_through = ready > 0 && Repeated([&] { return read(ends[0], &done, 1); }) == 1;
  close(ends[0]);
  if (ready <= 0) kill(child, SIGKILL);
  int status = 0;
  Repeated([&] { return waitpid(child, &status, 0); });
  if (came_through) return absl::OkStatus();
  if (ready <= 0 || (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM))
    return BadInput(fmt::format("its start takes longer than {} seconds", kSecondsOfStart));
  if (WIFSIGNALED(status))
    return BadInput(fmt::format("its start ends the process: {}", strsignal(WTERMSIG(status))));
  return BadInput(fmt::format("its start ends the process with exit code {}", WEXITSTATUS(status)));
}

}  // namespace

// LIB-1.
absl::StatusOr<std::vector<std::string>> LoadOps(OpRegistry& registry, const std::string& path,
                                                 bool isolated) {
  struct stat file;
  if (stat(path.c_str(), &file) != 0) return BadInput(fmt::format("{}: {}", path, strerror(errno)));
  const LibraryFile id{static_cast<uint64_t>(file.st_dev), static_cast<uint64_t>(file.st_ino)};
  if (registry.HasLoaded(id)) return std::vector<std::string>();
  if (isolated) {
    if (const absl::Status status = TryInChild(path); !status.ok()) return WithPrefix(status, path);
  }
  const absl::StatusOr<Registrations> registrations = OpenAndCollect(path);
  if (!registrations.ok()) return WithPrefix(registrations.status(), path);
  absl::StatusOr<std::vector<std::string>> added = registry.Add(*registrations);
  if (!added.ok()) return WithPrefix(added.status(), path);
  registry.SetLoaded(id);
  return added;
}

}  // namespace assay::custom
