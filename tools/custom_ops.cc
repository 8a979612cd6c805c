// The operations that a program may call besides those of every program: what --load-ops,
// --ffi and --lapack name.
#include "custom/combined_ops.h"
#include "custom/ffi/library.h"
#include "custom/lapack/lapack_ops.h"
#include "custom/library.h"
#include "tools/commands.h"

namespace assay::cli {

absl::Status LoadLibraries(const ProgramFlags& flags, custom::OpRegistry& registry) {
  for (const std::string& library : flags.load_ops)
    ASSAY_RETURN_IF_ERROR(custom::LoadOps(registry, library, flags.isolate_ops).status());
  return absl::OkStatus();
}

absl::StatusOr<LoadedOps> LoadedOpsOf(const ProgramFlags& flags) {
  LoadedOps loaded;
  std::vector<std::shared_ptr<const CustomOps>> sets;
  if (!flags.load_ops.empty()) {
    custom::OpRegistry registry;
    ASSAY_RETURN_IF_ERROR(LoadLibraries(flags, registry));
    loaded.registered = registry.ops();
    sets.push_back(loaded.registered);
  }
  if (!flags.ffi.empty()) {
    const auto ops = std::make_shared<custom::ffi::FfiOps>();
    for (const std::string& option : flags.ffi)
      ASSAY_RETURN_IF_ERROR(custom::ffi::AddFfiOption(option, *ops));
    sets.push_back(ops);
  }
  if (flags.lapack) sets.push_back(custom::LibraryLapackOps());
  if (!sets.empty()) loaded.all = std::make_shared<const custom::CombinedOps>(std::move(sets));
  return loaded;
}

}  // namespace assay::cli
