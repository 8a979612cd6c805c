#include "tools/backend.h"

#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/quoted.h"
#include "check/backends/command_backend.h"
#include "fmt/format.h"

namespace assay::cli {
namespace {

std::string OwnPath() {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? "assay" : path.string();
}

}  // namespace

bool NamesBackend(const DiffFlags& flags) { return !flags.backend.empty() || !flags.plugin.empty(); }

std::string BackendUsage(const std::string& command) {
  if (!command.empty() && command.find("{outputs}") == std::string::npos) {
    return "--backend takes a command with {outputs}, the .npz file that it writes, and {program} and "
           "{inputs}, what it reads";
  }
  return {};
}

absl::StatusOr<std::unique_ptr<Backend>> BackendOf(const EngineFlags& flags, const std::string& command,
                                                   ProgramForm form) {
  if (!flags.plugin.empty()) return PluginOf(flags);
  return std::make_unique<CommandBackend>(command, form);
}

absl::StatusOr<std::shared_ptr<Backend>> BackendInOwnProcess(const EngineFlags& flags,
                                                             const std::string& command) {
  if (command.empty() && flags.plugin.empty()) return nullptr;
  EngineFlags command_only = flags;
  command_only.plugin.clear();
  const std::string run = !command.empty()
                              ? command
                              : fmt::format("{} run {{program}} {} --inputs {{inputs}} --output {{outputs}}",
                                            ShellArgument(OwnPath()), BackendFlagsText(flags, "", ""));
  ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<Backend> backend, BackendOf(command_only, run));
  return std::shared_ptr<Backend>(std::move(backend));
}

std::string BackendFlagsText(const EngineFlags& flags, const std::string& command,
                             const std::string& profile) {
  std::string text = flags.plugin.empty() ? "--backend " + ShellArgument(command)
                                          : "--plugin " + ShellArgument(flags.plugin);
  for (const std::string& option : flags.plugin_options) text += " --plugin-option " + ShellArgument(option);
  if (!profile.empty()) text += " --profile " + ShellArgument(profile);
  return text;
}

absl::Status CheckBackendInputs(const DeviceGrid& grid, const std::vector<DeviceInputs>& inputs) {
  if (grid.size() != 1)
    return NotSupported({}, fmt::format("a backend runs programs of 1 device; this has {}", grid.size()));
  for (const DeviceInputs& device : inputs) {
    if (!device.process.infeed.empty() || !device.process.host_to_device.empty())
      return NotSupported({},
                          "a backend is given arguments only: no infeed, and nothing received from the host");
  }
  return absl::OkStatus();
}

absl::StatusOr<Backend::Outputs> RunBackend(const ProgramFlags& flags, Backend& backend,
                                            const LoadedProgram& loaded,
                                            const std::vector<Literal>& arguments) {
  // What flags changed, or was read from a pipe, is no longer what lies in the file.
  const bool as_in_file = flags.program != "-" && flags.replicas == 0 && flags.partitions == 0;
  return backend.Run({loaded.program.as_written(), as_in_file ? flags.program : "", arguments});
}

}  // namespace assay::cli
