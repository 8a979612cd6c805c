// Sections 3 and 5 to 8 of docs/spec/shapes.md.
#include "shape/shape.h"

#include "base/error.h"
#include "catch2/catch.hpp"
#include "shape/shape_text.h"

namespace assay {
namespace {

Shape S(std::string_view text) {
  absl::StatusOr<Shape> shape = ParseShape(text);
  INFO(text << ": " << shape.status());
  REQUIRE(shape.ok());
  return *shape;
}

TEST_CASE("shape: sizes are checked", "[shape]") {
  const int64_t huge[] = {int64_t{1} << 32, int64_t{1} << 32};
  const int64_t bytes_overflow[] = {int64_t{1} << 61};
  const int64_t negative[] = {2, -1};
  const int64_t zero[] = {int64_t{1} << 62, 0, int64_t{1} << 62};
  CHECK(Shape::Array(ElementType::kU8, huge).status().message() ==
        "SHAPE-3: shape size overflows int64: u8[4294967296,4294967296]");
  CHECK_FALSE(Shape::Array(ElementType::kF32, bytes_overflow).ok());
  CHECK(Shape::Array(ElementType::kU8, bytes_overflow).ok());
  CHECK(ExitCodeOf(Shape::Array(ElementType::kF32, negative).status()) == 3);
  REQUIRE(Shape::Array(ElementType::kF64, zero).ok());
  CHECK(Shape::Array(ElementType::kF64, zero)->num_elements() == 0);
  CHECK(Shape::Scalar(ElementType::kF64).num_elements() == 1);
  const std::vector<int64_t> rank64(64, 1), rank65(65, 1);
  CHECK(Shape::Array(ElementType::kF32, rank64).ok());
  const absl::Status over = Shape::Array(ElementType::kF32, rank65).status();
  CHECK(over.message() == "the rank of a shape is 65, over the limit of 64");
  CHECK(ExitCodeOf(over) == 3);
}

TEST_CASE("shape: effective scalars have all sizes 1", "[shape]") {
  CHECK(S("f32[]").IsEffectiveScalar());
  CHECK(S("f32[1,1]").IsEffectiveScalar());
  CHECK_FALSE(S("f32[1,2]").IsEffectiveScalar());
  CHECK_FALSE(S("f32[0]").IsEffectiveScalar());
  CHECK_FALSE(S("()").IsEffectiveScalar());
}

TEST_CASE("shape: byte sizes are those of section 5", "[shape]") {
  const auto bytes = [](std::string_view text) { return LayoutByteSize(S(text)).value(); };
  CHECK(bytes("f32[3,5]") == 60);
  CHECK(bytes("f32[3,5]{1,0:T(2,2)}") == 96);
  CHECK(bytes("s4[7]") == 7);
  CHECK(bytes("s4[7]{0:E(4)}") == 4);
  CHECK(bytes("pred[9]") == 9);
  CHECK(bytes("c128[2]") == 32);
  CHECK(bytes("f32[<=5]") == 20);
  CHECK(S("(f32[2],(s8[3],token[]))").TotalBytes() == 11);
  CHECK(S("(f32[2],opaque[])").TotalBytes() == 16);
  CHECK(S("b(f32[4])").TotalBytes() == 16);
  CHECK(S("()").TotalBytes() == 0);
}

TEST_CASE("shape: the total of a tuple saturates", "[shape]") {
  const std::string big = "u8[4611686018427387904]";
  CHECK(S("(" + big + "," + big + ")").TotalBytes() == std::numeric_limits<int64_t>::max());
}

TEST_CASE("shape: relations of section 7", "[shape]") {
  const Shape a = S("f32[2,3]"), bf = S("bf16[2,3]"), s = S("s32[2,3]"), dynamic = S("f32[2,<=3]");
  const Shape column = S("f32[2,3]{0,1}"), other = S("f32[3,2]"), c = S("c64[2,3]");
  CHECK(Shape::Equal(a, S("f32[2,3]{1,0}")));
  CHECK_FALSE(Shape::Equal(a, column));
  CHECK_FALSE(Shape::Equal(a, dynamic));
  CHECK_FALSE(Shape::Equal(a, S("f32[2,3]{1,0:T(2,2)}")));
  CHECK(Shape::Compatible(a, column));
  CHECK(Shape::Compatible(a, dynamic));
  CHECK_FALSE(Shape::Compatible(a, bf));
  CHECK_FALSE(Shape::Compatible(a, other));
  CHECK(Shape::CompatibleIgnoringFpPrecision(a, bf));
  CHECK_FALSE(Shape::CompatibleIgnoringFpPrecision(a, s));
  CHECK_FALSE(Shape::CompatibleIgnoringFpPrecision(a, c));
  CHECK(Shape::SameDimensions(a, s));
  CHECK(Shape::SameDimensions(c, dynamic));
  CHECK_FALSE(Shape::SameDimensions(a, other));
  CHECK_FALSE(Shape::SameDimensions(a, S("f32[2,3,1]")));
}

TEST_CASE("shape: relations hold element by element for tuples", "[shape]") {
  CHECK(Shape::Compatible(S("(f32[2], token[])"), S("(f32[<=2]{0}, token[])")));
  CHECK_FALSE(Shape::Equal(S("(f32[2], token[])"), S("(f32[<=2], token[])")));
  CHECK_FALSE(Shape::Compatible(S("(f32[2])"), S("f32[2]")));
  CHECK_FALSE(Shape::Compatible(S("(f32[2])"), S("(f32[2], f32[2])")));
  CHECK_FALSE(Shape::Compatible(S("token[]"), S("opaque[]")));
  CHECK(Shape::Compatible(S("opaque[]"), S("opaque[]")));
  CHECK_FALSE(Shape::Compatible(S("b(f32[2])"), S("f32[2]")));
  CHECK(Shape::CompatibleIgnoringFpPrecision(S("(f32[2], s8[])"), S("(f16[2], s8[])")));
}

TEST_CASE("shape: an unbounded dimension is compatible with any size", "[shape]") {
  CHECK(Shape::Compatible(S("f32[?,3]"), S("f32[7,3]")));
  CHECK_FALSE(Shape::Equal(S("f32[?,3]"), S("f32[7,3]")));
  CHECK(S("f32[?,3]").HasUnbounded());
  CHECK(S("f32[?,3]").is_dynamic(0));
  CHECK_FALSE(S("f32[<=4,3]").HasUnbounded());
  CHECK(LayoutSlots(S("f32[?,3]")).status().message() == "DYN-2: unbounded dynamism");
}

// TUPLE-1.
TEST_CASE("shape: subshapes are found by shape index", "[shape]") {
  const Shape shape = S("(f32[1], (s8[2], (), token[]))");
  const auto at = [&](std::vector<int64_t> index) { return SubshapeOrNull(shape, index); };
  CHECK(at({}) == &shape);
  CHECK(at({1, 0})->ToString() == "s8[2]");
  CHECK(at({1, 2})->IsToken());
  CHECK(at({2}) == nullptr);
  CHECK(at({-1}) == nullptr);
  CHECK(at({0, 0}) == nullptr);
  std::string leaves;
  ForEachLeaf(shape, [&](const ShapeIndex& index, const Shape& leaf) {
    for (int64_t i : index) leaves += std::to_string(i) + ".";
    leaves += leaf.ToString() + " ";
  });
  CHECK(leaves == "0.f32[1] 1.0.s8[2] 1.2.token[] ");
}

}  // namespace
}  // namespace assay
