#include "find/origin/trace.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "evaluator/registry.h"
#include "find/origin/backward.h"
#include "find/origin/run_record.h"
#include "fmt/format.h"
#include "literal/leaves.h"
#include "run/executor.h"

namespace assay {
namespace {

constexpr size_t kMaxListed = 16;   // producers besides the first, and instructions where it ends
constexpr size_t kMaxOperands = 4;  // shown of a producer
constexpr size_t kMaxPath = 24;     // elements shown of a path
// Operand elements looked at: of all steps, and of one in the search for producers.
// Operand elements that are looked at: for each question, and in one step for whether it is a producer.
constexpr int64_t kMaxWork = 8'000'000, kMaxWorkOfStep = 100'000;
constexpr int kMaxRounds = 16;  // over the steps of all devices

struct OrderedStep {
  int64_t order;
  size_t device;
  RecordedCall* call;
  int32_t instruction;
};

class Tracer {
 public:
  Tracer(RunRecord& record, Executor& run, TraceKind kind)
      : record_(record), module_(*record.module), backward_(record, run), kind_(kind) {
    for (size_t device = 0; device < record.devices.size(); ++device) {
      int64_t order = 0;
      for (const auto& [call, instruction] : record.devices[device].order)
        steps_.push_back({order++, device, call, instruction});
    }
    std::ranges::stable_sort(steps_, {}, [](const OrderedStep& s) { return std::pair(s.order, s.device); });
  }

  absl::StatusOr<TraceReport> Run() {
    report_.kind = kind_;
    report_.left_out = record_.left_out;
    if (kind_ == TraceKind::kNan) ASSAY_RETURN_IF_ERROR(FindArguments());
    ASSAY_RETURN_IF_ERROR(FindProducers());
    work_before_ = backward_.work();
    for (size_t device = 0; device < record_.devices.size(); ++device)
      ASSAY_RETURN_IF_ERROR(LookAtOutputs(device));
    if (origin_ && std::ranges::none_of(report_.outputs, &TracedOutput::from_first)) {
      work_before_ = backward_.work();
      ASSAY_RETURN_IF_ERROR(Follow());
      AddEnds();
    }
    return std::move(report_);
  }

 private:
  bool IsOfKind(const Literal& array, int64_t position) const {
    return assay::IsOfKind(kind_, array, position);
  }

  // --- Producers ---

  absl::Status FindArguments() {
    for (size_t device = 0; device < record_.devices.size(); ++device) {
      const std::vector<Literal>& arguments = record_.devices[device].arguments;
      const Computation& entry = module_.entry_computation();
      for (size_t k = 0; k < arguments.size(); ++k) {
        std::vector<ElementPlace> places;
        ForEachLeaf(arguments[k], [&](const ShapeIndex& leaf, const Literal& array) {
          const int64_t at = array.shape().IsArray() ? FirstOfKind(kind_, array) : -1;
          if (at >= 0)
            places.push_back({device, {record_.devices[device].entry.get(), entry.parameters[k], leaf}, at});
        });
        for (const ElementPlace& place : places) ASSAY_RETURN_IF_ERROR(AddGiven(place));
      }
    }
    return absl::OkStatus();
  }

  // A parameter or a constant of the kind.
  absl::Status AddGiven(const ElementPlace& place) {
    const std::optional<Literal> array = backward_.ArrayOf(place);
    std::vector<int64_t> positions;
    for (int64_t k = FirstOfKind(kind_, *array); k >= 0; k = FirstOfKind(kind_, *array, k + 1))
      positions.push_back(k);
    return AddProducer(place, positions);
  }

  absl::Status FindProducers() {
    for (const OrderedStep& step : steps_) {
      ASSAY_RETURN_IF_ERROR(PollWork());
      if (kind_ == TraceKind::kNan) ASSAY_RETURN_IF_ERROR(FindConstants(step));
      for (const ShapeIndex& leaf : LeavesOf(step)) {
        ElementPlace place{step.device, {step.call, step.instruction, leaf}, 0};
        ASSAY_ASSIGN_OR_RETURN(const std::vector<int64_t> fresh, FreshElements(place));
        if (fresh.empty()) continue;
        place.position = fresh[0];
        ASSAY_RETURN_IF_ERROR(AddProducer(place, fresh));
      }
    }
    return absl::OkStatus();
  }

  // The arrays of a step's result that it computed itself.
  std::vector<ShapeIndex> LeavesOf(const OrderedStep& step) const {
    std::vector<ShapeIndex> leaves;
    ForEachLeaf(step.call->StepOf(step.instruction)->result,
                [&](const ShapeIndex& leaf, const Literal& array) {
                  const ValuePlace place{step.call, step.instruction, leaf};
                  if (array.shape().IsArray() && SourceOf(module_, place) == place) leaves.push_back(leaf);
                });
    return leaves;
  }

  // Constants of the kind that the step reads.
  absl::Status FindConstants(const OrderedStep& step) {
    const RecordedStep& recorded = *step.call->StepOf(step.instruction);
    std::vector<ElementPlace> constants;
    for (size_t k = 0; k < recorded.operands.size(); ++k) {
      ForEachLeaf(recorded.operands[k], [&](const ShapeIndex& leaf, const Literal& array) {
        const int64_t at = array.shape().IsArray() ? FirstOfKind(kind_, array) : -1;
        if (at < 0) return;
        const ElementPlace user{step.device, {step.call, step.instruction, {}}, 0};
        const ElementPlace source = backward_.OperandPlace(user, static_cast<int32_t>(k), leaf, at);
        if (backward_.InstructionOf(source).opcode == Opcode::kConstant) constants.push_back(source);
      });
    }
    for (const ElementPlace& constant : constants) ASSAY_RETURN_IF_ERROR(AddGiven(constant));
    return absl::OkStatus();
  }

  // Whether an operand of an elementwise step is of the kind at the position.
  bool HasKindAt(const RecordedStep& step, int64_t position) const {
    return std::ranges::any_of(step.operands, [&](const Literal& operand) {
      return IsOfKind(operand, operand.shape().rank() == 0 ? 0 : position);
    });
  }

  absl::StatusOr<std::vector<int64_t>> FreshElements(ElementPlace place) {
    const Instruction& instruction = backward_.InstructionOf(place);
    const RecordedStep& step = *backward_.StepOf(place);
    const Literal& array = LeafAt(step.result, place.value.leaf);
    std::vector<int64_t> fresh;
    if (kind_ == TraceKind::kOverflow) {
      if (!IsConversion(instruction.opcode)) return fresh;
      for (int64_t k = 0; k < array.shape().num_elements(); ++k) {
        if (Overflowed(step.operands[0], array, k)) fresh.push_back(k);
      }
      return fresh;
    }
    const OpDef& op = DefinitionOf(instruction.opcode);
    const bool is_collective = op.channel != Channel::kNone;
    // What only moves elements gives none of its own.
    const bool is_moved =
        op.moves.any() && step.operands[0].shape().element_type() == array.shape().element_type();
    const bool only_moves = is_moved || op.is_identity || instruction.opcode == Opcode::kSelect;
    if (only_moves && !is_collective) return fresh;
    const int64_t work_before = backward_.work();
    const bool may_pass_on = is_collective || std::ranges::any_of(step.operands, [&](const Literal& operand) {
                               return HasKind(kind_, operand);
                             });
    const bool is_elementwise = IsElementwise(instruction, step);
    for (int64_t k = FirstOfKind(kind_, array); k >= 0; k = FirstOfKind(kind_, array, k + 1)) {
      if (is_elementwise) {
        if (!HasKindAt(step, k)) fresh.push_back(k);
        continue;
      }
      if (may_pass_on) {
        if (TakesTooLong() || backward_.work() - work_before > kMaxWorkOfStep) {
          report_.is_partial = true;
          break;
        }
        place.position = k;
        ASSAY_ASSIGN_OR_RETURN(
            const std::optional<ElementPlace> before,
            backward_.FirstOrigin(place, [&](const ElementPlace& origin, const Literal& operand) {
              return IsOfKind(operand, origin.position);
            }));
        if (before) continue;
      }
      fresh.push_back(k);
    }
    return fresh;
  }

  bool TakesTooLong() const { return backward_.work() - work_before_ > kMaxWork; }

  absl::Status AddProducer(const ElementPlace& place, const std::vector<int64_t>& positions) {
    const Instruction& instruction = backward_.InstructionOf(place);
    const auto key = std::pair(&instruction, place.value.leaf);
    if (const auto known = producers_.find(key); known != producers_.end()) {
      TracedProducer* const producer = known->second < 0 ? &*report_.first
                                       : static_cast<size_t>(known->second) < report_.others.size()
                                           ? &report_.others[static_cast<size_t>(known->second)]
                                           : nullptr;
      if (producer != nullptr && !backward_.IsGiven(place)) ++producer->runs;
      return absl::OkStatus();
    }
    producers_[key] = static_cast<int64_t>(producers_.size()) - 1;
    if (report_.first && report_.others.size() == kMaxListed) {
      ++report_.more_others;
      return absl::OkStatus();
    }
    TracedProducer producer;
    producer.element = Describe(record_, backward_, place);
    producer.elements = std::ssize(positions);
    if (!backward_.IsGiven(place)) ASSAY_RETURN_IF_ERROR(DescribeOperands(place, producer));
    if (report_.first) {
      report_.others.push_back(std::move(producer));
      return absl::OkStatus();
    }
    report_.first = std::move(producer);
    origin_ = place;
    const int64_t size = LeafShape(instruction, place.value.leaf).num_elements();
    std::vector<bool>& marked = marks_[place.value];
    marked.resize(static_cast<size_t>(size));
    for (const int64_t position : positions) marked[static_cast<size_t>(position)] = true;
    return absl::OkStatus();
  }

  absl::Status DescribeOperands(const ElementPlace& place, TracedProducer& producer) {
    const RecordedStep& step = *backward_.StepOf(place);
    ASSAY_ASSIGN_OR_RETURN(ElementTerms terms, backward_.TermsOf(place));
    const auto rank = [&](const OperandElement& element) {
      const double x = NumberAt(step.operands[static_cast<size_t>(element.operand)], element.position);
      return std::isnan(x) ? -1.0 : std::abs(x);
    };
    if (terms.elements.size() > kMaxOperands)
      std::ranges::stable_sort(terms.elements, std::greater<>(), rank);
    for (const OperandElement& element : terms.elements) {
      if (producer.operands.size() == kMaxOperands) {
        ++producer.more_operands;
        continue;
      }
      const ElementPlace at = backward_.OperandPlace(place, element.operand, {}, element.position);
      producer.operands.push_back(Describe(record_, backward_, at));
      const Literal& array = step.operands[static_cast<size_t>(element.operand)];
      producer.operands.back().value = ElementText(array, element.position);
    }
    for (const int32_t operand : terms.whole) {
      DescribedElement whole = Describe(record_, backward_, backward_.OperandPlace(place, operand, {}, 0));
      whole.index.clear();
      whole.value.clear();
      producer.operands.push_back(std::move(whole));
    }
    return absl::OkStatus();
  }

  // --- Where the first one goes ---

  bool IsMarked(const ElementPlace& place) const {
    const auto it = marks_.find(place.value);
    return it != marks_.end() && it->second[static_cast<size_t>(place.position)];
  }

  // Whether an operand of the step has marked elements; of a collective on any device.
  bool ReadsMarked(const OrderedStep& step) const {
    const ElementPlace user{step.device, {step.call, step.instruction, {}}, 0};
    if (DefinitionOf(backward_.InstructionOf(user).opcode).channel != Channel::kNone) return true;
    const RecordedStep& recorded = *step.call->StepOf(step.instruction);
    bool reads = false;
    for (size_t k = 0; k < recorded.operands.size(); ++k) {
      ForEachLeaf(recorded.operands[k], [&](const ShapeIndex& leaf, const Literal& array) {
        reads =
            reads || (array.shape().IsArray() &&
                      marks_.contains(backward_.OperandPlace(user, static_cast<int32_t>(k), leaf, 0).value));
      });
    }
    return reads;
  }

  absl::Status Follow() {
    bool changed = true;
    for (int round = 0; changed && round < kMaxRounds; ++round) {
      changed = false;
      ended_.clear();
      for (const OrderedStep& step : steps_) {
        ASSAY_RETURN_IF_ERROR(PollWork());
        ASSAY_ASSIGN_OR_RETURN(const bool marked, FollowInto(step));
        changed = changed || marked;
      }
      if (record_.devices.size() == 1) break;
    }
    return absl::OkStatus();
  }

  // Marks the elements of the step's result that are made of marked ones. Whether there are new ones.
  absl::StatusOr<bool> FollowInto(const OrderedStep& step) {
    const std::vector<ShapeIndex> leaves = LeavesOf(step);
    if (leaves.empty() || !ReadsMarked(step)) return false;
    bool is_new = false, has_any = false;
    for (const ShapeIndex& leaf : leaves) {
      ElementPlace place{step.device, {step.call, step.instruction, leaf}, 0};
      const Literal& array = LeafAt(step.call->StepOf(step.instruction)->result, leaf);
      std::vector<bool> marks(static_cast<size_t>(array.shape().num_elements()));
      bool any = false;
      for (int64_t k = FirstOfKind(kind_, array); k >= 0; k = FirstOfKind(kind_, array, k + 1)) {
        place.position = k;
        if (TakesTooLong()) {
          report_.is_search_cut = true;
          break;
        }
        ASSAY_ASSIGN_OR_RETURN(const std::optional<ElementPlace> before,
                               backward_.FirstOrigin(place, [&](const ElementPlace& origin, const Literal&) {
                                 return IsMarked(origin);
                               }));
        if (before) marks[static_cast<size_t>(k)] = any = true;
      }
      if (!any) continue;
      has_any = true;
      std::vector<bool>& known = marks_[place.value];
      known.resize(marks.size());
      for (size_t k = 0; k < marks.size(); ++k) {
        is_new = is_new || (marks[k] && !known[k]);
        known[k] = known[k] || marks[k];
      }
    }
    if (!has_any) {
      ASSAY_ASSIGN_OR_RETURN(const bool reads, ReadsMarkedElement(step, leaves));
      if (reads) ended_.push_back(step);
    }
    return is_new;
  }

  // Whether some element of the result is made of a marked one: a slice may leave them all out.
  absl::StatusOr<bool> ReadsMarkedElement(const OrderedStep& step, std::span<const ShapeIndex> leaves) {
    for (const ShapeIndex& leaf : leaves) {
      ElementPlace place{step.device, {step.call, step.instruction, leaf}, 0};
      // It has a choice at each index, and what it does not choose ends there.
      if (backward_.InstructionOf(place).opcode == Opcode::kSelect) return true;
      const int64_t size = LeafShape(backward_.InstructionOf(place), leaf).num_elements();
      for (; place.position < size; ++place.position) {
        if (TakesTooLong()) {
          report_.is_search_cut = true;
          return false;
        }
        ASSAY_ASSIGN_OR_RETURN(const std::optional<ElementPlace> before,
                               backward_.FirstOrigin(place, [&](const ElementPlace& origin, const Literal&) {
                                 return IsMarked(origin);
                               }));
        if (before) return true;
      }
    }
    return false;
  }

  void AddEnds() {
    std::set<const Instruction*> listed;
    for (const OrderedStep& step : ended_) {
      const ElementPlace place{step.device, {step.call, step.instruction, LeavesOf(step)[0]}, 0};
      if (!listed.insert(&backward_.InstructionOf(place)).second) continue;
      if (report_.ended_at.size() == kMaxListed) {
        ++report_.more_ended_at;
        continue;
      }
      DescribedElement end = Describe(record_, backward_, place);
      end.index.clear();
      end.value.clear();
      report_.ended_at.push_back(std::move(end));
    }
  }

  // --- Outputs ---

  // Whether the element was visited by an earlier search; it is from now on.
  bool IsVisited(const ElementPlace& place) {
    std::vector<bool>& visited = visited_[place.value];
    if (visited.empty()) {
      const int64_t size = LeafShape(backward_.InstructionOf(place), place.value.leaf).num_elements();
      visited.resize(static_cast<size_t>(size));
    }
    const bool was_visited = visited[static_cast<size_t>(place.position)];
    visited[static_cast<size_t>(place.position)] = true;
    return was_visited;
  }

  // A path back, by elements of the kind, to one of the first producer's; empty: there is none. Elements from
  // which there is none are visited once.
  absl::StatusOr<std::vector<ElementPlace>> PathToFirst(const ElementPlace& from) {
    std::vector<ElementPlace> path;
    std::vector<Backward::Origins> ahead;  // of each element of the path
    std::optional<ElementPlace> next = from;
    while (next || !path.empty()) {
      ASSAY_RETURN_IF_ERROR(PollWork());
      if (TakesTooLong()) {
        report_.is_search_cut = true;
        return std::vector<ElementPlace>();
      }
      if (next && !IsVisited(*next)) {
        path.push_back(*next);
        if (IsMarked(*next)) {
          for (const ElementPlace& place : path)
            visited_[place.value][static_cast<size_t>(place.position)] = false;
          return path;
        }
        ASSAY_ASSIGN_OR_RETURN(Backward::Origins origins, backward_.OriginsOf(*next));
        ahead.push_back(std::move(origins));
      }
      next = std::nullopt;
      if (path.empty()) break;
      next = backward_.Next(ahead.back(), [&](const ElementPlace& origin, const Literal& operand) {
        return IsOfKind(operand, origin.position);
      });
      if (next) continue;
      path.pop_back();
      ahead.pop_back();
    }
    return path;
  }

  absl::Status LookAtOutputs(size_t device) {
    const Literal& root = record_.outputs[device].root;
    std::vector<std::pair<ShapeIndex, Literal>> leaves;
    ForEachLeaf(root, [&](const ShapeIndex& leaf, const Literal& array) {
      if (array.shape().IsArray() &&
          (IsFloat(array.shape().element_type()) || IsComplex(array.shape().element_type())))
        leaves.emplace_back(leaf, array);
    });
    for (const auto& [leaf, array] : leaves) {
      TracedOutput output;
      output.key = record_.devices[device].prefix + OutputName(leaf);
      output.elements = array.shape().num_elements();
      output.count = CountOfKind(kind_, array);
      if (output.count > 0) ASSAY_RETURN_IF_ERROR(TraceOutput(device, leaf, array, output));
      report_.outputs.push_back(std::move(output));
    }
    return absl::OkStatus();
  }

  absl::Status TraceOutput(size_t device, const ShapeIndex& leaf, const Literal& array,
                           TracedOutput& output) {
    ElementPlace place = backward_.OutputElement(device, leaf, 0);
    std::vector<ElementPlace> path;
    for (int64_t k = FirstOfKind(kind_, array); k >= 0 && path.empty();
         k = FirstOfKind(kind_, array, k + 1)) {
      place.position = k;
      ASSAY_ASSIGN_OR_RETURN(path, PathToFirst(place));
    }
    output.from_first = !path.empty();
    if (path.empty()) {
      place.position = FirstOfKind(kind_, array);
      ASSAY_ASSIGN_OR_RETURN(path,
                             backward_.Walk(place, [&](const ElementPlace& origin, const Literal& operand) {
                               return IsOfKind(operand, origin.position);
                             }));
    }
    output.index = IndexAt(array.shape(), path[0].position);
    std::ranges::reverse(path);
    output.is_complete = backward_.IsGiven(path[0]) || backward_.StepOf(path[0]) != nullptr;
    for (size_t k = 0; k < path.size(); ++k) {
      const bool shown = path.size() <= kMaxPath || k < kMaxPath / 2 || k >= path.size() - kMaxPath / 2;
      if (shown) {
        output.path.push_back(Describe(record_, backward_, path[k]));
      } else {
        ++output.left_out_of_path;
      }
    }
    return absl::OkStatus();
  }

  RunRecord& record_;
  const Module& module_;
  Backward backward_;
  const TraceKind kind_;
  TraceReport report_;
  std::vector<OrderedStep> steps_;
  // By instruction and leaf: -1 the first, else the place among the others.
  std::map<std::pair<const Instruction*, ShapeIndex>, int64_t> producers_;
  std::optional<ElementPlace> origin_;
  int64_t work_before_ = 0;  // the question that is looked at now
  // Elements that come from the first producer.
  std::map<ValuePlace, std::vector<bool>> marks_;
  std::map<ValuePlace, std::vector<bool>> visited_;  // by PathToFirst
  std::vector<OrderedStep> ended_;
};

}  // namespace

absl::StatusOr<TraceReport> TraceRun(const Program& program, const DeviceGrid& grid,
                                     std::vector<DeviceInputs> inputs, const RunOptions& run,
                                     TraceKind kind) {
  ASSAY_ASSIGN_OR_RETURN(const Plan plan, ObservedPlan(program));
  RecordOptions options;
  options.keeps = [kind](const Instruction& instruction, std::span<const Literal> operands,
                         const Literal& result) {
    if (HasKind(kind, result)) return true;
    if (std::ranges::any_of(operands, [&](const Literal& operand) { return HasKind(kind, operand); }))
      return true;
    if (kind != TraceKind::kOverflow || !IsConversion(instruction.opcode)) return false;
    for (int64_t k = 0; k < result.shape().num_elements(); ++k) {
      if (Overflowed(operands[0], result, k)) return true;
    }
    return false;
  };
  ASSAY_ASSIGN_OR_RETURN(RunRecord record, RecordRun(plan, grid, std::move(inputs), run, options));
  Executor executor(plan, run);
  return Tracer(record, executor, kind).Run();
}

}  // namespace assay
