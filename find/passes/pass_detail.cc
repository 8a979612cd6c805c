#include "find/passes/pass_detail.h"

#include <utility>

#include "base/run_guard.h"

namespace assay {
namespace {

absl::Status Compare(const Baseline& baseline, const Program& before, const Program& after,
                     const std::optional<Profile>& profile, PassDetail& detail) {
  ASSAY_ASSIGN_OR_RETURN(const BaselineRun before_run, baseline.Run(before));
  ASSAY_ASSIGN_OR_RETURN(const BaselineRun after_run, baseline.Run(after));
  if (after_run.is_partitioned && !before_run.is_partitioned) {
    ASSAY_ASSIGN_OR_RETURN(detail.collective, FirstDifferingCollective(after, after_run.inputs, before,
                                                                       before_run.inputs, Tolerance()));
    return absl::OkStatus();
  }
  ASSAY_RETURN_IF_ERROR(CheckSameInterface(before.module(), after.module()));
  ASSAY_ASSIGN_OR_RETURN(detail.difference,
                         FirstDifferenceOf(before, before_run.inputs, after, after_run.inputs));
  if (!profile || before_run.inputs.grid.logical) return absl::OkStatus();
  ASSAY_ASSIGN_OR_RETURN(detail.bounds,
                         BoundPair(before, before_run.inputs, after, after_run.inputs, *profile));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<PassDetail> ComparePass(const Baseline& baseline, const Program& before, const Program& after,
                                       const std::optional<Profile>& profile) {
  ASSAY_RETURN_IF_ERROR(PollWork());
  PassDetail detail;
  const absl::Status status = Compare(baseline, before, after, profile, detail);
  ASSAY_RETURN_IF_ERROR(PollWork());
  if (!status.ok()) detail.why = std::string(status.message());
  return detail;
}

}  // namespace assay
