// What runs in which order, who runs it, and when values are freed. A plan is data (make_plan.h) and can be
// printed (plan_text.h).
#ifndef ASSAY_PLAN_PLAN_H_
#define ASSAY_PLAN_PLAN_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "engines/engine.h"
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

// What an engine said that did not take a step.
struct Declined {
  const Engine* engine = nullptr;
  absl::Status status;
  std::string_view reason() const { return {status.message().data(), status.message().size()}; }
};

// One for each of Step::Reads().
using OperandFlags = absl::InlinedVector<bool, 8>;

// One instruction to run, or one fusion. The reference engine's plan is the program itself: one step an
// instruction.
struct Step {
  int32_t instruction = 0;  // index in the computation; of a fusion, its root
  StepKind kind = StepKind::kEvaluate;
  int64_t element = 0;
  std::shared_ptr<const Fusion> fusion;  // of several members; null: the instruction alone
  const OpDef* op = nullptr;
  std::shared_ptr<const Kernel> kernel;  // null: the reference, op->eval
  const Engine* engine = nullptr;        // whose kernel it is
  OperandFlags last_use;                 // no later step or root needs it
  bool result_used = true;               // some later step, or the caller, needs the result
  bool loop_invariant = false;  // no iteration of a loop changes what it reads: it runs in the first one
  // Slots of loop-invariant results that it reads last: they go with it where the loop does not keep them.
  std::vector<int32_t> releases;
  OperandFlags unchanged;          // in a loop's body: no iteration changes it; else empty
  int64_t step_units = 0;          // towards --max-steps (steps.h)
  std::vector<Declined> declined;  // the engines that were asked before the one that took it

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

// A parameter that is a tuple, of which only elements are read, and a root that puts one together: neither is
// ever there as a tuple where a loop passes its state on.
struct StateSlots {
  bool unpacked = false;             // the parameter is; its elements go where its get-tuple-elements stand:
  std::vector<ElementSlot> inputs;   // by element; `last` of the element
  bool packed = false;               // the root is a tuple of
  std::vector<ElementSlot> outputs;  // by element; `last` of the slot
  // By element of the parameter: no iteration of a loop changes it. Of a body: the root has it from slots
  // that keep it meanwhile.
  std::vector<bool> unchanged;
};

struct ComputationPlan {
  std::vector<Step> steps;           // dead instructions without side effects are left out
  std::vector<bool> parameter_used;  // by parameter number
  // The reference engine's plan has none of these:
  std::vector<int32_t> constants;  // are in their slots from the start and stay there
  StateSlots state;
  // Slots of the results of such steps that others read or give out: they stay until the loop ends.
  std::vector<int32_t> loop_invariants;
  int64_t invariant_bytes = 0;  // of these
  int64_t step_units = 0;       // of instructions of which no step is left, towards --max-steps (steps.h)
};

struct Plan {
  std::shared_ptr<const Module> module;  // of the reference engine, the verified one; else calls are inlined
  std::vector<const Engine*> engines;    // in the order in which they are asked, without the reference
  std::vector<ComputationPlan> computations;
  bool has_dynamic = false;      // some shape has a dimension with a run-time size
  bool has_collectives = false;  // collectives or transfers: how many devices there are matters
};

}  // namespace assay

#endif  // ASSAY_PLAN_PLAN_H_
