// What an op's evaluation sees of the run.
#ifndef ASSAY_EVALUATOR_EVAL_CONTEXT_H_
#define ASSAY_EVALUATOR_EVAL_CONTEXT_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "absl/numeric/int128.h"
#include "base/limits.h"
#include "base/run_guard.h"
#include "hlo/module.h"
#include "literal/literal.h"

namespace assay {

class DeviceLink;      // device.h
class Parallel;        // parallel.h
class ScalarFunction;  // scalar_function.h
struct StepMemory;     // step_memory.h
struct StripKernel;    // elementwise.h

// The next item of a host queue: makes the value for the shape that the program wants (bytes from a file get
// their type from the program).
using StreamItem = std::function<absl::StatusOr<Literal>(const Shape& wanted)>;

// State of one process (replica, partition) that side effects change. Queues are FIFO: the run's caller fills
// infeed and host_to_device and reads outfeed and device_to_host.
struct ProcessState {
  absl::uint128 rng_state = 0x7012395;  // rng-get-and-update-state
  std::deque<StreamItem> infeed;
  std::vector<Literal> outfeed;
  std::map<std::string, std::deque<StreamItem>> host_to_device;  // key: "CHANNEL" or "CHANNEL/handler name"
  StreamItem when_empty;  // gives what an empty queue of the host is asked for; unset: that is an error
  std::map<std::string, std::deque<Literal>> device_to_host;
  std::map<std::string, std::vector<Literal>> probes;  // what interpreter.probe saw, by its probe_id
};

// How much of what kernels give is computed again by the reference, and compared by Kernel::accuracy().
enum class Crosscheck : uint8_t {
  kOff,
  kSample,  // of each step's runs number 1, 2, 4, 8, … some elements, or all of a small result (crosscheck.h)
  kFull,    // every element of every run
};

struct RunOptions {
  RunLimits limits;
  int jobs = 0;  // threads of the kernels of a large step; 0: one a core
  Crosscheck crosscheck = Crosscheck::kOff;
  // A step that the cross-check found wrong is written to this new directory (reproducer.h), with a command
  // that repeats it by these flags; empty: nowhere.
  std::string repro_dir, repro_flags;
  uint64_t run_seed = 42;             // rng, GetRngSeed
  std::function<bool()> interrupted;  // polled by the run's thread; true ends the run
  // The limits of what the run is a part of, its memory and time included; null: nothing.
  std::shared_ptr<RunGuard> parent_guard;
  // Shows a value and its name for interpreter.print; unset: nothing is shown.
  std::function<void(const std::string& name, const Literal& value)> print;
};

// One run of a program, as its steps see it: who runs called computations, and what all of them share.
// The executor is one.
class RunContext {
 public:
  virtual ~RunContext() = default;

  // Runs a computation on whole values. `depth` is that of the call: 0 for the entry computation.
  virtual absl::StatusOr<Literal> Call(ComputationId id, std::vector<Literal> arguments, int depth) = 0;
  // The computation as a function of scalars, made once a run.
  virtual absl::StatusOr<ScalarFunction*> Scalar(ComputationId id, int depth) = 0;
  // The strip function of an elementwise op for compiled scalar computations:
  // the first engine's that has one.
  virtual StripKernel StripFor(const Instruction& instruction, std::span<const ElementType> operands,
                               ElementType result) const = 0;
  // Counts against --max-steps (steps.h); polls like Charge.
  virtual absl::Status Count(int64_t step_units) = 0;
  // Tells of work done, of elements that took up to a microsecond each: polls timeout and interruption by a
  // count of them, and of its calls.
  virtual absl::Status Charge(int64_t elements) = 0;
  virtual const std::shared_ptr<MemoryBudget>& budget() const = 0;
  // What Charge polls. Values whose bytes may be lost on a device hold it (DeviceArray::Lost).
  virtual const std::shared_ptr<RunGuard>& guard() const = 0;
  virtual Parallel& parallel() = 0;
  virtual ProcessState& process() = 0;
  // The run's device among the others.
  virtual DeviceLink& device() = 0;
  virtual const RunOptions& options() const = 0;
  // What the kernel of an instruction's step in a loop's body keeps until the loop ends; it asks when it
  // starts. Null outside of loops and where every operand may change.
  virtual StepMemory* MemoryOf(const Instruction& instruction) const = 0;
};

class EvalContext {
 public:
  EvalContext(RunContext& run, const Module& module, const Computation& computation,
              const Instruction& instruction, int depth)
      : run_(run), module_(module), computation_(computation), instruction_(instruction), depth_(depth) {}

  // Serves an operation that another one stands for (custom-call): same operands, depth and run.
  EvalContext(const EvalContext& outer, const Instruction& instruction)
      : run_(outer.run_),
        module_(outer.module_),
        computation_(outer.computation_),
        instruction_(instruction),
        depth_(outer.depth_) {}

  const Module& module() const { return module_; }
  const Instruction& instruction() const { return instruction_; }
  const AttributeMap& attributes() const { return instruction_.attributes; }
  // Operand i as the program declares it. A value's own shape has the right sizes, dynamic flags and run-time
  // sizes, but its layout may be that of the instruction that made the storage: layouts are read here.
  const Shape& operand_shape(int64_t i) const { return *operand_instruction(i).shape; }
  const Instruction& operand_instruction(int64_t i) const {
    return computation_.instructions[instruction_.operands[i]];
  }
  const Computation& computation() const { return computation_; }
  const Shape& result_shape() const { return *instruction_.shape; }
  const std::shared_ptr<const Shape>& shared_result_shape() const { return instruction_.shape; }

  // The result array, counted against the memory limit; zeroed unless the op writes every element itself.
  absl::StatusOr<Literal> NewResult(bool zero = false);
  absl::StatusOr<Literal> NewLiteral(std::shared_ptr<const Shape> shape, bool zero = false);
  // The array for element i of a tuple result.
  absl::StatusOr<Literal> NewResultElement(int64_t i, bool zero = false);

  // Counts what it takes to keep a value in a queue of the process, besides its elements, against the memory
  // limit; else a loop that sends out values of few bytes, or none, would end the machine's memory first.
  absl::Status Keep(const Literal& value);
  // The value left its queue.
  void Forget(const Literal& value);

  // Runs a called computation on whole values.
  absl::StatusOr<Literal> Call(ComputationId id, std::vector<Literal> arguments);
  // A called computation of scalars, compiled to strips where it is made of elementwise ops alone,
  // interpreted otherwise; cached for the run.
  absl::StatusOr<ScalarFunction*> Scalar(ComputationId id);

  // Tells of work done: polls timeout and interruption. Call it at least every 50 ms of work; of elements
  // that may take more than a microsecond each, after every few of them (Meter). Loops over threads poll by
  // themselves (parallel.h).
  absl::Status Charge(int64_t elements) { return run_.Charge(elements); }

  // The run's threads; one where the engine is the reference.
  Parallel& parallel() { return run_.parallel(); }

  ProcessState& process() { return run_.process(); }
  DeviceLink& device() { return run_.device(); }
  const RunOptions& options() const { return run_.options(); }
  // What a kernel may keep until the loop around it ends; null where nothing is kept.
  StepMemory* memory() const { return run_.MemoryOf(instruction_); }
  RunContext& run() { return run_; }

 private:
  RunContext& run_;
  const Module& module_;
  const Computation& computation_;
  const Instruction& instruction_;
  const int depth_;
};

}  // namespace assay

#endif  // ASSAY_EVALUATOR_EVAL_CONTEXT_H_
