#include "plan/transfers.h"

#include <algorithm>
#include <span>
#include <utility>

namespace assay {
namespace {

struct Place {
  bool host = true, device = false;
};
Place PlaceOf(const Kernel& maker, int64_t element) {
  return {.host = maker.gives_on_host(element), .device = !maker.gives_on_host(element)};
}

bool IsOnDevice(const Step& step) { return step.kernel != nullptr && step.kernel->is_on_device(); }

}  // namespace

std::vector<DeviceCopies> TransfersOf(const Computation& computation, const ComputationPlan& plan) {
  if (std::none_of(plan.steps.begin(), plan.steps.end(), IsOnDevice)) return {};
  std::vector<const Kernel*> makers(computation.instructions.size());  // of what a device gives
  std::vector<Place> places(computation.instructions.size());
  const auto copy = [&](int32_t value, bool Place::*where) {
    if (std::exchange(places[value].*where, true)) return int64_t{0};
    return computation.instructions[value].shape->TotalBytes();
  };
  std::vector<DeviceCopies> transfers(plan.steps.size());
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    const Step& step = plan.steps[s];
    const bool on_device = IsOnDevice(step);
    if (on_device) places[step.instruction] = PlaceOf(*step.kernel, 0);
    makers[step.instruction] = on_device ? step.kernel.get() : nullptr;
    if (on_device && step.kernel->passes_operand()) {
      places[step.instruction] = places[step.Reads(computation)[0]];
      continue;
    }
    if (step.kind == StepKind::kGetTupleElement) {
      const Kernel* const maker = makers[computation.instructions[step.instruction].operands[0]];
      places[step.instruction] = maker != nullptr
                                     ? PlaceOf(*maker, step.element)
                                     : places[computation.instructions[step.instruction].operands[0]];
    }
    if (step.kind != StepKind::kEvaluate && step.kind != StepKind::kLoop) continue;  // moves handles alone
    int64_t number = 0;
    for (int32_t operand : step.Reads(computation)) {
      if (on_device && !step.kernel->reads_on_host(number++)) {
        transfers[s].to_device += copy(operand, &Place::device);
      } else {
        transfers[s].to_host += copy(operand, &Place::host);
      }
    }
  }
  const Step& last = plan.steps.back();
  const bool is_tuple = last.instruction == computation.root && last.kind == StepKind::kTuple;
  const std::span<const int32_t> given = is_tuple ? last.Reads(computation) : std::span(&computation.root, 1);
  for (int32_t value : given) transfers.back().to_host += copy(value, &Place::host);
  return transfers;
}

}  // namespace assay
