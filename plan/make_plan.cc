// The passes of a plan, in their order. Each is a function in a file of its own.
#include "plan/make_plan.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "evaluator/grid/device_grid.h"
#include "evaluator/runtime_sizes.h"
#include "plan/fuse.h"
#include "plan/inline_calls.h"
#include "plan/last_uses.h"
#include "plan/live.h"
#include "plan/loop_invariant.h"
#include "plan/order.h"
#include "plan/prepare.h"
#include "plan/structure.h"

namespace assay {
namespace {

absl::StatusOr<std::vector<ComputationPlan>> PlanComputations(const Module& module,
                                                              std::span<const Engine* const> engines,
                                                              PlanForm form) {
  const std::vector<std::vector<bool>> live = LiveInstructions(module);
  const std::vector<bool> in_loop = ComputationsInLoops(module);
  std::optional<LoopFacts> loops;
  if (!engines.empty() && std::find(in_loop.begin(), in_loop.end(), true) != in_loop.end())
    loops.emplace(module);
  std::vector<ComputationPlan> plans;  // callees first
  plans.reserve(module.computations.size());
  int64_t fusions = 0;
  for (size_t c = 0; c < module.computations.size(); ++c) {
    ComputationPlan& plan = plans.emplace_back();
    const Computation& computation = module.computations[c];
    if (computation.instructions.empty()) continue;  // inlined
    ASSAY_RETURN_IF_ERROR(OrderSteps(module, computation, live[c], plan));
    if (!engines.empty()) {
      std::vector<bool> apart;
      if (form == PlanForm::kFast) {
        if (in_loop[c]) apart = loops->WorthAStep(computation, live[c]);
        ASSAY_RETURN_IF_ERROR(FuseSteps(module, computation, engines, in_loop[c], fusions, plan, apart));
      }
      TakeStructure(computation, plan);
      if (in_loop[c] && form == PlanForm::kFast) FindLoopInvariants(*loops, computation, plan);
    }
    MarkLastUses(computation, plan);
    ASSAY_RETURN_IF_ERROR(PrepareSteps(module, computation, engines, in_loop[c], plans, plan));
  }
  return plans;
}

bool HasCollectives(const Module& module) {
  return std::any_of(module.computations.begin(), module.computations.end(), [](const Computation& c) {
    return std::any_of(c.instructions.begin(), c.instructions.end(),
                       [](const Instruction& i) { return IsCollectiveOrTransfer(i); });
  });
}

bool HasDynamic(const Module& module) {
  return std::ranges::any_of(module.computations, [](const Computation& computation) {
    return std::ranges::any_of(computation.instructions, [](const Instruction& instruction) {
      return HasDynamicDimension(*instruction.shape);
    });
  });
}

}  // namespace

absl::StatusOr<Plan> MakePlan(const VerifiedModule& verified, std::span<const Engine* const> engines,
                              PlanForm form) {
  const Module& module = verified.module();
  Plan plan;
  if (!engines.empty() && form == PlanForm::kFast) plan.module = InlineCalls(module);
  if (plan.module == nullptr) plan.module = verified.shared_module();
  plan.engines.assign(engines.begin(), engines.end());
  ASSAY_ASSIGN_OR_RETURN(plan.computations, PlanComputations(*plan.module, plan.engines, form));
  plan.has_collectives = HasCollectives(*plan.module);
  plan.has_dynamic = HasDynamic(*plan.module);
  return plan;
}

}  // namespace assay
