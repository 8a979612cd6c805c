// What the command and the Python package show of operations. The texts are written by hand. wrappers.inc,
// that of the C++ wrappers, is compiled here as well: what is generated is a program.
#include "custom/op_document.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>

#include "builder/builder.h"
#include "custom/attr_config.h"
#include "custom/resolved_call.h"
#include "hlo/module.h"
#include "literal/literal_text.h"
#include "shape/shape_text.h"
#include "tests/custom/made_op.h"

namespace assay::builder {
#include "tests/custom/wrappers.inc"
}  // namespace assay::builder

namespace assay::custom {
namespace {

OpInterface AllKindsOp() {
  return Made(
      {.name = "Acme.Nn.AllKinds2D",
       .attrs = {R"(s: string = '"\n\xff')", "i: int = -9223372036854775808", "f: float = -inf",
                 "b: bool = true", "ty: type = bf16", "sh: shape = [?,3]", "te: tensor = s32[2] {1, 2}",
                 "ls: list(int) = [2, 3]", "lf: list(float) = [1.5, nan]", "lb: list(bool) = [true, false]",
                 "lt: list(type) = [f32]", "le: list(string) = ['a']", "lsh: list(shape) = [[1], ?]",
                 "lte: list(tensor) = [f32[] 1]", "class: int", "N: int >= 0", "L: list(type)",
                 "h: float = 0.1"},
       .inputs = {"in: N * f32", "one: s8", "default: L"},
       .outputs = {"out: f32"},
       .has_side_effect = true});
}

std::string WrappersFile() {
  std::ifstream file(ASSAY_SOURCE_DIR "/tests/custom/wrappers.inc");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

TEST_CASE("op document: one of an operation", "[custom]") {
  CHECK(DocumentOf(Made(ZeroOutRegistration())) == R"(Acme.ZeroOut(to_zero; preserve_index = 0) -> zeroed

Copies the input, sets all but one element to zero.

Inputs:
  to_zero: T

Outputs:
  zeroed: T

Attributes:
  preserve_index: int >= 0 = 0
  T: {f32, s32}  (the operands say it)
)");
  CHECK(DocumentOf(Made({.name = "Acme.Op",
                         .attrs = {"N: int", "L: list(type)", "mode: {'a', 'b'}"},
                         .inputs = {"a: N * f32", "b: L", "c: Ref(f32)", "d: Token"},
                         .has_side_effect = true,
                         .is_stateful = true,
                         .composite = "acme.op",
                         .composite_version = 2})) == R"(Acme.Op(a, b, c, d; mode) -> ()

Inputs:
  a: N * f32  (a sequence of arrays of one type)
  b: L  (a sequence, each array of a type of its own)
  c: Ref(f32)  (a buffer, or an operand that a result aliases)
  d: Token

Attributes:
  N: int  (the operands say it)
  L: list(type)  (the operands say it)
  mode: {'a', 'b'}

Has side effects: calls have custom_call_has_side_effect=true.
Keeps state between calls.
May be taken for the composite acme.op, version 2.
)");
  CHECK(DocumentOf(Made({.name = "Acme.Op"})) == "Acme.Op() -> ()\n");
}

TEST_CASE("op document: wrappers' names", "[custom]") {
  CHECK(WrapperName("Acme.ZeroOut") == "acme_zero_out");
  CHECK(WrapperName("Acme.Nn.MaxPool") == "acme_nn_max_pool");
  CHECK(WrapperName("Acme.Conv2D") == "acme_conv2d");
  CHECK(WrapperName("Acme.Conv2DBackprop") == "acme_conv2d_backprop");
  CHECK(WrapperName("Acme.HTMLParser") == "acme_html_parser");
  CHECK(WrapperName("Acme.Zero_Out") == "acme_zero_out");
  CHECK(WrapperName("Acme.LU") == "acme_lu");
  CHECK(WrapperName("A.X") == "a_x");
}

TEST_CASE("op document: a Python wrapper", "[custom]") {
  CHECK(PythonWrapper(Made(ZeroOutRegistration())) ==
        R"(def acme_zero_out(to_zero, preserve_index=0, name=None):
    """Acme.ZeroOut(to_zero; preserve_index = 0) -> zeroed

    Copies the input, sets all but one element to zero.

    Inputs:
      to_zero: T

    Outputs:
      zeroed: T

    Attributes:
      preserve_index: int >= 0 = 0
      T: {f32, s32}  (the operands say it)
    """
    return _call("Acme.ZeroOut", [to_zero], {"preserve_index": preserve_index}, name=name)
)");
  const std::string wrapper = PythonWrapper(AllKindsOp());
  CHECK(
      wrapper.substr(0, wrapper.find('\n')) ==
      R"(def acme_nn_all_kinds2d(in_, one, default, class_, s=b'"\n\xff', i=-9223372036854775808, f=float('-inf'), )"
      R"(b=True, ty='bf16', sh='[?,3]', te='s32[2] {1, 2}', ls=[2, 3], lf=[1.5, float('nan')], lb=[True, False], )"
      R"(lt=['f32'], le=['a'], lsh=['[1]', '?'], lte=['f32[] 1'], h=0.1, name=None):)");
  CHECK(
      wrapper.substr(wrapper.find("    return ")) ==
      R"(    return _call("Acme.Nn.AllKinds2D", [in_, one, default], {"class": class_, "s": s, "i": i, "f": f, "b": b, )"
      R"("ty": ty, "sh": sh, "te": te, "ls": ls, "lf": lf, "lb": lb, "lt": lt, "le": le, "lsh": lsh, "lte": lte, )"
      R"("h": h}, name=name))"
      "\n");
  // A doc string says what the document says.
  CHECK(PythonWrapper(Made({.name = "Acme.Op", .doc = "Three \"\"\" and \\."}))
            .find(R"(Three \"\"\" and \\.)") != std::string::npos);
}

TEST_CASE("op document: no argument's name is taken by another", "[custom]") {
  const OpInterface op = Made({.name = "Acme.Op",
                               .attrs = {"name: int", "in_: int", "result: int"},
                               .inputs = {"in: f32", "builder: f32"}});
  const std::string python = PythonWrapper(op);
  CHECK(python.substr(0, python.find('\n')) == "def acme_op(in__, builder, name_, in_, result, name=None):");
  CHECK(CppWrapper(op).find(
            "AcmeOp(XlaBuilder* builder, XlaOp in, XlaOp builder_, const Shape& result, int64_t name, "
            "int64_t in_, int64_t result_)") != std::string::npos);
}

TEST_CASE("op document: a C++ wrapper gives the lengths of sequences only where there are several",
          "[custom]") {
  const std::string one = CppWrapper(Made(
      {.name = "Acme.Op", .attrs = {"N: int", "T: type"}, .inputs = {"a: N * T", "b: N * f32", "c: T"}}));
  CHECK(one.find("const custom::OpAttrValues attrs = {};") != std::string::npos);
  const std::string two = CppWrapper(Made({.name = "Acme.Op",
                                           .attrs = {"N: int", "M: int"},
                                           .inputs = {"a: N * f32", "b: M * f32", "c: N * s8"}}));
  CHECK(two.find("attrs = {{\"N\", {static_cast<int64_t>(a.size())}}, {\"M\", "
                 "{static_cast<int64_t>(b.size())}}};") != std::string::npos);
}

TEST_CASE("op document: C++ wrappers are the functions that this test calls", "[custom]") {
  CHECK(CppWrapper(Made(ZeroOutRegistration())) + "\n" + CppWrapper(AllKindsOp()) == WrappersFile());

  builder::XlaBuilder builder("wrappers");
  const Shape shape = *ParseShape("f32[5]");
  const builder::XlaOp x = builder::Parameter(&builder, 0, shape, "x");
  builder::AcmeZeroOut(&builder, x, shape, 2);
  const builder::XlaOp one = builder::Parameter(&builder, 1, *ParseShape("s8[]"), "one");
  builder::AcmeNnAllKinds2D(&builder, {x, x}, one, {x, one}, shape, 7);
  const absl::StatusOr<builder::XlaComputation> computation = builder.Build();
  INFO(computation.status().ToString());
  REQUIRE(computation.ok());
  const std::vector<Instruction>& instructions = computation->module().entry_computation().instructions;
  const auto bind = [&](const OpInterface& op) {
    for (const Instruction& call : instructions) {
      if (call.attributes.Text(Attr::kCustomCallTarget) != op.name) continue;
      std::vector<const Shape*> operands;
      for (const int32_t operand : call.operands) operands.push_back(instructions[operand].shape.get());
      CHECK(call.attributes.Bool(Attr::kCustomCallHasSideEffect) == op.has_side_effect);
      absl::StatusOr<ResolvedCall> bound = BindCall(op, call, operands, call.shape.get());
      INFO(bound.status().ToString());
      REQUIRE(bound.ok());
      return *std::move(bound);
    }
    FAIL("no call");
    return ResolvedCall();
  };
  CHECK(ValueText(*FindValue(bind(Made(ZeroOutRegistration())).attrs, "preserve_index")) == "2");
  // All but what was given, and what operands say, is the default: the C++ default reads as the
  // registration's.
  const ResolvedCall all = bind(AllKindsOp());
  for (const OpAttrDef& attr : AllKindsOp().attrs) {
    INFO(attr.name);
    const std::string wanted = attr.name == "class" ? "7"
                               : attr.name == "N"   ? "2"
                               : attr.name == "L"   ? "[f32, s8]"
                                                    : ValueText(*attr.default_value);
    CHECK(ValueText(*FindValue(all.attrs, attr.name)) == wanted);
  }
}

}  // namespace assay::custom
