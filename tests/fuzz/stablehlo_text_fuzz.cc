// Any bytes as StableHLO text. What is read is verified; an error in the text has a place in it.
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "evaluator/verify.h"
#include "hlo/diagnostics.h"
#include "hlo/load/stablehlo.h"
#include "hlo/mlir/export/export.h"
#include "hlo/text/printer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 1 << 16) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  absl::StatusOr<assay::Module> module = assay::ParseStableHloText(text);
  if (!module.ok()) {
    const int exit_code = assay::ExitCodeOf(module.status());
    ASSAY_CHECK(exit_code == 3 || exit_code == 4 || exit_code == 5);
    const auto where = assay::PositionOf(module.status());
    ASSAY_CHECK(exit_code == 5 || (where.has_value() && where->line >= 1 && where->column >= 1));
    ASSAY_CHECK(!assay::RenderDiagnostic(module.status(), "input.mlir", text).empty());
    return 0;
  }
  const absl::StatusOr<assay::VerifiedModule> verified = assay::Verify(*std::move(module));
  if (!verified.ok()) {
    const int exit_code = assay::ExitCodeOf(verified.status());
    ASSAY_CHECK(exit_code == 3 || exit_code == 4);
  } else {
    ASSAY_CHECK(!assay::ModuleToText(verified->module()).empty());
    const absl::StatusOr<std::string> printed = assay::ExportStableHlo(verified->module());
    ASSAY_CHECK(printed.ok() || assay::ExitCodeOf(printed.status()) == 4);
    if (printed.ok()) ASSAY_CHECK(assay::ParseStableHloText(*printed).ok());
  }
  return 0;
}
