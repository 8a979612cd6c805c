// broadcast, reshape, transpose, reverse, copy and bitcast against their formulas, index by index; and what
// must not copy. Worked examples and refusals are goldens (golden/shape).
#include "tests/evaluator/ops/shape_testing.h"

namespace assay::testing {
namespace {

std::string OneOp(const Array& x, const Array& out, const std::string& op, const std::string& attributes) {
  return fmt::format(R"(HloModule m
ENTRY e {{
 x = {} parameter(0)
 ROOT r = {} {}(x){}{}
}})",
                     x.Text(), out.Text(), op, attributes.empty() ? "" : ", ", attributes);
}

}  // namespace

TEST_CASE("transpose: out[I] = operand[J], J[dimensions[i]] = I[i]", "[transpose]") {
  Random random(11);
  for (int i = 0; i < 150; ++i) {
    const int rank = static_cast<int>(random.Int(0, 5));
    Array x = random.Fill(random.Sizes(rank, 0, 5), -99, 99);
    const Index permutation = random.Pick(Upto(rank), rank);
    Index sizes;
    for (int64_t d : permutation) sizes.push_back(x.sizes[d]);
    Array out(sizes);
    out.ForEach([&](const Index& I) {
      Index J = I;
      for (int d = 0; d < rank; ++d) J[permutation[d]] = I[d];
      out.At(I) = x.At(J);
    });
    const std::string text = OneOp(x, out, "transpose", "dimensions=" + Braces(permutation));
    CHECK(ValuesOf(RunOk(text, {x.ToLiteral()})) == out.values);
  }
}

TEST_CASE("broadcast: out[I] = operand[I[dimensions[0]], ...]", "[broadcast]") {
  Random random(12);
  for (int i = 0; i < 150; ++i) {
    const int rank = static_cast<int>(random.Int(0, 5));
    Array out(random.Sizes(rank, 0, 4));
    Index dimensions = random.Pick(Upto(rank), random.Int(0, rank)), sizes;
    std::sort(dimensions.begin(), dimensions.end());
    for (int64_t d : dimensions) sizes.push_back(out.sizes[d]);
    Array x = random.Fill(sizes, -99, 99);
    out.ForEach([&](const Index& I) {
      Index J;
      for (int64_t d : dimensions) J.push_back(I[d]);
      out.At(I) = x.At(J);
    });
    const std::string text = OneOp(x, out, "broadcast", "dimensions=" + Braces(dimensions));
    CHECK(ValuesOf(RunOk(text, {x.ToLiteral()})) == out.values);
  }
}

TEST_CASE("reverse: listed dimensions run backwards", "[reverse]") {
  Random random(13);
  for (int i = 0; i < 100; ++i) {
    const int rank = static_cast<int>(random.Int(0, 4));
    Array x = random.Fill(random.Sizes(rank, 0, 5), -99, 99), out(x.sizes);
    const Index dimensions = random.Pick(Upto(rank), random.Int(0, rank));
    out.ForEach([&](const Index& I) {
      Index J = I;
      for (int64_t d : dimensions) J[d] = x.sizes[d] - 1 - I[d];
      out.At(I) = x.At(J);
    });
    const std::string text = OneOp(x, out, "reverse", "dimensions=" + Braces(dimensions));
    CHECK(ValuesOf(RunOk(text, {x.ToLiteral()})) == out.values);
  }
}

TEST_CASE("bitcast: a transpose of layouts moves elements, position by position", "[bitcast]") {
  Random random(14);
  for (int i = 0; i < 100; ++i) {
    const int rank = static_cast<int>(random.Int(1, 4));
    Array x = random.Fill(random.Sizes(rank, 1, 4), -99, 99), out(random.Pick(x.sizes, rank));
    const Index from = random.Pick(Upto(rank), rank), to = random.Pick(Upto(rank), rank);
    const auto position = [](const Array& array, const Index& minor_to_major, const Index& index) {
      int64_t at = 0, scale = 1;
      for (int64_t d : minor_to_major) {
        at += index[d] * scale;
        scale *= array.sizes[d];
      }
      return at;
    };
    std::vector<int64_t> memory(x.Count());
    x.ForEach([&](const Index& J) { memory[position(x, from, J)] = x.At(J); });
    out.ForEach([&](const Index& I) { out.At(I) = memory[position(out, to, I)]; });
    const std::string text = fmt::format(R"(HloModule m
ENTRY e {{
 x = {}{} parameter(0)
 ROOT r = {}{} bitcast(x)
}})",
                                         x.Text(), Braces(from), out.Text(), Braces(to));
    CHECK(ValuesOf(RunOk(text, {x.ToLiteral()})) == out.values);
  }
}

TEST_CASE("moves that change no byte share storage", "[layout]") {
  Random random(15);
  const Array x = random.Fill({2, 1, 3}, -99, 99);
  const std::pair<Index, const char*> cases[] = {
      {{6}, "reshape(x)"},
      {{2, 3, 1}, "transpose(x), dimensions={0,2,1}"},
      {{2, 1, 3}, "reverse(x), dimensions={1}"},
      {{2, 1, 1, 3}, "broadcast(x), dimensions={0,1,3}"},
      {{2, 1, 3}, "copy(x)"},
      {{3, 2}, "bitcast(x)"},
      {{2, 1, 3}, "slice(x), slice={[0:2],[0:1],[0:3]}"},
      {{2, 1, 3}, "concatenate(x), dimensions={0}"},
  };
  for (const auto& [sizes, op] : cases) {
    const std::string text = fmt::format(R"(HloModule m
ENTRY e {{
 x = {} parameter(0)
 ROOT r = {} {}
}})",
                                         x.Text(), Array(sizes).Text(), op);
    const Literal argument = x.ToLiteral();
    const Literal result = RunOk(text, {argument});
    INFO(text);
    CHECK(result.SharesStorageWith(argument));
    CHECK(ValuesOf(result) == x.values);
  }
}

}  // namespace assay::testing
