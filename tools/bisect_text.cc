#include "tools/bisect_text.h"

#include <algorithm>
#include <limits>

#include "base/counted.h"
#include "base/json_writer.h"
#include "fmt/format.h"
#include "hlo/diagnostics.h"
#include "tools/pair_text.h"

namespace assay::cli {
namespace {

constexpr size_t kMaxSkippedShown = 10, kMaxChangesShown = 20;

std::string_view KindName(PassStep::Kind kind) {
  switch (kind) {
    case PassStep::Kind::kEvaluated:
      return "evaluated";
    case PassStep::Kind::kSameBytes:
      return "same bytes";
    case PassStep::Kind::kSkipped:
      return "skipped";
  }
  return "";
}

// The most elements that the bounds leave undecided at any step.
int64_t MostUndecided(const PassBisection& bisection) {
  int64_t most = 0;
  for (const PassStep& step : bisection.steps) {
    int64_t count = 0;
    for (const OutputChange& output : step.outputs) count += output.undecided;
    most = std::max(most, count);
  }
  return most;
}

std::string SkippedText(const PassBisection& bisection) {
  std::string text;
  size_t count = 0;
  for (const PassStep& step : bisection.steps) {
    if (step.kind != PassStep::Kind::kSkipped || ++count > kMaxSkippedShown) continue;
    text += fmt::format("skipped {}: {}\n", EscapeControls(step.file.file), EscapeControls(step.why));
  }
  if (count > kMaxSkippedShown) text += fmt::format("skipped {} more\n", count - kMaxSkippedShown);
  return text;
}

std::string ChangeText(const PassBisection& bisection, std::string_view what, const PassChange& change) {
  const PassStep& after = bisection.steps[change.after];
  std::string text = fmt::format("{}: {}\n", what, EscapeControls(after.file.Title()));
  text += fmt::format("  before: {}\n  after: {}\n", EscapeControls(bisection.steps[change.before].file.file),
                      EscapeControls(after.file.file));
  return text + TextOf(after.outputs, bisection.has_bounds) + TextOf(change.detail);
}

// Steps after the first change whose outputs differ from those of the step before.
std::string LaterText(const PassBisection& bisection) {
  std::string text;
  size_t count = 0;
  for (size_t k = 0; k < bisection.steps.size(); ++k) {
    const PassStep& step = bisection.steps[k];
    if (!step.changed || k == bisection.first_change || k == bisection.first_outside) continue;
    if (++count > kMaxChangesShown) continue;
    text += fmt::format("bits change again: {}{}\n", EscapeControls(step.file.Title()),
                        step.outside ? ", outside of the bounds" : "");
  }
  if (count > kMaxChangesShown)
    text += fmt::format("bits change again {} more times\n", count - kMaxChangesShown);
  return text;
}

std::string VerdictText(const PassBisection& bisection, const std::string& profile) {
  if (!bisection.first_change) return "no pass changes a bit of the outputs\n";
  if (profile.empty() || bisection.first_outside) return "";
  if (!bisection.has_bounds)
    return fmt::format("no bounds by profile {}: {}\n", profile, bisection.why_no_bounds);
  if (const int64_t undecided = MostUndecided(bisection); undecided > 0) {
    return fmt::format(
        "no output leaves the bounds by profile {} of the program before all passes; up to {} "
        "undecided\n",
        profile, Counted(undecided, "element"));
  }
  return fmt::format(
      "rounding: all outputs stay inside the bounds by profile {} of the program before all passes\n",
      profile);
}

}  // namespace

std::string TextOf(const std::vector<OutputChange>& outputs, bool has_bounds) {
  std::string text;
  for (const OutputChange& output : outputs) {
    if (output.different == 0) continue;
    text += fmt::format("  {}: {} of {} differ", EscapeControls(output.key), output.different,
                        Counted(output.elements, "element"));
    if (output.max_ulps < std::numeric_limits<int64_t>::max())
      text += fmt::format(", by up to {}", Counted(output.max_ulps, "ulp"));
    if (has_bounds) {
      text += fmt::format(": {} inside, {} outside, {} undecided", output.inside, output.outside,
                          output.undecided);
    }
    text += fmt::format("; worst {}\n", output.worst);
  }
  return text;
}

std::string TextOf(const PassDetail& detail) {
  std::string text;
  if (!detail.why.empty()) text += fmt::format("  the two programs were not compared: {}\n", detail.why);
  if (detail.difference) text += TextOf(*detail.difference);
  if (detail.collective) text += TextOf(*detail.collective);
  for (const PairBounds& bounds : detail.bounds) {
    if (bounds.outside > 0 || bounds.undecided > 0)
      text += "programs before and after this pass: " + TextOf(bounds);
  }
  return text;
}

void WriteFields(const PassDetail& detail, JsonWriter& json) {
  const auto write_difference = [&] {
    detail.difference ? WriteJson(*detail.difference, json) : json.Write(JsonText{"null"});
  };
  const auto write_collective = [&] {
    if (!detail.collective) return json.Write(JsonText{"null"});
    const CollectiveDifference& of = *detail.collective;
    json.Object("name", of.name, "op", of.op, "whole_name", of.whole_name, "whole_op", of.whole_op);
  };
  const auto write_bounds = [&](const PairBounds& bounds) { WriteJson(bounds, json); };
  json.Fields(
      "first_difference", write_difference, "collective", write_collective, "bounds",
      [&] { json.Array(detail.bounds, write_bounds); }, "why", detail.why);
}

void WriteJson(const OutputChange& output, JsonWriter& json) {
  json.Object("output", output.key, "elements", output.elements, "different", output.different, "max_ulps",
              output.max_ulps, "worst", output.worst, "inside", output.inside, "outside", output.outside,
              "undecided", output.undecided);
}

std::string TextOf(const PassBisection& bisection, const std::string& profile) {
  std::string text =
      fmt::format("{}: {}, {} distinct, {} evaluated\n", EscapeControls(bisection.module),
                  Counted(bisection.steps.size(), "dump"), bisection.distinct, bisection.evaluated);
  text += SkippedText(bisection);
  if (bisection.baseline > 0) {
    text += fmt::format("compared with {}, the first one that can be evaluated\n",
                        EscapeControls(bisection.steps[bisection.baseline].file.file));
  }
  for (const PassChange& change : bisection.changes) {
    const bool is_first = change.after == bisection.first_change;
    const bool is_outside = change.after == bisection.first_outside;
    text += ChangeText(bisection,
                       is_first && is_outside ? "first change of bits, outside of the bounds"
                       : is_first             ? "first change of bits"
                                              : "first outside of the bounds",
                       change);
  }
  return text + LaterText(bisection) + VerdictText(bisection, profile);
}

void WriteJson(const PassBisection& bisection, JsonWriter& json) {
  const auto write_output = [&](const OutputChange& output) { WriteJson(output, json); };
  const auto write_step = [&](const PassStep& step) {
    json.Object("file", step.file.file, "pass", step.file.pass, "pipeline", step.file.pipeline, "kind",
                KindName(step.kind), "why", step.why, "changed", step.changed, "outside", step.outside,
                "outputs", [&] { json.Array(step.outputs, write_output); });
  };
  const auto write_change = [&](const PassChange& change) {
    json.Begin("{");
    json.Fields("pass", bisection.steps[change.after].file.pass, "before",
                bisection.steps[change.before].file.file, "after", bisection.steps[change.after].file.file);
    WriteFields(change.detail, json);
    json.End("}");
  };
  const auto pass_of = [&](const std::optional<size_t>& step) {
    return step ? std::optional(bisection.steps[*step].file.pass) : std::nullopt;
  };
  json.Object(
      "module", bisection.module, "dumps", bisection.steps.size(), "distinct", bisection.distinct,
      "evaluated", bisection.evaluated, "first_change", pass_of(bisection.first_change), "first_outside",
      pass_of(bisection.first_outside), "has_bounds", bisection.has_bounds, "undecided",
      MostUndecided(bisection), "passes", [&] { json.Array(bisection.changes, write_change); }, "steps",
      [&] { json.Array(bisection.steps, write_step); });
}

}  // namespace assay::cli
