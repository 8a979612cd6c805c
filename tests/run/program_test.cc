// Program against numbers worked out by hand.
#include "run/program.h"

#include <array>
#include <catch2/catch.hpp>
#include <thread>

#include "base/error.h"
#include "hlo/proto/export.h"
#include "hlo/text/parser.h"
#include "tests/hlo/proto/wire_bytes.h"
#include "tests/run/program_testing.h"

namespace assay {
namespace {

// 3 x + 1.
constexpr char kLine[] = R"(HloModule line
ENTRY e {
  x = s32[] parameter(0)
  three = s32[] constant(3)
  one = s32[] constant(1)
  p = s32[] multiply(x, three)
  ROOT y = s32[] add(p, one)
}
)";

Literal ScalarOf(int64_t x) { return Literal::ScalarInt(ElementType::kS32, x); }

int64_t ValueOf(const absl::StatusOr<Literal>& y) {
  INFO(y.status());
  REQUIRE(y.ok());
  return y->GetInt(0);
}

TEST_CASE("program: the content decides the form, and every form gives the same value", "[program]") {
  const absl::StatusOr<Program> text = Program::Load("-", kLine);
  REQUIRE(text.ok());
  CHECK(text->module().name == "line");
  CHECK(ValueOf(text->Run({ScalarOf(5)})) == 16);
  const absl::StatusOr<Program> proto = Program::Load("-", *ExportProto(text->module()));
  REQUIRE(proto.ok());
  CHECK(ValueOf(proto->Run({ScalarOf(-5)})) == -14);
  const absl::StatusOr<Program> mlir = Program::Load("-", R"(func.func @main(%x: tensor<i32>) -> tensor<i32> {
  %three = stablehlo.constant dense<3> : tensor<i32>
  %p = stablehlo.multiply %x, %three : tensor<i32>
  return %p : tensor<i32>
}
)");
  REQUIRE(mlir.ok());
  CHECK(ValueOf(mlir->Run({ScalarOf(7)})) == 21);
}

TEST_CASE("program: a module and a verified one are programs too", "[program]") {
  const absl::StatusOr<Program> program = Program::OfModule(*ParseHloText(kLine));
  REQUIRE(program.ok());
  CHECK(ValueOf(program->Run({ScalarOf(1)})) == 4);
  CHECK(ValueOf(Program(program->verified()).Run({ScalarOf(2)})) == 7);
}

TEST_CASE("program: every choice of engines and every instruction set give the value", "[program]") {
  const Program program = ProgramOf(kLine);
  for (const EngineChoice choice : {EngineChoice::kReference, EngineChoice::kExact, EngineChoice::kFast}) {
    for (const Isa isa : {Isa::kBaseline, Isa::kAvx2, Isa::kAvx512}) {
      if (isa > MachineIsa()) continue;
      CHECK(ValueOf(program.Run({ScalarOf(5)}, {}, EnginesOf(choice, isa))) == 16);
    }
  }
}

TEST_CASE("program: there is one plan for each list of engines, which copies share", "[program]") {
  const Program program = ProgramOf(kLine);
  const Program copy = program;
  const std::shared_ptr<const Plan> exact = *program.PlanFor();
  CHECK(*program.PlanFor(EnginesOf(EngineChoice::kExact, MachineIsa())) == exact);
  CHECK(*copy.PlanFor() == exact);
  const std::shared_ptr<const Plan> reference = *copy.PlanFor(EnginesOf(EngineChoice::kReference));
  CHECK(reference != exact);
  CHECK(reference->engines.empty());
  CHECK(*program.PlanFor({}) == reference);
  CHECK(*ProgramOf(kLine).PlanFor() != exact);
}

// Takes nothing.
class Idle final : public Engine {
 public:
  std::string_view name() const override { return "idle"; }
  absl::StatusOr<std::shared_ptr<const Kernel>> Prepare(const FusionView&) const override {
    return NotSupported({}, "is idle");
  }
};

TEST_CASE("program: a list of engines need not outlive its plan", "[program]") {
  const Idle idle, lazy;
  const Program program = ProgramOf(kLine);
  const auto plan_by = [&](std::vector<const Engine*> engines) { return *program.PlanFor(engines); };
  const std::shared_ptr<const Plan> plan = plan_by({&idle, &lazy});
  CHECK(plan_by({&idle, &lazy}) == plan);
  CHECK(plan_by({&lazy, &idle}) != plan);
  CHECK(plan_by({&idle}) != plan);
  CHECK(plan->engines == std::vector<const Engine*>{&idle, &lazy});
  CHECK(ValueOf(Executor(*plan, {}).Run({ScalarOf(5)})) == 16);
}

TEST_CASE("program: a plan outlives its program", "[program]") {
  const std::shared_ptr<const Plan> plan = *ProgramOf(kLine).PlanFor();
  CHECK(ValueOf(Executor(*plan, {}).Run({ScalarOf(5)})) == 16);
}

TEST_CASE("program: what cannot be read or verified says where", "[program]") {
  const absl::Status unread = Program::Load("p.hlo", R"(HloModule m
ENTRY e {
  ROOT y = s32[] add(x, x)
})")
                                  .status();
  CHECK(ExitCodeOf(unread) == 3);
  CHECK(PositionOf(unread)->line == 3);
  const absl::Status invalid = Program::Load("p.hlo", R"(HloModule m
ENTRY e {
  x = s32[2] parameter(0)
  ROOT y = s32[3] add(x, x)
})")
                                   .status();
  CHECK(ExitCodeOf(invalid) == 3);
  CHECK(PositionOf(invalid)->line == 4);
  CHECK_THAT(std::string(invalid.message()), Catch::Contains("BINARY-C5"));
}

TEST_CASE("program: one for several devices is planned, and run by them alone", "[program]") {
  Module module = *ParseHloText(kLine);
  module.replica_count = 2;
  const absl::StatusOr<Program> program = Program::OfModule(std::move(module));
  REQUIRE(program.ok());
  for (int i = 0; i < 2; ++i) {
    CHECK(program->PlanFor().ok());
    CHECK(ExitCodeOf(program->Run({ScalarOf(5)}).status()) == 4);
  }
}

TEST_CASE("program: loading says what the program runs on, and what a snapshot has", "[program]") {
  const std::string module = *ExportProto(*ParseHloText(kLine));
  const std::string seven = wire::Bytes(1, wire::Array(wire::kS32, {})) + wire::Bytes(4, "\x07");
  const std::string bytes = wire::Bytes(1, wire::Bytes(1, module)) + wire::Bytes(2, seven);
  absl::StatusOr<std::optional<Snapshot>> snapshot = std::nullopt;
  const absl::StatusOr<Program> program =
      Program::Load("-", bytes, {.replicas = 3, .partitions = 2, .snapshot = &snapshot});
  REQUIRE(program.ok());
  CHECK(program->module().replica_count == 3);
  CHECK(program->module().num_partitions == 2);
  REQUIRE(snapshot.ok());
  REQUIRE(snapshot->has_value());
  CHECK_FALSE((*snapshot)->result.has_value());
  CHECK(ValueOf(Program::Load("-", bytes)->Run((*snapshot)->arguments)) == 22);
  CHECK(Program::Load("-", kLine, {.snapshot = &snapshot}).ok());
  CHECK_FALSE(snapshot->has_value());
}

TEST_CASE("program: runs obey their options and leave the next run alone", "[program]") {
  const Program program = ProgramOf(kLine);
  // The call of the entry and its two operations, by the plan of every engine.
  CHECK(ValueOf(program.Run({ScalarOf(5)}, {.limits = {.max_steps = 5}})) == 16);
  const absl::Status limited = program.Run({ScalarOf(5)}, {.limits = {.max_steps = 1}}).status();
  CHECK(ExitCodeOf(limited) == 5);
  CHECK_THAT(std::string(limited.message()), Catch::Contains("--max-steps"));
  CHECK(ExitCodeOf(program.Run({Literal::ScalarDouble(ElementType::kF32, 5)}).status()) == 5);
  CHECK(absl::IsCancelled(
      program.Run({ScalarOf(5)}, {.limits = {.max_steps = 5}, .interrupted = [] { return true; }}).status()));
  CHECK(ValueOf(program.Run({ScalarOf(5)}, {.crosscheck = Crosscheck::kFull})) == 16);
}

TEST_CASE("program: many threads may plan and run it", "[program]") {
  const Program program = ProgramOf(kLine);
  std::array<int64_t, 8> sums = {};
  std::array<const Plan*, 8> plans = {};
  std::vector<std::thread> threads;
  for (size_t t = 0; t < sums.size(); ++t) {
    threads.emplace_back([&, t] {
      const auto engines = EnginesOf(t % 2 == 0 ? EngineChoice::kExact : EngineChoice::kReference);
      for (int i = 0; i < 50; ++i) sums[t] += program.Run({ScalarOf(i)}, {}, engines)->GetInt(0);
      plans[t] = program.PlanFor(engines)->get();
    });
  }
  for (std::thread& thread : threads) thread.join();
  // 3 (0 + … + 49) + 50.
  for (const int64_t sum : sums) CHECK(sum == 3725);
  for (size_t t = 2; t < plans.size(); ++t) CHECK(plans[t] == plans[t - 2]);
}

}  // namespace
}  // namespace assay
