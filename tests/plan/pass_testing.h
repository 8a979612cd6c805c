// One pass of the planner alone: verified programs, steps by the names of their instructions,
// and engines of a line.
#ifndef ASSAY_TESTS_PLAN_PASS_TESTING_H_
#define ASSAY_TESTS_PLAN_PASS_TESTING_H_

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engines/engine.h"
#include "evaluator/verify.h"
#include "hlo/text/parser.h"
#include "plan/live.h"
#include "plan/order.h"
#include "plan/plan.h"

namespace assay::testing {

inline VerifiedModule Verified(const std::string& text) {
  absl::StatusOr<Module> module = ParseHloText("HloModule m\n" + text);
  INFO(module.status());
  REQUIRE(module.ok());
  absl::StatusOr<VerifiedModule> verified = Verify(*std::move(module));
  INFO(verified.status());
  REQUIRE(verified.ok());
  return *std::move(verified);
}

inline const Computation& Named(const Module& module, std::string_view name) {
  for (const Computation& computation : module.computations) {
    if (computation.name == name) return computation;
  }
  FAIL("no computation " << name);
  return module.entry_computation();
}

// The plan of a computation behind the pass that orders steps.
inline ComputationPlan Ordered(const Module& module, const Computation& computation) {
  ComputationPlan plan;
  const auto index = static_cast<size_t>(&computation - module.computations.data());
  REQUIRE(OrderSteps(module, computation, LiveInstructions(module)[index], plan).ok());
  return plan;
}

// "a b c": the names of instructions.
inline std::string Names(const Computation& computation, const std::vector<int32_t>& instructions) {
  std::string names;
  for (int32_t i : instructions)
    names += (names.empty() ? "" : " ") + computation.instructions[static_cast<size_t>(i)].name;
  return names;
}
inline std::string Steps(const Computation& computation, const ComputationPlan& plan) {
  std::vector<int32_t> instructions;
  for (const Step& step : plan.steps) instructions.push_back(step.instruction);
  return Names(computation, instructions);
}

inline const Step& StepOf(const Computation& computation, const ComputationPlan& plan,
                          std::string_view name) {
  for (const Step& step : plan.steps) {
    if (computation.instructions[static_cast<size_t>(step.instruction)].name == name) return step;
  }
  FAIL("no step " << name);
  return plan.steps.front();
}

// Takes what has this opcode, alone or, where it fuses, as a member of a fusion; its kernels never run.
class Taker final : public Engine {
 public:
  Taker(std::string name, Opcode opcode, bool fuses = false)
      : name_(std::move(name)), opcode_(opcode), fuses_(fuses) {}
  std::string_view name() const override { return name_; }
  bool fuses() const override { return fuses_; }
  bool CanFuse(const StepView& step) const override { return step.instruction.opcode == opcode_; }
  absl::StatusOr<std::shared_ptr<const Kernel>> Prepare(const FusionView& step) const override {
    if (step.root().opcode != opcode_) return NotSupported({}, name_ + " does not");
    return std::make_shared<Idle>();
  }

 private:
  class Idle final : public Kernel {
   public:
    absl::StatusOr<Literal> Run(EvalContext&, std::span<Literal>) const override { return Fallback("idle"); }
  };
  const std::string name_;
  const Opcode opcode_;
  const bool fuses_;
};

}  // namespace assay::testing

#endif  // ASSAY_TESTS_PLAN_PASS_TESTING_H_
