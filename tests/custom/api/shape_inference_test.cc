#include "custom/api/shape_inference.h"

#include <catch2/catch.hpp>

#include "custom/api/shape_test.h"

namespace {

using namespace assay::op;

// The examples of docs/spec/custom-ops.md 1.3, and each function on shapes that are known, in part or not at
// all; worked by hand.
TEST_CASE("shape functions: the stock ones", "[custom][shape_inference]") {
  CHECK(InferOk(UnchangedShape, "[2,?]", "in0") == "");
  CHECK(InferOk(UnchangedShape, "?", "?") == "");
  CHECK(InferOk(UnchangedShape, "[2]", "[3]") == "output 0, [2]: dimension 0: found 2, wanted 3");
  CHECK(InferOk(UnchangedShapeWithRank<2>, "[2,?]", "in0") == "");
  CHECK(InferOk(UnchangedShapeWithRank<2>, "?", "[?,?]") == "");
  CHECK(InferError("Shape must be rank 2 but is rank 1", UnchangedShapeWithRank<2>, "[2]") == "");
  CHECK(InferOk(UnchangedShapeWithRankAtLeast<1>, "?", "?") == "");
  CHECK(InferError("at least rank 1 but is rank 0", UnchangedShapeWithRankAtLeast<1>, "[]") == "");
  CHECK(InferOk(ScalarShape, "[2]", "[]") == "");
  CHECK(InferOk(UnknownShape, "[2]", "?;?") == "");
  CHECK(InferOk(MergeBothInputs, "[2,?];[?,3]", "[2,3]") == "");
  CHECK(InferOk(MergeBothInputs, "?;[?,3]", "in1") == "");
  CHECK(InferOk(MergeBothInputs, "[2,3];[?,3]", "in0") == "");
  CHECK(InferOk(MergeBothInputs, "[2,?];[2,3]", "in1") == "");
  CHECK(InferError("must be equal rank, but are 1 and 2", MergeBothInputs, "[2];[2,3]") == "");
  CHECK(InferError("Dimension 1 in both shapes must be equal, but are 4 and 3", MergeBothInputs,
                   "[2,4];[2,3]") == "");
}

TEST_CASE("shape functions: numpy's broadcast", "[custom][shape_inference]") {
  CHECK(InferOk(BroadcastBinaryOpShape, "[2,1];[3]", "[d0_0,d1_0]") == "");
  CHECK(InferOk(BroadcastBinaryOpShape, "[];[2,3]", "[d1_0,d1_1]") == "");
  CHECK(InferOk(BroadcastBinaryOpShape, "[4,?];[2]", "[4,2]") == "");  // ? is 1 or 2
  CHECK(InferOk(BroadcastBinaryOpShape, "[?];[?]", "[?]") == "");
  CHECK(InferOk(BroadcastBinaryOpShape, "[?];[1]", "[d0_0]") == "");
  CHECK(InferOk(BroadcastBinaryOpShape, "?;[1]", "?") == "");
  CHECK(InferError("must be equal, but are 2 and 3", BroadcastBinaryOpShape, "[2];[3]") == "");
}

Status Rows(InferenceContext* c) {  // (n, 3) of (n, …)
  c->set_output(0, c->Matrix(c->Dim(c->input(0), 0), 3));
  return Ok();
}

Status AllMatrices(InferenceContext* c) {  // all of rank 2 and equal
  ShapeHandle all = c->UnknownShape();
  for (int64_t i = 0; i < c->num_inputs(); ++i) {
    ShapeHandle matrix;
    ASSAY_OP_RETURN_IF_ERROR(c->WithRank(c->input(i), 2, &matrix));
    ASSAY_OP_RETURN_IF_ERROR(c->Merge(all, matrix, &all));
  }
  c->set_output(0, all);
  return Ok();
}

// [a + 1, a - 1, 2 a, a / 2] of [a].
Status Arithmetic(InferenceContext* c) {
  const DimensionHandle a = c->Dim(c->input(0), -1);
  DimensionHandle more, less, twice, half;
  ASSAY_OP_RETURN_IF_ERROR(c->Add(a, 1, &more));
  ASSAY_OP_RETURN_IF_ERROR(c->Subtract(a, 1, &less));
  ASSAY_OP_RETURN_IF_ERROR(c->Multiply(a, 2, &twice));
  ASSAY_OP_RETURN_IF_ERROR(c->Divide(a, 2, /*exact=*/true, &half));
  c->set_output(0, c->MakeShape({more, less, twice, half}));
  return Ok();
}

Status Joined2(InferenceContext* c) {
  ShapeHandle both;
  ASSAY_OP_RETURN_IF_ERROR(c->Concatenate(c->input(0), c->input(1), &both));
  ASSAY_OP_RETURN_IF_ERROR(c->ReplaceDim(both, -1, c->MakeDim(7), &both));
  c->set_output(0, both);
  return Ok();
}

TEST_CASE("shape functions: an author's own", "[custom][shape_inference]") {
  CHECK(InferOk(Rows, "[5,4]", "[d0_0,3]") == "");
  CHECK(InferOk(Rows, "?", "[?,3]") == "");
  CHECK(InferOk(Rows, "[5,4]", "[d0_1,3]") ==
        "output 0, [5,3]: dimension 0: found another dimension than d0_1");
  CHECK(InferOk(AllMatrices, "[2,?];?;[?,3]", "[2,3]") == "");
  CHECK(InferError("must be rank 2 but is rank 3", AllMatrices, "[2,2];[1,2,3]") == "");
  CHECK(InferOk(Arithmetic, "[6]", "[7,5,12,3]") == "");
  CHECK(InferOk(Arithmetic, "[?]", "[?,?,?,?]") == "");
  CHECK(InferError("Negative dimension size caused by subtracting 1 from 0", Arithmetic, "[0]") == "");
  CHECK(InferError("evenly divisible by 2 but is 5", Arithmetic, "[5]") == "");
  CHECK(InferError("overflow", Arithmetic, "[9223372036854775807]") == "");
  CHECK(InferOk(Joined2, "[1,2];[3]", "[d0_0,d0_1,7]") == "");
  CHECK(InferOk(Joined2, "?;[3]", "?") == "");
  CHECK(InferError("Out of range dimension index -1", Joined2, "[];[]") == "");
}

TEST_CASE("shape functions: shapes that attributes give", "[custom][shape_inference]") {
  const int64_t sizes[] = {2, -1};
  AssayAttr attr = {};
  attr.name = {"shape", 5};
  attr.kind = ASSAY_ATTR_SHAPE;
  attr.shape = {2, sizes};
  CHECK(InferOk(ExplicitShapes, "", "[2,?]", {attr}) == "");
  CHECK(InferError("no attr 'shapes'", ExplicitShapes, "") == "");
}

}  // namespace
