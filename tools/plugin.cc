// --plugin and --plugin-option. A command that is built without the option ASSAY_PJRT refuses them.
#include "check/backend.h"
#include "tools/commands.h"
#ifdef ASSAY_PJRT
#include "pjrt/client/pjrt_backend.h"
#endif

namespace assay::cli {

#ifdef ASSAY_PJRT
absl::StatusOr<std::unique_ptr<Backend>> PluginOf(const EngineFlags& flags) {
  std::vector<pjrt_client::PluginOption> options;
  for (const std::string& text : flags.plugin_options) {
    ASSAY_ASSIGN_OR_RETURN(pjrt_client::PluginOption option, pjrt_client::ParsePluginOption(text));
    options.push_back(std::move(option));
  }
  return pjrt_client::PjrtBackend::Open(flags.plugin, options);
}
#else
absl::StatusOr<std::unique_ptr<Backend>> PluginOf(const EngineFlags&) {
  return NotSupported({}, "this assay was built without --plugin; configure with -DASSAY_PJRT=ON");
}
#endif

}  // namespace assay::cli
