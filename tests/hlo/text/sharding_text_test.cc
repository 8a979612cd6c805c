#include "hlo/text/sharding_text.h"

#include <catch2/catch.hpp>

namespace assay {
namespace {

// The chunk numbers of devices 0, 1, 2, ... in dimension `d`.
std::vector<int64_t> ChunksOf(std::string_view sharding, size_t d) {
  const auto layout = LayoutOfSharding(sharding, 2, 4);
  REQUIRE(layout.ok());
  std::vector<int64_t> chunks;
  for (int64_t device = 0; device < layout->num_devices(); ++device)
    chunks.push_back(layout->ChunkOf(device)[d]);
  return chunks;
}

using Numbers = std::vector<int64_t>;

TEST_CASE("sharding text: tiles of devices", "[sharding][SDY-23]") {
  // The table of SDY-24 for a mesh of r=2, c=2.
  CHECK(ChunksOf("{devices=[2,2]<=[4]}", 0) == Numbers{0, 0, 1, 1});
  CHECK(ChunksOf("{devices=[2,2]<=[4]}", 1) == Numbers{0, 1, 0, 1});
  CHECK(ChunksOf("{devices=[2,2]3,1,2,0}", 0) == Numbers{1, 0, 1, 0});
  CHECK(ChunksOf("{devices=[2,2]3,1,2,0}", 1) == Numbers{1, 1, 0, 0});
  CHECK(ChunksOf("{devices=[2,1,2]<=[4] last_tile_dim_replicate}", 0) == Numbers{0, 0, 1, 1});
  CHECK(ChunksOf("{devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}", 1) == Numbers{0, 1, 0, 1});
  CHECK(ChunksOf("{devices=[4,1]<=[2,2]T(1,0)}", 0) == Numbers{0, 2, 1, 3});
  CHECK(ChunksOf("{devices=[2,1,2]<=[4] last_tile_dims={unreduced}}", 0) == Numbers{0, 0, 1, 1});
  CHECK(ChunksOf("{devices=[1,1,2,2]<=[4] last_tile_dims={manual, replicated}}", 0) == Numbers{0, 0, 0, 0});
  for (const std::string_view whole :
       {"{replicated}", "{manual}", "{maximal device=1}", "{unknown shard_as 0}"})
    CHECK(ChunksOf(whole, 0) == Numbers{0, 0, 0, 0});
}

TEST_CASE("sharding text: meshes", "[sharding][SDY-23]") {
  CHECK(ChunksOf(R"({mesh["r"=2,"c"=2], [{"c","r"},{}]})", 0) == Numbers{0, 2, 1, 3});
  CHECK(ChunksOf(R"({mesh["r"=2,"c"=2], [{},{"c"}]})", 1) == Numbers{0, 1, 0, 1});
  CHECK(ChunksOf(R"({mesh["r"=2,"c"=2], replicated})", 1) == Numbers{0, 0, 0, 0});
  CHECK(ChunksOf(R"({mesh["r"=8], [{"r":(2)2},{"r":(4)2}]})", 0) == Numbers{0, 0, 1, 1, 0, 0, 1, 1});
  CHECK_FALSE(LayoutOfSharding("{devices=[1099511627776,1]<=[1099511627776]}", 2, 1).ok());
}

TEST_CASE("sharding text: a tuple's has one for each leaf", "[sharding]") {
  using Texts = std::vector<std::string>;
  CHECK(LeafShardings("{replicated}") == Texts{"{replicated}"});
  CHECK(LeafShardings("{{devices=[2,1,2]<=[4] last_tile_dims={manual, replicated}}, {replicated}}") ==
        Texts{"{devices=[2,1,2]<=[4] last_tile_dims={manual, replicated}}", "{replicated}"});
  CHECK(LeafShardings("{}").empty());
}

}  // namespace
}  // namespace assay
