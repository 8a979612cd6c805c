#include "check/report/report.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "base/counted.h"
#include "check/report/html.h"
#include "check/report/page_text.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace assay {
namespace {

// The page's style and script, and their digests, which CMakeLists.txt puts together.
struct PagePart {
  std::string_view text, sha256;
};
constexpr PagePart kStyle =
#include "check/report/style.inc"
    ;
constexpr PagePart kScript =
#include "check/report/script.inc"
    ;

// Outputs whose elements are shown in pictures: those with the worst elements.
constexpr size_t kMaxPictures = 40;
constexpr size_t kMaxNotes = 200;

std::string SourceOf(const PagePart& part) { return fmt::format("'sha256-{}'", Base64OfHex(part.sha256)); }

Severity SeverityOf(const Conformance& output) {
  if (!output.error.empty() || output.outside > 0) return Severity::kOutside;
  if (output.implausible > 0) return Severity::kImplausible;
  if (output.unchecked > 0) return Severity::kUndecided;
  return output.plausible > 0 ? Severity::kPlausible : Severity::kWithin;
}

std::string VerdictOf(const Conformance& output) {
  if (!output.error.empty()) return "✗ " + output.error;
  if (output.outside > 0) return "✗ outside";
  if (output.implausible > 0) return "✗ implausible";
  if (output.unchecked == output.elements && output.elements > 0) return "? undecided";
  if (output.unchecked > 0) return output.inside > 0 ? "? inside, in part undecided" : "? in part undecided";
  if (output.plausible > 0) return output.inside > 0 ? "~ inside, in part plausible" : "~ plausible";
  return "✓ inside";
}

class ReportWriter {
 public:
  ReportWriter(const ReportedComparison& comparison, const GraphLimits& limits)
      : of_(comparison), limits_(limits) {}

  absl::StatusOr<std::string> Write() {
    const std::string title = EscapeHtml(of_.module.name);
    page_ += fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src "
        "{}; script-src "
        "{}; base-uri 'none'; form-action 'none'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"color-scheme\" content=\"light dark\">\n"
        "<link rel=\"icon\" href=\"data:,\">\n"
        "<title>{}: conformance</title>\n<style>{}</style></head>\n<body>\n",
        SourceOf(kStyle), SourceOf(kScript), title, kStyle.text);
    page_ += R"(<a class="skip" href="#main">Skip to the verdict</a>
<header><p class="brand">Assay: is it a bug, or rounding?</p>
)";
    page_ += fmt::format("<h1>{}</h1>\n", title);
    page_ += R"(<fieldset class="theme"><legend>Theme</legend>
<label><input type="radio" name="theme" id="t-system" checked> system</label>
<label><input type="radio" name="theme" id="t-light"> light</label>
<label><input type="radio" name="theme" id="t-dark"> dark</label></fieldset>
</header>
<nav aria-label="Sections"><ul><li><a href="#h-verdict">Verdict</a></li><li><a href="#h-outputs">Outputs</a></li>
<li><a href="#h-worst">Worst elements</a></li>)";
    if (of_.origins != nullptr) page_ += R"(<li><a href="#h-origins">What they are made of</a></li>)";
    page_ += R"(<li><a href="#h-graph">Graph</a></li><li><a href="#h-instructions">Instructions</a></li>
<li><a href="#h-elements">Elements</a></li><li><a href="#h-run">This comparison</a></li></ul></nav>
<main id="main" tabindex="-1">
)";
    WriteVerdict();
    WriteOutputs();
    WriteWorst();
    if (of_.origins != nullptr) WriteOrigins(*of_.origins);
    std::vector<Conformance> judged;
    for (const ReportedOutput& output : of_.outputs) judged.push_back(output.judged);
    const InstructionMarks marks = MarksOf(of_.module, judged, of_.notes, of_.isolation);
    ASSAY_RETURN_IF_ERROR(WriteGraphs(of_.module, marks, limits_, page_));
    ASSAY_RETURN_IF_ERROR(WriteElements());
    WriteRun();
    page_ += fmt::format(
        "</main>\n<footer><p>Written by assay {}.</p></footer>\n<script>{}</script></body></html>\n",
        EscapeHtml(of_.header.version), kScript.text);
    ASSAY_RETURN_IF_ERROR(page_.Poll());
    return std::move(page_).Take();
  }

 private:
  void WriteVerdict() {
    int64_t elements = 0, outside = 0, undecided = 0, missing = 0, plausible = 0, implausible = 0;
    for (const ReportedOutput& output : of_.outputs) {
      elements += output.judged.elements;
      outside += output.judged.outside;
      undecided += output.judged.unchecked;
      plausible += output.judged.plausible;
      implausible += output.judged.implausible;
      missing += !output.judged.error.empty();
    }
    const bool instruction_wrong = of_.isolation != nullptr && !of_.isolation->ok();
    const bool wrong = outside > 0 || missing > 0 || instruction_wrong;
    page_ += fmt::format(
        "<section aria-labelledby=\"h-verdict\"><h2 id=\"h-verdict\">Verdict</h2>\n<p class=\"verdict "
        "k{}\">{}</p>\n<p>",
        wrong             ? 7
        : implausible > 0 ? 6
        : undecided > 0   ? 5
        : plausible > 0   ? 4
                          : 0,
        wrong             ? "✗ Outside of what a correct backend may return: a bug, proven"
        : implausible > 0 ? "✗ Implausible: far from what sampled backends return"
        : undecided > 0   ? "? Nothing is outside, but not everything could be decided"
        : plausible > 0   ? "~ Nothing is outside; what could not be proven is plausible"
                          : "✓ Inside: what differs is rounding");
    page_ += fmt::format(
        "Of {} {} are outside, {} undecided and {} inside of their bounds by profile "
        "<code>{}</code>.",
        Counted(elements, "element"), outside, undecided,
        elements - outside - undecided - plausible - implausible, EscapeHtml(of_.profile.name));
    if (plausible + implausible > 0) {
      page_ += fmt::format(
          " No bound decides the others: by samples of conforming backends {} are plausible and {} "
          "implausible.",
          plausible, implausible);
    }
    if (missing > 0) page_ += fmt::format(" {} outputs are missing or of another shape.", missing);
    page_ += "</p>\n";
    if (of_.isolation != nullptr) WriteIsolation(*of_.isolation);
    WriteReasons();
    WriteNotes();
    page_ += "</section>\n";
  }

  std::string LinkTo(const IsolatedInstruction& of) const {
    std::string text =
        fmt::format("<a href=\"#r{}-{}\"><code>%{}</code></a> = {} {}", of.computation.value, of.instruction,
                    EscapeHtml(of.name), EscapeHtml(Shortened(of.shape, 80)), EscapeHtml(of.op));
    if (!of.inside.empty()) text += fmt::format(", in <code>%{}</code>", EscapeHtml(of.inside));
    if (of.iteration >= 0) text += fmt::format(", iteration {}", of.iteration);
    return text;
  }

  void WriteIsolation(const Isolation& isolation) {
    int64_t violate = 0, differ = 0, left_out = 0, undecided = 0;
    using Verdict = IsolatedInstruction::Verdict;
    for (const IsolatedInstruction& of : isolation.instructions) {
      violate += of.verdict == Verdict::kViolates;
      differ += of.verdict == Verdict::kDiffers;
      left_out += of.verdict == Verdict::kLeftOut;
      undecided += of.verdict == Verdict::kConforms && of.result.unchecked > 0;
    }
    page_ += fmt::format(
        "<p>Every instruction alone, on the backend's own values: of {}, {} violate, {} differ only where "
        "they run together "
        "with others, {} have undecided elements, {} were left out.</p>\n",
        isolation.instructions.size(), violate, differ, undecided, left_out);
    if (isolation.first_wrong >= 0) {
      page_ += fmt::format("<p><strong>First wrong instruction:</strong> {}</p>\n",
                           LinkTo(isolation.instructions[static_cast<size_t>(isolation.first_wrong)]));
    } else if (isolation.first_differs >= 0) {
      page_ += fmt::format("<p><strong>First that differs, and is right when run alone:</strong> {}</p>\n",
                           LinkTo(isolation.instructions[static_cast<size_t>(isolation.first_differs)]));
    }
    for (const std::string& note : isolation.notes)
      page_ += fmt::format("<p class=\"note\">{}</p>\n", EscapeHtml(note));
  }

  // Of each output that is not decided by proof: from where on, why, and what to do.
  void WriteReasons() {
    if (of_.reasons.empty()) return;
    page_ +=
        fmt::format("<h3>Why nothing is proven of {}</h3>\n<dl>\n", Counted(of_.reasons.size(), "output"));
    for (const Reason& reason : of_.reasons) {
      const std::string parting = PartingOf(reason);
      page_ += fmt::format("<div><dt>{}</dt><dd>{} {}.{}{} Next: {}</dd></div>\n", EscapeHtml(reason.key),
                           ElementsOf(reason), EscapeHtml(WhyOf(reason)), parting.empty() ? "" : " ",
                           parting.empty() ? "" : EscapeHtml(parting) + ".", EscapeHtml(reason.next));
    }
    page_ += "</dl>\n";
  }

  void WriteNotes() {
    if (of_.notes.empty()) return;
    page_ += fmt::format("<details><summary>{} without a rule for bounds</summary><ul>\n",
                         Counted(of_.notes.size(), "instruction"));
    for (size_t k = 0; k < std::min(of_.notes.size(), kMaxNotes); ++k) {
      const DerivedBounds::Note& note = of_.notes[k];
      page_ += fmt::format("<li><code>%{} = {}</code>: {}</li>\n", EscapeHtml(note.instruction),
                           EscapeHtml(note.op), EscapeHtml(note.why));
    }
    if (of_.notes.size() > kMaxNotes)
      page_ += fmt::format("<li>and {} more</li>\n", of_.notes.size() - kMaxNotes);
    page_ += "</ul></details>\n";
  }

  void WriteOutputs() {
    page_ += R"(<section aria-labelledby="h-outputs"><h2 id="h-outputs">Outputs</h2>
<div class="scroll" tabindex="0" role="region" aria-label="Outputs"><table><caption>Verdict on each output</caption>
<thead><tr><th scope="col">Output</th><th scope="col">Verdict</th><th scope="col">Shape</th><th scope="col">Elements</th>
<th scope="col">Inside</th><th scope="col">Outside</th><th scope="col">Plausible</th><th scope="col">Implausible</th><th scope="col">Undecided</th><th scope="col">Largest error</th>
<th scope="col">Inside up to</th><th scope="col">Bound, median</th></tr></thead><tbody>
)";
    for (const ReportedOutput& output : of_.outputs) {
      const Conformance& of = output.judged;
      page_ += fmt::format(
          "<tr><th scope=\"row\">{}</th><td><span class=\"chip k{}\">{}</span></td><td>{}</td>"
          "<td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>"
          "<td class=\"n\">{}</td><td class=\"n\">{}</td>"
          "<td class=\"n\">{}</td><td class=\"n\">{:.3g} %</td><td class=\"n\">{:.3g} ulps</td></tr>\n",
          EscapeHtml(of.key), SeverityOf(of) == Severity::kWithin ? 0 : static_cast<int>(SeverityOf(of)),
          EscapeHtml(VerdictOf(of)), EscapeHtml(output.shape), of.elements, of.inside, of.outside,
          of.plausible, of.implausible, of.unchecked, UlpsText(of.largest_ulps), 100 * of.largest_share,
          of.median_radius_ulps);
    }
    page_ += "</tbody></table></div></section>\n";
  }

  static std::string WorstRows(std::string_view name, const Conformance& of) {
    std::string rows;
    for (const Conformance::Element& element : of.worst) {
      const bool outside = !(element.share <= 1);
      const std::string exact = EscapeHtml(element.exact);
      rows += fmt::format(
          "<tr{}><th scope=\"row\">{} [{}]</th><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{} ± "
          "{:.6g}</td>"
          "<td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n",
          outside ? " class=\"wrong\"" : "", EscapeHtml(name), fmt::join(element.index, ", "),
          outside ? "✗ outside" : "inside", exact, exact, element.radius, EscapeHtml(element.actual),
          UlpsText(element.ulps),
          std::isfinite(element.share) ? fmt::format("{:.3g}", element.share)
                                       : std::string("no bound: it has to be exact"));
    }
    for (const Conformance::Estimated& element : of.farthest) {
      rows += fmt::format(
          "<tr class=\"wrong\"><th scope=\"row\">{} [{}]</th><td>✗ implausible</td><td class=\"n\">{}</td>"
          "<td class=\"n\">{} ± {:.6g} is plausible</td><td class=\"n\">{}</td><td class=\"n\">{}</td>"
          "<td class=\"n\">{}</td></tr>\n",
          EscapeHtml(name), fmt::join(element.index, ", "), EscapeHtml(element.exact),
          EscapeHtml(element.exact), element.allowed, EscapeHtml(element.actual), UlpsText(element.ulps),
          std::isfinite(element.share) ? fmt::format("{:.3g} of what is plausible", element.share)
                                       : std::string("no sample is like it"));
    }
    return rows;
  }

  void WriteWorst() {
    page_ += R"(<section aria-labelledby="h-worst"><h2 id="h-worst">Worst elements</h2>
)";
    std::string rows;
    if (of_.isolation != nullptr) {
      for (const int64_t k : {of_.isolation->first_wrong, of_.isolation->first_differs}) {
        if (k < 0) continue;
        const IsolatedInstruction& of = of_.isolation->instructions[static_cast<size_t>(k)];
        rows += WorstRows("%" + of.name + ", alone", of.result);
      }
    }
    for (const ReportedOutput& output : of_.outputs) rows += WorstRows(output.judged.key, output.judged);
    if (rows.empty()) {
      page_ += "<p>No element that could be decided differs from the exact one.</p></section>\n";
      return;
    }
    page_ += R"(<div class="scroll" tabindex="0" role="region" aria-label="Worst elements"><table>
<caption>Elements that are off by most of their bound, at most five of each output</caption><thead><tr>
<th scope="col">Element</th><th scope="col">Verdict</th><th scope="col">Exact</th><th scope="col">Enclosure</th>
<th scope="col">Got</th><th scope="col">Error</th><th scope="col">Share of the bound</th></tr></thead><tbody>
)";
    page_ += rows;
    page_ += "</tbody></table></div></section>\n";
  }

  void WriteOrigins(const std::vector<ReportedOrigin>& origins) {
    page_ += R"(<section aria-labelledby="h-origins"><h2 id="h-origins">What they are made of</h2>
)";
    if (origins.empty()) {
      page_ += "<p>No element is outside or implausible.</p></section>\n";
      return;
    }
    page_ += "<p>The exact values behind the worst element of an output: below each one what it reads.</p>\n";
    for (const ReportedOrigin& origin : origins) {
      page_ += fmt::format("<details open><summary><code>{}</code></summary>\n", EscapeHtml(origin.element));
      size_t open = 0;
      for (const ReportedOrigin::Line& line : origin.lines) {
        for (; open > line.depth + 1; --open) page_ += "</li></ul>";
        page_ += open == line.depth + 1 ? "</li>\n" : "<ul class=\"tree\">\n";
        open = line.depth + 1;
        page_ += fmt::format("<li><code>{}</code>", EscapeHtml(Shortened(line.text, 400)));
      }
      for (; open > 0; --open) page_ += "</li></ul>";
      for (const std::string& note : origin.notes)
        page_ += fmt::format("\n<p class=\"note\">{}</p>", EscapeHtml(note));
      page_ += "\n</details>\n";
    }
    page_ += "</section>\n";
  }

  // Outputs with pictures: the worst ones, in their own order.
  std::vector<size_t> Pictured() const {
    std::vector<size_t> all;
    for (size_t k = 0; k < of_.outputs.size(); ++k) {
      if (of_.outputs[k].picture && of_.outputs[k].judged.elements > 0) all.push_back(k);
    }
    std::stable_sort(all.begin(), all.end(), [&](size_t a, size_t b) {
      const Conformance &x = of_.outputs[a].judged, &y = of_.outputs[b].judged;
      return std::tuple(x.outside > 0, x.implausible > 0, x.largest_share) >
             std::tuple(y.outside > 0, y.implausible > 0, y.largest_share);
    });
    all.resize(std::min(all.size(), kMaxPictures));
    std::sort(all.begin(), all.end());
    return all;
  }

  absl::Status WriteElements() {
    page_ += R"(<section aria-labelledby="h-elements"><h2 id="h-elements">Elements of each output</h2>
<p>How many elements use how much of their bound, how many are how far off, and where in the array they are.</p>
)";
    const std::vector<size_t> pictured = Pictured();
    if (pictured.size() < of_.outputs.size())
      page_ += fmt::format("<p class=\"note\">{} of {} outputs are shown.</p>\n", pictured.size(),
                           of_.outputs.size());
    for (const size_t k : pictured) {
      const ReportedOutput& output = of_.outputs[k];
      page_ += fmt::format(
          "<article aria-labelledby=\"o{}\"><h3 id=\"o{}\">{} <span class=\"shape\">{}</span></h3>\n<div "
          "class=\"pictures\">\n",
          k, k, EscapeHtml(output.judged.key), EscapeHtml(output.shape));
      WriteHistogram("Share of the bound that is used", ElementPicture::kShareBins, output.picture->shares,
                     [](int bin) { return std::string(ElementPicture::ShareBin(bin)); });
      WriteHistogram("Error in ulps", ElementPicture::kUlpBins, output.picture->ulps, ElementPicture::UlpBin);
      WriteMap(*output.picture);
      page_ += "</div></article>\n";
      ASSAY_RETURN_IF_ERROR(page_.Poll());
    }
    page_ += "</section>\n";
    return absl::OkStatus();
  }

  template <size_t n, typename Name>
  void WriteHistogram(std::string_view caption, int bins, const std::array<int64_t, n>& counts,
                      Name name_of) {
    const int64_t most = std::max<int64_t>(1, *std::max_element(counts.begin(), counts.end()));
    page_ += fmt::format(
        "<table class=\"histogram\"><caption>{}</caption><thead class=\"hidden\"><tr><th "
        "scope=\"col\">Bin</th><th "
        "scope=\"col\">Elements</th><th scope=\"col\">Bar</th></tr></thead><tbody>\n",
        caption);
    for (int bin = 0; bin < bins; ++bin) {
      const int64_t count = counts[static_cast<size_t>(bin)];
      // By the root of the count, so that few among many are seen.
      const double length = 100 * std::sqrt(static_cast<double>(count) / static_cast<double>(most));
      page_ += fmt::format(
          "<tr><th scope=\"row\">{}</th><td class=\"n\">{}</td><td class=\"bar\"><svg width=\"100\" "
          "height=\"12\" "
          "aria-hidden=\"true\"><rect width=\"{:.1f}\" height=\"12\"/></svg></td></tr>\n",
          name_of(bin), count, count > 0 ? std::max(2.0, length) : 0);
    }
    page_ += "</tbody></table>\n";
  }

  void WriteMap(const ElementPicture& picture) {
    const HeatMap& map = picture.map;
    const int64_t cell = std::clamp<int64_t>(264 / std::max(map.rows(), map.columns()), 5, 28);
    std::string paths[kNumSeverities];
    std::array<int64_t, kNumSeverities> cells = {};
    for (int64_t row = 0; row < map.rows(); ++row) {
      for (int64_t column = 0; column < map.columns();) {
        const Severity severity = map.At(row, column);
        int64_t end = column + 1;
        while (end < map.columns() && map.At(row, end) == severity) ++end;
        paths[static_cast<size_t>(severity)] +=
            fmt::format("M{} {}h{}v{}h-{}z", column * cell, row * cell, (end - column) * cell, cell,
                        (end - column) * cell);
        cells[static_cast<size_t>(severity)] += end - column;
        column = end;
      }
    }
    std::string label;
    for (int s = 0; s < kNumSeverities; ++s) {
      if (cells[static_cast<size_t>(s)] > 0)
        label += fmt::format("{}{} cells {}", label.empty() ? "" : ", ", cells[static_cast<size_t>(s)],
                             NameOf(static_cast<Severity>(s)));
    }
    const int64_t width = map.columns() * cell, height = map.rows() * cell;
    page_ += fmt::format(
        "<figure><svg class=\"map\" role=\"img\" aria-label=\"{}\" width=\"{}\" height=\"{}\" viewBox=\"0 0 "
        "{} "
        "{}\">",
        label, width, height, width, height);
    for (size_t s = 0; s < kNumSeverities; ++s) {
      if (!paths[s].empty()) page_ += fmt::format("<path class=\"k{}\" d=\"{}\"/>", s, paths[s]);
    }
    page_ +=
        fmt::format("</svg><figcaption>{} lines of {}", map.lines(), Counted(map.line_length(), "element"));
    if (map.rows() < map.lines() || map.columns() < map.line_length())
      page_ += fmt::format(", the worst of each of {} × {} cells", map.rows(), map.columns());
    page_ += fmt::format(": {}.</figcaption>\n", label);
    WriteBlocks(picture.blocks);
    page_ += "</figure>\n";
  }

  // The map in words.
  void WriteBlocks(const HeatMap& blocks) {
    page_ +=
        R"(<details><summary>The map as a table</summary><div class="scroll" tabindex="0" role="region" aria-label="The map as a table"><table>
<caption>The worst element of each block: lines below each other, elements of lines side by side</caption><thead><tr><th scope="col">Lines</th>)";
    const auto range = [](std::pair<int64_t, int64_t> part) {
      return part.second - part.first <= 1 ? fmt::format("{}", part.first)
                                           : fmt::format("{} to {}", part.first, part.second - 1);
    };
    for (int64_t column = 0; column < blocks.columns(); ++column)
      page_ += fmt::format("<th scope=\"col\">{}</th>", range(blocks.ElementsOf(column)));
    page_ += "</tr></thead><tbody>\n";
    for (int64_t row = 0; row < blocks.rows(); ++row) {
      page_ += fmt::format("<tr><th scope=\"row\">{}</th>", range(blocks.LinesOf(row)));
      for (int64_t column = 0; column < blocks.columns(); ++column)
        page_ += fmt::format("<td>{}</td>", NameOf(blocks.At(row, column)));
      page_ += "</tr>\n";
    }
    page_ += "</tbody></table></div></details>\n";
  }

  void Fact(std::string_view name, const std::string& value) {
    if (!value.empty()) page_ += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", name, EscapeHtml(value));
  }

  void WriteRun() {
    const ReportHeader& header = of_.header;
    page_ += "<section aria-labelledby=\"h-run\"><h2 id=\"h-run\">This comparison</h2>\n<dl>\n";
    Fact("Program", header.program);
    Fact("Module", of_.module.name);
    Fact("Inputs", header.inputs);
    Fact("Compared", header.actual);
    Fact("Exact values by engine", header.engine);
    Fact("Command", header.command);
    Fact("Assay", header.version);
    if (of_.isolation != nullptr)
      Fact("Runs of the backend to isolate", fmt::format("{}", of_.isolation->backend_runs));
    page_ += "</dl>\n";
    WriteProfile();
    page_ += "</section>\n";
  }

  static std::string TypesIn(TypeSet set) {
    std::string text;
    for (int t = 0; t < kNumElementTypes; ++t) {
      const auto type = static_cast<ElementType>(t);
      if (set.Has(type)) text += fmt::format("{}{}", text.empty() ? "" : ", ", Name(type));
    }
    return text;
  }

  // "made_by" as "Profile made by".
  static std::string NameOfOrigin(std::string key) {
    std::replace(key.begin(), key.end(), '_', ' ');
    return "Profile " + key;
  }

  // What the profile lets a backend do with what the program has.
  void WriteProfile() {
    const Profile& profile = of_.profile;
    std::set<std::pair<Opcode, ElementType>> used;
    std::set<ElementType> types;
    for (const Computation& computation : of_.module.computations) {
      for (const Instruction& instruction : computation.instructions) {
        if (!instruction.shape->IsArray()) continue;
        ElementType type = instruction.shape->element_type();
        if (IsComplex(type)) type = ComponentType(type);
        if (!IsFloat(type)) continue;
        used.emplace(instruction.opcode, type);
        types.insert(type);
      }
    }
    page_ += fmt::format("<h3>Profile <code>{}</code>, as far as the program has to do with it</h3>\n<dl>\n",
                         EscapeHtml(profile.name));
    for (const Profile::Origin& line : profile.origin) Fact(NameOfOrigin(line.key), line.text);
    for (const ElementType type : types) {
      if (profile.dot_accumulators[static_cast<size_t>(type)] != type)
        Fact(fmt::format("Sums of {} products are kept in", Name(type)),
             std::string(Name(profile.dot_accumulators[static_cast<size_t>(type)])));
      if (profile.accumulators[static_cast<size_t>(type)] != type)
        Fact(fmt::format("Sums of {} are kept in", Name(type)),
             std::string(Name(profile.accumulators[static_cast<size_t>(type)])));
      if (profile.dot_input_bits[static_cast<size_t>(type)] != 0)
        Fact(fmt::format("Bits that dots keep of {} operands", Name(type)),
             fmt::format("{}", profile.dot_input_bits[static_cast<size_t>(type)]));
      if (profile.tensor_core_bits[static_cast<size_t>(type)] != 0)
        Fact(fmt::format("Fraction bits of sums of {} products on tensor cores", Name(type)),
             fmt::format("{}", profile.tensor_core_bits[static_cast<size_t>(type)]));
    }
    Fact("Results may stay in a wider type", TypesIn(profile.keeps_precision));
    Fact("Subnormal numbers may be taken for zero", TypesIn(profile.flushes));
    Fact("Products that are added may stay unrounded", profile.contracts ? "yes" : "no");
    Fact("Dots and convolutions are computed once for all readers", profile.stores_dots ? "yes" : "no");
    Fact("The state of loops is stored between iterations", profile.stores_loop_state ? "yes" : "no");
    page_ += R"(</dl>
<div class="scroll" tabindex="0" role="region" aria-label="Ulps of functions"><table><caption>Ulps that results of operations may be off by</caption>
<thead><tr><th scope="col">Operation</th><th scope="col">Type</th><th scope="col">Ulps</th></tr></thead><tbody>
)";
    for (const auto& [op, type] : used) {
      if (profile.UlpsOf(op, type) != 0.5)
        page_ += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td class=\"n\">{}</td></tr>\n",
                             Name(op), Name(type), profile.UlpsOf(op, type));
    }
    page_ +=
        "<tr><th scope=\"row\">all others</th><td>any</td><td "
        "class=\"n\">0.5</td></tr>\n</tbody></table></div>\n";
  }

  const ReportedComparison& of_;
  const GraphLimits& limits_;
  PageText page_;
};

}  // namespace

ReportedOutput JudgeForReport(const BoundedOutput& output, const Literal* actual) {
  ReportedOutput reported;
  reported.shape = output.exact.shape().ToString();
  ElementPicture picture(output.exact.shape().sizes());
  reported.judged =
      CompareToBounds(output, actual, [&](const JudgedElement& element) { picture.Add(element); });
  if (reported.judged.error.empty()) reported.picture = std::move(picture);
  return reported;
}

absl::StatusOr<std::string> HtmlReport(const ReportedComparison& comparison, const GraphLimits& limits) {
  return ReportWriter(comparison, limits).Write();
}

}  // namespace assay
