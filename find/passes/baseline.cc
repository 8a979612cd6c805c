#include "find/passes/baseline.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/run_guard.h"
#include "devices/device_io.h"
#include "devices/partitioned.h"
#include "evaluator/grid/device_grid.h"
#include "find/programs/pair.h"
#include "fmt/format.h"
#include "literal/compare.h"
#include "literal/leaves.h"
#include "run/inputs/program_io.h"

namespace assay {
namespace {

absl::StatusOr<std::vector<DeviceOutputs>> RunOn(const Program& program, const ProgramInputs& inputs) {
  ASSAY_ASSIGN_OR_RETURN(const std::shared_ptr<const Plan> plan, program.PlanFor());
  return RunDevices(*plan, inputs.grid, inputs.inputs, inputs.options);
}

void AppendArrays(const Literal& value, std::vector<Literal>& arrays) {
  ForEachLeaf(value, [&](const ShapeIndex&, const Literal& leaf) {
    if (leaf.shape().IsArray()) arrays.push_back(leaf);
  });
}

// Of device 0, or of all devices.
std::vector<Literal> ArraysOf(const std::vector<DeviceOutputs>& outputs, bool of_first) {
  std::vector<Literal> arrays;
  for (const DeviceOutputs& of : outputs) {
    AppendArrays(of.root, arrays);
    if (of_first) break;
  }
  return arrays;
}

bool MeetsDevices(const Module& module) {
  return std::any_of(module.computations.begin(), module.computations.end(), [](const Computation& of) {
    return std::any_of(of.instructions.begin(), of.instructions.end(), IsCollectiveOrTransfer);
  });
}

bool AllGiveTheSame(const std::vector<DeviceOutputs>& outputs) {
  return std::all_of(outputs.begin(), outputs.end(), [&](const DeviceOutputs& of) {
    return Literal::BitwiseEqual(of.root, outputs[0].root);
  });
}

bool SameBits(const Literal& a, const Literal& b, int64_t i) {
  const auto width = static_cast<size_t>(Bytes(a.shape().element_type()));
  return std::memcmp(a.data() + static_cast<size_t>(i) * width, b.data() + static_cast<size_t>(i) * width,
                     width) == 0;
}

}  // namespace

absl::StatusOr<Baseline> Baseline::Make(Program program, ProgramInputs inputs,
                                        const std::optional<Profile>& profile) {
  Baseline baseline(std::move(program));
  baseline.inputs_ = std::move(inputs);
  ProgramInputs& on = baseline.inputs_;
  const bool is_alone = !MeetsDevices(baseline.program_.module());
  if (is_alone) std::fill(on.inputs.begin() + 1, on.inputs.end(), on.inputs[0]);
  ASSAY_ASSIGN_OR_RETURN(const std::vector<DeviceOutputs> outputs, RunOn(baseline.program_, on));
  baseline.is_whole_ = on.grid.logical || on.grid.size() == 1 || (is_alone && AllGiveTheSame(outputs));
  baseline.outputs_ = ArraysOf(outputs, baseline.is_whole_);
  const NamedLiterals named = ResultsOf(outputs[0].root);
  for (size_t k = 0; k < baseline.outputs_.size(); ++k) {
    const std::string& key = named[k % named.size()].first;
    baseline.keys_.push_back(
        baseline.is_whole_ ? key : on.grid.NameOf(static_cast<int64_t>(k / named.size())) + "/" + key);
  }
  if (!profile) return baseline;
  // On logical devices all values outside of manual regions are one device's.
  absl::StatusOr<BoundedOutputs> bounded =
      on.grid.logical ? RunWithBounds(baseline.program_, *profile, DeviceGrid(), {on.inputs[0]}, on.options)
                      : RunWithBounds(baseline.program_, *profile, on.grid, on.inputs, on.options);
  ASSAY_RETURN_IF_ERROR(PollWork());
  baseline.bounds_status_ = bounded.status();
  if (!bounded.ok()) return baseline;
  // Behind those of device 0 are the same ones of the others.
  ASSAY_CHECK(bounded->outputs.size() >= baseline.outputs_.size());
  bounded->outputs.resize(baseline.outputs_.size());
  baseline.bounds_ = std::move(bounded->outputs);
  return baseline;
}

absl::StatusOr<BaselineRun> Baseline::Run(const Program& other) const {
  BaselineRun run;
  run.inputs.options = inputs_.options;
  ASSAY_ASSIGN_OR_RETURN(run.inputs.grid,
                         ResolveDeviceGrid(other.module(), {.replicas = 0, .partitions = 0}));
  const absl::Status alike = CheckSameInterface(program_.module(), other.module());
  const int64_t devices = run.inputs.grid.size();
  const bool is_alone = devices == 1 || !MeetsDevices(other.module());
  if (alike.ok() && (run.inputs.grid == inputs_.grid || (is_whole_ && is_alone))) {
    run.inputs.inputs = RegroupedFor(other.module(), inputs_.inputs);
    run.inputs.inputs.resize(static_cast<size_t>(devices), run.inputs.inputs[0]);
    ASSAY_ASSIGN_OR_RETURN(const std::vector<DeviceOutputs> outputs, RunOn(other, run.inputs));
    run.outputs = ArraysOf(outputs, is_whole_);
    return run;
  }
  if (devices == 1 || !is_whole_) {
    if (!alike.ok()) return alike;
    return InvalidProgram({}, fmt::format("it runs on {} devices, want {} as the program before all passes",
                                          devices, inputs_.grid.size()));
  }
  run.is_partitioned = true;
  ASSAY_ASSIGN_OR_RETURN(run.inputs.inputs,
                         SplitArguments(other.verified(), run.inputs.grid, inputs_.inputs[0].arguments));
  ASSAY_ASSIGN_OR_RETURN(const std::vector<DeviceOutputs> outputs, RunOn(other, run.inputs));
  ASSAY_ASSIGN_OR_RETURN(const Literal root, AssembleRoot(program_.verified(), run.inputs.grid, outputs));
  AppendArrays(root, run.outputs);
  return run;
}

std::vector<OutputChange> Baseline::Compare(const BaselineRun& run) const {
  std::vector<OutputChange> changes;
  for (size_t k = 0; k < outputs_.size(); ++k) {
    OutputChange& change = changes.emplace_back();
    change.key = keys_[k];
    const Literal& value = run.outputs[k];
    const Comparison comparison = CompareLiterals(outputs_[k], value, {});
    const LeafComparison& leaf = comparison.leaves[0];
    change.elements = leaf.elements;
    change.different = leaf.different;
    change.max_ulps = leaf.max_ulps;
    change.worst = leaf.worst;
    if (!has_bounds()) continue;
    CompareToBounds(bounds_[k], &value, [&](const JudgedElement& of) {
      const bool inside =
          of.verdict == ElementVerdict::kInside || SameBits(bounds_[k].exact, value, of.position);
      ++(inside ? change.inside : of.verdict == ElementVerdict::kOutside ? change.outside : change.undecided);
    });
  }
  return changes;
}

}  // namespace assay
