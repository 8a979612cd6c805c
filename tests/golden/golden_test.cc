#include "golden/golden.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "hlo/opcode.h"
#include "literal/npz.h"

namespace assay {
namespace {

constexpr char kAdd[] = "HloModule m\nENTRY e {\n  x = f32[2] parameter(0)\n  ROOT y = f32[2] add(x, x)\n}\n";

std::string Write(const std::string& name, const std::string& text) {
  const std::string path = std::filesystem::temp_directory_path() / ("assay_golden_test_" + name + ".hlo");
  REQUIRE(WriteFileAtomically(path, text).ok());
  return path;
}

TEST_CASE("golden: every golden of the repository passes", "[golden]") {
  const std::vector<std::string> paths = FindGoldens({ASSAY_SOURCE_DIR "/golden"});
  CHECK(paths.size() > 600);
  for (const std::string& path : paths) {
    const GoldenResult result = CheckGolden(path);
    INFO(path << "\n" << result.report);
    CHECK(result.passed);
  }
}

TEST_CASE("golden: every op has at least five goldens", "[golden]") {
  std::map<std::string, int> uses;
  for (const std::string& path : FindGoldens({ASSAY_SOURCE_DIR "/golden"})) {
    const absl::StatusOr<std::string> text = ReadFile(path);
    REQUIRE(text.ok());
    for (int i = 0; i < kNumOpcodes; ++i) {
      const std::string name(Name(static_cast<Opcode>(i)));
      if (text->find(" " + name + "(") != std::string::npos) ++uses[name];
    }
  }
  for (int i = 0; i < kNumOpcodes; ++i) {
    const std::string name(Name(static_cast<Opcode>(i)));
    INFO(name);
    CHECK(uses[name] >= 5);
  }
}

TEST_CASE("golden: a wrong expected value fails with both values in the report", "[golden]") {
  const std::string path = Write("wrong", std::string("// oracle: hand\n// arg0: f32[2] {1, 2}\n"
                                                      "// out0: f32[2] {2, 5}\n") +
                                              kAdd);
  const GoldenResult result = CheckGolden(path);
  CHECK_FALSE(result.passed);
  CHECK(result.report.find("5") != std::string::npos);
  CHECK(result.report.find("4") != std::string::npos);
}

TEST_CASE("golden: a refusal must have the code and the text", "[golden]") {
  const std::string program = "HloModule m\nENTRY e {\n  ROOT y = f32[2] nonsense()\n}\n";
  CHECK(CheckGolden(Write("refuse", "// refuse: 3 nonsense\n" + program)).passed);
  CHECK_FALSE(CheckGolden(Write("code", "// refuse: 4 nonsense\n" + program)).passed);
  CHECK_FALSE(CheckGolden(Write("text", "// refuse: 3 other words\n" + program)).passed);
  CHECK_FALSE(
      CheckGolden(Write("runs", std::string("// refuse: 3 x\n// arg0: f32[2] {1, 2}\n") + kAdd)).passed);
}

TEST_CASE("golden: values of another oracle are never updated", "[golden]") {
  const std::string body = std::string("// arg0: f32[2] {1, 2}\n// out0: f32[2] {2, 5}\n") + kAdd;
  CHECK_FALSE(UpdateGolden(Write("theirs", "// oracle: hand\n" + body)).ok());
  const absl::StatusOr<GoldenUpdate> update = UpdateGolden(Write("ours", "// oracle: assay\n" + body));
  REQUIRE(update.ok());
  CHECK(update->diff.find("- // out0: f32[2] {2, 5}") != std::string::npos);
  CHECK(CheckGolden(Write("updated", update->new_text)).passed);
}

TEST_CASE("golden: headers that make no sense are refused", "[golden]") {
  CHECK_FALSE(ParseGolden("// oracle: hand\n// color: red\n").ok());
  CHECK_FALSE(ParseGolden("// out0: f32[2] {1, 2}\n").ok());
  CHECK_FALSE(ParseGolden("// oracle: hand\n// out0: f32[2] {1}\n").ok());
  CHECK_FALSE(ParseGolden("// oracle: hand\n// refuse: 3 x\n// out0: f32[] 1\n").ok());
  CHECK_FALSE(ParseGolden("// refuse: 7 x\n").ok());
}

}  // namespace
}  // namespace assay
