#include "plan/fuse.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "evaluator/steps.h"
#include "fmt/format.h"
#include "plan/move_fusion.h"
#include "plan/prepare.h"

namespace assay {
namespace {

constexpr int64_t kMostFusions = 2048;

// Those of several members that `engine`, which fuses, can take.
std::vector<Fusion> ElementwiseFusions(const Module& module, const Computation& computation,
                                       const Engine& engine, const ComputationPlan& plan,
                                       const std::vector<bool>& apart) {
  std::vector<int32_t> order;
  order.reserve(plan.steps.size());
  for (const Step& step : plan.steps) order.push_back(step.instruction);
  std::vector<Fusion> fusions = FindFusions(module, computation, order, engine, apart);
  std::erase_if(fusions, [](const Fusion& fusion) { return fusion.members.size() == 1; });
  return fusions;
}

// Adds fusions of concatenates and what they read through, where that is no root of another fusion.
void AddMoveFusions(const Computation& computation, std::vector<Fusion>& fusions,
                    const ComputationPlan& plan) {
  const auto is_concatenate = [&](const Step& step) {
    return computation.instructions[step.instruction].opcode == Opcode::kConcatenate;
  };
  if (std::none_of(plan.steps.begin(), plan.steps.end(), is_concatenate)) return;
  std::vector<bool> may_join(computation.instructions.size(), false);
  for (const Step& step : plan.steps) may_join[step.instruction] = true;
  for (const Fusion& fusion : fusions) may_join[fusion.members.back()] = false;
  // What control dependencies order stays where it is.
  for (size_t i = 0; i < computation.instructions.size(); ++i) {
    const auto& before = computation.instructions[i].control_predecessors;
    if (before.empty()) continue;
    may_join[i] = false;
    for (int32_t other : before) may_join[other] = false;
  }
  for (const Step& step : plan.steps) {
    if (!is_concatenate(step)) continue;
    std::optional<Fusion> fusion = FusionOfConcatenate(computation, step.instruction, may_join);
    if (fusion.has_value()) fusions.push_back(*std::move(fusion));
  }
}

// Removes the steps of members whose value no step that stays reads.
void DropUnread(const Computation& computation, const std::vector<bool>& absorbed, ComputationPlan& plan) {
  std::vector<bool> read(computation.instructions.size(), false);
  read[computation.root] = true;
  std::vector<Step> left;
  left.reserve(plan.steps.size());
  for (auto step = plan.steps.rbegin(); step != plan.steps.rend(); ++step) {
    if (step->fusion == nullptr && absorbed[step->instruction] && !read[step->instruction]) continue;
    for (int32_t operand : step->Reads(computation)) read[operand] = true;
    left.push_back(std::move(*step));
  }
  std::reverse(left.begin(), left.end());
  plan.steps = std::move(left);
}

// What each instruction that has a step counts by itself.
std::vector<int64_t> CountsOfSteps(const Computation& computation, const ComputationPlan& plan) {
  std::vector<int64_t> counts(computation.instructions.size(), 0);
  for (const Step& step : plan.steps) counts[step.instruction] = step.counts;
  return counts;
}

// Steps count alike whoever runs them: a member that several fusions have counts once. `counts` is of the members.
void CountMembers(std::vector<int64_t> counts, ComputationPlan& plan) {
  for (const Step& step : plan.steps) {
    if (step.fusion == nullptr) counts[step.instruction] = 0;
  }
  for (Step& step : plan.steps) {
    if (step.fusion == nullptr) continue;
    step.counts = 0;
    for (int32_t member : step.fusion->members)
      step.counts = AddCounts(step.counts, std::exchange(counts[member], 0));
  }
}

}  // namespace

absl::Status FuseSteps(const Module& module, const Computation& computation,
                       std::span<const Engine* const> engines, bool in_loop, int64_t& fusions,
                       ComputationPlan& plan, const std::vector<bool>& apart) {
  const auto fusing =
      std::find_if(engines.begin(), engines.end(), [](const Engine* engine) { return engine->fuses(); });
  std::vector<Fusion> grown;
  if (fusing != engines.end()) grown = ElementwiseFusions(module, computation, **fusing, plan, apart);
  AddMoveFusions(computation, grown, plan);
  if (grown.empty()) return absl::OkStatus();
  std::vector<int32_t> step_of(computation.instructions.size(), -1);
  for (size_t s = 0; s < plan.steps.size(); ++s) step_of[plan.steps[s].instruction] = static_cast<int32_t>(s);
  std::vector<bool> absorbed(computation.instructions.size(), false);
  bool any = false;
  for (Fusion& fusion : grown) {
    Step& step = plan.steps[step_of[fusion.members.back()]];
    if (fusions >= kMostFusions) {
      const Engine* const who = fusing != engines.end() ? *fusing : engines.front();
      step.declined.push_back({who, NotSupported({}, fmt::format("{} fusions already", kMostFusions))});
      continue;
    }
    ASSAY_RETURN_IF_ERROR(
        PrepareStep({module, computation, fusion.members, fusion.operands, in_loop}, engines, step));
    if (step.kernel == nullptr) continue;
    ++fusions;
    for (int32_t member : fusion.members) absorbed[member] = true;
    step.fusion = std::make_shared<const Fusion>(std::move(fusion));
    any = true;
  }
  if (!any) return absl::OkStatus();
  std::vector<int64_t> counts = CountsOfSteps(computation, plan);
  DropUnread(computation, absorbed, plan);
  CountMembers(std::move(counts), plan);
  return absl::OkStatus();
}

}  // namespace assay
