// Rewrites keep every bit of a program's outputs, by the reference, which knows nothing of them.
#include "find/fuzz/rewrites.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "find/fuzz/meaning.h"
#include "hlo/text/printer.h"
#include "run/program.h"

namespace assay::fuzz {
namespace {

AskOptions ByReference() {
  AskOptions options;
  options.engines = EnginesOf(EngineChoice::kReference);
  return options;
}

Literal Numbers(const std::vector<int64_t>& sizes, const std::vector<int64_t>& values) {
  return Literal::FromInts(ElementType::kS32, sizes, values);
}

CheckedCase Checked(const char* text, std::vector<Literal> arguments) {
  const absl::StatusOr<Program> program = Program::Load("", text);
  REQUIRE(program.ok());
  absl::StatusOr<CheckedCase> checked = CheckedCase::Of({program->as_written(), std::move(arguments)});
  REQUIRE(checked.ok());
  return *std::move(checked);
}

TEST_CASE("rewrites: each keeps the outputs of generated programs", "[fuzz]") {
  std::map<std::string_view, int> applied;
  const AskOptions options = ByReference();
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    Choices choices(seed);
    GeneratedProgram generated =
        GenerateProgram(choices, {.instructions = 8, .max_elements = 100, .cheap = true, .pure = true});
    const absl::StatusOr<CheckedCase> made =
        CheckedCase::Of({std::move(generated.module), std::move(generated.arguments)});
    REQUIRE(made.ok());
    for (int i = 0; i < 4; ++i) {
      TestCase other = made->Copy();
      const std::vector<std::string_view> names = RewriteEqually(choices, 3, other.module);
      if (names.empty()) continue;
      const absl::StatusOr<CheckedCase> rewritten = CheckedCase::Of(std::move(other));
      INFO("seed " << seed << ", " << names[0]);
      REQUIRE(rewritten.ok());
      const absl::StatusOr<std::string> differ = OutputsDiffer(*made, *rewritten, options);
      if (!differ.ok()) continue;
      CHECK(*differ == "");
      for (const std::string_view name : names) ++applied[name];
    }
  }
  for (const EqualRewrite& rewrite : EqualRewrites()) {
    INFO(rewrite.name);
    CHECK(applied[rewrite.name] > 0);
  }
}

TEST_CASE("rewrites: operands of a dot are swapped, and its result is transposed", "[fuzz]") {
  // Batch dimension b of 2, free dimensions of 1 and 3, contracted of 2: by hand.
  const CheckedCase made = Checked(
      R"(HloModule m
ENTRY main {
  a = s32[2,1,2] parameter(0)
  b = s32[2,2,3] parameter(1)
  ROOT dot = s32[2,1,3] dot(a, b), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}
})",
      {Numbers({2, 1, 2}, {1, 2, 3, 4}), Numbers({2, 2, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})});
  for (const EqualRewrite& rewrite : EqualRewrites()) {
    if (rewrite.name != "swap operands of a dot") continue;
    TestCase other = made.Copy();
    Choices choices(uint64_t{1});
    REQUIRE(ApplyRewrite(rewrite, made.entry().root, choices, other.module).ok());
    const Instruction& root = other.module.entry_computation().root_instruction();
    CHECK(root.opcode == Opcode::kTranspose);
    const absl::StatusOr<CheckedCase> rewritten = CheckedCase::Of(std::move(other));
    REQUIRE(rewritten.ok());
    const absl::StatusOr<Literal> result =
        rewritten->program().Run(rewritten->arguments(), {}, EnginesOf(EngineChoice::kReference));
    REQUIRE(result.ok());
    // {1,2}·{{1,2,3},{4,5,6}} and {3,4}·{{7,8,9},{10,11,12}}
    CHECK(Literal::BitwiseEqual(*result, Numbers({2, 1, 3}, {9, 12, 15, 61, 68, 75})));
  }
}

TEST_CASE("rewrites: a product in another order is no reduce without order", "[fuzz]") {
  const CheckedCase made =
      Checked(R"(HloModule m
times { x = f32[] parameter(0) y = f32[] parameter(1) ROOT z = f32[] multiply(x, y) }
plus { x = f32[] parameter(0) y = f32[] parameter(1) ROOT z = f32[] add(x, y) }
ENTRY main {
  a = f32[5] parameter(0)
  one = f32[] constant(1)
  product = f32[] reduce(a, one), dimensions={0}, to_apply=times
  sum = f32[] reduce(a, one), dimensions={0}, to_apply=plus
  ROOT both = (f32[], f32[]) tuple(product, sum)
})",
              {Literal::FromDoubles(ElementType::kF32, DimVector{5}, std::vector<double>{1, 2, 3, 4, 5})});
  for (const EqualRewrite& rewrite : EqualRewrites()) {
    if (rewrite.name != "reduce the other way round") continue;
    for (const Instruction& instruction : made.entry().instructions) {
      CHECK(rewrite.applies(made.module(), instruction) == (instruction.name == "sum"));
    }
  }
}

}  // namespace
}  // namespace assay::fuzz
