// Who watches a run: times and tiers of steps, traces.
#include <catch2/catch.hpp>
#include <string>

#include "base/json.h"
#include "fmt/format.h"
#include "run/trace/step_times.h"
#include "run/trace/step_trace.h"
#include "tests/run/program_testing.h"

namespace assay {
namespace {

// Ten iterations over an array, in which sort and reverse are steps of their own; then a last sort.
constexpr char kLoop[] = R"(HloModule m
lt {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = pred[] compare(a, b), direction=LT
}
body {
  p = (s32[], f32[1000]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[1000] get-tuple-element(p), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  sorted = f32[1000] sort(x), dimensions={0}, to_apply=lt
  back = f32[1000] reverse(sorted), dimensions={0}
  ROOT t = (s32[], f32[1000]) tuple(j, back)
}
condition {
  p = (s32[], f32[1000]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  ten = s32[] constant(10)
  ROOT c = pred[] compare(i, ten), direction=LT
}
ENTRY e {
  x = f32[1000] parameter(0)
  zero = s32[] constant(0)
  t = (s32[], f32[1000]) tuple(zero, x)
  w = (s32[], f32[1000]) while(t), condition=condition, body=body
  y = f32[1000] get-tuple-element(w), index=1
  ROOT r = f32[1000] sort(y), dimensions={0}, to_apply=lt
}
)";

absl::StatusOr<Literal> RunWatched(const Plan& plan, StepObserver& observer, const RunOptions& options = {}) {
  std::vector<Literal> arguments;
  const Computation& entry = plan.module->entry_computation();
  for (int32_t parameter : entry.parameters) {
    absl::StatusOr<Literal> value = Literal::Make(entry.instructions[parameter].shape, nullptr, true);
    REQUIRE(value.ok());
    arguments.push_back(*std::move(value));
  }
  Executor executor(plan, options);
  executor.Observe(&observer);
  return executor.Run(std::move(arguments));
}

// Of the step with this name.
const StepTime& TimeOf(const Plan& plan, const StepTimes& times, std::string_view name) {
  for (size_t c = 0; c < plan.computations.size(); ++c) {
    for (size_t k = 0; k < plan.computations[c].steps.size(); ++k) {
      const Step& step = plan.computations[c].steps[k];
      if (plan.module->computations[c].instructions[step.instruction].name == name)
        return times.times()[c][k];
    }
  }
  FAIL("no step " << name);
  std::abort();
}

TEST_CASE("step times: of a loop's steps each iteration counts, and the loop has what is between them",
          "[step_observer]") {
  for (EngineChoice choice : {EngineChoice::kReference, EngineChoice::kExact}) {
    INFO(Name(choice));
    const Plan plan = PlanOf(kLoop, choice);
    StepTimes times(plan, StepTimes::What::kTimes);
    REQUIRE(RunWatched(plan, times).ok());
    CHECK(TimeOf(plan, times, "sorted").calls == 10);
    CHECK(TimeOf(plan, times, "back").calls == 10);
    CHECK(TimeOf(plan, times, "c").calls == 11);
    CHECK(TimeOf(plan, times, "r").calls == 1);
    const StepTime& loop = TimeOf(plan, times, "w");
    CHECK(loop.calls == 1);
    double within = 0, all = 0;
    for (size_t c = 0; c < plan.computations.size(); ++c) {
      for (const StepTime& time : times.times()[c]) {
        CHECK(time.self >= 0);
        CHECK(time.total >= time.self);
        all += time.self;
        const std::string& name = plan.module->computations[c].name;
        if (name == "body" || name == "condition") within += time.total;
      }
    }
    CHECK(within > 0);
    CHECK(loop.self == Approx(loop.total - within));
    CHECK(all == Approx(loop.total + TimeOf(plan, times, "r").total).margin(1e-3));
  }
}

TEST_CASE("step times: tiers are counted where sums are", "[step_observer]") {
  const Plan plan = PlanOf(R"(HloModule m
ENTRY e {
  x = f32[50,60] parameter(0)
  y = f32[60,70] parameter(1)
  d = f32[50,70] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = f32[70,50] transpose(d), dimensions={1,0}
})");
  StepTimes times(plan, StepTimes::What::kTiers);
  REQUIRE(RunWatched(plan, times).ok());
  CHECK(TimeOf(plan, times, "d").tiers.tested == 50 * 70);
  CHECK(TimeOf(plan, times, "d").tiers.third == 0);
  CHECK(TimeOf(plan, times, "r").tiers.tested == 0);
}

TEST_CASE("step times: sums that cancel need the second tier", "[step_observer]") {
  // 1e30 + 1 - 1e30: no double is near enough.
  const Plan plan = PlanOf(R"(HloModule m
ENTRY e {
  x = f32[3] constant({1e30, 1, -1e30})
  rows = f32[50,3] broadcast(x), dimensions={1}
  one = f32[] constant(1)
  ones = f32[3,48] broadcast(one), dimensions={}
  ROOT d = f32[50,48] dot(rows, ones), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})");
  StepTimes times(plan, StepTimes::What::kTiers);
  const absl::StatusOr<Literal> result = RunWatched(plan, times);
  REQUIRE(result.ok());
  CHECK(result->GetDouble(2399) == 1);
  const TierUse& tiers = TimeOf(plan, times, "d").tiers;
  CHECK(tiers.tested == 2400);
  CHECK(tiers.second == 2400);
  CHECK(tiers.third <= tiers.second);
}

// How often `what` stands in the text.
int64_t Count(const std::string& text, std::string_view what) {
  int64_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

TEST_CASE("trace: an event a step, and the run", "[step_observer]") {
  const Plan plan = PlanOf(kLoop, EngineChoice::kReference);
  StepTrace trace(plan);
  REQUIRE(RunWatched(plan, trace).ok());
  // Entry: zero, t, w, y, r. Body: i, x, one, j, sorted, back, t; condition: i, ten, c.
  CHECK(trace.kept() == 5 + 10 * 7 + 11 * 3);
  CHECK(trace.dropped() == 0);
  const std::string json = trace.ToJson();
  CHECK(Count(json, "\"ph\": \"X\"") == trace.kept() + 1);
  CHECK(Count(json, "\"name\": \"sorted\"") == 10);
  CHECK(Count(json, "\"dropped_events\": 0") == 1);
}

TEST_CASE("trace: long loops leave room for what comes behind them, and the rest is counted",
          "[step_observer]") {
  const Plan plan = PlanOf(kLoop, EngineChoice::kReference);
  StepTrace trace(plan, 40);
  REQUIRE(RunWatched(plan, trace).ok());
  CHECK(trace.kept() == 5 + 20);  // of the loop's steps half of 40
  CHECK(trace.dropped() == 10 * 7 + 11 * 3 - 20);
  CHECK_THAT(trace.ToJson(), Catch::Contains(fmt::format("\"dropped_events\": {}", trace.dropped())));

  StepTrace tiny(plan, 2);
  REQUIRE(RunWatched(plan, tiny).ok());
  CHECK(tiny.kept() == 2 + 1);
  CHECK(tiny.kept() + tiny.dropped() == 5 + 10 * 7 + 11 * 3);
}

TEST_CASE("trace: a step that fails ends as well", "[step_observer]") {
  const Plan plan = PlanOf(kLoop, EngineChoice::kReference);
  RunOptions options;
  options.limits.max_steps = 30;
  StepTrace trace(plan, 20);
  CHECK_FALSE(RunWatched(plan, trace, options).ok());
  CHECK(trace.kept() == 3 + 10);  // zero, t, w, and half of 20 within
  REQUIRE(RunWatched(plan, trace).ok());
  CHECK(trace.kept() == 13 + 5 + 5);  // the entry's steps are the entry's again
}

TEST_CASE("trace: parts of a step that threads share", "[step_observer]") {
  const Plan plan = PlanOf(R"(HloModule m
ENTRY e {
  x = f32[1048576] parameter(0)
  ROOT r = f32[1048576] negate(x)
})");
  RunOptions options;
  options.jobs = 2;
  StepTrace trace(plan);
  REQUIRE(RunWatched(plan, trace, options).ok());
  const std::string json = trace.ToJson();
  CHECK(trace.kept() >= 3);
  CHECK(Count(json, "\"cat\": \"part\"") == trace.kept() - 1);
  CHECK(Count(json, "\"begin\": 0, ") == 1);
}

TEST_CASE("json: strings of any bytes", "[step_observer]") {
  CHECK(JsonString("a \"b\" \\ \n") == "\"a \\\"b\\\" \\\\ \\u000a\"");
  CHECK(JsonString("grün €") == "\"grün €\"");
  CHECK(JsonString("\xf0\x9f\x98\x80") == "\"\xf0\x9f\x98\x80\"");
  // A lone continuation, a cut character, one that is overlong, a surrogate, too large.
  CHECK(JsonString("\x80") == "\"\\ufffd\"");
  CHECK(JsonString("a\xe2\x82") == "\"a\\ufffd\\ufffd\"");
  CHECK(JsonString("\xc0\xaf") == "\"\\ufffd\\ufffd\"");
  CHECK(JsonString("\xed\xa0\x80") == "\"\\ufffd\\ufffd\\ufffd\"");
  CHECK(JsonString("\xf4\x90\x80\x80") == "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
}

}  // namespace
}  // namespace assay
