// The worked numbers of docs/spec/shapes.md sections 3 and 4, and every slot of some layouts against the
// positions of elements.
#include "shape/shape_util.h"

#include <map>

#include "catch2/catch.hpp"
#include "shape/index.h"
#include "shape/shape_text.h"

namespace assay {
namespace {

Shape Parsed(std::string_view text) {
  absl::StatusOr<Shape> shape = ParseShape(text);
  INFO(text << ": " << shape.status());
  REQUIRE(shape.ok());
  return *shape;
}

}  // namespace

// SHAPE-1.
TEST_CASE("shape: the true rank leaves out dimensions of size 1", "[shape]") {
  CHECK(TrueRank(Parsed("f32[1,5,1,3]")) == 2);
  CHECK(TrueRank(Parsed("f32[1,1]")) == 0);
  CHECK(TrueRank(Parsed("f32[]")) == 0);
  CHECK(TrueRank(Parsed("f32[0,2]")) == 1);
}

TEST_CASE("shape: dimension numbers below 0 count from the end", "[shape]") {
  const Shape shape = Parsed("f32[7,8,9]");
  CHECK(SizeOfDimension(shape, -1).value() == 9);
  CHECK(SizeOfDimension(shape, -2).value() == 8);
  CHECK(SizeOfDimension(shape, -3).value() == 7);
  CHECK(DimensionNumber(shape, 2).value() == 2);
  CHECK(DimensionNumber(shape, -3).value() == 0);
  for (int64_t d : {int64_t{3}, int64_t{-4}, INT64_MIN, INT64_MAX}) {
    CHECK(absl::IsOutOfRange(DimensionNumber(shape, d).status()));
    CHECK(absl::IsOutOfRange(SizeOfDimension(shape, d).status()));
  }
  CHECK(DimensionNumber(shape, 3).status().message() == "SHAPE-5: dimension 3 of f32[7,8,9], wanted -3 to 2");
  CHECK(absl::IsOutOfRange(DimensionNumber(Parsed("f32[]"), 0).status()));
}

TEST_CASE("shape: index and position in any layout", "[shape][layout]") {
  const Shape shape = Parsed("f32[2,3,4]{1,2,0}");
  CHECK(PositionOfIndex(shape, DimVector{1, 0, 2}).value() == 18);
  CHECK(IndexAtPosition(shape, 18).value() == DimVector{1, 0, 2});
  CHECK(IndexAtPosition(Parsed("f32[3,5]{1,0:T(2,2)}"), 17).value() == DimVector{2, 3});
  CHECK(PositionOfIndex(Parsed("f32[]"), {}).value() == 0);
  CHECK(IndexAtPosition(Parsed("f32[]"), 0).value().empty());
}

TEST_CASE("shape: every slot holds the element whose position it is, or is padding", "[shape][layout]") {
  for (const char* text :
       {"f32[2,3]{0,1}", "f32[2,3]{0,1:PAD(3,5)}", "f32[3,5]{1,0:T(2,2)}", "f32[4,8]{1,0:T(2,4)(2,1)}",
        "f32[5]{0:T(2,4)}", "f32[3,2,5]{1,0,2:T(*,2)L(16)}", "f32[3,3,5]{2,1,0:T(*,*,4)(2)}",
        "f32[2,0]{1,0:T(2,2)}", "f32[1,3]{0,1:T(2)L(7)PAD(2,3)}"}) {
    INFO(text);
    const Shape shape = Parsed(text);
    std::map<int64_t, DimVector> element_at;
    if (shape.num_elements() > 0) {
      DimVector index(shape.rank(), 0);
      do element_at[PositionOfIndex(shape, index).value()] = index;
      while (NextIndex(shape.sizes(), std::span<int64_t>(index)));
    }
    CHECK(static_cast<int64_t>(element_at.size()) == shape.num_elements());
    for (int64_t slot = 0; slot < LayoutSlots(shape).value(); ++slot) {
      const absl::StatusOr<DimVector> index = IndexAtPosition(shape, slot);
      if (!element_at.contains(slot)) {
        CHECK(absl::IsOutOfRange(index.status()));
      } else {
        CHECK(index.value() == element_at[slot]);
      }
    }
  }
}

TEST_CASE("shape: what is no index or position is out of range", "[shape][layout]") {
  const Shape shape = Parsed("f32[2,3]{0,1:PAD(3,5)}");
  CHECK(PositionOfIndex(shape, DimVector{1, 3}).status().message() ==
        "INDEX-1: index[1] is 3, wanted 0 to 2 for f32[2,3]");
  for (const DimVector& index : {DimVector{-1, 0}, DimVector{2, 0}, DimVector{0}, DimVector{0, 0, 0}})
    CHECK(absl::IsOutOfRange(PositionOfIndex(shape, index).status()));
  for (int64_t position : {int64_t{-1}, int64_t{15}, INT64_MAX, int64_t{2}})
    CHECK(absl::IsOutOfRange(IndexAtPosition(shape, position).status()));
  CHECK(!PositionOfIndex(Parsed("f32[?,3]"), DimVector{0, 0}).ok());
}

}  // namespace assay
