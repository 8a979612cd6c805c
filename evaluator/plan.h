// VerifiedModule -> Plan: what runs in which order, who runs it, and when values are freed. A Plan is data
// and can be printed.
#ifndef ASSAY_EVALUATOR_PLAN_H_
#define ASSAY_EVALUATOR_PLAN_H_

#include <memory>
#include <string>
#include <vector>

#include "evaluator/op.h"
#include "evaluator/verify.h"

namespace assay {

// One instruction to run. The reference engine's plan is the program itself: one step an instruction.
struct Step {
  int32_t instruction = 0;  // index in the computation
  const OpDef* op = nullptr;
  std::vector<bool> last_use;  // for each operand: no later step or root needs it
  bool result_used = true;     // some later step, or the caller, needs the result
};

struct ComputationPlan {
  std::vector<Step> steps;           // dead instructions without side effects are left out
  std::vector<bool> parameter_used;  // by parameter number
};

struct Plan {
  std::shared_ptr<const Module> module;
  std::vector<ComputationPlan> computations;
};

// Keeps of each computation what its root or a side effect needs, in textual order (TOKEN-1).
absl::StatusOr<Plan> MakePlan(const VerifiedModule& module);

// Each step of the entry computation and what it calls: instruction, shape, engine, bytes, what is freed.
std::string PlanToText(const Plan& plan);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_PLAN_H_
