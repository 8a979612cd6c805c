#include "run/executor.h"

#include <catch2/catch.hpp>
#include <cfenv>
#include <chrono>
#include <string>

#include "fmt/format.h"
#include "plan/plan_text.h"
#include "run/inputs/program_io.h"
#include "tests/run/program_testing.h"
#include "tests/run/run_text.h"

namespace assay {
namespace {

std::string Entry(const std::string& body) {
  return R"(HloModule m
ENTRY e {
)" + body +
         "}\n";
}

// A chain of `count` negations of x = f32[size].
std::string Chain(int count, int size, bool parameter) {
  std::string body = parameter ? fmt::format("x0 = f32[{}] parameter(0)\n", size)
                               : fmt::format(R"(c = f32[] constant(1)
x0 = f32[{}] broadcast(c), dimensions={{}}
)",
                                             size);
  for (int i = 1; i <= count; ++i) {
    body += fmt::format("{}x{} = f32[{}] negate(x{})\n", i == count ? "ROOT " : "", i, size, i - 1);
  }
  return Entry(body);
}

constexpr int64_t kMegabyte = 1 << 20;

TEST_CASE("executor: values are freed at their last use", "[executor]") {
  const Plan plan = PlanOf(Chain(50, 1 << 18, false));
  Executor executor(plan, {});
  REQUIRE(executor.Run({}).ok());
  CHECK(executor.statistics().peak_bytes >= kMegabyte);
  CHECK(executor.statistics().peak_bytes <= 2 * kMegabyte * 13 / 10);
}

TEST_CASE("executor: a value that is needed again stays", "[executor]") {
  const absl::StatusOr<Literal> result = RunText(Entry(R"(a = f32[2] parameter(0)
b = f32[2] negate(a)
c = f32[2] negate(b)
d = f32[2] add(b, c)
ROOT r = (f32[2], f32[2], f32[2]) tuple(b, c, d)
)"),
                                                 {"f32[2] {1, -2}"});
  REQUIRE(result.ok());
  CHECK(Literal::BitwiseEqual(result->element(0), Value("f32[2] {-1, 2}")));
  CHECK(Literal::BitwiseEqual(result->element(1), Value("f32[2] {1, -2}")));
  CHECK(Literal::BitwiseEqual(result->element(2), Value("f32[2] {0, 0}")));
}

TEST_CASE("executor: arguments of the caller are never overwritten", "[executor]") {
  const Plan plan = PlanOf(Chain(3, 4, true));
  const Literal argument = Value("f32[4] {1, 2, 3, 4}");
  Executor executor(plan, {});
  REQUIRE(executor.Run({argument}).ok());
  CHECK(Literal::BitwiseEqual(argument, Value("f32[4] {1, 2, 3, 4}")));
}

TEST_CASE("executor: tuples, projections and barriers share storage", "[executor]") {
  const Plan plan = PlanOf(Entry(R"(c = f32[] constant(1)
x = f32[262144] broadcast(c), dimensions={}
t = (f32[262144], f32[262144]) tuple(x, x)
u = (f32[262144], f32[262144]) opt-barrier(t)
y = f32[262144] get-tuple-element(u), index=1
k = token[] after-all()
z = f32[262144] add-dependency(y, k)
ROOT r = (f32[262144], f32[262144], f32[262144]) tuple(x, y, z)
)"));
  Executor executor(plan, {});
  const absl::StatusOr<Literal> root = executor.Run({});
  REQUIRE(root.ok());
  CHECK(root->element(0).data() == root->element(2).data());
  CHECK(executor.statistics().peak_bytes <= kMegabyte * 13 / 10);
}

TEST_CASE("executor: a loop updates its state in place", "[executor]") {
  const std::string program = R"(HloModule m
c {
  s = (s32[], f32[262144]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(100)
  ROOT l = pred[] compare(i, n), direction=LT
}
b {
  s = (s32[], f32[262144]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  v = f32[262144] get-tuple-element(s), index=1
  f = f32[] convert(i)
  u = f32[1] reshape(f)
  d = f32[262144] dynamic-update-slice(v, u, i)
  one = s32[] constant(1)
  j = s32[] add(i, one)
  ROOT r = (s32[], f32[262144]) tuple(j, d)
}
ENTRY e {
  z = s32[] constant(0)
  c0 = f32[] constant(-1)
  x = f32[262144] broadcast(c0), dimensions={}
  t = (s32[], f32[262144]) tuple(z, x)
  ROOT w = (s32[], f32[262144]) while(t), condition=c, body=b
}
)";
  const Plan plan = PlanOf(program);
  Executor executor(plan, {});
  const absl::StatusOr<Literal> root = executor.Run({});
  REQUIRE(root.ok());
  CHECK(root->element(1).GetDouble(99) == 99);
  CHECK(root->element(1).GetDouble(100) == -1);
  CHECK(executor.statistics().peak_bytes <= kMegabyte * 13 / 10);
}

TEST_CASE("executor: a chain of 100000 instructions does not recurse", "[executor]") {
  const absl::StatusOr<Literal> result = RunText(Chain(100000, 1, true), {"f32[1] {3}"});
  REQUIRE(result.ok());
  CHECK(Literal::BitwiseEqual(*result, Value("f32[1] {3}")));
}

TEST_CASE("executor: a call chain is bounded by kMaxCallDepth", "[executor]") {
  const auto chain = [](int depth) {
    std::string program = R"(HloModule m
g0 {
  ROOT p = s32[] parameter(0)
}
)";
    for (int i = 1; i <= depth; ++i) {
      program += fmt::format(R"(g{} {{
  p = s32[] parameter(0)
  ROOT r = s32[] call(p), to_apply=g{}
}}
)",
                             i, i - 1);
    }
    return program + fmt::format(R"(ENTRY e {{
  p = s32[] parameter(0)
  ROOT r = s32[] call(p), to_apply=g{}
}}
)",
                                 depth);
  };
  CHECK(RunText(chain(kMaxCallDepth - 1), {"s32[] 7"}).ok());
  const absl::StatusOr<Literal> beyond = RunText(chain(kMaxCallDepth), {"s32[] 7"});
  CHECK(ExitCodeOf(beyond.status()) == 5);
}

TEST_CASE("executor: side effects in dead code happen, in textual order", "[executor]") {
  const Plan plan = PlanOf(Entry(R"(x = s32[] parameter(0)
k = token[] after-all()
a = token[] outfeed(x, k), outfeed_shape=s32[]
n = s32[] negate(x)
b = token[] outfeed(n, k), outfeed_shape=s32[]
dead = s32[] multiply(n, n)
ROOT r = s32[] constant(0)
)"));
  Executor executor(plan, {});
  REQUIRE(executor.Run({Value("s32[] 5")}).ok());
  REQUIRE(executor.process().outfeed.size() == 2);
  CHECK(Literal::BitwiseEqual(executor.process().outfeed[0], Value("s32[] 5")));
  CHECK(Literal::BitwiseEqual(executor.process().outfeed[1], Value("s32[] -5")));
  CHECK(PlanToText(plan).find("dead") == std::string::npos);
}

TEST_CASE("executor: waits that form a cycle are a deadlock, named", "[executor]") {
  const absl::StatusOr<Literal> result = RunText(Entry(R"(x = f32[] parameter(0)
t = token[] after-all()
r = (f32[], u32[], token[]) recv(t), channel_id=1
rd = (f32[], token[]) recv-done(r), channel_id=1
t1 = token[] get-tuple-element(rd), index=1
snd = (f32[], u32[], token[]) send(x, t1), channel_id=1
sd = token[] send-done(snd), channel_id=1
ROOT v = f32[] get-tuple-element(rd), index=0
)"),
                                                 {"f32[] 1"});
  CHECK(ExitCodeOf(result.status()) == 5);
  CHECK(std::string(result.status().message()).find("deadlock") != std::string::npos);
}

// 2^-149 + 1 rounds up only in the wrong mode; 2^-149 * 1 is lost only when subnormals are flushed.
const std::string kSensitive = Entry(
    R"(x = f32[3] parameter(0)
y = f32[3] parameter(1)
a = f32[3] add(x, y)
m = f32[3] multiply(x, y)
d = f32[3] divide(x, y)
l = f32[3] exponential(x)
ROOT r = (f32[3], f32[3], f32[3], f32[3]) tuple(a, m, d, l)
)");

unsigned ReadMxcsr() { return __builtin_ia32_stmxcsr(); }

TEST_CASE("executor: the caller's rounding mode and flush bits change nothing and are restored",
          "[executor]") {
  const Plan plan = PlanOf(kSensitive);
  const std::vector<Literal> arguments = {Value("f32[3] {0x1p-149, 0x1p-130, 1}"),
                                          Value("f32[3] {1, -0x1p-131, 3}")};
  const auto run = [&] { return Executor(plan, {}).Run(arguments); };
  const absl::StatusOr<Literal> expected = run();
  REQUIRE(expected.ok());
  CHECK(Literal::BitwiseEqual(expected->element(0), Value("f32[3] {1, 0x1p-131, 4}")));
  const unsigned clean = ReadMxcsr();
  for (const unsigned poison : {0x8040u, 0x2000u, 0x4000u, 0x6000u, 0xE040u}) {
    __builtin_ia32_ldmxcsr(clean | poison);
    const absl::StatusOr<Literal> result = run();
    const unsigned after = ReadMxcsr();
    __builtin_ia32_ldmxcsr(clean);
    REQUIRE(result.ok());
    CHECK((after & 0xE040u) == poison);
    CHECK(Literal::BitwiseEqual(*result, *expected));
  }
  std::fesetround(FE_DOWNWARD);
  const absl::StatusOr<Literal> result = run();
  const int mode = std::fegetround();
  std::fesetround(FE_TONEAREST);
  REQUIRE(result.ok());
  CHECK(mode == FE_DOWNWARD);
  CHECK(Literal::BitwiseEqual(*result, *expected));
}

const std::string kEndless =
    R"(HloModule m
c {
  ROOT a = pred[] parameter(0)
}
b {
  ROOT d = pred[] parameter(0)
}
ENTRY e {
  t = pred[] constant(true)
  ROOT w = pred[] while(t), condition=c, body=b
}
)";

TEST_CASE("executor: the time limit ends an endless loop", "[executor]") {
  RunOptions options;
  options.limits.timeout_seconds = 0.05;
  const auto start = std::chrono::steady_clock::now();
  const absl::StatusOr<Literal> result = RunText(kEndless, {}, options);
  CHECK(ExitCodeOf(result.status()) == 5);
  CHECK(std::string(result.status().message()).find("timeout") != std::string::npos);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(1));
}

TEST_CASE("executor: steps are counted the same on every run", "[executor]") {
  RunOptions options;
  options.limits.max_steps = 100;
  const absl::StatusOr<Literal> one = RunText(kEndless, {}, options), two = RunText(kEndless, {}, options);
  CHECK(ExitCodeOf(one.status()) == 5);
  CHECK(one.status().message() == two.status().message());
}

TEST_CASE("executor: the interruption callback ends the run", "[executor]") {
  int polls = 0;
  RunOptions options;
  options.interrupted = [&polls] { return ++polls == 3; };
  const absl::StatusOr<Literal> result = RunText(kEndless, {}, options);
  CHECK(ExitCodeOf(result.status()) == 5);
  CHECK(polls == 3);
}

TEST_CASE("executor: long random draws can be interrupted", "[executor]") {
  const auto polls_of = [](const std::string& instruction) {
    int polls = 0;
    RunOptions options;
    options.interrupted = [&polls] { return ++polls == 2; };
    const absl::StatusOr<Literal> result = RunText(Entry(R"(a = f32[] constant(0)
b = f32[] constant(1)
k = u64[2] constant({1, 2})
ROOT r = )" + instruction + "\n"),
                                                   {}, options);
    CHECK_FALSE(result.ok());
    return polls;
  };
  CHECK(polls_of("u8[100000000] rng-bit-generator(k), algorithm=rng_philox") == 2);
  CHECK(polls_of("u8[100000000] rng-bit-generator(k), algorithm=rng_three_fry") == 2);
  CHECK(polls_of("f32[100000000] rng(a, b), distribution=rng_uniform") == 2);
}

// Values without an element, so that only what it takes to keep them can reach the limit.
TEST_CASE("executor: what a loop sends out counts against the memory limit", "[executor]") {
  const auto loop = [](const std::string& effect) {
    return R"(HloModule m
c { s = (f32[0], token[]) parameter(0)
 ROOT p = pred[] constant(true) }
b { s = (f32[0], token[]) parameter(0)
 x = f32[0] get-tuple-element(s), index=0
 t = token[] get-tuple-element(s), index=1
)" + effect +
           R"( ROOT r = (f32[0], token[]) tuple(x, u) }
ENTRY e { x = f32[0] parameter(0)
 t = token[] after-all()
 s = (f32[0], token[]) tuple(x, t)
 ROOT w = (f32[0], token[]) while(s), condition=c, body=b }
)";
  };
  RunOptions options;
  options.limits.memory_limit = 100'000;
  options.limits.max_steps = 1'000'000;
  for (const char* const effect :
       {" u = token[] outfeed(x, t), outfeed_shape=f32[0]\n",
        R"( v = (f32[0], u32[], token[]) send(x, t), channel_id=1, is_host_transfer=true
 u = token[] send-done(v), channel_id=1, is_host_transfer=true
)",
        R"( y = f32[0] custom-call(x), custom_call_target="interpreter.probe", backend_config={probe_id = "x"}
 u = token[] after-all(t)
)"}) {
    const absl::Status status = RunText(loop(effect), {"f32[0] {}"}, options).status();
    INFO(effect << status);
    CHECK(status.message().find("for one more value in a queue, is") != std::string::npos);
    CHECK(ExitCodeOf(status) == 5);
  }
  // A value that is received again makes room.
  const absl::Status status = RunText(loop(R"( v = (f32[0], u32[], token[]) send(x, t), channel_id=1
 u = token[] send-done(v), channel_id=1
 a = (f32[0], u32[], token[]) recv(t), channel_id=1
 d = (f32[0], token[]) recv-done(a), channel_id=1
)"),
                                      {"f32[0] {}"}, options)
                                  .status();
  INFO(status);
  CHECK(status.message().find("max-steps") != std::string::npos);
}

TEST_CASE("executor: the memory limit is checked before an allocation and names the instruction",
          "[executor]") {
  RunOptions options;
  options.limits.memory_limit = 3 * kMegabyte;
  CHECK(RunText(Chain(20, 1 << 18, false), {}, options).ok());
  options.limits.memory_limit = kMegabyte - 1;
  const absl::StatusOr<Literal> result = RunText(Chain(20, 1 << 18, false), {}, options);
  CHECK(ExitCodeOf(result.status()) == 5);
  CHECK(std::string(result.status().message()).find("(in '%x") != std::string::npos);
}

TEST_CASE("executor: wrong arguments are refused", "[executor]") {
  CHECK(ExitCodeOf(RunText(Chain(1, 2, true), {}).status()) == 5);
  CHECK(ExitCodeOf(RunText(Chain(1, 2, true), {"f32[2] {1, 2}", "f32[2] {1, 2}"}).status()) == 5);
  CHECK(ExitCodeOf(RunText(Chain(1, 2, true), {"f32[3] {1, 2, 3}"}).status()) == 5);
  CHECK(ExitCodeOf(RunText(Chain(1, 2, true), {"s32[2] {1, 2}"}).status()) == 5);
  // Smaller at run time than the parameter's static size.
  Literal smaller = Value("f32[<=2] {1, 2}");
  smaller.set_dynamic_size(0, 1);
  const absl::Status status =
      ProgramOf("HloModule m\nENTRY e {\n  ROOT x = f32[2] parameter(0)\n}\n").Run({smaller}).status();
  CHECK(ExitCodeOf(status) == 5);
  CHECK_THAT(
      std::string(status.message()),
      Catch::Contains(
          "Parameter-C2: dimension 0 of argument 0, f32[2], is static and has size 2, but 1 at run time"));
}

TEST_CASE("executor: a plan can run again", "[executor]") {
  const Plan plan = PlanOf(Chain(3, 2, true));
  Executor executor(plan, {});
  for (int i = 0; i < 3; ++i) {
    const absl::StatusOr<Literal> result = executor.Run({Value("f32[2] {1, -2}")});
    REQUIRE(result.ok());
    CHECK(Literal::BitwiseEqual(*result, Value("f32[2] {-1, 2}")));
  }
}

}  // namespace
}  // namespace assay
