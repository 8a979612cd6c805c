#include "engines/engine.h"

namespace assay {
namespace {

constexpr char kFallbackPayload[] = "assay/fallback";

}  // namespace

absl::Status Fallback(std::string_view reason) {
  absl::Status status = NotSupported({}, reason);
  status.SetPayload(kFallbackPayload, absl::Cord());
  return status;
}

bool IsFallback(const absl::Status& status) { return status.GetPayload(kFallbackPayload).has_value(); }

absl::StatusOr<StepView> SingleInstruction(const FusionView& step) {
  if (!step.is_single()) return NotSupported({}, "does not take fusions");
  return step.single();
}

}  // namespace assay
