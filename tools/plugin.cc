// --plugin and --plugin-option.
#include "pjrt/client/pjrt_backend.h"
#include "tools/commands.h"

namespace assay::cli {

absl::StatusOr<std::unique_ptr<Backend>> PluginOf(const EngineFlags& flags) {
  std::vector<pjrt_client::PluginOption> options;
  for (const std::string& text : flags.plugin_options) {
    ASSAY_ASSIGN_OR_RETURN(pjrt_client::PluginOption option, pjrt_client::ParsePluginOption(text));
    options.push_back(std::move(option));
  }
  return pjrt_client::PjrtBackend::Open(flags.plugin, options);
}

}  // namespace assay::cli
