#include "tools/questions.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/quoted.h"
#include "fmt/format.h"

namespace assay::cli {
namespace {

// This program, to run a plugin in a process of its own, which may crash or hang.
std::string OwnPath() {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? "assay" : path.string();
}

std::string PluginFlags(const EngineFlags& flags) {
  std::string text = "--plugin " + ShellArgument(flags.plugin);
  for (const std::string& option : flags.plugin_options) text += " --plugin-option " + ShellArgument(option);
  return text;
}

}  // namespace

absl::StatusOr<std::shared_ptr<Backend>> BackendInOwnProcess(const EngineFlags& flags,
                                                             const std::string& backend) {
  if (backend.empty() && flags.plugin.empty()) return nullptr;
  EngineFlags command_only = flags;
  command_only.plugin.clear();
  const std::string command =
      !backend.empty() ? backend
                       : fmt::format("{} run {{program}} {} --inputs {{inputs}} --output {{outputs}}",
                                     ShellArgument(OwnPath()), PluginFlags(flags));
  ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<Backend> made, BackendOf(command_only, command));
  return std::shared_ptr<Backend>(std::move(made));
}

std::string BackendFlagsText(const EngineFlags& flags, const std::string& backend,
                             const std::string& profile) {
  std::string text = flags.plugin.empty() ? "--backend " + ShellArgument(backend) : PluginFlags(flags);
  if (!profile.empty()) text += " --profile " + ShellArgument(profile);
  return text;
}

}  // namespace assay::cli
