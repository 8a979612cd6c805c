#include "hlo/manual_region.h"

#include <catch2/catch.hpp>

#include "hlo/sharding_syntax.h"
#include "hlo/text/parser.h"

namespace assay {
namespace {

// As XLA prints JAX's shard_map of two arrays.
constexpr std::string_view kTwoResults = R"(
HloModule m, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["r"=2, "c"=2]>, empty_mesh = #sdy.mesh<[]>}}

xla.sdy.manual_computation_body.2 {
  a = s32[2,2] parameter(0)
  b = s32[] parameter(1)
  ROOT t = (s32[2,2], s32[]) tuple(a, b)
}

other {
  ROOT c = s32[] constant(1)
}

ENTRY main {
  x = s32[4,4] parameter(0)
  y = s32[] parameter(1)
  in = (s32[2,2], s32[]) custom-call(x, y), custom_call_target="xla.sdy.GlobalToLocalShape", custom_call_has_side_effect=true, frontend_attributes={xla.sdy.in_shardings="#sdy.sharding_per_value<[<@mesh, [{\"r\"}, {\"c\"}]>, <@empty_mesh, []>]>",xla.sdy.manual_axes="#sdy<manual_axes{\"r\", \"c\"}>"}
  in.0 = s32[2,2] get-tuple-element(in), index=0
  in.1 = s32[] get-tuple-element(in), index=1
  body = (s32[2,2], s32[]) call(in.0, in.1), to_apply=xla.sdy.manual_computation_body.2, frontend_attributes={inlineable="false"}
  body.0 = s32[2,2] get-tuple-element(body), index=0
  body.1 = s32[] get-tuple-element(body), index=1
  out = (s32[2,4], s32[]) custom-call(body.0, body.1), custom_call_target="xla.sdy.LocalToGlobalShape", custom_call_has_side_effect=true, frontend_attributes={xla.sdy.manual_axes="#sdy<manual_axes{\"r\", \"c\"}>",xla.sdy.out_shardings="#sdy.sharding_per_value<[<@mesh, [{}, {\"c\"}]>, <@mesh, []>]>"}
  one = s32[] call(), to_apply=other
  ROOT root = s32[2,4] get-tuple-element(out), index=0
}
)";

TEST_CASE("manual region: found by its borders, whose shardings are read", "[sharding][SDY-27]") {
  const auto module = ParseHloText(kTwoResults);
  REQUIRE(module.ok());
  const Computation& main = module->entry_computation();
  const std::vector<ManualRegion> regions = ManualRegionsOf(*module, main);
  REQUIRE(regions.size() == 1);
  const auto named = [&](int32_t index) { return main.instructions.at(static_cast<size_t>(index)).name; };
  CHECK(named(regions[0].call) == "body");
  CHECK(named(regions[0].enter) == "in");
  CHECK(named(regions[0].leave) == "out");
  const auto meshes = MeshesOf(*module);
  REQUIRE(meshes.ok());
  CHECK(MeshesText(*meshes) == R"({mesh = #sdy.mesh<["r"=2, "c"=2]>, empty_mesh = #sdy.mesh<[]>})");
  const auto in = BorderOf(*meshes, main.instructions[static_cast<size_t>(regions[0].enter)]);
  REQUIRE(in.ok());
  CHECK(in->enters);
  CHECK(ToString(in->mesh) == R"(<["r"=2, "c"=2]>)");
  CHECK(AxesText(in->manual_axes) == R"({"r", "c"})");
  CHECK(ToString(in->shardings) == R"([<@mesh, [{"r"}, {"c"}]>, <@empty_mesh, []>])");
  const auto out = BorderOf(*meshes, main.instructions[static_cast<size_t>(regions[0].leave)]);
  REQUIRE(out.ok());
  CHECK_FALSE(out->enters);
  CHECK(ToString(out->shardings) == R"([<@mesh, [{}, {"c"}]>, <@mesh, []>])");
}

TEST_CASE("manual region: a mesh that nobody named, and two of them", "[sharding][SDY-V3][SDY-V14]") {
  const auto module = ParseHloText(kTwoResults);
  REQUIRE(module.ok());
  const Instruction& in = module->entry_computation().instructions[2];
  const std::vector<NamedMesh> none;
  CHECK(BorderOf(none, in).status().message().find("SDY-V3") != absl::string_view::npos);
  const std::vector<NamedMesh> two = {{"mesh", *ParseMesh(R"(<["r"=2, "c"=2]>)")},
                                      {"empty_mesh", *ParseMesh(R"(<["x"=2]>)")}};
  CHECK(BorderOf(two, in).status().message().find("SDY-V14") != absl::string_view::npos);
}

}  // namespace
}  // namespace assay
