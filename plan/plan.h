// VerifiedModule -> Plan: what runs in which order, who runs it, and when values are freed. A Plan is data
// and can be printed.
#ifndef ASSAY_PLAN_PLAN_H_
#define ASSAY_PLAN_PLAN_H_

#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "evaluator/op.h"
#include "evaluator/verify.h"
#include "plan/fusion.h"

namespace assay {

// What the executor does by itself, without asking the op.
enum class StepKind : uint8_t {
  kEvaluate,         // the kernel or the op
  kGetTupleElement,  // of element `element`
  kTuple,
  kLoop,  // a while whose condition and body take their state in slots (ComputationPlan::state)
};

// One instruction to run, or one fusion. The reference engine's plan is the program itself: one step an
// instruction.
struct Step {
  int32_t instruction = 0;  // index in the computation; of a fusion, its root
  StepKind kind = StepKind::kEvaluate;
  int64_t element = 0;
  std::shared_ptr<const Fusion> fusion;  // null: the instruction alone
  const OpDef* op = nullptr;
  std::shared_ptr<const Kernel> kernel;  // null: the reference, op->eval
  const Engine* engine = nullptr;        // whose kernel it is
  std::vector<bool> last_use;            // for each of Reads(): no later step or root needs it
  bool result_used = true;               // some later step, or the caller, needs the result
  bool once = false;                     // no turn of a loop changes what it reads: it runs in the first one
  int64_t counts = 0;                    // towards --max-steps (steps.h)
  absl::Status declined;                 // why the fusion that the instruction would be the root of is none

  // The instructions whose values the kernel gets.
  std::span<const int32_t> Reads(const Computation& computation) const {
    if (fusion != nullptr) return fusion->operands;
    return computation.instructions[static_cast<size_t>(instruction)].operands;
  }
};

// Where an element of a tuple is in a frame, the values of a computation's instructions by their index.
struct ElementSlot {
  int64_t element = 0;
  int32_t slot = 0;
  bool last = true;  // nobody needs the value behind this: it may be moved
};

// A parameter that is a tuple, of which only elements are read, and a root that puts one together: neither is ever there as
// a tuple where a loop passes its state on.
struct StateSlots {
  bool unpacked = false;             // the parameter is; its elements go where its get-tuple-elements stand:
  std::vector<ElementSlot> inputs;   // by element; `last` of the element
  bool packed = false;               // the root is a tuple of
  std::vector<ElementSlot> outputs;  // by element; `last` of the slot
  std::vector<bool>
      kept;  // by element: the result's is the parameter's, in a slot that only the root gives up
};

struct ComputationPlan {
  std::vector<Step> steps;           // dead instructions without side effects are left out
  std::vector<bool> parameter_used;  // by parameter number
  // Not in the reference engine's plan:
  std::vector<int32_t> constants;  // are in their slots from the start and stay there
  StateSlots state;
  std::vector<int32_t> once;  // slots of the results of Step::once: they stay until the loop ends
  int64_t counts = 0;         // of instructions of which no step is left, towards --max-steps (steps.h)
};

struct Plan {
  std::shared_ptr<const Module> module;  // of the reference engine, the verified one; else calls are inlined
  std::span<const Engine* const> engines;  // in the order in which they are asked, without the reference
  std::vector<ComputationPlan> computations;
};

// Keeps of each computation what its root or a side effect needs, in textual order (TOKEN-1).
absl::StatusOr<Plan> MakePlan(const VerifiedModule& module, EngineChoice choice = EngineChoice::kExact,
                              native::Isa isa = native::MachineIsa());
// The same with engines of one's own, which outlive the plan.
absl::StatusOr<Plan> MakePlan(const VerifiedModule& module, std::span<const Engine* const> engines);

// Each step of each computation: engine, instruction, shape, bytes, what it fuses, what is freed, and why faster
// engines declined.
std::string PlanToText(const Plan& plan);

}  // namespace assay

#endif  // ASSAY_PLAN_PLAN_H_
