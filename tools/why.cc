// assay run --why: what an element of an output is made of.
#include "find/origin/why.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/counted.h"
#include "base/json_writer.h"
#include "devices/device_io.h"
#include "fmt/format.h"
#include "hlo/diagnostics.h"
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

std::string NodeText(const WhyNode& node) {
  std::string text = ToText(node.element);
  if (node.error_ulps && *node.error_ulps > 0) {
    text += fmt::format("; {:.3g} ulps off", *node.error_ulps);
    if (node.digits_lost > 0) text += fmt::format(", {:.1f} digits lost", node.digits_lost);
  }
  if (node.sum) {
    text += fmt::format("; sum of {}", Counted(node.sum->terms, "term"));
    if (std::isfinite(node.sum->magnitude))
      text += fmt::format(", sum |term| / |sum| = {:.4g}", node.sum->factor);
    std::string largest;
    for (const double term : node.sum->largest)
      largest += fmt::format("{}{:.6g}", largest.empty() ? "" : ", ", term);
    if (!largest.empty()) text += ", the largest " + largest;
  }
  if (node.is_left_out) text += "; its step was left out";
  return text;
}

// Deeper ones are indented as much.
constexpr size_t kMaxIndent = 40;

// Indented below its reader; an element that was shown with what is below it is not expanded again.
class TreeText {
 public:
  explicit TreeText(const WhyReport& report) : report_(report), shown_(report.nodes.size()) {}

  std::string Of() && {
    // The stack has nodes yet to be shown and their depths.
    std::vector<std::pair<size_t, size_t>> stack = {{0, 0}};
    while (!stack.empty()) {
      const auto [number, depth] = stack.back();
      stack.pop_back();
      const WhyNode& node = report_.nodes[number];
      const std::string indent(2 * std::min(depth, kMaxIndent), ' ');
      const bool was_shown = shown_[number], is_repeated = was_shown && !node.children.empty();
      text_ += indent + NodeText(node) + (is_repeated ? " (above)" : "") + "\n";
      shown_[number] = true;
      if (was_shown) continue;
      for (const std::string& whole : node.whole)
        text_ += fmt::format("{}  any element of {}\n", indent, whole);
      if (node.more_children > 0)
        text_ += fmt::format("{}  and {} more\n", indent, Counted(node.more_children, "element"));
      for (size_t k = node.children.size(); k-- > 0;) stack.emplace_back(node.children[k], depth + 1);
    }
    return std::move(text_);
  }

 private:
  const WhyReport& report_;
  std::vector<bool> shown_;
  std::string text_;
};

std::string WhyText(const WhyReport& report) {
  std::string text = TreeText(report).Of();
  if (report.left_out > 0)
    text += fmt::format("{} left out, by the limits on their number and on memory\n",
                        Counted(report.left_out, "step"));
  if (!report.no_shadow.empty()) text += fmt::format("no errors are shown: {}\n", report.no_shadow);
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
