// Registrations: docs/spec/custom-ops.md, OP-1, OP-3, sections 1.1 and 1.2. What each text means is worked by
// hand.
#include "custom/op_interface.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "tests/custom/made_op.h"

namespace assay::custom {
namespace {

using Catch::Contains;

// An op with this one attribute, which nothing names.
OpAttrDef AttrBySpec(const std::string& spec) { return Made({.name = "Acme.Op", .attrs = {spec}}).attrs[0]; }

void CheckRegistrationRefused(const OpRegistration& registration, const std::string& message) {
  const absl::StatusOr<OpInterface> op = MakeInterface(registration);
  INFO(message);
  REQUIRE_FALSE(op.ok());
  CHECK(ExitCodeOf(op.status()) == 3);
  CHECK(std::string(op.status().message()) == "op " + registration.name + ": " + message);
}

void CheckAttrSpecRefused(const std::string& spec, const std::string& message) {
  CheckRegistrationRefused({.name = "Acme.Op", .attrs = {spec}}, "attr '" + spec + "': " + message);
}

void CheckInputSpecRefused(const std::string& spec, const std::string& message) {
  CheckRegistrationRefused({.name = "Acme.Op",
                            .attrs = {"T: type", "L: list(type)", "N: int", "n: list(int)", "s: string"},
                            .inputs = {spec}},
                           "input '" + spec + "': " + message);
}

}  // namespace

TEST_CASE("op interface: the document's example", "[custom]") {
  const OpInterface op = Made(ZeroOutRegistration());
  CHECK(op.name == "Acme.ZeroOut");
  REQUIRE(op.attrs.size() == 2);
  CHECK(op.attrs[0].name == "preserve_index");
  CHECK(op.attrs[0].kind == OpAttrKind::kInt);
  CHECK(op.attrs[0].minimum == 0);
  CHECK(ValueText(*op.attrs[0].default_value) == "0");
  CHECK_FALSE(op.attrs[0].is_inferred);
  CHECK(op.attrs[1].types == std::vector{ElementType::kF32, ElementType::kS32});
  CHECK(op.attrs[1].is_inferred);
  CHECK(op.inputs[0].name == "to_zero");
  CHECK(op.inputs[0].type_attr == "T");
  CHECK(op.inputs[0].length_attr().empty());
  CHECK(op.outputs[0].spec == "zeroed: T");
  CHECK(op.FindAttr("T") == &op.attrs[1]);
  CHECK(op.FindAttr("U") == nullptr);
}

TEST_CASE("op interface: every form of attribute", "[custom]") {
  struct Row {
    std::string spec, printed;
    OpAttrKind kind;
    bool is_list;
    std::optional<int64_t> minimum;
    std::string default_text;
  };
  const std::vector<Row> rows = {
      {"s:string='foo'", "s: string = 'foo'", OpAttrKind::kString, false, {}, "'foo'"},
      {"i: int = 0", "i: int = 0", OpAttrKind::kInt, false, {}, "0"},
      {"f: float = 1.0", "f: float = 1.0", OpAttrKind::kFloat, false, {}, "1.0"},
      {"b: bool = true", "b: bool = true", OpAttrKind::kBool, false, {}, "true"},
      {"ty: type = s32", "ty: type = s32", OpAttrKind::kType, false, {}, "s32"},
      {"sh: shape = [1,2]", "sh: shape = [1,2]", OpAttrKind::kShape, false, {}, "[1,2]"},
      {"sh: shape = ?", "sh: shape = ?", OpAttrKind::kShape, false, {}, "?"},
      {"te: tensor = s32[2] {1,2}",
       "te: tensor = s32[2] {1, 2}",
       OpAttrKind::kTensor,
       false,
       {},
       "s32[2] {1, 2}"},
      {"l: list(int) = [2,3,5,7]", "l: list(int) = [2, 3, 5, 7]", OpAttrKind::kInt, true, {}, "[2, 3, 5, 7]"},
      {"l: list(string) = []", "l: list(string) = []", OpAttrKind::kString, true, {}, "[]"},
      {"a: int >= 2", "a: int >= 2", OpAttrKind::kInt, false, 2, ""},
      {"a: int >= -2", "a: int >= -2", OpAttrKind::kInt, false, -2, ""},
      {"i: int>=1=1", "i: int >= 1 = 1", OpAttrKind::kInt, false, 1, "1"},
      {"a: list({f32,s32}) >= 3", "a: list({f32, s32}) >= 3", OpAttrKind::kType, true, 3, ""},
      {"a:  list ( int )  >= 1 = [ 4 ]", "a: list(int) >= 1 = [4]", OpAttrKind::kInt, true, 1, "[4]"},
      {"e: {'apple','orange'}", "e: {'apple', 'orange'}", OpAttrKind::kString, false, {}, ""},
      {"e: {'apple', 'orange'} = 'orange'",
       "e: {'apple', 'orange'} = 'orange'",
       OpAttrKind::kString,
       false,
       {},
       "'orange'"},
      {"t: {numbertype, pred}", "t: {numbertype, pred}", OpAttrKind::kType, false, {}, ""},
      {"t: realnumbertype = bf16", "t: realnumbertype = bf16", OpAttrKind::kType, false, {}, "bf16"},
  };
  for (const Row& row : rows) {
    INFO(row.spec);
    const OpAttrDef attr = AttrBySpec(row.spec);
    CHECK(attr.spec == row.printed);
    CHECK(attr.kind == row.kind);
    CHECK(attr.is_list == row.is_list);
    CHECK(attr.minimum == row.minimum);
    CHECK((attr.default_value ? ValueText(*attr.default_value) : "") == row.default_text);
    CHECK(AttrBySpec(row.printed).spec == row.printed);
  }
  CHECK(AttrBySpec("e: {'apple','orange'}").strings == std::vector<std::string>{"apple", "orange"});
}

TEST_CASE("op interface: what the shortcuts of types stand for", "[custom]") {
  const auto has = [](const OpAttrDef& attr, ElementType type) {
    return std::ranges::count(attr.types, type) == 1;
  };
  const OpAttrDef any = AttrBySpec("t: type");
  CHECK(any.types.empty());
  const OpAttrDef number = AttrBySpec("t: numbertype");
  CHECK(number.types.size() == kNumElementTypes - 1);
  CHECK_FALSE(has(number, ElementType::kPred));
  CHECK(has(number, ElementType::kC128));
  CHECK(has(number, ElementType::kF4E2M1FN));
  const OpAttrDef real = AttrBySpec("t: realnumbertype");
  CHECK(real.types.size() == kNumElementTypes - 3);
  CHECK_FALSE(has(real, ElementType::kC64));
  const OpAttrDef quantized = AttrBySpec("t: quantizedtype");
  CHECK(quantized.types == std::vector{ElementType::kS1, ElementType::kS2, ElementType::kS4, ElementType::kS8,
                                       ElementType::kU1, ElementType::kU2, ElementType::kU4,
                                       ElementType::kU8});
  CHECK(AttrBySpec("t: {quantizedtype, f32, s8}").types.size() == 9);
  CHECK(AttrBySpec("t: {pred, quantizedtype}").types[0] == ElementType::kPred);
}

TEST_CASE("op interface: every form of input and output", "[custom]") {
  const OpInterface op = Made({.name = "Acme.Nn.All_2",
                               .attrs = {"T: type", "L: list(type)", "N: int >= 0", "M: int",
                                         "out_type: {f32,s32} = f32", "num: int", "U: type"},
                               .inputs = {"a: f32", "b:T", "c: L", "d: N*s32", "e: M * T", "f: Token",
                                          "g: Opaque", "h: Ref( c64 )", "i: Ref(T)", "in: pred"},
                               .outputs = {"o: out_type", "p: num * T", "q: U"}});
  REQUIRE(op.inputs.size() == 10);
  CHECK(op.inputs[0].type == ElementType::kF32);
  CHECK(op.inputs[1].type_attr == "T");
  CHECK_FALSE(op.inputs[1].has_type_list);
  CHECK(op.inputs[2].has_type_list);
  CHECK(op.inputs[2].length_attr() == "L");
  CHECK(op.inputs[3].count_attr == "N");
  CHECK(op.inputs[3].type == ElementType::kS32);
  CHECK(op.inputs[3].spec == "d: N * s32");
  CHECK(op.inputs[4].length_attr() == "M");
  CHECK(op.inputs[4].type_attr == "T");
  CHECK(op.inputs[5].kind == OpArgument::Kind::kToken);
  CHECK(op.inputs[6].kind == OpArgument::Kind::kOpaque);
  CHECK(op.inputs[7].is_reference);
  CHECK(op.inputs[7].type == ElementType::kC64);
  CHECK(op.inputs[7].spec == "h: Ref(c64)");
  CHECK(op.inputs[8].type_attr == "T");
  const auto is_inferred = [&](std::string_view attr) { return op.FindAttr(attr)->is_inferred; };
  CHECK((is_inferred("T") && is_inferred("L") && is_inferred("N") && is_inferred("M")));
  CHECK_FALSE((is_inferred("out_type") || is_inferred("num") || is_inferred("U")));
  // A sequence has at least one value unless its attribute says otherwise.
  CHECK(op.FindAttr("L")->minimum == 1);
  CHECK(op.FindAttr("N")->minimum == 0);
  CHECK(op.FindAttr("M")->minimum == 1);
  CHECK(op.FindAttr("num")->minimum == 1);
  CHECK(op.FindAttr("num")->spec == "num: int");
}

TEST_CASE("op interface: names of operations", "[custom]") {
  for (const std::string name : {"Acme.ZeroOut", "A.B", "Acme.Nn.Pool2D", "A1_b.C"}) {
    CHECK(MakeInterface({.name = name}).ok());
  }
  CheckRegistrationRefused(
      {.name = "ZeroOut"},
      "the name 'ZeroOut' has no prefix, wanted the project's own before it, as 'Acme.ZeroOut'");
  const std::string wanted = "', wanted segments [A-Z][A-Za-z0-9_]* joined by '.'";
  CheckRegistrationRefused({.name = ""}, "the name '' has the segment '" + wanted);
  CheckRegistrationRefused({.name = "acme.ZeroOut"},
                           "the name 'acme.ZeroOut' has the segment 'acme" + wanted);
  CheckRegistrationRefused({.name = "Acme.zeroOut"},
                           "the name 'Acme.zeroOut' has the segment 'zeroOut" + wanted);
  CheckRegistrationRefused({.name = "Acme..Op"}, "the name 'Acme..Op' has the segment '" + wanted);
  CheckRegistrationRefused({.name = "Acme."}, "the name 'Acme.' has the segment '" + wanted);
  CheckRegistrationRefused({.name = "Acme.Zero-Out"},
                           "the name 'Acme.Zero-Out' has the segment 'Zero-Out" + wanted);
  CheckRegistrationRefused({.name = "Acme.Op", .composite = "zero_out"},
                           "composite 'zero_out', wanted a namespace and a name, as 'acme.zero_out'");
  CheckRegistrationRefused({.name = "Acme.Op", .composite = "acme.op", .composite_version = -1},
                           "composite 'acme.op' has the version -1, wanted at least 0");
}

TEST_CASE("op interface: each mistake in an attribute has its message", "[custom]") {
  CheckAttrSpecRefused("", "found the end of the text, wanted a name, [A-Za-z][A-Za-z0-9_]*");
  CheckAttrSpecRefused("2a: int", "found '2a', wanted a name, [A-Za-z][A-Za-z0-9_]*");
  CheckAttrSpecRefused("a int", "found 'int', wanted ':' after the name");
  const std::string types =
      "wanted string, int, float, bool, type, shape, tensor, numbertype, realnumbertype, quantizedtype, a "
      "set as "
      "{f32, s32} or {'a', 'b'}, or list(...) of one of them";
  CheckAttrSpecRefused("a: integer", "found the type 'integer', " + types);
  CheckAttrSpecRefused("a:", "found the type the end of the text, " + types);
  CheckAttrSpecRefused("a: f32", "the type 'f32' is an element type, wanted type, or a set with it, {f32}");
  CheckAttrSpecRefused("a: list int", "found 'int', wanted '(' after list");
  CheckAttrSpecRefused("a: list(int",
                       "found the end of the text, wanted ')' after the type of a list's elements");
  CheckAttrSpecRefused("a: list(list(int))", "a list of lists, wanted a list of values: lists do not nest");
  CheckAttrSpecRefused("a: {}", "an empty set {}, wanted at least one value in it");
  CheckAttrSpecRefused("a: {f32", "found the end of the text, wanted ',' or '}' in a set");
  CheckAttrSpecRefused("a: {f32, 'a'}", "found ''', wanted an element type, as those before it in the set");
  CheckAttrSpecRefused("a: {'a', f32}", "found 'f32', wanted a string, as those before it in the set");
  CheckAttrSpecRefused(
      "a: {f32, f33}",
      "found 'f33' in a set, wanted an element type, numbertype, realnumbertype or quantizedtype");
  CheckAttrSpecRefused("a: {f32, s32, f32}", "f32 stands twice in the set, wanted once");
  CheckAttrSpecRefused("a: {'x', 'x'}", "'x' stands twice in the set, wanted once");
  CheckAttrSpecRefused("a: {'x", "a string is not closed, wanted \"'\" at its end");
  CheckAttrSpecRefused("a: float >= 1", "a float has a minimum, '>=', wanted one of int and list(...) alone");
  CheckAttrSpecRefused("a: {'x'} >= 1",
                       "a string has a minimum, '>=', wanted one of int and list(...) alone");
  CheckAttrSpecRefused("a: int >= x", "found 'x', wanted an integer, as -3, as the minimum after '>='");
  CheckAttrSpecRefused("a: list(int) >= -1", "found the minimum -1 of a list's length, wanted at least 0");
  CheckAttrSpecRefused("a: int > 1", "found '>', wanted >= n, = default or the end");
  CheckAttrSpecRefused("a: int = 1 2", "found '2', wanted >= n, = default or the end");
  CheckAttrSpecRefused("a: int = 1 >= 0", "found '>', wanted >= n, = default or the end");
  CheckAttrSpecRefused("a: int = x", "default: found 'x', wanted an integer, as -3");
  CheckAttrSpecRefused("a: int =", "default: found the end of the text, wanted an integer, as -3");
  CheckAttrSpecRefused("a: int >= 2 = 1", "the default 1 is less than 2");
  CheckAttrSpecRefused("a: {'x', 'y'} = 'z'", "the default 'z' is none of 'x', 'y'");
  CheckAttrSpecRefused("a: {f32, s32} = f64", "the default f64 is none of f32, s32");
  CheckAttrSpecRefused("a: list({f32}) = [f32, f64]", "the default [f32, f64] has f64, which is none of f32");
  CheckAttrSpecRefused("a: list(int) >= 2 = [1]", "the default [1] has length 1, less than 2");
}

TEST_CASE("op interface: each mistake in an input has its message", "[custom]") {
  CheckInputSpecRefused("", "found the end of the text, wanted a name, [a-z][a-z0-9_]*");
  CheckInputSpecRefused("x", "found the end of the text, wanted ':' after the name");
  CheckInputSpecRefused("toZero: f32", "the name 'toZero' has capitals, wanted [a-z][a-z0-9_]*");
  CheckInputSpecRefused(
      "x:",
      "found the end of the text, wanted an element type, an attribute, N * type, Token, Opaque or "
      "Ref(type)");
  CheckInputSpecRefused("x: U",
                        "the type 'U' is neither an element type nor an attribute, wanted one of them");
  CheckInputSpecRefused("x: s", "the type is attr 's: string', wanted one of type type or list(type)");
  CheckInputSpecRefused("x: K * f32", "the count 'K' is not an attribute, wanted one of type int");
  CheckInputSpecRefused("x: s * f32", "the count is attr 's: string', wanted one of type int");
  CheckInputSpecRefused("x: n * f32", "the count is attr 'n: list(int)', wanted one of type int");
  CheckInputSpecRefused("x: 2 * f32", "the count '2' is not an attribute, wanted one of type int");
  CheckInputSpecRefused("x: N * L", "the type is attr 'L: list(type)', wanted one of type type");
  CheckInputSpecRefused(
      "x: N *",
      "the type the end of the text is neither an element type nor an attribute, wanted one of them");
  CheckInputSpecRefused("x: N * U",
                        "the type 'U' is neither an element type nor an attribute, wanted one of them");
  CheckInputSpecRefused("x: Ref f32", "found 'f32', wanted '(' after Ref");
  CheckInputSpecRefused("x: Ref(f32", "found the end of the text, wanted ')' after the type of Ref");
  CheckInputSpecRefused("x: Ref(L)", "the type is attr 'L: list(type)', wanted one of type type");
  CheckInputSpecRefused("x: f32 f64", "found 'f64', wanted the end after the type");
  CheckRegistrationRefused(
      {.name = "Acme.Op", .outputs = {"y: U"}},
      "output 'y: U': the type 'U' is neither an element type nor an attribute, wanted one of them");
}

TEST_CASE("op interface: names are distinct, and say by their case who gives a value", "[custom]") {
  CheckRegistrationRefused({.name = "Acme.Op", .attrs = {"a: int", "a: float"}},
                           "attr 'a: int' and attr 'a: float' have one name, wanted names that are distinct");
  CheckRegistrationRefused({.name = "Acme.Op", .attrs = {"x: int"}, .inputs = {"x: f32"}},
                           "attr 'x: int' and input 'x: f32' have one name, wanted names that are distinct");
  CheckRegistrationRefused(
      {.name = "Acme.Op", .inputs = {"x: f32"}, .outputs = {"x: f32"}},
      "input 'x: f32' and output 'x: f32' have one name, wanted names that are distinct");
  CheckRegistrationRefused(
      {.name = "Acme.Op", .attrs = {"t: type"}, .inputs = {"x: t"}},
      "attr 't: type': input 'x: t' says its value, wanted a name with a capital before it, as T");
  CheckRegistrationRefused(
      {.name = "Acme.Op", .attrs = {"n: int"}, .inputs = {"x: n * f32"}},
      "attr 'n: int': input 'x: n * f32' says its value, wanted a name with a capital before it, as T");
  CheckRegistrationRefused({.name = "Acme.Op", .attrs = {"Axis: int"}},
                           "attr 'Axis: int': no input says its value, wanted a name [a-z][a-z0-9_]*");
  CheckRegistrationRefused({.name = "Acme.Op", .attrs = {"myAxis: int"}},
                           "attr 'myAxis: int': no input says its value, wanted a name [a-z][a-z0-9_]*");
  CheckRegistrationRefused({.name = "Acme.Op", .attrs = {"f32: type"}},
                           "attr 'f32: type' has the name of a type, wanted another name");
  CheckRegistrationRefused(
      {.name = "Acme.Op", .attrs = {"Token: type"}, .inputs = {"x: Token"}, .outputs = {"y: Token"}},
      "attr 'Token: type': no input says its value, wanted a name [a-z][a-z0-9_]*");
  CheckRegistrationRefused(
      {.name = "Acme.Op", .attrs = {"Ref: type"}, .inputs = {}, .outputs = {"y: Ref(Ref)"}},
      "attr 'Ref: type' has the name of a type, wanted another name");
  CheckRegistrationRefused(
      {.name = "Acme.Op", .attrs = {"N: int >= -1"}, .inputs = {"x: N * f32"}},
      "attr 'N: int >= -1' says how long a sequence is and has the minimum -1, wanted at least 0");
  CheckRegistrationRefused({.name = "Acme.Op", .attrs = {"N: int = 0"}, .inputs = {"x: N * f32"}},
                           "attr 'N: int = 0': the default 0 is less than 1");
  CheckRegistrationRefused({.name = "Acme.Op", .attrs = {"T: list(type) = []"}, .inputs = {"x: T"}},
                           "attr 'T: list(type) = []': the default [] has length 0, less than 1");
}

TEST_CASE("op interface: a value is held against its attribute", "[custom]") {
  const OpInterface op =
      Made({.name = "Acme.Op",
            .attrs = {"a: int >= 2", "e: {'apple', 'orange'}", "t: list({f32, f64}) >= 1", "f: float"}});
  const auto message = [&](std::string_view attr, const OpAttrValue& value) {
    return std::string(CheckValue(op, *op.FindAttr(attr), value).message());
  };
  CHECK(message("a", {int64_t{2}}).empty());
  CHECK(message("a", {int64_t{1}}) == "attr 'a' of op Acme.Op: value 1 is less than 2, wanted 'a: int >= 2'");
  CHECK(message("a", {1.5F}) == "attr 'a' of op Acme.Op: value 1.5 is a float, wanted 'a: int >= 2'");
  CHECK(message("a", ListValue<int64_t>({3})) ==
        "attr 'a' of op Acme.Op: value [3] is a list(int), wanted 'a: int >= 2'");
  CHECK(message("e", {std::string("orange")}).empty());
  CHECK(message("e", {std::string("pear")}) ==
        "attr 'e' of op Acme.Op: value 'pear' is none of 'apple', 'orange', wanted 'e: {'apple', 'orange'}'");
  CHECK(message("t", ListValue<ElementType>({ElementType::kF64})).empty());
  CHECK_THAT(message("t", ListValue<ElementType>({ElementType::kF64, ElementType::kS8})),
             Contains("value [f64, s8] has s8, which is none of f32, f64"));
  CHECK_THAT(message("t", ListValue<ElementType>({})), Contains("value [] has length 0, less than 1"));
  CHECK_THAT(message("t", ListValue<bool>({true})), Contains("value [true] has a bool"));
  CHECK_THAT(message("t", {ElementType::kF32}), Contains("value f32 is a type"));
  CHECK_THAT(message("f", {int64_t{1}}), Contains("value 1 is an int"));
}

TEST_CASE("op interface: whatever a text is, it is refused or says itself again", "[custom]") {
  const std::string specs[] = {R"(s: {'a', 'b\x00'} = 'a')",
                               "L: list({f32, numbertype}) >= 2 = [f32, s8]",
                               "te: list(tensor) = [s32[2] {1, 2}, f32[] nan]",
                               "sh: shape = [?,3]",
                               "N: int >= -1 = 2",
                               "f: float = -1.5e3",
                               "x: N * L",
                               "y: Ref(T)"};
  const std::string letters = "abNTL01?-+.,:*=><'\\[](){} \n\xff";
  std::mt19937 random(1);
  int64_t accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = specs[random() % std::size(specs)];
    for (uint64_t edits = random() % 3; edits < 3; ++edits) {
      const size_t at = random() % (text.size() + 1);
      const char letter = letters[random() % letters.size()];
      if (random() % 2 == 0) {
        text.insert(at, 1, letter);
      } else if (at < text.size()) {
        text.erase(at, 1 + random() % 3);
      }
    }
    OpRegistration registration{.name = "Acme.Op", .attrs = {"N: int", "T: type"}, .outputs = {"o: N * T"}};
    (random() % 2 == 0 ? registration.attrs : registration.inputs).push_back(text);
    const absl::StatusOr<OpInterface> op = MakeInterface(registration);
    if (!op.ok()) {
      CHECK(ExitCodeOf(op.status()) == 3);
      continue;
    }
    ++accepted;
    OpRegistration again{.name = op->name, .outputs = {op->outputs[0].spec}};
    for (const OpAttrDef& attr : op->attrs) again.attrs.push_back(attr.spec);
    for (const OpArgument& input : op->inputs) again.inputs.push_back(input.spec);
    INFO(text);
    CHECK(SameInterface(*op, Made(again)));
  }
  CHECK(accepted > 300);
}

TEST_CASE("op interface: two registrations are the same but for documentation and spaces", "[custom]") {
  const OpInterface op = Made(ZeroOutRegistration());
  OpRegistration other = ZeroOutRegistration();
  other.attrs = {"preserve_index:int>=0=0", "T: {s32,f32}"};
  other.doc = "Another text.";
  CHECK(SameInterface(op, Made(other)));
  const auto differs = [&](auto change) {
    OpRegistration changed = ZeroOutRegistration();
    change(changed);
    return !SameInterface(op, Made(changed));
  };
  CHECK(differs([](OpRegistration& r) { r.name = "Acme.ZeroOut2"; }));
  CHECK(differs([](OpRegistration& r) { r.attrs[0] = "preserve_index: int >= 0 = 1"; }));
  CHECK(differs([](OpRegistration& r) { r.attrs[0] = "preserve_index: int >= 0"; }));
  CHECK(differs([](OpRegistration& r) { r.attrs[0] = "preserve_index: int = 0"; }));
  CHECK(differs([](OpRegistration& r) { r.attrs[0] = "preserve_index: float = 0"; }));
  CHECK(differs([](OpRegistration& r) { r.attrs[1] = "T: {f32, s32, s64}"; }));
  CHECK(differs([](OpRegistration& r) { std::swap(r.attrs[0], r.attrs[1]); }));
  CHECK(differs([](OpRegistration& r) { r.inputs[0] = "x: T"; }));
  CHECK(differs([](OpRegistration& r) { r.outputs[0] = "zeroed: f32"; }));
  CHECK(differs([](OpRegistration& r) { r.outputs.emplace_back("more: f32"); }));
  CHECK(differs([](OpRegistration& r) { r.has_side_effect = true; }));
  CHECK(differs([](OpRegistration& r) { r.is_stateful = true; }));
  CHECK(differs([](OpRegistration& r) { r.composite = "acme.zero_out"; }));
}

}  // namespace assay::custom
