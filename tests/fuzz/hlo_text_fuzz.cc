// Any bytes as HLO text. What is read is verified; what verifies is printed, and the printed text must be
// read, verify and print the same again, as HLO and as StableHLO.
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "evaluator/verify.h"
#include "hlo/diagnostics.h"
#include "hlo/load/stablehlo.h"
#include "hlo/mlir/export/export.h"
#include "hlo/text/parser.h"
#include "hlo/text/printer.h"

namespace assay {
namespace {

// An error in a text has a place in it and exit code 3 or 4.
void CheckError(const absl::Status& status, std::string_view text) {
  const int exit_code = ExitCodeOf(status);
  ASSAY_CHECK(exit_code == 3 || exit_code == 4);
  const auto where = PositionOf(status);
  ASSAY_CHECK(where.has_value() && where->line >= 1 && where->column >= 1);
  ASSAY_CHECK(!RenderDiagnostic(status, "input.hlo", text).empty());
}

void RoundTrip(const Module& module) {
  const std::string printed = ModuleToText(module);
  absl::StatusOr<Module> again = ParseHloText(printed);
  ASSAY_CHECK(again.ok());
  const absl::StatusOr<VerifiedModule> verified = Verify(*std::move(again));
  ASSAY_CHECK(verified.ok());
  ASSAY_CHECK(ModuleToText(verified->module()) == printed);
}

// What can be printed as StableHLO is read, and prints the same again.
void StableHloRoundTrip(const Module& module) {
  const absl::StatusOr<std::string> printed = ExportStableHlo(module);
  if (!printed.ok()) {
    ASSAY_CHECK(ExitCodeOf(printed.status()) == 4);
    return;
  }
  absl::StatusOr<Module> again = ParseStableHloText(*printed);
  ASSAY_CHECK(again.ok());
  const absl::StatusOr<VerifiedModule> verified = Verify(*std::move(again));
  ASSAY_CHECK(verified.ok());
  const absl::StatusOr<std::string> twice = ExportStableHlo(verified->module());
  ASSAY_CHECK(twice.ok());
  ASSAY_CHECK(*twice == *printed);
}

}  // namespace
}  // namespace assay

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 1 << 16) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  absl::StatusOr<assay::Module> module = assay::ParseHloText(text);
  if (!module.ok()) {
    assay::CheckError(module.status(), text);
    return 0;
  }
  const absl::StatusOr<assay::VerifiedModule> verified = assay::Verify(*std::move(module));
  if (!verified.ok()) {
    const int exit_code = assay::ExitCodeOf(verified.status());
    ASSAY_CHECK(exit_code == 3 || exit_code == 4);
  } else {
    assay::RoundTrip(verified->module());
    assay::StableHloRoundTrip(verified->module());
  }
  return 0;
}
