// assay run, assay bench.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "evaluator/executor.h"
#include "evaluator/native/tiers.h"
#include "evaluator/program_io.h"
#include "fmt/format.h"
#include "hlo/diagnostics.h"
#include "literal/literal_text.h"
#include "literal/npz.h"
#include "tools/commands.h"

namespace assay::cli {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Shows on a terminal that a long run is alive: a line on standard error that is rewritten, and removed at
// the end.
class Progress {
 public:
  Progress() : shown_on_(isatty(STDERR_FILENO) != 0), start_(Clock::now()) {}
  ~Progress() {
    if (any_) std::fputs("\r\x1b[K", stderr);
  }
  void Tick() {
    if (!shown_on_) return;
    const double elapsed = SecondsSince(start_);
    if (elapsed < 1 || elapsed - last_ < 0.5) return;
    last_ = elapsed;
    any_ = true;
    std::fprintf(stderr, "\revaluating … %.1f s", elapsed);
  }

 private:
  bool shown_on_, any_ = false;
  Clock::time_point start_;
  double last_ = 0;
};

// What the program takes and how to give it, for a user who gave nothing.
int AskForInputs(const RunFlags& flags, const VerifiedModule& module) {
  return UsageError(
      fmt::format("{0} takes inputs: {1}\ngive them as arrays of these names with --inputs FILE.npz, for "
                  "example from Python:\n"
                  "  np.savez(\"inputs.npz\", arg0=...)\nor let Assay make some with --random-inputs SEED",
                  flags.program, DescribeParameters(module)));
}

bool NeedsInputs(const VerifiedModule& module) { return DescribeParameters(module) != "nothing"; }

std::string JsonElement(const Literal& array, int64_t i) {
  const ElementType type = array.shape().element_type();
  const std::string text = ElementToText(type, array.data() + i * Bytes(type));
  const bool plain =
      IsIntegral(type) || type == ElementType::kPred || (IsFloat(type) && std::isfinite(array.GetDouble(i)));
  return plain ? text : "\"" + text + "\"";
}

// Names of probes and channels may hold anything.
std::string JsonString(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      quoted += fmt::format("\\u{:04x}", static_cast<int>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

// {"outputs": {"out0": {"type": "f32", "shape": [2], "data": [1, 2]}}, "steps": 3, "peak_bytes": 24}; data
// row-major, complex and non-finite elements as strings.
std::string ToJson(const NamedLiterals& results, const RunStatistics& statistics) {
  std::string text = "{\"outputs\": {";
  for (size_t k = 0; k < results.size(); ++k) {
    const auto& [key, value] = results[k];
    const Shape& shape = value.shape();
    text += fmt::format("{}{}: {{\"type\": \"{}\", \"shape\": [{}], \"data\": [", k == 0 ? "" : ", ",
                        JsonString(key), Name(shape.element_type()), fmt::join(shape.sizes(), ", "));
    for (int64_t i = 0; i < shape.num_elements(); ++i) {
      if (i > 0) text += ", ";
      text += JsonElement(value, i);
    }
    text += "]}";
  }
  return text +
         fmt::format("}}, \"steps\": {}, \"peak_bytes\": {}}}\n", statistics.steps, statistics.peak_bytes);
}

std::string ToDisplay(const NamedLiterals& results) {
  std::string text;
  for (const auto& [key, value] : results) {
    text +=
        fmt::format("{} {}\n{}\n", EscapeControls(key), value.shape().ToString(), LiteralToDisplay(value));
  }
  return text;
}

int Deliver(const RunFlags& flags, const NamedLiterals& results, const RunStatistics& statistics) {
  if (!flags.output.empty()) {
    const absl::Status status = WriteNpzFile(flags.output, results);
    if (!status.ok()) return Fail(status, flags.output);
  }
  if (!flags.output.empty() && !flags.json) return 0;
  if (Write(flags.json ? ToJson(results, statistics) : ToDisplay(results))) return 0;
  std::fputs("assay: error: standard output could not be written\n", stderr);
  return 5;
}

int RunProgram(const RunFlags& flags, const Program& program) {
  if (flags.inputs.empty() && !flags.random_inputs && NeedsInputs(program.module) && !HasSnapshot(program)) {
    return AskForInputs(flags, program.module);
  }
  const absl::StatusOr<Plan> plan = MakePlan(program.module, ChoiceOf(flags), *IsaOf(flags));
  if (!plan.ok()) return FailIn(program, plan.status(), flags.program);

  Progress progress;
  RunOptions options = OptionsOf(flags);
  options.interrupted = [&progress] {
    progress.Tick();
    return Interrupted();
  };
  // What the program prints comes at once; on standard error where standard output is JSON.
  options.print = [&flags](const std::string& name, const Literal& value) {
    std::fputs(ToDisplay({{name, value}}).c_str(), flags.json ? stderr : stdout);
  };
  Executor executor(*plan, options);
  absl::StatusOr<std::vector<Literal>> arguments = Arguments(flags, program, &executor.process().infeed);
  if (!arguments.ok()) return Fail(arguments.status(), flags.inputs.empty() ? flags.program : flags.inputs);
  const absl::StatusOr<Literal> root = executor.Run(*std::move(arguments));
  if (!root.ok()) return FailIn(program, root.status(), flags.program);
  return Deliver(flags, AllResults(*root, executor.process()), executor.statistics());
}

}  // namespace

int Run(const RunFlags& flags) {
  if (const absl::Status status = CheckEngine(flags); !status.ok()) return Fail(status, flags.program);
  return ForEachProgram(flags, [&](const Program& program, size_t count) {
    // Two programs' results can't have one file, nor the same inputs.
    if (count > 1 && (!flags.inputs.empty() || !flags.output.empty() || flags.json)) {
      return UsageError(fmt::format("{} holds {} programs: --inputs, --output and --json are for one",
                                    flags.program, count));
    }
    return RunProgram(flags, program);
  });
}

int Bench(const RunFlags& flags) {
  if (const absl::Status status = CheckEngine(flags); !status.ok()) return Fail(status, flags.program);
  int exit_code = 0;
  const Clock::time_point start = Clock::now();
  const std::optional<Program> program = Load(flags, exit_code);
  if (!program) return exit_code;
  const absl::StatusOr<Plan> plan = MakePlan(program->module, ChoiceOf(flags), *IsaOf(flags));
  if (!plan.ok()) return Fail(plan.status(), flags.program, program->text);
  const double compile_seconds = SecondsSince(start);

  RunFlags with_inputs = flags;
  if (flags.inputs.empty() && !flags.random_inputs && !HasSnapshot(*program)) with_inputs.random_inputs = 0;
  std::deque<StreamItem> infeed;
  const absl::StatusOr<std::vector<Literal>> arguments = Arguments(with_inputs, *program, &infeed);
  if (!arguments.ok()) return Fail(arguments.status(), flags.inputs);
  RunOptions options = OptionsOf(flags);
  options.interrupted = Interrupted;

  std::vector<double> seconds;
  const native::TierCounts before = native::Tiers();
  const native::FunctionTiers functions_before = native::FunctionTierCounts();
  const Clock::time_point first = Clock::now();
  while (seconds.size() < 3 || (SecondsSince(first) < 1 && seconds.size() < 1000)) {
    Executor executor(*plan, options);
    executor.process().infeed = infeed;
    const Clock::time_point run_start = Clock::now();
    const absl::StatusOr<Literal> root = executor.Run(*arguments);
    if (!root.ok()) return Fail(root.status(), flags.program, program->text);
    seconds.push_back(SecondsSince(run_start));
  }
  std::sort(seconds.begin(), seconds.end());
  const double median = seconds[seconds.size() / 2];
  const native::TierCounts after = native::Tiers();
  const int64_t sums = after.sums - before.sums;
  // Shares of the exact sums that needed the second and the third tier.
  const double whole = static_cast<double>(std::max<int64_t>(sums, 1));
  const double pairs = static_cast<double>(after.pairs - before.pairs) / whole;
  const double slices = static_cast<double>(after.slices - before.slices) / whole;
  // And of the values of scalar functions that needed pairs of doubles (f64 starts there) and the reference.
  const native::FunctionTiers functions_after = native::FunctionTierCounts();
  const int64_t values = functions_after.elements - functions_before.elements;
  const double whole_values = static_cast<double>(std::max<int64_t>(values, 1));
  const double second = static_cast<double>(functions_after.second - functions_before.second) / whole_values;
  const double reference =
      static_cast<double>(functions_after.reference - functions_before.reference) / whole_values;
  if (flags.json) {
    const std::string text = fmt::format(
        "{{\"median_s\": {:.9g}, \"min_s\": {:.9g}, \"runs\": {}, \"compile_s\": {:.9g}, \"sums\": {}, "
        "\"pairs_share\": {:.3g}, \"slices_share\": {:.3g}, \"values\": {}, \"second_share\": {:.3g}, "
        "\"reference_share\": {:.3g}}}\n",
        median, seconds[0], seconds.size(), compile_seconds, sums, pairs, slices, values, second, reference);
    return Write(text) ? 0 : 5;
  }
  std::string text =
      fmt::format("median {:.6g} s, min {:.6g} s over {} runs; read, verified and planned in {:.6g} s\n",
                  median, seconds[0], seconds.size(), compile_seconds);
  if (sums > 0) {
    text += fmt::format("{} exact sums: {:.3g} of them needed pairs of doubles, {:.3g} slices\n", sums, pairs,
                        slices);
  }
  if (values > 0) {
    text +=
        fmt::format("{} values of functions: {:.3g} of them needed pairs of doubles, {:.3g} the reference\n",
                    values, second, reference);
  }
  return Write(text) ? 0 : 5;
}

}  // namespace assay::cli
