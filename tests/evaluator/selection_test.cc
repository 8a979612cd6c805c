#include "evaluator/patterns/selection.h"

#include <catch2/catch.hpp>
#include <string>

#include "fmt/format.h"
#include "tests/run/program_testing.h"

namespace assay {
namespace {

// Of the computation f of elements a and b, and their places i and j.
bool IsSelection(const std::string& body, const std::string& type = "f32") {
  const std::string text = fmt::format(R"(HloModule m
f {{
  a = {0}[] parameter(0)
  i = s32[] parameter(1)
  b = {0}[] parameter(2)
  j = s32[] parameter(3)
  {1}
  ROOT t = ({0}[], s32[]) tuple(v, k)
}}
ENTRY e {{
  x = {0}[5] parameter(0)
  p = s32[5] parameter(1)
  x0 = {0}[] parameter(2)
  p0 = s32[] parameter(3)
  ROOT r = ({0}[], s32[]) reduce(x, p, x0, p0), dimensions={{0}}, to_apply=f
}}
)",
                                       type, body);
  const Program program = ProgramOf(text);
  const Instruction& reduce = program.module().entry_computation().root_instruction();
  return IsAssociativeSelection(program.module(), *reduce.attributes.Computation(Attr::kToApply));
}

constexpr const char* kTakeBoth = "v = f32[] select(p, a, b)\n  k = s32[] select(p, i, j)";

std::string With(const std::string& before) { return before + "\n  " + kTakeBoth; }

}  // namespace

TEST_CASE("selections that may be grouped", "[patterns]") {
  // The greater one, or the first NaN: as jax has it, with the lesser place of equal ones.
  const std::string jax = R"(gt = pred[] compare(a, b), direction=GT
  u = pred[] compare(a, a), direction=NE
  p = pred[] or(gt, u)
  eq = pred[] compare(a, b), direction=EQ
  lt = pred[] compare(i, j), direction=LT
  tie = pred[] and(eq, lt)
  q = pred[] or(p, tie)
  v = f32[] select(p, a, b)
  k = s32[] select(q, i, j))";
  CHECK(IsSelection(jax));
  // The first and the last element.
  CHECK(IsSelection(With("p = pred[] compare(i, i), direction=EQ")));
  CHECK(IsSelection(With("p = pred[] compare(i, i), direction=NE")));
  // By the place alone; by the value, NaN last.
  CHECK(IsSelection(With("p = pred[] compare(i, j), direction=LE")));
  CHECK(
      IsSelection(With("p0 = pred[] compare(a, b), direction=GE\n  n = pred[] compare(b, b), direction=NE\n  "
                       "p = pred[] or(p0, n)")));
}

TEST_CASE("selections whose grouping shows", "[patterns]") {
  // A NaN stays on the right and goes on the left: f(f(1, NaN), 0) = 0, f(1, f(NaN, 0)) = 1.
  CHECK_FALSE(IsSelection(With("p = pred[] compare(a, b), direction=GT")));
  // The same of integers is an order.
  CHECK(IsSelection(
      "p = pred[] compare(a, b), direction=GT\n  v = s32[] select(p, a, b)\n  k = s32[] select(p, i, j)",
      "s32"));
  // Whether two elements differ says which place goes on: f(f(1, 2), 1) has the first, f(1, f(2, 1)) the
  // second.
  CHECK_FALSE(
      IsSelection("p = pred[] compare(a, b), direction=NE\n  v = f32[] select(p, b, a)\n  k = s32[] "
                  "select(p, i, j)"));
  // Values that are made are no selection.
  CHECK_FALSE(IsSelection("v = f32[] add(a, b)\n  k = s32[] maximum(i, j)"));
  // Total orders tell more elements apart than are tried.
  CHECK_FALSE(IsSelection(With("p = pred[] compare(a, b), direction=GT, type=TOTALORDER")));
}

}  // namespace assay
