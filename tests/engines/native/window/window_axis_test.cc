// The progressions of one dimension of a window against a search over all pairs of positions and offsets.
#include "engines/native/walk/window_axis.h"

#include <catch2/catch.hpp>

#include "tests/evaluator/ops/exact_oracle.h"

namespace assay::native {
namespace {

using namespace assay::testing;  // NOLINT

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

TEST_CASE("window axis: both walks meet what a search over all pairs meets", "[native][window]") {
  RandomDoubles random(5);
  for (int round = 0; round < 3000; ++round) {
    const WindowDimension w = RandomWindow(random);
    const int64_t size = random.Int(0, 7);
    const auto outputs = WindowOutputSize(size, w);
    if (!outputs) continue;
    const WindowAxis axis(size, w, *outputs);
    std::vector<std::vector<int64_t>> found(*outputs, std::vector<int64_t>(w.size, -1)), other = found,
                                                                                         wanted = found;
    for (int64_t o = 0; o < *outputs; ++o) {
      for (int64_t k = 0; k < w.size; ++k) wanted[o][k] = WindowBaseIndex(o, k, size, w);
      const Progression p = axis.AtOutput(o);
      for (int64_t i = 0; i < p.count; ++i) {
        found[o][p.first + i * axis.window_step()] = p.base + i * axis.base_step();
      }
    }
    for (int64_t k = 0; k < w.size; ++k) {
      const Progression p = axis.AtOffset(k);
      for (int64_t i = 0; i < p.count; ++i) {
        other[p.first + i * axis.output_step()][k] = p.base + i * axis.output_base_step();
      }
    }
    REQUIRE(found == wanted);
    REQUIRE(other == wanted);
  }
}

TEST_CASE("window axis: huge dilations and strides take no time", "[native][window]") {
  WindowDimension w;
  w.size = int64_t{1} << 40;
  w.window_dilation = 3;
  w.base_dilation = (int64_t{1} << 40) + 15;
  w.stride = (int64_t{1} << 41) + 1;
  w.padding_low = int64_t{1} << 42;
  w.padding_high = int64_t{1} << 42;
  const auto outputs = WindowOutputSize(5, w);
  REQUIRE(outputs);
  const WindowAxis axis(5, w, *outputs);
  for (int64_t o = 0; o < *outputs; ++o) {
    const Progression p = axis.AtOutput(o);
    for (int64_t i = 0; i < p.count; ++i) {
      CHECK(WindowBaseIndex(o, p.first + i * axis.window_step(), 5, w) == p.base + i * axis.base_step());
    }
  }
}

}  // namespace
}  // namespace assay::native
