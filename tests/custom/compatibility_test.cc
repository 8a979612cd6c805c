// Section 6 of docs/spec/custom-ops.md (COMPAT-1): each line of its list of safe and unsafe changes, judged
// by hand.
#include "custom/compatibility.h"

#include <catch2/catch.hpp>

#include "fmt/format.h"
#include "fmt/ranges.h"

namespace assay::custom {
namespace {

using Catch::Contains;

// What changes between two registrations; the rest is the same.
struct RegistrationTexts {
  std::vector<std::string> attrs, inputs = {"x: f32"}, outputs = {"y: f32"};
  std::string doc = {};
  bool has_side_effect = false;
};

OpInterface MadeOf(const RegistrationTexts& texts) {
  absl::StatusOr<OpInterface> op = MakeInterface({.name = "Acme.Op",
                                                  .attrs = texts.attrs,
                                                  .inputs = texts.inputs,
                                                  .outputs = texts.outputs,
                                                  .doc = texts.doc,
                                                  .has_side_effect = texts.has_side_effect});
  INFO(op.status().ToString());
  REQUIRE(op.ok());
  return *std::move(op);
}

// The rules that the change breaks, with blanks between; empty: it is safe.
std::string BrokenRules(const RegistrationTexts& before, const RegistrationTexts& after) {
  std::vector<std::string> rules;
  for (const Incompatibility& found : UnsafeChanges({MadeOf(before)}, {MadeOf(after)})) {
    CHECK(found.op == "Acme.Op");
    CHECK_FALSE(found.text.empty());
    rules.push_back(found.rule);
  }
  return fmt::format("{}", fmt::join(rules, "; "));
}

std::string BrokenAttrRules(const std::string& before, const std::string& after) {
  return BrokenRules({.attrs = {before}}, {.attrs = {after}});
}

}  // namespace

TEST_CASE("compatibility: safe changes of attributes", "[custom]") {
  CHECK(BrokenRules({}, {}) == "");
  // A new attribute with a default, wherever it stands.
  CHECK(BrokenRules({}, {.attrs = {"a: int = 0"}}) == "");
  CHECK(BrokenRules({.attrs = {"a: int", "b: int"}}, {.attrs = {"a: int", "c: bool = false", "b: int"}}) ==
        "");
  // Wider constraints.
  CHECK(BrokenAttrRules("t: {s32, s64}", "t: {s32, s64, f32}") == "");
  CHECK(BrokenAttrRules("t: {s32, s64}", "t: {s64, s32}") == "");
  CHECK(BrokenAttrRules("t: {s32, s64, f32}", "t: type") == "");
  CHECK(BrokenAttrRules("t: {s32, f32}", "t: realnumbertype") == "");
  CHECK(BrokenAttrRules("t: realnumbertype", "t: numbertype") == "");
  CHECK(BrokenAttrRules("t: type", "t: {numbertype, pred}") == "");
  CHECK(BrokenAttrRules("e: {'a', 'b'}", "e: {'a', 'b', 'c'}") == "");
  CHECK(BrokenAttrRules("e: {'a', 'b'} = 'a'", "e: string = 'a'") == "");
  CHECK(BrokenAttrRules("a: int >= 2", "a: int >= 1") == "");
  CHECK(BrokenAttrRules("a: int >= 2", "a: int") == "");
  CHECK(BrokenAttrRules("a: list({s32}) >= 2", "a: list({s32, f32}) >= 1") == "");
  CHECK(BrokenAttrRules("a: list(int)", "a: list(int) >= 0") == "");
  // Calls that gave the value go on to give it.
  CHECK(BrokenAttrRules("a: int", "a: int = 3") == "");
  CHECK(BrokenRules({.doc = "one"}, {.doc = "two"}) == "");
  CHECK(BrokenRules({.has_side_effect = true}, {}) == "");
}

TEST_CASE("compatibility: safe changes of inputs and outputs", "[custom]") {
  // Polymorphic, by a new type attribute whose default is the old type.
  CHECK(BrokenRules({}, {.attrs = {"T: type = f32"}, .inputs = {"x: T"}, .outputs = {"y: T"}}) == "");
  CHECK(BrokenRules({}, {.attrs = {"T: {f32, f64} = f32"}, .inputs = {"x: T"}}) == "");
  CHECK(BrokenRules({}, {.attrs = {"out_type: {f32, f64} = f32"}, .outputs = {"y: out_type"}}) == "");
  // A single input or output that becomes a list, which is the old one by default.
  CHECK(BrokenRules({}, {.attrs = {"N: int = 1"}, .inputs = {"x: N * f32"}}) == "");
  CHECK(BrokenRules({}, {.attrs = {"N: int = 1", "T: type = f32"}, .inputs = {"x: N * T"}}) == "");
  CHECK(BrokenRules({}, {.attrs = {"T: list(type) = [f32]"}, .inputs = {"x: T"}}) == "");
  CHECK(BrokenRules({}, {.attrs = {"n: int = 1"}, .outputs = {"y: n * f32"}}) == "");
  CHECK(BrokenRules({.attrs = {"T: type"}, .inputs = {"x: T"}},
                    {.attrs = {"T: type", "N: int = 1"}, .inputs = {"x: N * T"}}) == "");
  // Polymorphic lists.
  CHECK(BrokenRules({.attrs = {"N: int"}, .inputs = {"x: N * f32"}},
                    {.attrs = {"N: int", "T: type = f32"}, .inputs = {"x: N * T"}}) == "");
  // New lists that are empty by default.
  CHECK(BrokenRules({}, {.attrs = {"N: int >= 0 = 0"}, .inputs = {"x: f32", "more: N * s8"}}) == "");
  CHECK(BrokenRules({}, {.attrs = {"E: list(type) >= 0 = []"}, .inputs = {"x: f32", "more: E"}}) == "");
  CHECK(BrokenRules({}, {.attrs = {"extra: list(type) >= 0 = []"}, .outputs = {"y: f32", "more: extra"}}) ==
        "");
  // An operation that is new.
  CHECK(UnsafeChanges({}, {MadeOf({})}).empty());
}

TEST_CASE("compatibility: unsafe changes of attributes", "[custom]") {
  CHECK(BrokenRules({.attrs = {"a: int"}}, {}) == "attribute removed");
  CHECK(BrokenRules({.attrs = {"a: int = 1"}}, {.attrs = {"b: int = 1"}}) == "attribute removed");
  CHECK(BrokenAttrRules("a: int", "b: int") == "attribute removed; attribute without default");
  CHECK(BrokenRules({.attrs = {"a: int", "b: int"}}, {.attrs = {"b: int", "a: int"}}) ==
        "attributes reordered");
  CHECK(BrokenRules({}, {.attrs = {"a: int"}}) == "attribute without default");
  CHECK(BrokenRules({}, {.attrs = {"T: type"}, .inputs = {"x: T"}}) ==
        "attribute without default; input changed");
  CHECK(BrokenAttrRules("t: {s32, s64}", "t: {s32}") == "constraint narrowed");
  CHECK(BrokenAttrRules("t: {s32, s64}", "t: {s32, f32}") == "constraint narrowed");
  CHECK(BrokenAttrRules("t: type", "t: numbertype") == "constraint narrowed");
  CHECK(BrokenAttrRules("t: list(type)", "t: list({f32})") == "constraint narrowed");
  CHECK(BrokenAttrRules("e: {'a', 'b'}", "e: {'a'}") == "constraint narrowed");
  CHECK(BrokenAttrRules("e: string", "e: {'a'}") == "constraint narrowed");
  CHECK(BrokenAttrRules("a: int >= 1", "a: int >= 2") == "constraint narrowed");
  CHECK(BrokenAttrRules("a: int", "a: int >= -5") == "constraint narrowed");
  CHECK(BrokenAttrRules("a: list(int)", "a: list(int) >= 1") == "constraint narrowed");
  // Its attribute counts a sequence now, of at least one.
  CHECK(BrokenRules({.attrs = {"n: int = 1"}},
                    {.attrs = {"n: int = 1"}, .outputs = {"y: f32", "z: n * f32"}}) ==
        "constraint narrowed; output added");
  CHECK(BrokenAttrRules("a: int = 1", "a: int = 2") == "default changed");
  CHECK(BrokenAttrRules("a: int = 1", "a: int") == "default changed");
  CHECK(BrokenAttrRules("a: tensor = s32[] 1", "a: tensor = s32[] 2") == "default changed");
  CHECK(BrokenAttrRules("a: int", "a: float") == "attribute's type changed");
  CHECK(BrokenAttrRules("a: int", "a: list(int)") == "attribute's type changed");
  CHECK(BrokenRules({}, {.has_side_effect = true}) == "side effect added");
}

TEST_CASE("compatibility: unsafe changes of inputs and outputs", "[custom]") {
  const RegistrationTexts two = {.inputs = {"x: f32", "z: f32"}, .outputs = {"y: f32", "w: f32"}};
  CHECK(BrokenRules(two, {.inputs = {"x: f32"}, .outputs = {"y: f32", "w: f32"}}) == "input removed");
  CHECK(BrokenRules(two, {.inputs = {"x: f32", "z: f32"}, .outputs = {"y: f32"}}) == "output removed");
  CHECK(BrokenRules(two, {.inputs = {"z: f32", "x: f32"}, .outputs = {"y: f32", "w: f32"}}) ==
        "inputs reordered");
  CHECK(BrokenRules(two, {.inputs = {"x: f32", "z: f32"}, .outputs = {"w: f32", "y: f32"}}) ==
        "outputs reordered");
  CHECK(BrokenRules({}, {.inputs = {"renamed: f32"}}) == "input removed; input added");
  CHECK(BrokenRules({}, two) == "input added; output added");
  CHECK(BrokenRules({}, {.inputs = {"x: f64"}}) == "input changed");
  CHECK(BrokenRules({}, {.outputs = {"y: f64"}}) == "output changed");
  CHECK(BrokenRules({}, {.inputs = {"x: Ref(f32)"}}) == "input changed");
  CHECK(BrokenRules({.inputs = {"x: Token"}}, {.inputs = {"x: Opaque"}}) == "input changed");
  // Polymorphic, but not by the old type.
  CHECK(BrokenRules({}, {.attrs = {"T: type = f64"}, .inputs = {"x: T"}}) == "input changed");
  CHECK(BrokenRules({.attrs = {"out_type: type = f32"}},
                    {.attrs = {"out_type: type = f32"}, .outputs = {"y: out_type"}}) == "output changed");
  CHECK(BrokenRules({.attrs = {"T: type = f32"}, .inputs = {"x: T"}},
                    {.attrs = {"T: type = f32"}, .inputs = {"x: f32"}, .outputs = {"y: T"}}) ==
        "input changed; output changed");
  // A list whose default is not the old signature.
  CHECK(BrokenRules({}, {.attrs = {"N: int = 2"}, .inputs = {"x: N * f32"}}) == "input changed");
  CHECK(BrokenRules({}, {.attrs = {"T: list(type) = [f64]"}, .inputs = {"x: T"}}) == "input changed");
  CHECK(BrokenRules({}, {.attrs = {"T: list(type) = [f32, f32]"}, .inputs = {"x: T"}}) == "input changed");
  // A new list that is not empty by default.
  CHECK(BrokenRules({}, {.attrs = {"N: int = 1"}, .inputs = {"x: f32", "more: N * f32"}}) == "input added");
  CHECK(BrokenRules({.attrs = {"N: int"}, .inputs = {"x: N * f32"}},
                    {.attrs = {"N: int"}, .inputs = {"x: N * f32", "more: N * f32"}}) == "input added");
  // From a list of one type to one of several; from a list to one.
  const RegistrationTexts list = {.attrs = {"N: int"}, .inputs = {"x: N * f32"}};
  CHECK(BrokenRules(list, {.attrs = {"T: list(type) = [f32]"}, .inputs = {"x: T"}}) ==
        "attribute removed; same-type list made a mixed-type list");
  CHECK(BrokenRules(list, {.attrs = {"N: int", "T: list(type) = [f32]"}, .inputs = {"x: T", "w: N * f32"}}) ==
        "same-type list made a mixed-type list; input added");
  CHECK(BrokenRules({.attrs = {"N: int", "M: int"}, .inputs = {"x: N * f32", "z: M * f32"}},
                    {.attrs = {"N: int", "M: int"}, .inputs = {"x: M * f32", "z: N * f32"}}) ==
        "input changed; input changed");
  CHECK(BrokenRules({.attrs = {"N: int"}, .inputs = {"x: N * f32"}}, {.inputs = {"x: f32"}}) ==
        "attribute removed; input changed");
  CHECK(BrokenRules({.attrs = {"T: list(type)"}, .inputs = {"x: T"}},
                    {.attrs = {"T: list(type)", "N: int = 1"}, .inputs = {"x: N * f32", "more: T"}}) ==
        "input changed; input added");
  const std::vector<Incompatibility> gone = UnsafeChanges({MadeOf({})}, {});
  REQUIRE(gone.size() == 1);
  CHECK(gone[0].rule == "operation removed");
}

TEST_CASE("compatibility: messages show both texts", "[custom]") {
  const std::vector<Incompatibility> found =
      UnsafeChanges({MadeOf({.attrs = {"t: {s32, s64}", "a: int = 1"}, .inputs = {"x: f32"}})},
                    {MadeOf({.attrs = {"t: {s32}", "a: int = 2", "b: int"}, .inputs = {"x: s8"}})});
  REQUIRE(found.size() == 4);
  CHECK(found[0].text == "attribute 't: {s32}' was 't: {s32, s64}', which allows values that it does not");
  CHECK(found[1].text == "attribute 'a' has the default 2, which was 1");
  CHECK(found[2].text ==
        "attribute 'b: int' is new, wanted a default with which older calls mean what they meant");
  CHECK(found[3].text ==
        "input 'x: s8' was 'x: f32', wanted the old type, or a new attribute of which it is the default");
}

TEST_CASE("compatibility: registrations as JSON", "[custom]") {
  const absl::StatusOr<OpInterface> op =
      MakeInterface({.name = "Acme.ZeroOut",
                     .attrs = {"preserve_index: int >= 0 = 0", "T: {f32, s32}", R"(s: string = '"\xff')"},
                     .inputs = {"to_zero: T"},
                     .outputs = {"zeroed: T"},
                     .doc = "Says \"zero\".\nTwice.",
                     .has_side_effect = true,
                     .is_stateful = true,
                     .composite = "acme.zero_out",
                     .composite_version = 3});
  REQUIRE(op.ok());
  const std::string json = R"({"ops": [
  {"name": "Acme.ZeroOut",
   "attrs": ["preserve_index: int >= 0 = 0", "T: {f32, s32}", "s: string = '\"\\xff'"],
   "inputs": ["to_zero: T"],
   "outputs": ["zeroed: T"],
   "doc": "Says \"zero\".\u000aTwice.",
   "has_side_effect": true,
   "is_stateful": true,
   "composite": "acme.zero_out",
   "composite_version": 3},
  {"name": "Acme.Op",
   "inputs": ["x: f32"],
   "outputs": ["y: f32"]}]}
)";
  CHECK(InterfacesToJson({*op, MadeOf({})}) == json);
  const absl::StatusOr<std::vector<OpInterface>> read = InterfacesFromJson(json);
  INFO(read.status().ToString());
  REQUIRE(read.ok());
  REQUIRE(read->size() == 2);
  CHECK(SameInterface((*read)[0], *op));
  CHECK((*read)[0].doc == op->doc);
  CHECK(InterfacesToJson(*read) == json);
  CHECK(InterfacesToJson({}) == "{\"ops\": []}\n");
  CHECK(InterfacesFromJson("{\"ops\": []}")->empty());
}

TEST_CASE("compatibility: JSON that is none of registrations is refused", "[custom]") {
  const auto message = [](std::string_view json) {
    const absl::StatusOr<std::vector<OpInterface>> read = InterfacesFromJson(json);
    REQUIRE_FALSE(read.ok());
    CHECK(ExitCodeOf(read.status()) == 3);
    return std::string(read.status().message());
  };
  CHECK_THAT(message("[]"), Catch::StartsWith("registrations: "));
  CHECK_THAT(message(R"({"ops": [)"), Catch::StartsWith("registrations: "));
  CHECK(message("") == R"(registrations: found another object, wanted {"ops": [...]})");
  CHECK(message(R"({"op": []})") == R"(registrations: found another object, wanted {"ops": [...]})");
  CHECK(message(R"({"ops": [], "more": []})") ==
        R"(registrations: found another object, wanted {"ops": [...]})");
  CHECK(message(R"({"ops": 3})") == "registrations: ops is '{value = 3 : i64}', wanted a list of objects");
  CHECK(message(R"({"ops": [3]})") == "registrations: ops[0] is '{value = 3 : i64}', wanted an object");
  CHECK(message(R"({"ops": [{"name": 3}]})") ==
        "registrations: ops[0], name is '{value = 3 : i64}', wanted a string");
  CHECK(message(R"({"ops": [{"name": "A.B", "attrs": ["a: int", true]}]})") ==
        "registrations: ops[0], attrs is '{value = true}', wanted a list of strings");
  CHECK(message(R"({"ops": [{"name": "A.B", "is_stateful": 1}]})") ==
        "registrations: ops[0], is_stateful is '{value = 1 : i64}', wanted true or false");
  CHECK_THAT(message(R"({"ops": [{"nam": "A.B"}]})"), Contains("ops[0], the key 'nam' is"));
  CHECK_THAT(message(R"({"ops": [{"attrs": []}]})"), Contains("op : the name ''"));
  CHECK(message(R"({"ops": [{"name": "A.B"}, {"name": "A.B"}]})") ==
        "registrations: ops[1] is op A.B again, wanted each op once");
}

}  // namespace assay::custom
