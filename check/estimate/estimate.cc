#include "check/estimate/estimate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "check/allowance.h"
#include "check/estimate/sample_program.h"
#include "run/inputs/program_io.h"

namespace assay {
namespace {

bool HasUndecided(const BoundedOutput& output) {
  if (!output.radius.has_value()) return false;
  for (int64_t i = 0; i < output.radius->shape().num_elements(); ++i) {
    if (!(output.radius->GetDouble(i) < std::numeric_limits<double>::infinity())) return true;
  }
  return false;
}

// The instruction that gives this leaf of the root, by tuples.
const Instruction& ProducerOf(const Computation& computation, int64_t leaf) {
  const Instruction* found = &computation.root_instruction();
  while (found->opcode == Opcode::kTuple) {
    for (const int32_t operand : found->operands) {
      const Instruction& element = computation.instructions[static_cast<size_t>(operand)];
      int64_t leaves = 0;
      ForEachLeaf(*element.shape, [&](const ShapeIndex&, const Shape&) { ++leaves; });
      if (leaf < leaves) {
        found = &element;
        break;
      }
      leaf -= leaves;
    }
  }
  return *found;
}

// What the profile allows the last instruction, and half an ulp for the exact value's own rounding.
std::shared_ptr<OutputSamples> SamplesOf(const Program& program, const Profile& profile,
                                         const BoundedOutput& output) {
  const ElementType type = output.exact.shape().element_type();
  double ulps = 1, absolute = 0;
  if (IsFloat(type) || IsComplex(type)) {
    const Module& module = program.verified().module();
    const Allowance allowed = AllowanceOf(profile, ProducerOf(module.entry_computation(), output.leaf), type);
    ulps = std::max(1.0, allowed.ulps + 0.5 + (allowed.keeps_precision ? 0.5 : 0));
    absolute = allowed.absolute;
  }
  return std::make_shared<OutputSamples>(output.exact, ulps, absolute);
}

}  // namespace

absl::StatusOr<Estimates> AddSamples(const Program& program, const Profile& profile, const DeviceGrid& grid,
                                     const DeviceInputs& inputs, const RunOptions& options,
                                     const EstimateOptions& estimate, std::vector<BoundedOutput>& outputs,
                                     std::span<const Engine* const> engines) {
  Estimates result;
  std::vector<std::pair<size_t, std::shared_ptr<OutputSamples>>> sampled;
  for (size_t k = 0; k < outputs.size() && estimate.samples > 0; ++k) {
    if (HasUndecided(outputs[k])) sampled.emplace_back(k, SamplesOf(program, profile, outputs[k]));
  }
  if (sampled.empty()) return result;
  ASSAY_ASSIGN_OR_RETURN(SampledProgram made,
                         SampleProgram(program.verified(), profile, SubnormalLeaves(inputs.arguments)));
  ASSAY_ASSIGN_OR_RETURN(const Program moved, Program::OfModule(std::move(made.module)));
  ASSAY_ASSIGN_OR_RETURN(const std::shared_ptr<const Plan> plan, moved.PlanFor(engines));
  for (int64_t k = 0; k < estimate.samples; ++k) {
    std::vector<DeviceInputs> given = {inputs};
    given[0].arguments.push_back(Literal::ScalarInt(
        ElementType::kU64, static_cast<int64_t>(estimate.seed + static_cast<uint64_t>(k))));
    ASSAY_ASSIGN_OR_RETURN(const std::vector<DeviceOutputs> runs,
                           RunDevices(*plan, grid, std::move(given), options));
    const NamedLiterals values = ResultsOf(runs[0].root);
    for (const auto& [output, samples] : sampled) {
      const std::string& key = outputs[output].key;
      const auto it =
          std::find_if(values.begin(), values.end(), [&](const auto& value) { return value.first == key; });
      if (it != values.end()) samples->Add(it->second);
    }
  }
  for (auto& [output, samples] : sampled) outputs[output].samples = std::move(samples);
  result.samples = estimate.samples;
  result.without_rule = std::move(made.without_rule);
  return result;
}

}  // namespace assay
