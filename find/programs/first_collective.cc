#include "find/programs/first_collective.h"

#include <algorithm>
#include <cmath>

#include "base/run_guard.h"
#include "devices/partitioned.h"
#include "evaluator/registry.h"

namespace assay {
namespace {

int64_t CollectivesOf(const Module& module) {
  int64_t count = 0;
  for (const Computation& computation : module.computations) {
    count += std::count_if(
        computation.instructions.begin(), computation.instructions.end(),
        [](const Instruction& i) { return DefinitionOf(i.opcode).channel == Channel::kCollective; });
  }
  return count;
}

// What the devices give where an instruction of the entry computation is the result.
absl::StatusOr<std::vector<DeviceOutputs>> ValueOf(const Program& program, const ProgramInputs& inputs,
                                                   std::span<const Engine* const> engines) {
  ASSAY_ASSIGN_OR_RETURN(const std::shared_ptr<const Plan> plan, program.PlanFor(engines));
  return RunDevices(*plan, inputs.grid, inputs.inputs, inputs.options);
}

const Instruction& EntryInstruction(const Program& program, int32_t instruction) {
  return program.module().entry_computation().instructions[static_cast<size_t>(instruction)];
}

}  // namespace

double ShareOfReordering(ElementType type, const Program& partitioned, int64_t devices) {
  const FloatFormat* const format = IsComplex(type) ? Info(ComponentType(type)).format : Info(type).format;
  if (format == nullptr) return 0;
  const double unit = std::ldexp(1.0, -format->mantissa_bits);
  return 4 * unit * static_cast<double>(devices) *
         static_cast<double>(CollectivesOf(partitioned.module()) + 1);
}

absl::StatusOr<std::optional<CollectiveDifference>> FirstDifferingCollective(
    const Program& partitioned, const ProgramInputs& partitioned_inputs, const Program& whole,
    const ProgramInputs& whole_inputs, const std::optional<Tolerance>& tolerance,
    std::span<const Engine* const> engines) {
  for (const Counterpart& pair : CounterpartsOf(partitioned.module(), whole.module())) {
    ASSAY_RETURN_IF_ERROR(PollWork());
    const absl::StatusOr<Program> shorter_whole = ProgramOf(whole.module(), pair.whole);
    const absl::StatusOr<Program> shorter = ProgramOf(partitioned.module(), pair.partitioned);
    if (!shorter_whole.ok() || !shorter.ok()) continue;
    const auto expected = ValueOf(*shorter_whole, whole_inputs, engines);
    const auto outputs = ValueOf(*shorter, partitioned_inputs, engines);
    if (!expected.ok() || !outputs.ok()) continue;
    const absl::StatusOr<Literal> assembled =
        AssembleRoot(shorter_whole->verified(), partitioned_inputs.grid, *outputs);
    if (!assembled.ok()) continue;
    Tolerance allowed;
    if (tolerance) {
      allowed = *tolerance;
    } else {
      allowed.scale_rtol =
          ShareOfReordering(assembled->shape().element_type(), partitioned, partitioned_inputs.grid.size());
    }
    if (CompareLiterals((*expected)[0].root, *assembled, allowed).ok()) continue;
    const Instruction& collective = EntryInstruction(partitioned, pair.partitioned);
    const Instruction& of_whole = EntryInstruction(whole, pair.whole);
    return std::optional(CollectiveDifference{collective.name, std::string(Name(collective.opcode)),
                                              of_whole.name, std::string(Name(of_whole.opcode))});
  }
  return std::optional<CollectiveDifference>();
}

}  // namespace assay
