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
// `command`: of --backend, empty where --plugin names one.
absl::StatusOr<std::unique_ptr<Backend>> BackendOf(const EngineFlags& flags, const std::string& command);
// NotSupported where a backend can't be given what the program runs on: several devices,
// or values from the host.
absl::Status CheckBackendInputs(const DeviceGrid& grid, const std::vector<DeviceInputs>& inputs);
// Runs the backend on the program that `flags` names; errors are its own.
absl::StatusOr<Backend::Outputs> RunBackend(const ProgramFlags& flags, Backend& backend,
                                            const LoadedProgram& loaded,
                                            const std::vector<Literal>& arguments);

}  // namespace assay::cli

#endif  // ASSAY_TOOLS_BACKEND_H_
