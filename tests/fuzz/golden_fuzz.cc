// A golden's header: what is read has what a golden needs, and errors have a place in the text.
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "check/golden/golden.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 1 << 16) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<assay::Golden> golden = assay::ParseGolden(text);
  if (!golden.ok()) {
    const int exit_code = assay::ExitCodeOf(golden.status());
    ASSAY_CHECK(exit_code == 3 || exit_code == 4 || exit_code == 5);
    const auto where = assay::PositionOf(golden.status());
    ASSAY_CHECK(exit_code == 5 || (where.has_value() && where->line >= 1));
    return 0;
  }
  ASSAY_CHECK(golden->refuse_code.has_value() || !golden->oracle.empty());
  ASSAY_CHECK(golden->program.size() == size);
  return 0;
}
