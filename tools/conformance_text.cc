#include "tools/conformance_text.h"

#include <cmath>

#include "base/json.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "hlo/diagnostics.h"

namespace assay::cli {
namespace {

using Verdict = IsolatedInstruction::Verdict;

// JSON has no infinity.
std::string JsonNumber(double value) { return std::isfinite(value) ? fmt::format("{}", value) : "null"; }

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

std::string Blamed(std::string_view what, const IsolatedInstruction& of) {
  return fmt::format("{}: {}: {} of {} elements outside\n", what, Described(of), of.result.outside,
                     of.result.elements) +
         WorstOf(of.result);
}

std::string InstructionJson(const IsolatedInstruction& of) {
  return fmt::format(
      "{{\"name\": {}, \"op\": {}, \"shape\": {}, \"inside\": {}, \"verdict\": \"{}\", \"why\": {}, "
      "\"runs\": {}, \"turn\": {}, "
      "\"result\": {}}}",
      JsonString(of.name), JsonString(of.op), JsonString(of.shape), JsonString(of.inside), NameOf(of.verdict),
      JsonString(of.why), of.runs, of.iteration < 0 ? "null" : std::to_string(of.iteration),
      JsonOf(of.result));
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

std::string JsonOf(const Conformance& output) {
  if (!output.error.empty()) return fmt::format("{{\"error\": {}}}", JsonString(output.error));
  std::string text = fmt::format(
      "{{\"elements\": {}, \"inside\": {}, \"outside\": {}, \"undecided\": {}, \"largest_share\": {}, "
      "\"median_bound_ulps\": {}, \"worst\": [",
      output.elements, output.inside, output.outside, output.unchecked, JsonNumber(output.largest_share),
      JsonNumber(output.median_radius_ulps));
  for (size_t k = 0; k < output.worst.size(); ++k) {
    const Conformance::Element& element = output.worst[k];
    text += fmt::format(
        "{}{{\"index\": [{}], \"exact\": {}, \"actual\": {}, \"radius\": {}, \"ulps\": {}, \"share\": {}}}",
        k == 0 ? "" : ", ", fmt::join(element.index, ", "), JsonString(element.exact),
        JsonString(element.actual), JsonNumber(element.radius), element.ulps, JsonNumber(element.share));
  }
  return text + "]}";
}

std::string TextOf(const Conformance& output) {
  const std::string key = EscapeControls(output.key);
  if (!output.error.empty()) return fmt::format("{}: {}\n", key, output.error);
  std::string text = fmt::format("{}: {} elements, {} inside, {} outside, {} undecided", key, output.elements,
                                 output.inside, output.outside, output.unchecked);
  if (output.largest_share > 0)
    text += fmt::format("; inside up to {:.2g} of the bound", output.largest_share);
  text += "\n";
  return text + WorstOf(output);
}

std::string JsonOf(const Isolation& isolation) {
  const auto of = [&](int64_t k) {
    return k < 0 ? "null" : InstructionJson(isolation.instructions[static_cast<size_t>(k)]);
  };
  std::string text =
      fmt::format("{{\"first_wrong\": {}, \"first_differs\": {}, \"backend_runs\": {}, \"notes\": [",
                  of(isolation.first_wrong), of(isolation.first_differs), isolation.backend_runs);
  for (size_t k = 0; k < isolation.notes.size(); ++k)
    text += fmt::format("{}{}", k == 0 ? "" : ", ", JsonString(isolation.notes[k]));
  text += "], \"instructions\": [";
  for (size_t k = 0; k < isolation.instructions.size(); ++k)
    text += fmt::format("{}{}", k == 0 ? "" : ", ", InstructionJson(isolation.instructions[k]));
  return text + "]}";
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
      "isolated: {} instructions: {} conform, {} violate, {} differ only where they are run together, {} "
      "have undecided "
      "elements, {} left out\n",
      all, all - violate - differ - left_out - undecided, violate, differ, undecided, left_out);
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
