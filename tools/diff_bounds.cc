// assay diff PROGRAM --actual OUT.npz --profile P: is a difference a bug, or rounding?
#include "base/file_io.h"
#include "base/json_writer.h"
#include "check/backends/output_keys.h"
#include "check/conformance.h"
#include "check/estimate/estimate.h"
#include "check/isolate/isolate.h"
#include "check/report/report.h"
#include "check/undecided.h"
#include "devices/device_io.h"
#include "fmt/format.h"
#include "hlo/diagnostics.h"
#include "tools/backend.h"
#include "tools/commands.h"
#include "tools/conformance_text.h"
#include "tools/output_files.h"

namespace assay::cli {
namespace {

constexpr size_t kNotesShown = 10;

std::string NotesText(const std::vector<DerivedBounds::Note>& notes) {
  std::string text;
  for (size_t k = 0; k < std::min(notes.size(), kNotesShown); ++k) {
    text += fmt::format("undecided from '%{} = {}' on: {}\n", EscapeControls(notes[k].instruction),
                        notes[k].op, notes[k].why);
  }
  if (notes.size() > kNotesShown) text += fmt::format("and from {} more\n", notes.size() - kNotesShown);
  return text;
}

// Of an output with undecided elements, where no instruction gave up: why.
struct Reason {
  std::string key;
  FirstUndecided first;
};

std::string ReasonText(const Reason& reason) {
  const FirstUndecided& first = reason.first;
  if (first.instruction.empty())
    return fmt::format("{} is undecided on: {}\n", EscapeControls(reason.key), first.why);
  std::string where;
  if (!first.inside.empty()) where = fmt::format(", in '%{}'", EscapeControls(first.inside));
  if (first.iteration >= 0) where += fmt::format(", iteration {}", first.iteration);
  return fmt::format("{} is undecided from '%{} = {}'{} on: {}\n", EscapeControls(reason.key),
                     EscapeControls(first.instruction), first.op, where, first.why);
}

std::string JsonOf(const std::vector<Conformance>& outputs, const std::vector<DerivedBounds::Note>& notes,
                   const std::vector<Reason>& reasons, const std::optional<Isolation>& isolation,
                   const Estimates& estimates, std::string_view profile, bool conforms) {
  JsonWriter json;
  const auto write_outputs = [&] {
    json.Begin("{");
    for (const Conformance& output : outputs) json.Fields(output.key, [&] { WriteJson(output, json); });
    json.End("}");
  };
  const auto write_note = [&](const DerivedBounds::Note& note) {
    json.Object("instruction", note.instruction, "op", note.op, "why", note.why);
  };
  const auto write_reason = [&](const Reason& reason) {
    const FirstUndecided& first = reason.first;
    json.Object("output", reason.key, "instruction", first.instruction, "op", first.op, "inside",
                first.inside, "turn", KnownIteration(first.iteration), "why", first.why);
  };
  json.Begin("{");
  json.Fields("outputs", write_outputs);
  json.Fields("undecided_from", [&] { json.Array(notes, write_note); });
  json.Fields("reasons", [&] { json.Array(reasons, write_reason); });
  if (isolation) json.Fields("isolate", [&] { WriteJson(*isolation, json); });
  AddEstimates(estimates, json);
  json.Fields("profile", profile, "conforms", conforms);
  json.End("}");
  return json.text() + "\n";
}

int Report(const DiffFlags& flags, const std::vector<Conformance>& outputs,
           const std::vector<DerivedBounds::Note>& notes, const std::vector<Reason>& reasons,
           const std::optional<Isolation>& isolation, const Estimates& estimates) {
  bool conforms = !isolation || isolation->ok();
  std::string text;
  for (const Conformance& output : outputs) {
    conforms = conforms && output.ok(flags.proven_only);
    text += TextOf(output);
  }
  if (flags.json) {
    text = JsonOf(outputs, notes, reasons, isolation, estimates, flags.profile, conforms);
  } else {
    text += EstimatesText(outputs, estimates);
    text += NotesText(notes);
    for (const Reason& reason : reasons) text += ReasonText(reason);
    if (isolation) text += TextOf(*isolation);
  }
  if (!Write(text)) return 5;
  return conforms ? 0 : 1;
}

int WritePage(const DiffFlags& flags, const LoadedProgram& loaded, const Profile& profile,
              const std::vector<ReportedOutput>& outputs, const std::vector<DerivedBounds::Note>& notes,
              const std::optional<Isolation>& isolation, const Backend* backend) {
  ReportHeader header;
  header.program = flags.program;
  header.inputs =
      flags.random_inputs ? fmt::format("random, from seed {}", *flags.random_inputs) : flags.inputs;
  header.actual = backend != nullptr ? "outputs of " + backend->Name() : flags.actual;
  header.engine = flags.engine;
  header.command = flags.command;
  header.version = ASSAY_VERSION;
  const absl::StatusOr<std::string> page = HtmlReport(
      {header, loaded.program.module(), profile, outputs, notes, isolation ? &*isolation : nullptr});
  if (!page.ok()) return FailIn(loaded, page.status(), flags.program);
  const absl::Status written = WriteFileAtomically(flags.html, *page);
  return written.ok() ? 0 : Fail(written, flags.html);
}

constexpr size_t kReasonsShown = 10;

// Instructions that gave up are named in any case: then nothing is run again.
absl::StatusOr<std::vector<Reason>> ReasonsOf(const DiffFlags& flags, const LoadedProgram& loaded,
                                              const Profile& profile, const BoundedOutputs& bounded,
                                              const std::vector<Conformance>& outputs,
                                              const std::vector<Literal>& arguments,
                                              const RunOptions& options) {
  std::vector<Reason> reasons;
  std::vector<int64_t> leaves;
  if (!bounded.unchecked.empty()) return reasons;
  for (size_t k = 0; k < outputs.size() && leaves.size() < kReasonsShown; ++k) {
    if (outputs[k].unchecked + outputs[k].plausible + outputs[k].implausible == 0) continue;
    leaves.push_back(bounded.outputs[k].leaf);
    reasons.push_back({outputs[k].key, {}});
  }
  if (leaves.empty()) return reasons;
  const auto searched =
      FindFirstUndecided(loaded.program, profile, arguments, leaves, options, EnginesOf(flags));
  if (!searched.ok()) {
    if (Interrupted()) return searched.status();
    for (Reason& reason : reasons)
      reason.first.why = fmt::format("not found out: {}", std::string(searched.status().message()));
    return reasons;
  }
  const auto& found = *searched;
  for (size_t k = 0; k < found.size(); ++k) {
    if (found[k]) {
      reasons[k].first = *found[k];
    } else {
      reasons[k].first.why = "operands that are subnormal numbers, which the profile takes for zero";
    }
  }
  return reasons;
}

// What the outputs are to the bounds, and with --isolate each instruction.
int JudgeAll(const DiffFlags& flags, const LoadedProgram& loaded, const Profile& profile,
             const BoundedOutputs& bounded, const Estimates& estimates, const Backend::Outputs& actual,
             Backend* backend, const std::vector<Literal>& arguments, const RunOptions& options) {
  std::vector<Conformance> outputs;
  std::vector<ReportedOutput> reported;
  for (const BoundedOutput& output : bounded.outputs) {
    const auto it = actual.find(output.key);
    const Literal* const value = it == actual.end() ? nullptr : &it->second;
    if (!flags.html.empty()) reported.push_back(JudgeForReport(output, value));
    outputs.push_back(flags.html.empty() ? CompareToBounds(output, value) : reported.back().judged);
  }
  std::optional<Isolation> isolation;
  if (flags.isolate) {
    IsolateOptions isolate;
    isolate.run = options;
    isolate.engines = EnginesOf(flags);
    absl::StatusOr<Isolation> found = Isolate(loaded.program, profile, *backend, arguments, isolate);
    if (!found.ok()) return FailIn(loaded, found.status(), flags.program);
    isolation = *std::move(found);
  }
  if (!flags.html.empty()) {
    const int failed = WritePage(flags, loaded, profile, reported, bounded.unchecked, isolation, backend);
    if (failed != 0) return failed;
  }
  const absl::StatusOr<std::vector<Reason>> reasons =
      ReasonsOf(flags, loaded, profile, bounded, outputs, arguments, options);
  if (!reasons.ok()) return FailIn(loaded, reasons.status(), flags.program);
  return Report(flags, outputs, bounded.unchecked, *reasons, isolation, estimates);
}

}  // namespace

int DiffByProfile(const DiffFlags& flags) {
  const absl::StatusOr<Profile> profile = LoadProfile(flags.profile);
  if (!profile.ok()) return Fail(profile.status(), flags.profile);
  int exit_code = 0;
  const std::optional<LoadedProgram> loaded = Load(flags, exit_code);
  if (!loaded) return exit_code;
  if (LacksInputs(flags, *loaded)) return AskForInputs(flags, *loaded);
  const absl::StatusOr<DeviceGrid> grid = GridOf(flags, *loaded);
  if (!grid.ok()) return FailIn(*loaded, grid.status(), flags.program);
  absl::StatusOr<std::vector<DeviceInputs>> inputs = InputsFor(flags, *loaded, *grid);
  if (!inputs.ok()) return Fail(inputs.status(), InputsOf(flags));
  std::vector<Literal> arguments;
  std::unique_ptr<Backend> backend;
  if (NamesBackend(flags)) {
    if (const absl::Status status = CheckBackendInputs(*grid, *inputs); !status.ok())
      return Fail(status, flags.program);
    absl::StatusOr<std::unique_ptr<Backend>> made = BackendOf(flags);
    if (!made.ok()) return Fail(made.status(), flags.program);
    backend = *std::move(made);
  }
  Backend::Outputs actual;
  if (!NamesBackend(flags)) {
    std::optional<Arrays> arrays = ReadActual(flags, *loaded, exit_code);
    if (!arrays) return exit_code;
    absl::StatusOr<Backend::Outputs> decoded = DecodeOutputs(loaded->program.module(), *arrays);
    if (!decoded.ok()) return Fail(decoded.status(), flags.actual);
    actual = *std::move(decoded);
  }
  if (inputs->size() == 1) arguments = (*inputs)[0].arguments;
  RunOptions options = OptionsOf(flags);
  options.interrupted = Interrupted;
  absl::StatusOr<BoundedOutputs> bounded =
      RunWithBounds(loaded->program, *profile, *grid, *inputs, options, EnginesOf(flags));
  if (!bounded.ok()) return FailIn(*loaded, bounded.status(), flags.program);
  const EstimateOptions wanted = {flags.samples, flags.options.run_seed};
  const absl::StatusOr<Estimates> estimates = AddSamples(loaded->program, *profile, *grid, (*inputs)[0],
                                                         options, wanted, bounded->outputs, EnginesOf(flags));
  if (!estimates.ok()) return FailIn(*loaded, estimates.status(), flags.program);
  if (backend != nullptr) {
    absl::StatusOr<Backend::Outputs> outputs = RunBackend(flags, *backend, *loaded, arguments);
    if (!outputs.ok()) return Fail(outputs.status(), flags.program);
    actual = *std::move(outputs);
  }
  return JudgeAll(flags, *loaded, *profile, *bounded, *estimates, actual, backend.get(), arguments, options);
}

}  // namespace assay::cli
