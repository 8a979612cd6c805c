// Which instructions the planner offers as fusions.
#include "plan/fusion.h"

#include <catch2/catch.hpp>

#include "tests/engines/jit/jit_testing.h"

namespace assay::testing {
namespace {

// "r: m t | x y" for each fusion: root, other members, operands.
std::vector<std::string> Fusions(const std::string& body) {
  const Program program = ProgramOf(R"(HloModule m
ENTRY e {
)" + body + "}\n");
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
const std::string kXy = R"(x = f32[8] parameter(0)
y = f32[8] parameter(1)
)";

TEST_CASE("fusion: a chain is one, and what is read twice inside it stays inside", "[fusion]") {
  CHECK(Fusions(kXy + R"(m = f32[8] multiply(x, y)
t = f32[8] tanh(m)
ROOT r = f32[8] add(t, m)
)") == Texts{"r: m t | x y"});
  CHECK(Fusions(kXy + "ROOT r = f32[8] multiply(x, x)\n") == Texts{"r: | x"});
}

TEST_CASE("fusion: a value that is needed outside ends one", "[fusion]") {
  CHECK(Fusions(kXy + R"(m = f32[8] multiply(x, y)
a = f32[8] negate(m)
b = f32[8] abs(m)
ROOT r = (f32[8], f32[8]) tuple(a, b)
)") == Texts{"m: | x y", "a: | m", "b: | m"});
}

TEST_CASE("fusion: broadcasts and iotas are had anew by each reader", "[fusion]") {
  CHECK(Fusions(R"(c = f32[] parameter(0)
x = f32[8] parameter(1)
b = f32[8] broadcast(c), dimensions={}
i = f32[8] iota(), iota_dimension=0
m = f32[8] multiply(x, b)
n = f32[8] add(b, i)
ROOT r = (f32[8], f32[8]) tuple(m, n)
)") == Texts{"m: b | c x", "n: b i | c"});
}

TEST_CASE("fusion: what keeps elements in their places joins, other moves do not", "[fusion]") {
  CHECK(Fusions(kXy + R"(m = f32[8] multiply(x, y)
s = f32[2,4] reshape(m)
c = f32[2,4] copy(s)
ROOT r = f32[2,4] negate(c)
)") == Texts{"r: m s c | x y"});
  CHECK(Fusions(kXy + R"(m = f32[8] multiply(x, y)
s = f32[8] reverse(m), dimensions={0}
ROOT r = f32[8] negate(s)
)") == Texts{"m: | x y", "r: | s"});
  CHECK(Fusions(R"(x = f32[4,2]{0,1} parameter(0)
a = f32[4,2]{0,1} abs(x)
b = f32[2,4]{1,0} bitcast(a)
ROOT r = f32[2,4] negate(b)
)") == Texts{"a: | x", "r: | b"});
}

TEST_CASE("fusion: slices are had anew by each reader, unless they are much smaller than what they are of",
          "[fusion]") {
  const std::string xy = R"(x = f32[24] parameter(0)
y = f32[8] parameter(1)
)";
  CHECK(Fusions(xy + R"(a = f32[8] slice(x), slice={[0:8]}
b = f32[8] slice(x), slice={[1:24:3]}
m = f32[8] multiply(a, y)
n = f32[8] add(b, a)
ROOT r = (f32[8], f32[8]) tuple(m, n)
)") == Texts{"m: a | x y", "n: a b | x"});
  CHECK(Fusions(R"(x = f32[16] parameter(0)
s = f32[2] slice(x), slice={[0:2]}
ROOT r = f32[2] negate(s)
)") == Texts{"r: s | x"});
  CHECK(Fusions(R"(x = f32[18] parameter(0)
s = f32[2] slice(x), slice={[0:2]}
ROOT r = f32[2] negate(s)
)") == Texts{"r: | s"});
  // All of it stays where it is.
  CHECK(Fusions(kXy + R"(m = f32[8] multiply(x, y)
s = f32[8] slice(m), slice={[0:8]}
ROOT r = f32[8] negate(s)
)") == Texts{"r: m s | x y"});
}

TEST_CASE("fusion: transposes that leave rows of 1 KiB whole are had anew by each reader, others stay out",
          "[fusion]") {
  const auto transposed = [](std::string_view from, std::string_view to, std::string_view dimensions) {
    return Fusions(fmt::format(R"(x = {0} parameter(0)
t = {1} transpose(x), dimensions={{{2}}}
a = {1} negate(t)
b = {1} abs(t)
ROOT r = ({1}, {1}) tuple(a, b)
)",
                               from, to, dimensions));
  };
  CHECK(transposed("f32[3,5,256]", "f32[5,3,256]", "1,0,2") == Texts{"a: t | x", "b: t | x"});
  CHECK(transposed("f32[3,5,4,64]", "f32[5,3,4,64]", "1,0,2,3") == Texts{"a: t | x", "b: t | x"});
  CHECK(transposed("f32[3,5,255]", "f32[5,3,255]", "1,0,2") == Texts{"a: | t", "b: | t"});
  CHECK(transposed("bf16[3,5,256]", "bf16[5,3,256]", "1,0,2") == Texts{"a: | t", "b: | t"});
  CHECK(transposed("f32[3,5,256]", "f32[3,256,5]", "0,2,1") == Texts{"a: | t", "b: | t"});
  // Elements stay where they are, so t is one more member, which two fusions can't share.
  CHECK(transposed("f32[1,3,5]", "f32[3,1,5]", "1,0,2") == Texts{"a: | t", "b: | t"});
  CHECK(Fusions(R"(x = f32[1,3,5] parameter(0)
t = f32[3,5,1] transpose(x), dimensions={1,2,0}
ROOT r = f32[3,5,1] negate(t)
)") == Texts{"r: t | x"});
}

TEST_CASE("fusion: a slice does not move past one who might overwrite what it reads", "[fusion]") {
  const std::string start =
      R"(x = f32[8] parameter(0)
i = s32[] parameter(1)
u = f32[1] parameter(2)
s = f32[4] slice(x), slice={[0:4]}
)";
  CHECK(Fusions(start + R"(d = f32[8] dynamic-update-slice(x, u, i)
t = f32[4] slice(d), slice={[4:8]}
ROOT r = f32[4] add(s, t)
)") == Texts{"r: t | s d"});
  CHECK(Fusions(start + R"(t = f32[4] slice(x), slice={[4:8]}
ROOT r = f32[4] add(s, t)
)") == Texts{"r: s t | x"});
}

TEST_CASE("fusion: sizes must agree, dynamic ones and unknown element types stay out", "[fusion]") {
  CHECK(Fusions(R"(x = f32[<=8] parameter(0)
ROOT r = f32[<=8] negate(x)
)") == Texts{});
  CHECK(Fusions(R"(x = c64[8] parameter(0)
n = c64[8] negate(x)
ROOT r = f32[8] real(n)
)") == Texts{});
}

TEST_CASE("fusion: control dependencies are left as they are", "[fusion]") {
  CHECK(Fusions(kXy + R"(a = f32[8] negate(x)
b = f32[8] abs(y), control-predecessors={a}
ROOT r = f32[8] add(a, b)
)") == Texts{"r: | a b"});
}

TEST_CASE("fusion: a member does not move past another reader of what it reads", "[fusion]") {
  // Otherwise x would still be needed when the dynamic-update-slice could have overwritten it.
  CHECK(Fusions(R"(x = f32[8] parameter(0)
i = s32[] parameter(1)
u = f32[1] parameter(2)
a = f32[8] negate(x)
d = f32[8] dynamic-update-slice(x, u, i)
ROOT r = f32[8] add(a, d)
)") == Texts{"a: | x", "r: | a d"});
}

TEST_CASE("fusion: numbers that are read do not count as operands that live until it runs", "[fusion]") {
  // Two arrays and 30 numbers, each added by itself.
  std::string body = kXy, last = "x", members, operands = " x y";
  for (int k = 0; k < 30; ++k) {
    const std::string i = std::to_string(k);
    body += "c" + i + " = f32[] parameter(" + std::to_string(k + 2) + ")\n";
    operands += " c" + i;
  }
  for (int k = 0; k < 30; ++k) {
    const std::string i = std::to_string(k);
    body += "b" + i + " = f32[8] broadcast(c" + i + "), dimensions={}\na" + i + " = f32[8] add(" + last +
            ", b" + i + ")\n";
    last = "a" + i;
    members += " b" + i + " a" + i;
  }
  CHECK(Fusions(body + "ROOT r = f32[8] multiply(" + last + ", y)\n") ==
        Texts{"r:" + members + " |" + operands});
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
