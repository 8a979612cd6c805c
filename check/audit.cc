#include "check/audit.h"

#include <utility>

#include "check/module_audit.h"
#include "plan/step_observer.h"

namespace assay {
namespace {

// Shows the audit the values of each step.
class ValueAudit final : public StepObserver {
 public:
  explicit ValueAudit(ModuleAudit& audit) : audit_(audit) {}

  void Begin(const Computation&, const Step&) override {}
  void End() override {}
  void Part(Clock::time_point, Clock::time_point, int64_t, int64_t) override {}
  bool LooksAtValues() const override { return true; }
  bool LooksInto(ComputationId id) const override { return audit_.NeedsSteps(id); }
  absl::Status Evaluated(EvalContext& context, std::span<const Literal> operands,
                         const Literal& result) override {
    // A rule that applies a reducer itself is no step of the program.
    if (looks_) return absl::OkStatus();
    looks_ = true;
    absl::Status status = audit_.LookAt(context, operands, result);
    looks_ = false;
    return status;
  }

 private:
  ModuleAudit& audit_;
  bool looks_ = false;
};

}  // namespace

AuditReport AuditText(const Module& module) { return ModuleAudit(module).Report(/*ran=*/false); }

absl::StatusOr<AuditReport> AuditRun(const Program& program, const DeviceGrid& grid,
                                     std::vector<DeviceInputs> inputs, RunOptions options,
                                     bool keeps_elements) {
  ModuleAudit audit(program.module(), keeps_elements);
  ASSAY_ASSIGN_OR_RETURN(Plan plan, program.PlanAsWritten());
  ASSAY_CHECK(plan.module.get() == &program.module());
  for (size_t c = 0; c < plan.computations.size(); ++c) {
    for (Step& step : plan.computations[c].steps) {
      const Instruction& instruction =
          plan.module->computations[c].instructions[static_cast<size_t>(step.instruction)];
      // Kernels have reducers of their own, which nobody can look into.
      for (const ComputationId id : CalledComputations(instruction)) {
        if (audit.NeedsSteps(id)) step.kernel = nullptr;
      }
    }
  }
  ValueAudit observer(audit);
  ASSAY_RETURN_IF_ERROR(RunDevices(plan, grid, std::move(inputs), std::move(options), &observer).status());
  return audit.Report(/*ran=*/true);
}

}  // namespace assay
