// Attributes of HLO in StableHLO: which of them come back when a printed program is read again.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file_io.h"
#include "check/golden/golden.h"
#include "evaluator/registry.h"
#include "fmt/format.h"
#include "hlo/mlir/export/export.h"
#include "hlo/mlir/export/exporter.h"
#include "hlo/op_syntax.h"
#include "hlo/text/print_values.h"
#include "run/program.h"

namespace assay {
namespace {

using Place = std::pair<Opcode, Attr>;
using Values = std::map<Place, std::set<std::string>>;

// Computations have other names when they are read again.
std::string TextOf(Attr attr, const AttrValue& value) {
  if (std::holds_alternative<ComputationId>(value)) return "a computation";
  if (const auto* const list = std::get_if<std::vector<ComputationId>>(&value))
    return std::to_string(list->size()) + " computations";
  std::string text;
  print::AppendAttributeValue(attr, value, {}, text);
  return text;
}

Values ValuesOf(const Module& module) {
  Values values;
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions) {
      for (const auto& [attr, value] : instruction.attributes.entries())
        values[{instruction.opcode, attr}].insert(TextOf(attr, value));
    }
  }
  return values;
}

// Attributes that StableHLO has no field for: the export leaves them out or refuses the program.
bool HasNoField(Opcode opcode, Attr attr) {
  if (Name(opcode).ends_with("-start") || Has(opcode, Syntax::kContinuesAsync)) return true;
  switch (opcode) {
    case Opcode::kDomain:
    case Opcode::kFusion:
      return true;
    default:
      break;
  }
  switch (attr) {
    case Attr::kConstrainLayout:
    case Attr::kConvolutionKind:
    case Attr::kHasDynamicRoot:
    case Attr::kInferredDimension:
    case Attr::kMode:
    case Attr::kSparsityConfig:
      return true;
    case Attr::kAlgorithm:
      return opcode == Opcode::kConvolution;
    case Attr::kDimensions:
      return opcode == Opcode::kRaggedAllToAll;
    case Attr::kSliceSizes:
      return opcode == Opcode::kCollectivePermute;
    case Attr::kToApply:
      return opcode == Opcode::kCustomCall;  // comes back as called_computations
    case Attr::kResultAccuracy:
      return StableHloName(opcode).starts_with("chlo.");
    default:
      return false;
  }
}

// Programs with attributes that no golden has which prints as StableHLO.
std::vector<std::string> MorePrograms() {
  std::vector<std::string> texts;
  for (int i = 0; i < kNumOpcodes; ++i) {
    const auto opcode = static_cast<Opcode>(i);
    for (const AttrSpec& spec : DefinitionOf(opcode).attributes) {
      if (spec.attr != Attr::kResultAccuracy) continue;
      texts.push_back(
          fmt::format("HloModule m\nENTRY e {{ x = f32[2] parameter(0)\n ROOT y = f32[2] {}(x), "
                      "result_accuracy={{tolerance={{ulps=3}}}} }}\n",
                      Name(opcode)));
    }
  }
  for (const std::string_view attribute :
       {"batch_group_count=3", "to_apply=f", "called_computations={f}", "padding_type=PADDING_SAME",
        "operand_precision={highest,default}", "schedule=SCHEDULE_LATEST"}) {
    texts.push_back(fmt::format(R"(HloModule m
f {{ a = f32[] parameter(0)
  ROOT b = f32[] negate(a) }}
ENTRY e {{ x = f32[2] parameter(0)
  ROOT y = f32[2] custom-call(x, x), custom_call_target="t", {} }}
)",
                                attribute));
  }
  texts.insert(texts.end(), {R"(HloModule m
ENTRY e {
  x = f32[8] parameter(0)
  i = s32[3,1] parameter(1)
  ROOT y = f32[3] gather(x, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}, indices_are_sorted=true
}
)",
                             R"(HloModule m
ENTRY e {
  x = f32[8] parameter(0)
  ROOT y = (f32[2], s32[2]) topk(x), k=2, largest=true, is_stable=true
}
)",
                             R"(HloModule m
ENTRY e {
  x = f32[1,5,3] parameter(0)
  k = f32[2,3,4] parameter(1)
  ROOT y = f32[1,4,4] convolution(x, k), window={size=2}, dim_labels=b0f_0io->b0f, operand_precision={high,highest}
}
)",
                             R"(HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  y = (f32[2]) tuple(x)
  t = token[] after-all()
  ROOT o = token[] outfeed(y, t), outfeed_shape=(f32[2]{0}), outfeed_config="c"
}
)"});
  return texts;
}

// By place, what values of all programs come back.
void AddKept(const Program& program, Values& kept) {
  const absl::StatusOr<std::string> printed = ExportStableHlo(program.as_written());
  if (!printed.ok()) return;
  const absl::StatusOr<Program> again = Program::Load("again.mlir", *printed);
  if (!again.ok() || again->has_free_dimensions()) return;
  const Values after = ValuesOf(again->as_written());
  for (const auto& [place, texts] : ValuesOf(program.as_written())) {
    const auto found = after.find(place);
    if (found == after.end()) continue;
    for (const std::string& text : texts) {
      if (found->second.contains(text)) kept[place].insert(text);
    }
  }
}

// What a reader would supply where the attribute is left out.
bool IsUsual(std::string_view text) { return text == "false" || text == "{}" || text == "0"; }

TEST_CASE("export: every attribute of HLO comes back from StableHLO, or has no field there",
          "[mlir][export]") {
  Values kept;
  for (const std::string& path : FindGoldens({ASSAY_SOURCE_DIR "/golden"}).files) {
    const absl::StatusOr<std::string> text = ReadFile(path);
    REQUIRE(text.ok());
    const absl::StatusOr<Program> program = Program::Load(path, *text);
    if (program.ok() && !program->has_free_dimensions()) AddKept(*program, kept);
  }
  for (const std::string& text : MorePrograms()) {
    const absl::StatusOr<Program> program = Program::Load("more.hlo", text);
    INFO(text << program.status());
    REQUIRE(program.ok());
    AddKept(*program, kept);
  }
  for (int i = 0; i < kNumOpcodes; ++i) {
    const auto opcode = static_cast<Opcode>(i);
    if (mlir::FindExport(opcode) == nullptr) continue;
    for (const AttrSpec& spec : DefinitionOf(opcode).attributes) {
      INFO(Name(opcode) << " " << Name(spec.attr));
      const std::set<std::string>& texts = kept[{opcode, spec.attr}];
      CHECK(std::ranges::all_of(texts, IsUsual) == HasNoField(opcode, spec.attr));
    }
  }
}

}  // namespace
}  // namespace assay
