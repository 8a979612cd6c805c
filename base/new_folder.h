// Folders that are written whole or not at all.
#ifndef ASSAY_BASE_NEW_FOLDER_H_
#define ASSAY_BASE_NEW_FOLDER_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "base/error.h"

namespace assay {

// `fill` writes the files of a temporary folder beside `wanted`, which is then renamed to the first of
// wanted, wanted-2, wanted-3, … that is not taken; gives that name. `fill` gets the temporary name and the
// name that it will have; where another takes this meanwhile it is called again. Errors: fill's; BadInput.
absl::StatusOr<std::string> WriteNewFolder(
    const std::string& wanted,
    absl::FunctionRef<absl::Status(const std::string& folder, const std::string& name)> fill);

// Files and folders that are removed with the object, the last one first. Removing takes no memory and opens
// nothing, so that it works where either has failed. What is no longer there is passed over.
class UnfinishedFiles {
 public:
  UnfinishedFiles() = default;
  ~UnfinishedFiles();
  UnfinishedFiles(const UnfinishedFiles&) = delete;
  UnfinishedFiles& operator=(const UnfinishedFiles&) = delete;
  // Comes before the file is made. Gives the name, until the next one is added.
  std::string& Add(std::string path) { return paths_.emplace_back(std::move(path)); }

 private:
  std::vector<std::string> paths_;
};

// `fill` writes files and folders into a temporary folder, and adds them to `files` before it makes them.
// They are then put into the folder `path`, which is made where it is not there; the file `last` of them
// comes after all others. Entries of `path` that have the same names are replaced whole, other ones stay.
// On an error nothing of the new stays, and `path` is as it was; where no rename works any more, what was
// taken out of it stays in the temporary folder. Errors: fill's; BadInput. A process that is killed while
// entries are put in leaves a folder without a file named `last`.
absl::Status WriteIntoFolder(
    const std::string& path, std::string_view last,
    absl::FunctionRef<absl::Status(const std::string& folder, UnfinishedFiles& files)> fill);

}  // namespace assay

#endif  // ASSAY_BASE_NEW_FOLDER_H_
