// Calls held against an interface: docs/spec/custom-ops.md, CALL-1, CALL-2, ATTR-1, ATTR-2, ATTR-3, ATTR-4.
// What each call means is worked by hand.
#include "custom/resolved_call.h"

#include <catch2/catch.hpp>

#include "custom/attr_config.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "shape/shape_text.h"
#include "tests/custom/made_op.h"

namespace assay::custom {
namespace {

using Catch::Contains;

struct CustomCallText {
  std::vector<std::string> operands;
  std::string result;
  std::string config = {};
  bool is_typed = true;
  std::vector<OutputOperandAlias> aliasing = {};
};

absl::StatusOr<ResolvedCall> BindText(const OpInterface& op, const CustomCallText& call) {
  Instruction instruction(Opcode::kCustomCall);
  instruction.attributes.Set(Attr::kCustomCallTarget, op.name);
  if (call.is_typed) instruction.attributes.Set(Attr::kApiVersion, Word{"API_VERSION_TYPED_FFI"});
  if (!call.aliasing.empty()) instruction.attributes.Set(Attr::kOutputToOperandAliasing, call.aliasing);
  auto extras = std::make_shared<InstructionExtras>();
  extras->backend_config.text = call.config;
  instruction.extras = extras;
  std::vector<Shape> shapes;
  for (const std::string& text : call.operands) shapes.push_back(*ParseShape(text));
  std::vector<const Shape*> operands;
  for (const Shape& shape : shapes) operands.push_back(&shape);
  const Shape result = *ParseShape(call.result);
  return BindCall(op, instruction, operands, &result);
}

ResolvedCall BoundText(const OpInterface& op, const CustomCallText& call) {
  absl::StatusOr<ResolvedCall> bound = BindText(op, call);
  INFO(bound.status().ToString());
  REQUIRE(bound.ok());
  return *std::move(bound);
}

// "a = 1, T = f32"
std::string BoundAttrs(const OpInterface& op, const CustomCallText& call) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : BoundText(op, call).attrs) {
    texts.push_back(fmt::format("{} = {}", name, ValueText(value)));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

// "0+1 1+3"
std::string RangesText(const std::vector<ArgumentRange>& ranges) {
  std::vector<std::string> texts;
  for (const ArgumentRange& range : ranges) texts.push_back(fmt::format("{}+{}", range.first, range.count));
  return fmt::format("{}", fmt::join(texts, " "));
}

void CheckCallRefused(const OpInterface& op, const CustomCallText& call, const std::string& message) {
  const absl::StatusOr<ResolvedCall> bound = BindText(op, call);
  INFO(message);
  REQUIRE_FALSE(bound.ok());
  CHECK(ExitCodeOf(bound.status()) == 3);
  CHECK(std::string(bound.status().message()) == message);
}

// An op of no inputs with this attribute.
OpInterface OpWith(const std::string& attr) {
  return Made({.name = "Acme.Op", .attrs = {attr}, .outputs = {"y: f32"}});
}

std::string ValueGiven(const std::string& attr, const std::string& config, bool is_typed = true) {
  const OpInterface op = OpWith(attr);
  return ValueText(BoundText(op, {{}, "f32[]", config, is_typed}).attrs[0].second);
}

}  // namespace

TEST_CASE("bound call: the document's example", "[custom]") {
  const OpInterface op = Made(ZeroOutRegistration());
  const std::string config = "{preserve_index = 2 : i64}";
  const ResolvedCall bound = BoundText(op, {{"s32[5]"}, "s32[5]", config});
  CHECK(BoundAttrs(op, {{"s32[5]"}, "s32[5]", config}) == "preserve_index = 2, T = s32");
  CHECK(RangesText(bound.inputs) == "0+1");
  CHECK(RangesText(bound.outputs) == "0+1");
  CHECK(bound.output_types == std::vector{ElementType::kS32});
  CHECK(BoundAttrs(op, {{"f32[2,2]"}, "f32[2,2]"}) == "preserve_index = 0, T = f32");
  CHECK(BoundAttrs(op, {{"f32[2]"}, "f32[2]", "{}"}) == "preserve_index = 0, T = f32");
  CHECK(BoundAttrs(op, {{"f32[2]"}, "f32[2]", R"({"preserve_index": 1})", false}) ==
        "preserve_index = 1, T = f32");
  CHECK(BoundAttrs(op, {{"f32[2]"}, "f32[2]", " {preserve_index = 1}", false}) ==
        "preserve_index = 1, T = f32");
  CHECK(BoundAttrs(op, {{"f32[2]"}, "(f32[2])", "{T = f32}"}) == "preserve_index = 0, T = f32");
  // Shapes are the shape function's; types are the interface's.
  CHECK(BindText(op, {{"f32[2]"}, "f32[3]"}).ok());
  CheckCallRefused(op, {{"f32[2]"}, "s32[2]"},
                   "op Acme.ZeroOut: result 0 is s32[2], wanted f32 for 'zeroed: T'");
  CheckCallRefused(op, {{"f64[2]"}, "f64[2]"},
                   "attr 'T' of op Acme.ZeroOut: value f64 is none of f32, s32, wanted 'T: {f32, s32}'");
}

TEST_CASE("bound call: what is wrong with attributes", "[custom]") {
  const OpInterface op = OpWith("a: int >= 2");
  CheckCallRefused(op, {{}, "f32[]"}, "attr 'a' of op Acme.Op missing, wanted 'a: int >= 2'");
  CheckCallRefused(
      op, {{}, "f32[]", R"({a = "x"})"},
      "attr 'a' of op Acme.Op: found {a = \"x\"}, wanted an integer of s64's range: 'a: int >= 2'");
  CheckCallRefused(op, {{}, "f32[]", "{a = 1}"},
                   "attr 'a' of op Acme.Op: value 1 is less than 2, wanted 'a: int >= 2'");
  CheckCallRefused(
      op, {{}, "f32[]", "{a = 3, b = true}"},
      "attr 'b' of op Acme.Op: the call gives '{b = true}', but the op has no such attr, wanted one of "
      "'a: int >= 2'");
  CheckCallRefused(
      Made({.name = "Acme.Op"}), {{}, "()", "{b}"},
      "attr 'b' of op Acme.Op: the call gives '{b = true}', but the op has no such attr, wanted none");
  const auto message = [&](const std::string& config, bool is_typed) {
    return std::string(BindText(op, {{}, "f32[]", config, is_typed}).status().message());
  };
  CHECK_THAT(message("{a = }", true), Catch::StartsWith("op Acme.Op: backend_config: "));
  CHECK_THAT(message("{\"a\": 3}", true), Catch::StartsWith("op Acme.Op: backend_config: "));
  CHECK_THAT(message("{\"a\" = 3}", false), Catch::StartsWith("op Acme.Op: backend_config: "));
  CHECK_THAT(message("opaque", false), Catch::StartsWith("op Acme.Op: backend_config: "));
}

TEST_CASE("bound call: values of every kind from a dictionary", "[custom]") {
  CHECK(ValueGiven("a: string", R"({a = "foo"})") == "'foo'");
  CHECK(ValueGiven("a: int", "{a = -3}") == "-3");
  CHECK(ValueGiven("a: int", "{a = 3 : i32}") == "3");
  CHECK(ValueGiven("a: int", "{a = 200 : ui8}") == "200");
  CHECK(ValueGiven("a: int", "{a = 9223372036854775807 : ui64}") == "9223372036854775807");
  CHECK(ValueGiven("a: float", "{a = 1.5 : f32}") == "1.5");
  CHECK(ValueGiven("a: float", "{a = 0.1 : f64}") == "0.1");
  CHECK(ValueGiven("a: float", "{a = 2 : i64}") == "2.0");
  CHECK(ValueGiven("a: float", "{a = 18446744073709551615 : ui64}") == "1.84467441e+19");
  CHECK(ValueGiven("a: float", "{a = 0x7F800000 : f32}") == "inf");
  CHECK(ValueGiven("a: bool", "{a = true}") == "true");
  CHECK(ValueGiven("a: bool", "{a = false}") == "false");
  CHECK(ValueGiven("a: bool", "{a}") == "true");
  CHECK(ValueGiven("a: bool", "{a = 0 : i1}") == "false");
  CHECK(ValueGiven("a: type", "{a = bf16}") == "bf16");
  CHECK(ValueGiven("a: type", "{a = i32}") == "s32");
  CHECK(ValueGiven("a: type", R"({a = "u8"})") == "u8");
  CHECK(ValueGiven("a: shape", "{a = array<i64: 1, 2>}") == "[1,2]");
  CHECK(ValueGiven("a: shape", "{a = array<i32>}") == "[]");
  CHECK(ValueGiven("a: shape", "{a = [4, 5 : i32]}") == "[4,5]");
  CHECK(ValueGiven("a: shape", R"({a = "[?,3]"})") == "[?,3]");
  CHECK(ValueGiven("a: shape", R"({a = "?"})") == "?");
  CHECK(ValueGiven("a: tensor", R"({a = "s32[2] {1,2}"})") == "s32[2] {1, 2}");
  CHECK(ValueGiven("a: tensor", "{a = array<i32: 1, 2>}") == "s32[2] {1, 2}");
  CHECK(ValueGiven("a: tensor", "{a = array<f32: 1.5>}") == "f32[1] {1.5}");
  CHECK(ValueGiven("a: tensor", "{a = array<i1: true, false>}") == "pred[2] {1, 0}");
  CHECK(ValueGiven("a: list(int)", "{a = array<i64: 1, 2>}") == "[1, 2]");
  CHECK(ValueGiven("a: list(int)", "{a = [1, 2 : i8]}") == "[1, 2]");
  CHECK(ValueGiven("a: list(int)", "{a = []}") == "[]");
  CHECK(ValueGiven("a: list(float)", "{a = array<f64: 1.5, 2.0>}") == "[1.5, 2.0]");
  CHECK(ValueGiven("a: list(float)", "{a = array<i64: 1>}") == "[1.0]");
  CHECK(ValueGiven("a: list(bool)", "{a = array<i1: true, false>}") == "[true, false]");
  CHECK(ValueGiven("a: list(string)", R"({a = ["x", "y"]})") == "['x', 'y']");
  CHECK(ValueGiven("a: list(type)", "{a = [f32, \"s8\"]}") == "[f32, s8]");
  CHECK(ValueGiven("a: list(shape)", R"({a = [array<i64: 1>, "?", [2, 3]]})") == "[[1], ?, [2,3]]");
  CHECK(ValueGiven("a: list(tensor)", R"({a = ["f32[] 1", array<i8: 2>]})") == "[f32[] 1, s8[1] {2}]");
}

TEST_CASE("bound call: values of every kind from JSON", "[custom]") {
  const auto json = [](const std::string& attr, const std::string& value) {
    return ValueGiven(attr, fmt::format("{{\"a\": {}}}", value), /*is_typed=*/false);
  };
  CHECK(json("a: string", R"("foo")") == "'foo'");
  CHECK(json("a: int", "-3") == "-3");
  CHECK(json("a: float", "1.5") == "1.5");
  CHECK(json("a: float", "2") == "2.0");
  CHECK(json("a: bool", "false") == "false");
  CHECK(json("a: type", R"("f32")") == "f32");
  CHECK(json("a: shape", "[1, 2]") == "[1,2]");
  CHECK(json("a: shape", R"("[?,3]")") == "[?,3]");
  CHECK(json("a: tensor", R"("s32[2] {1,2}")") == "s32[2] {1, 2}");
  CHECK(json("a: list(int)", "[2, 3]") == "[2, 3]");
  CHECK(json("a: list(shape)", R"([[1], "?"])") == "[[1], ?]");
}

TEST_CASE("bound call: values of another kind are refused", "[custom]") {
  struct Row {
    std::string attr, value, wanted;
  };
  const std::vector<Row> rows = {
      {"a: string", "1", "wanted a string"},
      {"a: int", "1.0", "wanted an integer of s64's range"},
      {"a: int", "true", "wanted an integer"},
      {"a: int", "1 : i1", "wanted an integer"},
      {"a: int", "9223372036854775808 : ui64", "wanted an integer of s64's range"},
      {"a: float", "1.0e39", "wanted a number of f32's range"},
      {"a: float", "1 : i1", "wanted a number of f32's range"},
      {"a: float", "\"1.0\"", "wanted a number"},
      {"a: bool", "1", "wanted true or false"},
      {"a: type", "\"f33\"", "wanted an element type"},
      {"a: type", "1", "wanted an element type"},
      {"a: shape", "[-1]", "wanted a shape"},
      {"a: shape", "[1.0]", "wanted a shape"},
      {"a: shape", "\"[1\"", "wanted a shape"},
      {"a: shape", "\"[1] 2\"", "wanted a shape"},
      {"a: tensor", "1", "wanted a tensor"},
      {"a: tensor", "\"s32[2] {1}\"", "wanted a tensor"},
      {"a: list(int)", "1", "wanted a list, of each an integer"},
      {"a: list(int)", "[1, \"x\"]", "wanted a list, of each an integer"},
      {"a: list(int)", "array<f32: 1.0>", "wanted a list, of each an integer"},
      {"a: list(int)", "[[1]]", "wanted a list, of each an integer"},
  };
  for (const Row& row : rows) {
    INFO(row.attr << " " << row.value);
    const absl::StatusOr<ResolvedCall> bound =
        BindText(OpWith(row.attr), {{}, "f32[]", fmt::format("{{a = {}}}", row.value)});
    REQUIRE_FALSE(bound.ok());
    const std::string message(bound.status().message());
    CHECK_THAT(message, Contains(row.wanted));
    CHECK_THAT(message, Contains("'" + row.attr + "'"));
  }
}

TEST_CASE("bound call: written attributes read back", "[custom]") {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"a: string", R"('x"\\\x00\xff')"},
      {"a: int", "-9223372036854775808"},
      {"a: float", "0.1"},
      {"a: float", "-0.0"},
      {"a: float", "inf"},
      {"a: float", "nan"},
      {"a: bool", "true"},
      {"a: type", "f8e4m3fn"},
      {"a: type", "c64"},
      {"a: type", "pred"},
      {"a: shape", "[?,3]"},
      {"a: tensor", "f32[2] {1.5, -0.0}"},
      {"a: list(int)", "[1, 2]"},
      {"a: list(float)", "[1e-30, 2.0]"},
      {"a: list(type)", "[s4, u64]"},
      {"a: list(string)", "['']"},
      {"a: list(shape)", "[[1], ?]"},
      {"a: list(bool)", "[true, false]"},
      {"a: list(int)", "[]"},
  };
  for (const auto& [attr, text] : rows) {
    INFO(attr << " " << text);
    const OpInterface op = OpWith(attr);
    const absl::StatusOr<OpAttrValue> value = ParseValue(op.attrs[0], text);
    REQUIRE(value.ok());
    CHECK(ValueGiven(attr, ConfigText(ConfigOf({{"a", *value}}))) == text);
  }
}

TEST_CASE("bound call: operands say attributes, and say the same", "[custom]") {
  const OpInterface op = Made({.name = "Acme.Add",
                               .attrs = {"T: numbertype", "out_type: {f32, s32} = f32"},
                               .inputs = {"x: T", "y: T", "z: s32"},
                               .outputs = {"sum: T", "cast: out_type"}});
  CHECK(BoundAttrs(op, {{"f64[2]", "f64[2]", "s32[]"}, "(f64[2], f32[2])"}) == "T = f64, out_type = f32");
  CHECK(BoundAttrs(op, {{"u8[]", "u8[]", "s32[]"}, "(u8[], s32[])", "{out_type = s32}"}) ==
        "T = u8, out_type = s32");
  CheckCallRefused(
      op, {{"f64[2]", "f32[2]", "s32[]"}, "(f64[2], f32[2])"},
      "attr 'T' of op Acme.Add: f64 by operand 0 ('x: T'), but f32 by operand 1 ('y: T'), wanted one value "
      "for 'T: numbertype'");
  CheckCallRefused(
      op, {{"f64[2]", "f64[2]", "s32[]"}, "(f64[2], f32[2])", "{T = f32}"},
      "attr 'T' of op Acme.Add: f32 by the call's attributes, but f64 by operand 0 ('x: T'), wanted "
      "one value "
      "for 'T: numbertype'");
  CHECK_THAT(
      std::string(BindText(op, {{"pred[]", "pred[]", "s32[]"}, "(pred[], f32[2])"}).status().message()),
      Catch::StartsWith("attr 'T' of op Acme.Add: value pred is none of s1, s2, "));
  CheckCallRefused(op, {{"f64[]", "f64[]", "s64[]"}, "(f64[], f32[])"},
                   "op Acme.Add: operand 2 is s64[], wanted s32 for 'z: s32'");
  CheckCallRefused(op, {{"f64[]", "f64[]"}, "(f64[], f32[])"},
                   "op Acme.Add: found 2 operands, wanted 3 for 'x: T, y: T, z: s32'");
  CheckCallRefused(op, {{"f64[]", "f64[]", "s32[]", "s32[]"}, "(f64[], f32[])"},
                   "op Acme.Add: found 4 operands, wanted 3 for 'x: T, y: T, z: s32'");
  CheckCallRefused(op, {{"f64[]", "(f64[])", "s32[]"}, "(f64[], f32[])"},
                   "op Acme.Add: operand 1 is (f64[]), wanted an array for 'y: T'");
  CheckCallRefused(
      op, {{"f64[]", "f64[]", "s32[]"}, "f64[]"},
      "op Acme.Add: the result is f64[], which has 1 value, wanted 1 for 'cast: out_type' after 1");
  CheckCallRefused(
      op, {{"f64[]", "f64[]", "s32[]"}, "(f64[], f32[], f32[])"},
      "op Acme.Add: the result is (f64[], f32[], f32[]), which has 3 values, wanted 2 for 'sum: T, cast: "
      "out_type'");
  CheckCallRefused(op, {{"f64[]", "f64[]", "s32[]"}, "(f64[], (f32[]))"},
                   "op Acme.Add: result 1 is (f32[]), wanted an array for 'cast: out_type'");
  CheckCallRefused(op, {{"f64[]", "f64[]", "s32[]"}, "(f64[], s32[])"},
                   "op Acme.Add: result 1 is s32[], wanted f32 for 'cast: out_type'");
}

TEST_CASE("bound call: sequences of one type", "[custom]") {
  const OpInterface two = Made(
      {.name = "Acme.Sum", .attrs = {"N: int >= 2"}, .inputs = {"in: N * s32"}, .outputs = {"out: s32"}});
  CHECK(BoundAttrs(two, {{"s32[]", "s32[]", "s32[]"}, "s32[]"}) == "N = 3");
  CHECK(RangesText(BoundText(two, {{"s32[]", "s32[]", "s32[]"}, "s32[]"}).inputs) == "0+3");
  CheckCallRefused(two, {{"s32[]"}, "s32[]"},
                   "attr 'N' of op Acme.Sum: value 1 is less than 2, wanted 'N: int >= 2'");
  CheckCallRefused(two, {{"s32[]", "s32[]"}, "s32[]", "{N = 3}"},
                   "op Acme.Sum: found 2 operands, wanted 3 for 'in: N * s32'");
  CheckCallRefused(two, {{"s32[]", "f32[]"}, "s32[]"},
                   "op Acme.Sum: operand 1 is f32[], wanted s32 for 'in: N * s32'");

  const OpInterface between = Made({.name = "Acme.Mix",
                                    .attrs = {"N: int", "T: type"},
                                    .inputs = {"first: pred", "left: N * T", "right: N * T", "last: T"},
                                    .outputs = {"out: N * T", "flag: pred"}});
  const CustomCallText call{{"pred[]", "f32[1]", "f32[2]", "f32[3]", "f32[4]", "f32[5]"},
                            "(f32[], f32[], pred[])"};
  CHECK(BoundAttrs(between, call) == "N = 2, T = f32");
  CHECK(RangesText(BoundText(between, call).inputs) == "0+1 1+2 3+2 5+1");
  CHECK(RangesText(BoundText(between, call).outputs) == "0+2 2+1");
  CHECK(BoundText(between, call).output_types ==
        std::vector{ElementType::kF32, ElementType::kF32, ElementType::kPred});
  CheckCallRefused(
      between, {{"pred[]", "f32[]", "f32[]", "f32[]", "f32[]"}, "(f32[], f32[], pred[])"},
      "op Acme.Mix: found 5 operands, wanted a multiple of 2 above 2 for 'first: pred, left: N * T, "
      "right: N * "
      "T, last: T'");
  CheckCallRefused(between, {{"pred[]", "f32[]"}, "(pred[])"},
                   "attr 'N' of op Acme.Mix: value 0 is less than 1, wanted 'N: int'");
  CheckCallRefused(
      between, {{"pred[]"}, "(pred[])"},
      "op Acme.Mix: found 1 operand, wanted a multiple of 2 above 2 for 'first: pred, left: N * T, "
      "right: N * "
      "T, last: T'");
  CheckCallRefused(
      between, {{"pred[]", "f32[1]", "f32[2]", "f32[3]", "s32[4]", "f32[5]"}, "(f32[], f32[], pred[])"},
      "attr 'T' of op Acme.Mix: f32 by operand 1 ('left: N * T'), but s32 by operand 4 ('right: N * "
      "T'), wanted "
      "one value for 'T: type'");
  CheckCallRefused(
      between, {{"pred[]", "f32[]", "f32[]", "f32[]"}, "(f32[])"},
      "op Acme.Mix: the result is (f32[]), which has 1 value, wanted 1 for 'flag: pred' after 1");
}

TEST_CASE("bound call: sequences of types of their own", "[custom]") {
  const OpInterface op = Made({.name = "Acme.Each",
                               .attrs = {"T: list({f32, f64}) >= 3"},
                               .inputs = {"in: T"},
                               .outputs = {"out: T"}});
  const CustomCallText call{{"f32[]", "f64[]", "f32[]"}, "(f32[], f64[], f32[])"};
  CHECK(BoundAttrs(op, call) == "T = [f32, f64, f32]");
  CHECK(BoundText(op, call).output_types ==
        std::vector{ElementType::kF32, ElementType::kF64, ElementType::kF32});
  CheckCallRefused(
      op, {{"f32[]", "f64[]"}, "(f32[], f64[])"},
      "attr 'T' of op Acme.Each: value [f32, f64] has length 2, less than 3, wanted 'T: list({f32, f64}) >= "
      "3'");
  CheckCallRefused(op, {{"f32[]", "f64[]", "s8[]"}, "(f32[], f64[], s8[])"},
                   "attr 'T' of op Acme.Each: value [f32, f64, s8] has s8, which is none of f32, f64, wanted "
                   "'T: list({f32, f64}) >= 3'");
  CheckCallRefused(op, {{"f32[]", "f64[]", "f32[]"}, "(f32[], f32[], f32[])"},
                   "op Acme.Each: result 1 is f32[], wanted f64 for 'out: T'");
  CheckCallRefused(
      op, {{"f32[]", "f64[]", "f32[]"}, "(f32[], f64[], f32[])", "{T = [f32, f32, f32]}"},
      "attr 'T' of op Acme.Each: [f32, f32, f32] by the call's attributes, but [f32, f64, f32] by "
      "the operands "
      "of 'in: T', wanted one value for 'T: list({f32, f64}) >= 3'");
  // Twice: both have the same types.
  const OpInterface twice =
      Made({.name = "Acme.Zip", .attrs = {"T: list(type)"}, .inputs = {"a: T", "b: T"}, .outputs = {"c: T"}});
  CHECK(RangesText(BoundText(twice, {{"f32[]", "s8[]", "f32[]", "s8[]"}, "(f32[], s8[])"}).inputs) ==
        "0+2 2+2");
  CheckCallRefused(
      twice, {{"f32[]", "s8[]", "f32[]", "s4[]"}, "(f32[], s8[])"},
      "attr 'T' of op Acme.Zip: [f32, s8] by the operands of 'a: T', but [f32, s4] by the operands "
      "of 'b: T', "
      "wanted one value for 'T: list(type)'");
}

TEST_CASE("bound call: several sequences of lengths of their own", "[custom]") {
  const OpInterface op = Made({.name = "Acme.Two",
                               .attrs = {"N: int", "T: list(type)"},
                               .inputs = {"a: N * f32", "b: T"},
                               .outputs = {"c: f32"}});
  const std::vector<std::string> operands = {"f32[]", "f32[]", "f32[]"};
  CHECK(BoundAttrs(op, {operands, "f32[]", "{N = 1}"}) == "N = 1, T = [f32, f32]");
  CHECK(BoundAttrs(op, {operands, "f32[]", "{T = [f32]}"}) == "N = 2, T = [f32]");
  CheckCallRefused(
      op, {operands, "f32[]"},
      "op Acme.Two: 3 operands don't say both attr 'N: int' and attr 'T: list(type)', wanted one of them "
      "given");
  CheckCallRefused(op, {operands, "f32[]", "{N = 9223372036854775807}"},
                   "op Acme.Two: found 3 operands, wanted at least 4 for 'a: N * f32, b: T'");
  // A sequence that is empty by default leaves older calls what they were.
  const OpInterface more = Made({.name = "Acme.More",
                                 .attrs = {"E: list(type) >= 0 = []", "N: int"},
                                 .inputs = {"extra: E", "a: N * f32"},
                                 .outputs = {"c: f32"}});
  CHECK(BoundAttrs(more, {operands, "f32[]"}) == "E = [], N = 3");
  CHECK(RangesText(BoundText(more, {operands, "f32[]"}).inputs) == "0+0 0+3");
  CHECK(BoundAttrs(more, {operands, "f32[]", "{E = [f32]}"}) == "E = [f32], N = 2");
  // A default says how long the sequence is, not of which types.
  const OpInterface one = Made({.name = "Acme.OneMore",
                                .attrs = {"E: list(type) = [f32]", "N: int"},
                                .inputs = {"extra: E", "a: N * f32"},
                                .outputs = {"c: f32"}});
  CHECK(BoundAttrs(one, {{"s8[]", "f32[]", "f32[]"}, "f32[]"}) == "E = [s8], N = 2");
}

TEST_CASE("bound call: a sequence of none takes its type from the call or the default", "[custom]") {
  const OpRegistration registration{.name = "Acme.None",
                                    .attrs = {"N: int >= 0", "T: type"},
                                    .inputs = {"in: N * T"},
                                    .outputs = {"out: T"}};
  const OpInterface op = Made(registration);
  CHECK(BoundAttrs(op, {{}, "s8[]", "{T = s8}"}) == "N = 0, T = s8");
  CheckCallRefused(op, {{}, "s8[]"}, "attr 'T' of op Acme.None missing, wanted 'T: type'");
  OpRegistration with_default = registration;
  with_default.attrs[1] = "T: type = f32";
  CHECK(BoundAttrs(Made(with_default), {{}, "f32[]"}) == "N = 0, T = f32");
}

TEST_CASE("bound call: outputs that attributes count", "[custom]") {
  const OpInterface op = Made({.name = "Acme.Split",
                               .attrs = {"num: int >= 0 = 2", "T: type"},
                               .inputs = {"x: T"},
                               .outputs = {"parts: num * T"}});
  CHECK(RangesText(BoundText(op, {{"f32[4]"}, "(f32[2], f32[2])"}).outputs) == "0+2");
  CHECK(RangesText(BoundText(op, {{"f32[4]"}, "f32[4]", "{num = 1}"}).outputs) == "0+1");
  CHECK(RangesText(BoundText(op, {{"f32[4]"}, "()", "{num = 0}"}).outputs) == "0+0");
  CheckCallRefused(
      op, {{"f32[4]"}, "f32[4]"},
      "op Acme.Split: the result is f32[4], which has 1 value, wanted 2 for 'parts: num * T' after 0");
  CheckCallRefused(
      op, {{"f32[4]"}, "f32[4]", "{num = 4611686018427387904}"},
      "op Acme.Split: the result is f32[4], which has 1 value, wanted 4611686018427387904 for 'parts: num * "
      "T' after 0");
  // The same where the result is yet to be found out.
  Instruction call(Opcode::kCustomCall);
  auto extras = std::make_shared<InstructionExtras>();
  extras->backend_config.text = R"({"num": 4611686018427387904})";
  call.extras = extras;
  const Shape x = *ParseShape("f32[4]");
  const Shape* const operands[] = {&x};
  CHECK(std::string(BindCall(op, call, operands, nullptr).status().message()) ==
        "op Acme.Split: 4611686018427387904 results for 'parts: num * T' after 0, wanted at most 1048576 in "
        "all");
  const OpInterface types =
      Made({.name = "Acme.Make", .attrs = {"out_types: list(type)"}, .outputs = {"out: out_types"}});
  CHECK(BoundText(types, {{}, "(f32[], s8[])", "{out_types = [f32, s8]}"}).output_types ==
        std::vector{ElementType::kF32, ElementType::kS8});
  CheckCallRefused(
      types, {{}, "(f32[], s8[])", "{out_types = []}"},
      "attr 'out_types' of op Acme.Make: value [] has length 0, less than 1, wanted 'out_types: list(type)'");
}

TEST_CASE("bound call: tokens, opaques and references", "[custom]") {
  const OpInterface op = Made({.name = "Acme.Kinds",
                               .attrs = {"T: type"},
                               .inputs = {"t: Token", "o: Opaque", "r: Ref(T)"},
                               .outputs = {"u: Token", "p: Opaque", "s: Ref(T)"}});
  const auto call = [](std::string_view token, std::string_view opaque, std::string_view reference) {
    return CustomCallText{{std::string(token), std::string(opaque), std::string(reference)},
                          "(token[], opaque[], b(f32[2]))"};
  };
  const ResolvedCall bound = BoundText(op, call("token[]", "opaque[]", "b(f32[2])"));
  CHECK(bound.output_types == std::vector{ElementType::kPred, ElementType::kPred, ElementType::kF32});
  CHECK(ValueText(*FindValue(bound.attrs, "T")) == "f32");
  CheckCallRefused(op, call("f32[]", "opaque[]", "b(f32[2])"),
                   "op Acme.Kinds: operand 0 is f32[], wanted a token for 't: Token'");
  CheckCallRefused(op, call("token[]", "token[]", "b(f32[2])"),
                   "op Acme.Kinds: operand 1 is token[], wanted an opaque handle for 'o: Opaque'");
  CheckCallRefused(op, call("token[]", "opaque[]", "f32[2]"),
                   "op Acme.Kinds: operand 2 is f32[2], wanted a buffer, or an array that a result aliases "
                   "(output_to_operand_aliasing) for 'r: Ref(T)'");
  CustomCallText aliased = call("token[]", "opaque[]", "f32[2]");
  aliased.aliasing = {{.output_index = {2}, .operand = 2}};
  aliased.result = "(token[], opaque[], f32[2])";
  CHECK(BindText(op, aliased).ok());
  aliased.aliasing[0].operand = 1;
  CHECK_FALSE(BindText(op, aliased).ok());
  const OpInterface plain = Made({.name = "Acme.Plain", .inputs = {"x: f32"}});
  CheckCallRefused(plain, {{"b(f32[2])"}, "()"},
                   "op Acme.Plain: operand 0 is b(f32[2]), wanted an array for 'x: f32'");
}

}  // namespace assay::custom
