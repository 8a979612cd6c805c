// Backends as commands run them that search for programs: again and again, each time in a process that may
// crash or hang.
#ifndef ASSAY_TOOLS_QUESTIONS_H_
#define ASSAY_TOOLS_QUESTIONS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "check/backend.h"
#include "tools/backend.h"
#include "tools/flags.h"

namespace assay::cli {

// The command `backend`, or flags.plugin by this program in a process of its own for each run; null: neither
// is given.
absl::StatusOr<std::shared_ptr<Backend>> BackendInOwnProcess(const EngineFlags& flags,
                                                             const std::string& backend);
// The flags of `assay diff` that name what runs, and the profile where there is one.
std::string BackendFlagsText(const EngineFlags& flags, const std::string& backend,
                             const std::string& profile);

}  // namespace assay::cli

#endif  // ASSAY_TOOLS_QUESTIONS_H_
