#include "find/origin/why.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <deque>
#include <map>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_join.h"
#include "base/counted.h"
#include "base/suggestion.h"
#include "check/shadow/shadow.h"
#include "evaluator/registry.h"
#include "find/origin/backward.h"
#include "find/origin/element_kinds.h"
#include "fmt/format.h"
#include "hlo/diagnostics.h"
#include "run/element_terms.h"
#include "run/executor.h"

namespace assay {
namespace {

// Whether the reducer is the sum of its two parameters.
bool IsSum(const Module& module, ComputationId reducer) {
  const Computation& computation = module.computation(reducer);
  const Instruction& root = computation.root_instruction();
  if (root.opcode != Opcode::kAdd || computation.parameters.size() != 2) return false;
  return std::ranges::all_of(root.operands,
                             [&](int32_t operand) {
                               return computation.instructions[static_cast<size_t>(operand)].opcode ==
                                      Opcode::kParameter;
                             }) &&
         root.operands[0] != root.operands[1];
}

// A term of a sum or fold: the operand elements whose product or value it is.
struct SumTerm {
  double value = 0;
  size_t first = 0, count = 0;  // among ElementTerms::elements
};

class Explainer {
 public:
  Explainer(RunRecord& record, Executor& run, const WhyOptions& options)
      : record_(record), module_(*record.module), backward_(record, run), options_(options) {}

  // Breadth first, so that what is near the output is there where not all is.
  absl::StatusOr<WhyReport> Run(const OutputElement& output) {
    AddNode(backward_.OutputElement(output.device, output.leaf, output.position));
    for (size_t next = 0; next < places_.size(); ++next) {
      ASSAY_RETURN_IF_ERROR(PollWork());
      ASSAY_RETURN_IF_ERROR(Expand(next));
    }
    report_.left_out = record_.left_out;
    return std::move(report_);
  }

  const std::vector<ElementPlace>& places() const { return places_; }

 private:
  size_t AddNode(const ElementPlace& place) {
    const auto [it, is_new] =
        numbers_.try_emplace({place.device, place.value, place.position}, places_.size());
    if (!is_new) return it->second;
    places_.push_back(place);
    WhyNode node;
    node.element = Describe(record_, backward_, place);
    report_.nodes.push_back(std::move(node));
    return it->second;
  }

  void AddChild(size_t number, const ElementPlace& place) {
    const bool is_known = numbers_.contains({place.device, place.value, place.position});
    if (!is_known && places_.size() >= options_.max_nodes) {
      ++report_.nodes[number].more_children;
      return;
    }
    const size_t child = AddNode(place);
    report_.nodes[number].children.push_back(child);
  }

  absl::Status Expand(size_t number) {
    const ElementPlace place = places_[number];
    if (backward_.IsGiven(place)) return absl::OkStatus();
    const RecordedStep* const step = backward_.StepOf(place);
    if (step == nullptr) {
      report_.nodes[number].is_left_out = true;
      return absl::OkStatus();
    }
    if (backward_.IsTransfer(place)) {
      ExpandTransfer(number, place);
      return absl::OkStatus();
    }
    ASSAY_ASSIGN_OR_RETURN(const ElementTerms terms, backward_.TermsOf(place));
    const auto child = [&](size_t k) {
      return backward_.OperandPlace(place, terms.elements[k].operand, {}, terms.elements[k].position);
    };
    std::vector<SumTerm> sum = TermsOfSum(place, terms, *step);
    if (!sum.empty()) {
      ExplainSum(number, place, child, std::move(sum));
    } else {
      AddChildren(number, terms.elements.size(), child);
    }
    for (const int32_t operand : terms.whole) AddWhole(number, place, operand);
    return absl::OkStatus();
  }

  using ChildPlace = absl::FunctionRef<ElementPlace(size_t k)>;

  void AddChildren(size_t number, size_t count, ChildPlace child) {
    for (size_t k = 0; k < count; ++k) {
      if (k >= options_.max_children) {
        report_.nodes[number].more_children += static_cast<int64_t>(count - k);
        break;
      }
      AddChild(number, child(k));
    }
  }

  void AddWhole(size_t number, const ElementPlace& place, int32_t operand) {
    const Instruction& whole = InstructionAt(
        module_,
        {place.value.call, backward_.InstructionOf(place).operands[static_cast<size_t>(operand)], {}});
    report_.nodes[number].whole.push_back(fmt::format("%{}{} = {}", place.value.call->path,
                                                      EscapeControls(whole.name), whole.shape->ToString()));
  }

  // Elements of several devices.
  void ExpandTransfer(size_t number, const ElementPlace& place) {
    const std::optional<std::vector<ElementPlace>> terms = backward_.TermsOfTransfer(place);
    if (!terms) {
      for (const ElementPlace& there : backward_.StepsOfTransfer(place)) {
        for (size_t k = 0; k < backward_.StepOf(there)->operands.size(); ++k)
          AddWhole(number, there, static_cast<int32_t>(k));
      }
      return;
    }
    const auto child = [&](size_t k) { return (*terms)[k]; };
    std::vector<SumTerm> sum;
    for (size_t k = 0; k < terms->size(); ++k) {
      const std::optional<Literal> array = backward_.ArrayOf((*terms)[k]);
      const bool is_number =
          array && (IsFloat(array->shape().element_type()) || IsIntegral(array->shape().element_type()));
      if (is_number) sum.push_back({NumberAt(*array, (*terms)[k].position), k, 1});
    }
    const bool reduces = backward_.InstructionOf(place).attributes.Has(Attr::kToApply);
    if (reduces && sum.size() == terms->size()) {
      ExplainSum(number, place, child, std::move(sum));
    } else {
      AddChildren(number, terms->size(), child);
    }
  }

  // Of a dot, a convolution and a fold of one array; else none. Terms of other folds than sums are the
  // elements themselves.
  std::vector<SumTerm> TermsOfSum(const ElementPlace& place, const ElementTerms& terms,
                                  const RecordedStep& step) const {
    const Instruction& instruction = backward_.InstructionOf(place);
    const SumDef::Of of = DefinitionOf(instruction.opcode).sum.of;
    const bool is_product = of == SumDef::Of::kProducts;
    bool is_fold = of == SumDef::Of::kFold || instruction.opcode == Opcode::kReduceWindow;
    is_fold = is_fold && step.operands.size() == 2;
    const auto is_number = [](const Literal& operand) {
      return IsFloat(operand.shape().element_type()) || IsIntegral(operand.shape().element_type());
    };
    if ((!is_fold && !is_product) || !std::ranges::all_of(step.operands, is_number)) return {};
    const size_t count = is_product ? 2 : 1;
    std::vector<SumTerm> sum;
    for (size_t k = 0; k + count <= terms.elements.size(); k += count) {
      double value = 1;
      for (size_t f = k; f < k + count; ++f) {
        const OperandElement& at = terms.elements[f];
        value *= NumberAt(step.operands[static_cast<size_t>(at.operand)], at.position);
      }
      sum.push_back({value, k, count});
    }
    return sum;
  }

  void ExplainSum(size_t number, const ElementPlace& place, ChildPlace child, std::vector<SumTerm> sum) {
    const Instruction& instruction = backward_.InstructionOf(place);
    const std::optional<ComputationId> reducer = instruction.attributes.Computation(Attr::kToApply);
    const bool adds = !reducer || IsSum(module_, *reducer);
    const std::optional<Literal> result = backward_.ArrayOf(place);
    const double total = result ? NumberAt(*result, place.position) : 0;
    if (adds) {
      WhySum of;
      // A reduce's start value is the last term, and none where it is 0.
      const bool has_start = reducer && !backward_.IsTransfer(place);
      of.terms = std::ssize(sum) - (has_start && !sum.empty() && sum.back().value == 0 ? 1 : 0);
      for (const SumTerm& term : sum) of.magnitude += std::abs(term.value);
      of.factor = of.magnitude / std::abs(total);
      report_.nodes[number].sum = of;
    }
    // What a maximum or minimum took comes first.
    std::ranges::stable_sort(sum, [&](const SumTerm& a, const SumTerm& b) {
      if (!adds && (a.value == total) != (b.value == total)) return a.value == total;
      return Rank(a.value) > Rank(b.value);
    });
    for (size_t k = 0; k < sum.size(); ++k) {
      if (k >= options_.max_terms) {
        report_.nodes[number].more_children += std::ssize(sum) - static_cast<int64_t>(k);
        break;
      }
      if (adds) report_.nodes[number].sum->largest.push_back(sum[k].value);
      for (size_t f = sum[k].first; f < sum[k].first + sum[k].count; ++f) AddChild(number, child(f));
    }
  }

  // NaNs before infinities before numbers.
  static double Rank(double x) { return std::isnan(x) ? INFINITY : std::abs(x); }

  RunRecord& record_;
  const Module& module_;
  Backward backward_;
  const WhyOptions& options_;
  WhyReport report_;
  std::vector<ElementPlace> places_;
  std::map<std::tuple<size_t, ValuePlace, int64_t>, size_t> numbers_;
};

ShadowElement ShadowOf(const ElementPlace& place) {
  ShadowElement element;
  element.instruction = place.value.instruction;
  element.position = place.position;
  for (const RecordedCall* call = place.value.call; call->around != nullptr; call = call->around)
    element.calls.push_back({call->place.caller, call->place.iteration, call->place.is_condition});
  std::ranges::reverse(element.calls);
  return element;
}

absl::Status AddShadows(const Program& program, const DeviceInputs& inputs, const RunOptions& run,
                        const std::vector<ElementPlace>& places, WhyReport& report) {
  std::vector<ShadowElement> elements;
  for (const ElementPlace& place : places) elements.push_back(ShadowOf(place));
  const absl::StatusOr<std::vector<std::optional<double>>> errors =
      ShadowErrorsOf(program, inputs, run, elements);
  if (absl::IsUnimplemented(errors.status())) {
    report.no_shadow = std::string(errors.status().message());
    return absl::OkStatus();
  }
  if (!errors.ok()) return errors.status();
  for (size_t k = 0; k < places.size(); ++k) {
    report.nodes[k].error_ulps = (*errors)[k];
    if (const auto error = (*errors)[k]; error && *error > 0.5)
      report.nodes[k].digits_lost = std::log10(*error / 0.5);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<int64_t>> ParseIndex(std::string_view text) {
  std::vector<int64_t> index;
  if (text.empty()) return index;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t comma = std::min(text.find(',', begin), text.size());
    const std::string_view part = text.substr(begin, comma - begin);
    begin = comma + 1;
    int64_t number = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (error != std::errc() || end != part.data() + part.size())
      return BadInput(fmt::format("'{}' is no index, want whole numbers", EscapeControls(text)));
    index.push_back(number);
  }
  return index;
}

}  // namespace

absl::StatusOr<OutputElement> ParseOutputElement(const Module& module, const DeviceGrid& grid,
                                                 std::string_view text) {
  const size_t bracket = text.find('[');
  std::string_view inner;
  if (bracket != std::string_view::npos) {
    if (!text.ends_with(']'))
      return BadInput(fmt::format("'{}' is no element, want one such as out0[3,7]", EscapeControls(text)));
    inner = text.substr(bracket + 1, text.size() - bracket - 2);
  }
  const std::string_view key = text.substr(0, bracket);
  ASSAY_ASSIGN_OR_RETURN(const std::vector<int64_t> index, ParseIndex(inner));
  const int64_t devices = grid.logical ? 1 : grid.size();
  std::vector<std::string> keys;
  std::optional<OutputElement> found;
  absl::Status wrong;
  ForEachLeaf(*module.entry_computation().root_instruction().shape,
              [&](const ShapeIndex& leaf, const Shape& shape) {
                if (!shape.IsArray()) return;
                for (int64_t id = 0; id < devices; ++id) {
                  const std::string name = (devices > 1 ? grid.NameOf(id) + "/" : "") + OutputName(leaf);
                  keys.push_back(name);
                  if (name != key && (id > 0 || OutputName(leaf) != key)) continue;
                  bool is_inside = static_cast<int64_t>(index.size()) == shape.rank();
                  for (size_t d = 0; is_inside && d < index.size(); ++d)
                    is_inside = index[d] >= 0 && index[d] < shape.size(static_cast<int64_t>(d));
                  if (!is_inside || shape.num_elements() == 0) {
                    wrong = BadInput(fmt::format("{} is {}, which has no element [{}]", name,
                                                 shape.ToString(), absl::StrJoin(index, ",")));
                    continue;
                  }
                  found = OutputElement{static_cast<size_t>(id), leaf,
                                        LinearPosition(index, RowMajorStrides(shape.sizes()))};
                }
              });
  if (!wrong.ok()) return wrong;
  if (found) return *found;
  constexpr size_t kMost = 8;
  const std::string near = DidYouMean(key, keys);
  const size_t more = keys.size() - std::min(keys.size(), kMost);
  if (more > 0) keys.resize(kMost);
  return BadInput(fmt::format("'{}' is no output of the program, which has {}{}{}", EscapeControls(key),
                              absl::StrJoin(keys, ", "), more > 0 ? fmt::format(" and {} more", more) : "",
                              near));
}

absl::StatusOr<WhyReport> ExplainElement(const Program& program, const DeviceGrid& grid,
                                         std::vector<DeviceInputs> inputs, const RunOptions& run,
                                         const OutputElement& output, const WhyOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const Plan plan, ObservedPlan(program));
  RecordOptions record_options;
  record_options.keeps = [](const Instruction&, std::span<const Literal>, const Literal&) { return true; };
  const DeviceInputs first = inputs[0];
  ASSAY_ASSIGN_OR_RETURN(RunRecord record, RecordRun(plan, grid, std::move(inputs), run, record_options));
  const Literal& array = LeafAt(record.outputs[output.device].root, output.leaf);
  if (!IsLive(array, output.position)) {
    return BadInput(fmt::format("{} has the run-time sizes [{}], and no element [{}]",
                                OutputName(output.leaf), absl::StrJoin(array.runtime_sizes(), ","),
                                absl::StrJoin(IndexAt(array.shape(), output.position), ",")));
  }
  Executor executor(plan, run);
  Explainer explainer(record, executor, options);
  ASSAY_ASSIGN_OR_RETURN(WhyReport report, explainer.Run(output));
  if (grid.size() > 1) {
    report.no_shadow = "the shadow runs programs of one device";
    return report;
  }
  ASSAY_RETURN_IF_ERROR(AddShadows(program, first, run, explainer.places(), report));
  return report;
}

}  // namespace assay
