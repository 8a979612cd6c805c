// Engines, threads and the cross-check around them, with kernels that are wrong on purpose.
#include "run/crosscheck.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <cfenv>
#include <numeric>

#include "base/parallel.h"
#include "plan/plan_text.h"
#include "tests/run/program_testing.h"
#include "tests/run/run_text.h"

namespace assay {
namespace {

const std::string kNegate = OpProgram("negate", {"f32[3] {}"}, "f32[3]");

// The reference's result with one bit of the last element flipped.
class BitFlipper final : public Kernel {
 public:
  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    ASSAY_ASSIGN_OR_RETURN(Literal result, ops::Negate.eval(context, operands));
    result.MutableBytes()[8] ^= std::byte{1};
    return result;
  }
};

Plan BrokenPlan(const std::string& program) {
  Plan plan = PlanOf(program);
  for (ComputationPlan& computation : plan.computations) {
    for (Step& step : computation.steps) {
      if (step.op == &ops::Negate) step.kernel = std::make_shared<BitFlipper>();
    }
  }
  return plan;
}

absl::Status RunBroken(Crosscheck crosscheck) {
  const Plan plan = BrokenPlan(kNegate);
  return Executor(plan, {.crosscheck = crosscheck}).Run({Value("f32[3] {1, 2, 3}")}).status();
}

TEST_CASE("cross-check: one wrong bit fails the run, and the message names instruction and element",
          "[crosscheck]") {
  CHECK(RunBroken(Crosscheck::kOff).ok());
  for (Crosscheck crosscheck : {Crosscheck::kSample, Crosscheck::kFull}) {
    const absl::Status status = RunBroken(crosscheck);
    CHECK(ExitCodeOf(status) == 1);
    CHECK_THAT(std::string(status.message()),
               Catch::Contains("expected -3, actual -3.00000024 (1 ulp)") && Catch::Contains("%r = negate"));
  }
}

TEST_CASE("cross-check: the sample is of runs 1, 2, 4, ... of each step, full of every run", "[crosscheck]") {
  const std::string loop =
      R"(HloModule m
c { p = (s32[], f32[20]) parameter(0)
 i = s32[] get-tuple-element(p), index=0
 n = s32[] constant(5)
 ROOT r = pred[] compare(i, n), direction=LT }
b { p = (s32[], f32[20]) parameter(0)
 i = s32[] get-tuple-element(p), index=0
 x = f32[20] get-tuple-element(p), index=1
 one = s32[] constant(1)
 j = s32[] add(i, one)
 y = f32[20] add(x, x)
 ROOT r = (s32[], f32[20]) tuple(j, y) }
ENTRY e { i = s32[] constant(0)
 x = f32[20] parameter(0)
 t = (s32[], f32[20]) tuple(i, x)
 ROOT w = (s32[], f32[20]) while(t), condition=c, body=b }
)";
  const Plan plan = PlanOf(loop), another = PlanOf(loop);
  const auto checked = [](Crosscheck crosscheck, const Plan& of) {
    Executor executor(of, {.crosscheck = crosscheck});
    REQUIRE(
        executor.Run({Value("f32[20] {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}")}).ok());
    return executor.statistics().crosschecked;
  };
  CHECK(checked(Crosscheck::kOff, plan) == 0);
  CHECK(checked(Crosscheck::kSample, plan) == 3 * 3);  // compare and two adds
  // Runs 7 to 12 of the compare and 6 to 10 of the adds; then 13 to 18 and 11 to 15.
  CHECK(checked(Crosscheck::kSample, plan) == 3);
  CHECK(checked(Crosscheck::kSample, plan) == 1);
  CHECK(checked(Crosscheck::kSample, another) == 3 * 3);
  CHECK(checked(Crosscheck::kFull, plan) == 6 + 2 * 5);
}

TEST_CASE("plan: the reference engine has no kernels", "[plan]") {
  const Program program = ProgramOf(kNegate);
  const Plan reference = PlanOf(program, EngineChoice::kReference), exact = PlanOf(program);
  CHECK(reference.computations[0].steps.back().kernel == nullptr);
  CHECK(exact.computations[0].steps.back().kernel != nullptr);
  CHECK_THAT(PlanToText(reference), Catch::Contains("reference  %r = f32[3] negate"));
  CHECK_THAT(PlanToText(exact), Catch::Contains("native     %r = f32[3] negate"));
}

TEST_CASE("parallel: every item is visited once, whatever the threads and the grain", "[parallel]") {
  for (int jobs : {1, 2, 7}) {
    Parallel parallel(jobs);
    CHECK(parallel.jobs() == jobs);
    for (int64_t n : {0, 1, 5, 64, 1000}) {
      for (int64_t grain : {1, 3, 64, 5000}) {
        std::vector<std::atomic<int>> visits(static_cast<size_t>(n));
        parallel.For(n, grain, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) ++visits[static_cast<size_t>(i)];
        });
        CHECK(std::all_of(visits.begin(), visits.end(), [](const auto& v) { return v == 1; }));
      }
    }
  }
}

TEST_CASE("parallel: bodies round to nearest, whatever the caller's thread does", "[parallel]") {
  std::fesetround(FE_UPWARD);
  Parallel parallel(2);
  std::atomic<int> wrong = 0;
  parallel.For(64, 1, [&](int64_t, int64_t) { wrong += std::fegetround() != FE_TONEAREST; });
  CHECK(std::fegetround() == FE_UPWARD);
  std::fesetround(FE_TONEAREST);
  CHECK(wrong == 0);
}

}  // namespace
}  // namespace assay
