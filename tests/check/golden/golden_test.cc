#include "check/golden/golden.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "base/file_io.h"
#include "hlo/opcode.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr char kAdd[] = R"(HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  ROOT y = f32[2] add(x, x)
}
)";

std::string Write(const std::string& name, const std::string& text) {
  const std::string path = std::filesystem::temp_directory_path() / ("assay_golden_test_" + name + ".hlo");
  REQUIRE(WriteFileAtomically(path, text).ok());
  return path;
}

TEST_CASE("golden: every golden of the repository passes", "[golden]") {
  const std::vector<std::string> paths = FindGoldens({ASSAY_SOURCE_DIR "/golden"}).files;
  CHECK(paths.size() > 600);
  for (const std::string& path : paths) {
    const GoldenResult result = CheckGolden(path);
    INFO(path << "\n" << result.report);
    CHECK(result.passed);
  }
}

TEST_CASE("golden: every op has at least five goldens", "[golden]") {
  std::map<std::string, int> uses;
  for (const std::string& path : FindGoldens({ASSAY_SOURCE_DIR "/golden"}).files) {
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
  const std::string program = R"(HloModule m
ENTRY e {
  ROOT y = f32[2] nonsense()
}
)";
  CHECK(CheckGolden(Write("refuse", "// refuse: 3 nonsense\n" + program)).passed);
  CHECK_FALSE(CheckGolden(Write("code", "// refuse: 4 nonsense\n" + program)).passed);
  CHECK_FALSE(CheckGolden(Write("text", "// refuse: 3 other words\n" + program)).passed);
  CHECK_FALSE(
      CheckGolden(Write("runs", std::string("// refuse: 3 x\n// arg0: f32[2] {1, 2}\n") + kAdd)).passed);
}

TEST_CASE("golden: a program in StableHLO text is one, and is found in a directory", "[golden]") {
  const fs::path directory = fs::temp_directory_path() / "assay_golden_test_mlir";
  fs::remove_all(directory);
  fs::create_directory(directory);
  const auto text = [](const std::string& sum) {
    return "// oracle: hand\n// arg0: f32[2] {1, 2}\n// out0: f32[2] " + sum +
           "\nfunc.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
           "  %y = stablehlo.add %x, %x : tensor<2xf32>\n  return %y : tensor<2xf32>\n}\n";
  };
  REQUIRE(WriteFileAtomically(directory / "a.mlir", text("{2, 4}")).ok());
  REQUIRE(WriteFileAtomically(directory / "b.mlir", text("{2, 5}")).ok());
  const std::vector<std::string> found = FindGoldens({directory}).files;
  REQUIRE(found == std::vector<std::string>{directory / "a.mlir", directory / "b.mlir"});
  CHECK(CheckGolden(found[0]).passed);
  CHECK_FALSE(CheckGolden(found[1]).passed);
  fs::remove_all(directory);
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
  for (const char* line :
       {"tolerance: nan", "tolerance: inf", "tolerance: 2", "tolerance: -1", "tolerance: x",
        "tolerance: 1e-5x", "tolerance:", "options: --seed -1", "options: --max-steps 0",
        "options: --timeout -1", "options: --memory-limit 0", "options: --seed"}) {
    INFO(line);
    CHECK_FALSE(ParseGolden(std::string("// oracle: hand\n// ") + line + "\n").ok());
  }
  for (const char* line : {"rule:", "rule: ,", "rule: NUM-6,", "rule: NUM", "rule: NUM-", "rule: num-6",
                           "rule: NUM-C", "rule: NUM-6 NUM-7", "rule: -C4", "rule: N_M-1"}) {
    INFO(line);
    CHECK_FALSE(ParseGolden(std::string("// oracle: hand\n// ") + line + "\n").ok());
  }
  CHECK(ParseGolden("// oracle: hand\n// rule: NUM-6, Gather-C4,SDY-V3\n// rule: NUM-7\n")->rules ==
        std::vector<std::string>{"NUM-6", "Gather-C4", "SDY-V3", "NUM-7"});
  CHECK(ParseGolden("// oracle: hand\n// tolerance: 1e-5\n")->tolerance == 1e-5);
  CHECK(ParseGolden("// oracle: hand\n// options: --seed 18446744073709551615\n")->options.run_seed ==
        UINT64_MAX);
}

// Gives zeros for every operation of one array.
class Zeros final : public Engine, public Kernel {
 public:
  std::string_view name() const override { return "zeros"; }
  absl::StatusOr<std::shared_ptr<const Kernel>> Prepare(const FusionView&) const override {
    return std::make_shared<Zeros>();
  }
  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal>) const override {
    return context.NewResult(/*zero=*/true);
  }
};

TEST_CASE("golden: a wrong kernel's step is written where --repro-dir says", "[golden]") {
  const std::string path = Write("repro", std::string("// oracle: hand\n// arg0: f32[2] {1, 2}\n"
                                                      "// out0: f32[2] {2, 4}\n") +
                                              kAdd);
  const std::filesystem::path dir = std::filesystem::temp_directory_path() / "assay_golden_test_repro_dir";
  std::filesystem::remove_all(dir);
  const Zeros zeros;
  const Engine* const engines[] = {&zeros};
  const GoldenResult result = CheckGolden(path, {.engines = engines,
                                                 .crosscheck = Crosscheck::kFull,
                                                 .repro_dir = dir,
                                                 .repro_flags = "--engine zeros"});
  CHECK_FALSE(result.passed);
  CHECK(result.report.find("cross-check") != std::string::npos);
  CHECK(std::filesystem::is_directory(dir));
  std::filesystem::remove_all(dir);
}

}  // namespace
}  // namespace assay
