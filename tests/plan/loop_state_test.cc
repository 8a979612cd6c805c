// Loops whose state lies in slots, and calls that were inlined: the exact engine's plans against the
// reference engine's, which has neither.
#include <catch2/catch.hpp>
#include <string>

#include "fmt/format.h"
#include "run/engine_list.h"
#include "run/executor.h"
#include "tests/run/outcome_testing.h"

namespace assay {
namespace {

// Both engines' outcome; the result is the exact engine's.
Outcome RunBoth(const std::string& program, const std::vector<Literal>& arguments) {
  std::vector<Literal> copies;
  for (const Literal& argument : arguments) {
    Literal copy = argument;
    REQUIRE(copy.Unshare().ok());
    copy.MutableBytes();
    copies.push_back(std::move(copy));
  }
  const Outcome reference = RunBy(EngineChoice::kReference, program, arguments);
  Outcome exact = RunBy(EngineChoice::kExact, program, arguments);
  INFO(exact.plan << reference.result.status() << exact.result.status());
  REQUIRE(reference.result.ok());
  REQUIRE(exact.result.ok());
  CHECK(Literal::BitwiseEqual(*reference.result, *exact.result));
  CHECK(reference.statistics.steps == exact.statistics.steps);
  // Nobody wrote into what the caller gave.
  for (size_t i = 0; i < arguments.size(); ++i) CHECK(Literal::BitwiseEqual(arguments[i], copies[i]));
  return exact;
}

// A loop of `iterations` iterations over a counter and two arrays; `body` gives a2 and b2 from i, a and b.
std::string TwoArrays(int iterations, const std::string& body, const std::string& init = "tuple(z, x, y)") {
  return fmt::format(R"(HloModule m
c {{
  s = (s32[], f32[8], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant({})
  ROOT l = pred[] compare(i, n), direction=LT
}}
b {{
  s = (s32[], f32[8], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  a = f32[8] get-tuple-element(s), index=1
  b = f32[8] get-tuple-element(s), index=2
  one = s32[] constant(1)
  j = s32[] add(i, one)
  f = f32[] convert(j)
  u = f32[1] reshape(f)
{}}}
ENTRY e {{
  x = f32[8] parameter(0)
  y = f32[8] parameter(1)
  z = s32[] constant(0)
  t = (s32[], f32[8], f32[8]) {}
  ROOT w = (s32[], f32[8], f32[8]) while(t), condition=c, body=b
}}
)",
                     iterations, body, init);
}

const std::vector<Literal> TwoArguments() {
  return {Value("f32[8] {1, 2, 3, 4, 5, 6, 7, 8}"), Value("f32[8] {-1, -2, -3, -4, -5, -6, -7, -8}")};
}

TEST_CASE("loop state: every way to pass arrays on gives the reference's values", "[loop_state]") {
  const std::string root = "  ROOT r = (s32[], f32[8], f32[8]) ";
  const std::string write_a = "  d = f32[8] dynamic-update-slice(a, u, i)\n";
  for (const std::string& body : {
           write_a + root + "tuple(j, d, b)\n",  // b unchanged
           write_a + root + "tuple(j, b, d)\n",  // swapped
           root + "tuple(j, b, a)\n",            //
           write_a + root + "tuple(j, d, a)\n",  // the old one is needed too
           write_a + root + "tuple(j, d, d)\n",  // one value twice
           root + "tuple(j, b, b)\n",            // one element twice
           root + "tuple(j, a, a)\n",            //
           "  k = f32[8] constant({8,7,6,5,4,3,2,1})\n" + root + "tuple(j, k, a)\n",
           R"(  k = f32[8] constant({8,7,6,5,4,3,2,1})
  d = f32[8] dynamic-update-slice(k, u, i)
)" + root + "tuple(j, d, k)\n",
           R"(  g = f32[8] get-tuple-element(s), index=1
  d = f32[8] dynamic-update-slice(g, u, i)
)" + root + "tuple(j, d, a)\n",  // two projections of one element
           "  g = f32[8] get-tuple-element(s), index=1\n" + root + "tuple(j, g, a)\n",
           write_a + R"(  q = f32[8] add(d, b)
  p = f32[8] multiply(q, q)
)" + root + "tuple(j, p, q)\n",
       }) {
    for (const int iterations : {0, 1, 2, 7}) {
      for (const std::string init : {"tuple(z, x, y)", "tuple(z, x, x)"}) {
        INFO(body << iterations << init);
        RunBoth(TwoArrays(iterations, body, init), TwoArguments());
      }
    }
  }
}

TEST_CASE("loop state: the plan has the state in slots", "[loop_state]") {
  const std::string body =
      R"(  d = f32[8] dynamic-update-slice(a, u, i)
  ROOT r = (s32[], f32[8], f32[8]) tuple(j, d, b)
)";
  const Outcome outcome = RunBoth(TwoArrays(3, body), TwoArguments());
  CHECK_THAT(outcome.plan,
             Catch::Contains(
                 "loop state read %i.1 %a %b\n  loop state written %j %d %b\n  loop-invariant state %b\n"));
  CHECK_THAT(outcome.plan, Catch::Contains("constants %one\n"));
  CHECK_THAT(outcome.plan, !Catch::Contains("%s = "));
}

// Of b, which no iteration changes: m, g and p.
const std::string kOnce =
    R"(  m = f32[8] multiply(b, b)
  g = f32[16] concatenate(m, b), dimensions={0}
  p = f32[8] slice(g), slice={[4:12]}
)";

TEST_CASE("loop state: what reads only what no iteration changes runs once, and counts in each iteration",
          "[loop_state]") {
  const std::string root = "  ROOT r = (s32[], f32[8], f32[8]) ";
  for (const std::string& body : {
           kOnce + R"(  d = f32[8] dynamic-update-slice(a, u, i)
  q = f32[8] add(d, p)
)" + root + "tuple(j, q, b)\n",
           kOnce + "  d = f32[8] dynamic-update-slice(p, u, i)\n" + root +
               "tuple(j, d, b)\n",  // not in place
           kOnce + R"(  d = f32[8] dynamic-update-slice(a, u, i)
  q = f32[8] add(d, m)
)" + root + "tuple(j, p, b)\n",     // passed on as it is, every iteration
           R"(  z = f32[] constant(0)
  v = f32[8] broadcast(z), dimensions={}
  d = f32[8] dynamic-update-slice(v, u, i)
  q = f32[8] add(d, a)
)" + root + "tuple(j, q, b)\n",
           R"(  z = f32[] constant(0)
  e = f32[] constant(1)
  d = f32[8] rng(z, e), distribution=rng_uniform
  q = f32[8] add(d, a)
)" + root + "tuple(j, q, b)\n",  // every iteration draws
       }) {
    for (const int iterations : {0, 1, 2, 7}) {
      INFO(body << iterations);
      RunBoth(TwoArrays(iterations, body), TwoArguments());
    }
    // The limit on steps is met at the same number.
    const std::string program = TwoArrays(2, body);
    const int64_t steps = RunBoth(program, TwoArguments()).statistics.steps;
    for (int64_t limit = 1; limit <= steps + 1; ++limit) {
      RunOptions options;
      options.limits.max_steps = limit;
      INFO(body << limit);
      CHECK(RunBy(EngineChoice::kReference, program, TwoArguments(), options).result.ok() ==
            RunBy(EngineChoice::kExact, program, TwoArguments(), options).result.ok());
    }
  }
}

TEST_CASE("loop state: the plan says what runs once a loop", "[loop_state]") {
  const auto plan_of = [](std::string_view from, std::string_view to) {
    std::string body = kOnce +
                       R"(  d = f32[8] dynamic-update-slice(a, u, i)
  q = f32[8] add(d, p)
  ROOT r = (s32[], f32[8], f32[8]) tuple(j, q, b)
)";
    if (!from.empty()) body.replace(body.find(from), from.size(), to);
    const std::string plan = RunBoth(TwoArrays(3, body), TwoArguments()).plan;
    std::string once;
    for (size_t begin = 0, end; (end = plan.find('\n', begin)) != std::string::npos; begin = end + 1) {
      const std::string line = plan.substr(begin, end - begin);
      if (line.find("  loop-invariant") == std::string::npos || line.starts_with("  loop-invariant"))
        continue;
      const size_t name = line.find('%') + 1;
      once += line.substr(name, line.find(' ', name) - name) + " ";
    }
    return once;
  };
  CHECK(plan_of("", "") == "m g ");  // p is part of q's fusion
  CHECK(plan_of("concatenate(m, b)", "concatenate(m, a)") == "m ");
  CHECK(plan_of("tuple(j, q, b)", "tuple(j, q, p)").empty());
  CHECK(plan_of("m = f32[8] multiply(b, b)",
                R"(zero = f32[] constant(0)
  l = f32[400000] pad(b, zero), padding=0_399992
  o = f32[8] slice(l), slice={[0:8]}
  m = f32[8] multiply(o, b))") == "l.1 o m g ");
}

TEST_CASE("loop state: an inner loop's values are found anew in each of its runs", "[loop_state]") {
  RunBoth(R"(HloModule m
c {
  s = (s32[], f32[8], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT l = pred[] compare(i, n), direction=LT
}
b {
  s = (s32[], f32[8], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  a = f32[8] get-tuple-element(s), index=1
  b = f32[8] get-tuple-element(s), index=2
  n = f32[16] concatenate(b, b), dimensions={0}
  p = f32[8] slice(n), slice={[3:11]}
  one = s32[] constant(1)
  j = s32[] add(i, one)
  q = f32[8] add(a, p)
  ROOT r = (s32[], f32[8], f32[8]) tuple(j, q, b)
}
outer {
  s = (s32[], f32[8], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  a = f32[8] get-tuple-element(s), index=1
  b = f32[8] get-tuple-element(s), index=2
  z = s32[] constant(0)
  t = (s32[], f32[8], f32[8]) tuple(z, a, b)
  w = (s32[], f32[8], f32[8]) while(t), condition=c, body=b
  x = f32[8] get-tuple-element(w), index=1
  y = f32[8] get-tuple-element(w), index=2
  v = f32[8] subtract(y, x)
  one = s32[] constant(1)
  j = s32[] add(i, one)
  ROOT r = (s32[], f32[8], f32[8]) tuple(j, x, v)
}
ENTRY e {
  x = f32[8] parameter(0)
  y = f32[8] parameter(1)
  z = s32[] constant(0)
  t = (s32[], f32[8], f32[8]) tuple(z, x, y)
  ROOT w = (s32[], f32[8], f32[8]) while(t), condition=c, body=outer
}
)",
          TwoArguments());
}

TEST_CASE("loop state: a condition may give what it reads, a constant, or see no element", "[loop_state]") {
  const auto program = [](const std::string& condition) {
    return R"(HloModule m
c {
  s = (pred[], s32[]) parameter(0)
)" + condition +
           R"(}
b {
  s = (pred[], s32[]) parameter(0)
  n = s32[] get-tuple-element(s), index=1
  one = s32[] constant(1)
  m = s32[] subtract(n, one)
  p = pred[] compare(m, one), direction=GT
  ROOT r = (pred[], s32[]) tuple(p, m)
}
ENTRY e {
  x = s32[] parameter(0)
  k = f32[2] constant({1, 2})
  t = pred[] constant(true)
  v = (pred[], s32[]) tuple(t, x)
  w = (pred[], s32[]) while(v), condition=c, body=b
  ROOT r = ((pred[], s32[]), f32[2]) tuple(w, k)
}
)";
  };
  RunBoth(program("  ROOT p = pred[] get-tuple-element(s), index=0\n"), {Value("s32[] 5")});
  RunBoth(program("  ROOT p = pred[] constant(false)\n"), {Value("s32[] 5")});
  RunBoth(program(R"(  p = pred[] get-tuple-element(s), index=0
  ROOT q = pred[] copy(p)
)"),
          {Value("s32[] 5")});
}

TEST_CASE("loop state: a loop that updates its caller's array copies it once", "[loop_state]") {
  const std::string body =
      R"(  d = f32[8] dynamic-update-slice(a, u, i)
  ROOT r = (s32[], f32[8], f32[8]) tuple(j, d, b)
)";
  const std::vector<Literal> arguments = TwoArguments();
  const Outcome outcome = RunBoth(TwoArrays(5, body), arguments);
  CHECK_FALSE(outcome.result->element(1).SharesStorageWith(arguments[0]));
  CHECK(outcome.result->element(2).SharesStorageWith(arguments[1]));
}

// Calls in a loop and in each other; tuples that only stand between them; a call for its effect alone.
const char* const kCalls = R"(HloModule m
twice {
  p = f32[4] parameter(0)
  ROOT d = f32[4] add(p, p)
}
both {
  p = f32[4] parameter(0)
  q = f32[4] parameter(1)
  t = f32[4] call(p), to_apply=twice
  dead = f32[4] negate(q)
  e = f32[4] exponential(q)
  ROOT r = (f32[4], f32[4]) tuple(t, e)
}
same {
  ROOT p = f32[4] parameter(0)
}
fused {
  p = f32[4] parameter(0)
  c = f32[] constant(0.5)
  h = f32[4] broadcast(c), dimensions={}
  ROOT m = f32[4] multiply(p, h)
}
c {
  s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(6)
  ROOT l = pred[] compare(i, n), direction=LT
}
b {
  s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  v = f32[4] get-tuple-element(s), index=1
  t = (f32[4], f32[4]) call(v, v), to_apply=both
  x = f32[4] get-tuple-element(t), index=0
  w = f32[4] call(x), to_apply=same
  o = f32[4] fusion(w), kind=kLoop, calls=fused
  unread = f32[4] call(o), to_apply=twice
  one = s32[] constant(1)
  j = s32[] add(i, one)
  ROOT r = (s32[], f32[4]) tuple(j, o)
}
ENTRY e {
  x = f32[4] parameter(0)
  z = s32[] constant(0)
  t = (s32[], f32[4]) tuple(z, x)
  l = (s32[], f32[4]) while(t), condition=c, body=b
  v = f32[4] get-tuple-element(l), index=1
  p = (f32[4], f32[4]) call(x, v), to_apply=both
  q = f32[4] get-tuple-element(p), index=1
  ROOT r = (f32[4], (f32[4], f32[4]), f32[4]) tuple(q, p, v)
}
)";

TEST_CASE("inlined calls: values and steps are the reference's", "[loop_state]") {
  const std::vector<Literal> arguments = {Value("f32[4] {1, 0.5, -2, 3}")};
  const Outcome outcome = RunBoth(kCalls, arguments);
  CHECK_THAT(outcome.plan, !Catch::Contains(" call "));
  CHECK_THAT(outcome.plan, !Catch::Contains(" fusion "));
  CHECK_THAT(outcome.plan, !Catch::Contains("twice: "));
  // Every limit ends both or none.
  const int64_t steps = outcome.statistics.steps;
  for (int64_t limit = 1; limit <= steps + 1; ++limit) {
    RunOptions options;
    options.limits.max_steps = limit;
    INFO(limit);
    CHECK(RunBy(EngineChoice::kReference, kCalls, arguments, options).result.ok() ==
          RunBy(EngineChoice::kExact, kCalls, arguments, options).result.ok());
  }
}

TEST_CASE("inlined calls: what a callee's root needs runs, though the caller reads only a part",
          "[loop_state]") {
  // Of the result only element 0 is read; element 1 has an effect on memory,
  // and its failure is the program's.
  const std::string program = R"(HloModule m
f {
  p = f32[] parameter(0)
  big = f32[1048576] iota(), iota_dimension=0
  s = f32[1] slice(big), slice={[0:1]}
  ROOT r = (f32[], f32[1]) tuple(p, s)
}
ENTRY e {
  x = f32[] parameter(0)
  t = (f32[], f32[1]) call(x), to_apply=f
  ROOT y = f32[] get-tuple-element(t), index=0
}
)";
  RunBoth(program, {Value("f32[] 3")});
  RunOptions options;
  options.limits.memory_limit = 1 << 20;
  const Outcome reference = RunBy(EngineChoice::kReference, program, {Value("f32[] 3")}, options);
  const Outcome exact = RunBy(EngineChoice::kExact, program, {Value("f32[] 3")}, options);
  REQUIRE_FALSE(reference.result.ok());
  CHECK(reference.result.status() == exact.result.status());
  CHECK_THAT(std::string(exact.result.status().message()), Catch::Contains("%big"));
}

TEST_CASE("inlined calls: calls whose types differ in layout stay", "[loop_state]") {
  const std::string program = R"(HloModule m
f {
  p = f32[2,3]{0,1} parameter(0)
  ROOT b = f32[3,2]{1,0} bitcast(p)
}
ENTRY e {
  x = f32[2,3]{1,0} parameter(0)
  ROOT y = f32[3,2]{1,0} call(x), to_apply=f
}
)";
  const Outcome outcome = RunBoth(program, {Value("f32[2,3] {{1, 2, 3}, {4, 5, 6}}")});
  CHECK_THAT(outcome.plan, Catch::Contains(" call "));
}

TEST_CASE("inlined calls: programs that double with every call stay as they are", "[loop_state]") {
  std::string program = R"(HloModule m
f0 {
  p = f32[] parameter(0)
  ROOT n = f32[] negate(p)
}
)";
  for (int i = 1; i <= 14; ++i) {
    program += fmt::format(
        R"(f{} {{
  p = f32[] parameter(0)
  a = f32[] call(p), to_apply=f{}
  ROOT r = f32[] call(a), to_apply=f{}
}}
)",
        i, i - 1, i - 1);
  }
  program += R"(ENTRY e {
  x = f32[] parameter(0)
  ROOT r = f32[] call(x), to_apply=f14
}
)";
  const Outcome outcome = RunBoth(program, {Value("f32[] 3")});
  CHECK(std::count(outcome.plan.begin(), outcome.plan.end(), '\n') < 10000);
}

TEST_CASE("loop state: an error in an iteration leaves the executor fit for another run", "[loop_state]") {
  const std::string body =
      R"(  d = f32[8] dynamic-update-slice(a, u, i)
  ROOT r = (s32[], f32[8], f32[8]) tuple(j, d, b)
)";
  const Plan plan = PlanOf(TwoArrays(1000, body));
  bool interrupted = true;
  int polls = 0;
  RunOptions options;
  options.interrupted = [&] { return ++polls && interrupted; };
  Executor executor(plan, options);
  CHECK(executor.Run(TwoArguments()).status().code() == absl::StatusCode::kCancelled);
  CHECK(polls == 1);
  interrupted = false;
  const absl::StatusOr<Literal> result = executor.Run(TwoArguments());
  REQUIRE(result.ok());
  CHECK(result->element(0).GetInt(0) == 1000);
}

}  // namespace
}  // namespace assay
