#include "check/why/reason.h"

#include <algorithm>
#include <utility>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "hlo/diagnostics.h"

namespace assay {
namespace {

// Outputs that a line of text names.
constexpr size_t kMaxKeys = 6;

Reason CountsOf(const Conformance& output) {
  Reason reason;
  reason.key = output.key;
  reason.plausible = output.plausible;
  reason.implausible = output.implausible;
  reason.undecided = output.unchecked;
  return reason;
}

bool IsInterrupted(const RunOptions& options) { return options.interrupted && options.interrupted(); }

bool LacksRule(const std::vector<DerivedBounds::Note>& notes, const FirstUndecided& first) {
  return std::any_of(notes.begin(), notes.end(), [&](const DerivedBounds::Note& note) {
    return note.instruction == first.instruction && note.op == first.op && note.why == first.why;
  });
}

std::string NextOf(const Reason& reason, const ReasonsFor& comparison) {
  std::string next;
  if (reason.lacks_rule)
    next = fmt::format("the rule that is missing is that of '{}' (docs/adding_an_op.md)", reason.first.op);
  if (reason.undecided > 0 && comparison.estimate.samples == 0)
    next += fmt::format("{}estimate them: --samples 16", next.empty() ? "" : "; ");
  if (!comparison.isolate_command.empty()) {
    return fmt::format("{}{}{}", next, next.empty() ? "" : "; ",
                       fmt::format("check {} instruction alone: {}",
                                   reason.lacks_rule ? "every other" : "every", comparison.isolate_command));
  }
  if (next.empty()) next = "every instruction alone was checked: see what is said of --isolate";
  return next;
}

absl::Status FindFirst(const ReasonsFor& comparison, const BoundedOutputs& bounded,
                       const std::vector<int64_t>& leaves, std::vector<Reason>& reasons) {
  const auto found = FindFirstUndecided(comparison.program, comparison.profile, comparison.arguments, leaves,
                                        comparison.options, comparison.engines, bounded.with_forms);
  if (!found.ok() && IsInterrupted(comparison.options)) return found.status();
  for (size_t k = 0; k < reasons.size(); ++k) {
    FirstUndecided& first = reasons[k].first;
    if (!found.ok() && !bounded.unchecked.empty()) {
      // The search has no values from the host; the first instruction without a rule is known all the same.
      const DerivedBounds::Note& note = bounded.unchecked.front();
      first.instruction = note.instruction;
      first.op = note.op;
      first.why = note.why;
      reasons[k].lacks_rule = LacksRule(bounded.unchecked, first);
    } else if (!found.ok()) {
      first.why = fmt::format("not found out: {}", std::string(found.status().message()));
    } else if (!(*found)[k]) {
      first.why = "not found out: with all values as outputs, every instruction has a bound";
    } else {
      first = *(*found)[k];
      reasons[k].lacks_rule = LacksRule(bounded.unchecked, first);
    }
  }
  return absl::OkStatus();
}

// Of outputs whose samples disagree wildly.
absl::Status FindWherePart(const ReasonsFor& comparison, const std::vector<int64_t>& leaves,
                           std::vector<Reason>& reasons) {
  std::vector<size_t> chaotic;
  std::vector<int64_t> their_leaves;
  for (size_t k = 0; k < reasons.size(); ++k) {
    if (reasons[k].undecided == 0 || comparison.estimate.samples == 0) continue;
    chaotic.push_back(k);
    their_leaves.push_back(leaves[k]);
  }
  if (chaotic.empty()) return absl::OkStatus();
  auto found = FindPartings(comparison.program, comparison.profile, comparison.arguments, their_leaves,
                            comparison.options, comparison.estimate, comparison.engines);
  if (!found.ok()) return IsInterrupted(comparison.options) ? found.status() : absl::OkStatus();
  for (size_t k = 0; k < chaotic.size(); ++k) reasons[chaotic[k]].parting = std::move((*found)[k]);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<Reason>> ReasonsOf(const ReasonsFor& comparison, const BoundedOutputs& bounded,
                                              std::span<const Conformance> outputs) {
  std::vector<Reason> reasons;
  std::vector<int64_t> leaves;
  for (size_t k = 0; k < outputs.size(); ++k) {
    Reason reason = CountsOf(outputs[k]);
    if (reason.plausible + reason.implausible + reason.undecided == 0) continue;
    leaves.push_back(bounded.outputs[k].leaf);
    reasons.push_back(std::move(reason));
  }
  if (reasons.empty()) return reasons;
  if (!bounded.outputs[0].key_of_all.empty()) {  // on several devices
    for (Reason& reason : reasons) {
      reason.first.why =
          "the first instruction of which nothing is proven is searched for on one device alone";
      reason.next = "compare the program of one device";
    }
    return reasons;
  }
  ASSAY_RETURN_IF_ERROR(FindFirst(comparison, bounded, leaves, reasons));
  ASSAY_RETURN_IF_ERROR(FindWherePart(comparison, leaves, reasons));
  for (Reason& reason : reasons) reason.next = NextOf(reason, comparison);
  return reasons;
}

std::string ElementsOf(const Reason& reason) {
  std::vector<std::string> parts;
  if (reason.plausible > 0) parts.push_back(fmt::format("{} plausible", reason.plausible));
  if (reason.implausible > 0) parts.push_back(fmt::format("{} implausible", reason.implausible));
  if (reason.undecided > 0) parts.push_back(fmt::format("{} undecided", reason.undecided));
  const int64_t all = reason.plausible + reason.implausible + reason.undecided;
  return fmt::format("{} element{}", fmt::join(parts, " and "), all == 1 ? "" : "s");
}

std::string PlaceOf(const FirstUndecided& at) {
  std::string place = fmt::format("'%{} = {}'", EscapeControls(at.instruction), at.op);
  if (!at.inside.empty()) place += fmt::format(" in '%{}'", EscapeControls(at.inside));
  if (at.iteration >= 0) place += fmt::format(", iteration {}", at.iteration);
  return place;
}

std::string WhyOf(const Reason& reason) {
  if (reason.first.instruction.empty()) return reason.first.why;
  return fmt::format("from {} on: {}", PlaceOf(reason.first), reason.first.why);
}

std::string PartingOf(const Reason& reason) {
  if (!reason.parting) return "";
  const Parting& parting = *reason.parting;
  if (!parting.at.why.empty())
    return fmt::format("the samples part at {}: {}", PlaceOf(parting.at), parting.at.why);
  return fmt::format(
      "the samples part at {}: its elements differ by up to {:.3g} between correct backends, where the "
      "largest "
      "is {:.3g}",
      PlaceOf(parting.at), parting.spread, parting.magnitude);
}

std::string TextOf(std::span<const Reason> reasons) {
  struct Line {
    std::vector<std::string> keys;
    Reason total;
  };
  std::vector<Line> lines;
  for (const Reason& reason : reasons) {
    const auto same = [&](const Line& line) {
      return WhyOf(line.total) == WhyOf(reason) && PartingOf(line.total) == PartingOf(reason) &&
             line.total.next == reason.next;
    };
    auto line = std::find_if(lines.begin(), lines.end(), same);
    if (line == lines.end()) line = lines.insert(lines.end(), Line{{}, reason});
    if (!line->keys.empty()) {
      line->total.plausible += reason.plausible;
      line->total.implausible += reason.implausible;
      line->total.undecided += reason.undecided;
    }
    line->keys.push_back(EscapeControls(reason.key));
  }
  std::string text;
  for (const Line& line : lines) {
    const size_t shown = std::min(line.keys.size(), kMaxKeys);
    std::string keys = fmt::format(
        "{}", fmt::join(line.keys.begin(), line.keys.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
    if (shown < line.keys.size()) keys += fmt::format(" and {} more", line.keys.size() - shown);
    text += fmt::format("{}: nothing is proven of {} {}\n", keys, ElementsOf(line.total), WhyOf(line.total));
    if (const std::string parting = PartingOf(line.total); !parting.empty())
      text += fmt::format("  {}\n", parting);
    text += fmt::format("  next: {}\n", EscapeControls(line.total.next));
  }
  return text;
}

}  // namespace assay
