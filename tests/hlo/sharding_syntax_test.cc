#include "hlo/sharding_syntax.h"

#include <catch2/catch.hpp>

namespace assay {
namespace {

std::string Canonical(std::string_view text) {
  const absl::StatusOr<std::string> canonical = CanonicalSdyAttribute(text);
  return canonical.ok() ? *canonical : std::string(canonical.status().message());
}

TEST_CASE("sharding syntax: canonical text is printed as it was", "[sharding]") {
  for (
      const std::string_view text : {
          R"(#sdy.mesh<["r"=2, "c"=2]>)",
          R"(#sdy.mesh<["a"=2], device_ids=[1, 0]>)",
          R"(#sdy.mesh<[], device_ids=[3]>)",
          R"(#sdy.mesh<[]>)",
          R"(#sdy.sharding<@mesh, [{"r", "c"}, {?}, {"d", ?}p1, {}], replicated={"x"}, unreduced={"y":(1)2}>)",
          R"(#sdy.sharding<@"a mesh", []>)",
          R"(#sdy.sharding<mesh<["x"=2]>, [{"x"}], unreduced=max {"y"}>)",
          R"(#sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{}]>]>)",
          R"(#sdy.sharding_per_value<[]>)",
          R"(#sdy<manual_axes{"r", "c"}>)",
          R"(#sdy.op_sharding_rule<([i, jk])->([kl], []) {i=12, j=3, k=2, l=1} reduction={j} need_replication={k, l}, custom>)",
          R"(#sdy.op_sharding_rule<([z_1z_2])->() {z_1=1, z_2=4} permutation={z_1} blocked_propagation={z_2}>)",
      }) {
    CHECK(Canonical(text) == text);
  }
}

TEST_CASE("sharding syntax: blanks, order and natural device ids make no difference", "[sharding]") {
  CHECK(Canonical(R"(#sdy.mesh< [ "r" = 2,"c"=2 ] , device_ids = [0,1,2,3] >)") ==
        R"(#sdy.mesh<["r"=2, "c"=2]>)");
  CHECK(Canonical(R"(#sdy.sharding<@m,[{"a":( 2 )4,?} p0],unreduced=sum{"b"},replicated={"c"}>)") ==
        R"(#sdy.sharding<@m, [{"a":(2)4, ?}p0], replicated={"c"}, unreduced={"b"}>)");
  CHECK(Canonical(R"(#sdy.op_sharding_rule<([i,j])->([i]){i=1,j=2}reduction={j},custom>)") ==
        R"(#sdy.op_sharding_rule<([i, j])->([i]) {i=1, j=2} reduction={j}, custom>)");
}

TEST_CASE("sharding syntax: quotes that were escaped twice are read", "[sharding]") {
  const auto shardings = ParseShardings(R"(#sdy.sharding_per_value<[<@mesh, [{\"c\"}]>]>)");
  REQUIRE(shardings.ok());
  CHECK(ToString(*shardings) == R"([<@mesh, [{"c"}]>])");
  const auto meshes = ParseMeshes(R"({mesh = #sdy.mesh<[\"r\"=2]>, "m n" = #sdy.mesh<[]>})");
  REQUIRE(meshes.ok());
  CHECK(MeshesText(*meshes) == R"({mesh = #sdy.mesh<["r"=2]>, "m n" = #sdy.mesh<[]>})");
}

TEST_CASE("sharding syntax: what is wrong is said at its place", "[sharding]") {
  const auto at = [](std::string_view text) {
    const absl::Status status = ParseSharding(text, {3, 10}).status();
    REQUIRE_FALSE(status.ok());
    return std::pair(PositionOf(status).value_or(SourcePosition{}).column, std::string(status.message()));
  };
  CHECK(at(R"(<@m, [{"a", ?, "b"}]>)").first == 24);
  CHECK(at(R"(<@m, [{"a"}p01]>)").second.find("SDY-V8") != std::string::npos);
  CHECK(at(R"(<@m, [{}], replicated={}>)").second.find("no axes") != std::string::npos);
  CHECK(at(R"(<@m, [{"a":(0)2}]>)").second.find("SDY-V6") != std::string::npos);
  CHECK(at(R"(<@m, [{}]> x)").second.find("want the end") != std::string::npos);
  CHECK(Canonical(R"(#sdy.mesh<["a"=2], device_ids=[]>)").find("SDY-V2") != std::string::npos);
  CHECK(Canonical(R"(#sdy.op_sharding_rule<([a])->()>)").find("not a list of factors") != std::string::npos);
}

}  // namespace
}  // namespace assay
