// Any bytes as a protocol buffer. What is read is verified; what verifies is written as bytes and as text,
// and both must be read, verify and be written the same again.
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "evaluator/verify.h"
#include "hlo/diagnostics.h"
#include "hlo/load/load.h"
#include "hlo/proto/export.h"
#include "hlo/proto/import.h"
#include "hlo/text/printer.h"

namespace assay {
namespace {

void CheckRefusal(const absl::Status& status) {
  const int exit_code = ExitCodeOf(status);
  ASSAY_CHECK(exit_code == 3 || exit_code == 4);
  ASSAY_CHECK(!RenderDiagnostic(status, "input.pb", "").empty());
}

void RoundTrip(const Module& module) {
  const absl::StatusOr<std::string> bytes = ExportProto(module);
  if (!bytes.ok()) return CheckRefusal(bytes.status());
  absl::StatusOr<Module> again = ImportProto(*bytes);
  ASSAY_CHECK(again.ok());
  const absl::StatusOr<VerifiedModule> verified = Verify(*std::move(again));
  ASSAY_CHECK(verified.ok());
  ASSAY_CHECK(*ExportProto(verified->module()) == *bytes);
  ASSAY_CHECK(ModuleToText(verified->module()) == ModuleToText(module));
}

}  // namespace
}  // namespace assay

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 1 << 16) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto snapshot = assay::ReadSnapshot(bytes);
  if (!snapshot.ok()) assay::CheckRefusal(snapshot.status());
  assay::FormOfProgram("-", bytes);
  absl::StatusOr<assay::Module> module = assay::ImportProto(bytes);
  if (!module.ok()) {
    assay::CheckRefusal(module.status());
    return 0;
  }
  const absl::StatusOr<assay::VerifiedModule> verified = assay::Verify(*std::move(module));
  if (verified.ok()) {
    assay::RoundTrip(verified->module());
  } else {
    assay::CheckRefusal(verified.status());
  }
  return 0;
}
