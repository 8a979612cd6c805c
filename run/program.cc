#include "run/program.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "custom/combined_ops.h"
#include "custom/lapack/lapack_ops.h"
#include "custom/xla/expand_calls.h"
#include "fmt/format.h"
#include "hlo/load/load.h"
#include "plan/make_plan.h"

namespace assay {

struct Program::Shared {
  Shared(VerifiedModule verified, std::optional<VerifiedModule> expanded)
      : written(verified), module(expanded ? *std::move(expanded) : std::move(verified)) {}

  const VerifiedModule written, module;
  std::mutex mutex;                                // of plans
  std::vector<std::shared_ptr<const Plan>> plans;  // one for each list of engines: few enough to look through
};

namespace {

// LAPACK's targets are known to every program, besides what it was given.
void AddLapack(std::shared_ptr<const CustomOps>& ops) {
  std::shared_ptr<const CustomOps> lapack = custom::LapackOps();
  if (ops == nullptr) {
    ops = std::move(lapack);
  } else if (ops->Find("lapack_sgetrf_ffi") == nullptr) {
    ops = std::make_shared<const custom::CombinedOps>(std::vector{ops, std::move(lapack)});
  }
}

}  // namespace

absl::StatusOr<Program> Program::Load(std::string_view name, std::string_view bytes,
                                      std::shared_ptr<const CustomOps> custom_ops) {
  ASSAY_ASSIGN_OR_RETURN(Module module, LoadProgram(name, bytes));
  module.custom_ops = std::move(custom_ops);
  return OfModule(std::move(module));
}

absl::StatusOr<Program> Program::OfModule(Module module) {
  AddLapack(module.custom_ops);
  ASSAY_ASSIGN_OR_RETURN(VerifiedModule verified, Verify(std::move(module)));
  ASSAY_ASSIGN_OR_RETURN(std::optional<VerifiedModule> expanded, custom::ExpandXlaCalls(verified));
  return Program(std::move(verified), std::move(expanded));
}

Program::Program(VerifiedModule written, std::optional<VerifiedModule> expanded)
    : shared_(std::make_shared<Shared>(std::move(written), std::move(expanded))) {}

const VerifiedModule& Program::verified() const { return shared_->module; }
const Module& Program::as_written() const { return shared_->written.module(); }

absl::StatusOr<std::shared_ptr<const Plan>> Program::PlanFor(std::span<const Engine* const> engines) const {
  const std::lock_guard<std::mutex> lock(shared_->mutex);
  for (const std::shared_ptr<const Plan>& plan : shared_->plans) {
    if (std::ranges::equal(plan->engines, engines)) return plan;
  }
  ASSAY_ASSIGN_OR_RETURN(Plan plan, MakePlan(shared_->module, engines));
  return shared_->plans.emplace_back(std::make_shared<const Plan>(std::move(plan)));
}

absl::StatusOr<Plan> Program::PlanAsWritten() const {
  return MakePlan(shared_->module, InstructionEngines(), PlanForm::kAsWritten);
}

absl::StatusOr<Literal> Program::Run(std::vector<Literal> arguments, RunOptions options,
                                     std::span<const Engine* const> engines) const {
  if (module().replica_count > 1 || module().num_partitions > 1) {
    return NotSupported(
        {}, fmt::format("the program runs on {} replicas of {} partitions: Program::Run has one device",
                        module().replica_count, module().num_partitions));
  }
  ASSAY_ASSIGN_OR_RETURN(const std::shared_ptr<const Plan> plan, PlanFor(engines));
  return Executor(*plan, std::move(options)).Run(std::move(arguments));
}

}  // namespace assay
