#include "find/values/call_watch.h"

#include <algorithm>

#include "evaluator/eval_context.h"
#include "evaluator/registry.h"
#include "find/values/value_names.h"

namespace assay {

absl::StatusOr<Plan> ObservedPlan(const Program& program) {
  ASSAY_ASSIGN_OR_RETURN(Plan plan, program.PlanAsWritten());
  for (ComputationPlan& computation : plan.computations) {
    for (Step& step : computation.steps) {
      if (step.kind == StepKind::kLoop) step.kind = StepKind::kEvaluate;
    }
  }
  return plan;
}

bool IsFollowed(Opcode opcode) {
  const OpDef& op = DefinitionOf(opcode);
  return op.runs_steps && !op.gives_async_state && !op.takes_async_state && opcode != Opcode::kScan;
}

void CallWatch::PushCall(ComputationId id) {
  ActiveCall& around = calls_.back();
  const Instruction& caller = module_.computation(around.place.computation)
                                  .instructions[static_cast<size_t>(around.step->instruction)];
  ActiveCall call;
  call.place = {id, around.step->instruction, -1, false};
  if (caller.opcode == Opcode::kWhile) {
    const ComputationId condition = *caller.attributes.Computation(Attr::kCondition);
    const ComputationId body = *caller.attributes.Computation(Attr::kBody);
    // Where both are one computation they take turns.
    call.place.is_condition = id == condition && (condition != body || around.conditions == around.bodies);
    call.place.iteration = call.place.is_condition ? around.conditions : around.bodies;
  }
  ++(call.place.is_condition ? around.conditions : around.bodies);
  call.path = around.path + CallName(caller, call.place);
  calls_.push_back(std::move(call));
}

int64_t CallWatch::iterations() const {
  const ActiveCall& call = calls_.back();
  return call.conditions + call.bodies == 0 ? -1 : std::max(call.bodies, call.conditions - 1);
}

void CallWatch::Begin(const Computation& computation, const Step& step) {
  if (ignored_ > 0) {
    ++ignored_;
    return;
  }
  const ComputationId id{static_cast<int32_t>(&computation - module_.computations.data())};
  if (!calls_.empty() && !calls_.back().runs) {
    // The steps of a computation's plan are in one array; a call of it runs them in their order.
    const ActiveCall& last = calls_.back();
    if (last.place.computation != id || !(last.step < &step)) calls_.pop_back();
  }
  if (calls_.empty()) {
    calls_.push_back({{id, -1, -1, false}, "", nullptr});
  } else if (calls_.back().runs) {
    const ActiveCall& around = calls_.back();
    const Opcode opcode = module_.computation(around.place.computation)
                              .instructions[static_cast<size_t>(around.step->instruction)]
                              .opcode;
    if (!IsFollowed(opcode)) {
      ignored_ = 1;
      return;
    }
    PushCall(id);
  }
  ActiveCall& call = calls_.back();
  call.step = &step;
  call.runs = true;
  call.conditions = call.bodies = 0;
}

void CallWatch::End() {
  if (ignored_ > 0) {
    --ignored_;
    return;
  }
  if (!calls_.back().runs) calls_.pop_back();  // the last call that the step made
  calls_.back().runs = false;
}

absl::Status CallWatch::Evaluated(EvalContext& context, std::span<const Literal> operands,
                                  const Literal& result) {
  if (ignored_ > 0) return absl::OkStatus();
  if (!calls_.back().runs) calls_.pop_back();
  return Take(context, calls_.back().step->instruction, operands, result);
}

}  // namespace assay
