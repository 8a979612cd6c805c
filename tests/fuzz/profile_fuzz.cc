// Text of a profile: what is read is printed, and read again as the same.
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "check/profile.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<assay::Profile> profile = assay::ParseProfile("fuzzed", text);
  if (!profile.ok()) {
    ASSAY_CHECK(assay::ExitCodeOf(profile.status()) == 5);
    return 0;
  }
  const std::string printed = assay::TextOf(*profile);
  const absl::StatusOr<assay::Profile> again = assay::ParseProfile("fuzzed", printed);
  ASSAY_CHECK(again.ok());
  ASSAY_CHECK(assay::TextOf(*again) == printed);
  return 0;
}
