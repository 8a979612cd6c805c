// The engine "f64": every element within the bound that its kernels state (the cross-check, `full`, is the judge:
// exact sums of each element's own terms), on odd shapes and hostile values.
#include "evaluator/fast/f64_engine.h"

#include <array>
#include <catch2/catch.hpp>

#include "fmt/format.h"
#include "tests/evaluator/native/native_testing.h"

namespace assay::testing {
namespace {

Plan F64Plan(const std::string& body, native::Isa isa) {
  static std::array<std::array<const Engine*, 1>, 3> engines;
  absl::StatusOr<Module> module = ParseHloText("HloModule m\nENTRY e {\n" + body + "\n}\n");
  INFO(body << module.status().message());
  REQUIRE(module.ok());
  const absl::StatusOr<VerifiedModule> verified = Verify(*std::move(module));
  INFO(verified.status().message());
  REQUIRE(verified.ok());
  auto& of_isa = engines[static_cast<size_t>(isa)];
  of_isa[0] = &fast::EagerF64Engine(isa);
  return *MakePlan(*verified, of_isa);
}

bool IsTaken(const Plan& plan) {
  const Step& last = plan.computations.back().steps.back();
  return last.engine != nullptr && last.engine->name() == "f64";
}

void CheckWithinBounds(const std::string& body) {
  for (native::Isa isa : MachineIsas()) {
    const Plan plan = F64Plan(body, isa);
    INFO(PlanToText(plan));
    REQUIRE(IsTaken(plan));
    for (Draw draw : kAllDraws) {
      const std::vector<Literal> arguments = DrawnArguments(plan, draw, 3 + static_cast<uint64_t>(draw));
      for (int jobs : {1, 2, 7}) {
        const absl::StatusOr<Literal> result =
            Executor(plan, {.jobs = jobs, .crosscheck = Crosscheck::kFull}).Run(arguments);
        INFO("draw " << static_cast<int>(draw) << ", jobs " << jobs << ": " << result.status().message());
        CHECK(result.ok());
      }
    }
  }
}

TEST_CASE("f64 engine: dots of odd shapes and hostile values are within their bounds", "[f64]") {
  for (const auto& [m, k, n] : std::initializer_list<std::array<int, 3>>{
           {1, 1, 1}, {37, 53, 29}, {97, 17, 33}, {13, 300, 16}, {2, 1, 65}, {200, 3, 5}}) {
    CheckWithinBounds(
        fmt::format("x = f64[{0},{1}] parameter(0)\ny = f64[{1},{2}] parameter(1)\n"
                    "ROOT r = f64[{0},{2}] dot(x, y), lhs_contracting_dims={{1}}, "
                    "rhs_contracting_dims={{0}}",
                    m, k, n));
  }
  CheckWithinBounds(
      "x = f64[3,19,7] parameter(0)\ny = f64[3,17,19] parameter(1)\nROOT r = f64[3,7,17] dot(x, y), "
      "lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={2}");
}

TEST_CASE("f64 engine: what it declines, and why", "[f64]") {
  const auto reason = [](const std::string& body, const Engine& engine) {
    const Plan plan = ReferencePlan(body);
    const Computation& entry = plan.module->entry_computation();
    return std::string(engine.Prepare({*plan.module, entry, entry.root_instruction()}).status().message());
  };
  const std::string attributes = ", lhs_contracting_dims={1}, rhs_contracting_dims={0}";
  const Engine &engine = fast::F64Engine(native::MachineIsa()),
               &eager = fast::EagerF64Engine(native::MachineIsa());
  CHECK_THAT(reason("x = f64[8,8] parameter(0)\nROOT r = f64[8,8] dot(x, x)" + attributes, engine),
             Catch::Contains("512 products, fewer than"));
  CHECK_THAT(reason("x = f32[8,8] parameter(0)\nROOT r = f32[8,8] dot(x, x)" + attributes, eager),
             Catch::Contains("f32 by f32 to f32"));
  CHECK_THAT(reason("x = f64[8] parameter(0)\nROOT r = f64[8] add(x, x)", eager),
             Catch::Contains("no near function for add"));
}

}  // namespace
}  // namespace assay::testing
