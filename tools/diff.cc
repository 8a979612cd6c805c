// assay diff: two sets of outputs, or a backend's outputs against the exact ones.
#include "devices/device_io.h"
#include "devices/run_devices.h"
#include "fmt/format.h"
#include "hlo/diagnostics.h"
#include "literal/compare.h"
#include "literal/npz.h"
#include "run/inputs/program_io.h"
#include "tools/backend.h"
#include "tools/commands.h"

namespace assay::cli {
namespace {

using ByKey = std::map<std::string, Literal>;
using Arrays = std::map<std::string, NpyArray>;

// A lone .npy holds the one output of a program.
absl::StatusOr<Arrays> ReadOutputs(const std::string& path) {
  ASSAY_ASSIGN_OR_RETURN(Arrays arrays, ReadNpzFile(path));
  if (arrays.size() == 1 && arrays.count("") == 1) arrays["out0"] = std::move(arrays.extract("").mapped());
  return arrays;
}

absl::StatusOr<ByKey> DecodeAll(const Arrays& arrays) {
  ByKey values;
  for (const auto& [key, array] : arrays) {
    ASSAY_ASSIGN_OR_RETURN(Literal value, DecodeNpyByDescr(key, array));
    values.emplace(key, std::move(value));
  }
  return values;
}

// Compares by key and prints one line an output; 1 if anything is outside the tolerance or missing.
int Report(const ByKey& expected, const ByKey& actual, const DiffFlags& flags) {
  Tolerance tolerance;
  tolerance.rtol = flags.rtol;
  tolerance.atol = flags.atol;
  tolerance.ulps = flags.ulps;
  std::string text;
  bool equal = true;
  for (const auto& [key, value] : expected) {
    const auto it = actual.find(key);
    if (it == actual.end()) {
      text += fmt::format("{}: missing in the second set\n", EscapeControls(key));
      equal = false;
      continue;
    }
    const Comparison comparison = CompareLiterals(value, it->second, tolerance);
    equal = equal && comparison.ok();
    text += fmt::format("{}: {}\n", EscapeControls(key), comparison.Report());
  }
  for (const auto& [key, value] : actual) {
    if (expected.count(key) > 0) continue;
    text += fmt::format("{}: missing in the first set\n", EscapeControls(key));
    equal = false;
  }
  if (!Write(text)) return 5;
  return equal ? 0 : 1;
}

int DiffFiles(const DiffFlags& flags) {
  ByKey sides[2];
  const std::string* const files[2] = {&flags.first, &flags.second};
  for (int i = 0; i < 2; ++i) {
    const absl::StatusOr<Arrays> arrays = ReadOutputs(*files[i]);
    if (!arrays.ok()) return Fail(arrays.status(), *files[i]);
    absl::StatusOr<ByKey> values = DecodeAll(*arrays);
    if (!values.ok()) return Fail(values.status(), *files[i]);
    sides[i] = *std::move(values);
  }
  return Report(sides[0], sides[1], flags);
}

// The backend's outputs from its file: what the program sent to the host is compared where the file has it too.
int CompareWithFile(const DiffFlags& flags, ByKey exact) {
  const absl::StatusOr<Arrays> arrays = ReadOutputs(flags.actual);
  if (!arrays.ok()) return Fail(arrays.status(), flags.actual);
  ByKey expected, actual;
  for (auto& [key, value] : exact) {
    const bool is_output =
        WithoutDevice(key).starts_with("out") && !WithoutDevice(key).starts_with("outfeed");
    if (is_output || arrays->count(key) > 0) expected.emplace(key, std::move(value));
  }
  for (const auto& [key, array] : *arrays) {
    const auto it = expected.find(key);
    absl::StatusOr<Literal> value =
        it == expected.end() ? DecodeNpyByDescr(key, array) : DecodeNpy(key, array, it->second.shape());
    if (!value.ok()) return Fail(value.status(), flags.actual);
    actual.emplace(key, *std::move(value));
  }
  return Report(expected, actual, flags);
}

int CompareWithBackend(const DiffFlags& flags, const ProgramInFile& loaded, const ByKey& exact,
                       const std::vector<Literal>& arguments) {
  const absl::StatusOr<std::unique_ptr<Backend>> backend = BackendOf(flags);
  if (!backend.ok()) return Fail(backend.status(), flags.first);
  const absl::StatusOr<Backend::Outputs> actual = RunBackend(flags, **backend, loaded, arguments);
  if (!actual.ok()) return Fail(actual.status(), flags.first);
  ByKey expected;
  for (const auto& [key, value] : exact) {
    if (key.starts_with("out") && !key.starts_with("outfeed")) expected.emplace(key, value);
  }
  return Report(expected, *actual, flags);
}

int DiffProgram(const DiffFlags& flags) {
  if (const absl::Status status = CheckEngine(flags.run); !status.ok()) return Fail(status, flags.first);
  int exit_code = 0;
  const std::optional<ProgramInFile> loaded = Load(flags.run, exit_code);
  if (!loaded) return exit_code;
  if (LacksInputs(flags.run, *loaded)) return AskForInputs(flags.run, *loaded);
  const absl::StatusOr<std::shared_ptr<const Plan>> plan = loaded->program.PlanFor(EnginesOf(flags.run));
  if (!plan.ok()) return Fail(plan.status(), flags.first, loaded->text);
  RunOptions options = OptionsOf(flags.run);
  options.interrupted = Interrupted;
  const absl::StatusOr<DeviceGrid> grid = GridOf(flags.run, *loaded);
  if (!grid.ok()) return Fail(grid.status(), flags.first, loaded->text);
  absl::StatusOr<std::vector<DeviceInputs>> inputs = InputsFor(flags.run, *loaded, *grid);
  if (!inputs.ok()) return Fail(inputs.status(), InputsOf(flags.run));
  std::vector<Literal> arguments;
  if (NamesBackend(flags)) {
    if (const absl::Status status = CheckBackendInputs(*grid, *inputs); !status.ok())
      return Fail(status, flags.first);
    arguments = (*inputs)[0].arguments;
  }
  const absl::StatusOr<std::vector<DeviceOutputs>> outputs =
      RunDevices(**plan, *grid, *std::move(inputs), options);
  if (!outputs.ok()) return Fail(outputs.status(), flags.first, loaded->text);
  ByKey exact;
  for (auto& [key, value] : ResultsOfDevices(*grid, *outputs)) exact.emplace(key, std::move(value));
  return NamesBackend(flags) ? CompareWithBackend(flags, *loaded, exact, arguments)
                             : CompareWithFile(flags, std::move(exact));
}

}  // namespace

int Diff(const DiffFlags& flags) {
  const bool runs = NamesBackend(flags);
  if (const std::string wrong = BackendUsage(flags); !wrong.empty()) return UsageError(wrong);
  if (flags.spmd) {
    if (!flags.actual.empty() || runs || flags.second.empty())
      return UsageError("diff --spmd takes a partitioned program and the whole one");
    if (ReadsStandardInputTwice({flags.first, flags.second, flags.run.inputs})) return 2;
    return DiffPartitioned(flags);
  }
  if (!flags.profile.empty() && flags.actual.empty() && !runs) {
    return UsageError(
        "diff with a --profile takes a program, its inputs and a backend: its outputs, --actual OUT.npz, or "
        "what "
        "gives them, --backend 'CMD {program} {inputs} {outputs}' or --plugin LIB.so");
  }
  if ((flags.actual.empty() && !runs) == flags.second.empty()) {
    return UsageError(
        "diff takes either two .npz files or a program with --actual OUT.npz, --backend 'CMD {program} "
        "{inputs} "
        "{outputs}' or --plugin LIB.so");
  }
  if (flags.isolate && (!runs || flags.profile.empty())) {
    return UsageError(
        "diff --isolate takes a --profile, and the backend that runs instructions: --backend 'CMD {program} "
        "{inputs} "
        "{outputs}'");
  }
  if (!flags.html.empty()) {
    if (flags.profile.empty()) return UsageError("diff writes a page with a --profile only");
    for (const std::string& read : {flags.first, flags.actual, flags.run.inputs, flags.profile}) {
      if (!read.empty() && read != "-" && SameFile(read, flags.html))
        return UsageError(fmt::format("--html names '{}', which is read", EscapeControls(flags.html)));
    }
  }
  if (ReadsStandardInputTwice({flags.first, flags.second, flags.actual, flags.run.inputs})) return 2;
  if (!flags.profile.empty()) return DiffByProfile(flags);
  if (flags.run.json) return UsageError("diff prints JSON with a --profile only");
  if (!flags.actual.empty() || runs) return DiffProgram(flags);
  if (!flags.run.inputs.empty() || flags.run.random_inputs)
    return UsageError("diff of two .npz files runs nothing: --inputs and --random-inputs are for a program");
  return DiffFiles(flags);
}

}  // namespace assay::cli
