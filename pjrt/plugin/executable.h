// Executables: a compiled program, by itself and on devices.
#ifndef ASSAY_PJRT_PLUGIN_EXECUTABLE_H_
#define ASSAY_PJRT_PLUGIN_EXECUTABLE_H_

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/once.h"
#include "pjrt/plugin/client.h"
#include "pjrt/plugin/compiled_program.h"
#include "pjrt/plugin/named_values.h"
#include "pjrt/plugin/pjrt_api.h"

namespace assay::pjrt {

struct MemoryLayout {
  DimVector minor_to_major;
};

struct Executable {
  explicit Executable(std::shared_ptr<const CompiledProgram> compiled);

  const std::shared_ptr<const CompiledProgram> program;
  std::vector<std::unique_ptr<MemoryLayout>> output_layouts;
  std::vector<MemoryLayout*> output_layout_handles;
  // Made when they are first asked for.
  Once optimized_once, costs_once;
  absl::StatusOr<std::string> optimized;
  std::optional<NamedValues> costs;
};

struct LoadedExecutable {
  Client* client = nullptr;
  std::shared_ptr<const CompiledProgram> program;
  std::vector<Device*> devices;  // by replica, then partition
  std::vector<LogicalId> logical_ids;
  std::atomic<bool> is_deleted = false;
  mutable RunCounts run_counts;  // of the sampled cross-check
};

}  // namespace assay::pjrt

#endif  // ASSAY_PJRT_PLUGIN_EXECUTABLE_H_
