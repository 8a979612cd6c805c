// What modules the parser makes. Texts and expected contents are from the forms of docs/spec/hlo-text.md;
// generated names are those that jaxlib 0.10.2 prints for the same text.
#include "hlo/text/parser.h"

#include <catch2/catch.hpp>

#include "fmt/format.h"
#include "hlo/diagnostics.h"
#include "literal/literal_text.h"

namespace assay {
namespace {

Module Parse(const std::string& text) {
  absl::StatusOr<Module> module = ParseHloText(text);
  INFO(text << "\n" << module.status().ToString());
  REQUIRE(module.ok());
  return *std::move(module);
}

std::vector<std::string> Names(const Computation& computation) {
  std::vector<std::string> names;
  for (const Instruction& instruction : computation.instructions) names.push_back(instruction.name);
  return names;
}

std::vector<int32_t> Operands(const Instruction& instruction) {
  return {instruction.operands.begin(), instruction.operands.end()};
}

TEST_CASE("parser: a module with two computations", "[parser]") {
  const Module module = Parse(
      R"(HloModule m, is_scheduled=true, replica_count=2, num_partitions=4
%add (x: f32[], y: f32[]) -> f32[] {
  %y = f32[] parameter(1)
  %x = f32[] parameter(0)
  ROOT %sum = f32[] add(%x, f32[] %y)
}, execution_thread="side"
ENTRY %main (p: f32[4]) -> f32[] {
  %p = f32[4]{0} parameter(0)
  zero = f32[] constant(0)
  ROOT r = f32[] reduce(p, %zero), dimensions={0}, to_apply=%add, control-predecessors={%p, zero}
}
)");
  CHECK(module.name == "m");
  CHECK(module.is_scheduled);
  CHECK(module.replica_count == 2);
  CHECK(module.num_partitions == 4);
  REQUIRE(module.computations.size() == 2);
  const Computation& add = module.computations[0];
  CHECK(add.name == "add");
  CHECK(add.execution_thread == "side");
  CHECK(add.parameters == absl::InlinedVector<int32_t, 4>{1, 0});
  CHECK(add.root == 2);
  CHECK(Operands(add.instructions[2]) == std::vector<int32_t>{1, 0});
  CHECK(add.position == SourcePosition{2, 1});
  CHECK(module.entry == ComputationId{1});
  const Computation& main = module.entry_computation();
  CHECK(main.execution_thread.empty());
  const Instruction& reduce = main.root_instruction();
  CHECK(reduce.opcode == Opcode::kReduce);
  CHECK(reduce.name == "r");
  CHECK(reduce.position == SourcePosition{10, 8});
  CHECK(reduce.attributes.Computation(Attr::kToApply) == ComputationId{0});
  CHECK(reduce.control_predecessors == std::vector<int32_t>{0, 1});
  CHECK(reduce.extras == nullptr);
  REQUIRE(main.instructions[1].literal != nullptr);
  CHECK(main.instructions[1].literal->GetDouble(0) == 0);
  CHECK(main.instructions[0].shape->ToString(true) == "f32[4]{0}");
}

TEST_CASE("parser: without ENTRY the last computation is the entry, without ROOT the last instruction",
          "[parser]") {
  const Module module =
      Parse("a { p = f32[] parameter(0) } b { q = f32[] parameter(0) r = f32[] negate(q) }");
  CHECK(module.name == "module_b");
  CHECK(module.entry_computation().name == "b");
  CHECK(module.entry_computation().root == 1);
  const Module marked =
      Parse("ENTRY a { ROOT p = f32[] parameter(0) q = f32[] negate(p) } b { q = f32[] parameter(0) }");
  CHECK(marked.name == "module_a");
  CHECK(marked.entry_computation().name == "a");
  CHECK(marked.entry_computation().root == 0);
  CHECK(marked.computations.size() == 2);
}

TEST_CASE("parser: names are made unique in the module as the reference does", "[parser]") {
  const Module module = Parse(
      R"(HloModule m
f { a = f32[] parameter(0)
 b.1 = f32[] add(a, a)
 a.1 = f32[] add(a, a)
 c.01 = f32[] add(a,a)
 c = f32[] add(a,a)
 c.0 = f32[] add(a,a)
 ROOT a.2 = f32[] add(a.1, a.1)}
ENTRY f.1 { a = f32[] parameter(0)
 a.1 = f32[] add(a, a)
 c.01 = f32[] add(a,a)
 c.1 = f32[] add(a,a)
 b.1 = f32[] add(a,a)
 c.0 = f32[] add(a,a)
 ROOT c = f32[] call(a.1), to_apply=f}
)");
  CHECK(Names(module.computations[0]) ==
        std::vector<std::string>{"a", "b.1", "a.1", "c.1", "c", "c.2", "a.2"});
  CHECK(Names(module.computations[1]) ==
        std::vector<std::string>{"a.3", "a.4", "c.3", "c.4", "b.0", "c.5", "c.6"});
}

TEST_CASE("parser: illegal names of computations and unknown operands are made legal", "[parser]") {
  CHECK(Parse("ENTRY __e { p = f32[] parameter(0) }").entry_computation().name == "a_e");
  CHECK(Parse("ENTRY %f32 { p = f32[] parameter(0) }").entry_computation().name == "f32_");
  CHECK(Names(Parse("f32[] add(f32[] __a, f32[] %f32)").entry_computation()) ==
        std::vector<std::string>{"a_a", "f32_", "_"});
}

TEST_CASE("parser: a name bound inside an inline body does not change the one outside", "[parser]") {
  const Module module = Parse(
      R"(ENTRY e { a = f32[] parameter(0) x = f32[] negate(a)
 c = f32[] call(x), to_apply={ x = f32[] parameter(0) y = f32[] call(x), to_apply={ a = f32[] parameter(0) x = f32[] negate(a) } ROOT z = f32[] add(x, y) }
 ROOT r = f32[] add(x, a) })");
  CHECK(Operands(module.entry_computation().root_instruction()) == std::vector<int32_t>{1, 0});
  CHECK(Operands(module.computations[1].root_instruction()) == std::vector<int32_t>{0, 1});
  CHECK(
      !ParseHloText("ENTRY e { a = f32[] parameter(0) c = f32[] call(a), to_apply={ y = f32[] negate(a) } }")
           .ok());
  CHECK(!ParseHloText(
             R"(ENTRY e { a = f32[] parameter(0) c = f32[] call(a), to_apply={ y = f32[] parameter(0) }
 ROOT r = f32[] negate(y) })")
             .ok());
}

TEST_CASE("parser: nested operands become instructions before their user", "[parser]") {
  const Module module = Parse(
      R"(ENTRY e { p = f32[2] parameter(0)
 q = f32[2] add(p, f32[2] multiply(p, f32[2] constant({1,2})))
 ROOT r = f32[2] add(add(p,p), negate(add(p,p))) })");
  const Computation& entry = module.entry_computation();
  CHECK(Names(entry) == std::vector<std::string>{"p", "constant.anon", "multiply.anon", "q", "add.anon",
                                                 "add.anon.1", "negate.anon", "r"});
  CHECK(Operands(entry.instructions[3]) == std::vector<int32_t>{0, 2});
  CHECK(Operands(entry.instructions[7]) == std::vector<int32_t>{4, 6});
  CHECK(entry.instructions[4].shape == nullptr);
  CHECK(entry.root == 7);
}

TEST_CASE("parser: inline bodies are computations of their own", "[parser]") {
  const Module module = Parse(
      R"(ENTRY e { p = f32[2] parameter(0)
 q = f32[2] fusion(p), kind=kLoop, calls={ p = f32[2] parameter(0) ROOT b = f32[2] negate(p) }
 i = s32[] constant(1)
 ROOT r = f32[2] conditional(i, q, q), branch_computations={ { a = f32[2] parameter(0) }, { a = f32[2] parameter(0) ROOT b = f32[2] fusion(a), kind=kLoop, calls={ c = f32[2] parameter(0) } } } })");
  REQUIRE(module.computations.size() == 5);
  CHECK(module.computations[0].name == "_");
  CHECK(module.computations[1].name == "_.1");
  CHECK(module.computations[2].name == "_.2");
  CHECK(module.computations[3].name == "_.3");
  CHECK(module.entry == ComputationId{4});
  const auto branches =
      module.entry_computation().root_instruction().attributes.Computations(Attr::kBranchComputations);
  REQUIRE(branches.size() == 2);
  CHECK(branches[0] == ComputationId{1});
  CHECK(branches[1] == ComputationId{3});
  CHECK(Names(module.computations[0]) == std::vector<std::string>{"p", "b"});
  CHECK(Names(module.entry_computation()) == std::vector<std::string>{"p.1", "q", "i", "r"});
}

TEST_CASE("parser: operands of a single instruction become parameters", "[parser]") {
  const Module module = Parse("f32[2] add(f32[2] a, f32[2] a)");
  CHECK(module.name == "_");
  CHECK(module.is_scheduled);
  CHECK(module.entry_computation().name == "_");
  CHECK(Names(module.entry_computation()) == std::vector<std::string>{"a", "_"});
  const Module called = Parse(
      "f32[] reduce(f32[4] x, f32[] y), dimensions={0}, to_apply={ x = f32[] parameter(0) y = f32[] "
      "parameter(1) "
      "ROOT z = f32[] add(x, f32[] negate(y)) }");
  CHECK(called.computations[0].name == "_.1");
  CHECK(Names(called.computations[0]) == std::vector<std::string>{"x.1", "y.1", "negate.anon", "z"});
  CHECK(called.entry_computation().name == "_");
  CHECK(Names(called.entry_computation()) == std::vector<std::string>{"x", "y", "_"});
  const Module nested = Parse("f32[2] add(f32[2] a, f32[2] negate(f32[2] a))");
  CHECK(Names(nested.entry_computation()) == std::vector<std::string>{"a", "negate.anon", "_"});
  const Module unnamed = Parse("x = f32[2] add(f32[2], f32[2]{0})");
  CHECK(Names(unnamed.entry_computation()) == std::vector<std::string>{"_0", "_1", "x"});
  CHECK(unnamed.entry_computation().parameters == absl::InlinedVector<int32_t, 4>{0, 1});
  CHECK(unnamed.entry_computation().root == 2);
}

TEST_CASE("parser: #i takes elements of an operand", "[parser]") {
  const Module module = Parse(R"(ENTRY e { t = (f32[], (s32[2], pred[])) parameter(0)
 ROOT r = s32[2] negate(s32[2] t#1#0) })");
  const Computation& entry = module.entry_computation();
  REQUIRE(entry.instructions.size() == 4);
  CHECK(entry.instructions[1].opcode == Opcode::kGetTupleElement);
  CHECK(entry.instructions[1].attributes.Int(Attr::kIndex) == 1);
  CHECK(entry.instructions[1].shape->ToString() == "(s32[2], pred[])");
  CHECK(entry.instructions[2].attributes.Int(Attr::kIndex, -1) == 0);
  CHECK(Operands(entry.instructions[2]) == std::vector<int32_t>{1});
  CHECK(entry.instructions[2].shape->ToString() == "s32[2]");
  CHECK(Operands(entry.instructions[3]) == std::vector<int32_t>{2});
}

TEST_CASE("parser: async sugar makes the computation that it leaves out", "[parser]") {
  const Module module = Parse(
      R"(HloModule m
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a,b) }
ENTRY e { p = f32[2] parameter(0) z = f32[] constant(0)
 s = ((f32[2],f32[]), f32[], u32[]) reduce-start(p,z), dimensions={0}, to_apply=add, async_execution_thread="t", control-predecessors={p}, metadata={op_name="n"}, sharding={replicated}
 u = ((f32[2],f32[]), f32[], u32[]) reduce-update(s)
 ROOT d = f32[] reduce-done(u) })");
  REQUIRE(module.computations.size() == 3);
  const Computation& wrapped = module.computations[1];
  CHECK(wrapped.name == "async_wrapped");
  CHECK(wrapped.execution_thread == "t");
  CHECK(wrapped.parameters == absl::InlinedVector<int32_t, 4>{0, 1});
  const Instruction& reduce = wrapped.root_instruction();
  CHECK(reduce.opcode == Opcode::kReduce);
  CHECK(Operands(reduce) == std::vector<int32_t>{0, 1});
  CHECK(reduce.shape->ToString() == "f32[]");
  CHECK(reduce.attributes.Computation(Attr::kToApply) == ComputationId{0});
  CHECK(reduce.attributes.List(Attr::kDimensions).size() == 1);
  REQUIRE(reduce.extras != nullptr);
  CHECK(reduce.extras->metadata.op_name == "n");
  CHECK(reduce.extras->sharding.empty());
  const Computation& entry = module.entry_computation();
  const Instruction& start = entry.instructions[2];
  CHECK(start.opcode == Opcode::kAsyncStart);
  CHECK(start.attributes.Computation(Attr::kCalls) == ComputationId{1});
  CHECK(start.attributes.Text(Attr::kAsyncExecutionThread) == "t");
  CHECK(start.attributes.entries().size() == 2);
  CHECK(start.control_predecessors == std::vector<int32_t>{0});
  CHECK(start.extras->sharding == "{{replicated}, {replicated}, {replicated}, {replicated}}");
  CHECK(entry.instructions[3].opcode == Opcode::kAsyncUpdate);
  CHECK(entry.instructions[4].opcode == Opcode::kAsyncDone);
}

TEST_CASE("parser: copy-start and the like are operations of their own", "[parser]") {
  const Module module = Parse(
      R"(ENTRY e { p = f32[] parameter(0) s = (f32[], f32[], u32[]) copy-start(p)
 d = f32[] copy-done(s) })");
  CHECK(module.computations.size() == 1);
  CHECK(module.entry_computation().instructions[1].opcode == Opcode::kCopyStart);
}

TEST_CASE("parser: elided constants have no literal", "[parser]") {
  const Module module = Parse(
      R"(ENTRY e { a = f32[2,3] constant({...}) b = f32[] constant({...})
 t = (f32[2], s32[]) constant(({...}, 3)) ROOT c = f32[1] constant({1}) })");
  CHECK(module.entry_computation().instructions[0].literal == nullptr);
  CHECK(module.entry_computation().instructions[1].literal == nullptr);
  CHECK(module.entry_computation().instructions[2].literal == nullptr);
  CHECK(module.entry_computation().instructions[3].literal != nullptr);
}

TEST_CASE("parser: a bounded dimension of a constant is static", "[parser]") {
  const Module module = Parse("ENTRY e { a = f32[<=2] constant({1,2}) }");
  CHECK(module.entry_computation().root_instruction().shape->ToString() == "f32[2]");
}

TEST_CASE("parser: result shapes may be left out", "[parser]") {
  const Module module = Parse("ENTRY e { p = f32[2] parameter(0) ROOT n = negate(f32[2] p) }");
  CHECK(module.entry_computation().root_instruction().shape == nullptr);
}

TEST_CASE("parser: module attributes", "[parser]") {
  const Module module = Parse(
      R"(HloModule m, input_output_alias={ {0}: (1, {2,3}, must-alias), {}: (0, {}) }, buffer_donor={ (0, {1,}) }, alias_passthrough_params=true, entry_computation_layout={(f32[2,3]{0,1}, /*index=1*/s32[])->f32[2,3]}, frontend_attributes={z="q\n",a={"x": 1}}, allow_spmd_sharding_propagation_to_parameters={true,false}, allow_spmd_sharding_propagation_to_output=true
ENTRY e { p = f32[2,3] parameter(0) q = s32[] parameter(1)
 ROOT r = f32[2,3] negate(p) })");
  REQUIRE(module.input_output_alias.size() == 2);
  CHECK(module.input_output_alias[0].output_index == Ints{0});
  CHECK(module.input_output_alias[0].parameter_number == 1);
  CHECK(module.input_output_alias[0].parameter_index == Ints{2, 3});
  CHECK(module.input_output_alias[0].must_alias);
  CHECK(!module.input_output_alias[1].must_alias);
  REQUIRE(module.buffer_donor.size() == 1);
  CHECK(module.buffer_donor[0].parameter_index == Ints{1});
  CHECK(module.alias_passthrough_params);
  REQUIRE(module.entry_computation_layout.has_value());
  CHECK(module.entry_computation_layout->parameters.size() == 2);
  CHECK(module.entry_computation_layout->parameters[0].ToString(true) == "f32[2,3]{0,1}");
  CHECK(module.entry_computation_layout->result.ToString(true) == "f32[2,3]{1,0}");
  REQUIRE(module.frontend_attributes.size() == 2);
  CHECK(module.frontend_attributes[0].first == "a");
  CHECK(module.frontend_attributes[0].second.is_json);
  CHECK(module.frontend_attributes[0].second.text == "{\"x\": 1}");
  CHECK(module.frontend_attributes[1].second.text == "q\n");
  CHECK(module.allow_spmd_sharding_propagation_to_parameters == std::vector<bool>{true, false});
  CHECK(module.allow_spmd_sharding_propagation_to_output == std::vector<bool>{true});
}

TEST_CASE("parser: stack frame tables and other tables of the header", "[parser]") {
  const Module module = Parse(
      R"(HloModule m, origin_recovery_table={ {"a" {0}} : {"b"}, "HloModule r" {"c"}:{"d" {1,2}} }, debug_attributes={{"a"}: {log_mode=default, op_id=3}, {"b"}: ({partitioned=true})}
FileNames
1 "a.py"
FunctionNames
1 "f"
2 "g"
FileLocations
1 {file_name_id=1 function_name_id=2, line=3 end_line=4 column=5 end_column=6}
StackFrames
1 {file_location_id=1 parent_frame_id=1}
ENTRY e { p = f32[] parameter(0) })");
  CHECK(module.frame_tables.file_names == std::vector<std::string>{"a.py"});
  CHECK(module.frame_tables.function_names == std::vector<std::string>{"f", "g"});
  REQUIRE(module.frame_tables.locations.size() == 1);
  CHECK(module.frame_tables.locations[0].function_name_id == 2);
  CHECK(module.frame_tables.locations[0].end_column == 6);
  REQUIRE(module.frame_tables.frames.size() == 1);
  CHECK(module.frame_tables.frames[0].parent_frame_id == 1);
  CHECK(module.debug_attributes == "{{\"a\"}: {log_mode=default, op_id=3}, {\"b\"}: ({partitioned=true})}");
  CHECK(!module.origin_recovery_table.empty());
}

TEST_CASE("parser: one element for an array is element 0, with a warning", "[parser]") {
  std::vector<Warning> warnings;
  const absl::StatusOr<Module> module = ParseHloText(R"(ENTRY e {
  c = s32[2,2] constant(5)
  d = c64[2] constant((1, -2))
  n = s32[0] constant({})
  ROOT r = s32[3] custom-call(), custom_call_target="t", literal=s8[2] 7
})",
                                                     &warnings);
  INFO(module.status().message());
  REQUIRE(module.ok());
  const auto& instructions = module->entry_computation().instructions;
  CHECK(LiteralToText(*instructions[0].literal) == "{ { 5, 0 }, { 0, 0 } }");
  CHECK(LiteralToText(*instructions[1].literal) == "{(1, -2), (0, 0)}");
  REQUIRE(warnings.size() == 3);
  CHECK(warnings[0].where == SourcePosition{2, 25});
  CHECK(warnings[0].message == "one element for all of s32[2,2]: element 0 is 5, the others are 0");
  CHECK(RenderWarning(warnings[0], "f.hlo", "ENTRY e {\n  c = s32[2,2] constant(5)\n")
            .find("f.hlo:2:25: warning: ") == 0);
  // Each word of the program stays an error where it is none of an array's.
  CHECK(ExitCodeOf(ParseHloText("ENTRY e { ROOT c = s32[0] constant(5) }").status()) == 3);
  CHECK(ExitCodeOf(ParseHloText("ENTRY e { ROOT c = s32[2] constant() }").status()) == 3);
  CHECK(ExitCodeOf(ParseHloText("ENTRY e { ROOT c = s32[2] constant(5, 6) }").status()) == 3);
  CHECK(ExitCodeOf(ParseHloText("ENTRY e { ROOT c = s8[2] constant(300) }").status()) == 3);
  CHECK(ExitCodeOf(ParseHloText("ENTRY e { ROOT c = s8[300000000] constant(3) }").status()) == 3);
}

// What jaxlib 0.10.2 reads.
TEST_CASE("parser: a float that is written -0 is +0, with a warning", "[parser]") {
  const auto warned = [](const std::string& constant) {
    std::vector<Warning> warnings;
    const absl::StatusOr<Module> module =
        ParseHloText("ENTRY e {\n  ROOT c = " + constant + "\n}", &warnings);
    INFO(constant << module.status().message());
    REQUIRE(module.ok());
    std::string text = LiteralToText(*module->entry_computation().root_instruction().literal);
    for (const Warning& warning : warnings)
      text += fmt::format(" {}:{} {}", warning.where.line, warning.where.column, warning.message);
    return text;
  };
  const std::string more =
      " read as the integer 0, so as +0, as in XLA, which prints negative zero alike; negative zero is "
      "written -0.0";
  for (const char* type : {"f32", "bf16", "f64", "f16", "f8e4m3fn", "f8e5m2", "f4e2m1fn", "f6e2m3fn"}) {
    const std::string constant = std::string(type) + "[] constant(";
    const std::string column = std::to_string(12 + constant.size());
    CHECK(warned(constant + "-0)") == "0 2:" + column + " -0 is" + more);
    CHECK(warned(constant + "-00)") == "0 2:" + column + " -0 is" + more);
    for (const char* zero : {"-0.0", "-0e0", "-.0"}) CHECK(warned(constant + zero + ")") == "-0.0");
    CHECK(warned(constant + "0)") == "0");
  }
  CHECK(warned("f32[2] constant({-0, 1})") == "{0, 1} 2:29 -0 is" + more);
  CHECK(warned("f32[2,2] constant({ { -0.0, 1 },\n  { 0, -0 } })") ==
        "{ { -0.0, 1 }, { 0, 0 } } 3:8 -0 is" + more);
  CHECK(warned("f32[3] constant({1, -0, -0})") == "{1, 0, 0} 2:32 2 elements -0 are" + more);
  CHECK(warned("c64[] constant((-0, -0))") == "(0, 0) 2:28 2 elements -0 are" + more);
  CHECK(warned("c128[] constant((-0.0, -0))") == "(-0.0, 0) 2:35 -0 is" + more);
  CHECK(warned("(f32[], s32[]) constant((1, -0))") == "( 1, 0 )");
  // One that has no sign to lose.
  for (const char* type : {"s32", "u8", "f8e4m3fnuz", "f8e5m2fnuz", "f8e4m3b11fnuz"})
    CHECK(warned(std::string(type) + "[] constant(-0)") == "0");
  CHECK(warned("pred[] constant(-0)") == "false");
}

}  // namespace
}  // namespace assay
