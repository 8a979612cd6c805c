// sort against the specification's merge sort written out as a recursion, for orders and for comparators that
// are none; topk against a stable sort. Worked examples and refusals are goldens (golden/shape).
#include "tests/evaluator/ops/shape_testing.h"

namespace assay::testing {
namespace {

using Less = bool (*)(int64_t, int64_t);

Index MergeSorted(const Index& line, Less less) {
  if (line.size() < 2) return line;
  const auto middle = line.begin() + static_cast<int64_t>(line.size() / 2);
  const Index left = MergeSorted({line.begin(), middle}, less),
              right = MergeSorted({middle, line.end()}, less);
  Index out;
  size_t l = 0, r = 0;
  while (l < left.size() && r < right.size()) {
    out.push_back(less(right[r], left[l]) ? right[r++] : left[l++]);
  }
  out.insert(out.end(), left.begin() + l, left.end());
  out.insert(out.end(), right.begin() + r, right.end());
  return out;
}

struct Comparator {
  const char* text;  // of the root, over a, b and constants one, ten
  Less less;
};
constexpr Comparator kComparators[] = {
    {"pred[] compare(a, b), direction=LT", [](int64_t a, int64_t b) { return a < b; }},
    {"pred[] compare(b, a), direction=LT", [](int64_t a, int64_t b) { return b < a; }},
    {"pred[] compare(a, b), direction=GT", [](int64_t a, int64_t b) { return a > b; }},
    {"pred[] compare(a, b), direction=LE", [](int64_t a, int64_t b) { return a <= b; }},
    {"pred[] compare(a, b), direction=NE", [](int64_t a, int64_t b) { return a != b; }},
    {"pred[] compare(low, high), direction=LT", [](int64_t a, int64_t b) { return a / 10 < b / 10; }},
    {"pred[] compare(a, ten), direction=LT", [](int64_t a, int64_t) { return a < 10; }},
    {"pred[] compare(far, ten), direction=GT", [](int64_t a, int64_t b) { return std::abs(a - b) > 10; }},
};

std::string SortText(const Array& x, int64_t d, const char* comparator) {
  return fmt::format(
      R"(HloModule m
cmp {{
 a = s32[] parameter(0)
 b = s32[] parameter(1)
 c = s32[] parameter(2)
 e = s32[] parameter(3)
 ten = s32[] constant(10)
 low = s32[] divide(a, ten)
 high = s32[] divide(b, ten)
 d = s32[] subtract(a, b)
 far = s32[] abs(d)
 ROOT r = {0}
}}
ENTRY e {{
 x = {1} parameter(0)
 i = {1} iota(), iota_dimension={2}
 ROOT r = ({1}, {1}) sort(x, i), dimensions={{{2}}}, to_apply=cmp
}})",
      comparator, x.Text(), d);
}

}  // namespace

TEST_CASE("sort: every comparator gives what the merge sort gives", "[sort]") {
  Random random(9);
  for (int i = 0; i < 60; ++i) {
    Array x = random.Fill(random.Sizes(static_cast<int>(random.Int(1, 3)), 0, 9), 0, 40);
    if (i % 10 == 0) x = random.Fill({random.Int(60, 300)}, 0, 200);
    const int64_t d = random.Int(0, static_cast<int64_t>(x.sizes.size()) - 1);
    for (const Comparator& comparator : kComparators) {
      Array expected = x;
      x.ForEach([&](const Index& first) {
        if (first[d] != 0) return;
        Index line, at = first;
        for (at[d] = 0; at[d] < x.sizes[d]; ++at[d]) line.push_back(x.At(at));
        line = MergeSorted(line, comparator.less);
        for (at[d] = 0; at[d] < x.sizes[d]; ++at[d]) expected.At(at) = line[at[d]];
      });
      const Literal result = RunOk(SortText(x, d, comparator.text), {x.ToLiteral()});
      CHECK(ValuesOf(result.element(0)) == expected.values);
      // The second operand went along.
      Array places(x.sizes);
      places.values = ValuesOf(result.element(1));
      places.ForEach([&](Index at) {
        const int64_t value = expected.At(at);
        at[d] = places.At(at);
        REQUIRE(x.At(at) == value);
      });
    }
  }
}

TEST_CASE("topk: the first k of the stable order", "[topk]") {
  Random random(10);
  for (int i = 0; i < 60; ++i) {
    Array x = random.Fill({random.Int(0, 4), random.Int(1, 30)}, -9, 9);
    const int64_t n = x.sizes[1], k = random.Int(0, n);
    const bool largest = random.Int(0, 1) == 1;
    std::vector<int64_t> values, indices;
    for (int64_t row = 0; row < x.sizes[0]; ++row) {
      Index order = Upto(n);
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        return largest ? x.At({row, a}) > x.At({row, b}) : x.At({row, a}) < x.At({row, b});
      });
      for (int64_t j = 0; j < k; ++j) {
        values.push_back(x.At({row, order[j]}));
        indices.push_back(order[j]);
      }
    }
    const std::string text = fmt::format(
        R"(HloModule m
ENTRY e {{
 x = {0} parameter(0)
 ROOT r = (s32[{1},{2}], s32[{1},{2}]) topk(x), k={2}, largest={3}
}})",
        x.Text(), x.sizes[0], k, largest);
    const Literal result = RunOk(text, {x.ToLiteral()});
    CHECK(ValuesOf(result.element(0)) == values);
    CHECK(ValuesOf(result.element(1)) == indices);
  }
}

}  // namespace assay::testing
