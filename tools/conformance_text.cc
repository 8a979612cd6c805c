#include "tools/conformance_text.h"

#include <algorithm>
#include <cmath>

#include "base/counted.h"
#include "base/json_writer.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "hlo/diagnostics.h"

namespace assay::cli {
namespace {

using Verdict = IsolatedInstruction::Verdict;

// The worst elements that are outside, or the worst one inside.
std::string WorstOf(const Conformance& output) {
  std::string text;
  for (const Conformance::Element& element : output.worst) {
    const bool outside = !(element.share <= 1);
    if (!outside && output.outside > 0) break;
    text += fmt::format("  {} [{}]: exact {}, actual {} ({} ulps), bound +-{:.6g}, {:.3g} of it\n",
                        outside ? "outside" : "inside", fmt::join(element.index, ","), element.exact,
                        element.actual, element.ulps, element.radius, element.share);
    if (!outside) break;
  }
  return text;
}

// An element that samples were held against: how far off it is, and how far off is plausible.
std::string EstimatedText(std::string_view word, const Conformance::Estimated& element) {
  std::string text = fmt::format("  {} [{}]: exact {}, actual {} ({} ulps)", word,
                                 fmt::join(element.index, ","), element.exact, element.actual, element.ulps);
  if (!std::isfinite(element.distance)) return text + ", no sample is like it\n";
  return text + fmt::format(", {:.3g} off where {:.3g} is plausible: {:.3g} of it\n", element.distance,
                            element.allowed, element.share);
}

// Elements that are implausible, or the one that is nearest to it.
std::string FarthestOf(const Conformance& output) {
  std::string text;
  for (const Conformance::Estimated& element : output.farthest) text += EstimatedText("implausible", element);
  if (text.empty() && output.nearest_to_implausible)
    text += EstimatedText("plausible", *output.nearest_to_implausible);
  return text;
}

std::string_view NameOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kConforms:
      return "conforms";
    case Verdict::kDiffers:
      return "differs";
    case Verdict::kViolates:
      return "violates";
    case Verdict::kLeftOut:
      return "left out";
  }
  return "";
}

bool IsUndecided(const IsolatedInstruction& of) {
  return of.verdict == Verdict::kConforms && of.result.unchecked > 0;
}

// "%add.3 = f32[4] add, in %while.1, iteration 2"
std::string Described(const IsolatedInstruction& of) {
  std::string text = fmt::format("%{} = {} {}", EscapeControls(of.name), of.shape, of.op);
  if (!of.inside.empty()) text += fmt::format(", in %{}", EscapeControls(of.inside));
  if (of.iteration >= 0) text += fmt::format(", iteration {}", of.iteration);
  return text;
}

void WriteInstruction(const IsolatedInstruction& of, JsonWriter& json) {
  json.Object("name", of.name, "op", of.op, "shape", of.shape, "inside", of.inside, "verdict",
              NameOf(of.verdict), "why", of.why, "runs", of.runs, "turn", KnownIteration(of.iteration),
              "result", [&] { WriteJson(of.result, json); });
}

// The lines of instructions of a kind, a few of them.
std::string Listed(const Isolation& isolation, std::string_view what,
                   bool (*is_one)(const IsolatedInstruction&)) {
  constexpr size_t kShown = 5;
  std::string text;
  size_t count = 0;
  for (const IsolatedInstruction& of : isolation.instructions) {
    if (!is_one(of) || ++count > kShown) continue;
    text += fmt::format("{}: {}{}{}\n", what, Described(of), of.why.empty() ? "" : ": ", of.why);
  }
  if (count > kShown) text += fmt::format("{}: {} more\n", what, count - kShown);
  return text;
}

}  // namespace

std::string Blamed(std::string_view what, const IsolatedInstruction& of) {
  return fmt::format("{}: {}: {} of {} outside\n", what, Described(of), of.result.outside,
                     Counted(of.result.elements, "element")) +
         WorstOf(of.result);
}

std::optional<int64_t> KnownIteration(int64_t iteration) {
  return iteration < 0 ? std::nullopt : std::optional(iteration);
}

void WriteJson(const Conformance& output, JsonWriter& json) {
  if (!output.error.empty()) return json.Object("error", output.error);
  const auto write_element = [&](const Conformance::Element& element) {
    json.Object("index", element.index, "exact", element.exact, "actual", element.actual, "radius",
                element.radius, "ulps", element.ulps, "share", element.share);
  };
  const auto write_estimated = [&](const Conformance::Estimated& element) {
    json.Object("index", element.index, "exact", element.exact, "actual", element.actual, "ulps",
                element.ulps, "spread", element.spread, "share", element.share, "distance", element.distance,
                "allowed", element.allowed);
  };
  const auto write_nearest = [&] {
    if (!output.nearest_to_implausible) return json.Write(JsonText{"null"});
    write_estimated(*output.nearest_to_implausible);
  };
  json.Object(
      "elements", output.elements, "inside", output.inside, "outside", output.outside, "undecided",
      output.unchecked, "largest_share", output.largest_share, "median_bound_ulps", output.median_radius_ulps,
      "worst", [&] { json.Array(output.worst, write_element); }, "plausible", output.plausible, "implausible",
      output.implausible, "samples", output.samples, "largest_plausible_share", output.largest_plausible,
      "largest_spread", output.largest_spread, "farthest",
      [&] { json.Array(output.farthest, write_estimated); }, "nearest_to_implausible", write_nearest);
}

std::string TextOf(const Conformance& output) {
  const std::string key = EscapeControls(output.key);
  if (!output.error.empty()) return fmt::format("{}: {}\n", key, output.error);
  std::string text = fmt::format("{}: {}, {} inside, {} outside", key, Counted(output.elements, "element"),
                                 output.inside, output.outside);
  if (output.samples > 0)
    text += fmt::format(", {} plausible, {} implausible", output.plausible, output.implausible);
  text += fmt::format(", {} undecided", output.unchecked);
  if (output.largest_share > 0)
    text += fmt::format("; inside up to {:.2g} of the bound", output.largest_share);
  text += "\n";
  return text + WorstOf(output) + FarthestOf(output);
}

std::string EstimatesText(const std::vector<Conformance>& outputs, const Estimates& estimates) {
  const auto is_estimated = [](const Conformance& output) { return output.samples > 0; };
  if (std::none_of(outputs.begin(), outputs.end(), is_estimated)) return "";
  std::string text = fmt::format(
      "estimated by {} of conforming backends: plausible is up to {} times as far off as they are\n",
      Counted(estimates.samples, "sample"), OutputSamples::kMultiple);
  for (const Conformance& output : outputs) {
    if (output.unchecked == 0 || output.samples == 0) continue;
    text += fmt::format(
        "{}: the samples disagree wildly on {}: correct backends differ by up to {:.3g} there, more than a "
        "quarter of the largest value, so that no tolerance tells right from wrong\n",
        EscapeControls(output.key), Counted(output.unchecked, "element"), output.largest_spread);
  }
  constexpr size_t kShown = 5;
  for (size_t k = 0; k < std::min(kShown, estimates.without_rule.size()); ++k) {
    const DerivedBounds::Note& note = estimates.without_rule[k];
    text += fmt::format("'%{} = {}' has no rule: sampled by the profile's ulps for it\n",
                        EscapeControls(note.instruction), note.op);
  }
  if (estimates.without_rule.size() > kShown)
    text += fmt::format("and {} more have none\n", estimates.without_rule.size() - kShown);
  return text;
}

void AddEstimates(const Estimates& estimates, JsonWriter& json) {
  const auto write_note = [&](const DerivedBounds::Note& note) {
    json.Object("instruction", note.instruction, "op", note.op);
  };
  json.Fields("samples", estimates.samples, "multiple", OutputSamples::kMultiple, "sampled_by_ulps",
              [&] { json.Array(estimates.without_rule, write_note); });
}

void WriteJson(const Isolation& isolation, JsonWriter& json) {
  const auto write_instruction = [&](const IsolatedInstruction& of) { WriteInstruction(of, json); };
  const auto write_at = [&](int64_t k) {
    if (k < 0) return json.Write(JsonText{"null"});
    write_instruction(isolation.instructions[static_cast<size_t>(k)]);
  };
  json.Object(
      "first_wrong", [&] { write_at(isolation.first_wrong); }, "first_differs",
      [&] { write_at(isolation.first_differs); }, "backend_runs", isolation.backend_runs, "notes",
      isolation.notes, "instructions", [&] { json.Array(isolation.instructions, write_instruction); });
}

std::string TextOf(const Isolation& isolation) {
  int64_t violate = 0, differ = 0, left_out = 0, undecided = 0;
  for (const IsolatedInstruction& of : isolation.instructions) {
    violate += of.verdict == Verdict::kViolates;
    differ += of.verdict == Verdict::kDiffers;
    left_out += of.verdict == Verdict::kLeftOut;
    undecided += IsUndecided(of);
  }
  const int64_t all = static_cast<int64_t>(isolation.instructions.size());
  std::string text = fmt::format(
      "isolated: {}: {} conform, {} violate, {} differ only where they are run together, {} "
      "have undecided "
      "elements, {} left out\n",
      Counted(all, "instruction"), all - violate - differ - left_out - undecided, violate, differ, undecided,
      left_out);
  if (isolation.first_wrong >= 0) {
    text +=
        Blamed("first wrong instruction", isolation.instructions[static_cast<size_t>(isolation.first_wrong)]);
  } else if (isolation.first_differs >= 0) {
    text += Blamed("first that differs, and is right when run alone",
                   isolation.instructions[static_cast<size_t>(isolation.first_differs)]);
  }
  text += Listed(isolation, "undecided", IsUndecided);
  text += Listed(isolation, "left out",
                 [](const IsolatedInstruction& of) { return of.verdict == Verdict::kLeftOut; });
  for (const std::string& note : isolation.notes) text += fmt::format("note: {}\n", EscapeControls(note));
  return text;
}

}  // namespace assay::cli
