// The search, with tests that look at the program alone.
#include <functional>
#include <set>

#include "find/reduce/edit.h"
#include "find/reduce/search.h"
#include "tests/find/reduce_testing.h"

namespace assay {
namespace {

using Question = std::function<bool(const CheckedCase&)>;

class StructureTest final : public InterestTest {
 public:
  explicit StructureTest(Question is_interesting) : is_interesting_(std::move(is_interesting)) {}
  absl::StatusOr<Interest> Ask(const CheckedCase& test_case) const override {
    return Interest{is_interesting_(test_case), "it is there"};
  }
  std::string Command(const std::string&, const std::string&) const override { return "true"; }

 private:
  const Question is_interesting_;
};

bool Has(const CheckedCase& test_case, Opcode opcode) {
  for (const Computation& computation : test_case.module().computations) {
    for (const Instruction& instruction : computation.instructions) {
      if (instruction.opcode == opcode) return true;
    }
  }
  return false;
}

constexpr char kProgram[] = R"(HloModule m
condition {
  p = (s32[], f32[8,4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(5)
  ROOT less = pred[] compare(i, n), direction=LT
}
body {
  p = (s32[], f32[8,4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  x = f32[8,4] get-tuple-element(p), index=1
  turned = f32[8,4] tanh(x)
  doubled = f32[8,4] add(turned, turned)
  ROOT r = (s32[], f32[8,4]) tuple(next, doubled)
}
ENTRY e {
  x = f32[8,4] parameter(0)
  y = f32[8,4] parameter(1)
  unused = f32[100] parameter(2)
  s = f32[8,4] subtract(x, y), metadata={op_name="s"}
  zero = s32[] constant(0)
  t = (s32[], f32[8,4]) tuple(zero, s)
  w = (s32[], f32[8,4]) while(t), condition=condition, body=body
  g = f32[8,4] get-tuple-element(w), index=1
  e = f32[8,4] exponential(g)
  ROOT o = (f32[8,4], f32[8,4]) tuple(e, y)
})";

SearchResult Found(const std::string& text, const Question& is_interesting,
                   const SearchOptions& options = {}) {
  return Reduce(CaseOf(text), "it is there", StructureTest(is_interesting), options);
}

TEST_CASE("reduce: what a loop's body has is all that is left", "[smaller]") {
  const SearchResult result =
      Found(kProgram, [](const CheckedCase& asked_case) { return Has(asked_case, Opcode::kTanh); });
  INFO(TextOf(result.best));
  CHECK(NumInstructions(result.best.module()) == 2);
  CHECK(NumElements(result.best.module()) == 2);
  CHECK(result.ended.empty());
  CHECK(result.tries > 0);
}

TEST_CASE("reduce: a loop that must stay has nothing else in it", "[smaller]") {
  const SearchResult result =
      Found(kProgram, [](const CheckedCase& asked_case) { return Has(asked_case, Opcode::kWhile); });
  INFO(TextOf(result.best));
  // A condition of a parameter and a result, a body that gives its parameter, an initial state and the loop.
  CHECK(NumInstructions(result.best.module()) == 5);
}

TEST_CASE("reduce: the result does not depend on how many are tried at once", "[smaller]") {
  for (const Opcode opcode : {Opcode::kTanh, Opcode::kWhile, Opcode::kExp}) {
    const auto has = [opcode](const CheckedCase& asked_case) { return Has(asked_case, opcode); };
    SearchOptions options;
    const SearchResult one = Found(kProgram, has, options);
    options.jobs = 4;
    const SearchResult four = Found(kProgram, has, options);
    CHECK(TextOf(one.best) == TextOf(four.best));
    CHECK(one.best.digest() == four.best.digest());
    CHECK(one.tries == four.tries);
    CHECK(one.applied == four.applied);
  }
}

TEST_CASE("reduce: what nobody needs stays where it is a part of what is looked for", "[smaller]") {
  const SearchResult result =
      Found(R"(HloModule m
ENTRY e {
  x = f32[64] parameter(0)
  dead = f32[64] tanh(x)
  s = f32[64] sine(x)
  ROOT n = f32[64] negate(s)
})",
            [](const CheckedCase& asked_case) {
              return Has(asked_case, Opcode::kTanh) && Has(asked_case, Opcode::kNegate);
            });
  INFO(TextOf(result.best));
  // Each has an operand, and both are outputs.
  CHECK(NumInstructions(result.best.module()) <= 5);
  CHECK(NumElements(result.best.module()) <= 6);
}

TEST_CASE("reduce: an interrupted search gives what it has", "[smaller]") {
  SearchOptions options;
  int64_t asked = 0;
  options.interrupted = [&] { return asked >= 3; };
  const SearchResult result = Found(
      kProgram,
      [&](const CheckedCase& asked_case) {
        ++asked;
        return Has(asked_case, Opcode::kTanh);
      },
      options);
  CHECK(result.ended == "interrupted");
  CHECK(Has(result.best, Opcode::kTanh));
  CHECK(result.tries <= 4);
}

TEST_CASE("reduce: no candidate is asked twice", "[smaller]") {
  std::set<std::string> asked;
  bool repeats = false;
  const SearchResult result = Found(kProgram, [&](const CheckedCase& asked_case) {
    repeats = !asked.insert(asked_case.digest()).second || repeats;
    return Has(asked_case, Opcode::kExp);
  });
  CHECK_FALSE(repeats);
  CHECK(std::ssize(asked) == result.tries);
}

TEST_CASE("reduce: loops that would not end are not asked", "[smaller]") {
  bool any_endless = false;
  Found(kProgram, [&](const CheckedCase& asked_case) {
    RunOptions options;
    options.limits.max_steps = 1'000'000;
    const absl::Status status = asked_case.program().Run(asked_case.arguments(), options).status();
    any_endless = any_endless || absl::IsResourceExhausted(status);
    return Has(asked_case, Opcode::kWhile);
  });
  CHECK_FALSE(any_endless);
}

}  // namespace
}  // namespace assay
