// Comparators as compilers write them.
#include <catch2/catch.hpp>
#include <string>

#include "evaluator/bounds/comparator.h"
#include "run/program.h"

namespace assay::testing {
namespace {

// The first key of a comparator on two operands of these types, whose parameters are a, b and i, j; -1: none.
int64_t FirstKey(const std::string& body, const std::string& type = "f32", const std::string& other = "s32") {
  const std::string text = "HloModule m\ncomparator { a = " + type + "[] parameter(0)\n  b = " + type +
                           "[] parameter(1)\n  i = " + other + "[] parameter(2)\n  j = " + other +
                           "[] parameter(3)\n" + body + "}\nENTRY e { x = " + type +
                           "[8] parameter(0)\n  y = " + other + "[8] parameter(1)\n  ROOT s = (" + type +
                           "[8], " + other + "[8]) sort(x, y), dimensions={0}, to_apply=comparator }\n";
  const absl::StatusOr<Program> program = Program::Load("test.hlo", text);
  INFO(program.status());
  REQUIRE(program.ok());
  const Module& module = program->module();
  const Instruction& root = module.entry_computation().root_instruction();
  const auto key = bound::FirstKeyOf(module, *root.attributes.Computation(Attr::kToApply));
  if (key) CHECK((key->relative > 0) == (body.find("rounded") != std::string::npos));
  return key ? key->operand : -1;
}

// Bits of a and b as integers of the type, then `ordered` for each of them: X is the pattern,
// M all ones but the sign, Z zero.
std::string OfBits(const std::string& bits, const std::string& largest, const std::string& ordered,
                   const std::string& rest) {
  std::string text = "  M = " + bits + "[] constant(" + largest + ")\n  Z = " + bits + "[] constant(0)\n";
  for (const std::string of : {"a", "b"}) {
    std::string part = "  X = " + bits + "[] bitcast-convert(" + of + ")\n" + ordered;
    for (const std::string name : {"X", "N", "F", "R"}) {
      for (size_t at = 0; (at = part.find(name, at)) != std::string::npos; at += 3) {
        const bool is_word = (at == 0 || !std::isalnum(part[at - 1])) &&
                             (at + 1 == part.size() || !std::isalnum(part[at + 1]));
        if (is_word) part.replace(at, 1, name + "_" + of);
      }
    }
    text += part;
  }
  return text + rest;
}

}  // namespace

TEST_CASE("comparators: total orders of bits", "[check][bounds]") {
  const std::string less = "  ROOT l = pred[] compare(R_a, R_b), direction=LT\n";
  const std::string by_xor =
      "  N = pred[] compare(X, Z), direction=LT\n  F = s32[] xor(M, X)\n  R = s32[] select(N, F, X)\n";
  CHECK(FirstKey(OfBits("s32", "2147483647", by_xor, less)) == 0);
  CHECK(FirstKey(OfBits("s32", "2147483647",
                        "  N = pred[] compare(X, Z), direction=GE\n  F = s32[] xor(X, M)\n"
                        "  R = s32[] select(N, X, F)\n",
                        "  ROOT l = pred[] compare(R_a, R_b), direction=GT\n")) == 0);
  // Largest - x, as unsigned numbers: what XLA wrote before.
  CHECK(FirstKey(OfBits("s32", "2147483647",
                        "  N = pred[] compare(X, Z), direction=LT\n  F = s32[] subtract(M, X)\n"
                        "  R = s32[] select(N, F, X)\n",
                        less)) == 0);
  // The second only where the first is equal, and the second first.
  const std::string chain =
      "  f = pred[] compare(R_a, R_b), direction=LT\n"
      "  e = pred[] compare(R_a, R_b), direction=EQ\n"
      "  t = pred[] compare(i, j), direction=LT\n";
  CHECK(FirstKey(OfBits("s32", "2147483647", by_xor,
                        chain + "  g = pred[] and(e, t)\n  ROOT l = pred[] or(f, g)\n")) == 0);
  CHECK(FirstKey(OfBits("s32", "2147483647", by_xor, chain + "  ROOT l = pred[] select(e, t, f)\n")) == 0);
  CHECK(FirstKey("  f = pred[] compare(i, j), direction=GT\n  e = pred[] compare(i, j), direction=EQ\n"
                 "  t = pred[] compare(a, b), direction=LT\n  ROOT l = pred[] select(e, t, f)\n") == 1);
}

TEST_CASE("comparators: of other types", "[check][bounds]") {
  const std::string less = "  ROOT l = pred[] compare(R_a, R_b), direction=LT\n";
  CHECK(FirstKey(OfBits("s16", "32767",
                        "  N = pred[] compare(X, Z), direction=LT\n  F = s16[] xor(M, X)\n"
                        "  R = s16[] select(N, F, X)\n",
                        less),
                 "bf16") == 0);
  CHECK(FirstKey(
            "  c = f32[] convert(a)\n  d = f32[] convert(b)\n  ROOT l = pred[] compare(c, d), direction=LT\n",
            "bf16") == 0);
  CHECK(FirstKey("  ROOT l = pred[] compare(a, b), direction=GT, type=TOTALORDER\n", "f64") == 0);
  CHECK(FirstKey("  ROOT l = pred[] compare(a, b), direction=LT\n", "u32") == 0);
  CHECK(
      FirstKey(
          "  n = f32[] negate(a)\n  o = f32[] negate(b)\n  ROOT l = pred[] compare(n, o), direction=LT\n") ==
      0);
}

TEST_CASE("comparators: of numbers that are rounded before", "[check][bounds]") {
  CHECK(FirstKey("  rounded = bf16[] convert(a)\n  d = bf16[] convert(b)\n"
                 "  ROOT l = pred[] compare(rounded, d), direction=LT\n") == 0);
  // All above 65504 are equal.
  CHECK(FirstKey("  c = f16[] convert(a)\n  d = f16[] convert(b)\n  ROOT l = pred[] compare(c, d), "
                 "direction=LT\n") == -1);
}

TEST_CASE("comparators: what is no order by one operand first", "[check][bounds]") {
  const std::string less = "  ROOT l = pred[] compare(R_a, R_b), direction=LT\n";
  // Bits as they are: negative numbers are in the wrong order.
  CHECK(FirstKey(OfBits("s32", "2147483647", "  R = s32[] copy(X)\n", less)) == -1);
  // All bits of negative numbers turned: they come out positive, above the others.
  CHECK(FirstKey(OfBits("s32", "-1",
                        "  N = pred[] compare(X, Z), direction=LT\n  F = s32[] xor(M, X)\n"
                        "  R = s32[] select(N, F, X)\n",
                        less)) == -1);
  // Another mask, a sum that overflows within a class, magnitudes, different functions of both.
  CHECK(FirstKey(OfBits("s32", "2147483646",
                        "  N = pred[] compare(X, Z), direction=LT\n  F = s32[] xor(M, X)\n"
                        "  R = s32[] select(N, F, X)\n",
                        less)) == -1);
  CHECK(FirstKey("  c = s32[] constant(5)\n  d = s32[] add(a, c)\n  e = s32[] add(b, c)\n"
                 "  ROOT l = pred[] compare(d, e), direction=LT\n",
                 "s32") == -1);
  CHECK(FirstKey("  c = f32[] abs(a)\n  d = f32[] abs(b)\n  ROOT l = pred[] compare(c, d), direction=LT\n") ==
        -1);
  CHECK(FirstKey("  c = f32[] negate(a)\n  ROOT l = pred[] compare(c, b), direction=LT\n") == -1);
  CHECK(FirstKey("  ROOT l = pred[] compare(a, b), direction=EQ\n") == -1);
  // Steps: 1.2 and 1.4 are equal.
  CHECK(FirstKey(
            "  c = f32[] floor(a)\n  d = f32[] floor(b)\n  ROOT l = pred[] compare(c, d), direction=LT\n") ==
        -1);
}

}  // namespace assay::testing
