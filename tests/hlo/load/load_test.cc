// Which form a program is in, and what may stand before it.
#include "hlo/load/load.h"

#include <catch2/catch.hpp>
#include <string>

namespace assay {
namespace {

constexpr std::string_view kMark = "\xef\xbb\xbf";
constexpr std::string_view kHlo = R"(HloModule m
ENTRY e { ROOT c = f32[] constant(1) }
)";
constexpr std::string_view kMlir =
    "func.func @main(%a: tensor<f32>) -> tensor<f32> {\n  return %a : tensor<f32>\n}\n";

TEST_CASE("load: a byte order mark before text is not part of it", "[load]") {
  for (const std::string_view text : {kHlo, kMlir}) {
    const std::string marked = std::string(kMark) + std::string(text);
    CHECK(FormOfProgram("-", marked) == FormOfProgram("-", text));
    const absl::StatusOr<Module> module = LoadProgram("-", marked);
    REQUIRE(module.ok());
    CHECK(module->entry_computation().instructions.size() == 1);
  }
}

TEST_CASE("load: places in marked text are those of the text", "[load]") {
  const std::string broken = R"(HloModule m
ENTRY e { ROOT c = f32[] constant(1) @ }
)";
  const absl::Status plain = LoadProgram("-", broken).status();
  const absl::Status marked = LoadProgram("-", std::string(kMark) + broken).status();
  REQUIRE(!plain.ok());
  CHECK(marked == plain);
}

TEST_CASE("load: a mark alone, half of one, or two are no program", "[load]") {
  for (const std::string_view start : {"\xef\xbb\xbf", "\xef\xbb", "\xef\xbb\xbf\xef\xbb\xbf"}) {
    CHECK(!LoadProgram("-", start).ok());
    if (start.size() != kMark.size()) CHECK(!LoadProgram("-", std::string(start) + std::string(kHlo)).ok());
  }
}

TEST_CASE("load: parts of a marked file", "[load]") {
  const std::string file = std::string(kMark) + std::string(kMlir) + "// -----\n" + std::string(kMlir);
  const std::vector<ProgramPart> parts = PartsOfFile("a.mlir", file);
  REQUIRE(parts.size() == 2);
  CHECK(parts[0].text.substr(0, 9) == "func.func");
  CHECK(parts[1].lines_before == 3);
}

TEST_CASE("load: each HloModule of a text is a program", "[load]") {
  const std::string file = std::string("// a comment\n") + std::string(kHlo) +
                           "\n/* HloModule no\nHloModule no */\nHloModule second, replica_count=2\n"
                           "ENTRY e { ROOT c = f32[] constant(2), metadata={op_name=\"\nHloModule no\"} }\n";
  const std::vector<ProgramPart> parts = PartsOfFile("a.hlo", file);
  REQUIRE(parts.size() == 2);
  CHECK(parts[0].Name() == "m");
  CHECK(parts[0].lines_before == 0);
  CHECK(parts[1].Name() == "second");
  CHECK(parts[1].lines_before == 6);
  for (const ProgramPart& part : parts) CHECK(LoadProgram("a.hlo", part.text).ok());
  // One module, and one without a header before another.
  CHECK(PartsOfFile("a.hlo", kHlo).size() == 1);
  const std::string headless = "ENTRY e { ROOT c = f32[] constant(1) }\n" + std::string(kHlo);
  REQUIRE(PartsOfFile("a.hlo", headless).size() == 2);
  CHECK(PartsOfFile("a.hlo", headless)[0].Name().empty());
  // Comments before the first header are no program.
  const std::string commented = "/* HloModule\n   no */ // no\n" + std::string(kHlo);
  for (const std::string& text : {commented, commented + std::string(kHlo)}) {
    const std::vector<ProgramPart> found = PartsOfFile("a.hlo", text);
    REQUIRE(found.size() == (text == commented ? 1 : 2));
    for (const ProgramPart& part : found) {
      CHECK(part.Name() == "m");
      CHECK(LoadProgram("a.hlo", part.text).ok());
    }
  }
  // Other text there is no program but wrong text of the first one.
  for (const std::string junk :
       {"junk", "Some notes on it.\n", "junk\n", "ROOT\n", "junk here\n// HloModule\n"}) {
    const std::string wrong = junk + "\n" + std::string(kHlo);
    REQUIRE(PartsOfFile("a.hlo", wrong).size() == 1);
    CHECK(PartsOfFile("a.hlo", wrong)[0].text == wrong);
    const absl::Status refused = LoadProgram("a.hlo", wrong).status();
    CHECK(ExitCodeOf(refused) == 3);
    const std::string followed = wrong + std::string(kHlo);
    const std::vector<ProgramPart> two = PartsOfFile("a.hlo", followed);
    REQUIRE(two.size() == 2);
    CHECK(two[0].text == wrong);
    CHECK(two[1].text == kHlo);
  }
  // Programs without a header may begin with a computation or an instruction.
  for (const std::string begin :
       {"ENTRY e { ROOT x = f32[] parameter(0) }\n", "%f (x: f32[]) -> f32[] {\n", "f {\n",
        "x = f32[] parameter(0)\n", "/* a */ ROOT x = f32[] parameter(0)\n"}) {
    CHECK(PartsOfFile("a.hlo", begin + std::string(kHlo)).size() == 2);
  }
}

}  // namespace
}  // namespace assay
