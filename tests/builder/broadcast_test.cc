// docs/spec/broadcasting.md: every worked example, by its values and, where section 5 states it, by its text.
#include <catch2/catch.hpp>

#include "builder/builder.h"
#include "literal/literal_text.h"
#include "run/program.h"
#include "shape/shape_text.h"

namespace assay::builder {
namespace {

// A constant of the shape: "f32[2,3] {{1,2,3},{4,5,6}}".
XlaOp Constant(XlaBuilder* b, const std::string& text) {
  const absl::StatusOr<Literal> literal = ParseShapedLiteral(text);
  INFO(text << literal.status());
  REQUIRE(literal.ok());
  return ConstantLiteral(b, *literal);
}

std::string ValueOf(const absl::StatusOr<XlaComputation>& computation) {
  INFO(computation.status());
  REQUIRE(computation.ok());
  const absl::StatusOr<Literal> value = Program(computation->verified()).Run({});
  INFO(value.status());
  REQUIRE(value.ok());
  return value->shape().ToString() + " " + LiteralToText(*value);
}

// lhs + rhs, evaluated.
std::string Sum(const std::string& lhs, const std::string& rhs, Int64s dimensions = {}) {
  XlaBuilder b("sum");
  Add(Constant(&b, lhs), Constant(&b, rhs), dimensions);
  return ValueOf(b.Build());
}

XlaOp Array(XlaBuilder* b, int64_t number, Int64s sizes) {
  const auto shape = Shape::Array(ElementType::kF32, std::span<const int64_t>(sizes.data(), sizes.size()));
  REQUIRE(shape.ok());
  return Parameter(b, number, *shape, number == 0 ? "x" : "y");
}

// The result shape of x + y, or the error.
std::string SumShape(Int64s x, Int64s y, Int64s dimensions = {}) {
  XlaBuilder b("sum");
  const XlaOp sum = Add(Array(&b, 0, x), Array(&b, 1, y), dimensions);
  const absl::StatusOr<Shape> shape = b.GetShape(sum);
  CHECK(b.Build().ok() == shape.ok());
  return shape.ok() ? shape->ToString() : std::string(shape.status().message());
}

// The instructions of x + y but for the parameters, one a line.
std::string SumText(Int64s x, Int64s y, Int64s dimensions = {}) {
  XlaBuilder b("sum");
  Add(Array(&b, 0, x), Array(&b, 1, y), dimensions);
  const absl::StatusOr<XlaComputation> sum = b.Build();
  INFO(sum.status());
  REQUIRE(sum.ok());
  const std::string text = sum->ToText();
  std::string kept;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    if (line.rfind("  ", 0) == 0 && line.find("parameter(") == std::string::npos)
      kept += line.substr(2) + "\n";
    at = end + 1;
  }
  return kept;
}

bool Begins(const std::string& text, const std::string& start) { return text.rfind(start, 0) == 0; }

TEST_CASE("broadcasting: a scalar goes everywhere (example 1)", "[builder]") {
  CHECK(Sum("f32[2,3] {{1,2,3},{4,5,6}}", "f32[] 7") == "f32[2,3] { { 8, 9, 10 }, { 11, 12, 13 } }");
  CHECK(SumText({2, 3}, {}) ==
        R"(%broadcast = f32[2,3]{1,0} broadcast(%y), dimensions={}
ROOT %add = f32[2,3]{1,0} add(%x, %broadcast)
)");
}

TEST_CASE("broadcasting: a vector is copied along the rows of a matrix (example 2)", "[builder]") {
  CHECK(Sum("f32[2,3] {{1,2,3},{4,5,6}}", "f32[3] {7,8,9}", {1}) ==
        "f32[2,3] { { 8, 10, 12 }, { 11, 13, 15 } }");
  CHECK(Begins(SumShape({2, 3}, {3}), "BCAST-3: ranks differ and no dimension list"));
  CHECK(SumText({2, 3}, {3}, {1}) ==
        R"(%broadcast = f32[2,3]{1,0} broadcast(%y), dimensions={1}
ROOT %add = f32[2,3]{1,0} add(%x, %broadcast)
)");
}

TEST_CASE("broadcasting: the list decides between rows and columns of a square (example 3)", "[builder]") {
  const std::string zeros = "f32[3,3] {{0,0,0},{0,0,0},{0,0,0}}";
  CHECK(Sum(zeros, "f32[3] {7,8,9}", {1}) == "f32[3,3] { { 7, 8, 9 }, { 7, 8, 9 }, { 7, 8, 9 } }");
  CHECK(Sum(zeros, "f32[3] {7,8,9}", {0}) == "f32[3,3] { { 7, 7, 7 }, { 8, 8, 8 }, { 9, 9, 9 } }");
}

TEST_CASE("broadcasting: a matrix is repeated along the first dimension of a cuboid (example 4)",
          "[builder]") {
  CHECK(Sum("s32[2,2,2] {{{0,0},{0,0}},{{10,10},{10,10}}}", "s32[2,2] {{1,2},{3,4}}", {1, 2}) ==
        "s32[2,2,2] { { { 1, 2 }, { 3, 4 } }, { { 11, 12 }, { 13, 14 } } }");
  CHECK(SumShape({2, 3, 4}, {3, 4}, {1, 2}) == "f32[2,3,4]");
}

TEST_CASE("broadcasting: dimensions match in order, by size (example 5)", "[builder]") {
  CHECK(SumShape({2, 3, 4, 5}, {2}, {0}) == "f32[2,3,4,5]");
  CHECK(SumShape({2, 3, 4, 5}, {3}, {1}) == "f32[2,3,4,5]");
  CHECK(SumShape({2, 3, 4, 5}, {4}, {2}) == "f32[2,3,4,5]");
  CHECK(SumShape({2, 3, 4, 5}, {5}, {3}) == "f32[2,3,4,5]");
  CHECK(SumShape({2, 3, 4, 5}, {1}, {3}) == "f32[2,3,4,5]");
  CHECK(SumShape({2, 3, 1, 5}, {4}, {2}) == "f32[2,3,4,5]");
  CHECK(Begins(SumShape({2, 3, 4, 5}, {2}, {1}), "BCAST-7: size mismatch at list position 0"));
  CHECK(SumShape({2, 3, 4, 5}, {4, 5}, {2, 3}) == "f32[2,3,4,5]");
  CHECK(SumShape({2, 3, 4, 5}, {3, 4}, {1, 2}) == "f32[2,3,4,5]");
  CHECK(SumShape({2, 3, 4, 5}, {2, 5}, {0, 3}) == "f32[2,3,4,5]");
  CHECK(Begins(SumShape({2, 3, 4, 5}, {5, 3}, {3, 1}), "BCAST-6: list not increasing"));
  CHECK(Begins(SumShape({2, 3, 4, 5}, {4, 4}, {2, 2}), "BCAST-6: list not increasing"));
}

TEST_CASE("broadcasting: a size of 1 stretches (example 6)", "[builder]") {
  CHECK(SumShape({2, 1}, {2, 3}) == "f32[2,3]");
  CHECK(SumShape({1, 2, 5}, {7, 2, 5}) == "f32[7,2,5]");
  CHECK(SumShape({7, 2, 5}, {7, 1, 5}) == "f32[7,2,5]");
  CHECK(Begins(SumShape({7, 2, 5}, {7, 2, 6}), "BCAST-9: sizes neither equal nor 1"));
  CHECK(SumShape({0, 3}, {1, 3}) == "f32[0,3]");
  CHECK(Begins(SumShape({0, 3}, {2, 3}), "BCAST-9"));
  CHECK(SumText({1, 3}, {2, 3}) ==
        R"(%reshape = f32[3]{0} reshape(%x)
%broadcast = f32[2,3]{1,0} broadcast(%reshape), dimensions={1}
ROOT %add = f32[2,3]{1,0} add(%broadcast, %y)
)");
}

TEST_CASE("broadcasting: both operands stretch in an outer sum (example 7)", "[builder]") {
  CHECK(Sum("s32[2,1] {{1},{2}}", "s32[1,3] {{10,20,30}}") == "s32[2,3] { { 11, 21, 31 }, { 12, 22, 32 } }");
}

TEST_CASE("broadcasting: the list and sizes of 1 together (examples 8 and 9)", "[builder]") {
  CHECK(Sum("s32[4] {1,2,3,4}", "s32[1,2] {{5,6}}", {0}) ==
        "s32[4,2] { { 6, 7 }, { 7, 8 }, { 8, 9 }, { 9, 10 } }");
  CHECK(SumShape({1, 2}, {4, 3, 1}, {1, 2}) == "f32[4,3,2]");
}

TEST_CASE("broadcasting: what is refused (example 10)", "[builder]") {
  CHECK(Begins(SumShape({2, 3}, {2}, {1}), "BCAST-7: size mismatch at list position 0: 2 and 3"));
  CHECK(Begins(SumShape({2, 3}, {3}, {0, 1}), "BCAST-4: dimension list length"));
  CHECK(Begins(SumShape({2, 3}, {3}, {2}), "BCAST-5: list entry out of range"));
  CHECK(Begins(SumShape({2, 3}, {3}, {-1}), "BCAST-5: list entry out of range"));
  CHECK(Begins(SumShape({3, 3}, {3, 3}, {1, 0}),
               "BCAST-2: equal ranks: dimension list must be empty or 0..r-1"));
  CHECK(SumShape({3, 3}, {3, 3}, {0, 1}) == "f32[3,3]");
}

TEST_CASE("broadcasting: element types must be equal [BCAST-1]", "[builder]") {
  XlaBuilder b("sum");
  Add(ConstantR0<float>(&b, 1), ConstantR0<int32_t>(&b, 1));
  CHECK(Begins(std::string(b.Build().status().message()), "BCAST-1: operand element types differ"));
  XlaBuilder t("sum");
  Add(CreateToken(&t), ConstantR0<int32_t>(&t, 1));
  CHECK(Begins(std::string(t.Build().status().message()), "BCAST-1"));
}

TEST_CASE("broadcasting: a dynamic dimension meets its equal or 1 [BCAST-8]", "[builder]") {
  const auto sum = [](const std::string& x, const std::string& y, Int64s list) {
    XlaBuilder b("sum");
    const XlaOp op = Add(Parameter(&b, 0, *ParseShape(x), "x"), Parameter(&b, 1, *ParseShape(y), "y"), list);
    const auto shape = b.GetShape(op);
    return shape.ok() ? shape->ToString() : std::string(shape.status().message());
  };
  CHECK(sum("f32[<=4]", "f32[4]", {}) == "f32[<=4]");
  CHECK(sum("f32[<=4]", "f32[]", {}) == "f32[<=4]");
  CHECK(sum("f32[<=4]", "f32[2,4]", {1}) == "f32[2,<=4]");
  CHECK(sum("f32[1]", "f32[2,<=4]", {1}) == "f32[2,<=4]");
  CHECK(Begins(sum("f32[<=1]", "f32[2,4]", {1}), "BCAST-8: dynamic flag mismatch"));
}

TEST_CASE("broadcast: sizes are put in front", "[builder]") {
  XlaBuilder b("broadcast");
  Broadcast(ConstantR0<float>(&b, 2), {2, 3});
  CHECK(ValueOf(b.Build()) == "f32[2,3] { { 2, 2, 2 }, { 2, 2, 2 } }");
  Broadcast(ConstantR1<int32_t>(&b, {1, 2}), {2});
  CHECK(ValueOf(b.Build()) == "s32[2,2] { { 1, 2 }, { 1, 2 } }");
}

TEST_CASE("broadcast-in-dim: sizes of 1 stretch", "[builder]") {
  XlaBuilder b("broadcast");
  BroadcastInDim(ConstantR2<int32_t>(&b, {{1, 2, 3}}), {2, 3, 2}, {0, 1});
  CHECK(ValueOf(b.Build()) ==
        "s32[2,3,2] { { { 1, 1 }, { 2, 2 }, { 3, 3 } }, { { 1, 1 }, { 2, 2 }, { 3, 3 } } }");
  const auto error = [](Int64s sizes, Int64s list) {
    XlaBuilder bad("broadcast");
    BroadcastInDim(ConstantR2<int32_t>(&bad, {{1, 2, 3}}), sizes, list);
    return std::string(bad.Build().status().message());
  };
  CHECK(Begins(error({3}, {0}), "BroadcastInDim-C1"));
  CHECK(Begins(error({2, 3}, {0}), "BroadcastInDim-C2"));
  CHECK(Begins(error({2, 3}, {0, 2}), "BroadcastInDim-C3"));
  CHECK(Begins(error({3, 2}, {1, 0}), "BroadcastInDim-C4"));
  CHECK(Begins(error({2, 4}, {0, 1}), "BroadcastInDim-C5"));
}

}  // namespace
}  // namespace assay::builder
