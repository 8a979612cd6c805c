#include "base/new_folder.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "fmt/format.h"

namespace assay {
namespace {

absl::Status CannotWriteFolder(const std::string& path, int error = errno) {
  return BadInput(fmt::format("{}: {}", path, std::strerror(error)));
}

// Puts entries of one folder into another one. What was put in goes back with the object, unless it is kept.
class Move {
 public:
  Move(std::string from, std::string to) : from_(std::move(from)), to_(std::move(to)) {}
  Move(const Move&) = delete;
  Move& operator=(const Move&) = delete;
  ~Move() {
    for (; !moved_.empty(); moved_.pop_back()) {
      const Entry& entry = moved_.back();
      RenameFile(entry.to, entry.from, entry.flags);
    }
  }

  // An entry that is there already goes to where the new one came from.
  absl::Status Put(const std::string& name) {
    const std::string to = to_ + name;
    struct stat there;
    if (::lstat(to.c_str(), &there) == 0) {
      const int error = Rename({from_ + name, to, RENAME_EXCHANGE});
      if (error != EINVAL) return StatusOf(error, to);
      ASSAY_RETURN_IF_ERROR(TakeOut(name, name + ".old"));
    }
    return StatusOf(Rename({from_ + name, to, RENAME_NOREPLACE}), to);
  }
  // The other way round, under another name.
  absl::Status TakeOut(const std::string& name, const std::string& as) {
    const std::string to = from_ + as;
    return StatusOf(Rename({to_ + name, to, RENAME_NOREPLACE}), to);
  }
  void Keep() { moved_.clear(); }

 private:
  struct Entry {
    std::string from, to;
    unsigned flags;
  };

  static absl::Status StatusOf(int error, const std::string& path) {
    return error == 0 ? absl::OkStatus() : CannotWriteFolder(path, error);
  }

  // 0 or errno. Takes memory before it renames: what is done can always be taken back.
  int Rename(Entry entry) {
    moved_.push_back(std::move(entry));
    const Entry& done = moved_.back();
    if (RenameFile(done.from, done.to, done.flags)) return 0;
    const int error = errno;
    moved_.pop_back();
    return error;
  }

  // Some file systems, such as NFS, have no flags (EINVAL): there a name that appears meanwhile is replaced.
  static bool RenameFile(const std::string& from, const std::string& to, unsigned flags) {
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), flags) == 0) return true;
    return errno == EINVAL && flags == RENAME_NOREPLACE && std::rename(from.c_str(), to.c_str()) == 0;
  }

  const std::string from_, to_;
  std::vector<Entry> moved_;
};

absl::Status PutIn(const std::string& from, const std::string& path, const std::string& last) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(from, error), end; !error && entry != end;
       entry.increment(error)) {
    if (std::string name = entry->path().filename(); name != last) names.push_back(std::move(name));
  }
  if (error) return BadInput(fmt::format("{}: {}", from, error.message()));
  Move move(from + "/", path + "/");
  struct stat there;
  if (::lstat((path + "/" + last).c_str(), &there) == 0)
    ASSAY_RETURN_IF_ERROR(move.TakeOut(last, last + ".old"));
  for (const std::string& name : names) ASSAY_RETURN_IF_ERROR(move.Put(name));
  ASSAY_RETURN_IF_ERROR(move.Put(last));
  move.Keep();
  return absl::OkStatus();
}

}  // namespace

UnfinishedFiles::~UnfinishedFiles() {
  for (; !paths_.empty(); paths_.pop_back()) std::remove(paths_.back().c_str());
}

absl::Status WriteIntoFolder(
    const std::string& path, std::string_view last,
    absl::FunctionRef<absl::Status(const std::string& folder, UnfinishedFiles& files)> fill) {
  std::string target = path;
  while (target.size() > 1 && target.ends_with('/')) target.pop_back();
  struct stat there;
  const bool is_there = ::stat(target.c_str(), &there) == 0;
  if (const auto parent = std::filesystem::path(target).parent_path(); !is_there && !parent.empty()) {
    std::error_code error;
    std::filesystem::create_directories(parent, error);
    if (error) return BadInput(fmt::format("can't make the folder '{}': {}", path, error.message()));
  }
  // In the folder where there is one: what is beside it may be another file system, or another user's.
  UnfinishedFiles files;
  std::string& name = files.Add(target + (is_there ? "/.XXXXXX" : ".XXXXXX"));
  if (mkdtemp(name.data()) == nullptr) return CannotWriteFolder(name);
  const std::string temporary = name;
  ASSAY_RETURN_IF_ERROR(fill(temporary, files));
  if (is_there) {
    ASSAY_RETURN_IF_ERROR(PutIn(temporary, target, std::string(last)));
    std::error_code ignored;
    std::filesystem::remove_all(temporary, ignored);  // what was replaced
    return absl::OkStatus();
  }
  if (chmod(temporary.c_str(), 0755) != 0 || std::rename(temporary.c_str(), target.c_str()) != 0)
    return CannotWriteFolder(target);
  return absl::OkStatus();
}

absl::StatusOr<std::string> WriteNewFolder(
    const std::string& wanted,
    absl::FunctionRef<absl::Status(const std::string& folder, const std::string& name)> fill) {
  constexpr int kMaxNames = 1000;
  std::string temporary = wanted + ".XXXXXX";
  if (mkdtemp(temporary.data()) == nullptr) return CannotWriteFolder(temporary);
  absl::Status status;
  for (int i = 1; i <= kMaxNames && status.ok(); ++i) {
    const std::string name = i == 1 ? wanted : fmt::format("{}-{}", wanted, i);
    struct stat there;
    if (lstat(name.c_str(), &there) == 0) continue;
    status = fill(temporary, name);
    if (!status.ok()) break;
    if (chmod(temporary.c_str(), 0755) == 0 && std::rename(temporary.c_str(), name.c_str()) == 0) return name;
    if (errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR) status = CannotWriteFolder(name);
  }
  std::error_code ignored;
  std::filesystem::remove_all(temporary, ignored);
  if (status.ok())
    status = BadInput(fmt::format("{} and {} more such names are taken", wanted, kMaxNames - 1));
  return status;
}

}  // namespace assay
