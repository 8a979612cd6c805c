// Options that a plugin's client is made with, as the command line says them: K=V.
#ifndef ASSAY_PJRT_CLIENT_PLUGIN_OPTIONS_H_
#define ASSAY_PJRT_CLIENT_PLUGIN_OPTIONS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "pjrt/plugin/pjrt_api.h"

namespace assay::pjrt_client {

struct PluginOption {
  using Value = std::variant<std::string, int64_t, std::vector<int64_t>, float, bool>;
  std::string name;
  Value value;
};

// The form of V decides its type: true and false are bool, 12 is int64, [1,2] a list of int64, 0.5 and 1e3
// are float, anything else a string, which may stand in double quotes to be one: "12". BadInput: no K, or a
// number that has no room in its type.
absl::StatusOr<PluginOption> ParsePluginOption(std::string_view text);
// Points into the options.
std::vector<pjrt::NamedValue> NamedValuesOf(const std::vector<PluginOption>& options);

}  // namespace assay::pjrt_client

#endif  // ASSAY_PJRT_CLIENT_PLUGIN_OPTIONS_H_
