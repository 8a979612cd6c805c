// Kernels that leave a run to others: the engines behind theirs, and the reference.
#include <array>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "engines/engine.h"
#include "tests/run/program_testing.h"

namespace assay::testing {
namespace {

// Takes every negate, and falls back where the first element is at least `from`;
// else gives operands as they are.
class Picky final : public Engine, public Kernel {
 public:
  Picky(std::string name, double from) : name_(std::move(name)), from_(from) {}
  std::string_view name() const override { return name_; }
  absl::StatusOr<std::shared_ptr<const Kernel>> Prepare(const FusionView& step) const override {
    ASSAY_ASSIGN_OR_RETURN(const StepView view, SingleInstruction(step));
    if (view.instruction.opcode != Opcode::kNegate) return NotSupported({}, "takes negate alone");
    return std::make_shared<Picky>(name_, from_);
  }
  absl::StatusOr<Literal> Run(EvalContext&, std::span<Literal> operands) const override {
    if (operands[0].GetDouble(0) >= from_) return Fallback(name_ + " does not like it");
    return std::move(operands[0]);
  }

 private:
  const std::string name_;
  const double from_;
};

constexpr std::string_view kProgram = R"(
HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  n = f32[2] negate(x)
  ROOT r = f32[2] add(n, n)
})";

const Picky kFirst("first", 10), kSecond("second", 20);
const std::array<const Engine*, 2> kEngines = {&kFirst, &kSecond};

Plan PickyPlan() { return PlanOf(ProgramOf(std::string(kProgram)), kEngines); }

Literal Pair(double first) {
  return Literal::FromDoubles(ElementType::kF32, std::array<int64_t, 1>{2}, std::array{first, 3.0});
}

TEST_CASE("fallback: the engines behind are asked in their order, then the reference", "[fallback]") {
  const Plan plan = PickyPlan();
  for (const auto& [first, fallbacks] : {std::pair{1.0, size_t{0}}, {10.0, size_t{1}}, {20.0, size_t{2}}}) {
    Executor executor(plan, {});
    const absl::StatusOr<Literal> result = executor.Run({Pair(first)});
    REQUIRE(result.ok());
    // The engines leave their operand as it is; the reference negates.
    CHECK(result->GetDouble(0) == (fallbacks == 2 ? -2 : 2) * first);
    const std::vector<StepFallbacks> found = executor.statistics().fallbacks;
    REQUIRE(found.size() == fallbacks);
    for (const StepFallbacks& step : found) {
      CHECK(step.instruction == "n");
      CHECK(step.runs == 1);
      CHECK(step.reason == step.engine + " does not like it");
    }
  }
}

TEST_CASE("fallback: a kernel that leaves a run to the reference is not compared with it", "[fallback]") {
  const Plan plan = PickyPlan();
  // The reference ran: the cross-check has nothing to say of n.
  Executor right(plan, {.crosscheck = Crosscheck::kFull});
  CHECK(right.Run({Pair(20)}).ok());
  // The kernel ran, and is wrong.
  Executor wrong(plan, {.crosscheck = Crosscheck::kFull});
  CHECK(ExitCodeOf(wrong.Run({Pair(1)}).status()) == 1);
  // The second engine's kernel ran in place of the first's, and is compared as well.
  Executor second(plan, {.crosscheck = Crosscheck::kFull});
  const absl::Status status = second.Run({Pair(10)}).status();
  CHECK(ExitCodeOf(status) == 1);
  CHECK_THAT(std::string(status.message()), Catch::Contains("engine second"));
}

TEST_CASE("plan: a step keeps the reason of every engine that declined, in the order of asking", "[plan]") {
  const Plan plan = PickyPlan();
  const std::vector<Step>& steps = plan.computations[0].steps;
  REQUIRE(steps.size() == 2);
  CHECK(steps[0].engine == &kFirst);
  CHECK(steps[0].declined.empty());
  CHECK(steps[1].engine == nullptr);
  REQUIRE(steps[1].declined.size() == 2);
  CHECK(steps[1].declined[0].engine == &kFirst);
  CHECK(steps[1].declined[1].engine == &kSecond);
  CHECK(steps[1].declined[1].reason() == "takes negate alone");
}

}  // namespace
}  // namespace assay::testing
