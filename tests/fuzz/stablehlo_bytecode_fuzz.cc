// Any bytes as a StableHLO portable artifact. What is read is verified.
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "evaluator/verify.h"
#include "hlo/diagnostics.h"
#include "hlo/load/stablehlo.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 1 << 16) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  absl::StatusOr<assay::Module> module = assay::ParseStableHloBytecode(bytes);
  if (!module.ok()) {
    const int exit_code = assay::ExitCodeOf(module.status());
    ASSAY_CHECK(exit_code == 3 || exit_code == 4 || exit_code == 5);
    ASSAY_CHECK(!assay::RenderDiagnostic(module.status(), "input.mlirbc", bytes).empty());
    return 0;
  }
  const absl::StatusOr<assay::VerifiedModule> verified = assay::Verify(*std::move(module));
  if (verified.ok()) return 0;
  const int exit_code = assay::ExitCodeOf(verified.status());
  ASSAY_CHECK(exit_code == 3 || exit_code == 4);
  return 0;
}
