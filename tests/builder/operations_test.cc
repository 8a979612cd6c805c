// Every operation of the builder makes a module that verifies, whose text XLA's grammar and ours read back,
// and that evaluates to what the specification's examples say.
#include <catch2/catch.hpp>

#include "builder/builder.h"
#include "builder/testing.h"
#include "hlo/text/parser.h"
#include "hlo/text/printer.h"
#include "literal/literal_text.h"
#include "run/executor.h"
#include "shape/shape_text.h"
#include "tests/builder/built_program.h"

namespace assay::builder {
namespace {

XlaComputation AddS32() { return Must(CreateScalarAddComputation(ElementType::kS32)); }

TEST_CASE("builder operations: one operand", "[builder]") {
  using Fn = XlaOp (*)(XlaOp);
  const std::vector<std::pair<Fn, std::string>> floats = {{Abs, "abs"},
                                                          {Ceil, "ceil"},
                                                          {Floor, "floor"},
                                                          {IsFinite, "is-finite"},
                                                          {Neg, "negate"},
                                                          {Round, "round-nearest-afz"},
                                                          {RoundNearestAfz, "round-nearest-afz"},
                                                          {RoundNearestEven, "round-nearest-even"},
                                                          {Sign, "sign"},
                                                          {Copy, "copy"},
                                                          {OptimizationBarrier, "opt-barrier"}};
  for (const auto& [fn, opcode] : floats) {
    INFO(opcode);
    CHECK(TextOf(opcode, [&, fn = fn](XlaBuilder* b) {
            fn(Parameter(b, 0, ShapeOf("f32[2]"), "x"));
          }).find("[2]{0} " + opcode + "(%x)") != std::string::npos);
  }
  for (const auto& [fn, opcode] : std::vector<std::pair<Fn, std::string>>{
           {Clz, "count-leading-zeros"}, {Not, "not"}, {PopulationCount, "popcnt"}}) {
    CHECK(TextOf(opcode, [&, fn = fn](XlaBuilder* b) { fn(Parameter(b, 0, ShapeOf("s32[2]"), "x")); }) ==
          "ROOT %" + opcode + " = s32[2]{0} " + opcode + "(%x)");
  }
  using AccurateFn = XlaOp (*)(XlaOp, const Accuracy&);
  const std::vector<std::pair<AccurateFn, std::string>> accurate = {{Acos, "acos"},
                                                                    {Acosh, "acosh"},
                                                                    {Asin, "asin"},
                                                                    {Asinh, "asinh"},
                                                                    {Atanh, "atanh"},
                                                                    {Cbrt, "cbrt"},
                                                                    {Cos, "cosine"},
                                                                    {Cosh, "cosh"},
                                                                    {Erf, "erf"},
                                                                    {Exp, "exponential"},
                                                                    {Expm1, "exponential-minus-one"},
                                                                    {Log, "log"},
                                                                    {Log1p, "log-plus-one"},
                                                                    {Logistic, "logistic"},
                                                                    {Rsqrt, "rsqrt"},
                                                                    {Sin, "sine"},
                                                                    {Sinh, "sinh"},
                                                                    {Sqrt, "sqrt"},
                                                                    {Tan, "tan"},
                                                                    {Tanh, "tanh"}};
  for (const auto& [fn, opcode] : accurate) {
    CHECK(TextOf(opcode, [&, fn = fn](XlaBuilder* b) {
            fn(Parameter(b, 0, ShapeOf("f32[2]"), "x"), std::nullopt);
          }) == "ROOT %" + opcode + " = f32[2]{0} " + opcode + "(%x)");
    CHECK(TextOf(opcode, [&, fn = fn](XlaBuilder* b) {
            ResultAccuracy highest;
            highest.mode = ResultAccuracy::Mode::kHighest;
            fn(Parameter(b, 0, ShapeOf("f32[2]"), "x"), highest);
          }) == "ROOT %" + opcode + " = f32[2]{0} " + opcode + "(%x), result_accuracy={mode=highest}");
  }
  CHECK(Of([](XlaBuilder* b) { Conj(Value(b, "c64[] (3,4)")); }) == "c64[] (3, -4)");
  CHECK(Of([](XlaBuilder* b) { Real(Value(b, "c64[] (3,4)")); }) == "f32[] 3");
  CHECK(Of([](XlaBuilder* b) { Imag(Value(b, "c64[] (3,4)")); }) == "f32[] 4");
}

TEST_CASE("builder operations: two operands", "[builder]") {
  using Fn = XlaOp (*)(XlaOp, XlaOp, Int64s);
  const std::vector<std::tuple<Fn, std::string, std::string>> cases = {
      {Add, "s32", "add"},
      {And, "s32", "and"},
      {Atan2, "f32", "atan2"},
      {Div, "s32", "divide"},
      {Max, "s32", "maximum"},
      {Min, "s32", "minimum"},
      {Mul, "s32", "multiply"},
      {Mulhi, "s32", "mulhi"},
      {Or, "s32", "or"},
      {Pow, "s32", "power"},
      {Rem, "s32", "remainder"},
      {ShiftLeft, "s32", "shift-left"},
      {ShiftRightArithmetic, "s32", "shift-right-arithmetic"},
      {ShiftRightLogical, "s32", "shift-right-logical"},
      {Sub, "s32", "subtract"},
      {Xor, "s32", "xor"}};
  for (const auto& [fn, type, opcode] : cases) {
    INFO(opcode);
    CHECK(TextOf(opcode, [&, f = fn, &t = type](XlaBuilder* b) {
            f(Parameter(b, 0, ShapeOf(t + "[2]"), "x"), Parameter(b, 1, ShapeOf(t + "[2]"), "y"), {});
          }) == "ROOT %" + opcode + " = " + type + "[2]{0} " + opcode + "(%x, %y)");
  }
  CHECK(Of([](XlaBuilder* b) { Complex(Value(b, "f32[] 1"), Value(b, "f32[2] {2,3}")); }) ==
        "c64[2] {(1, 2), (1, 3)}");
  CHECK(Of([](XlaBuilder* b) { And(Value(b, "u8[] 7"), Value(b, "u8[] 14"), Value(b, "u8[] 20")); }) ==
        "u8[] 4");
  CHECK(Of([](XlaBuilder* b) {
          Or(Value(b, "u8[] 1"), Value(b, "u8[] 2"), Value(b, "u8[] 4"), Value(b, "u8[] 8"));
        }) == "u8[] 15");
  CHECK(Of([](XlaBuilder* b) { OrAll({Value(b, "u8[] 9")}); }) == "u8[] 9");
}

TEST_CASE("builder operations: comparison, choice, conversion", "[builder]") {
  using Fn = XlaOp (*)(XlaOp, XlaOp, Int64s);
  for (const auto& [fn, direction] : std::vector<std::pair<Fn, std::string>>{
           {Eq, "EQ"}, {Ne, "NE"}, {Ge, "GE"}, {Gt, "GT"}, {Le, "LE"}, {Lt, "LT"}}) {
    CHECK(TextOf("compare", [&, f = fn](XlaBuilder* b) {
            f(Parameter(b, 0, ShapeOf("f32[]"), "x"), Parameter(b, 1, ShapeOf("f32[]"), "y"), {});
          }) == "ROOT %compare = pred[] compare(%x, %y), direction=" + direction);
  }
  for (const auto& [fn, direction] : std::vector<std::pair<Fn, std::string>>{{EqTotalOrder, "EQ"},
                                                                             {NeTotalOrder, "NE"},
                                                                             {GeTotalOrder, "GE"},
                                                                             {GtTotalOrder, "GT"},
                                                                             {LeTotalOrder, "LE"},
                                                                             {LtTotalOrder, "LT"}}) {
    CHECK(TextOf("compare", [&, f = fn](XlaBuilder* b) {
            f(Parameter(b, 0, ShapeOf("f32[]"), "x"), Parameter(b, 1, ShapeOf("f32[]"), "y"), {});
          }) == "ROOT %compare = pred[] compare(%x, %y), direction=" + direction + ", type=TOTALORDER");
    CHECK(TextOf("compare", [&, f = fn](XlaBuilder* b) {
            f(Parameter(b, 0, ShapeOf("s32[]"), "x"), Parameter(b, 1, ShapeOf("s32[]"), "y"), {});
          }) == "ROOT %compare = pred[] compare(%x, %y), direction=" + direction);
  }
  CHECK(Of([](XlaBuilder* b) {
          Compare(Value(b, "s32[2] {1,5}"), Value(b, "s32[] 3"), ComparisonDirection::kLt);
        }) == "pred[2] {1, 0}");
  CHECK(Of([](XlaBuilder* b) {
          Clamp(Value(b, "s32[] 0"), Value(b, "s32[3] {-1,5,9}"), Value(b, "s32[] 6"));
        }) == "s32[3] {0, 5, 6}");
  // A scalar predicate and scalar bounds get no broadcast.
  CHECK(TextOf("select", [](XlaBuilder* b) {
          const XlaOp x = Parameter(b, 1, ShapeOf("s32[3]"), "x");
          Select(Parameter(b, 0, ShapeOf("pred[]"), "p"), x, x);
        }) == "ROOT %select = s32[3]{0} select(%p, %x, %x)");
  CHECK(TextOf("clamp", [](XlaBuilder* b) {
          const XlaOp low = Parameter(b, 0, ShapeOf("s32[]"), "low");
          Clamp(low, Parameter(b, 1, ShapeOf("s32[3]"), "x"), low);
        }) == "ROOT %clamp = s32[3]{0} clamp(%low, %x, %low)");
  CHECK(Of([](XlaBuilder* b) {
          Select(Value(b, "pred[4] {1,0,0,1}"), Value(b, "s32[4] {1,2,3,4}"),
                 Value(b, "s32[4] {100,200,300,400}"));
        }) == "s32[4] {1, 200, 300, 4}");
  CHECK(Of([](XlaBuilder* b) {
          Select(Value(b, "pred[] 0"), Tuple(b, {Value(b, "s32[] 1"), Value(b, "f32[] 2")}),
                 Tuple(b, {Value(b, "s32[] 3"), Value(b, "f32[] 4")}));
        }) == "(s32[], f32[]) ( 3, 4 )");
  CHECK(Of([](XlaBuilder* b) { ConvertElementType(Value(b, "c64[] (1.5,7)"), ElementType::kS32); }) ==
        "s32[] 1");
  CHECK(Of([](XlaBuilder* b) { BitcastConvertType(Value(b, "f32[2] {1,-2}"), ElementType::kU16); }) ==
        "u16[2,2] { { 0, 16256 }, { 0, 49152 } }");
  CHECK(Of([](XlaBuilder* b) {
          BitcastConvertType(Value(b, "u8[2,4] {{1,2,3,4},{0,0,0,128}}"), ElementType::kU32);
        }) == "u32[2] {67305985, 2147483648}");
  CHECK(Of([](XlaBuilder* b) {
          StochasticConvertType(Value(b, "f32[] 2.25"), Value(b, "u32[] 1073741823"), ElementType::kS8);
        }) == "s8[] 3");
  CHECK(Of([](XlaBuilder* b) { ReducePrecision(Value(b, "f32[] 65520"), 5, 10); }) == "f32[] inf");
}

TEST_CASE("builder operations: shape and data movement", "[builder]") {
  const auto cube = [](XlaBuilder* b) { return Iota(b, ShapeOf("s32[4,2,3]"), 0); };
  CHECK(TextOf("reshape", [&](XlaBuilder* b) {
          Collapse(cube(b), {0, 1, 2});
        }) == "ROOT %reshape = s32[24]{0} reshape(%iota)");
  CHECK(TextOf("reshape", [&](XlaBuilder* b) {
          Collapse(cube(b), {0, 1});
        }) == "ROOT %reshape = s32[8,3]{1,0} reshape(%iota)");
  CHECK(TextOf("reshape", [&](XlaBuilder* b) {
          Collapse(cube(b), {1, 2});
        }) == "ROOT %reshape = s32[4,6]{1,0} reshape(%iota)");
  CHECK(Of([](XlaBuilder* b) { Iota(b, ElementType::kU8, 3); }) == "u8[3] {0, 1, 2}");
  CHECK(Of([](XlaBuilder* b) {
          ConcatInDim(b, {Value(b, "s32[2] {2,3}"), Value(b, "s32[2] {4,5}"), Value(b, "s32[2] {6,7}")}, 0);
        }) == "s32[6] {2, 3, 4, 5, 6, 7}");
  CHECK(Of([](XlaBuilder* b) { DynamicSlice(Value(b, "s32[5] {0,1,2,3,4}"), {Value(b, "s32[] 2")}, {2}); }) ==
        "s32[2] {2, 3}");
  CHECK(Of([](XlaBuilder* b) {
          DynamicUpdateSlice(Value(b, "s32[5] {0,1,2,3,4}"), Value(b, "s32[2] {8,9}"), {Value(b, "s32[] 4")});
        }) == "s32[5] {0, 1, 2, 8, 9}");
  CHECK(Of([](XlaBuilder* b) { Slice(Value(b, "s32[7] {0,1,2,3,4,5,6}"), {1}, {6}, {2}); }) ==
        "s32[3] {1, 3, 5}");
  CHECK(Of([](XlaBuilder* b) { SliceInDim(Value(b, "s32[2,3] {{0,1,2},{3,4,5}}"), 1, 3, 1, 1); }) ==
        "s32[2,2] { { 1, 2 }, { 4, 5 } }");
  CHECK(Of([](XlaBuilder* b) {
          Pad(Value(b, "s32[3] {1,2,3}"), Value(b, "s32[] 0"), {{1, 0, 1}});
        }) == "s32[6] {0, 1, 0, 2, 0, 3}");
  CHECK(Of([](XlaBuilder* b) { PadInDim(Value(b, "s32[1,2] {{1,2}}"), Value(b, "s32[] 0"), 1, 1, 0); }) ==
        "s32[1,3] { { 0, 1, 2 } }");
  CHECK(Of([](XlaBuilder* b) { Reshape(Value(b, "s32[1,1] {{5}}"), {}); }) == "s32[] 5");
  CHECK(Of([](XlaBuilder* b) { Reshape(ShapeOf("s32[2,1]"), Value(b, "s32[2] {5,6}")); }) ==
        "s32[2,1] { {5}, {6} }");
  CHECK(Of([](XlaBuilder* b) {
          ReshapeWithInferredDimension(Value(b, "s32[4] {1,2,3,4}"), {2, 2}, 0);
        }) == "s32[2,2] { { 1, 2 }, { 3, 4 } }");
  CHECK(Of([](XlaBuilder* b) { Rev(Value(b, "s32[2,3] {{0,1,2},{3,4,5}}"), {1}); }) ==
        "s32[2,3] { { 2, 1, 0 }, { 5, 4, 3 } }");
  CHECK(Of([](XlaBuilder* b) {
          Transpose(Value(b, "s32[2,2] {{0,1},{3,4}}"), {1, 0});
        }) == "s32[2,2] { { 0, 3 }, { 1, 4 } }");
  CHECK(Of([](XlaBuilder* b) { TopK(Value(b, "s32[4] {1,5,3,5}"), 2); }) ==
        "(s32[2], s32[2]) ( {5, 5}, {1, 3} )");
}

TEST_CASE("builder operations: gather and scatter", "[builder]") {
  GatherDimensionNumbers rows;
  rows.offset_dims = {1};
  rows.collapsed_slice_dims = {0};
  rows.start_index_map = {0};
  rows.index_vector_dim = 1;
  CHECK(
      Of([&](XlaBuilder* b) {
        Gather(Value(b, "s32[3,2] {{1,2},{3,4},{5,6}}"), Value(b, "s32[2,1] {{2},{7}}"), rows, {1, 2}, true);
      }) == "s32[2,2] { { 5, 6 }, { 5, 6 } }");
  GatherDimensionNumbers batched;
  batched.collapsed_slice_dims = {1};
  batched.start_index_map = {1};
  batched.index_vector_dim = 2;
  batched.operand_batching_dims = {0};
  batched.start_indices_batching_dims = {0};
  CHECK(Of([&](XlaBuilder* b) {
          Gather(Value(b, "s32[2,4] {{1,2,3,4},{5,6,7,8}}"), Value(b, "s32[2,3] {{0,3,9},{1,1,-4}}"), batched,
                 {1, 1});
        }) == "s32[2,3] { { 1, 4, 4 }, { 6, 6, 5 } }");
  ScatterDimensionNumbers numbers;
  numbers.update_window_dims = {1};
  numbers.inserted_window_dims = {0};
  numbers.scatter_dims_to_operand_dims = {0};
  numbers.index_vector_dim = 1;
  CHECK(Of([&](XlaBuilder* b) {
          Scatter(Value(b, "s32[3,2] {{0,0},{0,0},{0,0}}"), Value(b, "s32[3,1] {{2},{2},{5}}"),
                  Value(b, "s32[3,2] {{1,2},{3,4},{5,6}}"), AddS32(), numbers);
        }) == "s32[3,2] { { 0, 0 }, { 0, 0 }, { 4, 6 } }");
}

TEST_CASE("builder operations: sort and comparators", "[builder]") {
  CHECK(Of([](XlaBuilder* b) {
          Sort({Value(b, "f32[5] {nan,1,-0.0,0,-inf}")},
               Must(CreateScalarLtComputation({ElementType::kF32})));
        }) == "f32[5] {-inf, -0.0, 0, 1, nan}");
  CHECK(Of([](XlaBuilder* b) {
          Sort({Value(b, "s32[2] {1,3}"), Value(b, "f32[2] {42,50}")},
               Must(CreateScalarGtComputation({ElementType::kS32, ElementType::kF32})), 0, true);
        }) == "(s32[2], f32[2]) ( {3, 1}, {50, 42} )");
}

TEST_CASE("builder operations: dynamic dimensions", "[builder]") {
  CHECK(Of([](XlaBuilder* b) {
          const XlaOp x = SetDimensionSize(Value(b, "s32[5] {1,2,3,4,5}"), Value(b, "s32[] 3"), 0);
          Tuple(b, {GetDimensionSize(x, 0), ReduceAll(x, Value(b, "s32[] 0"), AddS32()),
                    RemoveDynamicDimension(x, 0)});
        }) == "(s32[], s32[], s32[<=5]) ( 3, 6, {1, 2, 3, 0, 0} )");
  // A constant size that is the bound changes nothing.
  CHECK(Of([](XlaBuilder* b) {
          const XlaOp size = Value(b, "s32[] 2");
          SetDimensionSize(Value(b, "s32[2] {1,2}"), size, 0);
        }) == "s32[2] {1, 2}");
  CHECK(TextOf("dynamic-reshape", [](XlaBuilder* b) {
          const XlaOp n = Parameter(b, 1, ShapeOf("s32[]"), "n");
          DynamicReshape(Parameter(b, 0, ShapeOf("f32[<=6]"), "x"), {n, n}, {3, 2}, {true, false});
        }) == "ROOT %dynamic-reshape = f32[<=3,2]{1,0} dynamic-reshape(%x, %n, %n)");
}

TEST_CASE("builder operations: reductions and windows", "[builder]") {
  const std::string matrix = "s32[2,3] {{1,2,3},{4,5,6}}";
  CHECK(Of([&](XlaBuilder* b) { Reduce(Value(b, matrix), Value(b, "s32[] 10"), AddS32(), {0}); }) ==
        "s32[3] {15, 17, 19}");
  CHECK(Of([&](XlaBuilder* b) { ReduceAll(Value(b, matrix), Value(b, "s32[] 0"), AddS32()); }) == "s32[] 21");
  XlaBuilder argmax("argmax");
  const XlaOp m = Parameter(&argmax, 0, ShapeOf("s32[]"), "m"),
              i = Parameter(&argmax, 1, ShapeOf("s32[]"), "i");
  const XlaOp v = Parameter(&argmax, 2, ShapeOf("s32[]"), "v"),
              j = Parameter(&argmax, 3, ShapeOf("s32[]"), "j");
  Tuple(&argmax, {Select(Ge(v, m), v, m), Select(Ge(v, m), j, i)});
  const XlaComputation f = Must(argmax.Build());
  CHECK(Of([&](XlaBuilder* b) {
          Reduce(b, {Value(b, "s32[4] {3,9,9,2}"), Iota(b, ElementType::kS32, 4)},
                 {Value(b, "s32[] -1"), Value(b, "s32[] 0")}, f, {0});
        }) == "(s32[], s32[]) ( 9, 2 )");
  const XlaComputation min = Must(CreateScalarMinComputation(ElementType::kS32));
  const auto window = [&](Padding padding) {
    return Of([&](XlaBuilder* b) {
      ReduceWindow(Value(b, "s32[5] {10000,1000,100,10,1}"), Value(b, "s32[] 99999"), min, {3}, {2}, padding);
    });
  };
  CHECK(window(Padding::kValid) == "s32[2] {100, 1}");
  CHECK(window(Padding::kSame) == "s32[3] {1000, 10, 1}");
  CHECK(Of([&](XlaBuilder* b) {
          ReduceWindowWithGeneralPadding(Value(b, "s32[3,2] {{1,2},{3,4},{5,6}}"), Value(b, "s32[] 0"),
                                         AddS32(), {2, 1}, {4, 1}, {2, 1}, {3, 1}, {{2, 1}, {0, 0}});
        }) == "s32[2,2] { { 0, 0 }, { 3, 4 } }");
  const XlaComputation ge = Must(CreateScalarGeComputation(ElementType::kS32));
  CHECK(Of([&](XlaBuilder* b) {
          SelectAndScatter(Value(b, "s32[4,4] {{7,2,5,3},{3,8,9,3},{1,5,7,5},{0,6,2,7}}"), ge, {2, 2}, {2, 2},
                           Padding::kValid, Value(b, "s32[2,2] {{2,6},{3,1}}"), Value(b, "s32[] 0"),
                           AddS32());
        }) == "s32[4,4] { { 0, 0, 0, 0 }, { 0, 2, 6, 0 }, { 0, 0, 1, 0 }, { 0, 3, 0, 0 } }");
  CHECK(Of([&](XlaBuilder* b) {
          Map(b, {Value(b, "s32[2] {1,2}"), Value(b, "s32[2] {10,20}")}, AddS32(), {0});
        }) == "s32[2] {11, 22}");
  XlaBuilder body("body");
  const XlaOp sum =
      Add(Parameter(&body, 0, ShapeOf("s32[]"), "x"), Parameter(&body, 1, ShapeOf("s32[]"), "c"));
  Tuple(&body, {sum, sum});
  const XlaComputation cumulative = Must(body.Build());
  CHECK(Of([&](XlaBuilder* b) {
          Scan(b, {Value(b, "s32[4] {1,2,3,4}")}, {Value(b, "s32[] 0")}, cumulative, 0);
        }) == "(s32[4], s32[]) ( {1, 3, 6, 10}, 10 )");
}

TEST_CASE("builder operations: contractions and convolution", "[builder]") {
  CHECK(Of([](XlaBuilder* b) { Dot(Value(b, "s32[2,2] {{1,2},{3,4}}"), Value(b, "s32[2] {1,10}")); }) ==
        "s32[2] {21, 43}");
  CHECK(Of([](XlaBuilder* b) {
          DotDimensionNumbers d;
          d.lhs_contracting_dimensions = d.rhs_contracting_dimensions = {1};
          PrecisionConfig highest;
          highest.operand_precision = {Precision::kHighest, Precision::kDefault};
          DotGeneral(Value(b, "s8[2,3] {{1,2,3},{4,5,6}}"), Value(b, "s8[2,3] {{1,1,1},{2,2,2}}"), d,
                     &highest, ElementType::kS32);
        }) == "s32[2,2] { { 6, 12 }, { 15, 30 } }");
  CHECK(Of([](XlaBuilder* b) {
          RaggedDotDimensionNumbers d;
          d.dot_dimension_numbers.lhs_contracting_dimensions = {1};
          d.dot_dimension_numbers.rhs_contracting_dimensions = {1};
          d.lhs_ragged_dimensions = {0};
          d.rhs_group_dimensions = {0};
          RaggedDot(Value(b, "f32[4,2] {{1,2},{3,4},{5,6},{7,8}}"),
                    Value(b, "f32[3,2,2] {{{1,0},{0,1}},{{2,0},{0,2}},{{1,1},{1,1}}}"),
                    Value(b, "s32[3] {1,2,0}"), d);
        }) == "f32[4,2] { { 1, 2 }, { 6, 8 }, { 10, 12 }, { 0, 0 } }");
  CHECK(Of([](XlaBuilder* b) {
          DotDimensionNumbers d;
          d.lhs_contracting_dimensions = {1};
          d.rhs_contracting_dimensions = {0};
          ScaledDot(Value(b, "f8e4m3fn[1,4] {{1,2,3,4}}"), Value(b, "f8e4m3fn[4,1] {{1},{1},{1},{1}}"),
                    Value(b, "f8e8m0fnu[1,2] {{2,4}}"), Value(b, "f8e8m0fnu[] 1"), d, nullptr,
                    ElementType::kF32);
        }) == "f32[1,1] { {34} }");
  const std::string image = "s32[1,1,3,3] {{{{1,2,3},{4,5,6},{7,8,9}}}}",
                    kernel = "s32[1,1,2,2] {{{{1,2},{3,4}}}}";
  const std::string same =
      "s32[1,1,3,3] { { /*i0=0*/ { /*i1=0*/ { 37, 47, 21 }, { 67, 77, 33 }, { 23, 26, 9 } } } }";
  CHECK(Of([&](XlaBuilder* b) { Conv(Value(b, image), Value(b, kernel), {1, 1}, Padding::kSame); }) == same);
  CHECK(Of([&](XlaBuilder* b) {
          ConvWithGeneralPadding(Value(b, image), Value(b, kernel), {1, 1}, {{0, 1}, {0, 1}});
        }) == same);
  const ConvDimensionNumbers numbers = CreateDefaultConvDimensionNumbers();
  CHECK(Of([&](XlaBuilder* b) {
          ConvWithGeneralDimensions(Value(b, image), Value(b, kernel), {1, 1}, Padding::kSame, numbers);
        }) == same);
  CHECK(Of([&](XlaBuilder* b) {
          ConvGeneral(Value(b, image), Value(b, kernel), {1, 1}, {{0, 1}, {0, 1}}, numbers);
        }) == same);
  CHECK(Of([&](XlaBuilder* b) {
          ConvGeneralDilated(Value(b, "s32[1,1,5] {{{1,2,3,4,5}}}"), Value(b, "s32[1,1,2] {{{1,10}}}"), {1},
                             {{0, 0}}, {}, {2}, CreateDefaultConvDimensionNumbers(1), 1, 1, nullptr,
                             std::nullopt, {true});
        }) == "s32[1,1,3] { { { 13, 24, 35 } } }");
}

TEST_CASE("builder operations: transforms, solvers, normalisation", "[builder]") {
  CHECK(Of([](XlaBuilder* b) { Fft(Value(b, "c64[4] {(1,0),(2,0),(3,0),(4,0)}"), FftType::kFft, {4}); }) ==
        "c64[4] {(10, 0), (-2, 2), (-2, 0), (-2, -2)}");
  CHECK(TextOf("fft", [](XlaBuilder* b) {
          Fft(Parameter(b, 0, ShapeOf("f32[2,6]"), "x"), FftType::kRfft, {6});
        }) == "ROOT %fft = c64[2,4]{1,0} fft(%x), fft_type=RFFT, fft_length={6}");
  CHECK(Of([](XlaBuilder* b) { Cholesky(Value(b, "f32[2,2] {{4,9},{2,5}}"), true); }) ==
        "f32[2,2] { { 2, 0 }, { 1, 2 } }");
  CHECK(Of([](XlaBuilder* b) {
          TriangularSolve(Value(b, "f32[2,2] {{2,9},{1,4}}"), Value(b, "f32[2,1] {{4},{10}}"), true, true,
                          false, TriangularSolveTranspose::kNoTranspose);
        }) == "f32[2,1] { {2}, {2} }");
  const std::string x = "f32[2,2] {{1,10},{3,14}}";
  CHECK(Of([&](XlaBuilder* b) {
          GetTupleElement(
              BatchNormTraining(Value(b, x), Value(b, "f32[2] {1,2}"), Value(b, "f32[2] {0,5}"), 0.25f, 1),
              2);
        }) == "f32[2] {1, 4}");
  CHECK(Of([&](XlaBuilder* b) {
          BatchNormInference(Value(b, x), Value(b, "f32[2] {1,2}"), Value(b, "f32[2] {0,5}"),
                             Value(b, "f32[2] {2,12}"), Value(b, "f32[2] {1,4}"), 0, 1);
        }) == "f32[2,2] { { -1, 3 }, { 1, 7 } }");
  CHECK(Of([&](XlaBuilder* b) {
          GetTupleElement(BatchNormGrad(Value(b, x), Value(b, "f32[2] {1,2}"), Value(b, "f32[2] {2,12}"),
                                        Value(b, "f32[2] {1,4}"), Value(b, "f32[2,2] {{1,2},{3,8}}"), 0, 1),
                          2);
        }) == "f32[2] {4, 10}");
}

TEST_CASE("builder operations: random numbers", "[builder]") {
  CHECK(TextOf("rng", [](XlaBuilder* b) {
          RngUniform(Parameter(b, 0, ShapeOf("f32[]"), "a"), Parameter(b, 1, ShapeOf("f32[]"), "b"),
                     ShapeOf("f32[4]"));
        }) == "ROOT %rng = f32[4]{0} rng(%a, %b), distribution=rng_uniform");
  CHECK(TextOf("rng", [](XlaBuilder* b) {
          RngNormal(Parameter(b, 0, ShapeOf("f32[]"), "a"), Parameter(b, 1, ShapeOf("f32[]"), "b"),
                    ShapeOf("f32[4]"));
        }) == "ROOT %rng = f32[4]{0} rng(%a, %b), distribution=rng_normal");
  CHECK(Of([](XlaBuilder* b) {
          RngBitGenerator(RandomAlgorithm::kThreeFry, Value(b, "u64[2] {42,7}"), ShapeOf("f32[4]"));
        }) == "(u64[2], u32[4]) ( {42, 9}, {2642642533, 3437982737, 356970675, 1736384518} )");
  CHECK(Of([](XlaBuilder* b) { RngGetAndUpdateState(b, 4); }) == "u64[2] {117515157, 0}");
}

}  // namespace
}  // namespace assay::builder
