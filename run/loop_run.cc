// While loops (Executor::Loop).
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "engines/deferred_checks.h"
#include "evaluator/eval_context.h"
#include "evaluator/grid/device_grid.h"
#include "evaluator/registry.h"
#include "evaluator/scalar_function.h"
#include "run/declared_sizes.h"
#include "run/executor.h"
#include "run/frame.h"

namespace assay {

// One run of a while loop. Between iterations its state is one value for each element; condition and body
// have a frame each, in which what no iteration changes stays.
class Executor::LoopRun {
 public:
  LoopRun(Executor& executor, const Instruction& loop, Literal init, int depth)
      : executor_(executor),
        depth_(depth),
        init_shape_(init.shared_shape()),
        state_(std::move(init).TakeElements()),
        condition_(executor, *loop.attributes.Computation(Attr::kCondition)),
        body_(executor, *loop.attributes.Computation(Attr::kBody)),
        body_memory_(executor.TakeMemory(body_.id)) {
    condition_is_constant_ = IsStored(condition_.computation.root_instruction());
    condition_.iteration.keeps_invariants = executor.KeepsInvariants(condition_.plan);
    body_.iteration.keeps_invariants = executor.KeepsInvariants(body_.plan);
    // What a kernel keeps is made of operands whose bytes stay where they are.
    if (body_.iteration.keeps_invariants) body_.iteration.memory = body_memory_;
    defers_checks_ = MayDeferChecks();
    const auto on_device =
        std::find_if(body_.plan.steps.begin(), body_.plan.steps.end(), [](const Step& step) {
          return step.kernel != nullptr && step.kernel->is_on_device() && !step.kernel->passes_operand();
        });
    if (on_device != body_.plan.steps.end()) device_kernel_ = on_device->kernel.get();
    is_read_by_body_.resize(state_.size(), false);
    for (const ElementSlot& input : body_.plan.state.inputs) is_read_by_body_[input.element] = true;
  }
  ~LoopRun() { executor_.GiveMemoryBack(body_.id, std::move(body_memory_)); }
  LoopRun(const LoopRun&) = delete;
  LoopRun& operator=(const LoopRun&) = delete;

  absl::StatusOr<Literal> Run() {
    // What no iteration changes is computed in the first one, for good.
    ASSAY_ASSIGN_OR_RETURN(bool goes_on, RunIteration());
    while (goes_on && defers_checks_) {
      ASSAY_ASSIGN_OR_RETURN(goes_on, RunWithoutChecks());
    }
    while (goes_on) {
      ASSAY_ASSIGN_OR_RETURN(goes_on, RunIteration());
    }
    return Result();
  }

 private:
  // The condition or the body.
  struct Part {
    Part(Executor& executor, ComputationId of)
        : id(of),
          computation(executor.plan_.module->computation(of)),
          plan(executor.plan_.computations[of.value]),
          frame(executor.TakeFrame(of)) {}

    const ComputationId id;
    const Computation& computation;
    const ComputationPlan& plan;
    Frame frame;
    Iteration iteration;
  };

  // False: the condition was.
  absl::StatusOr<bool> RunIteration() {
    if (executor_.plan_.has_dynamic) ASSAY_RETURN_IF_ERROR(TakeStateAsDeclared());
    ASSAY_ASSIGN_OR_RETURN(const bool goes_on, EvaluateCondition());
    if (!goes_on) return false;
    ASSAY_RETURN_IF_ERROR(RunBody());
    condition_.iteration.first = body_.iteration.first = false;
    return true;
  }

  // Iterations whose results are checked afterwards, all at once. If a check fails, they are as if they had
  // not been, and are run again with checks, as are those that follow.
  absl::StatusOr<bool> RunWithoutChecks() {
    constexpr int kMost = 256;  // so that a wrong value does not make the loop run for ever
    const std::vector<Literal> state = state_;
    const int64_t step_units = executor_.step_units_;
    DeferredChecks checks;
    absl::StatusOr<bool> goes_on = true;
    {
      const DeferredChecks::Scope scope(&checks);
      for (int i = 0; i < kMost && goes_on.ok() && *goes_on; ++i) goes_on = RunIteration();
    }
    ASSAY_ASSIGN_OR_RETURN(const bool right, checks.Hold());
    if (right) return goes_on;
    state_ = state;
    executor_.SetStepUnits(step_units);
    defers_checks_ = false;
    return true;
  }

  // Whether iterations can be run again, and whether some step waits for its checks else.
  bool MayDeferChecks() const {
    constexpr int64_t kMaxStateBytes = 16
                                       << 20;  // what is kept of it is copied where a step would overwrite it
    if (executor_.observer_ != nullptr || executor_.plan_.has_dynamic ||
        executor_.options_.crosscheck != Crosscheck::kOff || init_shape_->TotalBytes() > kMaxStateBytes ||
        !body_.iteration.keeps_invariants || !condition_.iteration.keeps_invariants)
      return false;
    const Module& module = *executor_.plan_.module;
    for (const Part* const part : {&condition_, &body_}) {
      if (HasEffects(module, part->id)) return false;
      if (std::ranges::any_of(part->computation.instructions, MayNotRunAgain)) return false;
    }
    return std::any_of(body_.plan.steps.begin(), body_.plan.steps.end(), [](const Step& step) {
      return step.kernel != nullptr && step.kernel->defers_checks();
    });
  }

  // It meets other devices, or it may have a loop, which may not end with wrong values.
  static bool MayNotRunAgain(const Instruction& instruction) {
    const OpDef& op = DefinitionOf(instruction.opcode);
    return op.runs_steps || op.calls_may_have_effects || IsCollectiveOrTransfer(instruction);
  }

  absl::Status TakeStateAsDeclared() {
    ASSAY_RETURN_IF_ERROR(TakeState(condition_.computation, state_));
    return TakeState(body_.computation, state_);
  }

  absl::StatusOr<bool> EvaluateCondition() {
    const StateSlots& slots = condition_.plan.state;
    for (const ElementSlot& input : slots.inputs) {
      const bool stays = !slots.unchanged.empty() && slots.unchanged[input.element];
      if (!stays || condition_.iteration.first) condition_.frame[input.slot] = state_[input.element];
    }
    Iteration* const iteration = condition_.plan.loop_invariants.empty() ? nullptr : &condition_.iteration;
    ASSAY_RETURN_IF_ERROR(executor_.RunSteps(condition_.id, condition_.frame, depth_, iteration));
    Literal& root = condition_.frame[condition_.computation.root];
    const bool goes_on = root.GetInt(0) != 0;
    if (!condition_is_constant_) root = Literal();
    return goes_on;
  }

  absl::Status RunBody() {
    GiveStateToBody();
    ASSAY_RETURN_IF_ERROR(executor_.RunSteps(body_.id, body_.frame, depth_, &body_.iteration));
    const StateSlots& slots = body_.plan.state;
    for (const ElementSlot& output : slots.outputs) {
      if (!slots.unchanged[output.element]) state_[output.element] = TakeOutput(output, body_.frame);
    }
    if (!body_.iteration.keeps_invariants) {
      for (const int32_t slot : body_.plan.loop_invariants) body_.frame[slot] = Literal();
    }
    if (device_kernel_ != nullptr) device_kernel_->EndIteration();
    return absl::OkStatus();
  }

  void GiveStateToBody() {
    const StateSlots& slots = body_.plan.state;
    for (const ElementSlot& input : slots.inputs) {
      if (!slots.unchanged[input.element]) {
        PutInput(input, state_, body_.frame);
      } else if (body_.iteration.first) {
        body_.frame[input.slot] = state_[input.element];
      }
    }
    for (size_t e = 0; e < state_.size(); ++e) {
      if (!is_read_by_body_[e]) state_[e] = Literal();
    }
  }

  // The frames go back without the loop's state.
  Literal Result() {
    const bool ran = !body_.iteration.first;
    for (Part* const part : {&condition_, &body_}) {
      for (const ElementSlot& input : part->plan.state.inputs) part->frame[input.slot] = Literal();
      executor_.GiveFrameBack(part->id, std::move(part->frame));
    }
    return Literal::Tuple(ran ? body_.computation.root_instruction().shape : init_shape_, std::move(state_));
  }

  Executor& executor_;
  const int depth_;
  std::shared_ptr<const Shape> init_shape_;
  std::vector<Literal> state_;  // by element
  std::vector<bool> is_read_by_body_;
  Part condition_, body_;
  bool condition_is_constant_ = false;
  bool defers_checks_ = false;
  const Kernel* device_kernel_ = nullptr;  // of a step of the body; null: none is on a device
  // What kernels keep from one iteration to the next, by step. A body may have several such loops, one in the
  // condition of the other, so that each run of a loop has its own.
  std::vector<StepMemory> body_memory_;
};

absl::StatusOr<Literal> Executor::Loop(const Instruction& instruction, Literal init, int depth) {
  if (depth > kMaxCallDepth) return LimitExceeded("call depth", depth, kMaxCallDepth);
  return LoopRun(*this, instruction, std::move(init), depth).Run();
}

bool Executor::KeepsInvariants(const ComputationPlan& plan) const {
  return plan.invariant_bytes <= (budget()->limit() - budget()->live()) / 4;
}

std::vector<StepMemory> Executor::TakeMemory(ComputationId body) {
  const ComputationPlan& plan = plan_.computations[body.value];
  std::vector<StepMemory> memory = std::exchange(scratch_[body.value].free_memory, {});
  if (!memory.empty()) return memory;
  const Computation& computation = plan_.module->computation(body);
  memory.resize(plan.steps.size());
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    const Step& step = plan.steps[s];
    if (step.kernel == nullptr || step.fusion != nullptr) continue;
    if (std::find(step.unchanged.begin(), step.unchanged.end(), true) == step.unchanged.end()) continue;
    memory[s].unchanged.assign(step.unchanged.begin(), step.unchanged.end());
    memory[s].instruction = &computation.instructions[step.instruction];
  }
  return memory;
}

void Executor::GiveMemoryBack(ComputationId body, std::vector<StepMemory> memory) {
  for (StepMemory& step : memory) step.state.reset();
  scratch_[body.value].free_memory = std::move(memory);
  memory_ = nullptr;
}

}  // namespace assay
