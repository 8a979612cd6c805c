// Mutants: what makes them is deterministic and mostly leaves programs; a few of them by every engine.
// assay_mutants runs as many as one likes.
#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "tests/mutants/comparison.h"
#include "tests/mutants/text_mutator.h"

namespace assay::testing {
namespace {

constexpr const char* kProgram = R"(HloModule m
add { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT s = f32[] add(a, b) }
ENTRY e {
  x = f32[4,6] parameter(0)
  zero = f32[] constant(0)
  n = f32[4,6] negate(x)
  m = f32[4,6] multiply(n, x)
  r = f32[4] reduce(m, zero), dimensions={1}, to_apply=add
  p = f32[6,4] transpose(n), dimensions={1,0}
  d = f32[6,6] dot(p, m), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = (f32[4], f32[6,6]) tuple(r, d)
}
)";

TEST_CASE("mutants: a number gives the same mutant again, and another one another", "[mutants]") {
  std::map<std::string, int> mutants;
  for (uint64_t number = 0; number < 200; ++number) {
    Choices once(number), again(number);
    const std::string mutant = MutateText(kProgram, once, 2);
    CHECK(mutant == MutateText(kProgram, again, 2));
    ++mutants[mutant];
  }
  CHECK(mutants.size() > 180);
}

TEST_CASE("mutants: a text is seen as its values, their shapes, and the lines that give one", "[mutants]") {
  const ScannedText text(kProgram);
  CHECK(text.is_hlo());
  CHECK(text.definitions().size() == 9);  // not the first and the last line of a computation
  const auto last_n = [&] {
    size_t at = 0;
    for (const size_t i : text.All(TextToken::Kind::kName)) at = text.Of(text.tokens()[i]) == "n" ? i : at;
    return at;
  }();
  const TextToken* const n = text.DefinitionOf(last_n);
  REQUIRE(n != nullptr);
  CHECK(n->type == "f32[4,6]");
  // `a` of another computation is not to be seen from here.
  const auto [first, end] = text.ScopeOf(last_n);
  for (size_t i = first; i < end; ++i) CHECK(text.Of(text.tokens()[i]) != "b");
}

TEST_CASE("mutants: every engine gives what the reference gives, and every form reads back", "[mutants]") {
  int ends[kNumMutantEnds] = {};
  for (uint64_t number = 1; number <= 400; ++number) {
    Choices choices(number);
    const std::string mutant = MutateText(kProgram, choices, 1 + static_cast<int>(number % 2));
    const MutantOutcome outcome = CompareMutant("mutant.hlo", mutant, {}, number);
    INFO("mutant " << number << "\n" << mutant);
    INFO(outcome.text);
    CHECK(outcome.end != MutantEnd::kDifferent);
    ++ends[static_cast<int>(outcome.end)];
  }
  CHECK(ends[static_cast<int>(MutantEnd::kEqual)] > 100);
}

}  // namespace
}  // namespace assay::testing
