// Radii on two devices, whose sums are 10 and 20: of three additions each, g = 3 half ulps
// of what is summed and two roundings, so 50 and 100 halves of the ulp of 1.
#include <cmath>

#include "check/conformance.h"
#include "evaluator/grid/device_grid.h"
#include "tests/check/bounds_testing.h"

namespace assay::testing {
namespace {

constexpr char kSums[] = R"(HloModule m, replica_count=2
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
largest { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] maximum(a, b) }
BODY
ENTRY e { x = f32[4] parameter(0)
  zero = f32[] constant(0)
  sum = f32[] reduce(x, zero), dimensions={0}, to_apply=add
REST }
)";

absl::StatusOr<BoundedOutputs> OnTwoDevices(const std::string& rest, const std::string& body = "") {
  std::string text = kSums;
  text.replace(text.find("BODY"), 4, body);
  text.replace(text.find("REST"), 4, rest);
  const absl::StatusOr<Program> program = Program::Load("test.hlo", text);
  INFO(program.status());
  REQUIRE(program.ok());
  const absl::StatusOr<DeviceGrid> grid =
      ResolveDeviceGrid(program->module(), {.replicas = 0, .partitions = 0});
  REQUIRE(grid.ok());
  REQUIRE(grid->size() == 2);
  std::vector<DeviceInputs> inputs(2);
  inputs[0].arguments = {Literal::FromDoubles(ElementType::kF32, {{4}}, {{1, 2, 3, 4}})};
  inputs[1].arguments = {Literal::FromDoubles(ElementType::kF32, {{4}}, {{2, 4, 6, 8}})};
  return RunWithBounds(*program, *ParseProfile("test", "inherit strict\n"), *grid, std::move(inputs),
                       RunOptions());
}

// In halves of the ulp of 1.
std::vector<double> RadiiOnTwoDevices(const std::string& rest) {
  const absl::StatusOr<BoundedOutputs> bounded = OnTwoDevices(rest);
  INFO(bounded.status());
  REQUIRE(bounded.ok());
  REQUIRE(bounded->outputs.size() == 2);
  CHECK(bounded->outputs[0].key == "r0p0/out0");
  CHECK(bounded->outputs[1].key == "r1p0/out0");
  std::vector<double> radii;
  for (const BoundedOutput& output : bounded->outputs)
    radii.push_back(std::ldexp(output.radius->GetDouble(0), 24));
  return radii;
}

}  // namespace

TEST_CASE("bounds: each device has its own radii", "[check][bounds]") {
  const std::vector<double> radii = RadiiOnTwoDevices("  ROOT r = f32[] negate(sum)");
  CHECK(radii[0] == Approx(50).epsilon(1e-4));
  CHECK(radii[1] == Approx(100).epsilon(1e-4));
}

// Two terms: 50 + 100 + 2 (10 + 20), and two roundings of 30.
TEST_CASE("bounds: a sum over devices has as many terms as its group", "[check][bounds]") {
  for (const double radius :
       RadiiOnTwoDevices("  ROOT r = f32[] all-reduce(sum), replica_groups={{0,1}}, to_apply=add"))
    CHECK(radius == Approx(270).epsilon(1e-4));
}

TEST_CASE("bounds: radii move between devices as values do", "[check][bounds]") {
  const std::vector<double> sent =
      RadiiOnTwoDevices("  ROOT r = f32[] collective-permute(sum), source_target_pairs={{0,1}}");
  CHECK(sent[0] == 0);
  CHECK(sent[1] == Approx(50).epsilon(1e-4));
  for (const double radius :
       RadiiOnTwoDevices("  ROOT r = f32[] all-reduce(sum), replica_groups={{0,1}}, to_apply=largest"))
    CHECK(radius == Approx(100).epsilon(1e-4));
}

TEST_CASE("bounds: collectives that may not run are refused on several devices", "[check][bounds]") {
  const absl::StatusOr<BoundedOutputs> bounded = OnTwoDevices(
      "  ten = f32[] constant(10)\n  more = pred[] compare(sum, ten), direction=GE\n"
      "  ROOT branch = f32[] conditional(more, sum, sum), true_computation=there, false_computation=here",
      "there { t = f32[] parameter(0)\n  ROOT r = f32[] all-reduce(t), replica_groups={{0,1}}, to_apply=add "
      "}\n"
      "here { t = f32[] parameter(0)\n  ROOT r = f32[] all-reduce(t), replica_groups={{0,1}}, "
      "to_apply=largest }\n");
  REQUIRE_FALSE(bounded.ok());
  CHECK(std::string(bounded.status().message()).find("whether the collectives in 'branch' run") !=
        std::string::npos);
}

TEST_CASE("bounds: what another device sends is undecided", "[check][bounds]") {
  const absl::StatusOr<BoundedOutputs> bounded = OnTwoDevices(
      "  t = token[] after-all()\n"
      "  s = (f32[], u32[], token[]) send(sum, t), channel_id=1, "
      "frontend_attributes={_xla_send_recv_source_target_pairs=\"{{0,1},{1,0}}\"}\n"
      "  sd = token[] send-done(s), channel_id=1\n"
      "  v = (f32[], u32[], token[]) recv(t), channel_id=1, "
      "frontend_attributes={_xla_send_recv_source_target_pairs=\"{{0,1},{1,0}}\"}\n"
      "  rd = (f32[], token[]) recv-done(v), channel_id=1\n  ROOT r = f32[] get-tuple-element(rd), index=0");
  INFO(bounded.status());
  REQUIRE(bounded.ok());
  CHECK(bounded->unchecked.size() == 1);
  CHECK(bounded->outputs[0].radius->GetDouble(0) == std::numeric_limits<double>::infinity());
}

}  // namespace assay::testing
