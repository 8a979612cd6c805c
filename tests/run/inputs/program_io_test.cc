#include "run/inputs/program_io.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/run/program_testing.h"
#include "tests/run/run_text.h"

namespace assay {
namespace {

VerifiedModule Verified(const std::string& parameters) {
  return ProgramOf(R"(HloModule m
ENTRY e {
)" + parameters + R"(
  ROOT r = () tuple()
}
)")
      .verified();
}

using Values = std::map<std::string, Literal>;

TEST_CASE("program io: results are named by their place in the root", "[program_io]") {
  const NamedLiterals bare = ResultsOf(Value("f32[2] {1, 2}"));
  REQUIRE(bare.size() == 1);
  CHECK(bare[0].first == "out0");

  const absl::StatusOr<Literal> root = RunText(
      R"(HloModule m
ENTRY e {
  a = s32[] constant(1)
  t = token[] after-all()
  e = () tuple()
  i = (s32[], token[], (), s32[]) tuple(a, t, e, a)
  ROOT r = (token[], s32[], (s32[], token[], (), s32[])) tuple(t, a, i)
}
)",
      {});
  REQUIRE(root.ok());
  std::vector<std::string> keys;
  for (const auto& [key, value] : ResultsOf(*root)) keys.push_back(key);
  CHECK(keys == std::vector<std::string>{"out1", "out2.0", "out2.3"});
}

TEST_CASE("program io: results of a run-time size are cropped", "[program_io]") {
  const VerifiedModule module = Verified("  p = s32[<=2,<=3] parameter(0)");
  const auto arguments = ArgumentsFrom(module, Values{{"arg0", Value("s32[1,2] {{7, 8}}")}}, nullptr);
  REQUIRE(arguments.ok());
  CHECK((*arguments)[0].shape().ToString() == "s32[<=2,<=3]");
  const NamedLiterals results = ResultsOf((*arguments)[0]);
  CHECK(Literal::BitwiseEqual(results[0].second, Value("s32[1,2] {{7, 8}}")));
}

TEST_CASE("program io: an argument beyond its bound or of another rank is refused", "[program_io]") {
  const VerifiedModule module = Verified("  p = s32[<=2,3] parameter(0)");
  for (const char* value : {"s32[3,3] {{1,1,1},{1,1,1},{1,1,1}}", "s32[2,2] {{1,1},{1,1}}", "s32[2] {1,1}",
                            "f32[2,3] {{1,1,1},{1,1,1}}"}) {
    const auto arguments = ArgumentsFrom(module, Values{{"arg0", Value(value)}}, nullptr);
    CHECK(ExitCodeOf(arguments.status()) == 5);
  }
  CHECK(ArgumentsFrom(module, Values{{"arg0", Value("s32[0,3] {}")}}, nullptr).ok());
}

TEST_CASE("program io: leaves of tuple parameters have keys, tokens have none", "[program_io]") {
  const VerifiedModule module = Verified(R"(  a = s32[] parameter(0)
  p = (f32[1], (token[], s8[])) parameter(1))");
  const std::string description = DescribeParameters(module);
  CHECK(description.find("arg0  s32[]") != std::string::npos);
  CHECK(description.find("arg1.0  f32[1]") != std::string::npos);
  CHECK(description.find("arg1.1.1  s8[]") != std::string::npos);
  CHECK(description.find("token") == std::string::npos);
  Values values{{"arg0", Value("s32[] 1")}, {"arg1.0", Value("f32[1] {2}")}, {"arg1.1.1", Value("s8[] 3")}};
  const auto arguments = ArgumentsFrom(module, values, nullptr);
  REQUIRE(arguments.ok());
  CHECK((*arguments)[1].element(1).element(1).GetInt(0) == 3);
  values.erase("arg1.1.1");
  CHECK(ExitCodeOf(ArgumentsFrom(module, values, nullptr).status()) == 5);
}

TEST_CASE("program io: keys that name nothing are refused", "[program_io]") {
  const VerifiedModule module = Verified("  a = s32[] parameter(0)");
  for (const char* key : {"arg1", "arg00", "Arg0", "arg0.0", "infeed0"}) {
    const auto arguments =
        ArgumentsFrom(module, Values{{"arg0", Value("s32[] 1")}, {key, Value("s32[] 1")}}, nullptr);
    INFO(key);
    CHECK(ExitCodeOf(arguments.status()) == 5);
  }
}

TEST_CASE("program io: infeed items come in the order of their numbers", "[program_io]") {
  const VerifiedModule module = Verified("");
  Values values;
  for (int i = 0; i < 12; ++i) values["infeed" + std::to_string(i)] = Value("s32[] " + std::to_string(i));
  ProcessState process;
  REQUIRE(ArgumentsFrom(module, values, &process).ok());
  std::deque<StreamItem>& infeed = process.infeed;
  REQUIRE(infeed.size() == 12);
  for (int i = 0; i < 12; ++i) {
    const absl::StatusOr<Literal> item = infeed[i](Shape::Scalar(ElementType::kS32));
    REQUIRE(item.ok());
    CHECK(item->GetInt(0) == i);
  }
  CHECK(ExitCodeOf(infeed[0](Shape::Scalar(ElementType::kF32)).status()) == 5);
  values.erase("infeed3");
  infeed.clear();
  CHECK(ExitCodeOf(ArgumentsFrom(module, values, &process).status()) == 5);
}

TEST_CASE("program io: what is received from the host comes by channel, in the order of its numbers",
          "[program_io]") {
  const VerifiedModule module = Verified("");
  ProcessState process;
  Values values;
  for (int i = 0; i < 11; ++i)
    values["host_recv3/" + std::to_string(i)] = Value("s32[] " + std::to_string(i));
  values["host_recv3/name/0"] = Value("s32[] 70");
  values["host_recv12/0.0"] = Value("s32[] 80");
  values["host_recv12/0.1"] = Value("f32[] 81");
  REQUIRE(ArgumentsFrom(module, values, &process).ok());
  const Shape s32 = Shape::Scalar(ElementType::kS32), f32 = Shape::Scalar(ElementType::kF32);
  REQUIRE(process.host_to_device.size() == 3);
  std::deque<StreamItem>& items = process.host_to_device["3"];
  REQUIRE(items.size() == 11);
  for (int i = 0; i < 11; ++i) CHECK(items[i](s32)->GetInt(0) == i);
  CHECK(process.host_to_device["3/name"].at(0)(s32)->GetInt(0) == 70);
  CHECK(process.host_to_device["12"].at(0)(Shape::Tuple({s32, f32}))->element(1).GetDouble(0) == 81);
  values.erase("host_recv3/4");
  CHECK(ExitCodeOf(ArgumentsFrom(module, values, &process).status()) == 5);
  for (const char* key : {"host_recv", "host_recv3", "host_recv/0", "host_recv3/x", "host_recv3/"}) {
    INFO(key);
    CHECK(ExitCodeOf(ArgumentsFrom(module, Values{{key, Value("s32[] 1")}}, &process).status()) == 5);
  }
}

}  // namespace
}  // namespace assay
