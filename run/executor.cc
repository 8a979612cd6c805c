#include "run/executor.h"

#include <algorithm>
#include <cfenv>
#include <new>
#include <optional>
#include <utility>

#include "base/checked.h"
#include "base/counted.h"
#include "base/work_stage.h"
#include "evaluator/grid/device_grid.h"
#include "evaluator/open_sizes.h"
#include "evaluator/registry.h"
#include "evaluator/runtime_sizes.h"
#include "evaluator/steps.h"
#include "fmt/format.h"
#include "plan/prepare.h"
#include "run/declared_sizes.h"
#include "run/frame.h"
#include "run/reference.h"

namespace assay {
namespace {

// The guard is asked after so many elements that Charge was told of, each call being as much as
// kElementsOfCall, or after 64 steps without work (AddStepUnits): the guard's clock takes 5 ns and a tiny
// step 50. With a limit on steps it is asked at the first one, too, as runs within it may be short.
constexpr int64_t kElementsBetweenPolls = 1 << 14;
constexpr int64_t kElementsOfCall = 1 << 10;

// The most that may be counted.
int64_t MaxStepUnits(int64_t max_steps) {
  if (max_steps <= 0) return INT64_MAX;
  const std::optional<int64_t> units = CheckedMul(max_steps, kUnitsPerStep);
  return AddUnits(units.value_or(INT64_MAX), kUnitsPerStep - 1);
}

// Results depend on round-to-nearest and gradual underflow; callers may have changed either.
class DefaultFloatEnvironment {
 public:
  DefaultFloatEnvironment() {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloatEnvironment() { std::fesetenv(&saved_); }

 private:
  std::fenv_t saved_;
};

constexpr char kStepLimitPayload[] = "assay/step-limit";

// It has no position and number of steps: at which instruction a program passes the limit, and by how much,
// depends on what the engine runs as one.
absl::Status StepLimitExceeded(int64_t limit) {
  absl::Status status =
      absl::ResourceExhaustedError(fmt::format("steps (--max-steps): more than the limit of {}", limit));
  status.SetPayload(kStepLimitPayload, absl::Cord());
  return status;
}

absl::Status AtInstruction(const absl::Status& status, const Instruction& instruction) {
  if (PositionOf(status).has_value() || status.GetPayload(kStepLimitPayload)) return status;
  absl::Status named =
      WithSuffix(status, fmt::format(" (in '%{} = {}')", instruction.name, Name(instruction.opcode)));
  return WithPosition(std::move(named), instruction.position);
}

// The entry layout says the result's shape, too.
absl::Status CheckResult(const Module& module, const Literal& result) {
  const Instruction& root = module.entry_computation().root_instruction();
  absl::Status status = CheckNotOpen(*root.shape, result, "the program's result");
  if (!status.ok()) return AtInstruction(status, root);
  if (!module.entry_computation_layout) return status;
  return CheckStaticSizes(module.entry_computation_layout->result, result,
                          [] { return "the program's result (entry_computation_layout)"; });
}

// True where the engines behind a kernel, or the reference, are to do what it did not: it fell back, or there
// was no room for what it packs beside operands and result, which others may do without. A kernel that has
// begun to write a result over an operand has taken it out of `operands`.
bool IsLeftToOthers(const absl::Status& status, std::span<const Literal> operands) {
  if (IsFallback(status)) return true;
  return IsMemoryError(status) && std::all_of(operands.begin(), operands.end(), [](const Literal& operand) {
           return !operand.shape().IsTuple() || operand.tuple_size() > 0;
         });
}

}  // namespace

Executor::Executor(const Plan& plan, RunOptions options, const DeviceSlot* device_slot)
    : plan_(plan),
      options_(std::move(options)),
      device_(device_slot == nullptr ? single_device_ : device_slot->link),
      last_count_(device_.last_count()),
      guard_(device_slot == nullptr
                 ? std::make_shared<RunGuard>(options_.limits, options_.interrupted, options_.parent_guard)
                 : std::make_shared<RunGuard>(
                       RunLimits{}, [this] { return last_count_.load(std::memory_order_relaxed) < 0; },
                       device_slot->guard)),
      budget_(device_slot == nullptr ? guard_->budget() : device_slot->guard->budget()),
      parallel_(plan.engines.empty() ? 1 : options_.jobs),
      crosschecker_(options_, step_units_),
      scratch_(plan.computations.size()),
      max_step_units_(MaxStepUnits(options_.limits.max_steps)),
      until_poll_(options_.limits.max_steps > 0 ? 0 : kElementsBetweenPolls) {
  parallel_.Watch(guard_.get());
}

Executor::~Executor() {
  if (&device_ == &single_device_) budget_->StopRecycling();
}

absl::StatusOr<Literal> Executor::Run(std::vector<Literal> arguments) {
  const Computation& entry = plan_.module->entry_computation();
  if (arguments.size() != entry.parameters.size()) {
    return BadInput(fmt::format("the program takes {}, got {}", Counted(entry.parameters.size(), "argument"),
                                arguments.size()));
  }
  const std::optional<ProgramShape>& layout = plan_.module->entry_computation_layout;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const int64_t number = static_cast<int64_t>(i);
    ASSAY_RETURN_IF_ERROR(
        CheckArgument(number, arguments[i], *entry.instructions[entry.parameters[i]].shape));
    if (plan_.has_dynamic && layout)
      ASSAY_RETURN_IF_ERROR(CheckArgument(number, arguments[i], layout->parameters[i]));
  }
  const DefaultFloatEnvironment environment;
  if (&device_ == &single_device_) {
    if (plan_.has_collectives) ASSAY_RETURN_IF_ERROR(CheckDevices(*plan_.module, device_.grid()));
    guard_->BindThread();
  }
  try {
    ASSAY_ASSIGN_OR_RETURN(Literal result, Call(plan_.module->entry, std::move(arguments), 0));
    if (plan_.has_dynamic) ASSAY_RETURN_IF_ERROR(CheckResult(*plan_.module, result));
    ASSAY_RETURN_IF_ERROR(result.Fetch());
    ASSAY_RETURN_IF_ERROR(guard_->Failure());
    return result;
  } catch (const std::bad_alloc&) {
    return OutOfMemory("the run's bookkeeping");
  }
}

Frame Executor::TakeFrame(ComputationId id) {
  std::vector<Frame>& free = scratch_[id.value].free_frames;
  if (!free.empty()) {
    Frame frame = std::move(free.back());
    free.pop_back();
    return frame;
  }
  const Computation& computation = plan_.module->computation(id);
  Frame frame(computation.instructions.size());
  for (int32_t i : plan_.computations[id.value].constants) frame[i] = *computation.instructions[i].literal;
  return frame;
}

void Executor::GiveFrameBack(ComputationId id, Frame frame) {
  for (int32_t slot : plan_.computations[id.value].loop_invariants) frame[slot] = Literal();
  scratch_[id.value].free_frames.push_back(std::move(frame));
}

absl::StatusOr<Literal> Executor::Call(ComputationId id, std::vector<Literal> arguments, int depth) {
  if (depth > kMaxCallDepth) return LimitExceeded("call depth", depth, kMaxCallDepth);
  const Computation& computation = plan_.module->computation(id);
  const ComputationPlan& plan = plan_.computations[id.value];
  ASSAY_CHECK(arguments.size() == computation.parameters.size());

  for (size_t i = 0; plan_.has_dynamic && i < arguments.size(); ++i)
    ASSAY_RETURN_IF_ERROR(TakeArgument(computation, i, arguments[i]));

  Frame frame = TakeFrame(id);
  if (plan.state.unpacked) {
    std::vector<Literal> elements = std::move(arguments[0]).TakeElements();
    for (const ElementSlot& input : plan.state.inputs) PutInput(input, elements, frame);
  } else {
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (plan.parameter_used[i]) frame[computation.parameters[i]] = std::move(arguments[i]);
    }
  }
  arguments.clear();
  ASSAY_RETURN_IF_ERROR(RunSteps(id, frame, depth));

  Literal result;
  if (plan.state.packed) {
    std::vector<Literal> elements;
    elements.reserve(plan.state.outputs.size());
    for (const ElementSlot& output : plan.state.outputs) elements.push_back(TakeOutput(output, frame));
    result = Literal::Tuple(computation.root_instruction().shape, std::move(elements));
  } else if (IsStored(computation.root_instruction())) {
    result = *computation.root_instruction().literal;
  } else {
    result = std::move(frame[computation.root]);
  }
  GiveFrameBack(id, std::move(frame));
  return result;
}

absl::Status Executor::RunSteps(ComputationId id, Frame& frame, int depth, Iteration* iteration) {
  const Computation& computation = plan_.module->computation(id);
  const ComputationPlan& plan = plan_.computations[id.value];
  // A computation may have no instruction to count, and be called for ever.
  ASSAY_RETURN_IF_ERROR(Count(
      AddUnits(kUnitsPerStep + (iteration == nullptr ? 0 : iteration->invariant_units), plan.step_units)));
  if (iteration == nullptr && observer_ == nullptr) {
    memory_ = nullptr;
    std::optional<WorkStage> stage;  // of the entry computation's steps
    if (depth == 0) stage.emplace("steps", static_cast<int64_t>(plan.steps.size()));
    int64_t done = 0;
    for (const Step& step : plan.steps) {
      ASSAY_RETURN_IF_ERROR(RunStep(computation, step, frame, depth));
      if (stage) stage->Done(++done);
    }
    return absl::OkStatus();
  }
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    ASSAY_RETURN_IF_ERROR(RunStepOfIteration(computation, plan, s, frame, depth, iteration));
  }
  return absl::OkStatus();
}

absl::Status Executor::RunStepOfIteration(const Computation& computation, const ComputationPlan& plan,
                                          size_t s, Frame& frame, int depth, Iteration* iteration) {
  const Step& step = plan.steps[s];
  const bool runs_once = iteration != nullptr && step.loop_invariant && iteration->keeps_invariants;
  if (runs_once && !iteration->first) return absl::OkStatus();
  memory_ = iteration == nullptr || iteration->memory.empty() ? nullptr : &iteration->memory[s];
  const int64_t before = step_units_;
  struct Observed {
    ~Observed() {
      if (observer != nullptr) observer->End();
    }
    StepObserver* const observer;
  };
  absl::Status status;
  {
    if (observer_ != nullptr) observer_->Begin(computation, step);
    const Observed observed{observer_};
    status = RunStep(computation, step, frame, depth);
  }
  if (runs_once) iteration->invariant_units = AddUnits(iteration->invariant_units, step_units_ - before);
  if (iteration != nullptr && !iteration->keeps_invariants) {
    for (int32_t slot : step.releases) frame[slot] = Literal();
  }
  return status;
}

absl::Status Executor::RunStep(const Computation& computation, const Step& step, Frame& frame, int depth) {
  const Instruction& instruction = computation.instructions[step.instruction];
  if (!AddStepUnits(step.step_units)) {
    if (const absl::Status status = CheckLimits(); !status.ok()) return AtInstruction(status, instruction);
  }
  if (step.kind == StepKind::kGetTupleElement) {
    Literal& tuple = frame[instruction.operands[0]];
    Literal element = tuple.element(step.element);
    if (step.last_use[0]) tuple = Literal();
    if (plan_.has_dynamic) {
      const absl::Status status = TakeResult(instruction, element);
      if (!status.ok()) return AtInstruction(status, instruction);
    }
    if (step.result_used) frame[step.instruction] = std::move(element);
    return absl::OkStatus();
  }
  absl::StatusOr<Literal> result = Evaluate(computation, step, frame, depth);
  if (!result.ok()) return AtInstruction(result.status(), instruction);
  if (plan_.has_dynamic) {
    const absl::Status status = TakeResult(instruction, *result);
    if (!status.ok()) return AtInstruction(status, instruction);
  }
  if (step.result_used) frame[step.instruction] = *std::move(result);
  return absl::OkStatus();
}

absl::StatusOr<Literal> Executor::Evaluate(const Computation& computation, const Step& step, Frame& frame,
                                           int depth) {
  const Instruction& instruction = computation.instructions[step.instruction];
  const std::span<const int32_t> reads = step.Reads(computation);
  const auto take = [&](size_t k) {
    Literal& slot = frame[reads[k]];
    return step.last_use[k] ? std::move(slot) : slot;
  };
  if (step.kind == StepKind::kTuple) {
    std::vector<Literal> elements;
    elements.reserve(reads.size());
    for (size_t k = 0; k < reads.size(); ++k) elements.push_back(take(k));
    return Literal::Tuple(instruction.shape, std::move(elements));
  }
  if (step.kind == StepKind::kLoop) return Loop(instruction, take(0), depth + 1);
  constexpr size_t kFew = 4;
  absl::InlinedVector<Literal, kFew> operands;
  if (reads.size() > kFew) operands.reserve(reads.size());
  for (size_t k = 0; k < reads.size(); ++k) {
    Literal& slot = frame[reads[k]];
    if (step.last_use[k]) {
      operands.push_back(std::move(slot));
    } else {
      operands.push_back(slot);
    }
  }
  EvalContext context(*this, *plan_.module, computation, instruction, depth);
  const std::span<Literal> values(operands.data(), operands.size());
  if (observer_ == nullptr || !observer_->LooksAtValues())
    return EvaluateOn(context, computation, step, values);
  const std::vector<Literal> before(values.begin(), values.end());
  ASSAY_ASSIGN_OR_RETURN(Literal result, EvaluateOn(context, computation, step, values));
  ASSAY_RETURN_IF_ERROR(observer_->Evaluated(context, before, result));
  return result;
}

absl::StatusOr<Literal> Executor::EvaluateOn(EvalContext& context, const Computation& computation,
                                             const Step& step, std::span<Literal> values) {
  if (!plan_.has_dynamic) return EvaluateSettled(context, computation, step, values);
  const auto is_open = [](const Literal& value) { return value.HasOpen(); };
  if (step.fusion != nullptr) {
    // Each of its members has a rule of its own.
    return std::ranges::any_of(values, is_open) ? RunReference(context, computation, step, values)
                                                : EvaluateSettled(context, computation, step, values);
  }
  OpenSizes sizes(context, values);
  ASSAY_RETURN_IF_ERROR(sizes.Settle());
  ASSAY_ASSIGN_OR_RETURN(Literal result, EvaluateSettled(context, computation, step, values));
  sizes.MarkResult(result);
  return result;
}

absl::StatusOr<Literal> Executor::EvaluateSettled(EvalContext& context, const Computation& computation,
                                                  const Step& step, std::span<Literal> values) {
  if (step.kernel == nullptr) return step.op->eval(context, values);
  absl::StatusOr<Literal> result = RunKernel(context, computation, step, values);
  if (result.ok() || !IsLeftToOthers(result.status(), values)) return result;
  return RunFallback(context, computation, step, result.status(), values);
}

absl::StatusOr<Literal> Executor::RunKernel(EvalContext& context, const Computation& computation,
                                            const Step& step, std::span<Literal> values) {
  try {
    if (options_.crosscheck == Crosscheck::kOff) return step.kernel->Run(context, values);
    return crosschecker_.Run(context, computation, step, values);
  } catch (const LoopEnded& ended) {
    return ended.why;
  }
}

Executor::FallbackStep& Executor::FallbackStepOf(const Computation& computation, const Step& step,
                                                 const absl::Status& why) {
  FallbackStep& fallback = fallbacks_[&step];
  ++fallback.statistics.runs;
  if (fallback.statistics.runs > 1) return fallback;
  fallback.statistics.instruction = computation.instructions[step.instruction].name;
  fallback.statistics.engine = step.engine == nullptr ? "unknown" : step.engine->name();
  fallback.statistics.reason = std::string(why.message());
  return fallback;
}

absl::StatusOr<Literal> Executor::RunFallback(EvalContext& context, const Computation& computation,
                                              const Step& step, const absl::Status& why,
                                              std::span<Literal> values) {
  FallbackStep& fallback = FallbackStepOf(computation, step, why);
  if (observer_ != nullptr) observer_->FellBack(fallback.statistics.reason);
  if (fallback.step == nullptr) {
    fallback.step = std::make_unique<Step>(step);
    fallback.step->kernel = nullptr;
    const auto after = std::find(plan_.engines.begin(), plan_.engines.end(), step.engine);
    const std::span<const int32_t> members =
        step.fusion == nullptr ? std::span(&step.instruction, 1) : std::span(step.fusion->members);
    if (after != plan_.engines.end()) {
      ASSAY_RETURN_IF_ERROR(PrepareStep({*plan_.module, computation, members, step.Reads(computation)},
                                        {after + 1, plan_.engines.end()}, *fallback.step));
    }
  }
  const Step& next = *fallback.step;
  if (next.kernel == nullptr) return RunReference(context, computation, step, values);
  absl::StatusOr<Literal> result = RunKernel(context, computation, next, values);
  if (result.ok() || !IsLeftToOthers(result.status(), values)) return result;
  return RunFallback(context, computation, next, result.status(), values);
}

StripKernel Executor::StripFor(const Instruction& instruction, std::span<const ElementType> operands,
                               ElementType result) const {
  for (const Engine* engine : plan_.engines) {
    const StripKernel kernel = engine->Strip(instruction, operands, result);
    if (kernel.fn != nullptr) return kernel;
  }
  const OpDef& definition = DefinitionOf(instruction.opcode);
  return definition.strip == nullptr ? StripKernel{} : definition.strip(instruction, operands, result);
}

absl::StatusOr<ScalarFunction*> Executor::Scalar(ComputationId id, int depth) {
  std::unique_ptr<ScalarFunction>& function = scratch_[id.value].function;
  if (function == nullptr) {
    const bool is_watched = observer_ != nullptr && observer_->LooksInto(id);
    ASSAY_ASSIGN_OR_RETURN(function, ScalarFunction::Make(*this, *plan_.module, id, depth, is_watched));
  }
  return function.get();
}

absl::Status Executor::Charge(int64_t elements) {
  until_poll_ -= elements + kElementsOfCall;
  if (until_poll_ > 0) return absl::OkStatus();
  until_poll_ = kElementsBetweenPolls;
  return guard_->Poll();
}

absl::Status Executor::Count(int64_t units) { return AddStepUnits(units) ? absl::OkStatus() : CheckLimits(); }

absl::Status Executor::CheckLimits() {
  if (step_units_ > last_count_.load(std::memory_order_relaxed))
    return absl::CancelledError("another device failed");
  if (step_units_ > max_step_units_) return StepLimitExceeded(options_.limits.max_steps);
  until_poll_ = kElementsBetweenPolls;
  return guard_->Poll();
}

RunStatistics Executor::statistics() const {
  RunStatistics statistics{step_units_ / kUnitsPerStep,
                           step_units_ % kUnitsPerStep,
                           budget()->peak(),
                           crosschecker_.checked(),
                           {}};
  for (const auto& [step, fallback] : fallbacks_) statistics.fallbacks.push_back(fallback.statistics);
  std::sort(statistics.fallbacks.begin(), statistics.fallbacks.end(),
            [](const StepFallbacks& a, const StepFallbacks& b) { return a.instruction < b.instruction; });
  return statistics;
}

}  // namespace assay
