// Whatever is not decided by proof has a reason: of every golden and every real program.
#include "check/why/reason.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/file_io.h"
#include "check/golden/golden.h"
#include "devices/device_io.h"
#include "evaluator/grid/device_grid.h"
#include "literal/npz.h"
#include "run/inputs/program_io.h"

namespace assay::testing {
namespace {

namespace fs = std::filesystem;

Profile NamedProfile(const std::string& name) {
  absl::StatusOr<Profile> profile = LoadProfile(name);
  INFO(profile.status());
  REQUIRE(profile.ok());
  return *std::move(profile);
}

struct Compared {
  std::vector<Conformance> outputs;
  std::vector<Reason> reasons;
};

// The exact outputs, or those of `actual`, against the profile.
absl::StatusOr<Compared> Compare(const Program& program, const Profile& profile,
                                 std::vector<DeviceInputs> inputs, int64_t samples,
                                 const std::map<std::string, NpyArray>* actual = nullptr) {
  const DeviceGrid grid;
  const RunOptions options;
  const EstimateOptions estimate{samples, 42};
  ASSAY_ASSIGN_OR_RETURN(BoundedOutputs bounded, RunWithBounds(program, profile, grid, inputs, options));
  ASSAY_RETURN_IF_ERROR(
      AddSamples(program, profile, grid, inputs[0], options, estimate, bounded.outputs).status());
  Compared compared;
  for (const BoundedOutput& output : bounded.outputs) {
    Literal value = output.exact;
    if (actual != nullptr) {
      ASSAY_ASSIGN_OR_RETURN(value, DecodeNpy(output.key, actual->at(output.key), output.exact.shape()));
    }
    compared.outputs.push_back(CompareToBounds(output, &value));
  }
  const ReasonsFor comparison{program,  profile,     inputs[0].arguments,     options,
                              estimate, EnginesOf(), "assay diff … --isolate"};
  ASSAY_ASSIGN_OR_RETURN(compared.reasons, ReasonsOf(comparison, bounded, compared.outputs));
  return compared;
}

// Of every output that is not decided by proof a whole reason, and of no other. Returns how many there are.
size_t CheckReasons(const Compared& compared) {
  size_t next = 0;
  for (const Conformance& output : compared.outputs) {
    if (output.plausible + output.implausible + output.unchecked == 0) continue;
    INFO(output.key);
    REQUIRE(next < compared.reasons.size());
    const Reason& reason = compared.reasons[next++];
    CHECK(reason.key == output.key);
    CHECK(reason.plausible == output.plausible);
    CHECK(reason.implausible == output.implausible);
    CHECK(reason.undecided == output.unchecked);
    CHECK_FALSE(reason.first.instruction.empty());
    CHECK_FALSE(reason.first.op.empty());
    INFO(WhyOf(reason));
    CHECK_FALSE(reason.first.why.empty());
    CHECK(reason.first.why.find("not found out") == std::string::npos);
    CHECK_FALSE(reason.next.empty());
  }
  CHECK(next == compared.reasons.size());
  return next;
}

std::string LoopText(const std::string& body, int iterations) {
  return R"(HloModule m
body {
  s = (s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
)" + body +
         R"(  ROOT t = (s32[], f32[]) tuple(j, z)
}
test {
  s = (s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant()" +
         std::to_string(iterations) + R"()
  ROOT p = pred[] compare(i, n), direction=LT
}
ENTRY e {
  x = f32[] parameter(0)
  zero = s32[] constant(0)
  s = (s32[], f32[]) tuple(zero, x)
  w = (s32[], f32[]) while(s), condition=test, body=body
  ROOT r = f32[] get-tuple-element(w), index=1
})";
}

Compared CompareText(const std::string& text, std::vector<Literal> arguments, const std::string& profile,
                     int64_t samples) {
  const absl::StatusOr<Program> program = Program::Load("test.hlo", text);
  INFO(program.status());
  REQUIRE(program.ok());
  std::vector<DeviceInputs> inputs(1);
  inputs[0].arguments = std::move(arguments);
  absl::StatusOr<Compared> compared = Compare(*program, NamedProfile(profile), std::move(inputs), samples);
  INFO(compared.status());
  REQUIRE(compared.ok());
  return *std::move(compared);
}

}  // namespace

TEST_CASE("why: every golden's outputs that are not proven have a reason", "[why]") {
  const Profile profile = NamedProfile("xla-cpu");
  size_t programs = 0, reasons = 0;
  for (const std::string& path : FindGoldens({ASSAY_SOURCE_DIR "/golden"}).files) {
    INFO(path);
    const absl::StatusOr<std::string> text = ReadFile(path);
    REQUIRE(text.ok());
    const absl::StatusOr<Golden> golden = ParseGolden(*text);
    if (!golden.ok() || golden->refuse_code || !golden->inputs_file.empty()) continue;
    const absl::StatusOr<Program> program = Program::Load(path, golden->program);
    if (!program.ok() || program->has_free_dimensions()) continue;
    const absl::StatusOr<DeviceGrid> grid = ResolveDeviceGrid(program->module(), golden->devices);
    if (!grid.ok() || grid->replicas * grid->partitions != 1) continue;
    absl::StatusOr<std::vector<DeviceInputs>> inputs =
        InputsOfDevices(program->verified(), *grid, golden->inputs);
    if (!inputs.ok()) continue;
    const absl::StatusOr<Compared> compared = Compare(*program, profile, *std::move(inputs), /*samples=*/0);
    if (!compared.ok()) continue;  // dynamic dimensions, limits, and what fails in the run: others' tests
    ++programs;
    reasons += CheckReasons(*compared);
  }
  CHECK(programs > 1500);
  CHECK(reasons > 20);
}

TEST_CASE("why: real programs' outputs that are not proven have a reason", "[why]") {
  const Profile profile = NamedProfile("xla-cpu");
  size_t reasons = 0;
  for (const auto& entry : fs::directory_iterator(ASSAY_SOURCE_DIR "/golden/programs")) {
    if (!entry.is_directory() || entry.path().filename() == "random_draws") continue;
    INFO(entry.path());
    const absl::StatusOr<std::string> text = ReadFile(entry.path() / "program.hlo");
    REQUIRE(text.ok());
    const absl::StatusOr<Program> program = Program::Load("program.hlo", *text);
    REQUIRE(program.ok());
    const auto arrays = ReadNpzFile(entry.path() / "inputs.npz");
    const auto actual = ReadNpzFile(entry.path() / "xla_cpu.npz");
    REQUIRE(arrays.ok());
    REQUIRE(actual.ok());
    const absl::StatusOr<DeviceGrid> grid =
        ResolveDeviceGrid(program->module(), {.replicas = 0, .partitions = 0});
    REQUIRE(grid.ok());
    absl::StatusOr<std::vector<DeviceInputs>> inputs = InputsOfDevices(program->verified(), *grid, *arrays);
    INFO(inputs.status());
    REQUIRE(inputs.ok());
    const absl::StatusOr<Compared> compared =
        Compare(*program, profile, *std::move(inputs), /*samples=*/3, &*actual);
    INFO(compared.status());
    REQUIRE(compared.ok());
    reasons += CheckReasons(*compared);
  }
  CHECK(reasons > 5);
}

TEST_CASE("why: a missing rule, each output by its own", "[why]") {
  const Literal numbers = Literal::FromDoubles(ElementType::kF32, {{4}}, {{1, 2, 3, 4}});
  const Compared compared = CompareText(R"(HloModule m
squashed { a = f32[] parameter(0)
  b = f32[] parameter(1)
  h = f32[] tanh(b)
  ROOT s = f32[] add(a, h) }
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
ENTRY e {
  x = f32[4] parameter(0)
  zero = f32[] constant(0)
  n = f32[4] negate(x)
  c = f32[] reduce(x, zero), dimensions={0}, to_apply=squashed
  ten = f32[] constant(10)
  sum = f32[] reduce(x, zero), dimensions={0}, to_apply=add
  d = f32[] subtract(sum, ten)
  l = f32[] log(d)
  ROOT t = (f32[4], f32[], f32[]) tuple(n, c, l)
})",
                                        {numbers}, "xla-cpu", 4);
  REQUIRE(CheckReasons(compared) == 2);
  const Reason& first = compared.reasons[0];
  CHECK(first.key == "out1");
  CHECK(first.first.instruction == "c");
  CHECK(first.lacks_rule);
  CHECK(ElementsOf(first) == "1 plausible element");
  CHECK(first.next.find("the rule that is missing is that of 'reduce'") == 0);
  CHECK(first.next.find("every other instruction alone: assay diff … --isolate") != std::string::npos);
  // 1 + 2 + 3 + 4 - 10 is 0 but for rounding.
  const Reason& second = compared.reasons[1];
  CHECK(second.key == "out2");
  CHECK(second.first.instruction == "l");
  CHECK_FALSE(second.lacks_rule);
  CHECK(second.next.find("check every instruction alone: assay diff … --isolate") == 0);
}

TEST_CASE("why: subnormal arguments that a profile may flush", "[why]") {
  const Literal tiny = Literal::FromDoubles(ElementType::kF32, {{2}}, {{1e-40, 1}});
  const Compared compared = CompareText(
      "HloModule m\nENTRY e {\n  x = f32[2] parameter(0)\n  o = f32[2] constant({1, 1})\n"
      "  ROOT d = f32[2] divide(o, x)\n}\n",
      {tiny}, "xla-cpu", 4);
  CHECK(CheckReasons(compared) == 1);
  CHECK(compared.reasons[0].first.instruction == "d");
  CHECK_FALSE(compared.reasons[0].lacks_rule);
}

TEST_CASE("why: the iteration of a chaotic loop in which samples part", "[why]") {
  // The logistic map about doubles errors: after 21 iterations or more an ulp is an eighth of the value.
  const Compared compared = CompareText(LoopText(R"(  r = f32[] constant(3.9)
  e = f32[] constant(1)
  y = f32[] subtract(e, x)
  xy = f32[] multiply(x, y)
  z = f32[] multiply(r, xy)
)",
                                                 200),
                                        {Literal::ScalarDouble(ElementType::kF32, 0.3)}, "xla-cpu", 8);
  CHECK(CheckReasons(compared) == 1);
  const Reason& reason = compared.reasons[0];
  CHECK(reason.undecided == 1);
  REQUIRE(reason.parting.has_value());
  CHECK(reason.parting->at.inside == "w");
  CHECK(reason.parting->at.iteration >= 18);
  CHECK(reason.parting->at.iteration < 80);
  CHECK(reason.first.iteration < reason.parting->at.iteration);
  CHECK(reason.parting->spread > 0.125 * reason.parting->magnitude);
  CHECK(PartingOf(reason).find("the samples part at '%") == 0);
}

TEST_CASE("why: samples that leave a loop after different numbers of iterations", "[why]") {
  // x is halved until it is below what rounding decides, and what is counted by then is squared often.
  const std::string text = R"(HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
body {
  s = (f32[], f32[]) parameter(0)
  x = f32[] get-tuple-element(s), index=0
  c = f32[] get-tuple-element(s), index=1
  g = f32[] constant(1.0000001)
  k = f32[] constant(1000)
  y = f32[] multiply(x, g)
  d = f32[] multiply(c, k)
  ROOT t = (f32[], f32[]) tuple(y, d)
}
test {
  s = (f32[], f32[]) parameter(0)
  x = f32[] get-tuple-element(s), index=0
  n = f32[] constant(60.0000076)
  ROOT p = pred[] compare(x, n), direction=LT
}
ENTRY e {
  x = f32[64] parameter(0)
  z = f32[] constant(0)
  sum = f32[] reduce(x, z), dimensions={0}, to_apply=add
  one = f32[] constant(1)
  s = (f32[], f32[]) tuple(sum, one)
  w = (f32[], f32[]) while(s), condition=test, body=body
  ROOT r = f32[] get-tuple-element(w), index=1
})";
  std::vector<double> numbers;
  for (int k = 0; k < 64; ++k) numbers.push_back(60.0 / 64 + (k % 2 == 0 ? 0.3 : -0.3) * (k / 2) / 31);
  const Compared compared =
      CompareText(text, {Literal::FromDoubles(ElementType::kF32, {{64}}, numbers)}, "xla-cpu", 8);
  CHECK(CheckReasons(compared) == 1);
  const Reason& reason = compared.reasons[0];
  REQUIRE(reason.parting.has_value());
  CHECK(reason.parting->at.instruction == "w");
  CHECK(reason.parting->at.why.find("they leave the loop after") == 0);
}

TEST_CASE("why: text names all outputs of one reason in a line", "[why]") {
  Reason reason;
  reason.first = {"z", "multiply", "w", 12, "the result may overflow, or an operand is infinite"};
  reason.next = "look";
  std::vector<Reason> reasons;
  for (int k = 0; k < 8; ++k) {
    reason.key = "out" + std::to_string(k);
    reason.plausible = 2;
    reason.undecided = k == 3 ? 1 : 0;
    reasons.push_back(reason);
  }
  CHECK(TextOf(reasons) ==
        "out0, out1, out2, out3, out4, out5 and 2 more: nothing is proven of 16 plausible and 1 undecided "
        "elements "
        "from '%z = multiply' in '%w', iteration 12 on: the result may overflow, or an operand is infinite\n"
        "  next: look\n");
}

}  // namespace assay::testing
