#include "tests/mutants/comparison.h"

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/run_guard.h"
#include "devices/device_io.h"
#include "devices/run_devices.h"
#include "engines/jit/jit_engine.h"
#include "engines/jit/scalar_loop.h"
#include "engines/native/native_engine.h"
#include "evaluator/grid/device_grid.h"
#include "fmt/format.h"
#include "hlo/load/load.h"
#include "hlo/mlir/export/export.h"
#include "hlo/proto/export.h"
#include "hlo/text/printer.h"
#include "run/inputs/random_inputs.h"
#include "run/program.h"
#include "tests/hlo/proto/channel_zero.h"

namespace assay::testing {
namespace {

// Seconds that an exact engine has: far more than the reference, so that only one that hangs is found.
constexpr double kReferenceSeconds = 4, kExactSeconds = 40;

RunLimits MutantLimits(double seconds) {
  return {.max_steps = 5000, .memory_limit = int64_t{1} << 26, .timeout_seconds = seconds};
}

// What is to be seen of a run.
struct MutantRun {
  absl::Status status;
  std::map<std::string, Literal> results;
  int64_t steps = 0, parts = 0;
};

std::string Said(const absl::Status& status) {
  return fmt::format("exit {} ({})", ExitCodeOf(status), std::string(status.message()));
}

bool IsLimit(const absl::Status& status, std::string_view word) {
  return status.code() == absl::StatusCode::kResourceExhausted &&
         std::string_view(status.message().data(), status.message().size()).find(word) !=
             std::string_view::npos;
}

// Engines that take steps of any size.
std::span<const Engine* const> EagerEngines() {
  static const std::array<const Engine*, 3> engines = {&jit::EagerJitEngine(MachineIsa()),
                                                       &jit::LoopEngine(MachineIsa()),
                                                       &native::NativeEngine(MachineIsa())};
  return engines;
}

class Comparer {
 public:
  Comparer(const std::map<std::string, Literal>& values, uint64_t seed) : values_(values), seed_(seed) {}

  MutantOutcome Compare(const Program& program);

 private:
  // What each device is given: the values that the mutant came with, where they fit, else random ones.
  absl::StatusOr<std::vector<DeviceInputs>> Inputs(const Program& program, const DeviceGrid& grid) const {
    absl::StatusOr<std::vector<DeviceInputs>> inputs = InputsOfDevices(program.verified(), grid, values_);
    if (!inputs.ok()) {
      const WorkScope scope(std::make_shared<RunGuard>(MutantLimits(kExactSeconds)));
      inputs = RandomInputsOfDevices(program.verified(), grid, seed_);
    }
    if (inputs.ok()) {
      for (DeviceInputs& device : *inputs) device.process.when_empty = RandomStream(seed_);
    }
    return inputs;
  }

  // By the inputs and on the devices of `inputs_of`: what a program is printed as takes those of the program.
  MutantRun Run(const Plan& plan, const Program& inputs_of, bool reference) const {
    RunOptions options;
    options.limits = MutantLimits(reference ? kReferenceSeconds : kExactSeconds);
    options.jobs = reference ? 1 : 2;
    const absl::StatusOr<DeviceGrid> grid =
        ResolveDeviceGrid(inputs_of.module(), {.replicas = 0, .partitions = 0});
    if (!grid.ok()) return {grid.status(), {}};
    absl::StatusOr<std::vector<DeviceInputs>> inputs = Inputs(inputs_of, *grid);
    if (!inputs.ok()) return {inputs.status(), {}};
    const absl::StatusOr<std::vector<DeviceOutputs>> outputs =
        RunDevices(plan, *grid, *std::move(inputs), options);
    MutantRun run;
    run.status = outputs.status();
    if (!outputs.ok()) return run;
    run.steps = (*outputs)[0].statistics.steps, run.parts = (*outputs)[0].statistics.parts;
    for (auto& [key, value] : ResultsOfDevices(*grid, *outputs)) run.results.emplace(key, value);
    return run;
  }

  // Empty: nothing differs.
  std::string Difference(const MutantRun& wanted, const MutantRun& found, bool same_program) const;
  std::string CheckForms(const Program& program, const MutantRun& wanted) const;

  const std::map<std::string, Literal>& values_;
  const uint64_t seed_;
};

std::string Comparer::Difference(const MutantRun& wanted, const MutantRun& found, bool same_program) const {
  // What takes less memory than the reference's way may come further.
  if (IsMemoryError(wanted.status)) return "";
  if (ExitCodeOf(wanted.status) != ExitCodeOf(found.status) || wanted.status.code() != found.status.code())
    return fmt::format("{}, wanted {}", Said(found.status), Said(wanted.status));
  if (IsLimit(wanted.status, "steps") != IsLimit(found.status, "steps") && same_program)
    return fmt::format("{}, wanted {}", Said(found.status), Said(wanted.status));
  if (!wanted.status.ok()) return "";
  if (wanted.results.size() != found.results.size())
    return fmt::format("{} results, wanted {}", found.results.size(), wanted.results.size());
  for (const auto& [key, value] : wanted.results) {
    const auto other = found.results.find(key);
    if (other == found.results.end()) return key + " is missing";
    if (!Literal::BitwiseEqual(value, other->second)) return key + " differs";
  }
  if (same_program && (wanted.steps != found.steps || wanted.parts != found.parts))
    return fmt::format("{} steps and {} parts, wanted {} and {}", found.steps, found.parts, wanted.steps,
                       wanted.parts);
  return "";
}

std::string Comparer::CheckForms(const Program& program, const MutantRun& wanted) const {
  const std::string text = ModuleToText(program.module());
  const absl::StatusOr<Program> from_text = Program::Load("again.hlo", text);
  if (!from_text.ok()) return fmt::format("the printed text is refused: {}", Said(from_text.status()));
  if (ModuleToText(from_text->module()) != text) return "the printed text prints otherwise";
  const absl::StatusOr<std::string> proto = ExportProto(program.module());
  if (!proto.ok() && ExitCodeOf(proto.status()) != 4) return "proto: " + Said(proto.status());
  if (proto.ok()) {
    const absl::StatusOr<Program> from_proto = Program::Load("again.pb", *proto);
    if (!from_proto.ok()) return fmt::format("the proto is refused: {}", Said(from_proto.status()));
    if (ModuleToText(from_proto->module()) != WithoutChannelZero(text)) return "the proto prints otherwise";
  }
  const absl::StatusOr<std::string> stablehlo = ExportStableHlo(program.module());
  if (!stablehlo.ok())
    return ExitCodeOf(stablehlo.status()) == 4 ? "" : "StableHLO: " + Said(stablehlo.status());
  const absl::StatusOr<std::optional<std::string>> as_read = FreeProgramText("again.mlir", *stablehlo);
  // Sizes that HLO leaves open are refined there, so that it is another program.
  if (as_read.ok() && *as_read) return "";
  const absl::StatusOr<Program> again = Program::Load("again.mlir", *stablehlo);
  if (!again.ok()) return fmt::format("the StableHLO is refused: {}\n{}", Said(again.status()), *stablehlo);
  const absl::StatusOr<std::string> twice = ExportStableHlo(again->module());
  if (!twice.ok() || *twice != *stablehlo) return "the StableHLO prints otherwise\n" + *stablehlo;
  if (!wanted.status.ok()) return "";
  const auto plan = again->PlanFor();
  if (!plan.ok()) return "the StableHLO has no plan: " + Said(plan.status());
  const MutantRun found = Run(**plan, program, false);
  // Its instructions are others, and so are the steps.
  if (IsLimit(found.status, "steps") || IsMemoryError(found.status)) return "";
  const std::string text_of = Difference(wanted, found, false);
  return text_of.empty() ? ""
                         : fmt::format("the StableHLO gives another result: {}\n{}", text_of, *stablehlo);
}

MutantOutcome Comparer::Compare(const Program& program) {
  const auto reference = program.PlanFor(EnginesOf(EngineChoice::kReference));
  if (!reference.ok()) {
    // Several devices, or a cycle of waits.
    const int code = ExitCodeOf(reference.status());
    if (code != 4 && code != 5) return {MutantEnd::kDifferent, "reference: " + Said(reference.status())};
    return {MutantEnd::kNotRun, ""};
  }
  // Groups that fit no number of devices, or many: each has a thread.
  constexpr int64_t kMaxDevices = 8;
  const absl::StatusOr<DeviceGrid> grid =
      ResolveDeviceGrid(program.module(), {.replicas = 0, .partitions = 0});
  if (!grid.ok() || grid->size() > kMaxDevices || !Inputs(program, *grid).ok())
    return {MutantEnd::kNotRun, ""};
  const MutantRun wanted = Run(**reference, program, true);
  if (IsLimit(wanted.status, "timeout")) return {MutantEnd::kTimedOut, ""};
  const int code = ExitCodeOf(wanted.status);
  if (code != 0 && code != 1 && code != 4 && code != 5)
    return {MutantEnd::kDifferent, "reference: " + Said(wanted.status)};
  for (const bool eager : {false, true}) {
    const auto plan = program.PlanFor(eager ? EagerEngines() : EnginesOf(EngineChoice::kExact));
    if (!plan.ok()) return {MutantEnd::kDifferent, "exact has no plan: " + Said(plan.status())};
    const std::string text = Difference(wanted, Run(**plan, program, false), true);
    if (!text.empty())
      return {MutantEnd::kDifferent, (eager ? "exact, steps of any size: " : "exact: ") + text};
  }
  std::string text = CheckForms(program, wanted);
  if (!text.empty()) return {MutantEnd::kDifferent, std::move(text)};
  return {wanted.status.ok() ? MutantEnd::kEqual : MutantEnd::kFailed, ""};
}

}  // namespace

MutantOutcome CompareMutant(std::string_view name, std::string_view text,
                            const std::map<std::string, Literal>& values, uint64_t seed) {
  const absl::StatusOr<Program> program = Program::Load(name, text);
  if (!program.ok()) {
    const int code = ExitCodeOf(program.status());
    // 5: a run-time error of what is computed when it is read.
    const bool fits = code == 3 || code == 4 || code == 5;
    return {fits ? MutantEnd::kRefused : MutantEnd::kDifferent, fits ? "" : Said(program.status())};
  }
  return Comparer(values, seed).Compare(*program);
}

}  // namespace assay::testing
