// Shapes as text: docs/spec/hlo-text.md section 2, docs/spec/shapes.md section 9.
#include "shape/shape_text.h"

#include "base/error.h"
#include "catch2/catch.hpp"

namespace assay {
namespace {

void CheckRoundTrip(std::string_view text) {
  absl::StatusOr<Shape> shape = ParseShape(text);
  INFO(text << ": " << shape.status());
  REQUIRE(shape.ok());
  CHECK(ShapeToText(*shape, LayoutText::kWhereNotDefault) == text);
  absl::StatusOr<Shape> again = ParseShape(ShapeToText(*shape, LayoutText::kAlways));
  REQUIRE(again.ok());
  CHECK(Shape::Equal(*shape, *again));
}

TEST_CASE("shape text: what is printed reads back as an equal shape", "[shape_text]") {
  for (std::string_view text : {"f32[]",
                                "f32[2,3]",
                                "f32[0,3]",
                                "s4[<=5,?]",
                                "()",
                                "(f32[2])",
                                "(f32[2], (s32[], ()), token[])",
                                "opaque[]",
                                "b(f32[4])",
                                "b(f32[4,2]{0,1})",
                                "f32[2,3]{0,1}",
                                "f32[3,5]{1,0:T(2,2)}",
                                "f32[2,7,8]{2,1,0:T(*,2,3)(1)}",
                                "f32[2]{0:L(4)E(32)S(5)SC(0:1,2)M(16)}",
                                "s4[7]{0:E(4)}",
                                "f32[]{:S(5)}",
                                "f32[2,3]{1,0:PAD(3,5)}",
                                "f32[2,3]{1,0:PAD(3,5)V(-1.5)}",
                                "c64[2]{0:PAD(4)V((1, 2))}",
                                "f32[2]{0:#(u32)*(u16)}",
                                "(s8[1], s8[1], s8[1], s8[1], s8[1], /*index=5*/s8[1])",
                                "f8e4m3b11fnuz[9223372036854775807]"}) {
    CheckRoundTrip(text);
  }
}

TEST_CASE("shape text: layouts are printed as asked", "[shape_text]") {
  const Shape shape = ParseShape("(f32[2,3], f32[], s8[2,3]{0,1})").value();
  CHECK(ShapeToText(shape, LayoutText::kNone) == "(f32[2,3], f32[], s8[2,3])");
  CHECK(ShapeToText(shape, LayoutText::kAlways) == "(f32[2,3]{1,0}, f32[], s8[2,3]{0,1})");
  CHECK(ShapeToText(shape, LayoutText::kWhereNotDefault) == "(f32[2,3], f32[], s8[2,3]{0,1})");
  CHECK(shape.ToString() == "(f32[2,3], f32[], s8[2,3])");
  CHECK(LayoutToText(ParseShape("f32[]")->layout()).empty());
  CHECK(LayoutToText(ParseShape("f32[3,5]{1,0:T(2,2)}")->layout()) == "{1,0:T(2,2)}");
}

TEST_CASE("shape text: blanks and comments may stand between tokens", "[shape_text]") {
  const auto text = [](std::string_view s) { return ParseShape(s)->ToString(true); };
  CHECK(text(" f32 [ 2 , <= 3 ] { 0 , 1 : T ( 2 ) E ( 8 ) } ") == "f32[2,<=3]{0,1:T(2)E(8)}");
  CHECK(text("(f32[], /*index=1*/ s32[2] // more\n)") == "(f32[], s32[2]{0})");
  CHECK(text("b ( f32[2] )") == "b(f32[2]{0})");
  CHECK(text("f32[2]{0:D(D,C+~)E(8)}") == "f32[2]{0:E(8)}");
}

TEST_CASE("shape text: a prefix ends where the shape does", "[shape_text]") {
  const auto consumed = [](std::string_view s) {
    size_t n = 0;
    absl::StatusOr<Shape> shape = ParseShapePrefix(s, &n);
    REQUIRE(shape.ok());
    return std::string(s.substr(0, n));
  };
  CHECK(consumed("f32[2,3]{1,0} add(a, b)") == "f32[2,3]{1,0}");
  CHECK(consumed("f32[2,3] add(a, b)") == "f32[2,3]");
  CHECK(consumed("f32[]{}") == "f32[]");
  CHECK(consumed("f32[2]{ }") == "f32[2]");
  CHECK(consumed("s32[2] {1.5, 2}") == "s32[2]");
  CHECK(consumed("f32[2] {1e3, 2}") == "f32[2]");
  CHECK(consumed("f32[2] {{1}}") == "f32[2]");
  CHECK(consumed("f32[1] {0} x") == "f32[1] {0}");
  CHECK(consumed("pred[1] {true}") == "pred[1]");
  CHECK(consumed("s32[] {2x3}") == "s32[]");
  CHECK(consumed("s32[] {0_1}") == "s32[]");
  CHECK(consumed("(f32[], token[]) tuple(") == "(f32[], token[])");
  CHECK(consumed("token[]{0}") == "token[]");
}

TEST_CASE("shape text: integers of 2^63 and above wrap, larger ones are errors", "[shape_text]") {
  CHECK(std::string(ParseShape("f32[18446744073709551615]").status().message()) ==
        "SHAPE-3: size of dimension 0 is -1, want at least 0");
  CHECK(std::string(ParseShape("f32[18446744073709551616]").status().message()).find("64 bits") !=
        std::string::npos);
}

TEST_CASE("shape text: errors say where", "[shape_text]") {
  const auto refused = [](std::string_view text, int line, int column) {
    const absl::Status status = ParseShape(text).status();
    INFO(text << ": " << status);
    CHECK(ExitCodeOf(status) == 3);
    CHECK(PositionOf(status) == SourcePosition{line, column});
  };
  refused("", 1, 1);
  refused("f33[2]", 1, 1);
  refused("f32", 1, 4);
  refused("f32[2", 1, 6);
  refused("f32[2,]", 1, 7);
  refused("f32[2]{1", 1, 9);
  refused("f32[-1]", 1, 5);
  refused("f32[< 3]", 1, 5);
  refused("(f32[2],\n f3[2])", 2, 2);
  refused("f32[2]{0:E(4)T(2)}", 1, 14);
  refused("f32[2]{0:PAD(4)V()}", 1, 19);
  refused("f32[2]{0:PAD(4)V(1}", 1, 19);
  refused("f32[2]{0:*(s32)}", 1, 12);
  refused("token[2]", 1, 7);
  refused("b(token[])", 1, 3);
  refused("f32[2] /* no end", 1, 8);
  refused("f32[2]{}", 1, 7);
  refused(std::string_view("f32[2]\0", 7), 1, 7);
}

TEST_CASE("shape text: a physical shape is none of a dense array", "[shape_text]") {
  CHECK(ExitCodeOf(ParseShape("f32[2]{0:P(f32[2])}").status()) == 3);
}

TEST_CASE("shape text: nesting is limited", "[shape_text]") {
  const auto nested = [](int depth) { return std::string(depth, '(') + std::string(depth, ')'); };
  CHECK(ParseShape(nested(512)).ok());
  const absl::Status status = ParseShape(nested(514)).status();
  CHECK(ExitCodeOf(status) == 3);
  CHECK(status.message() == "the nesting of a tuple shape is 513, over the limit of 512");
  CHECK_FALSE(ParseShape(nested(1000000)).ok());
}

}  // namespace
}  // namespace assay
