#include "engines/onednn/version.h"

#include "engines/onednn/library.h"
#include "fmt/format.h"

namespace assay::onednn {

absl::StatusOr<std::string> LibraryVersion() {
  ASSAY_ASSIGN_OR_RETURN(const Library* const opened, GetLibrary(MachineIsa()));
  const dnnl_version_t& version = *opened->version();
  return fmt::format("{}.{}.{}", version.major, version.minor, version.patch);
}

}  // namespace assay::onednn
