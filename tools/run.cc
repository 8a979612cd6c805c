// assay run.
#include <cmath>
#include <cstdio>
#include <utility>

#include "base/counted.h"
#include "base/json_writer.h"
#include "base/run_guard.h"
#include "check/backend.h"
#include "check/backends/output_keys.h"
#include "devices/device_io.h"
#include "devices/run_devices.h"
#include "devices/transport.h"
#include "fmt/format.h"
#include "hlo/diagnostics.h"
#include "literal/literal_text.h"
#include "literal/npz.h"
#include "run/inputs/program_io.h"
#include "run/trace/step_trace.h"
#include "tools/about/progress.h"
#include "tools/backend.h"
#include "tools/commands.h"
#include "tools/values.h"

namespace assay::cli {
namespace {

JsonText JsonElement(const Literal& array, int64_t i) {
  const ElementType type = array.shape().element_type();
  const std::string text = ElementToText(type, array.data() + i * Bytes(type));
  const bool plain =
      IsIntegral(type) || type == ElementType::kPred || (IsFloat(type) && std::isfinite(array.GetDouble(i)));
  return {plain ? text : "\"" + text + "\""};
}

// Writes the text of an array as it is made: it takes up to ten times the array's memory. An exit code.
int WriteData(const RunFlags& flags, const Literal& array, JsonWriter& json) {
  constexpr size_t kAtOnce = 1 << 16;
  json.Begin("[");
  for (int64_t i = 0; i < array.shape().num_elements(); ++i) {
    json.Write(JsonElement(array, i));
    if (json.text().size() < kAtOnce) continue;
    if (const absl::Status status = PollWork(); !status.ok()) return Fail(status, flags.program);
    if (!Write(json.text())) return 5;
    json.text().clear();
  }
  json.End("]");
  return 0;
}

// {"outputs": {"out0": {"type": "f32", "shape": [2], "data": [1, 2]}}, "steps": 3, "peak_bytes": 24,
// "fallbacks": []}; data row-major, complex and non-finite elements as strings. Of steps whose kernels left
// runs to the reference: why.
int WriteJson(const RunFlags& flags, const NamedLiterals& results, const RunStatistics& statistics) {
  JsonWriter json;
  int failed = 0;
  const auto write_results = [&] {
    json.Begin("{");
    for (const NamedLiterals::value_type& result : results) {
      if (failed != 0) break;
      const Literal& value = result.second;
      json.Fields(result.first, [&] {
        json.Object("type", Name(value.shape().element_type()), "shape", value.shape().sizes(), "data",
                    [&] { failed = WriteData(flags, value, json); });
      });
    }
    json.End("}");
  };
  const auto write_fallback = [&](const StepFallbacks& step) {
    json.Object("instruction", step.instruction, "kernel", step.engine, "runs", step.runs, "reason",
                step.reason);
  };
  json.Begin("{");
  json.Fields("outputs", write_results);
  if (failed != 0) return failed;
  json.Fields("steps", statistics.steps, "peak_bytes", statistics.peak_bytes, "fallbacks",
              [&] { json.Array(statistics.fallbacks, write_fallback); });
  if (flags.plugin.empty()) AddIdleEngines(IdleEnginesOf(flags), json);
  json.End("}");
  return Write(json.text() + "\n") ? 0 : 5;
}

std::string ToDisplay(const NamedLiterals& results) {
  std::string text;
  for (const auto& [key, value] : results) {
    text +=
        fmt::format("{} {}\n{}\n", EscapeControls(key), value.shape().ToString(), LiteralToDisplay(value));
  }
  return text;
}

int DeliverOutputs(const RunFlags& flags, const NamedLiterals& results, const RunStatistics& statistics) {
  if (ProcessRank() > 0) return 0;  // the first process writes
  if (!flags.output.empty()) {
    const absl::Status status = WriteNpzFile(flags.output, results);
    if (!status.ok()) return Fail(status, flags.output);
  }
  if (!flags.output.empty() && !flags.json) return 0;
  if (flags.json) return WriteJson(flags, results, statistics);
  return Write(ToDisplay(results)) ? 0 : 5;
}

// Steps and comparisons of all devices; what fell back, of device 0.
RunStatistics StatisticsOf(const std::vector<DeviceOutputs>& outputs) {
  RunStatistics all = outputs[0].statistics;
  for (size_t id = 1; id < outputs.size(); ++id) {
    all.steps += outputs[id].statistics.steps;
    all.peak_bytes = std::max(all.peak_bytes, outputs[id].statistics.peak_bytes);
    all.crosschecked += outputs[id].statistics.crosschecked;
  }
  return all;
}

NamedLiterals InOrder(const Module& module, Backend::Outputs outputs) {
  NamedLiterals results;
  for (const auto& [key, shape] : OutputsOf(module)) {
    if (const auto it = outputs.find(key); it != outputs.end())
      results.emplace_back(key, std::move(it->second));
  }
  return results;
}

int RunOnPlugin(const RunFlags& flags, const LoadedProgram& loaded) {
  const absl::StatusOr<DeviceGrid> grid = GridOf(flags, loaded);
  if (!grid.ok()) return FailIn(loaded, grid.status(), flags.program);
  const absl::StatusOr<std::vector<DeviceInputs>> inputs = InputsFor(flags, loaded, *grid);
  if (!inputs.ok()) return Fail(inputs.status(), InputsOf(flags));
  if (const absl::Status status = CheckBackendInputs(*grid, *inputs); !status.ok())
    return Fail(status, flags.program);
  const absl::StatusOr<std::unique_ptr<Backend>> plugin = PluginOf(flags);
  if (!plugin.ok()) return Fail(plugin.status(), flags.program);
  absl::StatusOr<Backend::Outputs> outputs = RunBackend(flags, **plugin, loaded, (*inputs)[0].arguments);
  if (!outputs.ok()) return FailIn(loaded, outputs.status(), flags.program);
  return DeliverOutputs(flags, InOrder(loaded.program.module(), *std::move(outputs)), {});
}

int RunProgram(const RunFlags& flags, const LoadedProgram& loaded) {
  if (LacksInputs(flags, loaded)) return AskForInputs(flags, loaded);
  if (flags.shadow) return RunShadowOf(flags, loaded);
  if (flags.trace_nan || !flags.trace_what.empty()) return RunTraceOf(flags, loaded);
  if (!flags.why.empty()) return RunWhyOf(flags, loaded);
  if (!flags.plugin.empty()) return RunOnPlugin(flags, loaded);
  std::shared_ptr<const Plan> plan;
  if (flags.values.empty()) {
    absl::StatusOr<std::shared_ptr<const Plan>> made = loaded.program.PlanFor(EnginesOf(flags));
    if (!made.ok()) return FailIn(loaded, made.status(), flags.program);
    plan = *std::move(made);
    SayIdle(IdleEnginesOf(flags));
  }

  RunOptions options = OptionsOf(flags);
  options.interrupted = Interrupted;
  // What the program prints comes at once; on standard error where standard output is JSON.
  bool printed = true;
  options.print = [&](const std::string& name, const Literal& value) {
    const std::string text = ToDisplay({{name, value}});
    if (flags.json) {
      ClearProgress();
      std::fputs(text.c_str(), stderr);
    } else {
      printed = Write(text) && printed;
    }
  };
  const absl::StatusOr<DeviceGrid> grid = GridOf(flags, loaded);
  if (!grid.ok()) return FailIn(loaded, grid.status(), flags.program);
  absl::StatusOr<std::vector<DeviceInputs>> inputs = InputsFor(flags, loaded, *grid);
  if (!inputs.ok()) return Fail(inputs.status(), InputsOf(flags));
  std::optional<StepTrace> trace;
  if (!flags.trace.empty()) trace.emplace(*plan);
  absl::StatusOr<std::vector<DeviceOutputs>> outputs = std::vector<DeviceOutputs>();
  if (plan == nullptr) {
    absl::StatusOr<RunValues> values =
        RunForValues(loaded.program, *grid, *std::move(inputs), options, ValuesOptionsOf(flags.only));
    if (!values.ok()) return FailIn(loaded, values.status(), flags.program);
    if (const int code = WriteValues(*values, flags.values); code != 0) return code;
    outputs = std::move(values->outputs);
  } else {
    outputs = RunDevices(*plan, *grid, *std::move(inputs), options, trace ? &*trace : nullptr);
  }
  if (!outputs.ok()) return FailIn(loaded, outputs.status(), flags.program);
  if (!printed) return 5;
  if (const int code = trace ? WriteTrace(*trace, flags.trace) : 0; code != 0) return code;
  return DeliverOutputs(flags, ResultsOfDevices(*grid, *outputs), StatisticsOf(*outputs));
}

}  // namespace

int Run(const RunFlags& flags) {
  if (ReadsStandardInputTwice({flags.program, flags.inputs})) return 2;
  for (const auto& [flag, path] :
       {std::pair("--trace", &flags.trace), std::pair("--values", &flags.values)}) {
    if (!flags.output.empty() && !path->empty() && SameFile(flags.output, *path))
      return UsageError(
          fmt::format("--output and {} are one file, '{}'", flag, EscapeControls(flags.output)));
  }
  if (const int code = CheckFilesOf(flags, {flags.output, flags.trace, flags.values}); code != 0) return code;
  if (const absl::Status status = CheckEngine(flags); !status.ok()) return Fail(status, flags.program);
  if (const absl::Status status = StartProfiles(flags); !status.ok()) return Fail(status, flags.program);
  bool told = false;
  return ForEachProgram(flags, [&](const LoadedProgram& loaded, size_t count) {
    // StableHLO's tests are files of programs that are run one after the other; modules of HLO are not.
    if (count > 1 && FormOfProgram(flags.program, loaded.text) == ProgramForm::kHloText)
      return std::exchange(told, true) ? 2 : WantsOneProgram(flags, loaded.text);
    // Two programs' results can't have one file, nor the same inputs.
    if (count > 1 && (!flags.inputs.empty() || !flags.output.empty() || !flags.trace.empty() ||
                      !flags.values.empty() || flags.json)) {
      return UsageError(
          fmt::format("{} holds {}: --inputs, --output, --trace, --values and --json are for one",
                      EscapeControls(flags.program), Counted(count, "program")));
    }
    return RunProgram(flags, loaded);
  });
}

}  // namespace assay::cli
