// assay diff: two sets of outputs, two programs, or a backend's outputs against the exact ones.
#include <algorithm>
#include <filesystem>
#include <span>
#include <string_view>

#include "check/backends/output_keys.h"
#include "devices/device_io.h"
#include "devices/run_devices.h"
#include "fmt/format.h"
#include "hlo/diagnostics.h"
#include "literal/compare.h"
#include "run/inputs/program_io.h"
#include "tools/backend.h"
#include "tools/commands.h"
#include "tools/output_files.h"
#include "tools/values.h"

namespace assay::cli {
namespace {

using ByKey = std::map<std::string, Literal>;

// What is compared by one name.
struct Pair {
  std::optional<Literal> expected, actual;  // nothing: the set lacks it
};
using Pairs = std::map<std::string, Pair>;

// Prints one line an output; 1 if anything is outside the tolerance or missing.
int Report(const Pairs& pairs, const DiffFlags& flags) {
  Tolerance tolerance;
  tolerance.rtol = flags.rtol;
  tolerance.atol = flags.atol;
  tolerance.ulps = flags.ulps;
  std::string text, lacking;
  bool equal = true;
  for (const auto& [key, pair] : pairs) {
    if (!pair.actual) {
      text += fmt::format("{}: missing in the second set\n", EscapeControls(key));
      equal = false;
    } else if (!pair.expected) {
      lacking += fmt::format("{}: missing in the first set\n", EscapeControls(key));
      equal = false;
    } else {
      const Comparison comparison = CompareLiterals(*pair.expected, *pair.actual, tolerance);
      equal = equal && comparison.ok();
      text += fmt::format("{}: {}\n", EscapeControls(key), comparison.Report());
    }
  }
  if (!Write(text + lacking)) return 5;
  return equal ? 0 : 1;
}

// In the order of the first file, then what the second has besides, in its order.
std::vector<NamedPair> InFileOrder(Pairs pairs, const Arrays (&arrays)[2]) {
  std::vector<std::pair<std::pair<int, int64_t>, NamedPair>> ordered;
  for (auto& [name, pair] : pairs) {
    const int file = pair.expected ? 0 : 1;
    ordered.push_back(
        {{file, arrays[file].at(name).member}, {name, std::move(pair.expected), std::move(pair.actual)}});
  }
  std::ranges::sort(ordered, {}, [](const auto& entry) { return entry.first; });
  std::vector<NamedPair> result;
  for (auto& entry : ordered) result.push_back(std::move(entry.second));
  return result;
}

int DiffFiles(const DiffFlags& flags) {
  const TypesByKey types = *ParseTypes(flags.types);
  TypesByKey found;
  Arrays arrays[2];
  ByKey sides[2];
  const std::string* const files[2] = {&flags.program, &flags.second};
  for (int i = 0; i < 2; ++i) {
    absl::StatusOr<Arrays> read = ReadOutputs(*files[i]);
    if (!read.ok()) return Fail(read.status(), *files[i]);
    arrays[i] = *std::move(read);
    if (const absl::Status status = SetTypes(types, arrays[i], found); !status.ok())
      return Fail(status, *files[i]);
  }
  if (NamesOthers(types, found, arrays)) return 2;
  for (int i = 0; i < 2; ++i) {
    if (const absl::Status status = TakeTypesFrom(arrays[1 - i], arrays[i]); !status.ok())
      return Fail(status, *files[i]);
  }
  Pairs pairs;
  for (int i = 0; i < 2; ++i) {
    for (const auto& [key, array] : arrays[i]) {
      // What has no counterpart needs no type.
      absl::StatusOr<Literal> value = arrays[1 - i].count(key) == 0 ? Literal() : DecodeOutput(key, array);
      if (!value.ok()) return Fail(value.status(), *files[i]);
      (i == 0 ? pairs[key].expected : pairs[key].actual) = *std::move(value);
    }
  }
  if (HoldsValues(arrays[0]) || HoldsValues(arrays[1]))
    return ReportValues(InFileOrder(std::move(pairs), arrays), flags);
  return Report(pairs, flags);
}

// The backend's outputs from its file: what the program sent to the host is compared
// where the file has it too.
int CompareWithFile(const DiffFlags& flags, const ByKey& exact, const Arrays& arrays) {
  Pairs pairs;
  for (const auto& [key, value] : exact) {
    const bool is_output =
        WithoutDevice(key).starts_with("out") && !WithoutDevice(key).starts_with("outfeed");
    const auto it = arrays.find(key);
    if (!is_output && it == arrays.end()) continue;
    Pair& pair = pairs[key];
    if (it != arrays.end()) {
      absl::StatusOr<Literal> actual = DecodeNpy(key, it->second, value.shape());
      if (!actual.ok()) return Fail(actual.status(), flags.actual);
      pair.actual = *std::move(actual);
    }
    pair.expected = value;
  }
  for (const auto& [key, array] : arrays) {
    if (pairs.count(key) == 0) pairs[key].actual = Literal();
  }
  return Report(pairs, flags);
}

int CompareWithBackend(const DiffFlags& flags, const LoadedProgram& loaded, const ByKey& exact,
                       const std::vector<Literal>& arguments, Backend& backend) {
  const absl::StatusOr<Backend::Outputs> actual = RunBackend(flags, backend, loaded, arguments);
  if (!actual.ok()) return Fail(actual.status(), flags.program);
  Pairs pairs;
  for (const auto& [key, value] : exact) {
    if (key.starts_with("out") && !key.starts_with("outfeed")) pairs[key].expected = value;
  }
  for (const auto& [key, value] : *actual) pairs[key].actual = value;
  return Report(pairs, flags);
}

int DiffProgram(const DiffFlags& flags) {
  if (const absl::Status status = CheckEngine(flags); !status.ok()) return Fail(status, flags.program);
  int exit_code = 0;
  const std::optional<LoadedProgram> loaded = Load(flags, exit_code);
  if (!loaded) return exit_code;
  if (LacksInputs(flags, *loaded)) return AskForInputs(flags, *loaded);
  absl::StatusOr<std::unique_ptr<Backend>> backend = nullptr;
  if (NamesBackend(flags))
    backend = BackendOf(flags, flags.backend, FormOfProgram(flags.program, loaded->OwnText()));
  if (!backend.ok()) return Fail(backend.status(), flags.program);
  RunOptions options = OptionsOf(flags);
  options.interrupted = Interrupted;
  const absl::StatusOr<DeviceGrid> grid = GridOf(flags, *loaded);
  if (!grid.ok()) return Fail(grid.status(), flags.program, loaded->text);
  absl::StatusOr<std::vector<DeviceInputs>> inputs = InputsFor(flags, *loaded, *grid);
  if (!inputs.ok()) return Fail(inputs.status(), InputsOf(flags));
  std::vector<Literal> arguments;
  std::optional<Arrays> actual;
  if (NamesBackend(flags)) {
    if (const absl::Status status = CheckBackendInputs(*grid, *inputs); !status.ok())
      return Fail(status, flags.program);
    arguments = (*inputs)[0].arguments;
  } else {
    actual = ReadActual(flags, *loaded, exit_code);
    if (!actual) return exit_code;
  }
  absl::StatusOr<std::vector<DeviceOutputs>> outputs = std::vector<DeviceOutputs>();
  if (flags.values.empty()) {
    const absl::StatusOr<std::shared_ptr<const Plan>> plan = loaded->program.PlanFor(EnginesOf(flags));
    if (!plan.ok()) return Fail(plan.status(), flags.program, loaded->text);
    outputs = RunDevices(**plan, *grid, *std::move(inputs), options);
  } else {
    absl::StatusOr<RunValues> values =
        RunForValues(loaded->program, *grid, *std::move(inputs), options, ValuesOptionsOf(flags.only));
    if (!values.ok()) return Fail(values.status(), flags.program, loaded->text);
    outputs = std::move(values->outputs);
    if (const int code = WriteBothValues(flags, *loaded, *values, arguments, **backend); code != 0)
      return code;
  }
  if (!outputs.ok()) return Fail(outputs.status(), flags.program, loaded->text);
  ByKey exact;
  for (auto& [key, value] : ResultsOfDevices(*grid, *outputs)) exact.emplace(key, std::move(value));
  return NamesBackend(flags) ? CompareWithBackend(flags, *loaded, exact, arguments, **backend)
                             : CompareWithFile(flags, exact, *actual);
}

// What is wrong with the flags where the rule is broken.
struct UsageRule {
  bool is_broken;
  std::string_view message;
};

std::string FirstBroken(std::span<const UsageRule> rules) {
  for (const UsageRule& rule : rules) {
    if (rule.is_broken) return std::string(rule.message);
  }
  return {};
}

// diff --spmd; empty: nothing is wrong.
std::string SpmdUsage(const DiffFlags& flags) {
  const UsageRule rules[] = {
      {!flags.actual.empty() || NamesBackend(flags) || flags.second.empty(),
       "diff --spmd takes a partitioned program and the whole one"},
      {!flags.types.empty(), "--types is of .npz files of outputs, which diff --spmd does not read"},
      {!flags.values.empty(), "diff writes values with --backend or --plugin, and without --spmd"},
  };
  return FirstBroken(rules);
}

// What --html, --tolerances and --values write is none of the files that are read.
std::string WrittenUsage(const DiffFlags& flags) {
  const std::pair<std::string_view, const std::string*> written[] = {
      {"--html", &flags.html}, {"--tolerances", &flags.tolerances}, {"--values", &flags.values}};
  for (const auto& [flag, path] : written) {
    if (path->empty()) continue;
    if (flag == "--values" && (!flags.profile.empty() || !NamesBackend(flags) || flags.spmd))
      return "diff writes values with --backend or --plugin, and without a --profile";
    if (flag != "--values" && flags.profile.empty())
      return flag == "--html" ? "diff writes a page with a --profile only"
                              : "diff writes tolerances with a --profile only";
    for (const std::string& read : {flags.program, flags.actual, flags.inputs, flags.profile}) {
      if (!read.empty() && read != "-" && SameFile(read, *path))
        return fmt::format("{} names '{}', which is read", flag, EscapeControls(*path));
    }
  }
  return {};
}

// What --finding writes.
std::string FindingUsage(const DiffFlags& flags) {
  std::error_code error;
  if (flags.finding.empty()) return {};
  if (!flags.isolate) return "--finding is what diff --isolate finds";
  if (!std::filesystem::exists(flags.finding, error)) return {};
  return fmt::format("--finding names '{}', which is there already", EscapeControls(flags.finding));
}

// diff of two files, or of a program with a backend; empty: nothing is wrong.
std::string DiffUsage(const DiffFlags& flags) {
  const bool has_profile = !flags.profile.empty(), has_backend = NamesBackend(flags);
  const bool has_program = has_backend || !flags.actual.empty();
  const UsageRule of_what[] = {
      {has_profile && !has_program,
       "diff with a --profile takes a program, its inputs and a backend: its outputs, --actual OUT.npz, or "
       "what gives them, --backend 'CMD {program} {inputs} {outputs}' or --plugin LIB.so"},
      {has_program == !flags.second.empty(),
       "diff takes either two .npz files, two programs, or a program with --actual OUT.npz, --backend 'CMD "
       "{program} "
       "{inputs} {outputs}' or --plugin LIB.so"},
      {flags.isolate && (!has_backend || !has_profile),
       "diff --isolate takes a --profile, and the backend that runs instructions: --backend 'CMD {program} "
       "{inputs} {outputs}'"},
  };
  if (std::string wrong = FirstBroken(of_what); !wrong.empty()) return wrong;
  if (std::string wrong = FindingUsage(flags); !wrong.empty()) return wrong;
  if (std::string wrong = WrittenUsage(flags); !wrong.empty()) return wrong;
  const UsageRule of_flags[] = {
      {!flags.types.empty() && has_backend,
       "--types is of .npz files that diff reads, not of a backend that it runs"},
      {has_profile && (flags.rtol > 0 || flags.atol > 0 || flags.ulps > 0),
       "diff takes either a --profile or tolerances (--rtol, --atol, --ulps)"},
      {flags.json && !has_profile, "diff prints JSON with a --profile only, or of two programs"},
      {!has_program && (!flags.inputs.empty() || flags.random_inputs),
       "diff of two .npz files runs nothing: --inputs and --random-inputs are for a program"},
  };
  return FirstBroken(of_flags);
}

}  // namespace

int Diff(const DiffFlags& flags) {
  const bool of_programs = !NamesBackend(flags) && ComparesPrograms(flags);
  std::string wrong = BackendUsage(flags.backend);
  if (wrong.empty() && !of_programs) wrong = flags.spmd ? SpmdUsage(flags) : DiffUsage(flags);
  if (!wrong.empty()) return UsageError(wrong);
  if (ReadsStandardInputTwice({flags.program, flags.second, flags.actual, flags.inputs})) return 2;
  if (of_programs) return DiffPrograms(flags);
  if (flags.spmd) return DiffPartitioned(flags);
  if (const int code = CheckFiles({flags.program, flags.second, flags.actual, flags.inputs},
                                  {flags.html, flags.tolerances, flags.values});
      code != 0)
    return code;
  if (!flags.profile.empty()) return DiffByProfile(flags);
  return flags.second.empty() ? DiffProgram(flags) : DiffFiles(flags);
}

}  // namespace assay::cli
