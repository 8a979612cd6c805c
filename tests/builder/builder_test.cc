// XlaBuilder itself: errors, names, called computations, what Build gives.
#include "builder/builder.h"

#include <catch2/catch.hpp>

#include "builder/testing.h"
#include "hlo/text/parser.h"
#include "hlo/text/printer.h"

namespace assay::builder {
namespace {

const Shape kScalar = Shape::Scalar(ElementType::kF32);

std::string Message(const absl::Status& status) { return std::string(status.message()); }
bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("builder: a program is built, printed and evaluated", "[builder]") {
  XlaBuilder b("axpy");
  const XlaOp x = Parameter(&b, 0, kScalar, "x");
  const XlaOp ax = Mul(ConstantR0<float>(&b, 2), x);
  Add(ax, ConstantR1<float>(&b, {1, 2, 3}));
  const absl::StatusOr<XlaComputation> axpy = b.Build();
  REQUIRE(axpy.ok());
  CHECK(axpy->ToText() ==
        R"(HloModule axpy, entry_computation_layout={(f32[])->f32[3]{0}}

ENTRY %axpy (x: f32[]) -> f32[3] {
  %constant = f32[] constant(2)
  %x = f32[] parameter(0)
  %multiply = f32[] multiply(%constant, %x)
  %broadcast = f32[3]{0} broadcast(%multiply), dimensions={}
  %constant.1 = f32[3]{0} constant({1, 2, 3})
  ROOT %add = f32[3]{0} add(%broadcast, %constant.1)
}

)");
  CHECK(testing::EvaluatesTo(*axpy, {"f32[] 10"}, "f32[3] {21, 22, 23}"));
  const ProgramShape shape = axpy->GetProgramShape();
  CHECK(shape.parameters.size() == 1);
  CHECK(shape.result.ToString() == "f32[3]");
}

TEST_CASE("builder: the first error stays and later calls do nothing", "[builder]") {
  XlaBuilder b("bad");
  const XlaOp x = Parameter(&b, 0, kScalar, "x");
  const XlaOp bad = Add(x, ConstantR0<int32_t>(&b, 1));
  CHECK_FALSE(bad.valid());
  CHECK(Contains(Message(b.first_error()), "BCAST-1"));
  CHECK_FALSE(Neg(bad).valid());
  CHECK_FALSE(GetTupleElement(x, 7).valid());
  CHECK(Contains(Message(b.first_error()), "BCAST-1"));
  b.SetError(InvalidProgram({}, "another"));
  CHECK(Contains(Message(b.Build().status()), "BCAST-1"));
  CHECK(Contains(Message(b.Build(x).status()), "BCAST-1"));
  CHECK(Contains(Message(b.GetShape(x).status()), "BCAST-1"));
}

TEST_CASE("builder: errors say which instruction they are about", "[builder]") {
  XlaBuilder b("bad");
  Not(Parameter(&b, 0, kScalar, "x"));
  CHECK(Contains(Message(b.first_error()), "UNARY-C2"));
  CHECK(Contains(Message(b.first_error()), "(in not of builder 'bad')"));
}

TEST_CASE("builder: the empty op and ops of others are refused without harm", "[builder]") {
  CHECK_FALSE(Neg(XlaOp()).valid());
  CHECK_FALSE(Add(XlaOp(), XlaOp()).valid());
  CHECK_FALSE(Concatenate({}, 0).valid());
  CHECK_FALSE(Parameter(nullptr, 0, kScalar, "x").valid());
  XlaBuilder a("a"), b("b");
  const XlaOp x = Parameter(&a, 0, kScalar, "x");
  const XlaOp y = Parameter(&b, 0, kScalar, "y");
  CHECK_FALSE(Add(x, y).valid());
  CHECK(Contains(Message(a.first_error()), "belongs to builder 'b'"));
  CHECK(b.first_error().ok());
  CHECK_FALSE(Add(y, XlaOp()).valid());
  CHECK(Contains(Message(b.first_error()), "empty XlaOp"));
}

TEST_CASE("builder: after Build it is as new and its old ops are invalid", "[builder]") {
  XlaBuilder b("f");
  const XlaOp x = Parameter(&b, 0, kScalar, "x");
  REQUIRE(b.Build().ok());
  const XlaOp y = Parameter(&b, 0, kScalar, "x");
  CHECK_FALSE(Add(x, y).valid());
  CHECK(Contains(Message(b.first_error()), "has been built"));
  XlaBuilder empty("empty");
  CHECK(Contains(Message(empty.Build().status()), "no instruction"));
}

TEST_CASE("builder: parameter numbers must be 0 to n-1 [Parameter-C1]", "[builder]") {
  XlaBuilder b("f");
  Parameter(&b, 1, kScalar, "x");
  CHECK(Contains(Message(b.Build().status()), "Parameter-C1"));
}

TEST_CASE("builder: a computation called twice stands in the module once", "[builder]") {
  XlaBuilder inner("twice");
  const XlaOp p = Parameter(&inner, 0, kScalar, "p");
  Add(p, p);
  const absl::StatusOr<XlaComputation> twice = inner.Build();
  REQUIRE(twice.ok());
  XlaBuilder b("main");
  const XlaOp x = Parameter(&b, 0, kScalar, "p");
  Call(&b, *twice, {Call(&b, *twice, {x})});
  const absl::StatusOr<XlaComputation> main = b.Build();
  REQUIRE(main.ok());
  CHECK(main->module().computations.size() == 2);
  CHECK(testing::EvaluatesTo(*main, {"f32[] 3"}, "f32[] 12"));
  // Names are unique in the module, so that reading the text changes none.
  const absl::StatusOr<Module> read = ParseHloText(main->ToText());
  REQUIRE(read.ok());
  CHECK(ModuleToText(*read) == main->ToText());
}

TEST_CASE("builder: errors of a sub-builder reach its parent", "[builder]") {
  XlaBuilder b("main");
  const auto sub = b.CreateSubBuilder("sub");
  Neg(Parameter(sub.get(), 0, Shape::Token(), "t"));
  const XlaComputation computation = sub->BuildAndNoteError();
  CHECK(computation.IsNull());
  CHECK(Contains(Message(b.first_error()), "UNARY-C1"));
  XlaBuilder c("caller");
  Call(&c, computation, {});
  CHECK(Contains(Message(c.first_error()), "null"));
}

TEST_CASE("builder: metadata, frontend attributes and sharding go on instructions", "[builder]") {
  XlaBuilder b("f");
  OpMetadata metadata;
  metadata.op_name = "here";
  b.SetOpMetadata(metadata);
  b.SetFrontendAttributes({{"k", {"v", false}}});
  b.SetSharding("{replicated}");
  const XlaOp x = Parameter(&b, 0, kScalar, "x");
  b.ClearOpMetadata();
  b.ClearFrontendAttributes();
  b.ClearSharding();
  const XlaOp y = Neg(x);
  const XlaOp z = Neg(x);
  b.AddControlPredecessor(z, y);
  const absl::StatusOr<XlaComputation> f = b.Build(z);
  REQUIRE(f.ok());
  CHECK(Contains(f->ToText(),
                 "%x = f32[] parameter(0), sharding={replicated}, frontend_attributes={k=\"v\"}, "
                 "metadata={op_name=\"here\"}\n"));
  CHECK(Contains(f->ToText(), "%negate = f32[] negate(%x)\n"));
  CHECK(Contains(f->ToText(), "%negate.1 = f32[] negate(%x), control-predecessors={%negate}\n"));
}

TEST_CASE("builder: constants of C++ values and of any element type", "[builder]") {
  XlaBuilder b("constants");
  Tuple(&b,
        {ConstantR0<bool>(&b, true), ConstantR0<std::complex<float>>(&b, {1, -2}),
         ConstantR1<uint8_t>(&b, {1, 255}), ConstantR1<int64_t>(&b, 2, -7),
         ConstantR2<double>(&b, {{1, 2}, {3, 4}}), ConstantFromArray<int16_t>(&b, {1, 2, 1}, {5, 6}),
         ConstantR0WithType(&b, ElementType::kBF16, 1.00390625), One(&b, ElementType::kF8E4M3FN),
         Zero(&b, ElementType::kPred), Zeros(&b, *Shape::Array(ElementType::kS4, std::vector<int64_t>{2}))});
  const absl::StatusOr<XlaComputation> f = b.Build();
  INFO(f.status());
  REQUIRE(f.ok());
  CHECK(testing::EvaluatesTo(
      *f, {},
      "(pred[], c64[], u8[2], s64[2], f64[2,2], s16[1,2,1], bf16[], f8e4m3fn[], pred[], s4[2]) "
      "(true, (1,-2), {1,255}, {-7,-7}, {{1,2},{3,4}}, {{{5},{6}}}, 1, 1, false, {0,0})"));
  ConstantFromArray<float>(&b, {2, 2}, {1, 2, 3});
  CHECK(Contains(Message(b.first_error()), "3 values for sizes [2,2]"));
  XlaBuilder ragged("ragged");
  ConstantR2<float>(&ragged, {{1, 2}, {3}});
  CHECK(Contains(Message(ragged.first_error()), "rows of 2 and 1 value"));
}

}  // namespace
}  // namespace assay::builder
