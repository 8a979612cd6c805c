// The worked numbers of docs/spec/shapes.md section 4.
#include "base/error.h"
#include "catch2/catch.hpp"
#include "shape/index.h"
#include "shape/shape.h"
#include "shape/shape_text.h"

namespace assay {
namespace {

Shape ParsedLayout(std::string_view text) {
  absl::StatusOr<Shape> shape = ParseShape(text);
  INFO(text << ": " << shape.status());
  REQUIRE(shape.ok());
  return *shape;
}

int64_t At(std::string_view shape, std::vector<int64_t> index) {
  return LayoutPosition(ParsedLayout(shape), index);
}

// The elements a, b, c... of a matrix as they lie in memory, '.' where a slot holds none.
std::string Picture(std::string_view text) {
  const Shape shape = ParsedLayout(text);
  std::string picture(LayoutSlots(shape).value(), '.');
  DimVector index(shape.rank(), 0);
  char letter = 'a';
  do picture[LayoutPosition(shape, index)] = letter++;
  while (NextIndex(shape.sizes(), std::span<int64_t>(index)));
  return picture;
}

TEST_CASE("layout: positions of the worked index table", "[layout]") {
  CHECK(At("f32[2,3,4]{2,1,0}", {1, 2, 3}) == 23);
  CHECK(At("f32[2,3,4]{0,1,2}", {1, 2, 3}) == 23);
  CHECK(At("f32[2,3,4]{1,2,0}", {1, 2, 3}) == 23);
  CHECK(At("f32[2,3,4]{2,1,0}", {1, 0, 2}) == 14);
  CHECK(At("f32[2,3,4]{0,1,2}", {1, 0, 2}) == 13);
  CHECK(At("f32[2,3,4]{1,2,0}", {1, 0, 2}) == 18);
  CHECK(At("f32[2,3,4]{2,1,0}", {0, 2, 1}) == 9);
  CHECK(At("f32[2,3,4]{0,1,2}", {0, 2, 1}) == 10);
  CHECK(At("f32[2,3,4]{1,2,0}", {0, 2, 1}) == 5);
  CHECK(At("f32[]", {}) == 0);
}

TEST_CASE("layout: row-major and column-major store the matrix as pictured", "[layout]") {
  CHECK(Picture("f32[2,3]{1,0}") == "abcdef");
  CHECK(Picture("f32[2,3]{0,1}") == "adbecf");
}

TEST_CASE("layout: padded dimensions leave slots as pictured", "[layout]") {
  CHECK(Picture("f32[2,3]{0,1:PAD(3,5)}") == "ad.be.cf.......");
  CHECK(Picture("f32[2,3]{1,0:PAD(3,5)}") == "abc..def.......");
  CHECK(At("f32[2,3]{0,1:PAD(3,5)}", {1, 2}) == 7);
  CHECK(At("f32[2,3]{1,0:PAD(3,5)V(0)}", {1, 2}) == 7);
  CHECK(LayoutSlots(ParsedLayout("f32[2,3]{1,0:PAD(3,5)}")).value() == 15);
}

TEST_CASE("layout: tiles put elements where the examples say", "[layout]") {
  CHECK(At("f32[3,5]{1,0:T(2,2)}", {2, 3}) == 17);
  CHECK(LayoutSlots(ParsedLayout("f32[3,5]{1,0:T(2,2)}")).value() == 24);
  CHECK(At("f32[4,8]{1,0:T(2,4)(2,1)}", {1, 2}) == 5);
  // Merged to [112,110], tiles of (2,3): 56 * 37 tiles of 6.
  const std::string merged = "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}";
  CHECK(LayoutSlots(ParsedLayout(merged)).value() == 56 * 37 * 6);
  // (1,2,3,4,5): row 1*56+2*8+3 = 75, column 4*10+5 = 45; tile (37,15), inside (1,0).
  CHECK(At(merged, {1, 2, 3, 4, 5}) == (37 * 37 + 15) * 6 + 3);
}

TEST_CASE("layout: a tile of higher rank than the shape adds leading dimensions of size 1", "[layout]") {
  CHECK(LayoutSlots(ParsedLayout("f32[5]{0:T(2,4)}")).value() == 16);
  CHECK(At("f32[5]{0:T(2,4)}", {4}) == 8);
}

TEST_CASE("layout: tiles apply to the physical order of dimensions", "[layout]") {
  // Column-major [5,3] has physical sizes 3 (major), 5 (minor): the same memory as [3,5] row-major.
  CHECK(At("f32[5,3]{0,1:T(2,2)}", {3, 2}) == 17);
}

TEST_CASE("layout: tail padding rounds the slots up", "[layout]") {
  CHECK(LayoutSlots(ParsedLayout("f32[3,5]{1,0:L(8)}")).value() == 16);
  CHECK(LayoutSlots(ParsedLayout("f32[3,5]{1,0:T(2,2)L(16)}")).value() == 32);
  CHECK(LayoutSlots(ParsedLayout("f32[0]{0:T(8)L(16)}")).value() == 0);
}

TEST_CASE("layout: what is not legal is refused with its rule", "[layout]") {
  const auto refused = [](std::string_view text, std::string_view want) {
    const absl::Status status = ParseShape(text).status();
    INFO(text << ": " << status);
    CHECK(ExitCodeOf(status) == 3);
    CHECK(std::string(status.message()).find(want) != std::string::npos);
  };
  refused("f32[2,3]{1}", "LAYOUT-1: minor_to_major has 1 entry, want 2");
  refused("f32[2,3]{1,1}", "LAYOUT-1: minor_to_major {1,1} is not a permutation");
  refused("f32[2,3]{1,2}", "LAYOUT-1");
  refused("f32[2,3]{-1,0}", "LAYOUT-1");
  refused("f32[]{0}", "LAYOUT-1");
  refused("f32[2,3]{1,0:PAD(3)}", "LAYOUT-3: padded_dimensions has 1 entry, want 2");
  refused("f32[2,3]{1,0:PAD(3,2)}", "LAYOUT-3: padded_dimensions[1] is 2, want at least 3");
  refused("f32[2,3]{1,0:PAD()}", "LAYOUT-3: padded_dimensions has no entries");
  refused("f32[2,3]{1,0:T(0,2)}", "LAYOUT-4: tile entry is 0");
  refused("f32[2,3]{1,0:T(2,*)}", "LAYOUT-4: the last entry");
  refused("f32[2,3]{1,0:L(0)}", "tail padding alignment is 0, want at least 1");
  refused("f32[2,3]{1,0:E(-4)}", "element size in bits is -4");
  refused("f32[2,3]{1,0:SC(2:1)}", "split config names dimension 2");
  refused("f32[2,3]{1,0:T(4611686018427387904,4611686018427387904)}", "SHAPE-3");
  refused("f32[2,3]{1,0:T(*,1)PAD(4611686018427387904,4611686018427387904)}", "SHAPE-3");
}

TEST_CASE("layout: many tiles are taken in linear time", "[layout]") {
  std::string text = "f32[3,5]{1,0:T";
  for (int i = 0; i < 100000; ++i) text += "(1)";
  CHECK(LayoutSlots(ParsedLayout(text + "}")).value() == 15);
}

}  // namespace
}  // namespace assay
