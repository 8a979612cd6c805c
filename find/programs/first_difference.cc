#include "find/programs/first_difference.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "base/run_guard.h"
#include "check/conformance.h"
#include "devices/partitioned.h"
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

  // Without those that are passed over: values that a pass may bring in and that mean nothing by themselves.
  std::vector<size_t> OfMeaning(const std::vector<size_t>& differing) const {
    std::set<ValueDigest> passed_over;
    std::vector<size_t> others;
    for (const size_t r : differing) {
      const ValueDigests& results = second_trace_.runs[r].results;
      if (!IsPassedOver(r, passed_over)) {
        others.push_back(r);
      } else {
        passed_over.insert(results.begin(), results.end());
      }
    }
    return others.empty() ? differing : others;
  }

  // A value may be one of the first program by chance, which hides that it differs: as long as an operand is
  // not the counterpart's, and comes from an evaluation whose counterpart gave that one, it is gone back to.
  size_t Origin(size_t r) const {
    for (std::optional<size_t> back = r; back; back = OriginOfOperand(r)) r = *back;
    return r;
  }

  // The evaluation that gave an output and whose counterpart, by its name or structure, gave the first
  // program's.
  std::optional<size_t> NamedSource(const OutputPair& output) const {
    return NamedSource(second_trace_.runs.size(), output.first, output.second);
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

  std::optional<size_t> NamedSource(size_t end, const ValueDigest& first, const ValueDigest& second) const {
    const auto gives = [](const ValueRun& run, const ValueDigest& value) {
      return std::find(run.results.begin(), run.results.end(), value) != run.results.end();
    };
    for (size_t r = end; r-- > 0;) {
      if (!gives(second_trace_.runs[r], second)) continue;
      const std::optional<RunCounterpart> counterpart = CounterpartOf(r);
      if (counterpart && IsNamed(*counterpart) && gives(first_trace_.runs[counterpart->run], first)) return r;
    }
    return std::nullopt;
  }

  std::optional<size_t> OriginOfOperand(size_t r) const {
    const std::optional<RunCounterpart> counterpart = CounterpartOf(r);
    if (!counterpart || !IsNamed(*counterpart)) return std::nullopt;
    const ValueDigests& operands = second_trace_.runs[r].operands;
    const ValueDigests& others = first_trace_.runs[counterpart->run].operands;
    if (operands.size() != others.size()) return std::nullopt;
    for (size_t k = 0; k < operands.size(); ++k) {
      if (operands[k] == others[k]) continue;
      if (const std::optional<size_t> source = NamedSource(r, others[k], operands[k])) return source;
    }
    return std::nullopt;
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

// Whether a value is outside of the bounds of an instruction of the program's entry computation. Where these
// can't be derived, nothing is.
absl::StatusOr<bool> IsOutside(const Program& program, const ProgramInputs& inputs, int32_t instruction,
                               const std::vector<Literal>& values, const Profile& profile) {
  const absl::StatusOr<Program> shorter = ProgramOf(program.module(), instruction);
  if (!shorter.ok()) return false;
  const absl::StatusOr<BoundedOutputs> bounded =
      RunWithBounds(*shorter, profile, inputs.grid, inputs.inputs, inputs.options);
  ASSAY_RETURN_IF_ERROR(PollWork());
  if (!bounded.ok()) return false;
  for (size_t k = 0; k < std::min(values.size(), bounded->outputs.size()); ++k) {
    if (CompareToBounds(bounded->outputs[k], &values[k]).outside > 0) return true;
  }
  return false;
}

// What is shown of the evaluations that the comparer finds.
class Finder {
 public:
  Finder(const Program& first, const ProgramInputs& first_inputs, const Program& second,
         const ProgramInputs& second_inputs, const ValueTrace& first_trace, const ValueTrace& second_trace)
      : first_(first),
        first_inputs_(first_inputs),
        second_(second),
        second_inputs_(second_inputs),
        first_trace_(first_trace),
        second_trace_(second_trace),
        comparer_(first.module(), first_trace, second.module(), second_trace) {}

  absl::StatusOr<std::optional<FirstDifference>> Find(const std::vector<OutputPair>& outputs,
                                                      const Profile* profile) const {
    FirstDifference result;
    result.is_complete = first_trace_.is_complete && second_trace_.is_complete;
    std::vector<size_t> differing = comparer_.DifferingOnTheWayTo(outputs);
    result.differing = static_cast<int64_t>(differing.size());
    differing = comparer_.OfMeaning(differing);
    std::optional<size_t> found = differing.empty() ? std::nullopt : std::optional(differing[0]);
    for (const OutputPair& output : outputs) {
      if (!found) found = comparer_.NamedSource(output);
    }
    if (!found) return FindOtherOutput(outputs, std::move(result));
    found = comparer_.Origin(*found);
    const std::optional<RunCounterpart> counterpart = comparer_.CounterpartOf(*found);
    ASSAY_ASSIGN_OR_RETURN(result.pair, PairOf(*found, counterpart));
    if (!counterpart) {
      ASSAY_ASSIGN_OR_RETURN(result.counterpart_behind, FindBehind(differing, *found));
    }
    if (profile != nullptr) {
      ASSAY_ASSIGN_OR_RETURN(result.outside, FindOutside(differing, *profile));
    }
    return std::optional(std::move(result));
  }

 private:
  absl::StatusOr<InstructionPair> PairOf(size_t r, const std::optional<RunCounterpart>& counterpart) const {
    InstructionPair pair{.second = comparer_.ShowSecond(r)};
    if (!counterpart) return pair;
    pair.first = comparer_.ShowFirst(counterpart->run);
    pair.matched_by = counterpart->by;
    ASSAY_ASSIGN_OR_RETURN(const std::vector<Literal> values,
                           ValueOfRun(second_, second_inputs_, second_trace_, r));
    ASSAY_ASSIGN_OR_RETURN(const std::vector<Literal> others,
                           ValueOfRun(first_, first_inputs_, first_trace_, counterpart->run));
    for (size_t k = 0; k < std::min(values.size(), others.size()); ++k)
      CompareArrays(others[k], values[k], pair);
    return pair;
  }

  // Every value of the second program is one of the first: another one of them is the output.
  absl::StatusOr<std::optional<FirstDifference>> FindOtherOutput(const std::vector<OutputPair>& outputs,
                                                                 FirstDifference result) const {
    for (const OutputPair& output : outputs) {
      const std::optional<size_t> by_second = Comparer::LastWith(second_trace_, output.second);
      const std::optional<size_t> by_first = Comparer::LastWith(first_trace_, output.first);
      if (!by_second || !by_first) continue;
      ASSAY_ASSIGN_OR_RETURN(result.pair, PairOf(*by_second, RunCounterpart{*by_first, MatchedBy::kOutput}));
      return std::optional(std::move(result));
    }
    return std::optional<FirstDifference>();
  }

  // The first one behind `found` whose counterpart has another value.
  absl::StatusOr<std::optional<InstructionPair>> FindBehind(const std::vector<size_t>& differing,
                                                            size_t found) const {
    for (const size_t r : differing) {
      const std::optional<RunCounterpart> counterpart = comparer_.CounterpartOf(r);
      if (r <= found || !counterpart) continue;
      ASSAY_ASSIGN_OR_RETURN(InstructionPair pair, PairOf(r, counterpart));
      if (pair.different > 0) return std::optional(std::move(pair));
    }
    return std::optional<InstructionPair>();
  }

  absl::StatusOr<std::optional<InstructionPair>> FindOutside(const std::vector<size_t>& differing,
                                                             const Profile& profile) const {
    size_t tried = 0;
    for (const size_t r : differing) {
      const std::optional<RunCounterpart> other = comparer_.CounterpartOf(r);
      if (!other || other->by == MatchedBy::kOpName || other->by == MatchedBy::kNameAlone) continue;
      const InstructionRef of = first_trace_.runs[other->run].of;
      if (of.computation != first_.module().entry) continue;
      if (++tried > kMaxBounded) break;
      ASSAY_ASSIGN_OR_RETURN(const std::vector<Literal> values,
                             ValueOfRun(second_, second_inputs_, second_trace_, r));
      ASSAY_ASSIGN_OR_RETURN(const bool is_outside,
                             IsOutside(first_, first_inputs_, of.instruction, values, profile));
      if (!is_outside) continue;
      ASSAY_ASSIGN_OR_RETURN(InstructionPair pair, PairOf(r, other));
      return std::optional(std::move(pair));
    }
    return std::optional<InstructionPair>();
  }

  const Program& first_;
  const ProgramInputs& first_inputs_;
  const Program& second_;
  const ProgramInputs& second_inputs_;
  const ValueTrace& first_trace_;
  const ValueTrace& second_trace_;
  const Comparer comparer_;
};

}  // namespace

absl::StatusOr<std::optional<FirstDifference>> FindFirstDifference(
    const Program& first, const ProgramInputs& first_inputs, const Program& second,
    const ProgramInputs& second_inputs, const std::vector<OutputPair>& outputs, const ValueTrace& first_trace,
    const ValueTrace& second_trace, const Profile* profile) {
  return Finder(first, first_inputs, second, second_inputs, first_trace, second_trace).Find(outputs, profile);
}

}  // namespace assay
