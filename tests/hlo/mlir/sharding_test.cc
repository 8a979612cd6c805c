// Shardings and the Shardy dialect: what JAX writes into sharded programs (tests/corpus/sharding) is read
// from text and bytecode as what XLA makes of it, and printed back.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "fmt/format.h"
#include "hlo/load/stablehlo.h"
#include "hlo/manual_region.h"
#include "hlo/mlir/export/export.h"
#include "hlo/mlir/text/parser.h"
#include "hlo/mlir/text/tree_text.h"
#include "hlo/text/parser.h"
#include "hlo/text/printer.h"
#include "tests/hlo/mlir/same_program.h"

namespace assay {
namespace {

constexpr std::string_view kFolder = ASSAY_SOURCE_DIR "/tests/corpus/sharding/";

std::string BytesOf(const std::string& name) {
  std::ifstream file(std::string(kFolder) + name, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::vector<std::string> ProgramNames(std::string_view ending) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(ending) && !name.ends_with(".canonical.mlir"))
      names.push_back(name.substr(0, name.size() - ending.size()));
  }
  std::ranges::sort(names);
  return names;
}

std::string StableHloOf(const Module& module) {
  const absl::StatusOr<std::string> text = ExportStableHlo(module);
  INFO(text.status());
  REQUIRE(text.ok());
  return *text;
}

Module ModuleOf(absl::StatusOr<Module> module) {
  INFO(module.status());
  REQUIRE(module.ok());
  // Shapes are in place only once it is verified.
  const absl::StatusOr<Program> program = Verified(*std::move(module));
  INFO(program.status());
  REQUIRE(program.ok());
  return program->module();
}

// The operations of the Shardy dialect in a text, and its shardings: how often each word occurs.
std::vector<int64_t> Counts(std::string_view text) {
  std::vector<int64_t> counts;
  for (const std::string_view word :
       {"sdy.mesh @", "sdy.manual_computation", "sdy.sharding_constraint", "sdy.sharding =", "sdy.return",
        "sdy.sharding_rule", "partition_id", "all_reduce"}) {
    int64_t count = 0;
    for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) ++count;
    counts.push_back(count);
  }
  return counts;
}

TEST_CASE("sharding: JAX's programs print as StableHLO that reads as the same", "[mlir][sharding]") {
  const std::vector<std::string> names = ProgramNames(".mlir");
  CHECK(names.size() >= 15);
  for (const std::string& name : names) {
    INFO(name);
    const Module module = ModuleOf(ParseStableHloText(BytesOf(name + ".mlir")));
    const std::string printed = StableHloOf(module);
    CHECK(StableHloOf(ModuleOf(ParseStableHloText(printed))) == printed);
    // Through HLO text, which has its own order of instructions.
    const std::string hlo = ModuleToText(module);
    const Module again = ModuleOf(ParseHloText(hlo));
    CHECK(ModuleToText(again) == hlo);
    CHECK(Counts(StableHloOf(again)) == Counts(printed));
  }
}

TEST_CASE("sharding: XLA's HLO of JAX's programs prints as the dialect again", "[mlir][sharding]") {
  for (const std::string& name : ProgramNames(".mlirbc")) {
    INFO(name);
    const std::string printed = StableHloOf(ModuleOf(ParseHloText(BytesOf(name + ".hlo"))));
    INFO(printed);
    CHECK(Counts(printed) == Counts(BytesOf(name + ".mlir")));
    CHECK(StableHloOf(ModuleOf(ParseStableHloText(printed))) == printed);
  }
}

TEST_CASE("sharding: artifacts are read as the text", "[mlir][sharding]") {
  for (const std::string& name : ProgramNames(".mlirbc")) {
    INFO(name);
    const std::string text = StableHloOf(ModuleOf(ParseStableHloText(BytesOf(name + ".mlir"))));
    const std::string printed = StableHloOf(ModuleOf(ParseStableHloBytecode(BytesOf(name + ".mlirbc"))));
    INFO(printed);
    CHECK(Counts(printed) == Counts(text));
  }
}

TEST_CASE("sharding: a manual computation is what XLA makes of it", "[mlir][sharding][SDY-27]") {
  const Module module = ModuleOf(ParseStableHloText(BytesOf("psum.mlir")));
  const Module xla = ModuleOf(ParseHloText(BytesOf("psum.hlo")));
  const std::vector<ManualRegion> regions = ManualRegionsOf(module, module.entry_computation());
  const std::vector<ManualRegion> wanted = ManualRegionsOf(xla, xla.entry_computation());
  REQUIRE(regions.size() == 1);
  REQUIRE(wanted.size() == 1);
  const auto at = [](const Module& of, int32_t index) -> const Instruction& {
    return of.entry_computation().instructions[static_cast<size_t>(index)];
  };
  for (const auto& [ours, theirs] :
       {std::pair(regions[0].enter, wanted[0].enter), std::pair(regions[0].leave, wanted[0].leave),
        std::pair(regions[0].call, wanted[0].call)}) {
    const Instruction& a = at(module, ours);
    const Instruction& b = at(xla, theirs);
    CHECK(a.shape->ToString() == b.shape->ToString());
    for (const std::string_view key :
         {kInShardings, kOutShardings, kManualAxes, std::string_view("inlineable")}) {
      const std::string* const text = FrontendAttribute(a, key);
      const std::string* const other = FrontendAttribute(b, key);
      REQUIRE((text == nullptr) == (other == nullptr));
      if (text != nullptr) CHECK(*text == *other);
    }
  }
  CHECK(module.frontend_attributes[0].second.text == xla.frontend_attributes[0].second.text);
}

std::string Round(const std::string& mlir) { return StableHloOf(ModuleOf(ParseStableHloText(mlir))); }

constexpr std::string_view kMeshLine = "  sdy.mesh @m = <[\"x\"=2, \"y\"=4]>\n";

std::string OnTwoAxes(std::string_view body) {
  return fmt::format(
      "module @p {{\n{}  func.func public @main(%arg0: tensor<16x8xf32>) -> tensor<16x8xf32> {{\n{}  "
      "}}\n}}\n",
      kMeshLine, body);
}

TEST_CASE("sharding: pretty forms are printed as they were", "[mlir][sharding]") {
  const std::string text = OnTwoAxes(
      "    %0 = sdy.sharding_constraint %arg0 <@m, [{\"x\", ?}p1, {}], replicated={\"y\"}> : "
      "tensor<16x8xf32>\n"
      "    %1 = sdy.propagation_barrier %0 allowed_direction=BACKWARD : tensor<16x8xf32>\n"
      "    \"sdy.sharding_group\"(%1) <{group_id = 3 : i64}> : (tensor<16x8xf32>) -> ()\n"
      "    %2 = stablehlo.add %1, %1 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {?}]>]>} : "
      "tensor<16x8xf32>\n"
      "    return %2 : tensor<16x8xf32>\n");
  CHECK(Round(text) == text);
}

TEST_CASE("sharding: what stands after propagation is kept", "[mlir][sharding]") {
  const std::string text = OnTwoAxes(R"(
    %0 = sdy.all_gather [{}, {"y"}] %arg0 out_sharding=<@m, [{}, {}]> : tensor<16x8xf32>
    %1 = sdy.all_slice [{}, {"y"}] %0 out_sharding=<@m, [{}, {"y"}]> : tensor<16x8xf32>
    %2 = sdy.all_to_all [{"y"}: 1->0] %1 out_sharding=<@m, [{"y"}, {}]> : tensor<16x8xf32>
    %3 = sdy.collective_permute %2 out_sharding=<@m, [{"y"}, {}]> : tensor<16x8xf32>
    %4 = sdy.all_reduce {"x"} %3 out_sharding=<@m, [{"y"}, {}]> : tensor<16x8xf32>
    %5 = sdy.reduce_scatter [{}, {"x"}] %4 out_sharding=<@m, [{"y"}, {"x"}]> : tensor<16x8xf32>
    %6 = sdy.reshard %5 <@m, [{"x"}, {}]> : tensor<16x8xf32>
    %7:2 = stablehlo.optimization_barrier {sdy.sharding = #sdy.sharding_per_value<[<@m, [{?}, {?}]>, <@m, [{}, {}]>]>} %6, %6 : tensor<16x8xf32>, tensor<16x8xf32>
    %8 = sdy.data_flow_edge %7#0 sharding=<@m, [{"x"}, {}]> : tensor<16x8xf32>
    %9 = sdy.named_computation<"f">(%8) in_shardings=[<@m, [{"x"}, {}]>] out_shardings=[<@m, [{"x"}, {}]>] (%arg1: tensor<16x8xf32>) {
      sdy.return %arg1 : tensor<16x8xf32>
    } : (tensor<16x8xf32>) -> tensor<16x8xf32>
    %c = sdy.constant dense<1.0> : tensor<16x8xf32>
    %10 = stablehlo.add %9, %c : tensor<16x8xf32>
    sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={"x"} () {
      stablehlo.custom_call @Nothing() {has_side_effect = true} : () -> ()
      sdy.return
    } : () -> ()
    return %10 : tensor<16x8xf32>
)");
  const std::string printed = Round(text);
  CHECK(Round(printed) == printed);
  for (
      const std::string_view part :
      {R"("sdy.all_gather"(%arg0) <{out_sharding = #sdy.sharding<@m, [{}, {}]>, gathering_axes = #sdy<list_of_axis_ref_lists[{}, {"y"}]>}>)",
       R"(slicing_axes = #sdy<list_of_axis_ref_lists[{}, {"y"}]>)",
       R"(params = #sdy<all_to_all_param_list[{"y"}: 1->0]>)",
       R"("sdy.collective_permute"(%2) <{out_sharding = #sdy.sharding<@m, [{"y"}, {}]>}>)",
       R"(reduction_axes = #sdy<axis_ref_list{"x"}>)",
       R"("sdy.reshard"(%5) <{sharding = #sdy.sharding<@m, [{"x"}, {}]>}>)",
       R"({sdy.sharding = #sdy.sharding_per_value<[<@m, [{?}, {?}]>, <@m, [{}, {}]>]>})",
       R"("sdy.data_flow_edge"(%7#0))",
       R"(in_shardings = #sdy.sharding_per_value<[<@m, [{"x"}, {}]>]>, name = "f")",
       R"("sdy.manual_computation"() <{in_shardings = #sdy.sharding_per_value<[]>, manual_axes = #sdy<manual_axes{"x"}>)"}) {
    INFO(printed);
    INFO(part);
    CHECK(printed.find(part) != std::string::npos);
  }
}

TEST_CASE("sharding: arguments and results keep theirs", "[mlir][sharding]") {
  const std::string text =
      "module @p {\n"
      "  sdy.mesh @m = <[\"x\"=2]>\n"
      "  func.func public @main(%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{\"x\"}]>}) -> "
      "(tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{}]>}, tensor<4xf32>) {\n"
      "    %0 = func.call @f(%arg0) : (tensor<4xf32>) -> tensor<4xf32>\n"
      "    return %0, %arg0 : tensor<4xf32>, tensor<4xf32>\n"
      "  }\n"
      "  func.func private @f(%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{?}]>}) -> "
      "(tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{\"x\"}]>}) {\n"
      "    %0 = stablehlo.negate %arg0 : tensor<4xf32>\n"
      "    return %0 : tensor<4xf32>\n"
      "  }\n"
      "}\n";
  CHECK(Round(text) == text);
}

TEST_CASE("sharding: mhlo.sharding is HLO's", "[mlir][sharding]") {
  const std::string text =
      "module @p {\n"
      "  func.func public @main(%arg0: tensor<4xf32> {mhlo.sharding = \"{devices=[2]<=[2]}\"}) -> "
      "(tensor<4xf32> {mhlo.sharding = \"{devices=[2]1,0}\"}, tensor<4xf32> {mhlo.sharding = "
      "\"{replicated}\"}) {\n"
      "    %0 = stablehlo.negate %arg0 {mhlo.sharding = \"{manual}\"} : tensor<4xf32>\n"
      "    return %0, %0 : tensor<4xf32>, tensor<4xf32>\n"
      "  }\n"
      "}\n";
  CHECK(Round(text) == text);
  const std::string hlo = ModuleToText(ModuleOf(ParseStableHloText(text)));
  CHECK(hlo.find("parameter(0), sharding={devices=[2]<=[2]}") != std::string::npos);
  CHECK(hlo.find("), sharding={manual}") != std::string::npos);
  CHECK(hlo.find("sharding={{devices=[2]1,0}, {replicated}}") != std::string::npos);
  const std::string one =
      "module @p {\n"
      "  func.func public @main(%arg0: tensor<4xf32>) -> (tensor<4xf32> {mhlo.sharding = "
      "\"{devices=[2]1,0}\"}) {\n"
      "    return %arg0 : tensor<4xf32>\n"
      "  }\n"
      "}\n";
  CHECK(Round(one) == one);
}

TEST_CASE("sharding: programs with quantized types keep theirs", "[mlir][sharding]") {
  const std::string text =
      "module @main {\n"
      "  \"sdy.mesh\"() {mesh = #sdy.mesh<[\"x\"=2]>, sym_name = \"m\"} : () -> ()\n"
      "  func.func @main(%arg0: tensor<4x!quant.uniform<i8:f32, 5.000000e-01>> {sdy.sharding = "
      "#sdy.sharding<@m, [{\"x\"}]>}) -> (tensor<4x!quant.uniform<i8:f32, 5.000000e-01>>) {\n"
      "    %0 = \"sdy.sharding_constraint\"(%arg0) {sharding = #sdy.sharding<@m, [{?}]>} : "
      "(tensor<4x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<4x!quant.uniform<i8:f32, 5.000000e-01>>\n"
      "    \"func.return\"(%0) : (tensor<4x!quant.uniform<i8:f32, 5.000000e-01>>) -> ()\n"
      "  }\n"
      "}\n";
  const auto tree = mlir::ParseMlirText(text);
  REQUIRE(tree.ok());
  const absl::StatusOr<std::string> printed = mlir::TreeToText(**tree);
  REQUIRE(printed.ok());
  CHECK(*printed == text);
}

TEST_CASE("sharding: strings of older artifacts are the same", "[mlir][sharding][SDY-27]") {
  // JAX of 2025 keeps the dialect in frontend attributes, whose quotes are escaped once more.
  const std::string text = R"(
module @p attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\\\22x\\\22=2]>}"}} {
  func.func public @main(%arg0: tensor<4xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding<@mesh, [{\\\22x\\\22}]>"}}) -> tensor<4xf32> {
    %0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{}]>]>"}} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
})";
  CHECK(Round(text) ==
        "module @p {\n"
        "  sdy.mesh @mesh = <[\"x\"=2]>\n"
        "  func.func public @main(%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}]>}) -> "
        "tensor<4xf32> {\n"
        "    %0 = sdy.sharding_constraint %arg0 <@mesh, [{}]> : tensor<4xf32>\n"
        "    return %0 : tensor<4xf32>\n"
        "  }\n"
        "}\n");
}

// The label of what is wrong with a program.
std::string LabelOf(const std::string& mlir) {
  const absl::StatusOr<Module> module = ParseStableHloText(mlir);
  if (module.ok()) return "read";
  CHECK(ExitCodeOf(module.status()) == 3);
  const std::string message(module.status().message());
  const size_t at = message.find("SDY-V");
  return at == std::string::npos ? message : message.substr(at, message.find(':', at) - at);
}

std::string Manual(std::string_view in, std::string_view out, std::string_view axes, std::string_view local,
                   std::string_view mesh = R"(<["x"=2, "y"=4]>)") {
  return fmt::format(R"(sdy.mesh @m = {}
sdy.mesh @other = <["x"=2, "y"=2]>
sdy.mesh @empty = <[]>
func.func @main(%a: tensor<16x8xf32>) -> tensor<16x8xf32> {{
  %0 = sdy.manual_computation(%a) in_shardings=[{}] out_shardings=[{}] manual_axes={} (%x: {}) {{
    sdy.return %x : {}
  }} : (tensor<16x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}})",
                     mesh, in, out, axes, local, local);
}

TEST_CASE("sharding: what a manual computation must keep to",
          "[mlir][sharding][SDY-V11][SDY-V12][SDY-V13][SDY-V14]") {
  constexpr std::string_view kRows = R"(<@m, [{"x"}, {}]>)";
  constexpr std::string_view kAxes = R"({"x", "y"})";
  CHECK(LabelOf(Manual(kRows, kRows, kAxes, "tensor<8x8xf32>")) == "read");
  CHECK(LabelOf(Manual(kRows, R"(<@m, [{"x", "y"}, {}]>)", R"({"x"})", "tensor<8x8xf32>")) == "read");
  CHECK(LabelOf(Manual(kRows, R"(<@empty, [{}, {}]>)", kAxes, "tensor<8x8xf32>")) == "SDY-V13");
  CHECK(LabelOf(Manual("", kRows, kAxes, "tensor<8x8xf32>")) == "SDY-V11");
  CHECK(LabelOf(Manual(kRows, "", kAxes, "tensor<8x8xf32>")) == "SDY-V11");
  CHECK(LabelOf(Manual(kRows, kRows, R"({"z"})", "tensor<8x8xf32>")) == "SDY-V13");
  CHECK(LabelOf(Manual(R"(<@m, [{}, {}]>)", R"(<@m, [{}, {}]>)", R"({"z"})", "tensor<16x8xf32>")) ==
        "SDY-V12");
  CHECK(LabelOf(Manual(kRows, kRows, kAxes, "tensor<16x8xf32>")) == "SDY-V13");
  CHECK(LabelOf(Manual(R"(<@m, [{"y", "x"}, {}]>)", kRows, R"({"x"})", "tensor<8x8xf32>")) == "SDY-V13");
  CHECK(LabelOf(Manual(R"(<@m, [{}, {"x"}]>)", kRows, kAxes, "tensor<8x8xf32>", R"(<["x"=3, "y"=4]>)")) ==
        "SDY-V13");
  CHECK(LabelOf(Manual(kRows, R"(<@other, [{"x"}, {}]>)", kAxes, "tensor<8x8xf32>")) == "SDY-V14");
  CHECK(LabelOf(Manual(kRows, kRows, "{}", "tensor<16x8xf32>")) == "read");
}

std::string Constraint(std::string_view sharding, std::string_view mesh = R"(<["x"=2, "y"=4]>)") {
  return fmt::format(R"(sdy.mesh @m = {}
func.func @main(%a: tensor<16x8xf32>) -> tensor<16x8xf32> {{
  %0 = sdy.sharding_constraint %a {} : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}})",
                     mesh, sharding);
}

TEST_CASE("sharding: meshes, axes and places", "[mlir][sharding][SDY-V3][SDY-V9]") {
  CHECK(LabelOf(Constraint(R"(<@m, [{"x"}, {"y":(2)2}]>)")) == "read");
  CHECK(LabelOf(Constraint(R"(<@n, [{"x"}, {}]>)")) == "SDY-V3");
  CHECK(LabelOf(Constraint(R"(<@m, [{"x"}]>)")) == "SDY-V4");
  CHECK(LabelOf(Constraint(R"(<@m, [{"x"}, {"x"}]>)")) == "SDY-V5");
  CHECK(LabelOf(Constraint(R"(<@m, [{"y":(1)3}, {}]>)")) == "SDY-V6");
  CHECK(LabelOf(Constraint(R"(<@m, [{}, {}], replicated={"y", "x"}>)")) == "SDY-V7");
  CHECK(LabelOf(Constraint(R"(<@m, [{"x"}p01, {}]>)")) == "SDY-V8");
  CHECK(LabelOf(Constraint(R"(<@m, [{}, {}]>)", R"(<["x"=0]>)")) == "SDY-V1");
  CHECK(LabelOf(Constraint(R"(<@m, [{}, {}]>)", R"(<["x"=2], device_ids=[0, 2]>)")) == "SDY-V2");
  const auto placed = [](std::string_view argument, std::string_view operation) {
    return fmt::format(R"(sdy.mesh @m = <["x"=2]>
func.func @main(%a: tensor<4xf32> {{{}}}) -> tensor<4xf32> {{
  %0 = stablehlo.negate %a {{{}}} : tensor<4xf32>
  return %0 : tensor<4xf32>
}})",
                       argument, operation);
  };
  constexpr std::string_view kOne = R"(sdy.sharding = #sdy.sharding<@m, [{"x"}]>)";
  constexpr std::string_view kList = R"(sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}]>]>)";
  CHECK(LabelOf(placed(kOne, kList)) == "read");
  CHECK(LabelOf(placed(kList, "")) == "SDY-V9");
  CHECK(LabelOf(placed("", kOne)) == "SDY-V9");
  CHECK(LabelOf(placed("", R"(sdy.sharding = #sdy.sharding_per_value<[]>)")) == "SDY-V9");
  CHECK(LabelOf(placed(R"(sdy.sharding = #sdy.sharding<@m, []>)", "")) == "SDY-V4");
}

std::string Inside(std::string_view body, std::string_view attributes = "") {
  return fmt::format(R"(module @m {} {{
sdy.mesh @m = <["x"=2, "y"=4]>
func.func @main(%a: tensor<16x8xf32>) -> tensor<16x8xf32> {{
  %0 = sdy.manual_computation(%a) in_shardings=[<@m, [{{"x"}}, {{}}]>] out_shardings=[<@m, [{{"x"}}, {{}}]>] manual_axes={{"x"}} (%x: tensor<8x8xf32>) {{
    {}
  }} : (tensor<16x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}} }})",
                     attributes, body);
}

TEST_CASE("sharding: inside of a manual computation",
          "[mlir][sharding][SDY-V10][SDY-V12][SDY-V15][SDY-V17]") {
  constexpr std::string_view kReturn = "sdy.return %x : tensor<8x8xf32>";
  CHECK(LabelOf(Inside(kReturn)) == "read");
  const auto constrained = [&](std::string_view axis) {
    return fmt::format("%1 = sdy.sharding_constraint %x <@m, [{{\"{}\"}}, {{}}]> : tensor<8x8xf32>\n{}", axis,
                       kReturn);
  };
  CHECK(LabelOf(Inside(constrained("y"))) == "read");
  CHECK(LabelOf(Inside(constrained("x"))) == "SDY-V10");
  const auto nested = [&](std::string_view axis, std::string_view inner) {
    return fmt::format(
        "%1 = sdy.manual_computation(%x) in_shardings=[<@m, [{{}}, {{}}]>] out_shardings=[<@m, [{{}}, "
        "{{}}]>] "
        "manual_axes={{\"{}\"}} (%z: tensor<8x8xf32>) {{\n{}\n}} : (tensor<8x8xf32>) -> tensor<8x8xf32>\n{}",
        axis, inner, kReturn);
  };
  CHECK(LabelOf(Inside(nested("y", "sdy.return %z : tensor<8x8xf32>"))) == "read");
  CHECK(LabelOf(Inside(nested("x", "sdy.return %z : tensor<8x8xf32>"))) == "SDY-V12");
  CHECK(LabelOf(Inside(nested("y", "sdy.return %x : tensor<8x8xf32>"))).find("not defined") !=
        std::string::npos);
  CHECK(LabelOf(Inside("stablehlo.return %x : tensor<8x8xf32>")) == "SDY-V15");
  CHECK(LabelOf(Inside(kReturn, "attributes {mhlo.num_partitions = 8 : i32}")) == "read");
  CHECK(LabelOf(Inside(kReturn, "attributes {mhlo.num_partitions = 16 : i32}")) == "SDY-V17");
  CHECK(LabelOf(Inside(kReturn, "attributes {mhlo.num_replicas = 2 : i32}")) == "SDY-V17");
}

}  // namespace
}  // namespace assay
