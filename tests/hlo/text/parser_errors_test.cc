// What the parser refuses, where it says so and how. "@@" in a text marks the place that the error must name;
// it is removed before reading.
#include <algorithm>
#include <catch2/catch.hpp>

#include "base/limits.h"
#include "hlo/text/parser.h"

namespace assay {
namespace {

struct Refusal {
  std::string marked;
  std::string message;  // a part of it
};

void CheckRefusal(const Refusal& refusal) {
  const size_t mark = refusal.marked.find("@@");
  REQUIRE(mark != std::string::npos);
  const std::string text = refusal.marked.substr(0, mark) + refusal.marked.substr(mark + 2);
  const std::string before = text.substr(0, mark);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const auto column = mark - (before.rfind('\n') + 1) + 1;  // npos + 1 is 0
  INFO(refusal.marked);
  const absl::Status status = ParseHloText(text).status();
  INFO(status.ToString());
  REQUIRE(!status.ok());
  CHECK(ExitCodeOf(status) == 3);
  CHECK_THAT(std::string(status.message()), Catch::Contains(refusal.message));
  const auto where = PositionOf(status);
  REQUIRE(where.has_value());
  CHECK(where->line == line);
  CHECK(where->column == static_cast<int32_t>(column));
}

// `line` as line 5 of a module, after parameters p, m and z.
Refusal InEntry(const std::string& line, const std::string& message) {
  return {R"(HloModule m
ENTRY e {
 p = f32[4] parameter(0)
 m = f32[4,4] parameter(1)
)" + line + "\n}\n",
          message};
}

TEST_CASE("lexer: bytes that start no token are refused where they stand", "[parser]") {
  const std::vector<Refusal> refusals = {
      {"HloModule m @@/ x", "lone '/'"},
      {"HloModule m @@/* x", "comment is not closed"},
      {"HloModule m @@; x", "found ';'"},
      {"HloModule m @@. x", "lone '.'"},
      {"HloModule m @@< x", "lone '<'"},
      {"HloModule m @@- x", "lone '-'"},
      {R"(HloModule m

 @@%4)",
       "found '%' without a name"},
      {"HloModule m // \xff is allowed here\n @@\xff", "found byte 0xff"},
      {std::string("HloModule m /* @@") + '\0' + " */", "NUL"},
      {"HloModule m, frontend_attributes={a=@@\"x}\n", "string is not closed"},
      {"HloModule m, frontend_attributes={a=@@\"\\q\"}", "bad escape"},
      {"HloModule m, frontend_attributes={a=@@{\"x\": {}\n", "dictionary is not closed"},
      {"HloModule m, replica_count=@@18446744073709551616", "does not fit 64 bits"},
      {"HloModule m, replica_count=@@-9223372036854775809", "does not fit 64 bits"},
      InEntry("c = f32[] tanh(p), result_accuracy={tolerance={atol=@@nan(0x0)}}", "NaN payload"),
      InEntry("c = f32[] tanh(p), result_accuracy={tolerance={atol=@@nan(0x10000000000000)}}", "NaN payload"),
  };
  for (const Refusal& refusal : refusals) CheckRefusal(refusal);
}

TEST_CASE("parser: errors in modules and computations", "[parser]") {
  const std::vector<Refusal> refusals = {
      {"@@", "found the end of the text, want 'HloModule'"},
      {"HloModule@@", "want the module's name"},
      {"HloModule m@@", "want a computation's name"},
      {"HloModule m, @@unknown=1", "unknown attribute 'unknown'"},
      {"HloModule m, is_scheduled=true, @@is_scheduled=true", "written twice"},
      {"HloModule m, is_scheduled=@@1", "found '1', want true or false"},
      {"HloModule m, @@is_scheduled =true", "its name followed at once by '='"},
      {"HloModule m, replica_count=@@0", "replica_count is 0, want at least 1"},
      {"HloModule m, input_output_alias={ {0}: (0, {}, @@never) }", "want may-alias or must-alias"},
      {"HloModule m, input_output_alias={ {0}: (@@-1, {}) }", "parameter number is -1, want at least 0"},
      {"HloModule m, entry_computation_layout={(f32[2]@@}", "want ',' or ')'"},
      {R"(HloModule m
FileNames 1 "a"
@@e { })",
       "want the table FunctionNames"},
      {R"(HloModule m
FileNames FunctionNames FileLocations 1 @@{line=1} StackFrames)",
       "'file_name_id' is missing"},
      {R"(HloModule m
FileNames FunctionNames FileLocations StackFrames 1 {file_location_id=1, @@file_location_id=2})",
       "unknown or written twice"},
      {R"(HloModule m
ENTRY e { @@})",
       "want at least one instruction"},
      {R"(HloModule m
ENTRY e { p = f32[] parameter(0) }
@@ENTRY f { p = f32[] parameter(0) })",
       "second ENTRY"},
      {R"(HloModule m
f { p = f32[] parameter(0) }
@@f { p = f32[] parameter(0) })",
       "'f' is defined twice"},
      {R"(HloModule m
ENTRY e @@(p: f32[]) -> f32[3] { p = f32[] parameter(0) })",
       "result shape is f32[3], but the root has f32[]"},
      {R"(HloModule m
ENTRY e {
 ROOT p = f32[] parameter(0)
 @@ROOT q = f32[] parameter(1) })",
       "second ROOT, the first is at line 3"},
      {R"(HloModule m
ENTRY e {
 p = f32[] parameter(0)
 @@p = f32[] parameter(1) })",
       "'p' is already defined at line 3"},
      {R"(HloModule m
ENTRY e {
 @@p = f32[] parameter(1) })",
       "parameter number is 1, want 0"},
      {R"(HloModule m
ENTRY e { p = f32[] parameter(0)
 @@q = f32[] parameter(0) })",
       "parameter number is 0, want 1"},
      {R"(HloModule m
ENTRY e { p = f32[] parameter(@@-3) })",
       "parameter number is -3"},
      {R"(HloModule m
ENTRY e { p = f32[] parameter(0)
ROOT r = f32[] custom-call(p), custom_call_target="t", literal=@@s32[2]{0} {...} })",
       "LIT-3: the literal is elided"},
      {R"(HloModule m
ENTRY e { p = parameter@@(0) })",
       "the result shape is missing"},
      {R"(HloModule m
ENTRY e { c = constant@@(0) })",
       "the result shape is missing"},
      {R"(HloModule m
ENTRY e { @@f32 = f32[] parameter(0) })",
       "found 'f32', want an instruction's name"},
      {R"(HloModule m
ENTRY e { @@%f32 = f32[] parameter(0) })",
       "is the name of a type"},
      {R"(HloModule m
ENTRY e { @@__p = f32[] parameter(0) })",
       "starts with '__'"},
      {R"(HloModule m
ENTRY e { @@p=f32[] parameter(0) })",
       "found 'p=', want an instruction's name"},
      {R"(HloModule m
ENTRY e { p = f32[] @@foo(0) })",
       "unknown opcode 'foo'"},
      {R"(HloModule m
ENTRY e { p = f32[@@-1] parameter(0) })",
       "SHAPE-3"},
      {R"(HloModule m
ENTRY e { p = f32[] parameter(0)@@)",
       "found the end of the text, want an instruction's name"},
      {R"(HloModule m
ENTRY e { p = f32[] parameter(0) }, @@foo="x")",
       "want 'execution_thread='"},
  };
  for (const Refusal& refusal : refusals) CheckRefusal(refusal);
}

TEST_CASE("parser: errors in operands", "[parser]") {
  const std::vector<Refusal> refusals = {
      InEntry(" a = f32[4] add(p, @@q)", "operand 'q' is not defined above"),
      InEntry(" a = f32[4] add(p, @@a)", "operand 'a' is not defined above"),
      InEntry(" a = f32[4] add(p, @@f32[5] p)",
              "operand 'p' is written with shape f32[5], but has shape f32[4]"),
      InEntry(" a = f32[4] add(p @@p)", "want ',' or ')'"),
      InEntry(" a = f32[4] add(@@,p)", "want an operand"),
      InEntry(" a = f32[4] add(p, @@foo(p))", "unknown opcode 'foo'"),
      InEntry(" a = f32[4] add(p, constant@@({1,2,3,4}))", "the result shape is missing"),
      InEntry(" a = f32[4] negate(p), control-predecessors={@@x}",
              "control predecessor 'x' is not defined above"),
      InEntry(" a = f32[4] negate(p#@@0)", "element #0 of shape f32[4] does not exist"),
      {"x = f32[2] add(f32[2] a, @@b)", "operand 'b' of a single instruction needs a shape"},
      {"f32[2] negate(f32[2] a) @@garbage", "want the end of the text after a single instruction"},
  };
  for (const Refusal& refusal : refusals) CheckRefusal(refusal);
}

TEST_CASE("parser: errors in attributes", "[parser]") {
  const std::vector<Refusal> refusals = {
      InEntry(" a = f32[4] negate(p), @@foo=1", "unknown attribute 'foo'"),
      InEntry(" a = f32[4] negate(p), dimensions={0}, @@dimensions={0}", "'dimensions' is written twice"),
      InEntry(" a = f32[4] negate(p), origin={{}}, @@origin={{}}", "'origin' is written twice"),
      InEntry(" a = f32[4] negate(p), dimensions={0,@@x}", "found 'x', want an integer"),
      InEntry(" a = f32[4] negate(p), dimensions={0 @@1}", "want ',' or '}'"),
      InEntry(" a = f32[4] negate(p), direction=@@lt", "found 'lt', want one of: EQ, NE"),
      InEntry(" a = f32[4] negate(p), to_apply=@@g", "computation 'g' is not defined above"),
      InEntry(" a = f32[4] negate(p), epsilon=@@x", "want a number"),
      InEntry(" a = f32[4] negate(p), custom_call_target=@@x", "want a string"),
      InEntry(" a = f32[4] negate(p), window={size=2 @@size=2}", "'size=' is written twice"),
      InEntry(" a = f32[4] negate(p), window={size=2@@, pad=0_0}", "want a part like size=3x3"),
      InEntry(" a = f32[4] negate(p), window=@@{size=2x2 stride=1}", "stride has 1 number, size has 2"),
      InEntry(" a = f32[4] negate(p), window=@@{size=2 pad=0_0x0_0}", "pad has 2 dimensions, size has 1"),
      InEntry(" a = f32[4] negate(p), window={size=2 pad=@@0_0_1}", "want 2 (low_high)"),
      InEntry(" a = f32[4] negate(p), window=@@{size=2 rhs_reversal=2}", "rhs_reversal is 2"),
      InEntry(" a = f32[4] negate(p), window=@@{size=-2}", "size is -2 in dimension 0, want at least 0"),
      InEntry(" a = f32[4] negate(p), window={size=@@99999999999999999999x1}", "does not fit 64 bits"),
      InEntry(" a = f32[4] negate(p), padding=@@{1_2}", "want padding like"),
      InEntry(" a = f32[4] negate(p), slice={@@0:4}", "found '0', want '['"),
      InEntry(" a = f32[4] negate(p), dim_labels=@@bf01_oi01->bf0", "2 spatial dimensions in the input"),
      InEntry(" a = f32[4] negate(p), dim_labels=@@bb01_oi01->bf01", "hold 'b' twice"),
      InEntry(" a = f32[4] negate(p), dim_labels=@@bf02_oi01->bf01", "lack '1'"),
      InEntry(" a = f32[4] negate(p), dim_labels=@@bf09_oi01->bf01", "hold '9' without the digits below it"),
      InEntry(" a = f32[4] negate(p), dim_labels=@@b?01_oi01->bf01", "lack 'f'"),
      InEntry(" a = f32[4] negate(p), result_accuracy={tolerance={atol=1,@@atol=1}}", "each once"),
      InEntry(" a = f32[4] negate(p), metadata={@@foo=1}", "unknown field 'foo'"),
      InEntry(" a = f32[4] negate(p), metadata={op_name=\"a\" @@op_name=\"b\"}",
              "'op_name=' is written twice"),
      InEntry(" a = f32[4] negate(p), metadata={profile_type=@@{4}}", "profile_type holds 4, want 0 to 3"),
      InEntry(" a = f32[4] negate(p), frontend_attributes={@@a = \"b\"}", "a name followed at once by '='"),
      InEntry(" a = f32[4] negate(p), backend_config=@@1", "a string or a dictionary"),
      InEntry(" a = f32[4] negate(p), statistics={a=@@1.5}", "found '1.5', want an integer"),
      InEntry(" a = f32[4] negate(p), origin={@@\"x\"}", "want '(' or '{'"),
      {"f32[] domain(f32[] a), domain={@@x", "found 'x', want kind, entry or exit, each once"},
  };
  for (const Refusal& refusal : refusals) CheckRefusal(refusal);
}

TEST_CASE("parser: errors in device groups, shardings and async operations", "[parser]") {
  const std::vector<Refusal> refusals = {
      InEntry(" a = f32[4] negate(p), replica_groups=@@x", "want '{', '[' or mesh"),
      InEntry(" a = f32[4] negate(p), replica_groups=@@[4]<=[4]", "found 1 size before '<=', want 2"),
      InEntry(" a = f32[4] negate(p), replica_groups=@@[2,2]<=[5]", "2 groups of 2 do not take up 5 devices"),
      InEntry(" a = f32[4] negate(p), replica_groups=[2,2]<=[2,2]@@, x", "want T(...)"),
      InEntry(" a = f32[4] negate(p), replica_groups=[2,2]<=@@[2,2]T(1,1)", "T(...) holds 1"),
      InEntry(" a = f32[4] negate(p), replica_groups=[2,2]<=@@[2,2]T(1)", "T(...) has 1 entry, want 2"),
      InEntry(" a = f32[4] negate(p), replica_groups=@@[2,0]<=[0]", "dimension is 0, want at least 1"),
      InEntry(" a = f32[4] negate(p), replica_groups=mesh[\"a\"=2,@@\"a\"=2] {}", "stands twice"),
      InEntry(" a = f32[4] negate(p), replica_groups=mesh[\"a\"=2] {@@\"b\"}", "is not in the mesh"),
      InEntry(" a = f32[4] negate(p), replica_groups=mesh[\"a\"=8] {\"a\":@@(3)2}",
              "does not divide an axis of size 8"),
      InEntry(" a = f32[4] negate(p), replica_groups=mesh[\"a\"=8] {\"a\":(2)2,@@\"a\"}", "used twice"),
      InEntry(" a = f32[4] negate(p), replica_groups=mesh[\"a\"=2], device_ids=@@(0,0) {\"a\"}", "holds 0"),
      InEntry(" a = f32[4] negate(p), replica_groups=@@[1048576,1048576]<=[1099511627776]", "over the limit"),
      InEntry(R"( a = f32[4] negate(p), replica_groups=[2097152,2]<=[4194304]
 b = f32[4] negate(p), replica_groups=[2097152,2]<=[4194304]
 c = f32[4] negate(p), replica_groups=@@[1,1]<=[1])",
              "over the limit"),
      InEntry(" a = f32[4] negate(p), sharding={@@foo}", "want a part of a sharding"),
      InEntry(" a = f32[4] negate(p), sharding=@@{maximal}", "maximal wants one device=N"),
      InEntry(" a = f32[4] negate(p), sharding=@@{devices=[2,2]0,1}", "found 2 devices for tiles [2,2]"),
      InEntry(" a = f32[4] negate(p), sharding=@@{devices=[1]0}", "list of one device"),
      InEntry(" a = f32[4] negate(p), sharding={replicated @@manual}", "found manual after replicated"),
      InEntry(" a = f32[4] @@negate-start(p)", "shape is f32[4], want ((operand shapes), result shape, ...)"),
      InEntry(" a = f32[4] @@negate-done(p)", "the first operand is not an async operation"),
      InEntry(R"( a = ((f32[4]), f32[4]) negate-start(p)
 b = f32[4] @@abs-done(a))",
              "wraps abs, but its start wraps negate"),
      InEntry(" a = f32[4] add(p, @@negate-done(p))", "can't be written as an operand"),
  };
  for (const Refusal& refusal : refusals) CheckRefusal(refusal);
}

TEST_CASE("parser: literals and shapes report places in the whole text", "[parser]") {
  CheckRefusal(InEntry(R"( c = f32[2] constant({1,
  @@x}))",
                       "x"));
  CheckRefusal(InEntry(R"( c = f32[2,
  @@-3] constant({1}))",
                       "SHAPE-3"));
  CheckRefusal(InEntry(" c = s8[] constant(@@300)", "300"));
}

// Nesting is counted, so that no text can use up the stack.
TEST_CASE("parser: nesting beyond the limit is refused, nesting at the limit is read", "[parser]") {
  const auto nested = [](int depth) {
    std::string text = R"(HloModule m
ENTRY e { p = f32[] parameter(0)
 ROOT r = f32[] negate()";
    for (int i = 0; i < depth; ++i) text += "negate(";
    return text + "p" + std::string(depth, ')') + ") }";
  };
  CHECK(ParseHloText(nested(kMaxNesting)).ok());
  CHECK(ExitCodeOf(ParseHloText(nested(kMaxNesting + 1)).status()) == 3);
  CHECK(ExitCodeOf(ParseHloText(nested(100000)).status()) == 3);
  const auto bodies = [](int depth) {
    std::string text = R"(HloModule m
ENTRY e { )";
    for (int i = 0; i < depth; ++i) text += "c = f32[] call(), to_apply={";
    return text + "c = f32[] constant(1)" + std::string(depth, '}') + " }";
  };
  CHECK(ParseHloText(bodies(kMaxNesting)).ok());
  CHECK(ExitCodeOf(ParseHloText(bodies(kMaxNesting + 1)).status()) == 3);
  CHECK(ExitCodeOf(ParseHloText(bodies(100000)).status()) == 3);
  const std::string parens(200000, '('), braces(200000, '{'), squares(200000, '[');
  for (const std::string& open : {parens, braces, squares}) {
    for (const char* place :
         {"ENTRY e { p = ", "ENTRY e { p = f32[] constant(", "ENTRY e { p = f32[] negate(p), origin={",
          "ENTRY e { p = f32[] negate(), literal=", "ENTRY e { p = f32[] negate(), domain=",
          "ENTRY e { p = f32[] negate(), sharding=", "ENTRY e { p = f32[] negate(), backend_config="}) {
      CHECK(ExitCodeOf(ParseHloText(place + open).status()) == 3);
    }
  }
}

// Texts of a megabyte that a parser with a loop inside a loop would read for hours.
TEST_CASE("parser: the time is linear in the text", "[parser]") {
  const auto repeat = [](const std::string& part) {
    std::string text;
    while (text.size() < 1'000'000) text += part;
    return text;
  };
  const std::string head = R"(HloModule m
ENTRY e { p = f32[] parameter(0)
 )";
  const std::string domain = head + "d = f32[] domain(p), domain={";
  const std::vector<std::string> texts = {
      domain + repeat("?"),
      domain + repeat("1?"),
      domain + repeat("bf?"),
      domain + repeat("1_"),
      domain + repeat("1x1_1 "),
      domain + repeat("-1_-"),
      domain + repeat("1e"),
      domain + repeat("{"),
      head + "a = f32[] all-reduce(p), replica_groups=mesh[" + repeat("\"a\"=1,"),
      head + "a = f32[] all-reduce(p), replica_groups=mesh[\"a\"=1] {" + repeat("\"a\":(1)1,"),
      head + repeat("c = (f32[]) constant((1 /* ( */))\n"),
      head + "c = (f32[]) constant(" + repeat("("),
      head + repeat("q = f32[] add(add(p,p),p)\n"),
      head + repeat("q = f32[] call(p), to_apply={ p = f32[] parameter(0) }\n"),
      "HloModule m\n" + repeat("f { a = f32[] parameter(0) }\n"),
      "HloModule m, " + repeat("is_scheduled=true,"),
      head + "q = f32[] negate(p), frontend_attributes={" + repeat("a=\"\","),
      head + "q = f32[] negate(p), sharding={" + repeat("{replicated},"),
      head + "q = (" + repeat("f32[],"),
      head + "q = f32[" + repeat("1,"),
      repeat("/*"),
      repeat("/**/"),
      repeat("\n"),
  };
  for (const std::string& text : texts) CHECK(!ParseHloText(text).ok());
  // Names that clash with each other from computation to computation.
  std::string clashes = "HloModule m\n";
  for (int i = 0; clashes.size() < 1'000'000; ++i) {
    clashes += "g" + std::to_string(i) + " { a = f32[] parameter(0) a.1 = f32[] negate(a) }\n";
  }
  CHECK(ParseHloText(clashes).ok());
}

}  // namespace
}  // namespace assay
