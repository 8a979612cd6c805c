// assay run --why: what an element of an output is made of.
#include "find/origin/why.h"

#include <algorithm>
#include <string>

#include "base/json_writer.h"
#include "devices/device_io.h"
#include "find/origin/why_lines.h"
#include "tools/commands.h"
#include "tools/described_json.h"

namespace assay::cli {
namespace {

std::string WhyJson(const WhyReport& report, const std::string& element) {
  JsonWriter json;
  const auto write_node = [&](const WhyNode& node) {
    const auto write_sum = [&] {
      if (!node.sum) {
        json.Write(JsonText{"null"});
        return;
      }
      json.Object("terms", node.sum->terms, "magnitude", node.sum->magnitude, "factor", node.sum->factor,
                  "largest", node.sum->largest);
    };
    json.Object(
        "element", [&] { WriteElement(node.element, json); }, "error_ulps", node.error_ulps, "digits_lost",
        node.digits_lost, "sum", write_sum, "children", node.children, "whole", node.whole, "more_children",
        node.more_children, "left_out", node.is_left_out);
  };
  json.Object(
      "why", element, "nodes", [&] { json.Array(report.nodes, write_node); }, "left_out", report.left_out,
      "no_shadow", report.no_shadow);
  return json.text() + "\n";
}

std::string WhyText(const WhyReport& report) {
  // Deeper lines are indented as much.
  constexpr size_t kMaxIndent = 40;
  std::string text;
  for (const WhyLine& line : LinesOf(report))
    text += std::string(2 * std::min(line.depth, kMaxIndent), ' ') + line.text + "\n";
  for (const std::string& note : NotesOf(report)) text += note + "\n";
  return text;
}

}  // namespace

int RunWhyOf(const RunFlags& flags, const LoadedProgram& loaded) {
  const absl::StatusOr<DeviceGrid> grid = GridOf(flags, loaded);
  if (!grid.ok()) return FailIn(loaded, grid.status(), flags.program);
  const absl::StatusOr<OutputElement> element = ParseOutputElement(loaded.program.module(), *grid, flags.why);
  if (!element.ok()) return UsageError("--why: " + std::string(element.status().message()));
  absl::StatusOr<std::vector<DeviceInputs>> inputs = InputsFor(flags, loaded, *grid);
  if (!inputs.ok()) return Fail(inputs.status(), InputsOf(flags));
  RunOptions options = OptionsOf(flags);
  options.interrupted = Interrupted;
  const absl::StatusOr<WhyReport> report =
      ExplainElement(loaded.program, *grid, *std::move(inputs), options, *element);
  if (!report.ok()) return FailIn(loaded, report.status(), flags.program);
  return Write(flags.json ? WhyJson(*report, flags.why) : WhyText(*report)) ? 0 : 5;
}

}  // namespace assay::cli
