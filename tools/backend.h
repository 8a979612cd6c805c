// The outputs that `assay diff` compares: those of a file, or of a backend that runs the program.
#ifndef ASSAY_TOOLS_BACKEND_H_
#define ASSAY_TOOLS_BACKEND_H_

#include <memory>
#include <string>
#include <vector>

#include "check/backend.h"
#include "tools/commands.h"

namespace assay::cli {

// A flag names a backend.
bool NamesBackend(const DiffFlags& flags);
// What is wrong with the command of --backend, for UsageError; empty: nothing.
std::string BackendUsage(const std::string& command);
// The one place where backends are made from flags.
// `command`: of --backend, empty where --plugin names one. It is given programs that are made for it, as
// those of --isolate, in the form of the one that is compared.
absl::StatusOr<std::unique_ptr<Backend>> BackendOf(const EngineFlags& flags, const std::string& command,
                                                   ProgramForm form = ProgramForm::kHloText);
// The command, or flags.plugin by this program, in a process of its own for each run, which may crash or
// hang: for searches that run a backend again and again. Null: neither is given.
absl::StatusOr<std::shared_ptr<Backend>> BackendInOwnProcess(const EngineFlags& flags,
                                                             const std::string& command);
// The flags of `assay diff` that name a backend, and a profile where there is one; as a shell takes them.
std::string BackendFlagsText(const EngineFlags& flags, const std::string& command,
                             const std::string& profile);
// NotSupported where a backend can't be given what the program runs on: several devices,
// or values from the host.
absl::Status CheckBackendInputs(const DeviceGrid& grid, const std::vector<DeviceInputs>& inputs);
// Runs the backend on the program that `flags` names; errors are its own.
absl::StatusOr<Backend::Outputs> RunBackend(const ProgramFlags& flags, Backend& backend,
                                            const LoadedProgram& loaded,
                                            const std::vector<Literal>& arguments);

}  // namespace assay::cli

#endif  // ASSAY_TOOLS_BACKEND_H_
