// Which instructions the planner offers as fusions.
#include "plan/fusion.h"

#include <catch2/catch.hpp>

#include "tests/engines/jit/jit_testing.h"

namespace assay::testing {
namespace {

// "r: m t | x y" for each fusion: root, other members, operands.
std::vector<std::string> Fusions(const std::string& body) {
  const Program program = ProgramOf("HloModule m\nENTRY e {\n" + body + "}\n");
  const Computation& entry = program.module().entry_computation();
  std::vector<int32_t> order;
  for (size_t i = 0; i < entry.instructions.size(); ++i) {
    if (entry.instructions[i].opcode != Opcode::kParameter) order.push_back(static_cast<int32_t>(i));
  }
  std::vector<std::string> texts;
  for (const Fusion& fusion : FindFusions(program.module(), entry, order, jit::EagerJitEngine(Isa::kAvx2))) {
    const auto name = [&](int32_t i) { return entry.instructions[i].name; };
    std::string text = name(fusion.members.back()) + ":";
    for (size_t m = 0; m + 1 < fusion.members.size(); ++m) text += " " + name(fusion.members[m]);
    text += " |";
    for (int32_t operand : fusion.operands) text += " " + name(operand);
    texts.push_back(text);
  }
  return texts;
}

using Texts = std::vector<std::string>;
const std::string kXy = "x = f32[8] parameter(0)\ny = f32[8] parameter(1)\n";

TEST_CASE("fusion: a chain is one, and what is read twice inside it stays inside", "[fusion]") {
  CHECK(Fusions(kXy + "m = f32[8] multiply(x, y)\nt = f32[8] tanh(m)\nROOT r = f32[8] add(t, m)\n") ==
        Texts{"r: m t | x y"});
  CHECK(Fusions(kXy + "ROOT r = f32[8] multiply(x, x)\n") == Texts{"r: | x"});
}

TEST_CASE("fusion: a value that is needed outside ends one", "[fusion]") {
  CHECK(Fusions(kXy + "m = f32[8] multiply(x, y)\na = f32[8] negate(m)\nb = f32[8] abs(m)\n"
                      "ROOT r = (f32[8], f32[8]) tuple(a, b)\n") == Texts{"m: | x y", "a: | m", "b: | m"});
}

TEST_CASE("fusion: broadcasts and iotas are had anew by each reader", "[fusion]") {
  CHECK(Fusions("c = f32[] parameter(0)\nx = f32[8] parameter(1)\nb = f32[8] broadcast(c), dimensions={}\n"
                "i = f32[8] iota(), iota_dimension=0\nm = f32[8] multiply(x, b)\nn = f32[8] add(b, i)\n"
                "ROOT r = (f32[8], f32[8]) tuple(m, n)\n") == Texts{"m: b | c x", "n: b i | c"});
}

TEST_CASE("fusion: what keeps elements in their places joins, other moves do not", "[fusion]") {
  CHECK(Fusions(kXy + "m = f32[8] multiply(x, y)\ns = f32[2,4] reshape(m)\nc = f32[2,4] copy(s)\n"
                      "ROOT r = f32[2,4] negate(c)\n") == Texts{"r: m s c | x y"});
  CHECK(Fusions(kXy + "m = f32[8] multiply(x, y)\ns = f32[8] reverse(m), dimensions={0}\n"
                      "ROOT r = f32[8] negate(s)\n") == Texts{"m: | x y", "r: | s"});
  CHECK(Fusions("x = f32[4,2]{0,1} parameter(0)\na = f32[4,2]{0,1} abs(x)\nb = f32[2,4]{1,0} bitcast(a)\n"
                "ROOT r = f32[2,4] negate(b)\n") == Texts{"a: | x", "r: | b"});
}

TEST_CASE("fusion: slices are had anew by each reader, unless they are much smaller than what they are of",
          "[fusion]") {
  const std::string xy = "x = f32[24] parameter(0)\ny = f32[8] parameter(1)\n";
  CHECK(Fusions(xy + "a = f32[8] slice(x), slice={[0:8]}\nb = f32[8] slice(x), slice={[1:24:3]}\n"
                     "m = f32[8] multiply(a, y)\nn = f32[8] add(b, a)\n"
                     "ROOT r = (f32[8], f32[8]) tuple(m, n)\n") == Texts{"m: a | x y", "n: a b | x"});
  CHECK(
      Fusions("x = f32[16] parameter(0)\ns = f32[2] slice(x), slice={[0:2]}\nROOT r = f32[2] negate(s)\n") ==
      Texts{"r: s | x"});
  CHECK(
      Fusions("x = f32[18] parameter(0)\ns = f32[2] slice(x), slice={[0:2]}\nROOT r = f32[2] negate(s)\n") ==
      Texts{"r: | s"});
  // All of it stays where it is.
  CHECK(Fusions(kXy + "m = f32[8] multiply(x, y)\ns = f32[8] slice(m), slice={[0:8]}\n"
                      "ROOT r = f32[8] negate(s)\n") == Texts{"r: m s | x y"});
}

TEST_CASE("fusion: transposes that leave rows of 1 KiB whole are had anew by each reader, others stay out",
          "[fusion]") {
  const auto transposed = [](std::string_view from, std::string_view to, std::string_view dimensions) {
    return Fusions(
        fmt::format("x = {0} parameter(0)\nt = {1} transpose(x), dimensions={{{2}}}\na = {1} negate(t)\n"
                    "b = {1} abs(t)\nROOT r = ({1}, {1}) tuple(a, b)\n",
                    from, to, dimensions));
  };
  CHECK(transposed("f32[3,5,256]", "f32[5,3,256]", "1,0,2") == Texts{"a: t | x", "b: t | x"});
  CHECK(transposed("f32[3,5,4,64]", "f32[5,3,4,64]", "1,0,2,3") == Texts{"a: t | x", "b: t | x"});
  CHECK(transposed("f32[3,5,255]", "f32[5,3,255]", "1,0,2") == Texts{"a: | t", "b: | t"});
  CHECK(transposed("bf16[3,5,256]", "bf16[5,3,256]", "1,0,2") == Texts{"a: | t", "b: | t"});
  CHECK(transposed("f32[3,5,256]", "f32[3,256,5]", "0,2,1") == Texts{"a: | t", "b: | t"});
  // Elements stay where they are, so t is one more member, which two fusions can't share.
  CHECK(transposed("f32[1,3,5]", "f32[3,1,5]", "1,0,2") == Texts{"a: | t", "b: | t"});
  CHECK(Fusions("x = f32[1,3,5] parameter(0)\nt = f32[3,5,1] transpose(x), dimensions={1,2,0}\n"
                "ROOT r = f32[3,5,1] negate(t)\n") == Texts{"r: t | x"});
}

TEST_CASE("fusion: a slice does not move past one who might overwrite what it reads", "[fusion]") {
  const std::string start =
      "x = f32[8] parameter(0)\ni = s32[] parameter(1)\nu = f32[1] parameter(2)\n"
      "s = f32[4] slice(x), slice={[0:4]}\n";
  CHECK(Fusions(start + "d = f32[8] dynamic-update-slice(x, u, i)\nt = f32[4] slice(d), slice={[4:8]}\n"
                        "ROOT r = f32[4] add(s, t)\n") == Texts{"r: t | s d"});
  CHECK(Fusions(start + "t = f32[4] slice(x), slice={[4:8]}\nROOT r = f32[4] add(s, t)\n") ==
        Texts{"r: s t | x"});
}

TEST_CASE("fusion: sizes must agree, dynamic ones and unknown element types stay out", "[fusion]") {
  CHECK(Fusions("x = f32[<=8] parameter(0)\nROOT r = f32[<=8] negate(x)\n") == Texts{});
  CHECK(Fusions("x = c64[8] parameter(0)\nn = c64[8] negate(x)\nROOT r = f32[8] real(n)\n") == Texts{});
}

TEST_CASE("fusion: control dependencies are left as they are", "[fusion]") {
  CHECK(Fusions(kXy + "a = f32[8] negate(x)\nb = f32[8] abs(y), control-predecessors={a}\n"
                      "ROOT r = f32[8] add(a, b)\n") == Texts{"r: | a b"});
}

TEST_CASE("fusion: a member does not move past another reader of what it reads", "[fusion]") {
  // Otherwise x would still be needed when the dynamic-update-slice could have overwritten it.
  CHECK(Fusions("x = f32[8] parameter(0)\ni = s32[] parameter(1)\nu = f32[1] parameter(2)\n"
                "a = f32[8] negate(x)\nd = f32[8] dynamic-update-slice(x, u, i)\n"
                "ROOT r = f32[8] add(a, d)\n") == Texts{"a: | x", "r: | a d"});
}

TEST_CASE("fusion: what many large operands feed is cut, so that few of them live at a time", "[fusion]") {
  std::string body;
  for (int i = 0; i < 40; ++i) {
    body += fmt::format("p{0} = f32[8] parameter({0})\n", i);
  }
  std::string sum = "p0";
  for (int i = 1; i < 40; ++i) {
    body += fmt::format("{}a{} = f32[8] add({}, p{})\n", i == 39 ? "ROOT " : "", i, sum, i);
    sum = fmt::format("a{}", i);
  }
  const Texts fusions = Fusions(body);
  CHECK(fusions.size() >= 4);
  CHECK(fusions.size() <= 8);
}

}  // namespace
}  // namespace assay::testing
