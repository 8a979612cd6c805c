// The engine "jit": fusions as generated code (stages.h).
#ifndef ASSAY_ENGINES_JIT_JIT_ENGINE_H_
#define ASSAY_ENGINES_JIT_JIT_ENGINE_H_

#include "engines/engine.h"
#include "engines/jit/stages.h"
#include "jit/isa.h"

namespace assay::jit {

// Takes elementwise steps that have enough elements for code to be worth its making.
class JitEngine final : public Engine {
 public:
  struct Options {
    bool eager = false;  // any number of elements; for tests
    FindApproximation approximate =
        nullptr;  // where there is one, in place of functions that loops have no form of
  };
  // Uses instruction sets up to `isa`, which the machine must have.
  JitEngine(Isa isa, Options options) : isa_(isa), options_(options) {}

  std::string_view name() const override { return "jit"; }
  bool MayTake(Opcode opcode) const override;
  absl::StatusOr<std::shared_ptr<const Kernel>> Prepare(const FusionView& step) const override;
  bool fuses() const override { return true; }
  bool CanFuse(const StepView& step) const override;

 private:
  // Elements below which an instruction alone gets no code.
  int64_t fewest() const { return options_.eager ? 1 : 2; }
  std::string WhyNot(const FusionView& step) const;

  const Isa isa_;
  const Options options_;
};

// Both give the reference's bits.
const Engine& ExactJitEngine(Isa isa);
const Engine& EagerJitEngine(Isa isa);

}  // namespace assay::jit

#endif  // ASSAY_ENGINES_JIT_JIT_ENGINE_H_
