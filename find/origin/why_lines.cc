#include "find/origin/why_lines.h"

#include <cmath>
#include <utility>

#include "base/counted.h"
#include "fmt/format.h"

namespace assay {
namespace {

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

}  // namespace

std::vector<WhyLine> LinesOf(const WhyReport& report) {
  std::vector<WhyLine> lines;
  std::vector<bool> shown(report.nodes.size());
  // The stack has nodes yet to be shown and their depths.
  std::vector<std::pair<size_t, size_t>> stack = {{0, 0}};
  while (!stack.empty()) {
    const auto [number, depth] = stack.back();
    stack.pop_back();
    const WhyNode& node = report.nodes[number];
    const bool was_shown = shown[number], is_repeated = was_shown && !node.children.empty();
    lines.push_back({depth, NodeText(node) + (is_repeated ? " (above)" : "")});
    shown[number] = true;
    if (was_shown) continue;
    for (const std::string& whole : node.whole)
      lines.push_back({depth + 1, fmt::format("any element of {}", whole)});
    if (node.more_children > 0)
      lines.push_back({depth + 1, fmt::format("and {} more", Counted(node.more_children, "element"))});
    for (size_t k = node.children.size(); k-- > 0;) stack.emplace_back(node.children[k], depth + 1);
  }
  return lines;
}

std::vector<std::string> NotesOf(const WhyReport& report) {
  std::vector<std::string> notes;
  if (report.left_out > 0) {
    notes.push_back(fmt::format("{} left out, by the limits on their number and on memory",
                                Counted(report.left_out, "step")));
  }
  if (!report.no_shadow.empty()) notes.push_back("no errors are shown: " + report.no_shadow);
  return notes;
}

}  // namespace assay
