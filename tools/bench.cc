// assay bench.
#include <algorithm>
#include <chrono>

#include "base/counted.h"
#include "base/json_writer.h"
#include "engines/native/sums/tiers.h"
#include "fmt/format.h"
#include "gpu/driver/device.h"
#include "run/trace/roofline.h"
#include "run/trace/step_times.h"
#include "run/trace/step_trace.h"
#include "tools/commands.h"

namespace assay::cli {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double Share(int64_t part, int64_t all) {
  return static_cast<double>(part) / static_cast<double>(std::max<int64_t>(all, 1));
}

// Runs a plan again and again with the same arguments.
class Runner {
 public:
  Runner(const BenchFlags& flags, const LoadedProgram& loaded, const Plan& plan, const DeviceGrid& grid,
         std::vector<DeviceInputs> inputs)
      : flags_(flags),
        loaded_(loaded),
        plan_(plan),
        grid_(grid),
        inputs_(std::move(inputs)),
        options_(OptionsOf(flags)) {
    options_.interrupted = Interrupted;
  }

  // Seconds, of the device that takes longest; nothing, `exit_code` set and the error shown where the run
  // fails. What makes ready for a run, and clears up after it, is not part of it: a program that runs often
  // does that once.
  std::optional<double> Run(StepObserver* observer, int& exit_code) const {
    const absl::StatusOr<std::vector<DeviceOutputs>> outputs =
        RunDevices(plan_, grid_, inputs_, options_, observer);
    if (outputs.ok()) return std::ranges::max(*outputs, {}, &DeviceOutputs::seconds).seconds;
    exit_code = Fail(outputs.status(), flags_.program, loaded_.text);
    return std::nullopt;
  }

  // Calls `each` for a second, at least 3 times and at most 1,000, or until it returns false.
  template <typename Each>
  static void Repeat(Each each) {
    const Clock::time_point first = Clock::now();
    for (int runs = 0; runs < 3 || (SecondsSince(first) < 1 && runs < 1000); ++runs) {
      if (!each()) return;
    }
  }

 private:
  const BenchFlags& flags_;
  const LoadedProgram& loaded_;
  const Plan& plan_;
  const DeviceGrid grid_;
  const std::vector<DeviceInputs> inputs_;  // before a run
  RunOptions options_;
};

// The times of all runs, and what tiers sums and functions needed.
struct Times {
  std::vector<double> seconds;  // sorted
  double compile_seconds = 0;
  std::optional<double> device_seconds;
  native::TierCounts sums;
  native::FunctionTiers functions;

  double median() const { return seconds[seconds.size() / 2]; }
};

std::optional<Times> MeasureTimes(const Runner& runner, int& exit_code) {
  Times times;
  const native::TierCounts before = native::Tiers();
  const native::FunctionTiers functions_before = native::FunctionTierCounts();
  bool fine = true;
  Runner::Repeat([&] {
    const std::optional<double> seconds = runner.Run(nullptr, exit_code);
    fine = seconds.has_value();
    if (fine) times.seconds.push_back(*seconds);
    return fine;
  });
  if (!fine) return std::nullopt;
  std::sort(times.seconds.begin(), times.seconds.end());
  const native::TierCounts after = native::Tiers();
  const native::FunctionTiers functions_after = native::FunctionTierCounts();
  times.sums = {after.sums - before.sums, after.pairs - before.pairs, after.slices - before.slices};
  times.functions = {functions_after.elements - functions_before.elements,
                     functions_after.second - functions_before.second,
                     functions_after.reference - functions_before.reference};
  return times;
}

// The time on the GPU, the median of some runs; none where the plan has no step there. These runs are not
// those of the other times: recording events takes the host time.
std::optional<double> MeasureDevice(const BenchFlags& flags, const Plan& plan, const Runner& runner,
                                    int& exit_code) {
  constexpr int kRuns = 9;
  const auto is_on_device = [](const Step& step) {
    return step.kernel != nullptr && step.kernel->is_on_device();
  };
  if (std::ranges::none_of(plan.computations, [&](const ComputationPlan& computation) {
        return std::ranges::any_of(computation.steps, is_on_device);
      }))
    return std::nullopt;
  const absl::StatusOr<std::shared_ptr<gpu::Device>> device = gpu::Device::Open(flags.gpu.driver);
  std::vector<double> seconds;
  for (int run = 0; device.ok() && run < kRuns; ++run) {
    absl::Status status = (*device)->StartTiming();
    if (status.ok() && !runner.Run(nullptr, exit_code)) return std::nullopt;
    const absl::StatusOr<double> time = status.ok() ? (*device)->EndTiming() : status;
    if (!time.ok()) {
      exit_code = Fail(time.status(), flags.program);
      return std::nullopt;
    }
    seconds.push_back(*time);
  }
  if (seconds.empty()) return std::nullopt;
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

// What was measured of every step of a plan.
struct StepReport {
  double run_seconds = 0;  // of the run that the times are of, the fastest of
  int64_t runs = 0;
  std::vector<std::vector<StepTime>> times;  // by computation and step; the tiers of another run
  Peaks peaks;
};

std::optional<StepReport> MeasureSteps(const BenchFlags& flags, const Plan& plan, const Runner& runner,
                                       int& exit_code) {
  StepReport report;
  bool fine = true;
  Runner::Repeat([&] {
    StepTimes times(plan, StepTimes::What::kTimes);
    const std::optional<double> seconds = runner.Run(&times, exit_code);
    fine = seconds.has_value();
    if (fine && (report.runs++ == 0 || *seconds < report.run_seconds)) {
      report.run_seconds = *seconds;
      report.times = times.times();
    }
    return fine;
  });
  StepTimes tiers(plan, StepTimes::What::kTiers);
  if (!fine || !runner.Run(&tiers, exit_code)) return std::nullopt;
  for (size_t c = 0; c < report.times.size(); ++c) {
    for (size_t k = 0; k < report.times[c].size(); ++k) report.times[c][k].tiers = tiers.times()[c][k].tiers;
  }
  Parallel parallel(plan.engines.empty() ? 1 : flags.options.jobs);
  report.peaks = MeasurePeaks(parallel, *IsaOf(flags));
  return report;
}

// A step that ran, with all that is said of it.
struct StepRow {
  const Computation* computation;
  const Step* step;
  const StepTime* time;
  Cost cost;
  std::optional<double> roofline;

  const Instruction& instruction() const {
    return computation->instructions[static_cast<size_t>(step->instruction)];
  }
  std::string_view kernel() const { return step->engine == nullptr ? "reference" : step->engine->name(); }
};

// The rows are in the order of the plan.
std::vector<StepRow> RowsOf(const Plan& plan, const StepReport& report) {
  const Costs costs(*plan.module);
  std::vector<StepRow> rows;
  for (size_t c = 0; c < plan.computations.size(); ++c) {
    const Computation& computation = plan.module->computations[c];
    for (size_t k = 0; k < plan.computations[c].steps.size(); ++k) {
      const StepTime& time = report.times[c][k];
      if (time.calls == 0) continue;
      const Step& step = plan.computations[c].steps[k];
      const Cost cost = costs.Of(computation, step);
      const double each = time.self / static_cast<double>(time.calls);
      rows.push_back(
          {&computation, &step, &time, cost, ShareOfRoofline(report.peaks, computation, step, cost, each)});
    }
  }
  return rows;
}

void WriteRow(const StepRow& row, JsonWriter& json) {
  const TierUse& tiers = row.time->tiers;
  const auto known = [](bool is_known, JsonText text) {
    return is_known ? std::optional(text) : std::nullopt;
  };
  json.Begin("{");
  json.Fields("name", row.instruction().name, "computation", row.computation->name);
  json.Fields("op", Name(row.instruction().opcode), "shape", row.instruction().shape->ToString());
  json.Fields("fused", row.step->fusion == nullptr ? 1 : row.step->fusion->members.size());
  json.Fields("kernel", row.kernel(), "calls", row.time->calls, "fallbacks", row.time->fallbacks);
  json.Fields("total_s", SignificantDigits(row.time->total, 9));
  json.Fields("self_s", SignificantDigits(row.time->self, 9));
  json.Fields("bytes", DecimalPlaces(row.cost.bytes(), 0));
  json.Fields("flops", known(row.cost.known, DecimalPlaces(row.cost.flops, 0)));
  json.Fields("functions", DecimalPlaces(row.cost.functions, 0));
  json.Fields("roofline_share",
              known(row.roofline.has_value(), SignificantDigits(row.roofline.value_or(0), 4)));
  json.Fields("tested", tiers.tested, "tier2", tiers.second, "tier3", tiers.third);
  json.Fields("tier2_share", SignificantDigits(Share(tiers.second, tiers.tested), 3));
  json.Fields("tier3_share", SignificantDigits(Share(tiers.third, tiers.tested), 3));
  json.End("}");
}

void AddSteps(const Plan& plan, const StepReport& report, JsonWriter& json) {
  const auto write_peaks = [&] {
    json.Object("copy_bytes_per_s", SignificantDigits(report.peaks.copy, 4), "cached_copy_bytes_per_s",
                SignificantDigits(report.peaks.cached, 4), "f32_flops_per_s",
                SignificantDigits(report.peaks.f32, 4), "f64_flops_per_s",
                SignificantDigits(report.peaks.f64, 4));
  };
  json.Fields("steps_runs", report.runs, "steps_run_s", SignificantDigits(report.run_seconds, 9), "peaks",
              write_peaks);
  json.Fields("steps",
              [&] { json.Array(RowsOf(plan, report), [&](const StepRow& row) { WriteRow(row, json); }); });
}

void AddTimes(const Times& times, JsonWriter& json) {
  const auto& [sums, functions] = std::tie(times.sums, times.functions);
  const auto share = [](auto part, auto whole) { return SignificantDigits(Share(part, whole), 3); };
  json.Fields("median_s", SignificantDigits(times.median(), 9), "min_s",
              SignificantDigits(times.seconds[0], 9), "runs", times.seconds.size(), "compile_s",
              SignificantDigits(times.compile_seconds, 9));
  if (times.device_seconds) json.Fields("device_s", SignificantDigits(*times.device_seconds, 9));
  json.Fields("sums", sums.sums, "pairs_share", share(sums.pairs, sums.sums), "slices_share",
              share(sums.slices, sums.sums));
  json.Fields("values", functions.elements, "second_share", share(functions.second, functions.elements),
              "reference_share", share(functions.reference, functions.elements));
}

std::string TimesJson(const Times& times, const Plan& plan, const std::optional<StepReport>& report,
                      std::span<const IdleEngine> idle) {
  JsonWriter json;
  json.Begin("{");
  AddTimes(times, json);
  if (report) AddSteps(plan, *report, json);
  AddIdleEngines(idle, json);
  json.End("}");
  return json.text() + "\n";
}

std::string TimesText(const Times& times) {
  std::string text = fmt::format(
      "median {:.6g} s, min {:.6g} s over {}; read, verified and planned in {:.6g} s\n", times.median(),
      times.seconds[0], Counted(times.seconds.size(), "run"), times.compile_seconds);
  if (times.device_seconds) text += fmt::format("median on the GPU {:.6g} s\n", *times.device_seconds);
  const native::TierCounts& sums = times.sums;
  if (sums.sums > 0) {
    text += fmt::format("{} exact sums: {:.3g} of them needed pairs of doubles, {:.3g} slices\n", sums.sums,
                        Share(sums.pairs, sums.sums), Share(sums.slices, sums.sums));
  }
  const native::FunctionTiers& functions = times.functions;
  if (functions.elements > 0) {
    text += fmt::format("{} of functions: {:.3g} of them needed pairs of doubles, {:.3g} the reference\n",
                        Counted(functions.elements, "value"), Share(functions.second, functions.elements),
                        Share(functions.reference, functions.elements));
  }
  return text;
}

// "12.3 ms", "850 us".
std::string SecondsText(double seconds) {
  if (seconds >= 0.9995) return fmt::format("{:.3g} s", seconds);
  return seconds >= 0.9995e-3 ? fmt::format("{:.3g} ms", seconds * 1e3)
                              : fmt::format("{:.3g} us", seconds * 1e6);
}

std::string PercentText(std::optional<double> share) {
  return share ? fmt::format("{:.3g}%", *share * 100) : "";
}

std::string TimesText(const StepRow& row, double run_seconds) {
  const TierUse& tiers = row.time->tiers;
  const auto of_tested = [&](int64_t part) {
    return tiers.tested == 0 ? "" : fmt::format("{:.2g}", Share(part, tiers.tested));
  };
  const size_t fused = row.step->fusion == nullptr ? 1 : row.step->fusion->members.size();
  return fmt::format(
      "  {:>5.1f}%  {:>8}  {:>7}  {:>7}  {:>7}  {:>7}  {:>9}  {:<9}  %{} = {} {}{}{}\n",
      100 * row.time->self / run_seconds, SecondsText(row.time->self), row.time->calls,
      PercentText(row.roofline), of_tested(tiers.second), of_tested(tiers.third), BytesText(row.cost.bytes()),
      row.kernel(), row.instruction().name, row.instruction().shape->ToString(),
      Name(row.instruction().opcode), fused > 1 ? fmt::format(" and {} more", fused - 1) : "",
      row.time->fallbacks > 0 ? fmt::format("  {} by the reference", row.time->fallbacks) : "");
}

// The slowest first; steps below a thousandth of the run together in one line.
std::string TimesText(const Plan& plan, const StepReport& report) {
  std::vector<StepRow> rows = RowsOf(plan, report);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const StepRow& a, const StepRow& b) { return a.time->self > b.time->self; });
  std::string text = fmt::format(
      "steps of the fastest of {} more runs, {}; peaks measured here: copy {:.3g} GB/s ({:.3g} in cache), "
      "f32 {:.4g} Gflop/s, "
      "f64 {:.4g} Gflop/s\n  {:>6}  {:>8}  {:>7}  {:>7}  {:>7}  {:>7}  {:>9}  {:<9}  step\n",
      report.runs, SecondsText(report.run_seconds), report.peaks.copy / 1e9, report.peaks.cached / 1e9,
      report.peaks.f32 / 1e9, report.peaks.f64 / 1e9, "time", "self", "calls", "of peak", "tier 2", "tier 3",
      "bytes", "kernel");
  double rest = report.run_seconds, small = 0;
  size_t num_small = 0;
  for (const StepRow& row : rows) {
    rest -= row.time->self;
    if (row.time->self >= report.run_seconds / 1000) {
      text += TimesText(row, report.run_seconds);
    } else {
      small += row.time->self;
      ++num_small;
    }
  }
  const auto line = [&](double seconds, const std::string& what) {
    return fmt::format("  {:>5.1f}%  {:>8}  {}\n", 100 * seconds / report.run_seconds, SecondsText(seconds),
                       what);
  };
  if (num_small > 0) text += line(small, fmt::format("{} more steps", num_small));
  return text + line(rest, "between steps");
}

}  // namespace

int Bench(const BenchFlags& flags) {
  if (ReadsStandardInputTwice({flags.program, flags.inputs})) return 2;
  if (const int code = CheckFilesOf(flags, {flags.trace}); code != 0) return code;
  if (const absl::Status status = CheckEngine(flags); !status.ok()) return Fail(status, flags.program);
  if (const absl::Status status = StartProfiles(flags); !status.ok()) return Fail(status, flags.program);
  int exit_code = 0;
  const Clock::time_point start = Clock::now();
  const std::optional<LoadedProgram> loaded = Load(flags, exit_code);
  if (!loaded) return exit_code;
  const absl::StatusOr<std::shared_ptr<const Plan>> planned = loaded->program.PlanFor(EnginesOf(flags));
  if (!planned.ok()) return Fail(planned.status(), flags.program, loaded->text);
  const Plan& plan = **planned;
  const double compile_seconds = SecondsSince(start);
  const std::vector<IdleEngine> idle = IdleEnginesOf(flags);
  SayIdle(idle);

  BenchFlags with_inputs = flags;
  if (flags.inputs.empty() && !flags.random_inputs && !HasSnapshot(*loaded)) with_inputs.random_inputs = 0;
  const absl::StatusOr<DeviceGrid> grid = GridOf(flags, *loaded);
  if (!grid.ok()) return Fail(grid.status(), flags.program, loaded->text);
  absl::StatusOr<std::vector<DeviceInputs>> inputs = InputsFor(with_inputs, *loaded, *grid);
  if (!inputs.ok()) return Fail(inputs.status(), InputsOf(flags));

  const Runner runner(flags, *loaded, plan, *grid, *std::move(inputs));
  std::optional<Times> times = MeasureTimes(runner, exit_code);
  if (!times) return exit_code;
  times->compile_seconds = compile_seconds;
  times->device_seconds = MeasureDevice(flags, plan, runner, exit_code);
  if (exit_code != 0) return exit_code;
  std::optional<StepReport> report;
  if (flags.steps && !(report = MeasureSteps(flags, plan, runner, exit_code))) return exit_code;
  if (!flags.trace.empty()) {
    StepTrace trace(plan);
    if (!runner.Run(&trace, exit_code)) return exit_code;
    if ((exit_code = WriteTrace(trace, flags.trace)) != 0) return exit_code;
  }
  const std::string text = flags.json ? TimesJson(*times, plan, report, idle)
                                      : TimesText(*times) + (report ? TimesText(plan, *report) : "");
  return Write(text) ? 0 : 5;
}

}  // namespace assay::cli
