// A written file appears under its name complete or not at all.
#include "base/file_io.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>

#include "base/counted.h"
#include "base/run_guard.h"
#include "fmt/format.h"

namespace assay {
namespace {

// A pipe or a device may never end.
constexpr size_t kMaxStreamBytes = size_t{4} << 30;
// A file may have so many bytes whatever the limit on memory: programs are read whole,
// and what counts is their values.
constexpr size_t kAlwaysRead = size_t{16} << 20;

constexpr size_t kReadAtOnce = size_t{8} << 20;  // between two polls

absl::Status FileError(const std::string& path, std::string_view doing, int error) {
  return BadInput(fmt::format("{}: can't {}: {}", path, doing, std::strerror(error)));
}

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() {
    if (fd_ > STDERR_FILENO) ::close(fd_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return fd_; }
  // 0, or what went wrong. Some file systems report a failed write only here.
  int Close() {
    const int fd = fd_;
    fd_ = -1;
    return fd > STDERR_FILENO && ::close(fd) != 0 && errno != EINTR ? errno : 0;
  }

 private:
  int fd_;
};

using FileWriter = absl::FunctionRef<int(int fd)>;

// A device, which takes bytes as they come.
absl::Status WriteDirectly(const std::string& path, FileWriter write) {
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.get() < 0) return FileError(path, "open", errno);
  if (const int error = write(file.get()); error != 0) return FileError(path, "write", error);
  if (const int error = file.Close(); error != 0) return FileError(path, "write", error);
  return absl::OkStatus();
}

// The folder part of a path, with its slash; empty for the working directory.
std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

void SyncFolder(const std::string& folder) {
  FileDescriptor directory(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() >= 0) ::fsync(directory.get());
}

// The temporary file that is being written, for a handler of signals to remove; of one thread at a time.
struct UnfinishedFile {
  std::atomic<bool> taken = false;
  std::atomic<bool> named = false;
  char name[PATH_MAX];
};
UnfinishedFile unfinished_file;

class UnfinishedFileName {
 public:
  UnfinishedFileName() : taken_(!unfinished_file.taken.exchange(true)) {}
  ~UnfinishedFileName() {
    if (!taken_) return;
    unfinished_file.named = false;
    unfinished_file.taken = false;
  }
  UnfinishedFileName(const UnfinishedFileName&) = delete;
  UnfinishedFileName& operator=(const UnfinishedFileName&) = delete;
  // Comes before the file is made.
  void Set(const std::string& name) {
    if (!taken_ || name.size() >= sizeof(unfinished_file.name)) return;
    unfinished_file.named = false;
    std::memcpy(unfinished_file.name, name.c_str(), name.size() + 1);
    unfinished_file.named = true;
  }

 private:
  const bool taken_;
};

// A new file beside `path`, of a name that nothing else has.
absl::StatusOr<std::string> CreateBeside(const std::string& path, int* fd, UnfinishedFileName& unfinished) {
  constexpr int kAttempts = 1000;
  for (int i = 0; i < kAttempts; ++i) {
    std::string name = fmt::format("{}.assay-{}-{}.tmp", FolderOf(path), ::getpid(), i);
    unfinished.Set(name);
    *fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (*fd >= 0) return name;
    if (errno != EEXIST) return FileError(path, "create a file beside it", errno);
  }
  return FileError(path, "create a file beside it", EEXIST);
}

// Not every kind of file can be synchronized.
int Sync(int fd) {
  int failed;
  do failed = ::fsync(fd);
  while (failed != 0 && errno == EINTR);
  return failed != 0 && errno != EINVAL ? errno : 0;
}

absl::Status WriteAndRename(const std::string& path, FileWriter write, const struct stat* old) {
  int fd = -1;
  UnfinishedFileName unfinished;
  ASSAY_ASSIGN_OR_RETURN(const std::string temporary, CreateBeside(path, &fd, unfinished));
  FileDescriptor file(fd);
  int error = write(fd);
  if (error == 0 && old != nullptr && ::fchmod(fd, old->st_mode & 07777) != 0) error = errno;
  if (error == 0) error = Sync(fd);
  if (const int close_error = file.Close(); error == 0) error = close_error;
  if (error == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(temporary.c_str());
    return FileError(path, "write", error);
  }
  SyncFolder(FolderOf(path));
  return absl::OkStatus();
}

// Where a file of a name is written.
struct Target {
  std::string path;                // with links followed
  bool is_device = false;          // or a pipe: bytes go to it as they come
  std::optional<struct stat> old;  // what is there
};

absl::StatusOr<Target> TargetOf(const std::string& path) {
  struct stat found;
  if (::stat(path.c_str(), &found) != 0) {
    if (errno != ENOENT) return FileError(path, "write", errno);
    // Nothing there, or a link to nothing: the link stays and what it names is made.
    // Links that go round were ELOOP.
    char named[PATH_MAX];
    const ssize_t length = ::readlink(path.c_str(), named, sizeof(named));
    if (length < 0) return Target{path, false, std::nullopt};
    const std::string next(named, static_cast<size_t>(length));
    return TargetOf(next.starts_with('/') ? next : FolderOf(path) + next);
  }
  if (S_ISDIR(found.st_mode)) return FileError(path, "write", EISDIR);
  if (!S_ISREG(found.st_mode)) return Target{path, true, found};
  if (::access(path.c_str(), W_OK) != 0) return FileError(path, "write", errno);
  char resolved[PATH_MAX];
  if (::realpath(path.c_str(), resolved) == nullptr) return FileError(path, "write", errno);
  return Target{resolved, false, found};
}

size_t MachineMemory() {
  return static_cast<size_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
}

// Reading a file whole takes up to `size` bytes.
absl::Status CheckRoom(const std::string& path, size_t size) {
  const std::shared_ptr<MemoryBudget>& budget = BudgetScope::Current();
  if (size <= kAlwaysRead || budget == nullptr) return absl::OkStatus();
  const auto bytes = static_cast<int64_t>(size);
  if (!budget->Reserve(bytes)) return budget->Refusal(path, bytes);
  budget->Release(bytes);
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadWhole(const std::string& path) {
  const bool standard_input = path == "-";
  FileDescriptor file(standard_input ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return FileError(path, "open", errno);
  struct stat status;
  if (::fstat(file.get(), &status) != 0) return FileError(path, "read", errno);
  if (S_ISDIR(status.st_mode)) return FileError(path, "read", EISDIR);
  const bool regular = S_ISREG(status.st_mode);
  const size_t expected = regular ? static_cast<size_t>(status.st_size) : 0;
  const size_t limit = regular ? MachineMemory() : kMaxStreamBytes;
  if (expected > limit)
    return BadInput(fmt::format("{}: over the limit of {}", path, Counted(limit, "byte")));
  ASSAY_RETURN_IF_ERROR(CheckRoom(path, expected));
  std::string bytes;
  size_t size = 0;
  while (true) {
    ASSAY_RETURN_IF_ERROR(PollWork());
    if (size == bytes.size()) {
      const size_t larger = std::max({expected + 1, size + size / 2, size_t{1} << 16});
      ASSAY_RETURN_IF_ERROR(CheckRoom(path, larger - 1));
      bytes.resize(larger);
    }
    const ssize_t got = ::read(file.get(), bytes.data() + size, std::min(bytes.size() - size, kReadAtOnce));
    // What a pipe or a terminal is waited for in vain can be interrupted, as opening it can.
    if (got < 0 && errno == EINTR && regular) continue;
    if (got < 0) return FileError(path, "read", errno);
    if (got == 0) break;
    size += got;
    if (size > limit) return BadInput(fmt::format("{}: over the limit of {}", path, Counted(limit, "byte")));
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace

void RemoveUnfinishedFile() {
  if (unfinished_file.named) ::unlink(unfinished_file.name);
}

int WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), std::min<size_t>(bytes.size(), INT_MAX));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(written);
  }
  return 0;
}

absl::Status WriteFileAtomically(const std::string& path, FileWriter write) {
  ASSAY_ASSIGN_OR_RETURN(const Target target, TargetOf(path));
  if (target.is_device) return WriteDirectly(target.path, write);
  return WriteAndRename(target.path, write, target.old ? &*target.old : nullptr);
}

absl::Status CheckWritable(const std::string& path) {
  ASSAY_ASSIGN_OR_RETURN(const Target target, TargetOf(path));
  if (target.is_device)
    return ::access(target.path.c_str(), W_OK) == 0 ? absl::OkStatus() : FileError(path, "open", errno);
  int fd = -1;
  UnfinishedFileName unfinished;
  ASSAY_ASSIGN_OR_RETURN(const std::string temporary, CreateBeside(target.path, &fd, unfinished));
  const FileDescriptor file(fd);
  ::unlink(temporary.c_str());
  return absl::OkStatus();
}

absl::Status CheckReadable(const std::string& path) {
  if (path == "-") return absl::OkStatus();
  struct stat status;
  if (::stat(path.c_str(), &status) != 0 || ::access(path.c_str(), R_OK) != 0)
    return FileError(path, "open", errno);
  return S_ISDIR(status.st_mode) ? FileError(path, "read", EISDIR) : absl::OkStatus();
}

absl::Status WriteFileAtomically(const std::string& path, std::string_view bytes) {
  return WriteFileAtomically(path, [bytes](int fd) { return WriteAll(fd, bytes); });
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  try {
    return ReadWhole(path);
  } catch (const std::bad_alloc&) {
    return OutOfMemory(path);
  }
}

}  // namespace assay
