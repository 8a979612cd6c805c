#include "hlo/mesh.h"

#include <catch2/catch.hpp>

#include "hlo/sharding_syntax.h"

namespace assay {
namespace {

std::string LabelOf(const absl::Status& status) {
  const std::string message(status.message());
  const size_t at = message.find("SDY-V");
  return at == std::string::npos ? message : message.substr(at, message.find(':', at) - at);
}

std::string MeshLabel(std::string_view mesh) { return LabelOf(ParseMesh(mesh).status()); }

std::string Label(std::string_view mesh, std::string_view sharding, int64_t rank) {
  const auto parsed_mesh = ParseMesh(mesh);
  const auto parsed = ParseSharding(sharding);
  REQUIRE(parsed_mesh.ok());
  REQUIRE(parsed.ok());
  return LabelOf(CheckSharding(*parsed, *parsed_mesh, rank));
}

TEST_CASE("mesh: sizes, names and device ids", "[sharding][SDY-V1][SDY-V2]") {
  CHECK(MeshLabel(R"(<["a"=1, "b"=4], device_ids=[3, 2, 1, 0]>)").empty());
  CHECK(MeshLabel(R"(<[], device_ids=[7]>)").empty());
  CHECK(MeshLabel(R"(<["a"=0]>)") == "SDY-V1");
  CHECK(MeshLabel(R"(<["a"=2, "a"=2]>)") == "SDY-V1");
  CHECK(MeshLabel(R"(<["a"=2], device_ids=[-1, 0]>)") == "SDY-V1");
  CHECK(MeshLabel(R"(<["a"=4611686018427387904, "b"=4]>)") == "SDY-V1");
  CHECK(MeshLabel(R"(<[], device_ids=[0, 1]>)") == "SDY-V2");
  CHECK(MeshLabel(R"(<["a"=2], device_ids=[0, 2]>)") == "SDY-V2");
  CHECK(MeshLabel(R"(<["a"=2], device_ids=[0]>)") == "SDY-V2");
}

TEST_CASE("mesh: more axes than any program has are refused", "[sharding]") {
  std::string text = "<[";
  for (size_t i = 0; i <= kMaxMeshAxes; ++i) text += (i == 0 ? "\"" : ", \"") + std::to_string(i) + "\"=1";
  const absl::Status status = ParseMesh(text + "]>").status();
  CHECK(ExitCodeOf(status) == 4);
  CHECK(status.message().find("1025 axes") != absl::string_view::npos);
}

TEST_CASE("sharding: rank and axes", "[sharding][SDY-V4][SDY-V5]") {
  constexpr std::string_view kMesh = R"(<["a"=2, "b"=8, "one"=1]>)";
  CHECK(Label(kMesh, R"(<@m, [{"a"}, {"b":(1)2}, {"b":(2)4}]>)", 3).empty());
  CHECK(Label(kMesh, R"(<@m, [{"a"}]>)", 2) == "SDY-V4");
  CHECK(Label(R"(<[], device_ids=[0]>)", R"(<@m, []>)", 2).empty());
  CHECK(Label(R"(<[], device_ids=[0]>)", R"(<@m, [{}]>)", 1) == "SDY-V4");
  CHECK(Label(kMesh, R"(<@m, [{"c"}]>)", 1) == "SDY-V5");
  CHECK(Label(kMesh, R"(<@m, [{"a"}, {"a"}]>)", 2) == "SDY-V5");
  CHECK(Label(kMesh, R"(<@m, [{"a"}], replicated={"a"}>)", 1) == "SDY-V5");
  CHECK(Label(kMesh, R"(<@m, [{"b"}], unreduced={"b":(1)2}>)", 1) == "SDY-V5");
  CHECK(Label(kMesh, R"(<@m, [{"b":(1)4}, {"b":(2)4}]>)", 2) == "SDY-V5");
  CHECK(Label(kMesh, R"(<@m, [{"one"}, {"one"}]>)", 2) == "SDY-V5");
}

TEST_CASE("sharding: parts of axes and the mesh's order", "[sharding][SDY-V6][SDY-V7][SDY-V8]") {
  constexpr std::string_view kMesh = R"(<["a"=2, "b"=8]>)";
  CHECK(Label(kMesh, R"(<@m, [{"b":(1)8}]>)", 1) == "SDY-V6");
  CHECK(Label(kMesh, R"(<@m, [{"b":(1)3}]>)", 1) == "SDY-V6");
  CHECK(Label(kMesh, R"(<@m, [{"b":(4)4}]>)", 1) == "SDY-V6");
  CHECK(Label(kMesh, R"(<@m, [{"b":(1)2, "b":(2)2}]>)", 1) == "SDY-V6");
  CHECK(Label(kMesh, R"(<@m, [{"b":(2)2, "b":(1)2}]>)", 1).empty());
  CHECK(Label(kMesh, R"(<@m, [{}], replicated={"b", "a"}>)", 1) == "SDY-V7");
  CHECK(Label(kMesh, R"(<@m, [{}], unreduced={"b":(4)2, "b":(1)2}>)", 1) == "SDY-V7");
  CHECK(Label(kMesh, R"(<@m, [{}], unreduced={"a", "b":(1)2, "b":(4)2}>)", 1).empty());
  CHECK(Label(kMesh, R"(<@m, [{}p1]>)", 1) == "SDY-V8");
  CHECK(Label(kMesh, R"(<@m, [{?}p1]>)", 1).empty());
}

}  // namespace
}  // namespace assay
