#include "find/programs/first_difference.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "evaluator/registry.h"
#include "literal/compare.h"
#include "literal/literal_text.h"

namespace assay {
namespace {

constexpr size_t kShownElements = 5;

// An operation with its operands.
struct Application {
  Opcode opcode;
  ValueDigests operands;
  friend bool operator<(const Application& a, const Application& b) {
    return a.opcode != b.opcode ? a.opcode < b.opcode : a.operands < b.operands;
  }
};

struct RunCounterpart {
  size_t run = 0;  // of the first trace
  MatchedBy by = MatchedBy::kName;
};

class Comparer {
 public:
  Comparer(const Module& first, const ValueTrace& first_trace, const Module& second,
           const ValueTrace& second_trace)
      : first_(first),
        second_(second),
        first_trace_(first_trace),
        second_trace_(second_trace),
        matcher_(first, second) {
    values_.insert(first_trace.parameters.begin(), first_trace.parameters.end());
    for (size_t r = 0; r < first_trace.runs.size(); ++r) {
      const ValueRun& run = first_trace.runs[r];
      values_.insert(run.results.begin(), run.results.end());
      applications_[ApplicationOf(first_, run)].push_back(r);
      runs_[{run.of, run.ordinal}] = r;
      ++counts_[run.of];
    }
  }

  const Instruction& SecondOf(size_t run) const { return InstructionOf(second_, second_trace_.runs[run].of); }

  std::optional<RunCounterpart> CounterpartOf(size_t r) const {
    const ValueRun& run = second_trace_.runs[r];
    if (const std::optional<ModuleMatcher::Match> match = matcher_.FirstOf(run.of)) {
      const auto it = runs_.find({match->first, run.ordinal});
      if (it != runs_.end()) return RunCounterpart{it->second, match->by};
    }
    if (run.operands.empty()) return std::nullopt;
    const auto alike = applications_.find(ApplicationOf(second_, run));
    if (alike == applications_.end()) return std::nullopt;
    for (const size_t candidate : alike->second) {
      const Instruction& of = InstructionOf(first_, first_trace_.runs[candidate].of);
      if (Shape::Compatible(*of.shape, *SecondOf(r).shape))
        return RunCounterpart{candidate, MatchedBy::kOperands};
    }
    return std::nullopt;
  }

  bool Differs(size_t r) const {
    const ValueRun& run = second_trace_.runs[r];
    if (const auto alike = applications_.find(ApplicationOf(second_, run)); alike != applications_.end()) {
      for (const size_t candidate : alike->second) {
        if (first_trace_.runs[candidate].results == run.results) return false;
      }
    }
    if (const std::optional<RunCounterpart> counterpart = CounterpartOf(r)) {
      const ValueRun& other = first_trace_.runs[counterpart->run];
      const bool is_same_work = InstructionOf(first_, other.of).opcode == SecondOf(r).opcode;
      if (is_same_work && IsNamed(*counterpart) && other.operands == run.operands)
        return other.results != run.results;
    }
    return !std::all_of(run.results.begin(), run.results.end(),
                        [&](const ValueDigest& value) { return values_.contains(value); });
  }

  // Evaluations that differ, and whose values go into the outputs through others that differ; in order.
  std::vector<size_t> DifferingOnTheWayTo(const std::vector<OutputPair>& outputs) const {
    std::set<ValueDigest> wanted;
    for (const OutputPair& output : outputs) wanted.insert(output.second);
    std::vector<size_t> found;
    for (size_t r = second_trace_.runs.size(); r-- > 0;) {
      const ValueRun& run = second_trace_.runs[r];
      const bool leads_there = std::any_of(run.results.begin(), run.results.end(),
                                           [&](const ValueDigest& value) { return wanted.contains(value); });
      if (!leads_there || !Differs(r)) continue;
      wanted.insert(run.operands.begin(), run.operands.end());
      found.push_back(r);
    }
    std::reverse(found.begin(), found.end());
    return found;
  }

  // Values that a pass may bring in and that mean nothing by themselves.
  std::optional<size_t> FirstOfMeaning(const std::vector<size_t>& differing) const {
    std::set<ValueDigest> passed_over;
    for (const size_t r : differing) {
      const ValueRun& run = second_trace_.runs[r];
      if (!IsPassedOver(r, passed_over)) return r;
      passed_over.insert(run.results.begin(), run.results.end());
    }
    return differing.empty() ? std::nullopt : std::optional(differing[0]);
  }

  // The evaluation that gave a value last.
  static std::optional<size_t> LastWith(const ValueTrace& trace, const ValueDigest& value) {
    for (size_t r = trace.runs.size(); r-- > 0;) {
      const ValueDigests& results = trace.runs[r].results;
      if (std::find(results.begin(), results.end(), value) != results.end()) return r;
    }
    return std::nullopt;
  }

  ShownRun ShowFirst(size_t r) const {
    return Show(first_, first_trace_.runs[r], counts_.at(first_trace_.runs[r].of));
  }
  ShownRun ShowSecond(size_t r) const {
    const ValueRun& run = second_trace_.runs[r];
    return Show(second_, run,
                std::count_if(second_trace_.runs.begin(), second_trace_.runs.end(),
                              [&](const ValueRun& other) { return other.of == run.of; }));
  }

 private:
  static Application ApplicationOf(const Module& module, const ValueRun& run) {
    return {InstructionOf(module, run.of).opcode, run.operands};
  }
  static bool IsNamed(const RunCounterpart& of) {
    return of.by == MatchedBy::kName || of.by == MatchedBy::kStructure;
  }

  bool IsPassedOver(size_t r, const std::set<ValueDigest>& passed_over) const {
    const ValueRun& run = second_trace_.runs[r];
    const std::optional<RunCounterpart> counterpart = CounterpartOf(r);
    if (counterpart && counterpart->by == MatchedBy::kName) return false;
    if (run.operands.empty()) return true;
    if (!DefinitionOf(SecondOf(r).opcode).moves.any()) return false;
    return !counterpart || std::any_of(run.operands.begin(), run.operands.end(),
                                       [&](const ValueDigest& value) { return passed_over.contains(value); });
  }

  static ShownRun Show(const Module& module, const ValueRun& run, int64_t runs) {
    const Instruction& instruction = InstructionOf(module, run.of);
    return {run.of.computation == module.entry ? "" : module.computation(run.of.computation).name,
            instruction.name,
            std::string(Name(instruction.opcode)),
            instruction.shape->ToString(),
            run.ordinal,
            runs};
  }

  const Module& first_;
  const Module& second_;
  const ValueTrace& first_trace_;
  const ValueTrace& second_trace_;
  const ModuleMatcher matcher_;
  std::set<ValueDigest> values_;  // of the first program
  std::map<Application, std::vector<size_t>> applications_;
  std::map<std::pair<InstructionRef, int64_t>, size_t> runs_;  // by instruction and ordinal
  std::map<InstructionRef, int64_t> counts_;
};

DimVector IndexOf(const Shape& shape, int64_t position) {
  DimVector index(static_cast<size_t>(shape.rank()));
  for (int64_t d = shape.rank(); d-- > 0;) {
    index[static_cast<size_t>(d)] = position % shape.size(d);
    position /= shape.size(d);
  }
  return index;
}

void CompareArrays(const Literal& first, const Literal& second, InstructionPair& pair) {
  if (!Shape::Compatible(first.shape(), second.shape())) return;
  const Comparison comparison = CompareLiterals(first, second, {.bitwise = true});
  const ElementType type = first.shape().element_type();
  const size_t width = static_cast<size_t>(Bytes(type));
  for (const LeafComparison& leaf : comparison.leaves) {
    pair.elements += leaf.elements;
    pair.different += leaf.different;
    pair.max_ulps = std::max(pair.max_ulps, leaf.max_ulps);
  }
  for (int64_t i = 0; i < first.shape().num_elements() && pair.shown.size() < kShownElements; ++i) {
    const std::byte* const a = first.data() + static_cast<size_t>(i) * width;
    const std::byte* const b = second.data() + static_cast<size_t>(i) * width;
    if (std::memcmp(a, b, width) == 0) continue;
    pair.shown.push_back({IndexOf(first.shape(), i), ElementToText(type, a), ElementToText(type, b)});
  }
}

}  // namespace

absl::StatusOr<std::optional<FirstDifference>> FindFirstDifference(
    const Program& first, const ProgramInputs& first_inputs, const Program& second,
    const ProgramInputs& second_inputs, const std::vector<OutputPair>& outputs, const ValueTrace& first_trace,
    const ValueTrace& second_trace) {
  const Comparer comparer(first.module(), first_trace, second.module(), second_trace);
  const auto pair_of =
      [&](size_t r, const std::optional<RunCounterpart>& counterpart) -> absl::StatusOr<InstructionPair> {
    InstructionPair pair{.second = comparer.ShowSecond(r)};
    if (!counterpart) return pair;
    pair.first = comparer.ShowFirst(counterpart->run);
    pair.matched_by = counterpart->by;
    ASSAY_ASSIGN_OR_RETURN(const std::vector<Literal> values,
                           ValueOfRun(second, second_inputs, second_trace, r));
    ASSAY_ASSIGN_OR_RETURN(const std::vector<Literal> others,
                           ValueOfRun(first, first_inputs, first_trace, counterpart->run));
    for (size_t k = 0; k < std::min(values.size(), others.size()); ++k)
      CompareArrays(others[k], values[k], pair);
    return pair;
  };
  FirstDifference result;
  result.is_complete = first_trace.is_complete && second_trace.is_complete;
  const std::vector<size_t> differing = comparer.DifferingOnTheWayTo(outputs);
  result.differing = static_cast<int64_t>(differing.size());
  const std::optional<size_t> found = comparer.FirstOfMeaning(differing);
  if (!found) {
    // Every value of the second program is one of the first: another one of them is the output.
    for (const OutputPair& output : outputs) {
      const std::optional<size_t> by_second = Comparer::LastWith(second_trace, output.second);
      const std::optional<size_t> by_first = Comparer::LastWith(first_trace, output.first);
      if (!by_second || !by_first) continue;
      ASSAY_ASSIGN_OR_RETURN(result.pair, pair_of(*by_second, RunCounterpart{*by_first, MatchedBy::kOutput}));
      return std::optional(std::move(result));
    }
    return std::optional<FirstDifference>();
  }
  const std::optional<RunCounterpart> counterpart = comparer.CounterpartOf(*found);
  ASSAY_ASSIGN_OR_RETURN(result.pair, pair_of(*found, counterpart));
  if (counterpart) return std::optional(std::move(result));
  for (const size_t r : differing) {
    if (r <= *found) continue;
    const std::optional<RunCounterpart> behind = comparer.CounterpartOf(r);
    if (!behind) continue;
    ASSAY_ASSIGN_OR_RETURN(InstructionPair pair, pair_of(r, behind));
    if (pair.different == 0) continue;
    result.counterpart_behind = std::move(pair);
    break;
  }
  return std::optional(std::move(result));
}

}  // namespace assay
