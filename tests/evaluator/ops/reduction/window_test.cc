#include <catch2/catch.hpp>

#include "tests/evaluator/ops/exact_oracle.h"

namespace assay {
namespace {

using namespace testing;  // NOLINT

WindowDimension RandomWindow(RandomDoubles& random) {
  WindowDimension w;
  w.size = random.Int(1, 5);
  w.stride = random.Int(1, 4);
  w.base_dilation = random.Int(1, 6);
  w.window_dilation = random.Int(1, 6);
  w.padding_low = random.Int(-2, 9);
  w.padding_high = random.Int(-2, 9);
  return w;
}

std::string WindowText(const std::vector<WindowDimension>& window) {
  std::string size, stride, pad, base, dilation;
  for (const WindowDimension& w : window) {
    const std::string x = size.empty() ? "" : "x";
    size += x + std::to_string(w.size);
    stride += x + std::to_string(w.stride);
    pad += x + std::to_string(w.padding_low) + "_" + std::to_string(w.padding_high);
    base += x + std::to_string(w.base_dilation);
    dilation += x + std::to_string(w.window_dilation);
  }
  return "window={size=" + size + " stride=" + stride + " pad=" + pad + " lhs_dilate=" + base +
         " rhs_dilate=" + dilation + "}";
}

// A random case of reduce-window over two dimensions against the definition.
template <typename Fold>
void CheckReduceWindow(RandomDoubles& random, ElementType type, const std::string& op, const Fold& fold) {
  const std::vector<WindowDimension> window = {RandomWindow(random), RandomWindow(random)};
  Doubles x = random.Fill(type, {random.Int(0, 6), random.Int(1, 9)}, 30);
  std::vector<int64_t> sizes, offsets;
  for (size_t d = 0; d < 2; ++d) {
    const auto outputs = WindowOutputSize(x.sizes[d], window[d]);
    if (!outputs) return;
    sizes.push_back(*outputs);
    offsets.push_back(window[d].size);
  }
  Doubles expected(type, sizes);
  ForEachIndex(sizes, [&](const std::vector<int64_t>& o) {
    std::vector<double> elements;
    ForEachIndex(offsets, [&](const std::vector<int64_t>& k) {
      std::vector<int64_t> at;
      for (size_t d = 0; d < 2; ++d) at.push_back(WindowBaseIndex(o[d], k[d], x.sizes[d], window[d]));
      if (at[0] >= 0 && at[1] >= 0) elements.push_back(x.At(at));
    });
    expected.At(o) = fold(elements);
  });
  const std::string program = Reducer(std::string(Name(type)), op) + R"(ENTRY e {
  x = )" + x.Text() +
                              R"( parameter(0)
  i = )" + std::string(Name(type)) +
                              R"([] constant(0.5)
  ROOT r = )" + expected.Text() +
                              " reduce-window(x, i), " + WindowText(window) + ", to_apply=f\n}\n";
  INFO(program);
  REQUIRE(Differences(RunGood(program, {x.ToLiteral()}), expected) == 0);
}

TEST_CASE("reduce-window: float add is the exact sum of init and what the window meets", "[window]") {
  RandomDoubles random(6);
  for (int round = 0; round < 150; ++round) {
    const ElementType type = round % 2 == 0 ? ElementType::kF32 : ElementType::kBF16;
    CheckReduceWindow(random, type, "add", [&](const std::vector<double>& elements) {
      RationalSum sum;
      sum.Add(0.5);
      for (double e : elements) sum.Add(e);
      return sum.Round(type);
    });
  }
}

TEST_CASE("reduce-window: another reducer folds in row-major order of the window", "[window]") {
  RandomDoubles random(7);
  for (int round = 0; round < 150; ++round) {
    CheckReduceWindow(random, ElementType::kF32, "subtract", [](const std::vector<double>& elements) {
      float acc = 0.5F;
      for (double e : elements) acc -= static_cast<float>(e);
      return static_cast<double>(acc);
    });
  }
}

TEST_CASE("select-and-scatter: agrees with the definition on random windows", "[window]") {
  RandomDoubles random(8);
  for (int round = 0; round < 100; ++round) {
    std::vector<WindowDimension> window = {RandomWindow(random), RandomWindow(random)};
    for (WindowDimension& w : window) w.base_dilation = w.window_dilation = 1;
    Doubles x = random.Fill(ElementType::kF32, {random.Int(1, 6), random.Int(1, 6)}, 2);
    std::vector<int64_t> sizes, offsets;
    bool valid = true;
    for (size_t d = 0; d < 2; ++d) {
      const auto outputs = WindowOutputSize(x.sizes[d], window[d]);
      valid = valid && outputs;
      sizes.push_back(outputs.value_or(0));
      offsets.push_back(window[d].size);
    }
    if (!valid) continue;
    Doubles source = random.Fill(ElementType::kF32, sizes, 40), expected(ElementType::kF32, x.sizes);
    std::vector<std::vector<double>> hits(expected.values.size());
    ForEachIndex(sizes, [&](const std::vector<int64_t>& o) {
      std::vector<int64_t> chosen;
      ForEachIndex(offsets, [&](const std::vector<int64_t>& k) {
        std::vector<int64_t> at;
        for (size_t d = 0; d < 2; ++d) at.push_back(WindowBaseIndex(o[d], k[d], x.sizes[d], window[d]));
        if (at[0] < 0 || at[1] < 0) return;
        if (chosen.empty() || !(x.At(chosen) >= x.At(at))) chosen = at;
      });
      if (!chosen.empty()) hits[chosen[0] * x.sizes[1] + chosen[1]].push_back(source.At(o));
    });
    for (size_t i = 0; i < hits.size(); ++i) {
      RationalSum sum;
      sum.Add(0.25);
      for (double h : hits[i]) sum.Add(h);
      expected.values[i] = sum.Round(ElementType::kF32);
    }
    const std::string program =
        R"(s {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=GE
}
)" + Reducer("f32", "add") +
        R"(ENTRY e {
  x = )" +
        x.Text() + R"( parameter(0)
  y = )" +
        source.Text() +
        R"( parameter(1)
  i = f32[] constant(0.25)
  ROOT r = )" +
        x.Text() + " select-and-scatter(x, y, i), " + WindowText(window) + ", select=s, scatter=f\n}\n";
    INFO(program);
    REQUIRE(Differences(RunGood(program, {x.ToLiteral(), source.ToLiteral()}), expected) == 0);
  }
}

}  // namespace
}  // namespace assay
