#include "shape/index.h"

#include "catch2/catch.hpp"

namespace assay {
namespace {

DimVector V(std::initializer_list<int64_t> values) { return DimVector(values); }

struct Run {
  std::vector<int64_t> offsets, strides;
  int64_t length;
};
std::vector<Run> Runs(const DimVector& sizes, const std::vector<AffineMap>& maps) {
  std::vector<Run> runs;
  ForEachRun(sizes, maps, [&](const int64_t* offsets, const int64_t* strides, int64_t length) {
    runs.push_back({{offsets, offsets + maps.size()}, {strides, strides + maps.size()}, length});
  });
  return runs;
}

TEST_CASE("index: row-major strides", "[index]") {
  CHECK(RowMajorStrides(V({2, 3, 4})) == V({12, 4, 1}));
  CHECK(RowMajorStrides(V({5})) == V({1}));
  CHECK(RowMajorStrides({}).empty());
  CHECK(LinearPosition(V({1, 0, 2}), V({12, 4, 1})) == 14);
  CHECK(LinearPosition(V({1, 0, 2}), V({12, 1, 3})) == 18);
}

TEST_CASE("index: indices are enumerated with dimension 0 outermost", "[index]") {
  const DimVector sizes = V({2, 3, 4});
  DimVector index = V({0, 0, 0}), again = V({0, 0, 0});
  int64_t position = 0;
  do {
    IndexOfPosition(position, sizes, std::span<int64_t>(again));
    CHECK(index == again);
    CHECK(LinearPosition(index, RowMajorStrides(sizes)) == position);
    ++position;
  } while (NextIndex(sizes, std::span<int64_t>(index)));
  CHECK(position == 24);
  CHECK(index == V({0, 0, 0}));
  CHECK_FALSE(NextIndex({}, {}));
}

TEST_CASE("runs: contiguous dimensions become one run", "[index]") {
  const auto runs = Runs(V({2, 3, 4}), {{5, V({12, 4, 1})}});
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].offsets[0] == 5);
  CHECK(runs[0].strides[0] == 1);
  CHECK(runs[0].length == 24);
}

TEST_CASE("runs: dimensions merge only where every map is contiguous", "[index]") {
  // The second map broadcasts dimension 0 and transposes nothing else.
  const auto runs = Runs(V({2, 3, 4}), {{0, V({12, 4, 1})}, {0, V({0, 4, 1})}});
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].length == 12);
  CHECK(runs[1].offsets == std::vector<int64_t>{12, 0});
}

TEST_CASE("runs: sizes of 1 don't stand in the way and stride 0 merges with itself", "[index]") {
  const auto runs = Runs(V({2, 1, 3}), {{0, V({3, 77, 1})}, {4, V({0, 5, 0})}});
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].length == 6);
  CHECK(runs[0].strides == std::vector<int64_t>{1, 0});
}

TEST_CASE("runs: offsets follow any strides, negative ones too", "[index]") {
  const DimVector sizes = V({3, 2, 4, 5});
  const std::vector<AffineMap> maps = {
      {119, V({-40, -20, -5, -1})}, {7, V({1, 100, -13, 3})}, {0, V({40, 20, 5, 1})}};
  std::vector<std::vector<int64_t>> seen(3);
  for (const Run& run : Runs(sizes, maps)) {
    for (int64_t i = 0; i < run.length; ++i) {
      for (int m = 0; m < 3; ++m) seen[m].push_back(run.offsets[m] + i * run.strides[m]);
    }
  }
  REQUIRE(seen[0].size() == 120);
  DimVector index = V({0, 0, 0, 0});
  int64_t position = 0;
  do {
    for (int m = 0; m < 3; ++m) {
      CHECK(seen[m][position] == maps[m].base + LinearPosition(index, maps[m].strides));
    }
    ++position;
  } while (NextIndex(sizes, std::span<int64_t>(index)));
}

TEST_CASE("runs: an empty space has none, rank 0 has one of length 1", "[index]") {
  CHECK(Runs(V({2, 0, 3}), {{0, V({0, 3, 1})}}).empty());
  const auto runs = Runs({}, {{9, {}}});
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].offsets[0] == 9);
  CHECK(runs[0].length == 1);
  CHECK(Runs(V({1, 1}), {{3, V({8, 8})}}).size() == 1);
}

TEST_CASE("windows: output sizes follow the formula", "[index]") {
  WindowDimension w;
  w.size = 3;
  CHECK(WindowOutputSize(5, w) == 3);
  CHECK(WindowOutputSize(3, w) == 1);
  w.stride = 2;
  CHECK(WindowOutputSize(5, w) == 2);
  w.padding_low = w.padding_high = 1;
  CHECK(WindowOutputSize(5, w) == 3);
  w.window_dilation = 2;  // spans 5
  CHECK(WindowOutputSize(5, w) == 2);
  w.base_dilation = 3;  // base spans 13, padded 15
  CHECK(WindowOutputSize(5, w) == 6);
  CHECK(WindowOutputSize(0, w) == 0);  // padded 2 < 5
}

TEST_CASE("windows: degenerate and impossible sizes", "[index]") {
  WindowDimension w;
  w.size = 2;
  CHECK(WindowOutputSize(1, w) == 0);
  w.padding_low = -3;
  CHECK_FALSE(WindowOutputSize(2, w).has_value());
  CHECK(WindowOutputSize(3, w) == 0);
  w.padding_low = std::numeric_limits<int64_t>::max();
  CHECK_FALSE(WindowOutputSize(3, w).has_value());
  CHECK(DilatedSize(0, 5) == 0);
  CHECK(DilatedSize(4, 3) == 10);
  CHECK_FALSE(DilatedSize(std::numeric_limits<int64_t>::max(), 2).has_value());
}

TEST_CASE("windows: base indices skip padding and holes", "[index]") {
  WindowDimension w;
  w.size = 2;
  w.padding_low = 1;
  w.base_dilation = 2;
  CHECK(WindowBaseIndex(0, 0, 3, w) == -1);
  CHECK(WindowBaseIndex(0, 1, 3, w) == 0);
  CHECK(WindowBaseIndex(1, 1, 3, w) == -1);
  CHECK(WindowBaseIndex(2, 1, 3, w) == 1);
  CHECK(WindowBaseIndex(5, 1, 3, w) == -1);
}

}  // namespace
}  // namespace assay
