// Bisection over how many passes a compiler runs.
#include "find/passes/pass_search.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "fmt/format.h"

namespace assay::testing {
namespace {

Program Loaded(const std::string& text) {
  absl::StatusOr<Program> program = Program::Load("test.hlo", "HloModule m\n" + text);
  INFO(program.status());
  REQUIRE(program.ok());
  return *std::move(program);
}

// x / c, or x (1 / c), or x / another number.
std::string Quotient(std::string_view constant, bool is_wrong) {
  return fmt::format(
      "ENTRY e {{ x = f32[4] parameter(0)\n  c = f32[] constant({})\n"
      "  b = f32[4] broadcast(c), dimensions={{}}\n  ROOT q = f32[4] {}(x, b) }}",
      is_wrong ? "9" : constant, constant == "7.3" || is_wrong ? "divide" : "multiply");
}

// Rounds otherwise from `rounding` passes on and is wrong from `wrong` on; what `broken` has is no program.
class Compiler {
 public:
  Compiler(int64_t rounding, int64_t wrong, std::set<int64_t> broken = {})
      : rounding_(rounding), wrong_(wrong), broken_(std::move(broken)) {}

  absl::StatusOr<Program> operator()(int64_t passes) {
    ++runs_;
    if (broken_.contains(passes)) return NotSupported({}, "no such program");
    return Loaded(Quotient(passes >= rounding_ ? "0.1369863" : "7.3", passes >= wrong_));
  }
  int64_t runs() const { return runs_; }

 private:
  const int64_t rounding_, wrong_;
  const std::set<int64_t> broken_;
  int64_t runs_ = 0;
};

PassSearch Searched(Compiler& compiler, int64_t low, int64_t high) {
  ProgramInputs inputs;
  inputs.inputs.emplace_back().arguments = {
      Literal::FromDoubles(ElementType::kF32, {{4}}, {{1.7, 2.9, 3.3, 101}})};
  absl::StatusOr<Profile> loaded = LoadProfile("xla-cpu");
  REQUIRE(loaded.ok());
  const std::optional<Profile> profile = *std::move(loaded);
  const absl::StatusOr<Baseline> baseline = Baseline::Make(Loaded(Quotient("7.3", false)), inputs, profile);
  REQUIRE(baseline.ok());
  CHECK(baseline->has_bounds());
  absl::StatusOr<PassSearch> found =
      SearchPasses(*baseline, profile, low, high, [&](int64_t passes) { return compiler(passes); });
  INFO(found.status());
  REQUIRE(found.ok());
  CHECK(found->ended.ok());
  return *std::move(found);
}

}  // namespace

TEST_CASE("pass search: the first change and the first outside of the bounds", "[find][passes]") {
  for (const int64_t rounding : {1, 37, 63, 100}) {
    Compiler compiler(rounding, 70);
    const PassSearch found = Searched(compiler, 0, 100);
    REQUIRE(found.change);
    CHECK(found.change->after == std::min<int64_t>(rounding, 70));
    CHECK(found.change->before == found.change->after - 1);
    REQUIRE(found.outside);
    CHECK(found.outside->after == 70);
    CHECK(found.outside->before == 69);
    CHECK(found.points.size() <= 2 + 7 + 7);
    CHECK(found.points.at(found.outside->after).outside);
    REQUIRE(found.outside->detail.difference);
  }
}

TEST_CASE("pass search: rounding alone, and ends that agree", "[find][passes]") {
  Compiler rounding(5, 1000);
  const PassSearch found = Searched(rounding, 0, 9);
  REQUIRE(found.change);
  CHECK(found.change->after == 5);
  CHECK(!found.outside);
  CHECK(!found.end().outside);

  Compiler nothing(1000, 1000);
  const PassSearch none = Searched(nothing, 0, 64);
  CHECK(!none.change);
  CHECK(none.points.size() == 2);

  Compiler always(0, 1000);
  const PassSearch from_start = Searched(always, 0, 64);
  CHECK(!from_start.change);
  CHECK(from_start.points.at(0).changed);
}

TEST_CASE("pass search: programs that can't be evaluated are passed by", "[find][passes]") {
  Compiler compiler(1000, 20, {16, 17, 18, 19, 24});
  const PassSearch found = Searched(compiler, 0, 32);
  REQUIRE(found.outside);
  CHECK(found.outside->before == 15);
  CHECK(found.outside->after == 20);
  CHECK(found.points.at(16).why == "no such program");
  CHECK(found.points.at(16).exit_code == 4);
}

TEST_CASE("pass search: an end that can't be evaluated is an error", "[find][passes]") {
  Compiler compiler(1000, 20, {32});
  ProgramInputs inputs;
  inputs.inputs.emplace_back().arguments = {
      Literal::FromDoubles(ElementType::kF32, {{4}}, {{1.7, 2.9, 3.3, 101}})};
  const absl::StatusOr<Baseline> baseline =
      Baseline::Make(Loaded(Quotient("7.3", false)), inputs, std::nullopt);
  REQUIRE(baseline.ok());
  const auto found =
      SearchPasses(*baseline, std::nullopt, 0, 32, [&](int64_t passes) { return compiler(passes); });
  CHECK(ExitCodeOf(found.status()) == 4);
  CHECK(std::string(found.status().message()) == "after 32 passes: no such program");
}

}  // namespace assay::testing
