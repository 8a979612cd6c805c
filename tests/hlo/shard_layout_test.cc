// The worked examples of docs/spec/sharding.md, section 8, and the table of SDY-24 (tiles that XLA gives to
// shardings), by hand.
#include "hlo/shard_layout.h"

#include <catch2/catch.hpp>

#include "hlo/sharding_syntax.h"

namespace assay {
namespace {

constexpr std::string_view kTwoByTwo = R"(<["r"=2, "c"=2]>)";
const std::vector<std::string> kAll = {"r", "c"};

ShardLayout Whole(std::string_view mesh, std::string_view sharding) {
  const auto layout = ShardLayout::OfWhole(*ParseMesh(mesh), *ParseSharding(sharding));
  REQUIRE(layout.ok());
  return *layout;
}

ShardLayout Manual(std::string_view mesh, std::string_view sharding, const std::vector<std::string>& axes) {
  const auto layout = ShardLayout::OfManual(*ParseMesh(mesh), *ParseSharding(sharding), axes);
  REQUIRE(layout.ok());
  return *layout;
}

// The chunk numbers of devices 0, 1, 2, ... in dimension `d`.
std::vector<int64_t> Chunks(const ShardLayout& layout, size_t d = 0) {
  std::vector<int64_t> chunks;
  for (int64_t device = 0; device < layout.num_devices(); ++device)
    chunks.push_back(layout.ChunkOf(device)[d]);
  return chunks;
}

using Numbers = std::vector<int64_t>;
Numbers List(const Ints& ints) { return Numbers(ints.begin(), ints.end()); }

TEST_CASE("shard layout: axes are major to minor as written", "[sharding][SDY-9]") {
  // Example 1: t = 2 c + r.
  const ShardLayout layout = Whole(kTwoByTwo, R"(<@m, [{"c", "r"}, {}]>)");
  CHECK(layout.counts()[0] == 4);
  CHECK(layout.counts()[1] == 1);
  CHECK(Chunks(layout) == Numbers{0, 2, 1, 3});
  CHECK(Chunks(layout, 1) == Numbers{0, 0, 0, 0});
  CHECK(Chunks(Whole(kTwoByTwo, R"(<@m, [{"r"}]>)")) == Numbers{0, 0, 1, 1});
}

TEST_CASE("shard layout: the last chunks are shorter or empty", "[sharding][SDY-9]") {
  const auto range = [](int64_t size, int64_t count, int64_t chunk) {
    const ChunkRange r = RangeOfChunk(size, count, chunk);
    return std::pair(r.begin, r.end);
  };
  CHECK(range(5, 2, 0) == std::pair<int64_t, int64_t>(0, 3));
  CHECK(range(5, 2, 1) == std::pair<int64_t, int64_t>(3, 5));
  CHECK(range(5, 4, 2) == std::pair<int64_t, int64_t>(4, 5));
  CHECK(range(5, 4, 3) == std::pair<int64_t, int64_t>(5, 5));
}

TEST_CASE("shard layout: device ids stand at positions", "[sharding][SDY-7]") {
  // Checked by the specification with device_ids=[3, 1, 2, 0]: partition 3 has the tile (0, 0).
  const ShardLayout layout = Whole(R"(<["r"=2, "c"=2], device_ids=[3, 1, 2, 0]>)", R"(<@m, [{"r"}, {"c"}]>)");
  CHECK(List(layout.ChunkOf(3)) == Numbers{0, 0});
  CHECK(List(layout.ChunkOf(1)) == Numbers{0, 1});
  CHECK(List(layout.ChunkOf(2)) == Numbers{1, 0});
  CHECK(List(layout.ChunkOf(0)) == Numbers{1, 1});
}

TEST_CASE("shard layout: parts of axes", "[sharding][SDY-8]") {
  // {devices=[2,2,2]<=[2,4]T(1,0) last_tile_dim_replicate}: dimension 0 takes the middle bit,
  // dimension 1 the last.
  const ShardLayout layout = Whole(R"(<["r"=8]>)", R"(<@m, [{"r":(2)2}, {"r":(4)2}]>)");
  CHECK(Chunks(layout, 0) == Numbers{0, 0, 1, 1, 0, 0, 1, 1});
  CHECK(Chunks(layout, 1) == Numbers{0, 1, 0, 1, 0, 1, 0, 1});
  const Ints devices = {0, 4, 1, 5, 2, 6, 3, 7};  // <=[2,4]T(1,0)
  const auto tiles = ShardLayout::OfTiles(Ints{2, 2, 2}, devices, 2);
  REQUIRE(tiles.ok());
  CHECK(Chunks(*tiles, 0) == Chunks(layout, 0));
  CHECK(Chunks(*tiles, 1) == Chunks(layout, 1));
}

TEST_CASE("shard layout: tiles name the device of each chunk", "[sharding][SDY-23][SDY-24]") {
  const auto tiles = ShardLayout::OfTiles(Ints{4, 1}, Ints{0, 2, 1, 3}, 2);  // {devices=[4,1]<=[2,2]T(1,0)}
  REQUIRE(tiles.ok());
  CHECK(Chunks(*tiles) == Numbers{0, 2, 1, 3});
  const auto copies = ShardLayout::OfTiles(Ints{1, 2, 2}, Ints{0, 2, 1, 3}, 2);  // [{}, {"c"}]
  REQUIRE(copies.ok());
  CHECK(Chunks(*copies, 1) == Numbers{0, 1, 0, 1});
  CHECK(List(copies->Suppliers(Ints{0, 1}, 0)) == Numbers{1});
  CHECK_FALSE(ShardLayout::OfTiles(Ints{2, 2}, Ints{0, 1, 2, 2}, 2).ok());
  CHECK_FALSE(ShardLayout::OfTiles(Ints{2, 2}, Ints{0, 1, 2}, 2).ok());
}

TEST_CASE("shard layout: entering and leaving a region over two axes", "[sharding][SDY-14][SDY-16]") {
  // Example 2.
  const ShardLayout in = Manual(kTwoByTwo, R"(<@m, [{"r"}, {"c"}]>)", kAll);
  const Shape global = Shape::ArrayOrDie(ElementType::kS32, DimVector{4, 4});
  CHECK(LocalShape(global, in)->ToString() == "s32[2,2]");
  CHECK(Chunks(in, 0) == Numbers{0, 0, 1, 1});
  CHECK(Chunks(in, 1) == Numbers{0, 1, 0, 1});
  const ShardLayout out = Manual(kTwoByTwo, R"(<@m, [{}, {"c"}]>)", kAll);
  CHECK(LocalShape(Shape::ArrayOrDie(ElementType::kS32, DimVector{2, 4}), out)->ToString() == "s32[2,2]");
  for (const int64_t device : {0, 1, 2, 3}) {
    CHECK(List(out.Family(device)) == Numbers{0, 1, 2, 3});
    // Each device's own coordinate on r, which the sharding doesn't name.
    const int64_t row = device / 2 * 2;
    CHECK(List(out.Suppliers(Ints{0, 0}, device)) == Numbers{row});
    CHECK(List(out.Suppliers(Ints{0, 1}, device)) == Numbers{row + 1});
  }
}

TEST_CASE("shard layout: free axes split nothing", "[sharding][SDY-10][SDY-18]") {
  // Example 4: r is manual, then c in a region inside.
  const ShardLayout outer = Manual(kTwoByTwo, R"(<@m, [{"r", ?}, {?}]>)", {"r"});
  CHECK(LocalShape(Shape::ArrayOrDie(ElementType::kS32, DimVector{4, 4}), outer)->ToString() == "s32[2,4]");
  CHECK(Chunks(outer) == Numbers{0, 0, 1, 1});
  CHECK(List(outer.Family(1)) == Numbers{1, 3});
  CHECK(List(outer.Suppliers(Ints{1, 0}, 1)) == Numbers{3});
  const ShardLayout inner = Manual(kTwoByTwo, R"(<@m, []>)", {"c"});
  CHECK(List(inner.Family(3)) == Numbers{2, 3});
  CHECK(List(inner.Suppliers(Ints{}, 3)) == Numbers{3});
  // A free axis of a dimension takes no part in its chunks.
  const ShardLayout both = Manual(kTwoByTwo, R"(<@m, [{"r", "c"}]>)", {"r"});
  CHECK(both.counts()[0] == 2);
}

TEST_CASE("shard layout: unreduced values are summands", "[sharding][SDY-15][SDY-17]") {
  // The end of example 4.
  const ShardLayout out = Manual(kTwoByTwo, R"(<@m, [{?}], unreduced={"r"}>)", {"r"});
  CHECK(List(out.Suppliers(Ints{0}, 0)) == Numbers{0, 2});
  CHECK(List(out.Suppliers(Ints{0}, 3)) == Numbers{1, 3});
  CHECK(out.HoldsTheValue(0));
  CHECK(out.HoldsTheValue(1));
  CHECK_FALSE(out.HoldsTheValue(2));
  CHECK(out.num_summands() == 2);
  CHECK(out.SummandOf(1) == 0);
  CHECK(out.SummandOf(3) == 1);
  const ShardLayout split = Manual(kTwoByTwo, R"(<@m, [{"c"}], unreduced={"r"}>)", kAll);
  CHECK(List(split.Suppliers(Ints{1}, 0)) == Numbers{1, 3});
}

TEST_CASE("shard layout: a dimension that chunks don't divide has no local shape", "[sharding][SDY-V13]") {
  const ShardLayout in = Manual(kTwoByTwo, R"(<@m, [{"r"}]>)", kAll);
  const auto local = LocalShape(Shape::ArrayOrDie(ElementType::kF32, DimVector{5}), in);
  CHECK_FALSE(local.ok());
  CHECK(local.status().message().find("SDY-V13") != absl::string_view::npos);
}

}  // namespace
}  // namespace assay
