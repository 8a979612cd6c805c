// Who takes a step: the first engine that does, with what those before it said.
#include "plan/prepare.h"

#include <array>

#include "tests/plan/pass_testing.h"

namespace assay::testing {

TEST_CASE("prepare: engines are asked in their order, and what they say is kept", "[plan]") {
  const VerifiedModule verified = Verified(R"(ENTRY e {
  x = f32[4] parameter(0)
  a = f32[4] sine(x)
  b = f32[4] cosine(a)
  ROOT r = f32[4] tanh(b)
})");
  const Module& module = verified.module();
  const Computation& entry = module.entry_computation();
  const Taker first("first", Opcode::kCos), second("second", Opcode::kSin), third("third", Opcode::kCos);
  const std::array<const Engine*, 3> engines = {&first, &second, &third};
  ComputationPlan plan = Ordered(module, entry);
  REQUIRE(PrepareSteps(module, entry, engines, /*in_loop=*/false, {}, plan).ok());
  const Step &sine = StepOf(entry, plan, "a"), &cosine = StepOf(entry, plan, "b"),
             &tanh = StepOf(entry, plan, "r");
  CHECK(sine.engine == &second);
  CHECK(sine.kernel != nullptr);
  REQUIRE(sine.declined.size() == 1);
  CHECK(sine.declined[0].engine == &first);
  CHECK(sine.declined[0].reason() == "first does not");
  CHECK(cosine.engine == &first);
  CHECK(cosine.declined.empty());
  CHECK(tanh.engine == nullptr);
  CHECK(tanh.kernel == nullptr);
  CHECK(tanh.declined.size() == 3);
}

TEST_CASE("prepare: an error that is no refusal ends the plan", "[plan]") {
  class Broken final : public Engine {
   public:
    std::string_view name() const override { return "broken"; }
    absl::StatusOr<std::shared_ptr<const Kernel>> Prepare(const FusionView&) const override {
      return absl::InternalError("no");
    }
  };
  const VerifiedModule verified = Verified(R"(ENTRY e {
  x = f32[4] parameter(0)
  ROOT a = f32[4] sine(x)
})");
  const Broken broken;
  const std::array<const Engine*, 1> engines = {&broken};
  const Computation& entry = verified.module().entry_computation();
  ComputationPlan plan = Ordered(verified.module(), entry);
  CHECK(PrepareSteps(verified.module(), entry, engines, false, {}, plan).code() ==
        absl::StatusCode::kInternal);
}

}  // namespace assay::testing
