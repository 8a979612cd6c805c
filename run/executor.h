// Runs a Plan on one device: memory, limits, side effects. Several devices are devices/run_devices.h.
#ifndef ASSAY_RUN_EXECUTOR_H_
#define ASSAY_RUN_EXECUTOR_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "evaluator/device.h"
#include "evaluator/eval_context.h"
#include "evaluator/scalar_function.h"
#include "evaluator/step_memory.h"
#include "evaluator/steps.h"
#include "plan/plan.h"
#include "plan/step_observer.h"
#include "run/crosscheck.h"
#include "run/frame.h"

namespace assay {

// The runs of a step that its kernel left (Fallback) to the next engines or to the reference.
struct StepFallbacks {
  std::string instruction, engine;
  std::string reason;  // of the first
  int64_t runs = 0;
};

// Statistics of a finished run.
struct RunStatistics {
  int64_t steps = 0;
  int64_t parts = 0;  // of the step begun, in units (steps.h)
  int64_t peak_bytes = 0;
  int64_t crosschecked = 0;              // runs of steps that were compared with the reference
  std::vector<StepFallbacks> fallbacks;  // by the instructions' names
};

// One device among several: its own link, and the guard that all of them share.
struct DeviceSlot {
  DeviceLink& link;
  std::shared_ptr<RunGuard> guard;  // of the run as a whole: its limits, and its memory
};

class Executor final : public RunContext {
 public:
  // The plan outlives the executor. Without a device slot the run is of a single device; with one, the limits
  // of time and memory and who interrupts are the guard's, and the executor is made by the thread that runs
  // it.
  Executor(const Plan& plan, RunOptions options, const DeviceSlot* device_slot = nullptr);
  ~Executor() override;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // Runs the entry computation. Arguments: one literal a parameter, compatible with its shape (else
  // BadInput). The floating-point environment is set (nearest, no flush to zero) and restored.
  absl::StatusOr<Literal> Run(std::vector<Literal> arguments);
  // Sets the observer, which must outlive the runs; null removes it.
  void Observe(StepObserver* observer) {
    observer_ = observer;
    parallel_.Observe(observer);
  }

  // Counts the runs that a sampled cross-check selects from: for a program that shares its plan,
  // the runs since it was loaded.
  void CountRunsIn(RunCounts& counts) { crosschecker_.CountRunsIn(counts); }

  absl::StatusOr<Literal> Call(ComputationId id, std::vector<Literal> arguments, int depth) override;
  absl::StatusOr<ScalarFunction*> Scalar(ComputationId id, int depth) override;
  absl::Status Count(int64_t units) override;
  absl::Status Charge(int64_t elements) override;
  // The counts so far, for work that is repeated or done for others (devices/uncounted_link.h).
  int64_t step_units() const { return step_units_; }
  void SetStepUnits(int64_t units) { step_units_ = units; }
  Parallel& parallel() override { return parallel_; }
  StripKernel StripFor(const Instruction& instruction, std::span<const ElementType> operands,
                       ElementType result) const override;
  StepMemory* MemoryOf(const Instruction& instruction) const override {
    return memory_ != nullptr && memory_->instruction == &instruction ? memory_ : nullptr;
  }
  ProcessState& process() override { return process_; }
  DeviceLink& device() override { return device_; }
  const RunOptions& options() const override { return options_; }
  const std::shared_ptr<MemoryBudget>& budget() const override { return budget_; }
  const std::shared_ptr<RunGuard>& guard() const override { return guard_; }
  RunStatistics statistics() const;

 private:
  Frame TakeFrame(ComputationId id);
  // Takes the frame of a finished run, which then holds only constants.
  void GiveFrameBack(ComputationId id, Frame frame);
  // An iteration of a loop's body or condition.
  struct Iteration {
    std::span<StepMemory> memory;  // by step
    bool keeps_invariants = true;  // else loop-invariant steps run in each iteration
    bool first = true;
    int64_t invariant_units = 0;  // what loop-invariant steps count; counted again in each later iteration
  };
  // Counts. False where a limit must be checked first.
  bool AddStepUnits(int64_t units) {
    step_units_ = AddUnits(step_units_, units);
    until_poll_ -= units / 16;
    return until_poll_ > 0 && step_units_ <= max_step_units_;
  }
  absl::Status CheckLimits();
  absl::Status RunSteps(ComputationId id, Frame& frame, int depth, Iteration* iteration = nullptr);
  // Step number s of the plan, unless it ran already.
  absl::Status RunStepOfIteration(const Computation& computation, const ComputationPlan& plan, size_t s,
                                  Frame& frame, int depth, Iteration* iteration);
  absl::Status RunStep(const Computation& computation, const Step& step, Frame& frame, int depth);
  absl::StatusOr<Literal> Evaluate(const Computation& computation, const Step& step, Frame& frame, int depth);
  absl::StatusOr<Literal> EvaluateOn(EvalContext& context, const Computation& computation, const Step& step,
                                     std::span<Literal> values);
  // The same if every operand has the sizes that the op needs (open_sizes.h).
  absl::StatusOr<Literal> EvaluateSettled(EvalContext& context, const Computation& computation,
                                          const Step& step, std::span<Literal> values);
  absl::StatusOr<Literal> RunKernel(EvalContext& context, const Computation& computation, const Step& step,
                                    std::span<Literal> values);
  // A step whose kernel left a run to the next engines.
  struct FallbackStep {
    StepFallbacks statistics;
    std::unique_ptr<Step> step;  // by the next engine that takes it; without a kernel, by the reference
  };
  // The record of the step, which falls back once more.
  FallbackStep& FallbackStepOf(const Computation& computation, const Step& step, const absl::Status& why);
  // The step by the engines behind its own, in their order, and by the reference where none takes it.
  absl::StatusOr<Literal> RunFallback(EvalContext& context, const Computation& computation, const Step& step,
                                      const absl::Status& why, std::span<Literal> values);
  // Whether the loop-invariant results of a loop may stay: up to a quarter of the room that the memory limit
  // leaves.
  bool KeepsInvariants(const ComputationPlan& plan) const;
  // A while loop; its state lies in slots of the frames of condition and body.
  class LoopRun;  // loop_run.cc
  absl::StatusOr<Literal> Loop(const Instruction& instruction, Literal init, int depth);
  // What the kernels of a loop's body keep from one iteration to the next, by step.
  std::vector<StepMemory> TakeMemory(ComputationId body);
  // Resets the state of the kernels, since the values that it refers to may be freed, and keeps the storage.
  void GiveMemoryBack(ComputationId body, std::vector<StepMemory> memory);

  const Plan& plan_;
  RunOptions options_;
  ProcessState process_;
  SingleDevice single_device_;  // used where there is no device slot
  DeviceLink& device_;
  const std::atomic<int64_t>& last_count_;
  const std::shared_ptr<RunGuard> guard_;
  const std::shared_ptr<MemoryBudget> budget_;
  Parallel parallel_;
  CrossChecker crosschecker_;
  StepObserver* observer_ = nullptr;
  std::map<const Step*, FallbackStep> fallbacks_;
  // What is kept of a computation from one call to the next.
  struct ComputationScratch {
    std::unique_ptr<ScalarFunction> function;
    std::vector<Frame> free_frames;
    std::vector<StepMemory> free_memory;
  };
  std::vector<ComputationScratch> scratch_;  // by computation
  StepMemory* memory_ = nullptr;             // of the step that runs
  const int64_t max_step_units_;
  int64_t step_units_ = 0;
  int64_t until_poll_ = 0;
};

}  // namespace assay

#endif  // ASSAY_RUN_EXECUTOR_H_
