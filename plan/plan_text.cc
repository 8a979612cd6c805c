#include "plan/plan_text.h"

#include <algorithm>

#include "base/counted.h"
#include "fmt/format.h"
#include "plan/costs.h"
#include "plan/transfers.h"

namespace assay {
namespace {

// The reasons of the engines that declined the step.
std::string DeclinedText(const Step& step, std::span<const IdleEngine> idle) {
  std::string text;
  for (const Declined& declined : step.declined) {
    const auto is_it = [&](const IdleEngine& one) { return one.engine == declined.engine; };
    if (std::none_of(idle.begin(), idle.end(), is_it))
      text += fmt::format("  ({}: {})", declined.engine->name(), declined.reason());
  }
  return text;
}

// How the kernel computes the step, and its bound where that is not the reference's bits.
std::string KernelText(const Step& step) {
  if (step.kernel == nullptr) return "";
  std::string text;
  if (const std::string_view algorithm = step.kernel->algorithm(); !algorithm.empty())
    text += fmt::format("  [{}]", algorithm);
  if (const Accuracy& accuracy = step.kernel->accuracy(); &accuracy != &BitExact())
    text += fmt::format("  [{}]", accuracy.Bound());
  return text;
}

// "  WHAT %a %b" for the instructions for which `listed` is true.
template <typename Listed>
std::string Names(const Computation& computation, std::string_view what,
                  std::span<const int32_t> instructions, Listed listed) {
  std::string text;
  for (size_t k = 0; k < instructions.size(); ++k) {
    if (listed(k)) text += " %" + computation.instructions[instructions[k]].name;
  }
  return text.empty() ? "" : fmt::format("  {}{}", what, text);
}

// The slots that are set without a step.
std::string StructureText(const Computation& computation, const ComputationPlan& plan) {
  const auto all = [](size_t) { return true; };
  const auto slots = [](std::span<const ElementSlot> elements) {
    std::vector<int32_t> instructions;
    for (const ElementSlot& element : elements) instructions.push_back(element.slot);
    return instructions;
  };
  std::vector<int32_t> unchanged;
  for (const ElementSlot& input : plan.state.inputs) {
    if (!plan.state.unchanged.empty() && plan.state.unchanged[input.element]) unchanged.push_back(input.slot);
  }
  std::string text;
  for (const auto& [what, instructions] :
       {std::pair("constants", plan.constants), std::pair("loop state read", slots(plan.state.inputs)),
        std::pair("loop state written", slots(plan.state.outputs)),
        std::pair("loop-invariant state", unchanged)}) {
    if (!instructions.empty()) text += Names(computation, what, instructions, all) + "\n";
  }
  return text;
}

// Beyond, what follows is not aligned.
constexpr size_t kWidest = 72;

// "native     %y = f32[2] add  result 8 B"
std::string HeadOf(const Computation& computation, const Step& step) {
  const Instruction& instruction = computation.instructions[step.instruction];
  return fmt::format("{:<9}  %{} = {} {}  result {}",
                     step.engine == nullptr ? "reference" : step.engine->name(), instruction.name,
                     instruction.shape->ToString(), Name(instruction.opcode),
                     BytesText(static_cast<double>(instruction.shape->TotalBytes())));
}

// "  4 KiB to the device".
std::string TransferText(const DeviceCopies& transfers) {
  std::string text;
  if (transfers.to_device > 0) text += fmt::format("  {} to the device", BytesText(transfers.to_device));
  if (transfers.to_host > 0) text += fmt::format("  {} to the host", BytesText(transfers.to_host));
  return text;
}

std::string StepsText(const Costs& costs, const Computation& computation, const ComputationPlan& plan,
                      std::span<const IdleEngine> idle) {
  const std::span<const Step> steps = plan.steps;
  const std::vector<DeviceCopies> transfers = TransfersOf(computation, plan);
  std::vector<std::string> heads;
  size_t width = 0;
  for (const Step& step : steps) {
    heads.push_back(HeadOf(computation, step));
    if (heads.back().size() <= kWidest) width = std::max(width, heads.back().size());
  }
  std::string text;
  for (size_t k = 0; k < steps.size(); ++k) {
    const Step& step = steps[k];
    std::string fused;
    if (step.fusion != nullptr) {
      const std::span<const int32_t> members = step.fusion->members;
      fused = Names(computation, "fused:", members.first(members.size() - 1), [](size_t) { return true; });
    }
    const std::string last_uses = Names(computation, "last use of", step.Reads(computation),
                                        [&](size_t i) { return step.last_use[i]; });
    const Cost cost = costs.Of(computation, step);
    text += fmt::format("  {:<{}}  {:>8} read  {:>8} written  {:>10}{}{}{}{}{}{}\n", heads[k], width,
                        BytesText(cost.read), BytesText(cost.written), OperationsText(cost), KernelText(step),
                        transfers.empty() ? "" : TransferText(transfers[k]),
                        step.loop_invariant ? "  loop-invariant" : "", fused, last_uses,
                        DeclinedText(step, idle));
  }
  return text;
}

}  // namespace

std::string PlanToText(const Plan& plan, std::span<const IdleEngine> idle) {
  std::string text;
  for (const IdleEngine& one : idle)
    text += fmt::format("engine {} is not available: {}\n", one.engine->name(), one.why);
  const Module& module = *plan.module;
  const Costs costs(module);
  for (size_t c = 0; c < plan.computations.size(); ++c) {
    const Computation& computation = module.computations[c];
    if (computation.instructions.empty()) continue;  // inlined
    const size_t steps = plan.computations[c].steps.size();
    const bool entry = static_cast<int32_t>(c) == module.entry.value;
    text += fmt::format("{}{}: {}\n", entry ? "entry " : "", computation.name, Counted(steps, "step"));
    text += StructureText(computation, plan.computations[c]);
    text += StepsText(costs, computation, plan.computations[c], idle);
  }
  return text;
}

}  // namespace assay
