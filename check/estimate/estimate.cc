#include "check/estimate/estimate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

#include "base/work_stage.h"
#include "check/allowance.h"
#include "check/estimate/mover.h"
#include "check/estimate/sample_program.h"
#include "literal/element_io.h"
#include "run/inputs/program_io.h"

namespace assay {
namespace {

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

// The result of the run by key, among those of the program.
const Literal* Find(const NamedLiterals& values, std::string_view key) {
  const auto it =
      std::find_if(values.begin(), values.end(), [&](const auto& value) { return value.first == key; });
  return it == values.end() ? nullptr : &it->second;
}

}  // namespace

bool HasUndecided(const BoundedOutput& output) {
  if (!output.radius.has_value()) return false;
  const Literal& radius = *output.radius;
  const ElementType type = radius.shape().element_type();
  const int64_t n = radius.shape().num_elements();
  alignas(64) std::array<double, kStrip> strip;
  for (int64_t first = 0; first < n; first += kStrip) {
    const int64_t count = std::min(kStrip, n - first);
    LoadStrip(type, radius.data() + first * Bytes(type), Bytes(type), count, strip.data());
    for (int64_t i = 0; i < count; ++i) {
      if (!(strip[static_cast<size_t>(i)] < std::numeric_limits<double>::infinity())) return true;
    }
  }
  return false;
}

absl::StatusOr<PlannedSamples> PlanSamples(const Program& program, const Profile& profile,
                                           const std::vector<bool>& subnormals,
                                           std::span<const Engine* const> engines) {
  ASSAY_ASSIGN_OR_RETURN(SampledProgram made, SampleProgram(program.verified(), profile, subnormals));
  ASSAY_ASSIGN_OR_RETURN(const Program sampled, Program::OfModule(std::move(made.module)));
  PlannedSamples planned;
  ASSAY_ASSIGN_OR_RETURN(planned.plan, sampled.PlanFor(engines));
  if (!made.radii.entry_computation().root_instruction().shape->elements().empty()) {
    ASSAY_ASSIGN_OR_RETURN(const Program radii, Program::OfModule(std::move(made.radii)));
    ASSAY_ASSIGN_OR_RETURN(planned.radii, radii.PlanFor(engines));
  }
  planned.without_rule = std::move(made.without_rule);
  return planned;
}

absl::Status RunSamples(const PlannedSamples& planned, const Program& program, const Profile& profile,
                        const DeviceGrid& grid, const DeviceInputs& inputs, const RunOptions& options,
                        const EstimateOptions& estimate, std::vector<BoundedOutput>& outputs) {
  std::vector<std::pair<BoundedOutput*, std::shared_ptr<OutputSamples>>> sampled;
  for (BoundedOutput& output : outputs) {
    if (estimate.all || HasUndecided(output))
      sampled.emplace_back(&output, SamplesOf(program, profile, output));
  }
  std::vector<Literal> radii;
  if (planned.radii != nullptr) {
    ASSAY_ASSIGN_OR_RETURN(std::vector<DeviceOutputs> run,
                           RunDevices(*planned.radii, grid, {inputs}, options));
    radii = std::move(run[0].root).TakeElements();
  }
  const WorkStage stage("samples", estimate.samples);
  for (int64_t k = 0; k < estimate.samples; ++k) {
    stage.Done(k);
    std::vector<DeviceInputs> given = {inputs};
    std::vector<Literal>& arguments = given[0].arguments;
    const uint32_t key = KeyOfSeed(estimate.seed + static_cast<uint64_t>(k));
    arguments.push_back(Literal::ScalarInt(ElementType::kU32, key));
    arguments.insert(arguments.end(), radii.begin(), radii.end());
    ASSAY_ASSIGN_OR_RETURN(const std::vector<DeviceOutputs> runs,
                           RunDevices(*planned.plan, grid, std::move(given), options));
    const NamedLiterals values = ResultsOf(runs[0].root);
    for (const auto& [output, samples] : sampled) {
      if (const Literal* const value = Find(values, output->key)) samples->Add(*value);
    }
  }
  for (auto& [output, samples] : sampled) output->samples = std::move(samples);
  return absl::OkStatus();
}

absl::StatusOr<Estimates> AddSamples(const Program& program, const Profile& profile, const DeviceGrid& grid,
                                     const DeviceInputs& inputs, const RunOptions& options,
                                     const EstimateOptions& estimate, std::vector<BoundedOutput>& outputs,
                                     std::span<const Engine* const> engines) {
  Estimates result;
  if (grid.size() > 1) return result;
  const auto is_sampled = [&](const BoundedOutput& output) { return estimate.all || HasUndecided(output); };
  if (estimate.samples <= 0 || std::none_of(outputs.begin(), outputs.end(), is_sampled)) return result;
  ASSAY_ASSIGN_OR_RETURN(PlannedSamples planned,
                         PlanSamples(program, profile, SubnormalLeaves(inputs.arguments), engines));
  ASSAY_RETURN_IF_ERROR(RunSamples(planned, program, profile, grid, inputs, options, estimate, outputs));
  result.samples = estimate.samples;
  result.without_rule = std::move(planned.without_rule);
  return result;
}

}  // namespace assay
