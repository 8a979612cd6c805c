// Rewrites keep every bit of a program's outputs, by the reference, which knows nothing of them.
#include "find/fuzz/rewrites.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "check/profile.h"
#include "find/fuzz/meaning.h"
#include "hlo/text/printer.h"
#include "run/program.h"

namespace assay::fuzz {
namespace {

MeaningOptions ByReference() {
  MeaningOptions options{.ask = {}, .profile = *LoadProfile("strict")};
  options.ask.engines = EnginesOf(EngineChoice::kReference);
  return options;
}

// Of the table.
const EqualRewrite& Named(std::string_view name) {
  const auto it = std::ranges::find(EqualRewrites(), name, &EqualRewrite::name);
  REQUIRE(it != EqualRewrites().end());
  return *it;
}

// The program with the instruction written in the other way.
CheckedCase Rewritten(const CheckedCase& made, std::string_view rewrite, std::string_view instruction,
                      uint64_t seed = 1) {
  const auto& instructions = made.entry().instructions;
  const auto place = std::ranges::find(instructions, instruction, &Instruction::name);
  REQUIRE(place != instructions.end());
  REQUIRE(Named(rewrite).applies(made.module(), *place));
  TestCase other = made.Copy();
  Choices choices(seed);
  REQUIRE(
      ApplyRewrite(Named(rewrite), static_cast<int32_t>(place - instructions.begin()), choices, other.module)
          .ok());
  absl::StatusOr<CheckedCase> rewritten = CheckedCase::Of(std::move(other));
  REQUIRE(rewritten.ok());
  return *std::move(rewritten);
}

Literal ResultOf(const CheckedCase& made) {
  const absl::StatusOr<Literal> result =
      made.program().Run(made.arguments(), {}, EnginesOf(EngineChoice::kReference));
  REQUIRE(result.ok());
  return *result;
}

Literal Floats(const std::vector<double>& values) {
  return Literal::FromDoubles(ElementType::kF32, DimVector{std::ssize(values)}, values);
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

// Writes the case in another way, and counts the rewrites that were applied.
void CheckRewritten(const CheckedCase& made, int count,
                    absl::FunctionRef<bool(const EqualRewrite&)> is_wanted, Choices& choices,
                    std::map<std::string_view, int>& applied) {
  static const MeaningOptions options = ByReference();
  TestCase other = made.Copy();
  const std::vector<std::string_view> names = RewriteEqually(choices, count, is_wanted, other.module);
  if (names.empty()) return;
  const absl::StatusOr<CheckedCase> rewritten = CheckedCase::Of(std::move(other));
  INFO(names[0]);
  REQUIRE(rewritten.ok());
  const absl::StatusOr<std::string> differ = OutputsDiffer(made, *rewritten, Named(names[0]).keeps, options);
  if (!differ.ok()) return;
  CHECK(*differ == "");
  for (const std::string_view name : names) ++applied[name];
}

TEST_CASE("rewrites: each keeps the outputs of generated programs", "[fuzz]") {
  constexpr int kEnough = 20;
  std::map<std::string_view, int> applied;
  for (uint64_t seed = 1; seed <= 600; ++seed) {
    Choices choices(seed);
    GeneratedProgram generated =
        GenerateProgram(choices, {.instructions = 24, .max_elements = 100, .cheap = true, .pure = true});
    const absl::StatusOr<CheckedCase> made =
        CheckedCase::Of({std::move(generated.module), std::move(generated.arguments)});
    REQUIRE(made.ok());
    INFO("seed " << seed);
    if (seed % 4 == 0) CheckRewritten(*made, 3, KeepsBits, choices, applied);
    for (const EqualRewrite& rewrite : EqualRewrites()) {
      if (applied[rewrite.name] >= kEnough) continue;
      CheckRewritten(
          *made, 1, [&](const EqualRewrite& other) { return other.name == rewrite.name; }, choices, applied);
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
  const CheckedCase rewritten = Rewritten(made, "swap operands of a dot", "dot");
  CHECK(rewritten.entry().root_instruction().opcode == Opcode::kTranspose);
  // {1,2}·{{1,2,3},{4,5,6}} and {3,4}·{{7,8,9},{10,11,12}}
  CHECK(Literal::BitwiseEqual(ResultOf(rewritten), Numbers({2, 1, 3}, {9, 12, 15, 61, 68, 75})));
}

TEST_CASE("rewrites: what a bitcast reads keeps its layout", "[fuzz]") {
  const CheckedCase made = Checked(R"(HloModule m
ENTRY main {
  a = s32[2] parameter(0)
  b = s32[2] parameter(1)
  dot = s32[2,2] dot(a, b), lhs_contracting_dims={}, rhs_contracting_dims={}
  ROOT c = s32[4] bitcast(dot)
})",
                                   {Numbers({2}, {2, 3}), Numbers({2}, {5, 7})});
  for (const char* const name : {"swap operands of a dot", "transpose twice",
                                 "copy to another layout and back", "result in another layout"}) {
    CHECK(Literal::BitwiseEqual(ResultOf(Rewritten(made, name, "dot")), Numbers({4}, {10, 14, 15, 21})));
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
  for (const Instruction& instruction : made.entry().instructions) {
    CHECK(Named("reduce the other way round").applies(made.module(), instruction) ==
          (instruction.name == "sum"));
  }
}

TEST_CASE("rewrites: a sum of floats that is grouped otherwise stays within bounds", "[fuzz]") {
  const std::string text = R"(HloModule m
ENTRY main {
  a = f32[2] parameter(0)
  b = f32[2] parameter(1)
  c = f32[2] parameter(2)
  ab = f32[2] add(a, b)
  ROOT abc = f32[2] add(ab, c)
})";
  const MeaningOptions options = ByReference();
  // (1e8 - 1e8) + 1 is 1; -1e8 + 1 is -1e8 in f32, whose bound is 4.
  const CheckedCase cancels = Checked(text.c_str(), {Floats({1e8, 1}), Floats({-1e8, 1}), Floats({1, 1})});
  const CheckedCase grouped = Rewritten(cancels, "group floats otherwise", "abc");
  CHECK(Literal::BitwiseEqual(ResultOf(cancels), Floats({1, 3})));
  CHECK(Literal::BitwiseEqual(ResultOf(grouped), Floats({0, 3})));
  CHECK(*OutputsDiffer(cancels, grouped, Keeps::kBits, options) != "");
  CHECK(*OutputsDiffer(cancels, grouped, Keeps::kMeaning, options) == "");
  // 64 more is not what rounding gives.
  const std::string more = R"(HloModule m
ENTRY main {
  a = f32[2] parameter(0)
  b = f32[2] parameter(1)
  c = f32[2] parameter(2)
  bc = f32[2] add(b, c)
  abc = f32[2] add(a, bc)
  eight = f32[2] constant({64, 0})
  ROOT more = f32[2] add(abc, eight)
})";
  const CheckedCase other = Checked(more.c_str(), cancels.arguments());
  CHECK(OutputsDiffer(cancels, other, Keeps::kMeaning, options)->starts_with("out0: element 0 is 1 (+-"));
  // Where one way overflows nothing is compared: 3e38 + 3e38 is infinite, 3e38 - 3e38 is not.
  const CheckedCase overflows =
      Checked(text.c_str(), {Floats({3e38, 1}), Floats({3e38, 1}), Floats({-3e38, 1})});
  const CheckedCase does_not = Rewritten(overflows, "group floats otherwise", "abc");
  CHECK(ResultOf(overflows).GetDouble(0) == HUGE_VAL);
  CHECK(ResultOf(does_not).GetDouble(0) < HUGE_VAL);
  CHECK(*OutputsDiffer(overflows, does_not, Keeps::kMeaning, options) == "");
  // Floats are no exact chain, integers no rounded one.
  CHECK(!Named("group otherwise").applies(cancels.module(), cancels.entry().root_instruction()));
}

TEST_CASE("rewrites: a start value counts once, in steps and on several devices", "[fuzz]") {
  const auto with = [](const std::string& op, const char* start) {
    return Checked(("HloModule m\nf { x = s32[] parameter(0) y = s32[] parameter(1) ROOT z = s32[] " + op +
                    "(x, y) }\nENTRY main {\n  a = s32[2,3] parameter(0)\n  start = s32[] constant(" + start +
                    ")\n  ROOT r = s32[] reduce(a, start), dimensions={0,1}, to_apply=f\n}")
                       .c_str(),
                   {Numbers({2, 3}, {1, 2, 3, 4, 5, 6})});
  };
  const std::pair<CheckedCase, int64_t> cases[] = {{with("add", "10"), 31},   {with("multiply", "3"), 2160},
                                                   {with("maximum", "4"), 6}, {with("minimum", "4"), 1},
                                                   {with("xor", "8"), 15},    {with("and", "7"), 0},
                                                   {with("or", "8"), 15}};
  for (const auto& [made, expected] : cases) {
    CHECK(ResultOf(made).GetInt(0) == expected);
    CHECK(ResultOf(Rewritten(made, "reduce in two steps", "r")).GetInt(0) == expected);
    for (uint64_t seed = 1; seed < 6; ++seed) {
      const CheckedCase shared = Rewritten(made, "share out a reduce", "r", seed);
      const int64_t devices = shared.module().num_partitions;
      CHECK((devices == 2 || devices == 3));
      CHECK(*OutputsDiffer(made, shared, Keeps::kBits, ByReference()) == "");
    }
  }
}

TEST_CASE("rewrites: each device has to give what the whole program gives", "[fuzz]") {
  const char* const text = R"(HloModule m
ENTRY main {
  a = s32[4] parameter(0)
  ROOT b = s32[4] negate(a)
})";
  const char* const by_id = R"(HloModule m, num_partitions=2
ENTRY main {
  a = s32[4] parameter(0)
  b = s32[4] negate(a)
  id = u32[] partition-id()
  number = s32[] convert(id)
  all = s32[4] broadcast(number), dimensions={}
  ROOT sum = s32[4] add(b, all)
})";
  const CheckedCase whole = Checked(text, {Numbers({4}, {1, 2, 3, 4})});
  const CheckedCase shared = Rewritten(whole, "share out the elements", "b");
  CHECK(shared.entry().root_instruction().opcode == Opcode::kAllGather);
  CHECK(*OutputsDiffer(whole, shared, Keeps::kBits, ByReference()) == "");
  const std::string differ =
      *OutputsDiffer(whole, Checked(by_id, {Numbers({4}, {1, 2, 3, 4})}), Keeps::kBits, ByReference());
  CHECK(differ.starts_with("r0p1/"));
}

}  // namespace
}  // namespace assay::fuzz
