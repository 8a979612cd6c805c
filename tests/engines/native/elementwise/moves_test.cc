// Small moves of elements: the exact engine's kernels against the reference, on random shapes.
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/guard_pages.h"
#include "evaluator/ops/indexing/bitcast.h"
#include "fmt/format.h"
#include "run/inputs/random_inputs.h"
#include "shape/shape_text.h"
#include "tests/run/program_testing.h"
#include "tests/run/run_text.h"

namespace assay {
namespace {

using Sizes = std::vector<int64_t>;

std::string Of(const std::string& type, const Sizes& sizes) {
  return fmt::format("{}[{}]", type, fmt::join(sizes, ","));
}

// Runs the instruction by both engines on random inputs; it must have a kernel in the exact one.
void CheckSame(const std::string& parameters, const std::string& instruction) {
  const std::string text = R"(HloModule m
ENTRY e {
)" + parameters +
                           "  ROOT r = " + instruction + "\n}\n";
  INFO(text);
  const Program program = ProgramOf(text);
  const std::vector<Literal> inputs = RandomInputs(program.verified(), 7).value();
  const Plan reference = PlanOf(program, EngineChoice::kReference), exact = PlanOf(program);
  REQUIRE(exact.computations[0].steps.back().kernel != nullptr);
  Executor referee(reference, {}), executor(exact, {});
  const Literal wanted = referee.Run(inputs).value();
  CHECK(Literal::BitwiseEqual(executor.Run(inputs).value(), wanted));
  for (ArrayGuard guard : {ArrayGuard::kBehind, ArrayGuard::kInFront}) {
    const GuardedArrays guarded(guard);
    RunOptions threads;
    threads.jobs = 7;
    CHECK(Literal::BitwiseEqual(Executor(exact, threads).Run(inputs).value(), wanted));
  }
  CHECK(executor.statistics().steps == referee.statistics().steps);
}

class Shapes {
 public:
  explicit Shapes(uint64_t seed) : random_(seed) {}
  int64_t Below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }
  Sizes Some(int64_t rank) {
    Sizes sizes;
    for (int64_t d = 0; d < rank; ++d) sizes.push_back(1 + Below(5));
    return sizes;
  }
  std::string Type() {
    static const char* const kTypes[] = {"s8", "bf16", "f32", "f64", "c128"};
    return kTypes[Below(5)];
  }
  Sizes Permutation(int64_t rank) {
    Sizes order;
    for (int64_t d = 0; d < rank; ++d) order.push_back(d);
    std::shuffle(order.begin(), order.end(), random_);
    return order;
  }

 private:
  std::mt19937_64 random_;
};

std::string Parameter(int number, const std::string& shape) {
  return fmt::format("  p{0} = {1} parameter({0})\n", number, shape);
}

TEST_CASE("native pad: edges, padding inside and elements that go", "[native][moves]") {
  Shapes shapes(11);
  for (int round = 0; round < 300; ++round) {
    const Sizes from = shapes.Some(1 + shapes.Below(4));
    Sizes to;
    std::vector<std::string> padding;
    for (int64_t size : from) {
      const int64_t inside = shapes.Below(3) == 0 ? shapes.Below(4) : 0;
      const int64_t low = shapes.Below(2) == 0 ? 0 : shapes.Below(7) - 2;
      const int64_t all = size + (size - 1) * inside + low, high = std::max(shapes.Below(5) - 1, -all);
      if (all + high <= 0) break;
      to.push_back(all + high);
      padding.push_back(fmt::format("{}_{}_{}", low, high, inside));
    }
    if (to.size() < from.size()) continue;
    const std::string type = shapes.Type();
    CheckSame(fmt::format("  x = {} parameter(0)\n  v = {}[] parameter(1)\n", Of(type, from), type),
              fmt::format("{} pad(x, v), padding={}", Of(type, to), fmt::join(padding, "x")));
  }
}

TEST_CASE("native pad: rows of several tasks", "[native][moves]") {
  struct Case {
    Sizes from, to;
    const char* padding;
  };
  const Case cases[] = {{{70001}, {140003}, "1_1_1"},
                        {{70001}, {140000}, "-1_0_1"},
                        {{50000}, {250004}, "3_5_4"},
                        {{3, 40001}, {5, 80009}, "1_1_0x3_5_1"},
                        {{300, 5, 64}, {300, 11, 64}, "0_0_0x1_1_1x0_0_0"},
                        {{40000}, {100000}, "60000_0_0"}};
  for (const char* type : {"s8", "bf16", "f32", "f64", "c128"}) {
    for (const Case& c : cases)
      CheckSame(fmt::format("  x = {} parameter(0)\n  v = {}[] parameter(1)\n", Of(type, c.from), type),
                fmt::format("{} pad(x, v), padding={}", Of(type, c.to), c.padding));
  }
}

TEST_CASE("moves: static ones give the reference's elements", "[native][elementwise]") {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Shapes shapes(seed);
    const int64_t rank = 1 + shapes.Below(4);
    const Sizes sizes = shapes.Some(rank);
    const std::string type = shapes.Type(), array = Of(type, sizes);
    const Sizes order = shapes.Permutation(rank);

    Sizes permuted;
    for (int64_t d : order) permuted.push_back(sizes[d]);
    CheckSame(Parameter(0, array),
              fmt::format("{} transpose(p0), dimensions={{{}}}", Of(type, permuted), fmt::join(order, ",")));

    const Sizes some(order.begin(), order.begin() + shapes.Below(rank + 1));
    CheckSame(Parameter(0, array),
              fmt::format("{} reverse(p0), dimensions={{{}}}", array, fmt::join(some, ",")));

    std::string slice;
    Sizes taken;
    for (int64_t size : sizes) {
      const int64_t start = shapes.Below(size), limit = start + 1 + shapes.Below(size - start);
      const int64_t stride = 1 + shapes.Below(3);
      slice += fmt::format("{}[{}:{}:{}]", slice.empty() ? "" : ",", start, limit, stride);
      taken.push_back((limit - start + stride - 1) / stride);
    }
    CheckSame(Parameter(0, array), fmt::format("{} slice(p0), slice={{{}}}", Of(type, taken), slice));

    Sizes wide = sizes, dimensions;
    for (int64_t d = 0; d < rank; ++d) dimensions.push_back(d);
    const int64_t at = shapes.Below(rank + 1);
    wide.insert(wide.begin() + at, 1 + shapes.Below(4));
    for (int64_t d = at; d < rank; ++d) ++dimensions[d];
    CheckSame(Parameter(0, array),
              fmt::format("{} broadcast(p0), dimensions={{{}}}", Of(type, wide), fmt::join(dimensions, ",")));

    const int64_t along = shapes.Below(rank);
    Sizes other = sizes, joined = sizes;
    other[along] = 1 + shapes.Below(5);
    joined[along] += other[along] + sizes[along];
    CheckSame(Parameter(0, array) + Parameter(1, Of(type, other)),
              fmt::format("{} concatenate(p0, p1, p0), dimensions={{{}}}", Of(type, joined), along));
  }
}

TEST_CASE("moves: windows begin where the reference's do, whatever the start", "[native][elementwise]") {
  for (const std::string index : {"s8", "s32", "s64", "u8", "u64"}) {
    for (const std::string start : {"0", "1", "2", "3", "100", index[0] == 's' ? "-1" : "255",
                                    index == "u64" ? "18446744073709551615" : "5"}) {
      const std::string starts = fmt::format(R"(  i = {0}[] constant({1})
  z = {0}[] constant(1)
)",
                                             index, start);
      const std::string vector = fmt::format("  i = {0}[2] constant({{{1}, 1}})\n", index, start);
      const std::string p = Parameter(0, "f32[4,3]"), u = Parameter(1, "f32[2,2]");
      CheckSame(p + starts, "f32[2,2] dynamic-slice(p0, i, z), dynamic_slice_sizes={2,2}");
      CheckSame(p + vector, "f32[2,2] dynamic-slice(p0, i), dynamic_slice_sizes={2,2}");
      CheckSame(p + u + starts, "f32[4,3] dynamic-update-slice(p0, p1, i, z)");
      CheckSame(p + u + vector, "f32[4,3] dynamic-update-slice(p0, p1, i)");
    }
  }
}

bool HasKernel(const std::string& body) {
  const Plan plan = PlanOf(R"(HloModule m
ENTRY e {
)" + body + "\n}\n");
  return plan.computations[0].steps.back().kernel != nullptr;
}

TEST_CASE("moves: a bitcast that moves nothing gives the operand's bytes", "[native][elementwise][bitcast]") {
  CheckSame(Parameter(0, "f32[24]"), "f32[24,1] bitcast(p0)");
  CheckSame(Parameter(0, "f32[6,4]"), "f32[2,3,4] bitcast(p0)");
  CheckSame(Parameter(0, "f32[3,5]"), "s32[15] bitcast(p0)");
  CheckSame(Parameter(0, "s64[3]"), "u8[3,8] bitcast(p0)");
  CheckSame(Parameter(0, "s32[]"), "s32[1] bitcast(p0)");
  // 1.0, -2.0 and 0.5 of f32.
  const Literal bits = RunText(R"(HloModule m
ENTRY e {
  c = f32[3] parameter(0)
  ROOT r = u32[3,1] bitcast(c)
}
)",
                               {"f32[3] {1, -2, 0.5}"})
                           .value();
  CHECK(bits.GetInt(0) == 0x3f800000);
  CHECK(bits.GetInt(1) == 0xc0000000);
  CHECK(bits.GetInt(2) == 0x3f000000);
}

TEST_CASE("moves: a bitcast goes through memory as the layouts say", "[native][elementwise][bitcast]") {
  for (const auto& [operand, result] :
       std::vector<std::pair<std::string, std::string>>{{"f32[6,4]{0,1}", "f32[24]"},
                                                        {"f32[24]", "f32[6,4]{0,1}"},
                                                        {"f32[3,5,7]{0,2,1}", "f32[7,5,3]{1,0,2}"},
                                                        {"f32[6,4]{0,1}", "f32[4,6]"},
                                                        {"s32[3,5]{0,1}", "f32[15]"},
                                                        {"s64[3,2]{0,1}", "u8[8,6]{0,1}"},
                                                        {"u8[8,6]{0,1}", "s64[2,3]{0,1}"},
                                                        {"u8[48]", "c64[3,2]{0,1}"},
                                                        {"c128[3,2]{0,1}", "f32[24]"},
                                                        {"bf16[5,3]{0,1}", "bf16[13]"},
                                                        {"bf16[15]", "bf16[2,5]{0,1}"},
                                                        {"bf16[5,3]{0,1}", "bf16[2,7]{0,1}"},
                                                        {"s4[5,3]{0,1}", "s4[3,5]"},
                                                        {"f32[2,1,3]{0,2,1}", "f32[6]"},
                                                        {"f32[3,1,5]{2,0,1}", "f32[5,3]{0,1}"},
                                                        {"f32[5,3]{0,1}", "f32[3,1,5]{2,0,1}"},
                                                        {"f32[4,3]{0,1:S(2)}", "f32[12]"},
                                                        {"f32[300,70,5]{1,0,2}", "f32[105000]"}}) {
    CAPTURE(operand, result);
    CHECK(HasKernel("  p = " + operand + " parameter(0)\n  ROOT r = " + result + " bitcast(p)"));
    CheckSame(Parameter(0, operand), result + " bitcast(p0)");
  }
  // Memory: columns of the operand one behind the other, 1 4 2 5 3 6; rows of two make the result.
  const Literal moved = RunText(R"(HloModule m
ENTRY e {
  c = s32[2,3]{0,1} parameter(0)
  ROOT r = s32[3,2] bitcast(c)
}
)",
                                {"s32[2,3] {{1, 2, 3}, {4, 5, 6}}"})
                            .value();
  const int64_t wanted[] = {1, 4, 2, 5, 3, 6};
  for (int64_t i = 0; i < 6; ++i) CHECK(moved.GetInt(i) == wanted[i]);
}

TEST_CASE("moves: a dimension of size 1 may stand anywhere in a layout", "[native][elementwise][bitcast]") {
  for (const auto& [operand, result] : std::vector<std::pair<std::string, std::string>>{
           {"f32[3,1,5]{2,0,1}", "f32[15]"}, {"f32[15]", "f32[1,3,5]{0,2,1}"}, {"f32[1,1]{0,1}", "f32[]"}}) {
    CAPTURE(operand, result);
    CheckSame(Parameter(0, operand), result + " bitcast(p0)");
    const auto shape_of = [](const std::string& text) { return ParseShape(text).value(); };
    CHECK(BitcastKeepsBytes(shape_of(operand), shape_of(result)));
  }
}

TEST_CASE("moves: other bitcasts are the reference's", "[native][elementwise][bitcast]") {
  CHECK(!HasKernel(R"(  p = u8[6] parameter(0)
  ROOT r = pred[6] bitcast(p))"));
  CHECK(!HasKernel(R"(  p = u8[6] parameter(0)
  ROOT r = u4[6] bitcast(p))"));
  CHECK(!HasKernel(R"(  p = f32[4,4]{1,0:T(2,2)} parameter(0)
  ROOT r = f32[16] bitcast(p))"));
  CHECK(!HasKernel(R"(  p = s4[6] parameter(0)
  ROOT r = s4[3,2]{1,0:E(4)} bitcast(p))"));
  CHECK(!HasKernel(R"(  p = f32[<=6] parameter(0)
  ROOT r = f32[<=6] bitcast(p))"));
}

}  // namespace
}  // namespace assay
