// Printing never changes a program: text, proto and StableHLO of it are read, verify, print the same again
// and give the same results, for every golden, the real programs, generated ones, and forms that these lack.
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "base/file_io.h"
#include "check/golden/golden.h"
#include "find/fuzz/generator.h"
#include "fmt/format.h"
#include "hlo/load/load.h"
#include "hlo/mlir/export/export.h"
#include "hlo/proto/export.h"
#include "hlo/text/printer.h"
#include "literal/npz.h"
#include "run/inputs/known_arguments.h"
#include "run/inputs/program_io.h"
#include "run/inputs/random_inputs.h"
#include "run/program.h"
#include "tests/hlo/proto/channel_zero.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

// A program's results by name, or the exit code of the error that it ends with.
struct Outcome {
  int exit_code = 0;
  std::map<std::string, Literal> results;
};

using GiveInputs = std::function<absl::StatusOr<std::vector<Literal>>(const Program&, ProcessState&)>;

Outcome Run(const Program& program, const RunOptions& options, const GiveInputs& inputs) {
  const auto plan = program.PlanFor();
  if (!plan.ok()) return {ExitCodeOf(plan.status()), {}};
  Executor executor(**plan, options);
  absl::StatusOr<std::vector<Literal>> arguments = inputs(program, executor.process());
  if (!arguments.ok()) return {ExitCodeOf(arguments.status()), {}};
  const absl::StatusOr<Literal> root = executor.Run(*std::move(arguments));
  if (!root.ok()) return {ExitCodeOf(root.status()), {}};
  Outcome outcome;
  for (auto& [key, value] : AllResults(*root, executor.process())) outcome.results.emplace(key, value);
  return outcome;
}

std::string Difference(const Outcome& a, const Outcome& b) {
  if (a.exit_code != b.exit_code) return fmt::format("exit code {} and {}", a.exit_code, b.exit_code);
  if (a.results.size() != b.results.size())
    return fmt::format("{} and {} results", a.results.size(), b.results.size());
  for (const auto& [key, value] : a.results) {
    const auto other = b.results.find(key);
    if (other == b.results.end()) return key + " is missing";
    if (!Literal::BitwiseEqual(value, other->second)) return key + " differs";
  }
  return "";
}

struct Counts {
  int programs = 0, protos = 0, stablehlo = 0;
};

// Reads and verifies a printed form; fails the test where it can't.
std::optional<Program> Again(const char* form, const std::string& bytes) {
  INFO(form);
  INFO(bytes.substr(0, 4000));
  absl::StatusOr<Program> program = Program::Load(form, bytes);
  INFO(program.status());
  CHECK(program.ok());
  if (!program.ok()) return std::nullopt;
  return *std::move(program);
}

// What an export refuses is not supported, never an error of the program.
bool IsPrinted(const absl::StatusOr<std::string>& form) {
  INFO(form.status());
  CHECK((form.ok() || ExitCodeOf(form.status()) == 4));
  return form.ok();
}

// The text of StableHLO with '?' is written from what was read, and comes back the same.
std::string FreeText(const char* name, std::string_view bytes) {
  const absl::StatusOr<std::optional<std::string>> text = FreeProgramText(name, bytes);
  INFO(text.status());
  CHECK(text.ok());
  return text.ok() ? text->value_or("") : "";
}

void CheckPrinting(const Program& program, Counts& counts, const RunOptions& options = {},
                   const GiveInputs* inputs = nullptr) {
  ++counts.programs;
  const std::string text = ModuleToText(program.as_written());
  const std::optional<Program> from_text = Again("again.hlo", text);
  if (!from_text) return;
  CHECK(ModuleToText(from_text->as_written()) == text);
  const absl::StatusOr<std::string> proto = ExportProto(program.as_written());
  if (IsPrinted(proto)) {
    ++counts.protos;
    if (const std::optional<Program> from_proto = Again("again.pb", *proto)) {
      CHECK(ModuleToText(from_proto->as_written()) == testing::WithoutChannelZero(text));
      CHECK(ExportProto(from_proto->as_written()).value_or("") == *proto);
    }
  }
  std::optional<Program> from_stablehlo;
  bool has_open_sizes = false;  // '?'
  const absl::StatusOr<std::string> stablehlo = ExportStableHlo(program.as_written());
  if (IsPrinted(stablehlo)) {
    ++counts.stablehlo;
    from_stablehlo = Again("again.mlir", *stablehlo);
    const std::string free_text = FreeText("again.mlir", *stablehlo);
    has_open_sizes = !free_text.empty();
    // What was read has its sizes put in, or lacks them: its module is not what is printed
    // (docs/free_dimensions.md).
    if (has_open_sizes) {
      CHECK(FreeText("again.mlir", free_text) == free_text);
    } else if (from_stablehlo) {
      CHECK(ExportStableHlo(from_stablehlo->as_written()).value_or("") == *stablehlo);
    }
  }
  if (inputs == nullptr) return;
  const Outcome wanted = Run(program, options, *inputs);
  CHECK(Difference(Run(*from_text, options, *inputs), wanted) == "");
  if (!from_stablehlo) return;
  INFO(*stablehlo);
  if (has_open_sizes) {
    // HLO with '?' is not run. StableHLO with it is: what this program gives has nothing to be compared with.
    CHECK(wanted.exit_code == 4);
    return;
  }
  CHECK(Difference(Run(*from_stablehlo, options, *inputs), wanted) == "");
}

// Inputs as the golden has them.
GiveInputs InputsOf(const Golden& golden, const fs::path& path) {
  return
      [&golden, path](const Program& program, ProcessState& process) -> absl::StatusOr<std::vector<Literal>> {
        if (golden.inputs_file.empty()) return ArgumentsFrom(program.verified(), golden.inputs, &process);
        auto arrays = ReadNpzFile(fs::path(path).replace_filename(golden.inputs_file));
        if (!arrays.ok()) return arrays.status();
        return ArgumentsFrom(program.verified(), *arrays, &process);
      };
}

// A golden with free dimensions has one form, StableHLO, and is run as refined for its inputs.
void CheckFreePrinting(const Golden& golden, const std::string& path, const Program& program,
                       const GiveInputs& inputs, Counts& counts) {
  ++counts.programs;
  // Operations of arith and others that are read for their sizes alone are refused.
  const absl::StatusOr<std::optional<std::string>> printed = FreeProgramText(path, golden.program);
  if (!printed.ok()) {
    CHECK(ExitCodeOf(printed.status()) == 4);
    return;
  }
  REQUIRE(*printed);
  ++counts.stablehlo;
  const std::string& text = **printed;
  const std::optional<Program> again = Again("again.mlir", text);
  if (!again) return;
  CHECK(again->has_free_dimensions());
  CHECK(FreeText("again.mlir", text) == text);
  REQUIRE(golden.inputs_file.empty());  // no such golden so far
  const auto run = [&](const Program& free) -> Outcome {
    const auto arguments = KnownArgumentsFrom(free.module(), golden.inputs);
    if (!arguments.ok()) return {ExitCodeOf(arguments.status()), {}};
    const absl::StatusOr<Program> refined = free.RefinedFor(*arguments);
    if (!refined.ok()) return {ExitCodeOf(refined.status()), {}};
    return Run(*refined, golden.options, inputs);
  };
  INFO(text);
  CHECK(Difference(run(*again), run(program)) == "");
}

TEST_CASE("printing: no golden is changed by any form", "[printing]") {
  Counts counts, free_counts;
  for (const std::string& path : FindGoldens({ASSAY_SOURCE_DIR "/golden"}).files) {
    INFO(path);
    const absl::StatusOr<std::string> file = ReadFile(path);
    REQUIRE(file.ok());
    const absl::StatusOr<Golden> golden = ParseGolden(*file);
    if (!golden.ok()) continue;
    const absl::StatusOr<Program> program = Program::Load(path, golden->program);
    if (!program.ok()) continue;  // goldens of what is refused
    const GiveInputs inputs = InputsOf(*golden, path);
    if (program->has_free_dimensions()) {
      CheckFreePrinting(*golden, path, *program, inputs, free_counts);
      continue;
    }
    CheckPrinting(*program, counts, golden->options, &inputs);
  }
  CHECK(counts.programs > 1500);
  CHECK(counts.protos > 1400);
  CHECK(counts.stablehlo > 900);
  CHECK(free_counts.programs > 20);
  CHECK(free_counts.stablehlo >= free_counts.programs - 1);
}

TEST_CASE("printing: no real program is changed by any form", "[printing]") {
  Counts counts;
  for (const auto& entry : fs::directory_iterator(ASSAY_SOURCE_DIR "/golden/programs")) {
    if (!entry.is_directory()) continue;
    for (const char* form : {"program.hlo", "optimized.hlo"}) {
      INFO(entry.path() / form);
      const absl::StatusOr<std::string> text = ReadFile(entry.path() / form);
      REQUIRE(text.ok());
      const absl::StatusOr<Program> program = Program::Load(form, *text);
      REQUIRE(program.ok());
      CheckPrinting(*program, counts);
    }
  }
  CHECK(counts.programs == 30);
  CHECK(counts.protos == 30);
}

TEST_CASE("printing: no generated program is changed by any form", "[printing]") {
  Counts counts;
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    INFO("seed " << seed);
    fuzz::Choices choices(seed);
    fuzz::GeneratedProgram generated = fuzz::GenerateProgram(choices, {.instructions = 12, .cheap = true});
    const absl::StatusOr<Program> made = Program::OfModule(std::move(generated.module));
    REQUIRE(made.ok());
    // Reading gives each instruction of a module a name of its own.
    const absl::StatusOr<Program> program = Program::Load("generated.hlo", ModuleToText(made->module()));
    REQUIRE(program.ok());
    const GiveInputs inputs = [&](const Program&, ProcessState& process) {
      process.when_empty = RandomStream(seed);
      return generated.arguments;
    };
    CheckPrinting(*program, counts, {}, &inputs);
  }
  CHECK(counts.protos == 1000);
  CHECK(counts.stablehlo > 100);
}

// Forms that no golden has, as attributes of one instruction or of the module.
TEST_CASE("printing: no form of groups, channels, places, layouts, aliases and shardings is changed",
          "[printing]") {
  Counts counts;
  const auto check = [&](const std::string& text) {
    INFO(text);
    const absl::StatusOr<Program> program = Program::Load("form.hlo", text);
    INFO(program.status());
    REQUIRE(program.ok());
    CheckPrinting(*program, counts);
  };
  const std::string sum =
      "sum { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b) }\n";
  for (const char* groups :
       {"replica_groups={{0,1},{2,3}}", "replica_groups={}", "replica_groups=[2,2]<=[4]",
        "replica_groups=[2,2]<=[2,2]T(1,0)",
        "replica_groups={{0,1,2,3}}, channel_id=1, use_global_device_ids=true",
        "replica_groups={{3,1},{2,0}}, channel_id=9223372036854775807, use_global_device_ids=true",
        "replica_groups=mesh['x'=2,'y'=2] {'x'}", "replica_groups={{0,1},{2,3}}, constrain_layout=true"}) {
    check(
        fmt::format("HloModule m, replica_count=4\n{}ENTRY e {{ x = f32[4] parameter(0)\n ROOT y = f32[4] "
                    "all-reduce(x), {}, to_apply=sum }}\n",
                    sum, groups));
  }
  for (const char* pairs : {"source_target_pairs={{0,1},{1,0}}", "source_target_pairs={}, channel_id=7",
                            "source_target_pairs={{1,1}}, channel_id=2147483648"}) {
    check(
        fmt::format("HloModule m, replica_count=2, num_partitions=2\nENTRY e {{ x = f32[4] parameter(0)\n "
                    "ROOT y = f32[4] "
                    "collective-permute(x), {} }}\n",
                    pairs));
  }
  for (const char* attributes :
       {"metadata={source_file=\"f\" source_line=2147483647}",
        "metadata={source_file=\"f\" source_line=-2147483648}",
        "metadata={op_name=\"n\" source_file=\"f\" source_line=1 source_end_line=2 source_column=3 "
        "source_end_column=4}",
        "metadata={op_type=\"t\" deduplicated_name=\"d\" scheduling_name=\"s\" metadata_payload=\"p\" "
        "profile_type={0,3}}",
        "metadata={op_name=\"quote \\\" and \\n line\"}",
        "sharding={replicated}",
        "sharding={maximal device=1}",
        "sharding={devices=[2]<=[2]}",
        "sharding={devices=[2]1,0}",
        "sharding={mesh['a'=2], [{'a'}]}",
        "sharding={devices=[1,2]<=[2] last_tile_dim_replicate}",
        "frontend_attributes={a=\"1\",b={\"c\": 2}}",
        "backend_config={\"a\": [1, 2]}",
        "backend_config=\"\\001\\377\"",
        "statistics={visualizing_index=0,a=1.5}",
        "origin={{\"x\" {0}}}",
        "result_accuracy={tolerance={atol=0.1,rtol=0.25,ulps=3}}",
        "result_accuracy={mode=HIGHEST}",
        "result_accuracy={tolerance={ulps=2.5}}",
        "control-predecessors={%x}"}) {
    check(
        fmt::format("HloModule m, num_partitions=2\nENTRY e {{ x = f32[4] parameter(0)\n ROOT y = f32[4] "
                    "tanh(x), {} }}\n",
                    attributes));
  }
  for (const char* shape :
       {"f32[4,6]{0,1}", "f32[4,6]{1,0:T(2,4)(2,1)}", "f32[4,6]{1,0:T(2,*,4)}", "s4[4,6]{1,0:E(4)}",
        "f32[4,6]{1,0:L(8)S(5)SC(1:3)M(16)}", "f32[<=4,6]{0,1}", "f32[?,6]", "f32[0,6]{0,1}",
        "pred[4,6]{0,1:T(8,128)(4,1)}", "c128[4,6]{0,1:S(1)}"}) {
    check(fmt::format("HloModule m\nENTRY e {{ x = {0} parameter(0)\n ROOT y = {0} copy(x) }}\n", shape));
    check(fmt::format("HloModule m\nENTRY e {{ x = {0} parameter(0)\n ROOT y = copy(x) }}\n", shape));
  }
  for (const char* header :
       {"input_output_alias={ {}: (0, {}, must-alias) }", "input_output_alias={ {}: (0, {}) }",
        "buffer_donor={ (0, {}) }", "is_scheduled=true", "alias_passthrough_params=true",
        "entry_computation_layout={(f32[4,6]{0,1})->f32[4,6]{0,1}}", "frontend_attributes={k=\"v\"}",
        "allow_spmd_sharding_propagation_to_parameters={true}", "replica_count=3, num_partitions=2"}) {
    check(fmt::format(
        "HloModule m, {}\nENTRY e {{ x = f32[4,6] parameter(0)\n ROOT y = f32[4,6] negate(x) }}\n", header));
  }
  for (const char* body :
       {"ROOT y = f32[4] fusion(x), kind=kLoop, calls=f, output_to_operand_aliasing={{}: (0, {})}",
        "ROOT y = f32[4] custom-call(x), custom_call_target=\"t\", output_to_operand_aliasing={{}: (0, {})}",
        "s = ((f32[4]), f32[4]) async-start(x), calls=f, output_to_operand_aliasing={{1}: (0, {})}\n ROOT y "
        "= f32[4] async-done(s)",
        "s = ((f32[4]), f32[4]) negate-start(x), output_to_operand_aliasing={{1}: (0, {})}\n ROOT y = f32[4] "
        "negate-done(s)",
        "s = ((f32[4]), f32[4]) custom-call-start(x), custom_call_target=\"t\", "
        "output_to_operand_aliasing={{}: (0, {})}\n "
        "ROOT y = f32[4] custom-call-done(s)",
        "s = ((f32[4]), f32[4]) fusion-start(x), kind=kLoop, calls=f, output_to_operand_aliasing={{}: (0, "
        "{})}\n "
        "ROOT y = f32[4] fusion-done(s)",
        "s = ((f32[4]), f32[4]) negate-start(x), async_execution_thread=\"side\"\n u = ((f32[4]), f32[4]) "
        "negate-update(s), "
        "async_execution_thread=\"side\"\n ROOT y = f32[4] negate-done(u)",
        "t = token[] after-all()\n r = (f32[4], u32[], token[]) recv(t), channel_id=3, "
        "is_host_transfer=true\n "
        "d = (f32[4], token[]) recv-done(r), channel_id=3, is_host_transfer=true\n ROOT y = f32[4] "
        "get-tuple-element(d), index=0",
        "w = f32[4] constant({...})\n ROOT y = f32[4] add(x, w)",
        "w = f32[4] constant(5)\n ROOT y = f32[4] add(x, w)",
        "ROOT y = f32[4] reduce-precision(x), exponent_bits=1, mantissa_bits=2147483647",
        "ROOT y = f32[?] call(x), to_apply=f", "z = f32[?] parameter(1)\n ROOT y = f32[3] tanh(z)"}) {
    check(fmt::format(
        "HloModule m\nf {{ p = f32[4] parameter(0)\n ROOT n = f32[4] negate(p) }}\nENTRY e {{ x = f32[4] "
        "parameter(0)\n {} }}\n",
        body));
  }
  CHECK(counts.programs > 70);
}

}  // namespace
}  // namespace assay
