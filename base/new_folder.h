// Folders that are written whole or not at all.
#ifndef ASSAY_BASE_NEW_FOLDER_H_
#define ASSAY_BASE_NEW_FOLDER_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "base/error.h"

namespace assay {

// `fill` writes the files of a temporary folder beside `wanted`, which is then renamed to the first of
// wanted, wanted-2, wanted-3, … that is not taken; gives that name. `fill` gets the temporary name and the
// name that it will have; where another takes this meanwhile it is called again. Errors: fill's; BadInput.
absl::StatusOr<std::string> WriteNewFolder(
    const std::string& wanted,
    absl::FunctionRef<absl::Status(const std::string& folder, const std::string& name)> fill);

}  // namespace assay

#endif  // ASSAY_BASE_NEW_FOLDER_H_
