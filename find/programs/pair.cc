#include "find/programs/pair.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "base/counted.h"
#include "devices/device_io.h"
#include "fmt/format.h"
#include "literal/leaves.h"
#include "shape/index.h"

namespace assay {
namespace {

std::vector<const Shape*> ParameterLeaves(const Module& module) {
  const Computation& entry = module.entry_computation();
  std::vector<const Shape*> leaves;
  for (const int32_t parameter : entry.parameters) {
    const std::vector<const Shape*> of =
        LeafShapes(*entry.instructions[static_cast<size_t>(parameter)].shape);
    leaves.insert(leaves.end(), of.begin(), of.end());
  }
  return leaves;
}

std::string Listed(const std::vector<const Shape*>& shapes) {
  constexpr size_t kShown = 20;
  std::string text;
  for (size_t k = 0; k < std::min(shapes.size(), kShown); ++k)
    text += (k == 0 ? "" : ", ") + shapes[k]->ToString();
  if (shapes.size() > kShown) text += fmt::format(" and {} more", shapes.size() - kShown);
  return "(" + text + ")";
}

absl::Status CheckSameLeaves(std::string_view what, const std::vector<const Shape*>& first,
                             const std::vector<const Shape*>& second) {
  if (first.size() == second.size()) {
    const auto unlike =
        std::mismatch(first.begin(), first.end(), second.begin(),
                      [](const Shape* a, const Shape* b) { return Shape::Compatible(*a, *b); });
    if (unlike.first == first.end()) return absl::OkStatus();
    return InvalidProgram({}, fmt::format("{} {} of the second program is {}, want {} as in the first", what,
                                          unlike.first - first.begin(), (*unlike.second)->ToString(),
                                          (*unlike.first)->ToString()));
  }
  return InvalidProgram({}, fmt::format("the second program has {} {}, want {} {} as in the first",
                                        Counted(second.size(), what), Listed(second),
                                        Counted(first.size(), what), Listed(first)));
}

// Whether element `i` has the same bits in two arrays of one shape.
bool SameBits(const Literal& a, const Literal& b, int64_t i) {
  const auto width = static_cast<size_t>(Bytes(a.shape().element_type()));
  return std::memcmp(a.data() + static_cast<size_t>(i) * width, b.data() + static_cast<size_t>(i) * width,
                     width) == 0;
}

// How each element of an output was judged, by both programs. The same bits are inside, whatever the bounds.
PairBounds Judge(const BoundedOutput& first, const BoundedOutput& second) {
  PairBounds bounds;
  std::vector<ElementVerdict> by_first;
  bounds.by_first =
      CompareToBounds(first, &second.exact, [&](const JudgedElement& of) { by_first.push_back(of.verdict); });
  bounds.by_second = CompareToBounds(second, &first.exact, [&](const JudgedElement& of) {
    const ElementVerdict other = by_first[static_cast<size_t>(of.position)];
    const bool inside = of.verdict == ElementVerdict::kInside || other == ElementVerdict::kInside ||
                        SameBits(first.exact, second.exact, of.position);
    const bool outside = of.verdict == ElementVerdict::kOutside && other == ElementVerdict::kOutside;
    ++(inside ? bounds.inside : outside ? bounds.outside : bounds.undecided);
  });
  return bounds;
}

// The same where the second program has no bounds.
PairBounds JudgeByFirst(const BoundedOutput& first, const Literal& exact, const absl::Status& why_not) {
  PairBounds bounds;
  bounds.by_first = CompareToBounds(first, &exact, [&](const JudgedElement& of) {
    const bool inside = of.verdict == ElementVerdict::kInside || SameBits(first.exact, exact, of.position);
    const bool outside = of.verdict == ElementVerdict::kOutside;
    ++(inside ? bounds.inside : outside ? bounds.outside : bounds.undecided);
  });
  bounds.by_second.key = bounds.by_first.key;
  bounds.by_second.error = std::string(why_not.message());
  return bounds;
}

}  // namespace

absl::Status CheckSameInterface(const Module& first, const Module& second) {
  ASSAY_RETURN_IF_ERROR(CheckSameLeaves("parameter", ParameterLeaves(first), ParameterLeaves(second)));
  return CheckSameLeaves("result", LeafShapes(*first.entry_computation().root_instruction().shape),
                         LeafShapes(*second.entry_computation().root_instruction().shape));
}

std::vector<DeviceInputs> RegroupedFor(const Module& module, const std::vector<DeviceInputs>& inputs) {
  const Computation& entry = module.entry_computation();
  std::vector<DeviceInputs> regrouped;
  for (const DeviceInputs& of : inputs) {
    std::vector<Literal> leaves;
    for (const Literal& argument : of.arguments) AppendLeaves(argument, leaves);
    std::span<Literal> rest(leaves);
    DeviceInputs& to = regrouped.emplace_back();
    for (const int32_t parameter : entry.parameters)
      to.arguments.push_back(FromLeaves(entry.instructions[static_cast<size_t>(parameter)].shape, rest));
    to.process = of.process;
  }
  return regrouped;
}

absl::StatusOr<std::vector<ResultPair>> PairResults(const NamedLiterals& first, const NamedLiterals& second) {
  std::map<std::string, const Literal*> by_key;
  for (const auto& [key, value] : second) by_key[key] = &value;
  bool same_keys = first.size() == second.size();
  for (const auto& [key, value] : first) same_keys = same_keys && by_key.contains(key);
  if (first.size() != second.size()) {
    return InvalidProgram({}, fmt::format("the second program gives {}, want {} as the first one",
                                          Counted(second.size(), "array"), first.size()));
  }
  std::vector<ResultPair> pairs;
  for (size_t k = 0; k < first.size(); ++k) {
    const auto& [key, value] = first[k];
    pairs.push_back({key, value, same_keys ? *by_key.at(key) : second[k].second});
  }
  return pairs;
}

absl::StatusOr<std::vector<PairBounds>> BoundPair(const Program& first, const ProgramInputs& first_inputs,
                                                  const Program& second, const ProgramInputs& second_inputs,
                                                  const Profile& profile) {
  ASSAY_ASSIGN_OR_RETURN(
      const BoundedOutputs of_first,
      RunWithBounds(first, profile, first_inputs.grid, first_inputs.inputs, first_inputs.options));
  const absl::StatusOr<BoundedOutputs> of_second =
      RunWithBounds(second, profile, second_inputs.grid, second_inputs.inputs, second_inputs.options);
  if (!of_second.ok() && !absl::IsUnimplemented(of_second.status())) return of_second.status();
  std::vector<PairBounds> all;
  if (of_second.ok()) {
    if (of_first.outputs.size() != of_second->outputs.size()) {
      return InvalidProgram(
          {}, fmt::format("the second program gives {}, want {} as the first one",
                          Counted(of_second->outputs.size(), "array"), of_first.outputs.size()));
    }
    for (size_t k = 0; k < of_first.outputs.size(); ++k)
      all.push_back(Judge(of_first.outputs[k], of_second->outputs[k]));
    return all;
  }
  ASSAY_ASSIGN_OR_RETURN(const std::shared_ptr<const Plan> plan, second.PlanFor());
  ASSAY_ASSIGN_OR_RETURN(const std::vector<DeviceOutputs> outputs,
                         RunDevices(*plan, second_inputs.grid, second_inputs.inputs, second_inputs.options));
  std::vector<Literal> exact;
  for (const DeviceOutputs& of : outputs) {
    for (Literal& leaf : LeavesOf(of.root)) {
      if (leaf.shape().IsArray()) exact.push_back(std::move(leaf));
    }
  }
  if (exact.size() != of_first.outputs.size()) return of_second.status();
  for (size_t k = 0; k < exact.size(); ++k) {
    all.push_back(JudgeByFirst(of_first.outputs[k], exact[k], of_second.status()));
  }
  return all;
}

absl::StatusOr<std::optional<FirstDifference>> FirstDifferenceOf(const Program& first,
                                                                 const ProgramInputs& first_inputs,
                                                                 const Program& second,
                                                                 const ProgramInputs& second_inputs,
                                                                 const Profile* profile) {
  ASSAY_ASSIGN_OR_RETURN(const ValueTrace first_trace, TraceValues(first, first_inputs));
  ASSAY_ASSIGN_OR_RETURN(const ValueTrace second_trace, TraceValues(second, second_inputs));
  const ValueDigests by_first = DigestsOf(first_trace.outputs[0].root);
  const ValueDigests by_second = DigestsOf(second_trace.outputs[0].root);
  std::vector<OutputPair> outputs;
  for (size_t k = 0; k < std::min(by_first.size(), by_second.size()); ++k) {
    if (by_first[k] != by_second[k]) outputs.push_back({by_first[k], by_second[k]});
  }
  if (outputs.empty()) return std::optional<FirstDifference>();
  return FindFirstDifference(first, first_inputs, second, second_inputs, outputs, first_trace, second_trace,
                             profile);
}

}  // namespace assay
