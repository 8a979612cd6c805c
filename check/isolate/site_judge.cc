#include "check/isolate/site_judge.h"

#include <algorithm>

#include "check/isolate/records.h"
#include "check/isolate/site_modules.h"

namespace assay {

// Every instruction alone; of a loop one more output is the number of its iterations.
absl::StatusOr<SiteJudge::Checker*> SiteJudge::InstructionsOf(ComputationId id) {
  std::unique_ptr<Checker>& checker = instructions_[id.value];
  if (checker != nullptr) return checker.get();
  checker = std::make_unique<Checker>();
  const ValueSources& sources = sources_.Of(id);
  const Computation& computation = sources_.module().computation(id);
  SiteModule alone(sources_.module(), "alone");
  for (size_t k = 0; k < computation.instructions.size(); ++k) {
    const int32_t instruction = static_cast<int32_t>(k);
    if (sources.RoleOf(instruction) != IsolatedAs::kChecked) continue;
    if (computation.instructions[k].opcode == Opcode::kWhile) {
      alone.AddCountedLoop(0, id, sources, instruction);
      checker->counters.emplace_back(instruction, static_cast<size_t>(alone.num_outputs()) - 1);
    } else {
      alone.AddAlone(0, id, sources, instruction);
    }
    checker->instructions.resize(static_cast<size_t>(alone.num_outputs()), instruction);
  }
  if (checker->instructions.empty()) return checker.get();
  for (const auto& [set, value] : alone.parameters()) checker->parameters.push_back(value);
  ASSAY_ASSIGN_OR_RETURN(checker->program, std::move(alone).Finish());
  return checker.get();
}

absl::StatusOr<SiteJudge::Checker*> SiteJudge::ConditionOf(ComputationId id) {
  std::unique_ptr<Checker>& checker = conditions_[id.value];
  if (checker != nullptr) return checker.get();
  checker = std::make_unique<Checker>();
  SiteModule whole(sources_.module(), "condition");
  whole.AddValues(id, sources_.Of(id));
  if (whole.num_outputs() == 0) return checker.get();
  ASSAY_ASSIGN_OR_RETURN(checker->program, std::move(whole).Finish());
  const size_t leaves = checker->program->module().entry_computation().parameters.size();
  for (size_t k = 0; k < leaves; ++k) checker->parameters.push_back({static_cast<int32_t>(k), 0});
  return checker.get();
}

absl::StatusOr<std::vector<BoundedOutput>> SiteJudge::BoundsOf(Checker& checker, const Values& values) {
  DeviceInputs inputs;
  for (const ValueId value : checker.parameters) inputs.arguments.push_back(values.at(value));
  std::vector<bool> subnormals = SubnormalLeaves(inputs.arguments);
  auto it = checker.bounds.find(subnormals);
  if (it == checker.bounds.end()) {
    ASSAY_ASSIGN_OR_RETURN(PlannedBounds planned,
                           PlanBounds(*checker.program, profile_, subnormals, options_.engines));
    it = checker.bounds.emplace(std::move(subnormals), std::move(planned)).first;
  }
  std::vector<DeviceInputs> devices;
  devices.push_back(std::move(inputs));
  return RunBounds(it->second, DeviceGrid(), std::move(devices), options_.run);
}

void SiteJudge::Add(Conformance& total, const Conformance& leaf) {
  if (total.worst.empty() || (total.outside == 0 && leaf.outside > 0)) total.worst = leaf.worst;
  if (!leaf.error.empty()) total.error = leaf.error;
  AddCounts(total, leaf);
}

absl::StatusOr<JudgedValues> SiteJudge::JudgeInstructions(ComputationId id, const Values& values) {
  JudgedValues judged;
  ASSAY_ASSIGN_OR_RETURN(Checker* const checker, InstructionsOf(id));
  if (!checker->program) return judged;
  ASSAY_ASSIGN_OR_RETURN(std::vector<BoundedOutput> bounds, BoundsOf(*checker, values));
  std::vector<bool> is_counter(bounds.size(), false);
  for (const auto& [loop, output] : checker->counters) {
    judged.iterations[loop] = bounds[output].exact.GetInt(0);
    is_counter[output] = true;
  }
  for (size_t k = 0; k < bounds.size(); ++k) {
    if (is_counter[k]) continue;
    const int32_t instruction = checker->instructions[k];
    if (judged.instructions.empty() || judged.instructions.back().instruction != instruction)
      judged.instructions.push_back({.instruction = instruction});
    JudgedInstruction& of = judged.instructions.back();
    const int32_t leaf = static_cast<int32_t>(of.bounds.size());
    Add(of.found, CompareToBounds(bounds[k], &values.at({instruction, leaf})));
    of.bounds.push_back(std::move(bounds[k]));
  }
  const std::vector<DerivedBounds::Note>& notes = checker->bounds.begin()->second.unchecked;
  for (JudgedInstruction& of : judged.instructions) {
    if (of.found.elements == 0 || of.found.unchecked < of.found.elements) continue;
    const std::string& name =
        sources_.module().computation(id).instructions[static_cast<size_t>(of.instruction)].name;
    for (const DerivedBounds::Note& note : notes) {
      if (note.instruction == name) of.why_unchecked = note.why;
    }
  }
  return judged;
}

absl::StatusOr<bool> SiteJudge::ConditionAllows(const Instruction& loop, const std::vector<Literal>& state,
                                                bool goes_on) {
  const ComputationId id = *loop.attributes.Computation(Attr::kCondition);
  ASSAY_ASSIGN_OR_RETURN(Checker* const checker, ConditionOf(id));
  const ValueSources& sources = sources_.Of(id);
  const std::vector<ValueId>& own = sources.own();
  const auto root = std::find(own.begin(), own.end(), sources.Of(sources_.module().computation(id).root)[0]);
  if (!checker->program || root == own.end()) return true;
  Values given;
  for (size_t k = 0; k < state.size(); ++k) given[{static_cast<int32_t>(k), 0}] = state[k];
  ASSAY_ASSIGN_OR_RETURN(const std::vector<BoundedOutput> bounds, BoundsOf(*checker, given));
  const Literal found = Literal::ScalarInt(ElementType::kPred, goes_on ? 1 : 0);
  return CompareToBounds(bounds[static_cast<size_t>(root - own.begin())], &found).outside == 0;
}

}  // namespace assay
