#include "check/report/graph_section.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "base/counted.h"
#include "check/isolate/records.h"
#include "check/report/graph_layout.h"
#include "check/report/html.h"
#include "fmt/format.h"
#include "hlo/text/printer.h"

namespace assay {
namespace {

constexpr size_t kNameOnBox = 21;     // characters that fit
constexpr size_t kShapeOnBox = 25;    // in a smaller type
constexpr size_t kMaxText = 1200;     // of an instruction's text
constexpr int64_t kMaxConstant = 16;  // elements of a constant that are shown

// The computations whose instructions run as steps: the entry computation and what is called from there, by
// fusions, calls, branches and loops. Callers first.
std::vector<ComputationId> DrawnComputations(const Module& module) {
  std::vector<ComputationId> drawn = {module.entry};
  std::set<int32_t> seen = {module.entry.value};
  for (size_t k = 0; k < drawn.size(); ++k) {
    for (const Instruction& instruction : module.computation(drawn[k]).instructions) {
      if (!IsLookedInto(instruction)) continue;
      for (const ComputationId id : CalledComputations(instruction)) {
        if (seen.insert(id.value).second) drawn.push_back(id);
      }
    }
  }
  return drawn;
}

// How much an instruction is to be looked at first.
double ConcernOf(const InstructionMark& mark) {
  const double proven = mark.violates ? 1000 : 0;
  const double source = mark.why.empty() ? 0 : 0.5;
  return proven + 100 * (mark.severity == Severity::kOutside) + source + std::min(mark.share, 2.0) +
         (mark.output.empty() ? 0 : 0.25);
}

// Steps of a scale from "none" to "much".
int StepOf(double value, std::span<const double> limits) {
  int step = 0;
  while (step < static_cast<int>(limits.size()) && value > limits[static_cast<size_t>(step)]) ++step;
  return step;
}

class GraphWriter {
 public:
  GraphWriter(const Module& module, const InstructionMarks& marks, const GraphLimits& limits, PageText& page)
      : module_(module), marks_(marks), limits_(limits), page_(page), drawn_(DrawnComputations(module)) {}

  absl::Status Write() {
    ASSAY_RETURN_IF_ERROR(ReadTexts());
    WriteLegend();
    int64_t left = limits_.most_in_all;
    std::vector<std::string> not_drawn;
    for (const ComputationId id : drawn_) {
      const Computation& computation = module_.computation(id);
      if (left <= 0) {
        not_drawn.push_back(computation.name);
        continue;
      }
      std::vector<int32_t> members(computation.instructions.size());
      std::iota(members.begin(), members.end(), 0);
      const bool is_whole = static_cast<int64_t>(members.size()) <= std::min(limits_.most_in_graph, left);
      if (!is_whole) members = AroundWorst(id, std::min(limits_.most_around, left));
      left -= static_cast<int64_t>(members.size());
      ASSAY_RETURN_IF_ERROR(WriteGraph(id, members, is_whole));
    }
    if (!not_drawn.empty()) {
      page_ += fmt::format(
          "<p>Not drawn: {} more computations, from <code>{}</code> on. The first {} instructions are.</p>\n",
          not_drawn.size(), EscapeHtml(not_drawn[0]), limits_.most_in_all);
    }
    page_ += "</section>\n";
    return WriteTable();
  }

 private:
  // Instructions as text; long constants are left out of it.
  absl::Status ReadTexts() {
    Module copy = module_;
    for (Computation& computation : copy.computations) {
      for (Instruction& instruction : computation.instructions) {
        if (instruction.literal != nullptr && LargerThan(*instruction.shape, kMaxConstant))
          instruction.literal = nullptr;
      }
    }
    texts_.resize(copy.computations.size());
    for (const ComputationId id : drawn_) {
      ASSAY_RETURN_IF_ERROR(page_.Poll());
      std::vector<std::string>& texts = texts_[static_cast<size_t>(id.value)];
      texts = InstructionsToText(copy, copy.computation(id));
      for (std::string& text : texts) text = Shortened(text, kMaxText);
    }
    return absl::OkStatus();
  }
  static bool LargerThan(const Shape& shape, int64_t most) {
    return !shape.IsArray() || shape.num_elements() > most;
  }

  const InstructionMark& MarkOf(ComputationId id, int32_t k) const {
    return marks_[static_cast<size_t>(id.value)][static_cast<size_t>(k)];
  }

  // The worst instructions, and what lies around them, nearest first.
  std::vector<int32_t> AroundWorst(ComputationId id, int64_t most) const {
    constexpr size_t kStarts = 20;
    const std::vector<Instruction>& all = module_.computation(id).instructions;
    std::vector<std::vector<int32_t>> joined(all.size());
    std::vector<int32_t> queue(all.size());
    std::iota(queue.begin(), queue.end(), 0);
    for (size_t k = 0; k < all.size(); ++k) {
      for (const int32_t operand : all[k].operands) {
        joined[k].push_back(operand);
        joined[static_cast<size_t>(operand)].push_back(static_cast<int32_t>(k));
      }
    }
    std::stable_sort(queue.begin(), queue.end(), [&](int32_t a, int32_t b) {
      return ConcernOf(MarkOf(id, a)) > ConcernOf(MarkOf(id, b));
    });
    queue.resize(std::min(queue.size(), kStarts));
    std::set<int32_t> seen(queue.begin(), queue.end());
    for (size_t k = 0; k < queue.size() && static_cast<int64_t>(queue.size()) < most; ++k) {
      for (const int32_t other : joined[static_cast<size_t>(queue[k])]) {
        if (static_cast<int64_t>(queue.size()) < most && seen.insert(other).second) queue.push_back(other);
      }
    }
    return {seen.begin(), seen.end()};
  }

  void WriteLegend() {
    page_ += R"(<section aria-labelledby="h-graph"><h2 id="h-graph">Graph of the program</h2>
<p>Operands stand above their users. A box shows the instruction's name, operation and shape, and what was found: ✗ proven wrong,
≠ differs only where it runs together with others, ? undecided, = equal to the last bit. With the graph focused, arrow keys go to
operands (up), users (down) and neighbours; Enter goes to the instruction's row in the table.</p>
<fieldset class="modes"><legend>Colour of boxes</legend>
<label><input type="radio" name="mode" id="m-share" checked> share of the bound</label>
<label><input type="radio" name="mode" id="m-ulps"> error in ulps</label>
<label><input type="radio" name="mode" id="m-bound"> size of the bound in ulps</label></fieldset>
<ul class="legend of-share" aria-label="Colours: share of the bound">
<li class="k0">equal</li><li class="k1">up to 10 %</li><li class="k2">up to 50 %</li><li class="k3">up to 100 %</li>
<li class="k4">~ plausible</li><li class="k5">? undecided</li><li class="k6">✗ implausible</li><li class="k7">✗ outside</li><li class="kn">not checked</li></ul>
<ul class="legend of-ulps" aria-label="Colours: error in ulps">
<li class="k0">0</li><li class="k1">1</li><li class="k2">2 to 16</li><li class="k3">17 to 256</li><li class="k7">more</li><li class="kn">not checked</li></ul>
<ul class="legend of-bound" aria-label="Colours: size of the bound in ulps, median of the elements">
<li class="k0">exact</li><li class="k1">up to 2</li><li class="k2">up to 32</li><li class="k3">up to 1024</li><li class="k7">more</li><li class="kn">not checked</li></ul>
)";
  }

  static std::string ClassesOf(const InstructionMark& mark) {
    if (!mark.is_checked) {
      const bool is_marked = mark.is_left_out || !mark.why.empty();
      return is_marked ? "n s4 un bn" : "n sn un bn";
    }
    constexpr double kUlps[] = {0, 1, 16, 256}, kBounds[] = {0, 2, 32, 1024};
    const int ulps = StepOf(static_cast<double>(mark.ulps), kUlps);
    const int bound = StepOf(mark.bound_ulps, kBounds);
    return fmt::format("n s{} u{} b{}{}", static_cast<int>(mark.severity), ulps + (ulps == 4),
                       bound + (bound == 4), mark.violates ? " wrong" : "");
  }

  absl::Status WriteGraph(ComputationId id, const std::vector<int32_t>& members, bool is_whole) {
    const Computation& computation = module_.computation(id);
    std::vector<int32_t> number(computation.instructions.size(), -1);
    for (size_t k = 0; k < members.size(); ++k)
      number[static_cast<size_t>(members[k])] = static_cast<int32_t>(k);
    std::vector<GraphEdge> edges;
    for (const int32_t k : members) {
      const Instruction& instruction = computation.instructions[static_cast<size_t>(k)];
      for (const int32_t operand : instruction.operands) {
        const int32_t from = number[static_cast<size_t>(operand)];
        if (from >= 0) edges.push_back({from, number[static_cast<size_t>(k)]});
      }
    }
    ASSAY_ASSIGN_OR_RETURN(const GraphLayout layout,
                           LayOutGraph(static_cast<int32_t>(members.size()), edges));
    const std::string name = EscapeHtml(computation.name);
    page_ += fmt::format("<h3 id=\"c{}\">{} <code>{}</code>: {}</h3>\n", id.value,
                         id == module_.entry ? "Entry computation" : "Computation", name,
                         Counted(computation.instructions.size(), "instruction"));
    if (!is_whole) {
      page_ += fmt::format(
          "<p class=\"note\">Of this computation {} instructions are drawn: the worst, and what lies around "
          "them.</p>\n",
          members.size());
    }
    page_ += fmt::format(
        "<div class=\"graph\"><div class=\"tools\"></div><div class=\"scroll tall\" tabindex=\"0\" "
        "role=\"group\" aria-label=\"Graph of {}\"><svg class=\"net\" width=\"{}\" height=\"{}\" viewBox=\"0 "
        "0 {} {}\" role=\"list\" aria-label=\"Instructions of {}\">\n",
        name, layout.width, layout.height, layout.width, layout.height, name);
    for (const GraphLayout::Line& line : layout.lines) WriteLine(line, members);
    ASSAY_RETURN_IF_ERROR(page_.Poll());
    for (size_t k = 0; k < members.size(); ++k) WriteBox(id, members[k], layout.boxes[k]);
    page_ += "</svg></div><div class=\"detail\" role=\"status\"></div></div>\n";
    return page_.Poll();
  }

  void WriteLine(const GraphLayout::Line& line, const std::vector<int32_t>& members) {
    std::string path = fmt::format("M{} {}", line.points[0].x, line.points[0].y);
    for (size_t k = 1; k < line.points.size(); ++k) {
      const GraphLayout::Point &a = line.points[k - 1], &b = line.points[k];
      if (a.x == b.x) {
        path += fmt::format("V{}", b.y);
      } else {
        const int64_t bend = std::min<int64_t>((b.y - a.y) / 2, 40);
        path += fmt::format("C{} {} {} {} {} {}", a.x, a.y + bend, b.x, b.y - bend, b.x, b.y);
      }
    }
    page_ += fmt::format("<path class=\"l{}\" data-f=\"{}\"", line.straight ? " far" : "",
                         members[static_cast<size_t>(line.from)]);
    if (line.to >= 0) page_ += fmt::format(" data-t=\"{}\"", members[static_cast<size_t>(line.to)]);
    page_ += fmt::format(" d=\"{}\"/>\n", path);
  }

  void WriteBox(ComputationId id, int32_t k, const GraphLayout::Box& box) {
    const Instruction& instruction = module_.computation(id).instructions[static_cast<size_t>(k)];
    const InstructionMark& mark = MarkOf(id, k);
    std::string third = Summary(mark);
    if (!mark.output.empty()) third = mark.output + (third.empty() ? "" : ": ") + third;
    const std::string kind = fmt::format("{} {}", Name(instruction.opcode), instruction.shape->ToString());
    page_ += fmt::format(
        "<a class=\"{}\" role=\"listitem\" href=\"#r{}-{}\" data-k=\"{}\" data-r=\"{}\" "
        "aria-label=\"{}, {}{}{}\">"
        "<rect x=\"{}\" y=\"{}\" width=\"156\" height=\"54\" rx=\"4\"/>",
        ClassesOf(mark), id.value, k, k, box.row, EscapeHtml(instruction.name),
        EscapeHtml(Shortened(kind, 80)), third.empty() ? "" : ", ", EscapeHtml(third), box.x, box.y);
    const int64_t x = box.x + 8;
    page_ += fmt::format("<text class=\"t1\" x=\"{}\" y=\"{}\">{}</text>", x, box.y + 16,
                         EscapeHtml(Shortened(instruction.name, kNameOnBox - 1)));
    page_ += fmt::format("<text class=\"t2\" x=\"{}\" y=\"{}\">{}</text>", x, box.y + 31,
                         EscapeHtml(Shortened(kind, kShapeOnBox - 1)));
    if (!third.empty())
      page_ += fmt::format("<text class=\"t3\" x=\"{}\" y=\"{}\">{}</text>", x, box.y + 46,
                           EscapeHtml(Shortened(third, kShapeOnBox - 1)));
    page_ += "</a>\n";
  }

  // The worst first where not all have room, else as the program has them.
  absl::Status WriteTable() {
    std::vector<std::pair<ComputationId, int32_t>> rows;
    for (const ComputationId id : drawn_) {
      for (size_t k = 0; k < module_.computation(id).instructions.size(); ++k)
        rows.emplace_back(id, static_cast<int32_t>(k));
    }
    const size_t all = rows.size();
    if (all > static_cast<size_t>(limits_.most_rows)) {
      std::stable_sort(rows.begin(), rows.end(), [&](const auto& a, const auto& b) {
        return ConcernOf(MarkOf(a.first, a.second)) > ConcernOf(MarkOf(b.first, b.second));
      });
      rows.resize(static_cast<size_t>(limits_.most_rows));
    }
    page_ += "<section aria-labelledby=\"h-instructions\"><h2 id=\"h-instructions\">Instructions</h2>\n";
    if (rows.size() < all)
      page_ += fmt::format("<p class=\"note\">The worst {} of {} are shown.</p>\n", rows.size(), all);
    page_ +=
        R"(<div class="scroll tall" tabindex="0" role="region" aria-label="Instructions"><table class="instructions">
<caption>What was found of each instruction</caption><thead><tr><th scope="col">Instruction</th><th scope="col">Found</th>
<th scope="col">Elements</th><th scope="col">Outside</th><th scope="col">Undecided</th><th scope="col">Largest error</th>
<th scope="col">Of the bound</th><th scope="col">Bound, median</th><th scope="col">Text</th></tr></thead><tbody>
)";
    for (const auto& [id, k] : rows) {
      WriteRow(id, k);
      ASSAY_RETURN_IF_ERROR(page_.Poll());
    }
    page_ += "</tbody></table></div></section>\n";
    return page_.Poll();
  }

  void WriteRow(ComputationId id, int32_t k) {
    const Computation& computation = module_.computation(id);
    const Instruction& instruction = computation.instructions[static_cast<size_t>(k)];
    const InstructionMark& mark = MarkOf(id, k);
    const std::string inside = id == module_.entry ? "" : EscapeHtml(computation.name) + "/<wbr>";
    std::string found = EscapeHtml(Summary(mark));
    if (!mark.output.empty())
      found = "gives " + EscapeHtml(mark.output) + (found.empty() ? "" : "; ") + found;
    if (!mark.why.empty()) found += (found.empty() ? "" : ": ") + EscapeHtml(mark.why);
    if (mark.runs > 1) found += fmt::format(" ({})", Counted(mark.runs, "run"));
    if (found.empty()) found = "not checked";
    page_ +=
        fmt::format("<tr id=\"r{}-{}\"{}><th scope=\"row\">{}{}</th><td>{}</td>", id.value, k,
                    mark.violates ? " class=\"wrong\"" : "", inside, EscapeHtml(instruction.name), found);
    if (mark.is_checked) {
      page_ += fmt::format(
          "<td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>"
          "<td class=\"n\">{:.3g}</td><td class=\"n\">{:.3g} ulps</td>",
          mark.elements, mark.outside, mark.undecided, UlpsText(mark.ulps), mark.share, mark.bound_ulps);
    } else {
      page_ += "<td></td><td></td><td></td><td></td><td></td><td></td>";
    }
    page_ += fmt::format("<td class=\"text\"><code>{}</code>",
                         EscapeHtml(texts_[static_cast<size_t>(id.value)][static_cast<size_t>(k)]));
    if (IsLookedInto(instruction)) {
      for (const ComputationId callee : CalledComputations(instruction))
        page_ += fmt::format(" <a href=\"#c{}\">{}</a>", callee.value,
                             EscapeHtml(module_.computation(callee).name));
    }
    page_ += "</td></tr>\n";
  }

  const Module& module_;
  const InstructionMarks& marks_;
  const GraphLimits& limits_;
  PageText& page_;
  const std::vector<ComputationId> drawn_;       // callers first
  std::vector<std::vector<std::string>> texts_;  // by computation and instruction
};

}  // namespace

absl::Status WriteGraphs(const Module& module, const InstructionMarks& marks, const GraphLimits& limits,
                         PageText& page) {
  return GraphWriter(module, marks, limits, page).Write();
}

}  // namespace assay
