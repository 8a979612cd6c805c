// Libraries of operations (docs/spec/custom-ops.md, section 3).
#ifndef ASSAY_CUSTOM_LIBRARY_H_
#define ASSAY_CUSTOM_LIBRARY_H_

#include <string>
#include <vector>

#include "custom/registry.h"

namespace assay::custom {

// Opens the shared library and adds what it registers, all or nothing; returns the names of the operations
// that are new. A file that was loaded into the registry before changes nothing. It stays open as long as the
// process runs. `isolated`: opens it in a child process first; a crash or hang there
// is an error.
//
// Errors name the file. BadInput: it can't be opened, has no entry point, is for another version of the
// interface, crashes or hangs the child, or reports that it can't register; InvalidProgram: what it
// registers is wrong (OpRegistry::Add).
absl::StatusOr<std::vector<std::string>> LoadOps(OpRegistry& registry, const std::string& path,
                                                 bool isolated = false);

}  // namespace assay::custom

#endif  // ASSAY_CUSTOM_LIBRARY_H_
