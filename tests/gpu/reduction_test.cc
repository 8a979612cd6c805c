// Reductions that compute their operands, and reduces of several operands, by the engine "gpu" on the
// emulated driver.
#include <cmath>

#include "fmt/format.h"
#include "tests/gpu/device_programs.h"

namespace assay::gpu {
namespace {

constexpr std::string_view kSum = R"(add {{
  a = {0}[] parameter(0)
  b = {0}[] parameter(1)
  ROOT c = {0}[] add(a, b)
}}
)";
std::string SumOf(std::string_view type) { return fmt::format(fmt::runtime(kSum), type); }

// A reduce `r` of instruction `f` of a program of x and y.
std::string ReduceText(std::string_view type, std::string_view shape, std::string_view body,
                       std::string_view to, std::string_view dimensions) {
  return fmt::format(R"(HloModule m
{5}ENTRY e {{
  x = {0}{1} parameter(0)
  y = {0}{1} parameter(1)
  zero = {0}[] parameter(2)
  {2}
  ROOT r = {0}{3} reduce(f, zero), dimensions={4}, to_apply=add
}}
)",
                     type, shape, body, to, dimensions, SumOf(type));
}

struct Reduced {
  const char *shape, *to, *dimensions;
};
// Rows, columns, everything, the middle; with lanes, with threads, in parts.
constexpr Reduced kReduced[] = {{"[40,70]", "[40]", "{1}"},  {"[3,900]", "[3]", "{1}"},
                                {"[50,33]", "[33]", "{0}"},  {"[700,5]", "[5]", "{0}"},
                                {"[30,41]", "[]", "{0,1}"},  {"[5,60,7]", "[5,7]", "{1}"},
                                {"[1,9,1]", "[1,1]", "{1}"}, {"[6,1,4]", "[6,4]", "{1}"},
                                {"[9000]", "[]", "{0}"},     {"[2,3,40,2]", "[2]", "{1,2,3}"}};

void CheckFused(const std::string& text, const char* members, const char* algorithm) {
  CheckOnDevice(text);
  const std::string plan = PlanOfEqualRun(text);
  CHECK_THAT(plan, Catch::Contains(members));
  CHECK_THAT(plan, Catch::Contains(algorithm));
}

std::string SoftmaxText(std::string_view type, std::string_view shape) {
  return fmt::format(R"(HloModule m
{1}max {{
  a = {0}[] parameter(0)
  b = {0}[] parameter(1)
  ROOT c = {0}[] maximum(a, b)
}}
ENTRY e {{
  x = {0}{2} parameter(0)
  lowest = {0}[] constant(-inf)
  zero = {0}[] constant(0)
  m = {0}[12] reduce(x, lowest), dimensions={{1}}, to_apply=max
  mb = {0}{2} broadcast(m), dimensions={{0}}
  d = {0}{2} subtract(x, mb)
  n = {0}{2} exponential(d)
  s = {0}[12] reduce(n, zero), dimensions={{1}}, to_apply=add
  sb = {0}{2} broadcast(s), dimensions={{0}}
  ROOT r = {0}{2} divide(n, sb)
}}
)",
                     type, SumOf(type), shape);
}

// As jax.numpy.argmax has it.
std::string ArgmaxText(std::string_view type, std::string_view index, std::string_view order,
                       const Reduced& r, std::string_view operand) {
  return fmt::format(R"(HloModule m
choose {{
  a = {0}[] parameter(0)
  i = {1}[] parameter(1)
  b = {0}[] parameter(2)
  j = {1}[] parameter(3)
  gt = pred[] compare(a, b), direction={2}
  u = pred[] compare(a, a), direction=NE
  pick = pred[] or(gt, u)
  eq = pred[] compare(a, b), direction=EQ
  lt = pred[] compare(i, j), direction=LT
  tie = pred[] and(eq, lt)
  pick_i = pred[] or(pick, tie)
  v = {0}[] select(pick, a, b)
  k = {1}[] select(pick_i, i, j)
  ROOT t = ({0}[], {1}[]) tuple(v, k)
}}
ENTRY e {{
  x = {0}{3} parameter(0)
  lowest = {0}[] parameter(1)
  first = {1}[] constant(0)
  places = {1}{3} iota(), iota_dimension={6}
  f = {0}{3} {7}
  ROOT r = ({0}{4}, {1}{4}) reduce(f, places, lowest, first), dimensions={5}, to_apply=choose
}}
)",
                     type, index, order, r.shape, r.to, r.dimensions, r.dimensions[1], operand);
}

}  // namespace

TEST_CASE("sums of what their kernel computes", "[gpu][reduction]") {
  for (const char* type : {"f32", "bf16", "f16", "f64"}) {
    for (const Reduced& r : kReduced) {
      const std::string product = fmt::format("f = {}{} multiply(x, y)", type, r.shape);
      CheckFused(ReduceText(type, r.shape, product, r.to, r.dimensions), "fused: %f",
                 "exact sums, generated PTX");
    }
  }
}

TEST_CASE("sums of squares of differences, with what others read as well", "[gpu][reduction]") {
  const std::string text = fmt::format(R"(HloModule m
{0}ENTRY e {{
  x = f32[9,200] parameter(0)
  mean = f32[9] parameter(1)
  zero = f32[] constant(0)
  mb = f32[9,200] broadcast(mean), dimensions={{0}}
  g = f32[9,200] subtract(x, mb)
  q = f32[9,200] multiply(g, g)
  s = f32[9] reduce(q, zero), dimensions={{1}}, to_apply=add
  sb = f32[9,200] broadcast(s), dimensions={{0}}
  ROOT r = f32[9,200] divide(g, sb)
}}
)",
                                       SumOf("f32"));
  const std::string plan = PlanOfEqualRun(text);
  // The differences are made twice and never stored.
  CHECK_THAT(plan, Catch::Contains("fused: %mb %g %q"));
  CHECK_THAT(plan, Catch::Contains("entry e: 2 steps"));
  CheckOnDevice(text);
}

TEST_CASE("softmax makes its exponentials for the sum and for the quotient", "[gpu][reduction]") {
  for (const char* type : {"f32", "bf16", "f64"}) {
    const std::string text = SoftmaxText(type, "[12,77]");
    const std::string plan = PlanOfEqualRun(text);
    CHECK_THAT(plan, Catch::Contains("fused: %mb %d %n"));
    CHECK_THAT(plan, Catch::Contains("entry e: 3 steps"));
    CheckOnDevice(text);
  }
}

TEST_CASE("what two functions made is read and not made again", "[gpu][reduction]") {
  const std::string text = fmt::format(R"(HloModule m
{0}ENTRY e {{
  x = f32[9,200] parameter(0)
  zero = f32[] constant(0)
  a = f32[9,200] exponential(x)
  b = f32[9,200] tanh(a)
  s = f32[9] reduce(b, zero), dimensions={{1}}, to_apply=add
  sb = f32[9,200] broadcast(s), dimensions={{0}}
  ROOT r = f32[9,200] divide(b, sb)
}}
)",
                                       SumOf("f32"));
  CHECK_THAT(PlanOfEqualRun(text), Catch::Contains("entry e: 3 steps"));
}

TEST_CASE("elements that a fused sum's kernel leaves open are added", "[gpu][reduction]") {
  const std::string text = ReduceText("f64", "[7,90]", "f = f64[7,90] sine(x)", "[7]", "{1}");
  std::vector<Literal> arguments = RandomInputs(ProgramOf(text).verified(), 4).value();
  std::vector<double> angles;
  for (int i = 0; i < 7 * 90; ++i)
    angles.push_back(i % 40 == 3 || i > 600 ? std::ldexp(1.0 + i, 900) : 0.01 * i);
  arguments[0] = Literal::FromDoubles(ElementType::kF64, std::vector<int64_t>{7, 90}, angles);
  CHECK_THAT(PlanOfEqualRun(text, arguments), Catch::Contains("fused: %f"));
}

TEST_CASE("results that a fused sum's kernel leaves open are summed exactly", "[gpu][reduction]") {
  const std::string text = ReduceText("f32", "[5,64]", "f = f32[5,64] multiply(x, y)", "[5]", "{1}");
  std::vector<double> x(5 * 64, 0.0), y(5 * 64, 1.0);
  // Beside a tie by less than the pairs' bound, on either side of it.
  for (int row = 0; row < 5; ++row) {
    x[64 * row] = 1 + row % 2 * 0x1p-23;
    x[64 * row + 7] = 0x1p-24;
    x[64 * row + 33] = row < 2 ? 0x1p-140 : row == 2 ? 0 : -0x1p-140;
  }
  std::vector<Literal> arguments = RandomInputs(ProgramOf(text).verified(), 4).value();
  arguments[0] = Literal::FromDoubles(ElementType::kF32, std::vector<int64_t>{5, 64}, x);
  arguments[1] = Literal::FromDoubles(ElementType::kF32, std::vector<int64_t>{5, 64}, y);
  arguments[2] = Literal::FromDoubles(ElementType::kF32, std::vector<int64_t>{}, std::vector<double>{0});
  CHECK_THAT(PlanOfEqualRun(text, arguments), Catch::Contains("fused: %f"));
}

TEST_CASE("folds of what their kernel computes", "[gpu][reduction]") {
  for (const char* type : {"f32", "s32", "u8", "s4", "bf16", "s64", "f64"}) {
    for (const char* op : {"maximum", "minimum", "multiply"}) {
      if (std::string_view(op) == "multiply" && (type[0] == 'f' || type[0] == 'b')) continue;
      for (const Reduced& r : {kReduced[0], kReduced[2], kReduced[8]}) {
        std::string text =
            ReduceText(type, r.shape, fmt::format("f = {}{} add(x, y)", type, r.shape), r.to, r.dimensions);
        text.replace(text.find("add(a, b)"), 3, op);
        CheckFused(text, "fused: %f", "in any order, generated PTX");
      }
    }
  }
  const std::string both = fmt::format(R"(HloModule m
all {{
  a = pred[] parameter(0)
  b = pred[] parameter(1)
  ROOT c = pred[] and(a, b)
}}
ENTRY e {{
  x = f32[30,50] parameter(0)
  y = f32[30,50] parameter(1)
  yes = pred[] constant(true)
  f = pred[30,50] compare(x, y), direction=NE
  ROOT r = pred[30] reduce(f, yes), dimensions={{1}}, to_apply=all
}}
)");
  CheckFused(both, "fused: %f", "in any order, generated PTX");
}

TEST_CASE("argmax and argmin keep the order of their elements", "[gpu][reduction]") {
  for (const char* type : {"f32", "s32", "bf16", "f64"}) {
    const bool is_common = std::string_view(type) == "f32";
    for (const Reduced& r : {kReduced[0], kReduced[2], kReduced[1], kReduced[3], kReduced[8]}) {
      if (!is_common && r.shape != kReduced[0].shape && r.shape != kReduced[2].shape) continue;
      for (const char* order : {"GT", "LT"}) {
        const std::string text = ArgmaxText(type, "s32", order, r, "negate(x)");
        CheckOnDevice(text, 3);
        const std::string plan = PlanOfEqualRun(text);
        CHECK_THAT(plan, Catch::Contains("fused: "));
        CHECK_THAT(plan, Catch::Contains("in order, generated PTX"));
      }
    }
  }
}

TEST_CASE("a reduce of several operands whose order shows is the CPU's", "[gpu][reduction]") {
  // Without a rule for NaN the first operand does not stay: the order of combinations shows.
  std::string text = ArgmaxText("f32", "s32", "GT", kReduced[0], "negate(x)");
  const std::string nan = "u = pred[] compare(a, a), direction=NE";
  text.replace(text.find(nan), nan.size(), "u = pred[] compare(a, a), direction=GT");
  CHECK_THAT(PlanOfEqualRun(text), Catch::Contains("the order of the reducer affects the result"));
}

}  // namespace assay::gpu
