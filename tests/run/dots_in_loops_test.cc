// Dots in loops by what no iteration changes: the exact engine, which packs it once a loop, against the
// reference engine.
#include <catch2/catch.hpp>
#include <chrono>
#include <random>
#include <string>
#include <thread>

#include "fmt/format.h"
#include "plan/plan_text.h"
#include "tests/engines/native/native_testing.h"
#include "tests/run/run_text.h"

namespace assay::testing {
namespace {

// How the weights lie: f32[12,20], or transposed.
struct Layout {
  std::string type, weights;
  int contracted;
};
const Layout kLayouts[] = {
    {"f32", "12,20", 0}, {"f32", "20,12", 1}, {"bf16", "12,20", 0}, {"f16", "20,12", 1}};

// `iterations` iterations over a counter, a state h[5,12] and the weights v and w; `update` gives h2, v2 and
// w2 from them.
std::string LoopText(const Layout& layout, int iterations, const std::string& update,
                     const std::string& init = "tuple(zero, x, v, w)", const std::string& computations = "") {
  const std::string h = layout.type + "[5,12]", weights = fmt::format("{}[{}]", layout.type, layout.weights);
  const std::string state = fmt::format("(s32[], {}, {}, {})", h, weights, weights);
  return fmt::format(R"(HloModule m
{}
c {{
  s = {} parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant({})
  ROOT l = pred[] compare(i, n), direction=LT
}}
b {{
  s = {} parameter(0)
  i = s32[] get-tuple-element(s), index=0
  h = {} get-tuple-element(s), index=1
  v = {} get-tuple-element(s), index=2
  w = {} get-tuple-element(s), index=3
  one = s32[] constant(1)
  j = s32[] add(i, one)
{}
  ROOT r = {} tuple(j, h2, v2, w2)
}}
ENTRY e {{
  x = {} parameter(0)
  v = {} parameter(1)
  w = {} parameter(2)
  zero = s32[] constant(0)
  t = {} {}
  ROOT z = {} while(t), condition=c, body=b
}}
)",
                     computations, state, iterations, state, h, weights, weights, update, state, h, weights,
                     weights, state, init, state);
}

std::string Dot(const Layout& layout, const std::string& name, const std::string& weights,
                const std::string& h = "h") {
  return fmt::format(
      R"(  {}d = {}[5,20] dot({}, {}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{{}}}
  {}s = {}[5,12] slice({}d), slice={{[0:5], [3:15]}}
  {} = {}[5,12] tanh({}s)
)",
      name, layout.type, h, weights, layout.contracted, name, layout.type, name, name, layout.type, name);
}
std::string Rename(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

// With 1, 2 and 7 threads on every instruction set; one executor runs several arguments, one after the other.
void Check(const std::string& text) {
  const Program program = ProgramOf(text);
  const Plan reference = PlanOf(program, EngineChoice::kReference);
  for (Isa isa : MachineIsas()) {
    const Plan plan = PlanOf(program, EngineChoice::kExact, isa);
    for (int jobs : {1, 2, 7}) {
      Executor executor(plan, {.jobs = jobs});
      for (Draw draw : {Draw::kNormal, Draw::kIntegers, Draw::kWide, Draw::kSpecials}) {
        const std::vector<Literal> arguments =
            DrawnArguments(reference, draw, 7 + static_cast<uint64_t>(draw));
        const absl::StatusOr<Literal> wanted = Executor(reference, {}).Run(arguments);
        const absl::StatusOr<Literal> result = executor.Run(arguments);
        INFO(text << PlanToText(plan) << "draw " << static_cast<int>(draw) << ", jobs " << jobs << ", isa "
                  << static_cast<int>(isa) << ": " << wanted.status() << result.status());
        REQUIRE(wanted.ok());
        REQUIRE(result.ok());
        CHECK(Literal::BitwiseEqual(*wanted, *result));
      }
    }
  }
}

TEST_CASE("dots in loops: weights that stay, in every layout", "[executor][dot]") {
  for (const Layout& layout : kLayouts) {
    const std::string dots = Dot(layout, "a", "w") + Dot(layout, "h2", "v", "a");
    const std::string program = Rename(LoopText(layout, 9, dots), "h2, v2, w2)", "h2, v, w)");
    CHECK_THAT(PlanToText(PlanOf(program)), Catch::Contains("loop-invariant state %v %w"));
    Check(program);
    // The same weights twice.
    Check(Rename(program, "tuple(zero, x, v, w)", "tuple(zero, x, w, w)"));
  }
}

TEST_CASE("dots in loops: weights that change, or change places", "[executor][dot]") {
  for (const Layout& layout : kLayouts) {
    const std::string dots = Dot(layout, "a", "w") + Dot(layout, "h2", "v", "a");
    const std::string type = fmt::format("{}[{}]", layout.type, layout.weights);
    Check(Rename(LoopText(layout, 9, dots), "h2, v2, w2)", "h2, w, v)"));
    Check(Rename(LoopText(layout, 9, dots + fmt::format("  w2 = {} negate(w)\n", type)), "h2, v2, w2)",
                 "h2, v, w2)"));
    Check(Rename(LoopText(layout, 9, dots + fmt::format("  v2 = {} add(v, w)\n", type)), "h2, v2, w2)",
                 "h2, v2, w)"));
    // In place: one element of v.
    Check(Rename(LoopText(layout, 9,
                          dots + fmt::format(R"(  p = {}[1,1] slice(h2), slice={{[2:3], [4:5]}}
  v2 = {} dynamic-update-slice(v, p, i, one)
)",
                                             layout.type, type)),
                 "h2, v2, w2)", "h2, v2, w)"));
  }
}

TEST_CASE("dots in loops: an inner loop whose weights the outer one changes", "[executor][dot]") {
  for (const Layout& layout : kLayouts) {
    const std::string h = layout.type + "[5,12]", type = fmt::format("{}[{}]", layout.type, layout.weights);
    const std::string state = fmt::format("(s32[], {}, {})", h, type);
    const std::string inner = fmt::format(
        R"(ic {{
  s = {0} parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(4)
  ROOT l = pred[] compare(i, n), direction=LT
}}
ib {{
  s = {0} parameter(0)
  i = s32[] get-tuple-element(s), index=0
  h = {1} get-tuple-element(s), index=1
  w = {2} get-tuple-element(s), index=2
  one = s32[] constant(1)
  j = s32[] add(i, one)
{3}  ROOT r = {0} tuple(j, h2, w)
}}
)",
        state, h, type, Dot(layout, "h2", "w"));
    const std::string update = fmt::format(
        R"(  z = s32[] constant(0)
  t = {0} tuple(z, h, w)
  y = {0} while(t), condition=ic, body=ib
  h2 = {1} get-tuple-element(y), index=1
)",
        state, h);
    const std::string changed = update + fmt::format("  w2 = {} subtract(w, v)\n", type);
    Check(Rename(LoopText(layout, 5, changed, "tuple(zero, x, v, w)", inner), "h2, v2, w2)", "h2, v, w2)"));
    Check(Rename(LoopText(layout, 5, update, "tuple(zero, x, v, w)", inner), "h2, v2, w2)", "h2, v, w)"));
    Check(Rename(LoopText(layout, 5, update, "tuple(zero, x, v, w)", inner), "h2, v2, w2)", "h2, w, v)"));
  }
}

// The condition of the outer loop runs a loop of its own, with the same body and other weights.
TEST_CASE("dots in loops: two loops of one body, one within the other's iterations", "[executor][dot]") {
  for (const Layout& layout : kLayouts) {
    const std::string h = layout.type + "[5,12]", type = fmt::format("{}[{}]", layout.type, layout.weights);
    const std::string state = fmt::format("(s32[], {}, {}, {})", h, type, type);
    const std::string program =
        Rename(LoopText(layout, 6, Dot(layout, "h2", "w")), "h2, v2, w2)", "h2, v, w)");
    // c becomes the inner condition; the outer one adds what the inner loop gives to its count.
    const std::string outer = fmt::format(
        R"(oc {{
  s = {0} parameter(0)
  i = s32[] get-tuple-element(s), index=0
  h = {1} get-tuple-element(s), index=1
  v = {2} get-tuple-element(s), index=2
  z = s32[] constant(2)
  t = {0} tuple(z, h, v, v)
  y = {0} while(t), condition=c, body=b
  g = {1} get-tuple-element(y), index=1
  e = {3}[1,1] slice(g), slice={{[0:1], [0:1]}}
  f = {3}[] reshape(e)
  q = {3}[] constant(0.25)
  p = pred[] compare(f, q), direction=LT
  k = s32[] convert(p)
  a = s32[] add(i, k)
  n = s32[] constant(7)
  ROOT l = pred[] compare(a, n), direction=LT
}}
)",
        state, h, type, layout.type);
    Check(Rename(Rename(program, "ENTRY e {", outer + "ENTRY e {"), R"(while(t), condition=c, body=b
})",
                 R"(while(t), condition=oc, body=b
})"));
  }
}

TEST_CASE("dots in loops: in a conditional, by a constant, and of two values that stay", "[executor][dot]") {
  for (const Layout& layout : kLayouts) {
    const std::string h = layout.type + "[5,12]", type = fmt::format("{}[{}]", layout.type, layout.weights);
    const std::string state = fmt::format("({}, {})", h, type);
    const auto branch = [&](const std::string& name, const std::string& text) {
      return fmt::format(
          R"({} {{
  s = {} parameter(0)
  h = {} get-tuple-element(s), index=0
  w = {} get-tuple-element(s), index=1
{}}}
)",
          name, state, h, type, text);
    };
    const std::string branches = branch("yes", Rename(Dot(layout, "h2", "w"), "  h2 =", "  ROOT h2 =")) +
                                 branch("no", fmt::format("  ROOT n = {} negate(h)\n", h));
    const std::string update = Dot(layout, "a", "v") + fmt::format(
                                                           R"(  o = s32[] and(i, one)
  k = pred[] convert(o)
  t = {} tuple(a, w)
  h2 = {} conditional(k, t, t), true_computation=yes, false_computation=no
)",
                                                           state, h);
    Check(Rename(LoopText(layout, 7, update, "tuple(zero, x, v, w)", branches), "h2, v2, w2)", "h2, v, w)"));
    std::string elements;
    const bool tall = layout.contracted == 1;
    for (int r = 0; r < (tall ? 20 : 12); ++r) {
      elements += r == 0 ? "{" : ", {";
      for (int c = 0; c < (tall ? 12 : 20); ++c)
        elements += fmt::format("{}{}", c == 0 ? "" : ", ", (r * 7 + c * 3) % 11 - 4.5);
      elements += "}";
    }
    const std::string constant =
        fmt::format("  u = {} constant({{{}}})\n", type, elements) + Dot(layout, "h2", "u");
    Check(Rename(LoopText(layout, 7, constant), "h2, v2, w2)", "h2, v, w)"));
    const std::string both = fmt::format(
        R"(  g = {0}[{1},{1}] dot(v, w), lhs_contracting_dims={{{2}}}, rhs_contracting_dims={{{2}}}
  f = {0}[5,12] slice(g), slice={{[0:5], [0:12]}}
  h2 = {0}[5,12] add(f, h)
)",
        layout.type, 20, layout.contracted);
    Check(Rename(LoopText(layout, 7, both), "h2, v2, w2)", "h2, v, w)"));
  }
}

TEST_CASE("dots in loops: what a run that failed has kept is forgotten", "[executor][dot]") {
  const Layout& layout = kLayouts[1];
  const std::string program = Rename(LoopText(layout, 9, Dot(layout, "h2", "w")), "h2, v2, w2)", "h2, v, w)");
  const Plan plan = PlanOf(program);
  const Plan reference = PlanOf(program, EngineChoice::kReference);
  bool stop = false;
  // The clock of polls moves every few milliseconds: it does before the poll behind step 30.
  struct Sleeper final : StepObserver {
    void Begin(const Computation&, const Step&) override {
      if (++steps == 30) std::this_thread::sleep_for(std::chrono::milliseconds(30));
    }
    void End() override {}
    void Part(Clock::time_point, Clock::time_point, int64_t, int64_t) override {}
    int steps = 0;
  } sleeper;
  RunOptions options;
  options.limits.max_steps = 1 << 20;  // polls each step
  options.interrupted = [&] { return stop && sleeper.steps >= 30; };
  Executor executor(plan, options);
  executor.Observe(&sleeper);
  const std::vector<Literal> first = DrawnArguments(reference, Draw::kNormal, 1);
  std::vector<Literal> second = first;
  stop = true;
  CHECK(!executor.Run(first).ok());
  stop = false;
  // Other bytes at the same place.
  for (std::byte& b : second[2].MutableBytes().subspan(0, 40)) b = std::byte{0x3f};
  const absl::StatusOr<Literal> result = executor.Run(second), wanted = Executor(reference, {}).Run(second);
  REQUIRE(result.ok());
  REQUIRE(wanted.ok());
  CHECK(Literal::BitwiseEqual(*wanted, *result));
}

}  // namespace
}  // namespace assay::testing
