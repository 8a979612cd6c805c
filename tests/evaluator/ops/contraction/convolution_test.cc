#include <catch2/catch.hpp>

#include "tests/evaluator/ops/exact_oracle.h"

namespace assay {
namespace {

using namespace testing;  // NOLINT

struct Case {
  Doubles lhs, rhs, out;
  std::vector<WindowDimension> window;
  int64_t feature_groups, batch_groups;
};

// bf01_oi01->bf01 by the definition.
void ConvolveSlowly(Case& c) {
  const int64_t in_features = c.rhs.sizes[1], outs = c.rhs.sizes[0];
  const int64_t fo = outs / c.feature_groups, bo = c.lhs.sizes[0] / c.batch_groups,
                po = outs / c.batch_groups;
  ForEachIndex(c.out.sizes, [&](const std::vector<int64_t>& at) {
    const int64_t b = at[0], o = at[1];
    RationalSum sum;
    sum.Add(0.0);  // where a contraction starts
    ForEachIndex({in_features, c.rhs.sizes[2], c.rhs.sizes[3]}, [&](const std::vector<int64_t>& k) {
      int64_t q[2], kernel[2];
      for (int d = 0; d < 2; ++d) {
        q[d] = WindowBaseIndex(at[2 + d], k[1 + d], c.lhs.sizes[2 + d], c.window[d]);
        kernel[d] = c.window[d].reversal ? c.window[d].size - 1 - k[1 + d] : k[1 + d];
      }
      if (q[0] < 0 || q[1] < 0) return;
      sum.AddProduct(c.lhs.At({b + o / po * bo, o / fo * in_features + k[0], q[0], q[1]}),
                     c.rhs.At({o, k[0], kernel[0], kernel[1]}));
    });
    c.out.At(at) = sum.Round(c.out.type);
  });
}

std::string ConvolutionProgram(const Case& c) {
  std::string size, stride, pad, base, dilation, reversal;
  for (const WindowDimension& w : c.window) {
    const std::string x = size.empty() ? "" : "x";
    size += x + std::to_string(w.size);
    stride += x + std::to_string(w.stride);
    pad += x + std::to_string(w.padding_low) + "_" + std::to_string(w.padding_high);
    base += x + std::to_string(w.base_dilation);
    dilation += x + std::to_string(w.window_dilation);
    reversal += x + (w.reversal ? "1" : "0");
  }
  return R"(ENTRY e {
  l = )" +
         c.lhs.Text() + R"( parameter(0)
  r = )" +
         c.rhs.Text() +
         R"( parameter(1)
  ROOT c = )" +
         c.out.Text() + " convolution(l, r), window={size=" + size + " stride=" + stride + " pad=" + pad +
         " lhs_dilate=" + base + " rhs_dilate=" + dilation + " rhs_reversal=" + reversal +
         "}, dim_labels=bf01_oi01->bf01, feature_group_count=" + std::to_string(c.feature_groups) +
         ", batch_group_count=" + std::to_string(c.batch_groups) + "\n}\n";
}

TEST_CASE("convolution: agrees with the definition on random windows and groups", "[convolution]") {
  RandomDoubles random(21);
  int checked = 0;
  for (int round = 0; round < 150; ++round) {
    const ElementType type = round % 3 == 0 ? ElementType::kBF16 : ElementType::kF32;
    std::vector<WindowDimension> window(2);
    for (WindowDimension& w : window) {
      w = {random.Int(1, 3), random.Int(1, 3), random.Int(-1, 3),    random.Int(-1, 3),
           random.Int(1, 3), random.Int(1, 3), random.Int(0, 1) == 1};
    }
    const int64_t kind = random.Int(0, 2), groups = random.Int(1, 3);
    const int64_t fgc = kind == 1 ? groups : 1, bgc = kind == 2 ? groups : 1, features = random.Int(1, 3);
    const std::vector<int64_t> spatial = {random.Int(1, 5), random.Int(1, 5)};
    const auto x = WindowOutputSize(spatial[0], window[0]), y = WindowOutputSize(spatial[1], window[1]);
    if (!x || !y) continue;
    const int64_t batch = random.Int(1, 2), outs = random.Int(1, 2) * groups;
    Case c{random.Fill(type, {batch * bgc, features * fgc, spatial[0], spatial[1]}, 40),
           random.Fill(type, {outs, features, window[0].size, window[1].size}, 40),
           Doubles(type, {batch, outs, *x, *y}),
           window,
           fgc,
           bgc};
    ConvolveSlowly(c);
    const std::string program = ConvolutionProgram(c);
    INFO(program);
    REQUIRE(Differences(RunGood(program, {c.lhs.ToLiteral(), c.rhs.ToLiteral()}), c.out) == 0);
    ++checked;
  }
  CHECK(checked > 80);
}

TEST_CASE("convolution: padding is not multiplied", "[convolution]") {
  CHECK(Gives("convolution", {"f32[1,1,2] {{{1, 2}}}", "f32[1,1,2] {{{nan, 1}}}"},
              "f32[1,1,3] {{{1, nan, nan}}}", ", window={size=2 pad=1_1}, dim_labels=bf0_oi0->bf0"));
}

TEST_CASE("convolution: integers wrap", "[convolution]") {
  CHECK(Gives("convolution", {"s8[1,1,2] {{{100, 100}}}", "s8[1,1,2] {{{1, 1}}}"}, "s8[1,1,1] {{{-56}}}",
              ", window={size=2}, dim_labels=bf0_oi0->bf0"));
}

TEST_CASE("convolution: spatial dimensions may be absent", "[convolution]") {
  CHECK(Gives("convolution", {"f32[1,2] {{2, 3}}", "f32[1,2] {{10, 100}}"}, "f32[1,1] {{320}}",
              ", dim_labels=bf_oi->bf"));
}

TEST_CASE("convolution: the memory limit covers operands and the result", "[convolution]") {
  RunOptions options;
  options.limits.memory_limit = 3 << 19;
  const std::string program =
      R"(ENTRY e {
  o = s8[] constant(1)
  x = s8[1,1,1000000] broadcast(o), dimensions={}
  k = s8[1,1,1] constant({{{1}}})
  ROOT c = s8[1,1,1000000] convolution(x, k), window={size=1}, dim_labels=bf0_oi0->bf0
}
)";
  const absl::StatusOr<Literal> result = RunProgram(program, {}, options);
  REQUIRE_FALSE(result.ok());
  CHECK(ExitCodeOf(result.status()) == 5);
}

}  // namespace
}  // namespace assay
