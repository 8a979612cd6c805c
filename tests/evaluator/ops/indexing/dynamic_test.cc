// Run-time sizes through chains of moves: the dynamic program on a padded array gives what the static program
// gives on the live part (DYN-3, DYN-7). Worked examples and refusals are goldens (golden/shape).
#include "tests/evaluator/ops/shape_testing.h"

namespace assay::testing {
namespace {

// The live elements of an array, row-major.
std::vector<int64_t> LiveValues(const Literal& literal) {
  Array all({literal.shape().sizes().begin(), literal.shape().sizes().end()});
  all.values = ValuesOf(literal);
  const DimVector live = literal.runtime_sizes();
  std::vector<int64_t> values;
  all.ForEach([&](const Index& index) {
    for (size_t d = 0; d < index.size(); ++d) {
      if (index[d] >= live[d]) {
        REQUIRE(all.At(index) == 0);
        return;
      }
    }
    values.push_back(all.At(index));
  });
  return values;
}

struct DynamicCase {
  // {0} is the size of the live part or "<=6"; {1} that size in a result formula.
  const char* op;
  const char* result_static;   // with n
  const char* result_dynamic;  // with the bound 6
};

}  // namespace

TEST_CASE("dynamic sizes: moves of a bounded array are moves of its live part", "[dynamic]") {
  const DynamicCase cases[] = {
      {"transpose(x), dimensions={1,0}", "s32[2,{n}]", "s32[2,<=6]"},
      {"reverse(x), dimensions={0,1}", "s32[{n},2]", "s32[<=6,2]"},
      {"broadcast(x), dimensions={0,2}", "s32[{n},3,2]", "s32[<=6,3,2]"},
      {"copy(x)", "s32[{n},2]", "s32[<=6,2]"},
      {"reshape(x)", "s32[{2n}]", "s32[<=12]"},
      {"concatenate(x, x), dimensions={0}", "s32[{2n},2]", "s32[<=12,2]"},
      {"concatenate(x, x), dimensions={1}", "s32[{n},4]", "s32[<=6,4]"},
      {"pad(x, v), padding=1_2x0_0", "s32[{n+3},2]", "s32[<=9,2]"},
      {"sort(x), dimensions={0}, to_apply=cmp", "s32[{n},2]", "s32[<=6,2]"},
      {"sort(x), dimensions={1}, to_apply=cmp", "s32[{n},2]", "s32[<=6,2]"},
  };
  Random random(16);
  for (const DynamicCase& c : cases) {
    for (int64_t n = 0; n <= 6; ++n) {
      const auto text = [&](const std::string& size, const std::string& prepare, std::string result) {
        const std::pair<const char*, int64_t> holes[] = {{"{n}", n}, {"{2n}", 2 * n}, {"{n+3}", n + 3}};
        for (const auto& [hole, value] : holes) {
          const size_t at = result.find(hole);
          if (at != std::string::npos) result.replace(at, std::string(hole).size(), std::to_string(value));
        }
        return fmt::format(
            R"(HloModule m
cmp {{
 a = s32[] parameter(0)
 b = s32[] parameter(1)
 ROOT c = pred[] compare(a, b), direction=LT
}}
ENTRY e {{
 p = s32[{},2] parameter(0)
 n = s32[] constant({})
 v = s32[] constant(-5)
 x = {}
 ROOT r = {} {}
}})",
            size, n, prepare, result, c.op);
      };
      Array x = random.Fill({6, 2}, 1, 99), live({n, 2});
      live.ForEach([&](const Index& I) { live.At(I) = x.At(I); });
      const Literal expected = RunOk(
          text(std::to_string(n), fmt::format("s32[{},2] copy(p)", n), c.result_static), {live.ToLiteral()});
      const Literal actual =
          RunOk(text("6", "s32[<=6,2] set-dimension-size(p, n), dimensions={0}", c.result_dynamic),
                {x.ToLiteral()});
      INFO(c.op << " n = " << n);
      CHECK(actual.runtime_sizes() == expected.runtime_sizes());
      CHECK(LiveValues(actual) == ValuesOf(expected));
    }
  }
}

TEST_CASE("get-dimension-size reads what set-dimension-size set", "[dynamic]") {
  const std::string text =
      R"(HloModule m
ENTRY e {
 p = f32[3,5] parameter(0)
 n = s32[] parameter(1)
 d = f32[3,<=5] set-dimension-size(p, n), dimensions={1}
 a = s32[] get-dimension-size(d), dimensions={0}
 b = s32[] get-dimension-size(d), dimensions={1}
 ROOT t = (s32[], s32[]) tuple(a, b)
})";
  const int64_t sizes[] = {3, 5};
  const Literal p = Literal::FromDoubles(ElementType::kF32, sizes, std::vector<double>(15, 1));
  for (int64_t n = 0; n <= 5; ++n) {
    const Literal result = RunOk(text, {p, Literal::ScalarInt(ElementType::kS32, n)});
    CHECK(result.element(0).GetInt(0) == 3);
    CHECK(result.element(1).GetInt(0) == n);
  }
}

}  // namespace assay::testing
