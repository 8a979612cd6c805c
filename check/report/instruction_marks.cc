#include "check/report/instruction_marks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/counted.h"
#include "check/isolate/value_sources.h"
#include "check/module_deriver.h"
#include "fmt/format.h"

namespace assay {
namespace {

Severity SeverityOfAll(const Conformance& found) {
  if (found.outside > 0 || !found.error.empty()) return Severity::kOutside;
  JudgedElement worst;
  worst.share = found.largest_share;
  const Severity inside = SeverityOf(worst);
  if (found.implausible > 0) return Severity::kImplausible;
  if (found.unchecked > 0) return std::max(inside, Severity::kUndecided);
  return found.plausible > 0 ? std::max(inside, Severity::kPlausible) : inside;
}

void Add(InstructionMark& mark, const Conformance& found) {
  mark.is_checked = true;
  mark.severity = std::max(mark.severity, SeverityOfAll(found));
  mark.ulps = std::max(mark.ulps, found.largest_ulps);
  mark.share = std::max(mark.share, found.largest_share);
  mark.bound_ulps = std::max(mark.bound_ulps, found.median_radius_ulps);
  mark.elements += found.elements;
  mark.outside += found.outside;
  mark.undecided += found.unchecked;
  mark.implausible += found.implausible;
  mark.plausible += found.plausible;
}

// The instructions of the entry computation that give the outputs, by their keys' order:
// that of the arrays of the root.
std::vector<int32_t> GiversOf(const Module& module) {
  const Computation& entry = module.entry_computation();
  const ValueSources sources(entry);
  const std::vector<const Shape*> leaves = LeafShapes(*entry.root_instruction().shape);
  std::vector<int32_t> givers;
  for (size_t k = 0; k < leaves.size(); ++k) {
    if (leaves[k]->IsArray()) givers.push_back(sources.Of(entry.root)[k].instruction);
  }
  return givers;
}

}  // namespace

InstructionMarks MarksOf(const Module& module, const std::vector<Conformance>& outputs,
                         const std::vector<DerivedBounds::Note>& notes, const Isolation* isolation) {
  InstructionMarks marks;
  for (const Computation& computation : module.computations)
    marks.emplace_back(computation.instructions.size());
  const auto entry = static_cast<size_t>(module.entry.value);
  const std::vector<int32_t> givers = GiversOf(module);
  for (size_t k = 0; k < std::min(givers.size(), outputs.size()); ++k) {
    InstructionMark& mark = marks[entry][static_cast<size_t>(givers[k])];
    mark.output += (mark.output.empty() ? "" : ", ") + outputs[k].key;
    if (isolation != nullptr) continue;
    Add(mark, outputs[k]);
    mark.violates = mark.severity == Severity::kOutside;
  }
  std::multimap<std::string, std::string> why;
  for (const DerivedBounds::Note& note : notes) why.emplace(note.instruction, note.why);
  for (size_t c = 0; c < marks.size(); ++c) {
    for (size_t k = 0; k < marks[c].size(); ++k) {
      const auto found = why.find(module.computations[c].instructions[k].name);
      if (found != why.end()) marks[c][k].why = found->second;
    }
  }
  if (isolation == nullptr) return marks;
  using Verdict = IsolatedInstruction::Verdict;
  for (const IsolatedInstruction& of : isolation->instructions) {
    InstructionMark& mark =
        marks[static_cast<size_t>(of.computation.value)][static_cast<size_t>(of.instruction)];
    if (!of.why.empty()) mark.why = of.why;
    if (of.verdict == Verdict::kLeftOut) {
      mark.is_left_out = true;
      continue;
    }
    Add(mark, of.result);
    mark.runs += of.runs;
    mark.violates = mark.violates || of.verdict == Verdict::kViolates;
    mark.differs_only_in_program = mark.differs_only_in_program || of.verdict == Verdict::kDiffers;
  }
  return marks;
}

std::string UlpsText(int64_t ulps) {
  if (ulps == std::numeric_limits<int64_t>::max()) return "NaN or infinity";
  return Counted(ulps, "ulp");
}

std::string Summary(const InstructionMark& mark) {
  if (mark.is_left_out) return "left out";
  if (!mark.is_checked) return mark.why.empty() ? "" : "undecided from here";
  if (mark.severity == Severity::kOutside) {
    if (mark.outside == 0) return "✗ no output";
    return fmt::format("{} {} outside", mark.violates ? "✗" : "≠", mark.outside);
  }
  if (mark.implausible > 0) return fmt::format("✗ {} implausible", mark.implausible);
  std::string text = mark.ulps == 0 ? "= equal" : UlpsText(mark.ulps);
  if (mark.undecided > 0)
    return "? " + std::string(mark.undecided == mark.elements ? "undecided" : "partly undecided");
  if (mark.plausible > 0) return text + ", plausible";
  if (mark.share > 0) text += fmt::format(", {:.2g} %", 100 * mark.share);
  return text;
}

}  // namespace assay
