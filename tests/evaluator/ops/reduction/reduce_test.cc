#include <catch2/catch.hpp>

#include "tests/evaluator/ops/exact_oracle.h"

namespace assay {
namespace {

using namespace testing;  // NOLINT

std::string ReduceProgram(const Doubles& x, const Doubles& out, const std::string& op,
                          const std::string& dims) {
  const std::string type(Name(x.type));
  return Reducer(type, op) + R"(ENTRY e {
  x = )" +
         x.Text() + R"( parameter(0)
  i = )" +
         type +
         R"([] parameter(1)
  ROOT r = )" +
         out.Text() + " reduce(x, i), dimensions={" + dims + "}, to_apply=f\n}\n";
}

// Reduces the dimensions whose bit is set, by `fold` over the elements in row-major order.
template <typename Fold>
Doubles ReduceSlowly(Doubles x, int mask, const Fold& fold) {
  std::vector<int64_t> kept;
  for (size_t d = 0; d < x.sizes.size(); ++d) {
    if (!(mask >> d & 1)) kept.push_back(x.sizes[d]);
  }
  Doubles out(x.type, kept);
  ForEachIndex(kept, [&](const std::vector<int64_t>& j) {
    std::vector<double> elements;
    ForEachIndex(x.sizes, [&](const std::vector<int64_t>& i) {
      std::vector<int64_t> rest;
      for (size_t d = 0; d < i.size(); ++d) {
        if (!(mask >> d & 1)) rest.push_back(i[d]);
      }
      if (rest == j) elements.push_back(x.At(i));
    });
    out.At(j) = fold(elements);
  });
  return out;
}

std::string DimsOf(int mask, size_t rank) {
  std::string text;
  for (size_t d = rank; d-- > 0;) {
    if (mask >> d & 1) text += (text.empty() ? "" : ",") + std::to_string(d);
  }
  return text;
}

TEST_CASE("reduce: float add is the exact sum rounded once, whatever is reduced", "[reduce]") {
  RandomDoubles random(1);
  for (ElementType type :
       {ElementType::kF32, ElementType::kF64, ElementType::kBF16, ElementType::kF8E4M3FN}) {
    const int spread = type == ElementType::kF8E4M3FN ? 3 : 60;
    for (int mask = 0; mask < 8; ++mask) {
      const Doubles x = random.Fill(type, {3, 5, 4}, spread), init = random.Fill(type, {}, 1);
      const Doubles expected = ReduceSlowly(x, mask, [&](const std::vector<double>& elements) {
        RationalSum sum;
        sum.Add(init.values[0]);
        for (double e : elements) sum.Add(e);
        return sum.Round(type);
      });
      const Literal actual =
          RunGood(ReduceProgram(x, expected, "add", DimsOf(mask, 3)), {x.ToLiteral(), init.ToLiteral()});
      INFO(Name(type) << " mask " << mask);
      CHECK(Differences(actual, expected) == 0);
    }
  }
}

TEST_CASE("reduce: another reducer folds from the left in row-major order", "[reduce]") {
  RandomDoubles random(2);
  for (int mask = 0; mask < 8; ++mask) {
    const Doubles x = random.Fill(ElementType::kF32, {4, 3, 5}, 4);
    const Doubles expected = ReduceSlowly(x, mask, [](const std::vector<double>& elements) {
      float acc = 1.5F;
      for (double e : elements) acc = static_cast<float>(e) - acc;
      return static_cast<double>(acc);
    });
    std::string program = ReduceProgram(x, expected, "subtract", DimsOf(mask, 3));
    program.replace(program.find("(a, b)"), 6, "(b, a)");
    const Literal actual = RunGood(program, {x.ToLiteral(), Literal::ScalarDouble(ElementType::kF32, 1.5)});
    INFO("mask " << mask);
    CHECK(Differences(actual, expected) == 0);
  }
}

TEST_CASE("reduce: long rows of an associative reducer give the left fold's bits", "[reduce]") {
  RandomDoubles random(3);
  for (int64_t length : {1, 2, 255, 256, 257, 1000}) {
    Doubles x = random.Fill(ElementType::kF32, {2, length, 3}, 4);
    x.values[1] = -0.0;
    const Doubles expected = ReduceSlowly(x, 2, [](const std::vector<double>& elements) {
      double acc = -1e30F;
      for (double e : elements) acc = e > acc || (e == acc && std::signbit(acc)) ? e : acc;
      return acc;
    });
    const Literal actual = RunGood(ReduceProgram(x, expected, "maximum", "1"),
                                   {x.ToLiteral(), Literal::ScalarDouble(ElementType::kF32, -1e30)});
    CHECK(Differences(actual, expected) == 0);
  }
  std::vector<int64_t> values(1000);
  int64_t exclusive = 77;
  for (int64_t& v : values) exclusive ^= v = random.Int(-1000000, 1000000);
  const int64_t n = 1000;
  const Literal folded = RunGood(Reducer("s32", "xor") +
                                     R"(ENTRY e {
  x = s32[1000] parameter(0)
  i = s32[] constant(77)
  ROOT r = s32[] reduce(x, i), dimensions={0}, to_apply=f
}
)",
                                 {Literal::FromInts(ElementType::kS32, {&n, 1}, values)});
  CHECK(folded.GetInt(0) == exclusive);
}

TEST_CASE("reduce: init is used once for each result", "[reduce]") {
  const std::string program = Reducer("s32", "add") +
                              R"(ENTRY e {
  x = s32[600] parameter(0)
  i = s32[] constant(5)
  ROOT r = s32[] reduce(x, i), dimensions={0}, to_apply=f
}
)";
  const int64_t n = 600;
  const std::vector<int64_t> ones(600, 1);
  CHECK(RunGood(program, {Literal::FromInts(ElementType::kS32, {&n, 1}, ones)}).GetInt(0) == 605);
}

TEST_CASE("reduce: a reducer that is no strip program is interpreted with the same order", "[reduce]") {
  const std::string program = R"(
g { p = s32[] parameter(0)
  q = s32[] parameter(1)
  ROOT s = s32[] subtract(p, q) }
f { a = s32[] parameter(0)
  b = s32[] parameter(1)
  v = s32[1] reshape(b)
  z = s32[] constant(0)
  w = s32[] reduce(v, z), dimensions={0}, to_apply=g
  t = s32[] multiply(a, a)
  ROOT r = s32[] add(t, w) }
ENTRY e { x = s32[4] constant({1, 2, 3, 4})
  i = s32[] constant(2)
  ROOT r = s32[] reduce(x, i), dimensions={0}, to_apply=f }
)";
  // 2 -> 3 -> 7 -> 46 -> 2112
  CHECK(RunGood(program, {}).GetInt(0) == 2112);
}

TEST_CASE("reduce: the step limit ends a long reduction", "[reduce]") {
  RunOptions options;
  options.limits.max_steps = 10;
  const std::string program = Reducer("f32", "add") +
                              R"(ENTRY e {
  i = f32[] constant(1)
  x = f32[1000,1000] broadcast(i), dimensions={}
  ROOT r = f32[] reduce(x, i), dimensions={0,1}, to_apply=f
}
)";
  const absl::StatusOr<Literal> result = RunProgram(program, {}, options);
  REQUIRE_FALSE(result.ok());
  CHECK(ExitCodeOf(result.status()) == 5);
}

TEST_CASE("map: applies the computation to live elements only", "[map]") {
  const std::string program = R"(
f { a = s32[] parameter(0)
  one = s32[] constant(1)
  ROOT r = s32[] add(a, one) }
ENTRY e { x = s32[2,3] parameter(0)
  n = s32[] constant(2)
  d = s32[2,<=3] set-dimension-size(x, n), dimensions={1}
  m = s32[2,<=3] map(d), dimensions={0,1}, to_apply=f
  three = s32[] constant(3)
  ROOT r = s32[2,3] set-dimension-size(m, three), dimensions={1} }
)";
  const std::vector<int64_t> sizes = {2, 3}, values = {1, 2, 3, 4, 5, 6};
  const Literal result = RunGood(program, {Literal::FromInts(ElementType::kS32, sizes, values)});
  CHECK(result.GetInt(0) == 2);
  CHECK(result.GetInt(2) == 0);
  CHECK(result.GetInt(4) == 6);
}

}  // namespace
}  // namespace assay
