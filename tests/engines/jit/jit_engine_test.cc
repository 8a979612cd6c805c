// The jit engine's fusions against the reference, and everything around them in planner and executor.
#include "engines/jit/jit_engine.h"

#include <catch2/catch.hpp>

#include "check/golden/golden.h"
#include "literal/compare.h"
#include "literal/literal_text.h"
#include "plan/plan_text.h"
#include "tests/engines/jit/jit_testing.h"

namespace assay::testing {
namespace {

// The program gives the reference's bits on both instruction sets, with 1, 2 and 7 threads (NUM-11).
int CheckProgram(const std::string& text, Random& random) {
  int fused = 0;
  INFO(text);
  const Program program = ProgramOf(text);
  const Plan reference = PlanOf(program, EngineChoice::kReference);
  const std::vector<Literal> arguments = HostileArguments(reference, random);
  Executor referee(reference, {});
  const absl::StatusOr<Literal> wanted = referee.Run(arguments);
  REQUIRE(wanted.ok());
  for (Isa isa : JitIsas()) {
    const Plan plan = PlanOf(program, EagerEngines(isa));
    fused += FusedSteps(plan);
    for (int jobs : {1, 2, 7}) {
      Executor executor(plan, {.jobs = jobs});
      const absl::StatusOr<Literal> result = executor.Run(arguments);
      INFO(PlanToText(plan) << "instruction set " << static_cast<int>(isa) << " jobs " << jobs << " "
                            << result.status().message());
      REQUIRE(result.ok());
      INFO(CompareLiterals(*wanted, *result, {.bitwise = true}).Report());
      CHECK(Literal::BitwiseEqual(*wanted, *result));
      CHECK(executor.statistics().steps == referee.statistics().steps);
    }
  }
  return fused;
}

TEST_CASE("jit engine: random programs have the reference's bits", "[jit][fusion]") {
  Random random(11);
  // 272: rows so long that tiles are cut where a value for each row changes.
  constexpr int64_t kSizes[][2] = {{1, 1},   {1, 7},   {7, 9},    {8, 8},  {13, 5},
                                   {1, 256}, {3, 100}, {10, 100}, {3, 272}};
  for (int i = 0; i < 1500; ++i) {
    const auto& [rows, columns] = kSizes[random() % std::size(kSizes)];
    CheckProgram(ProgramMaker(random(), rows, columns, false).Make(3 + static_cast<int>(random() % 25)),
                 random);
  }
}

TEST_CASE("jit engine: arrays of many chunks have the reference's bits", "[jit][fusion]") {
  Random random(12);
  for (int i = 0; i < 30; ++i) {
    // Rows that are whole tiles, and others.
    const int64_t columns = i % 2 == 0 ? 2048 : 1000 + static_cast<int64_t>(random() % 77);
    CheckProgram(ProgramMaker(random(), 50, columns, true).Make(3 + static_cast<int>(random() % 12)), random);
  }
}

TEST_CASE("jit engine: slices with strides have the reference's bits, in short and long runs",
          "[jit][fusion]") {
  Random random(15);
  for (std::string_view type : {"s8", "bf16", "f32", "f64"}) {
    for (int64_t stride : {2, 3, 7}) {
      for (int64_t n : {5, 64, 65, 3001}) {
        CheckProgram(fmt::format(R"(HloModule m
ENTRY e {{ x = {0}[{1}] parameter(0)
 a = {0}[{2}] slice(x), slice={{[0:{3}:{4}]}}
 b = {0}[{2}] slice(x), slice={{[1:{1}:{4}]}}
 ROOT r = {0}[{2}] add(a, b) }}
)",
                                 type, n * stride - stride + 2, n, n * stride - stride + 1, stride),
                     random);
      }
    }
  }
}

TEST_CASE("jit engine: transposes of rows have the reference's bits, in every order of the other dimensions",
          "[jit][fusion]") {
  Random random(16);
  for (std::string_view type : {"s8", "bf16", "f32", "f64"}) {
    for (std::string_view order : {"0,2,1", "1,0,2", "1,2,0", "2,0,1", "2,1,0"}) {
      for (int64_t row : {67, 256, 1030}) {
        constexpr int64_t kSizes[] = {3, 1, 7};
        std::string to;
        for (char d : {order[0], order[2], order[4]}) to += fmt::format("{},", kSizes[d - '0']);
        CheckProgram(fmt::format(R"(HloModule m
ENTRY e {{ x = {0}[3,1,7,{1}] parameter(0)
 y = {0}[{2}{1}] parameter(1)
 t = {0}[{2}{1}] transpose(x), dimensions={{{3},3}}
 ROOT r = {0}[{2}{1}] subtract(y, t) }}
)",
                                 type, row, to, order),
                     random);
      }
    }
  }
}

TEST_CASE("jit engine: equal values and iotas of a fusion are computed once, others are kept apart",
          "[jit][fusion]") {
  Random random(17);
  for (const int64_t n : {5, 3001}) {
    CheckProgram(fmt::format(R"(HloModule m
ENTRY e {{ x = u32[2,{0}] parameter(0)
 i = u32[{1}] iota(), iota_dimension=0
 j = u32[{1}] iota(), iota_dimension=0
 k = u32[2,{0}] iota(), iota_dimension=0
 l = u32[2,{0}] iota(), iota_dimension=1
 fi = u32[2,{0}] reshape(i)
 fj = u32[2,{0}] reshape(j)
 a = u32[2,{0}] multiply(x, fi)
 b = u32[2,{0}] multiply(x, fj)
 c = u32[2,{0}] multiply(x, k)
 d = u32[2,{0}] multiply(x, l)
 less = pred[2,{0}] compare(a, x), direction=LT
 more = pred[2,{0}] compare(b, x), direction=GT
 s = u32[2,{0}] select(less, a, c)
 t = u32[2,{0}] select(more, b, d)
 ROOT r = u32[2,{0}] subtract(s, t) }}
)",
                             n, 2 * n),
                 random);
  }
}

// Results of 8 MiB and more are stored past the caches.
TEST_CASE("jit engine: large results have the reference's bits, whatever their type, length and tiles",
          "[jit][fusion]") {
  Random random(13);
  const auto binary = [](std::string_view type, int64_t n, std::string_view op) {
    return fmt::format(
        R"(HloModule m
ENTRY e {{ x = {0}[{1}] parameter(0)
 y = {0}[{1}] parameter(1)
 ROOT r = {0}[{1}] {2}(x, y) }}
)",
        type, n, op);
  };
  CheckProgram(binary("f32", (1 << 21) + 13, "subtract"), random);
  CheckProgram(binary("f64", (1 << 20) + 5, "multiply"), random);
  CheckProgram(binary("bf16", (1 << 22) + 21, "add"), random);
  CheckProgram(binary("s8", (1 << 23) + 3, "xor"), random);
  constexpr std::string_view kCompare =
      R"(HloModule m
ENTRY e { x = s32[8388617] parameter(0)
 y = s32[8388617] parameter(1)
 ROOT r = pred[8388617] compare(x, y), direction=LT }
)";
  CheckProgram(std::string(kCompare), random);
  // Tiles end where a row does, which is at no vector's beginning.
  constexpr std::string_view kRows =
      R"(HloModule m
ENTRY e { x = f32[300,7001] parameter(0)
 m = f32[300] parameter(1)
 b = f32[300,7001] broadcast(m), dimensions={0}
 ROOT r = f32[300,7001] subtract(x, b) }
)";
  CheckProgram(std::string(kRows), random);
  // Over an operand that is not needed again, and over none that is.
  constexpr std::string_view kReversed =
      R"(HloModule m
ENTRY e { x = f32[2097165] parameter(0)
 v = f32[2097165] reverse(x), dimensions={0}
 n = f32[2097165] add(v, x)
 w = f32[2097165] reverse(n), dimensions={0}
 p = f32[2097165] multiply(w, n)
 ROOT t = (f32[2097165], f32[2097165]) tuple(p, n) }
)";
  CheckProgram(std::string(kReversed), random);
}

TEST_CASE("jit engine: functions with large results have the bits that they have by themselves",
          "[jit][fusion]") {
  const std::string text =
      R"(HloModule m
ENTRY e { x = f32[2097165] parameter(0)
 y = f32[2097165] parameter(1)
 t = f32[2097165] tanh(x)
 p = f32[2097165] multiply(x, y)
 r = f32[2097165] add(p, t)
 f = f32[2097165] erf(y)
 h = f32[2097165] logistic(x)
 ROOT o = (f32[2097165], f32[2097165], f32[2097165]) tuple(r, f, h) }
)";
  Random random(14);
  const Program program = ProgramOf(text);
  for (Isa isa : JitIsas()) {
    const Engine* const native[] = {&native::NativeEngine(isa)};
    const std::vector<Literal> arguments = HostileArguments(PlanOf(program, native), random);
    const absl::StatusOr<Literal> wanted = program.Run(arguments, {}, native);
    REQUIRE(wanted.ok());
    for (int jobs : {1, 2, 7}) {
      const absl::StatusOr<Literal> result = program.Run(arguments, {.jobs = jobs}, EagerEngines(isa));
      REQUIRE(result.ok());
      CHECK(Literal::BitwiseEqual(*wanted, *result));
    }
  }
}

TEST_CASE("jit engine: every golden passes with every fusion taken", "[jit][golden]") {
  for (Isa isa : JitIsas()) {
    for (const std::string& path : FindGoldens({ASSAY_SOURCE_DIR "/golden"}).files) {
      const GoldenResult result =
          CheckGolden(path, {.engines = EagerEngines(isa), .crosscheck = Crosscheck::kFull});
      INFO(path << "\n" << result.report);
      CHECK(result.passed);
    }
  }
}

TEST_CASE("jit engine: a fusion of too many functions one after the other stays single instructions",
          "[jit][plan]") {
  if (JitIsas().empty()) return;
  std::string text = R"(HloModule m
ENTRY e {
x0 = f32[1000] parameter(0)
)";
  for (int i = 1; i <= 40; ++i)
    text += fmt::format("{}x{} = f32[1000] tanh(x{})\n", i == 40 ? "ROOT " : "", i, i - 1);
  const Plan plan = PlanOf(ProgramOf(text + "}\n"), EagerEngines(JitIsas().back()));
  CHECK(FusedSteps(plan) == 0);
  CHECK_THAT(PlanToText(plan), Catch::Contains("(jit: a chain of 40 functions)"));
}

std::string Entry(const std::string& body) {
  return R"(HloModule m
ENTRY e {
)" + body +
         "}\n";
}

Plan EagerPlan(const std::string& text) { return PlanOf(ProgramOf(text), EagerEngines(JitIsas().back())); }

const std::string kChain = Entry(
    R"(x = f32[1000] parameter(0)
y = f32[1000] parameter(1)
m = f32[1000] multiply(x, y)
t = f32[1000] tanh(m)
ROOT r = f32[1000] add(t, x)
)");

TEST_CASE("jit engine: a plan names the members of a fusion, and why there is none", "[jit][plan]") {
  if (JitIsas().empty()) return;
  CHECK_THAT(PlanToText(EagerPlan(kChain)),
             Catch::Contains("jit        %r = f32[1000] add  result 3.91 KiB") &&
                 Catch::Contains("fused: %m %t  last use of %x %y"));
  const Program alone = ProgramOf(Entry(R"(x = f32[1000] parameter(0)
ROOT r = f32[1000] add(x, x)
)"));
  CHECK_THAT(PlanToText(PlanOf(alone)),
             Catch::Contains("native     %r = f32[1000] add") &&
                 Catch::Contains("(jit: too few elements (1000) to generate code)"));
  CHECK_THAT(PlanToText(PlanOf(kChain, EngineChoice::kExact, Isa::kBaseline)),
             Catch::Contains("(jit: no AVX2)"));
}

TEST_CASE("jit engine: a fusion counts as many steps as its members, and obeys --max-steps",
          "[jit][executor]") {
  if (JitIsas().empty()) return;
  const Plan plan = EagerPlan(kChain);
  Random random(1);
  Executor whole(plan, {});
  REQUIRE(whole.Run(HostileArguments(plan, random)).ok());
  CHECK(whole.statistics().steps == 4);  // the call and three members
  RunOptions options;
  options.limits.max_steps = 3;
  const absl::Status status = Executor(plan, options).Run(HostileArguments(plan, random)).status();
  CHECK(absl::IsResourceExhausted(status));
  CHECK_THAT(std::string(status.message()), Catch::Contains("--max-steps"));
}

TEST_CASE("jit engine: long fusions are interrupted and time out", "[jit][executor]") {
  if (JitIsas().empty()) return;
  const Plan plan = EagerPlan(Entry(R"(x = f32[20000000] parameter(0)
y = f32[20000000] negate(x)
ROOT r = f32[20000000] add(y, x)
)"));
  const Literal x = *Literal::Make(*ParseShape("f32[20000000]"));
  int polls = 0;
  RunOptions options;
  options.interrupted = [&] { return ++polls == 2; };
  CHECK(absl::IsCancelled(Executor(plan, options).Run({x}).status()));
  CHECK(polls == 2);
}

TEST_CASE("jit engine: a result takes the place of an operand that is not needed again", "[jit][executor]") {
  if (JitIsas().empty()) return;
  const std::string text = Entry(
      R"(c = f32[] parameter(0)
b = f32[500000] broadcast(c), dimensions={}
s = f32[500000] reverse(b), dimensions={0}
n = f32[500000] negate(s)
ROOT r = f32[500000] add(n, s)
)");
  const Plan plan = EagerPlan(text);
  Executor executor(plan, {});
  REQUIRE(executor.Run({Literal::ScalarDouble(ElementType::kF32, 2)}).ok());
  CHECK(executor.statistics().peak_bytes < 2 * 2'000'000 + 100'000);  // reverse's operand and result
}

// What `kernel` gives with one thing wrong.
class Broken final : public Kernel {
 public:
  enum class Fault { kBit, kTail };
  Broken(std::shared_ptr<const Kernel> kernel, Fault fault) : kernel_(std::move(kernel)), fault_(fault) {}
  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    ASSAY_ASSIGN_OR_RETURN(Literal result, kernel_->Run(context, operands));
    const std::span<std::byte> bytes = result.MutableBytes();
    if (fault_ == Fault::kBit) {
      bytes[bytes.size() / 2] ^= std::byte{1};
    } else {
      std::fill(bytes.end() - 4 * (result.shape().num_elements() % 16), bytes.end(), std::byte{0});
    }
    return result;
  }

 private:
  const std::shared_ptr<const Kernel> kernel_;
  const Fault fault_;
};

TEST_CASE("jit engine: the cross-check catches a flipped bit and a dropped tail of a fusion",
          "[jit][crosscheck]") {
  if (JitIsas().empty()) return;
  for (Broken::Fault fault : {Broken::Fault::kBit, Broken::Fault::kTail}) {
    Plan plan = EagerPlan(kChain);
    const auto run = [&](Crosscheck crosscheck) {
      Random random(5);
      return Executor(plan, {.crosscheck = crosscheck}).Run(HostileArguments(plan, random)).status();
    };
    CHECK(run(Crosscheck::kFull).ok());
    for (Step& step : plan.computations.back().steps)
      step.kernel = std::make_shared<Broken>(step.kernel, fault);
    CHECK(run(Crosscheck::kOff).ok());
    for (Crosscheck crosscheck : {Crosscheck::kSample, Crosscheck::kFull}) {
      // A sample has the last element, and hardly the one with the bit.
      if (crosscheck == Crosscheck::kSample && fault == Broken::Fault::kBit) continue;
      const absl::Status status = run(crosscheck);
      CHECK(ExitCodeOf(status) == 1);
      CHECK_THAT(std::string(status.message()), Catch::Contains("%r = add"));
    }
  }
}

}  // namespace
}  // namespace assay::testing
