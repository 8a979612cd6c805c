// Fusions become steps where an engine takes them; what was said of others is kept.
#include "plan/fuse.h"

#include <array>

#include "tests/plan/pass_testing.h"

namespace assay::testing {
namespace {

struct Fused {
  VerifiedModule verified;
  ComputationPlan plan;
  int64_t before = 0, after = 0;  // what steps count
  const Computation& entry() const { return verified.module().entry_computation(); }
};

Fused FusedBy(std::span<const Engine* const> engines, const std::string& body, int64_t fusions = 0) {
  Fused result{.verified = Verified("ENTRY e {\n" + body + "}\n"), .plan = {}};
  const Module& module = result.verified.module();
  result.plan = Ordered(module, result.entry());
  for (const Step& step : result.plan.steps) result.before += step.step_units;
  REQUIRE(FuseSteps(module, result.entry(), engines, /*in_loop=*/false, fusions, result.plan).ok());
  for (const Step& step : result.plan.steps) result.after += step.step_units;
  return result;
}

const std::string kChain = R"(x = f32[4] parameter(0)
s = f32[4] sine(x)
a = f32[4] negate(x)
b = f32[4] negate(a)
c = f32[4] negate(b)
ROOT r = f32[4] multiply(c, s)
)";

}  // namespace

TEST_CASE("fuse: the root's step becomes the fusion's, its members' steps go, counts stay", "[plan]") {
  const Taker other("other", Opcode::kSin), fusing("fusing", Opcode::kNegate, /*fuses=*/true);
  const std::array<const Engine*, 2> engines = {&other, &fusing};
  const Fused fused = FusedBy(engines, kChain);
  CHECK(Steps(fused.entry(), fused.plan) == "s c r");
  const Step& step = StepOf(fused.entry(), fused.plan, "c");
  REQUIRE(step.fusion != nullptr);
  CHECK(Names(fused.entry(), {step.fusion->members.begin(), step.fusion->members.end()}) == "a b c");
  CHECK(Names(fused.entry(), {step.fusion->operands.begin(), step.fusion->operands.end()}) == "x");
  CHECK(step.engine == &fusing);
  CHECK(fused.before == fused.after);
}

TEST_CASE("fuse: a fusion that nobody takes leaves its steps, and the engines' reasons", "[plan]") {
  // Grows fusions of negates, and then takes none.
  class Shy final : public Engine {
   public:
    std::string_view name() const override { return "shy"; }
    bool fuses() const override { return true; }
    bool CanFuse(const StepView& step) const override { return step.instruction.opcode == Opcode::kNegate; }
    absl::StatusOr<std::shared_ptr<const Kernel>> Prepare(const FusionView&) const override {
      return NotSupported({}, "too shy");
    }
  };
  const Shy shy;
  const std::array<const Engine*, 1> engines = {&shy};
  const Fused fused = FusedBy(engines, kChain);
  CHECK(Steps(fused.entry(), fused.plan) == "s a b c r");
  const Step& step = StepOf(fused.entry(), fused.plan, "c");
  CHECK(step.fusion == nullptr);
  REQUIRE(step.declined.size() == 1);
  CHECK(step.declined[0].reason() == "too shy");
}

TEST_CASE("fuse: few instructions on one number stay by themselves", "[plan]") {
  const Taker fusing("fusing", Opcode::kNegate, /*fuses=*/true);
  const std::array<const Engine*, 1> engines = {&fusing};
  const std::string three = "x = f32[] parameter(0)\na = f32[] negate(x)\nb = f32[] negate(a)\n";
  const Fused few = FusedBy(engines, three + "ROOT c = f32[] negate(b)\n");
  CHECK(Steps(few.entry(), few.plan) == "a b c");
  const Fused four = FusedBy(engines, three + "c = f32[] negate(b)\nROOT d = f32[] negate(c)\n");
  CHECK(Steps(four.entry(), four.plan) == "d");
}

TEST_CASE("fuse: over 2,048 fusions the engine that fuses is named", "[plan]") {
  const Taker other("other", Opcode::kSin), fusing("fusing", Opcode::kNegate, /*fuses=*/true);
  const std::array<const Engine*, 2> engines = {&other, &fusing};
  const Fused fused = FusedBy(engines, kChain, /*fusions=*/2048);
  const Step& step = StepOf(fused.entry(), fused.plan, "c");
  CHECK(step.fusion == nullptr);
  REQUIRE(step.declined.size() == 1);
  CHECK(step.declined[0].engine == &fusing);
  CHECK(step.declined[0].reason() == "limit of 2048 fusions with generated code reached");
}

TEST_CASE("fuse: what an engine leaves, the next that fuses grows of", "[plan]") {
  const Taker first("first", Opcode::kSin, /*fuses=*/true), second("second", Opcode::kNegate, /*fuses=*/true);
  const std::array<const Engine*, 2> engines = {&first, &second};
  const Fused fused = FusedBy(engines, R"(x = f32[4] parameter(0)
s = f32[4] sine(x)
t = f32[4] sine(s)
a = f32[4] negate(t)
b = f32[4] negate(a)
ROOT r = f32[4] multiply(b, t)
)");
  CHECK(Steps(fused.entry(), fused.plan) == "t b r");
  const Step& sines = StepOf(fused.entry(), fused.plan, "t");
  const Step& negations = StepOf(fused.entry(), fused.plan, "b");
  REQUIRE(sines.fusion != nullptr);
  REQUIRE(negations.fusion != nullptr);
  CHECK(Names(fused.entry(), sines.fusion->members) == "s t");
  CHECK(sines.engine == &first);
  CHECK(Names(fused.entry(), negations.fusion->members) == "a b");
  CHECK(negations.engine == &second);
  CHECK(fused.before == fused.after);
}

}  // namespace assay::testing
