// The contract of engines: how an engine accepts a step of a plan, and what its kernel guarantees. It names
// no implementation; run/engine_list.h lists them.
//
// An engine takes a step by preparing a kernel for it, or declines with the reason. Engines are asked in
// order; the reference (OpDef::eval) is last and takes every step. An engine does not depend on other
// engines, on control flow or on the cross-check: the executor handles these.
#ifndef ASSAY_ENGINES_ENGINE_H_
#define ASSAY_ENGINES_ENGINE_H_

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "engines/accuracy.h"
#include "engines/elementwise_fn.h"
#include "evaluator/elementwise.h"
#include "evaluator/op.h"

namespace assay {

class EvalContext;

// What is known of an instruction before it runs: everything but values.
struct StepView {
  const Module& module;
  const Computation& computation;
  const Instruction& instruction;

  const Instruction& operand(int64_t i) const {
    return computation.instructions[instruction.operands[static_cast<size_t>(i)]];
  }
  const Shape& operand_shape(int64_t i) const { return *operand(i).shape; }
  const Shape& result_shape() const { return *instruction.shape; }
};

// Instructions that run as one step (plan/fusion.h); a single instruction is one of one member.
struct FusionView {
  const Module& module;
  const Computation& computation;
  std::span<const int32_t> members;  // in order; the last is the root, whose value alone is needed outside
  // What members read of other instructions: of several members each once,
  // of a single one its operands as they stand.
  std::span<const int32_t> operands;
  bool in_loop = false;  // the computation may run many times

  const Instruction& root() const { return computation.instructions[static_cast<size_t>(members.back())]; }
  bool is_single() const { return members.size() == 1; }
  StepView single() const { return {module, computation, root()}; }
};

// An approximation of an elementwise function: its results depend on their own elements alone.
struct Approximation {
  using Run = std::function<absl::Status(int64_t n, const std::byte* const* in, std::byte* out)>;

  Approximation() = default;
  Approximation(Run computed, const Accuracy* bound) : run(std::move(computed)), accuracy(bound) {}
  Approximation(ElementwiseFn computed, const Accuracy* bound)
      : Approximation(
            [computed](int64_t n, const std::byte* const* in, std::byte* out) {
              computed(n, in, out);
              return absl::OkStatus();
            },
            bound) {}

  Run run;                             // as an ElementwiseFn; null: the reference's bits
  const Accuracy* accuracy = nullptr;  // of basis kValue
};

// The status of Kernel::Run if only the run shows that it can't take the step (because of a run-time size):
// the operands are then unchanged. The executor asks the engines behind this one, runs the reference
// where none takes the step, counts it and shows the reason.
absl::Status Fallback(std::string_view reason);
bool IsFallback(const absl::Status& status);

// One prepared step. Its contract is OpDef::eval's, bits included unless accuracy() says otherwise. It is
// shared by all runs of a plan, and never asks another engine or the reference. It gets the values of the
// step's operands; the context is that of the root.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const = 0;
  virtual const Accuracy& accuracy() const { return BitExact(); }
  // The algorithm that the engine chose for the op when it prepared the kernel;
  // empty if there is only one.
  virtual std::string_view algorithm() const { return {}; }
  // Whether it takes and gives values where a device has them (literal.h): with others, they are copied.
  virtual bool is_on_device() const { return false; }
  // Whether it reads this operand of the step in the host's memory nevertheless.
  virtual bool reads_on_host(int64_t) const { return !is_on_device(); }
  // Whether it gives the result, or this element of one that is a tuple, in the host's memory nevertheless.
  virtual bool gives_on_host(int64_t) const { return !is_on_device(); }
  // Whether the result is operand 0 under another shape, wherever that lies: nothing is copied for it.
  virtual bool passes_operand() const { return false; }
  // Whether it may leave the check of a result for later (deferred_checks.h).
  virtual bool defers_checks() const { return false; }
  // The body of a loop that has this step has run once: what a device was told since the last time may recur.
  virtual void EndIteration() const {}
  // What computes an elementwise member of the step, where the accuracy's basis is kMembers.
  virtual Approximation ApproximationOf(const Instruction&) const { return {}; }
};

class Engine {
 public:
  virtual ~Engine() = default;
  virtual std::string_view name() const = 0;
  // Whether the op can be the engine's on this machine, alone or as a member of a fusion. If not, Prepare
  // declines every step of which it is the root, and CanFuse is false.
  virtual bool MayTake(Opcode) const { return true; }
  // Takes the step, or NotSupported with the reason as the message where the engine declines;
  // any other error is an error.
  virtual absl::StatusOr<std::shared_ptr<const Kernel>> Prepare(const FusionView& step) const = 0;
  // Whether the engine takes fusions that the planner grows of members for which CanFuse is true.
  virtual bool fuses() const { return false; }
  virtual bool CanFuse(const StepView&) const { return false; }
  // The engine's function for an elementwise op inside a compiled scalar computation (scalar_function.h); fn
  // is null where it has none better than the op table's. Same contract, bits included.
  virtual StripKernel Strip(const Instruction&, std::span<const ElementType>, ElementType) const {
    return {};
  }
};

// The instruction, for engines that do not take fusions; else NotSupported.
absl::StatusOr<StepView> SingleInstruction(const FusionView& step);

}  // namespace assay

#endif  // ASSAY_ENGINES_ENGINE_H_
