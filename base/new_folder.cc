#include "base/new_folder.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "fmt/format.h"

namespace assay {
namespace {

absl::Status CannotWriteFolder(const std::string& path) {
  return BadInput(fmt::format("{}: {}", path, std::strerror(errno)));
}

}  // namespace

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
