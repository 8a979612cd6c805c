// Canonical text against the text that XLA's printer gives (tests/hlo/text/canonical, make_canonical.py
// there), and by hand where Assay differs on purpose.
#include "hlo/text/printer.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "evaluator/verify.h"
#include "fmt/format.h"
#include "hlo/text/parser.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

std::string Read(const fs::path& path) {
  std::ifstream file(path);
  REQUIRE(file.good());
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string Printed(const std::string& text) {
  const absl::StatusOr<Module> module = ParseHloText(text);
  INFO(text.substr(0, 2000));
  INFO(module.status());
  REQUIRE(module.ok());
  return ModuleToText(*module);
}

// The instruction called x, as the module text shows it.
std::string PrintedX(const std::string& instructions, const std::string& computations = "") {
  const std::string text = Printed("HloModule m\n" + computations +
                                   R"(ENTRY e { s = f32[] parameter(0)
 v = f32[4] parameter(1)
 )" + instructions + "\n ROOT t = () tuple() }");
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("  %x = ", 0) == 0) return line.substr(2);
  }
  return "not found in " + text;
}

TEST_CASE("printer: every form of attribute and literal is printed as XLA prints it", "[printer]") {
  int count = 0;
  for (const auto& entry : fs::directory_iterator(ASSAY_SOURCE_DIR "/tests/hlo/text/canonical")) {
    const std::string name = entry.path().filename();
    if (!name.ends_with(".in.hlo")) continue;
    ++count;
    INFO(name);
    const std::string canonical =
        Read(entry.path().parent_path() / (name.substr(0, name.size() - 7) + ".hlo"));
    CHECK(Printed(Read(entry.path())) == canonical);
    CHECK(Printed(canonical) == canonical);
  }
  CHECK(count >= 13);
}

TEST_CASE("printer: verification changes nothing of what is printed", "[printer]") {
  const std::string canonical = Read(ASSAY_SOURCE_DIR "/tests/hlo/text/canonical/declared.hlo");
  const absl::StatusOr<VerifiedModule> module = Verify(*ParseHloText(canonical));
  INFO(module.status());
  REQUIRE(module.ok());
  CHECK(ModuleToText(module->module()) == canonical);
}

TEST_CASE("printer: every golden and real program is printed to a fixed point", "[printer]") {
  int count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(ASSAY_SOURCE_DIR "/golden")) {
    if (entry.path().extension() != ".hlo") continue;
    const absl::StatusOr<Module> read = ParseHloText(Read(entry.path()));
    if (!read.ok()) continue;
    const absl::StatusOr<VerifiedModule> module = Verify(*read);
    if (!module.ok()) continue;  // goldens of what is refused
    ++count;
    INFO(entry.path());
    const std::string once = ModuleToText(module->module());
    CHECK(Printed(once) == once);
  }
  CHECK(count >= 1000);
}

TEST_CASE("printer: negative zero keeps its sign", "[printer]") {
  CHECK(PrintedX("x = f32[] constant(-0.0)") == "%x = f32[] constant(-0.0)");
  CHECK(PrintedX("x = f32[2] constant({-0.0, 0})") == "%x = f32[2]{0} constant({-0.0, 0})");
  CHECK(PrintedX("x = c64[] constant((-0.0, 1))") == "%x = c64[] constant((-0.0, 1))");
}

TEST_CASE("printer: epsilon keeps all its digits", "[printer]") {
  const std::string norm = "batch-norm-inference(v, v, v, v, v), epsilon=";
  CHECK(PrintedX("x = f32[4] " + norm + "0.123456789, feature_index=0") ==
        "%x = f32[4]{0} batch-norm-inference(%v, %v, %v, %v, %v), epsilon=0.123456789, feature_index=0");
  CHECK(PrintedX("x = f32[4] " + norm + "1.00000000000001, feature_index=0") ==
        "%x = f32[4]{0} batch-norm-inference(%v, %v, %v, %v, %v), epsilon=1.00000000000001, feature_index=0");
}

TEST_CASE("printer: a JSON dictionary stands bare only if it is the whole text", "[printer]") {
  const auto config = [](const std::string& written) {
    return PrintedX("x = f32[] negate(s), backend_config=" + written);
  };
  CHECK(config("{\"a\":{}}") == "%x = f32[] negate(%s), backend_config={\"a\":{}}");
  CHECK(config("\"{\\\"a\\\":1}\"") == "%x = f32[] negate(%s), backend_config={\"a\":1}");
  CHECK(config("\"{} \"") == "%x = f32[] negate(%s), backend_config=\"{} \"");
  CHECK(config("\"{}}\"") == "%x = f32[] negate(%s), backend_config=\"{}}\"");
}

TEST_CASE("printer: what XLA refuses and no value depends on is left out", "[printer]") {
  const std::string text = Printed(
      R"(HloModule m, debug_attributes={{"a"}: {log_mode=default, op_id=3}}
ENTRY e { v = f32[4] parameter(0)
ROOT t = (f32[2], s32[2]) topk(v), k=2, largest=true, is_stable=true })");
  CHECK(text.find("debug_attributes") == std::string::npos);
  CHECK(text.find("topk(%v), k=2, largest=true\n") != std::string::npos);
}

TEST_CASE("printer: an elided constant stays elided", "[printer]") {
  CHECK(PrintedX("x = f32[100] constant({...})") == "%x = f32[100]{0} constant({...})");
}

TEST_CASE("printer: async sugar is used only where reading it gives the same program", "[printer]") {
  const auto start = [](const std::string& computation, const std::string& operands,
                        const std::string& shape) {
    return PrintedX("x = " + shape + " async-start(" + operands + R"(), calls=f
 done = f32[] async-done(x))",
                    "f { " + computation + " }\n");
  };
  CHECK(start(R"(a = f32[] parameter(0)
 ROOT r = f32[] negate(a))",
              "s", "((f32[]), f32[])") == "%x = ((f32[]), f32[]) negate-start(%s)");
  // Operands in another order, used twice, or not at all.
  const std::string two = R"(a = f32[] parameter(0)
 b = f32[] parameter(1)
 )";
  CHECK(start(two + "ROOT r = f32[] subtract(b, a)", "s, s", "((f32[], f32[]), f32[])") ==
        "%x = ((f32[], f32[]), f32[]) async-start(%s, %s), calls=%f");
  CHECK(start(R"(a = f32[] parameter(0)
 ROOT r = f32[] add(a, a))",
              "s", "((f32[]), f32[])") == "%x = ((f32[]), f32[]) async-start(%s), calls=%f");
  CHECK(start(two + "ROOT r = f32[] negate(a)", "s, s", "((f32[], f32[]), f32[])") ==
        "%x = ((f32[], f32[]), f32[]) async-start(%s, %s), calls=%f");
  // copy-start is an op of its own.
  CHECK(start(R"(a = f32[] parameter(0)
 ROOT r = f32[] copy(a))",
              "s", "((f32[]), f32[])") == "%x = ((f32[]), f32[]) async-start(%s), calls=%f");
  // The wrapped op's backend_config would be lost.
  CHECK(start(R"(a = f32[] parameter(0)
 ROOT r = f32[] custom-call(a), custom_call_target="t", backend_config="b")",
              "s", "((f32[]), f32[])") == "%x = ((f32[]), f32[]) async-start(%s), calls=%f");
}

TEST_CASE("printer: a computation stands before its callers even in one list with them", "[printer]") {
  const std::string text = Printed(
      R"(HloModule m
 a { ROOT p = f32[] parameter(0) }
 c { q = f32[] parameter(0)
 ROOT r = f32[] call(q), to_apply=a }
 ENTRY e { i = s32[] parameter(0)
 x = f32[] parameter(1)
 ROOT y = f32[] conditional(i, x, x), branch_computations={c, a} })");
  CHECK(text.find("%a (") < text.find("%c ("));
  CHECK(Printed(text) == text);
}

TEST_CASE("printer: names that the grammar has no room for are changed, each to another", "[printer]") {
  absl::StatusOr<Module> module = ParseHloText(R"(ENTRY e { p = f32[] parameter(0)
 a = f32[] negate(p)
 ROOT b = f32[] negate(a) })");
  REQUIRE(module.ok());
  auto& instructions = module->computations[0].instructions;
  instructions[0].name = "1 x/y";
  instructions[1].name = "f32";
  instructions[2].name = "f32";
  CHECK(ModuleToText(*module).find(R"(  %_1_x_y = f32[] parameter(0)
  %f32_ = f32[] negate(%_1_x_y)
  ROOT %f32_.1 = f32[] negate(%f32_)
)") != std::string::npos);
  instructions[1].name = "_1_x_y";  // a legal name is kept, the changed one moves aside
  CHECK(ModuleToText(*module).find(
            R"(  %_1_x_y.1 = f32[] parameter(0)
  %_1_x_y = f32[] negate(%_1_x_y.1)
)") != std::string::npos);
}

TEST_CASE("printer: one instruction is shown as in the module", "[printer]") {
  const absl::StatusOr<Module> module = ParseHloText(
      R"(f { a = f32[] parameter(0)
 ROOT r = f32[] negate(a) }
 ENTRY e { p = f32[] parameter(0)
 s = ((f32[]), f32[]) async-start(p), calls=f
 ROOT d = f32[] async-done(s) })");
  REQUIRE(module.ok());
  const Computation& entry = module->entry_computation();
  CHECK(InstructionToText(*module, entry, entry.instructions[1]) == "%s = ((f32[]), f32[]) negate-start(%p)");
  CHECK(InstructionToText(*module, entry, entry.instructions[2]) == "ROOT %d = f32[] negate-done(%s)");
}

// A chain of 200,000 instructions that each use their predecessor twice, called computations as deep.
TEST_CASE("printer: long chains are printed in linear time and without recursion", "[printer]") {
  std::string text = R"(HloModule m
fn0 { ROOT p = f32[] parameter(0) }
)";
  for (int i = 1; i < 2000; ++i) {
    text += fmt::format(
        R"(fn{0} {{ p{0} = f32[] parameter(0)
 ROOT call{0} = f32[] call(p{0}), to_apply=fn{1} }}
)",
        i, i - 1);
  }
  text += "ENTRY e { x0 = f32[] parameter(0)\n";
  for (int i = 1; i < 200000; ++i) text += fmt::format(" x{0} = f32[] add(x{1}, x{1})\n", i, i - 1);
  text += " ROOT y = f32[] call(x199999), to_apply=fn1999 }\n";
  const absl::StatusOr<Module> module = ParseHloText(text);
  REQUIRE(module.ok());
  const auto begin = std::chrono::steady_clock::now();
  const std::string printed = ModuleToText(*module);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
  CHECK(printed.size() > text.size());
}

}  // namespace
}  // namespace assay
