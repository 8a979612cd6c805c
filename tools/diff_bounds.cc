// assay diff PROGRAM --actual OUT.npz --profile P: is a difference a bug, or rounding?
#include <algorithm>

#include "base/counted.h"
#include "base/file_io.h"
#include "base/json_writer.h"
#include "base/quoted.h"
#include "check/backends/output_keys.h"
#include "check/conformance.h"
#include "check/estimate/estimate.h"
#include "check/isolate/isolate.h"
#include "check/report/report.h"
#include "check/variants.h"
#include "check/why/reason.h"
#include "devices/device_io.h"
#include "find/origin/why.h"
#include "find/origin/why_lines.h"
#include "find/reduce/finding.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "hlo/diagnostics.h"
#include "tools/backend.h"
#include "tools/commands.h"
#include "tools/conformance_text.h"
#include "tools/output_files.h"

namespace assay::cli {
namespace {

constexpr size_t kNotesShown = 10;

// The command that checks every instruction alone, with the files that were given. Outputs that were stored
// can't show intermediate values: it has a place for a command that runs the backend.
std::string IsolateCommand(const DiffFlags& flags) {
  if (NamesBackend(flags)) return flags.command + " --isolate";
  std::string command = "assay diff " + ShellArgument(flags.program);
  if (flags.random_inputs) {
    command += fmt::format(" --random-inputs {}", *flags.random_inputs);
  } else if (!flags.inputs.empty()) {
    command += " --inputs " + ShellArgument(flags.inputs);
  }
  return fmt::format("{} --backend 'YOUR_BACKEND {{program}} {{inputs}} {{outputs}}' --profile {} --isolate",
                     command, ShellArgument(flags.profile));
}

// Instructions without a rule, other than those that a reason names.
std::string NotesText(const std::vector<DerivedBounds::Note>& notes, const std::vector<Reason>& reasons) {
  std::string text;
  size_t shown = 0, count = 0;
  for (const DerivedBounds::Note& note : notes) {
    const auto names = [&](const Reason& reason) { return reason.first.instruction == note.instruction; };
    if (std::any_of(reasons.begin(), reasons.end(), names)) continue;
    if (++count > kNotesShown) continue;
    ++shown;
    text += fmt::format("no rule for '%{} = {}': {}\n", EscapeControls(note.instruction), note.op, note.why);
  }
  if (count > shown) text += fmt::format("and for {} more\n", count - shown);
  return text;
}

void WriteReason(const Reason& reason, JsonWriter& json) {
  const FirstUndecided& first = reason.first;
  const auto write_parting = [&] {
    if (!reason.parting) return json.Write(JsonText{"null"});
    const Parting& of = *reason.parting;
    json.Object("instruction", of.at.instruction, "op", of.at.op, "inside", of.at.inside, "turn",
                KnownIteration(of.at.iteration), "why", of.at.why, "spread", of.spread, "magnitude",
                of.magnitude);
  };
  json.Object("output", reason.key, "instruction", first.instruction, "op", first.op, "inside", first.inside,
              "turn", KnownIteration(first.iteration), "why", first.why, "plausible", reason.plausible,
              "implausible", reason.implausible, "undecided", reason.undecided, "lacks_rule",
              reason.lacks_rule, "samples_part", write_parting, "next", reason.next);
}

// What the comparison found.
struct Findings {
  std::vector<Conformance> outputs;
  std::vector<DerivedBounds::Note> notes;
  std::vector<Reason> reasons;
  std::optional<Isolation> isolation;
  Estimates estimates;
  std::vector<VariantVerdict> variants;  // where elements are outside
  std::vector<std::string> loops_with_forms;
};

// That there was a second run, with forms of loops.
std::string FormsText(const std::vector<std::string>& loops) {
  if (loops.empty()) return "";
  std::vector<std::string> names;
  for (const std::string& loop : loops) names.push_back("'%" + EscapeControls(loop) + "'");
  return fmt::format(
      "a first run left elements undecided: a second one had first-order forms of the state of {}\n",
      fmt::join(names, ", "));
}

// "by profile xla-gpu-tf32 no element is outside: …", of the variants by which fewer are.
std::string VariantsText(const std::vector<VariantVerdict>& variants, int64_t outside) {
  constexpr size_t kShown = 5;
  std::string text;
  for (const VariantVerdict& variant : variants) {
    if (variant.outside >= outside) continue;
    text += fmt::format("by profile {} {} outside", variant.profile,
                        variant.outside == 0 ? std::string("no element is")
                                             : fmt::format("{} {}", Counted(variant.outside, "element"),
                                                           variant.outside == 1 ? "is" : "are"));
    if (!variant.allows.empty()) {
      const size_t count = variant.instructions.size();
      std::vector<std::string> names;
      for (size_t k = 0; k < std::min(kShown, count); ++k)
        names.push_back("%" + EscapeControls(variant.instructions[k]));
      text += fmt::format(": dots and convolutions may have {} ({}{})", fmt::join(variant.allows, ", "),
                          fmt::join(names, ", "),
                          count > kShown ? fmt::format(" and {} more", count - kShown) : "");
    }
    text += "\n";
  }
  return text;
}

std::string BoundsJson(const Findings& found, const Profile& profile, std::string_view name, bool conforms) {
  JsonWriter json;
  const auto write_outputs = [&] {
    json.Begin("{");
    for (const Conformance& output : found.outputs) json.Fields(output.key, [&] { WriteJson(output, json); });
    json.End("}");
  };
  const auto write_note = [&](const DerivedBounds::Note& note) {
    json.Object("instruction", note.instruction, "op", note.op, "why", note.why);
  };
  const auto write_reason = [&](const Reason& reason) { WriteReason(reason, json); };
  const auto write_origin = [&] {
    json.Begin("{");
    for (const Profile::Origin& line : profile.origin) json.Fields(line.key, line.text);
    json.End("}");
  };
  const auto write_variant = [&](const VariantVerdict& variant) {
    json.Object("profile", variant.profile, "outside", variant.outside, "allows", variant.allows,
                "instructions", variant.instructions);
  };
  json.Begin("{");
  json.Fields("outputs", write_outputs);
  json.Fields("undecided_from", [&] { json.Array(found.notes, write_note); });
  json.Fields("loops_with_forms", found.loops_with_forms);
  json.Fields("reasons", [&] { json.Array(found.reasons, write_reason); });
  if (found.isolation) json.Fields("isolate", [&] { WriteJson(*found.isolation, json); });
  AddEstimates(found.estimates, json);
  json.Fields(
      "profile", name, "profile_origin", write_origin, "variants",
      [&] { json.Array(found.variants, write_variant); }, "conforms", conforms);
  json.End("}");
  return json.text() + "\n";
}

int64_t NumOutside(const std::vector<Conformance>& outputs) {
  int64_t outside = 0;
  for (const Conformance& output : outputs) outside += output.outside;
  return outside;
}

int ReportBounds(const DiffFlags& flags, const Profile& profile, const Findings& found) {
  bool conforms = !found.isolation || found.isolation->ok();
  std::string text;
  for (const Conformance& output : found.outputs) {
    conforms = conforms && output.ok(flags.proven_only);
    text += TextOf(output);
  }
  if (flags.json) {
    text = BoundsJson(found, profile, flags.profile, conforms);
  } else {
    text += VariantsText(found.variants, NumOutside(found.outputs));
    text += FormsText(found.loops_with_forms);
    text += EstimatesText(found.outputs, found.estimates);
    text += TextOf(found.reasons);
    if (!found.reasons.empty()) text += NotesText(found.notes, found.reasons);
    if (found.isolation) text += TextOf(*found.isolation);
    if (!found.isolation && found.reasons.empty() && NumOutside(found.outputs) > 0)
      text += fmt::format("next: which instruction is wrong? {}\n", IsolateCommand(flags));
  }
  if (!Write(text)) return 5;
  return conforms ? 0 : 1;
}

int WritePage(const DiffFlags& flags, const LoadedProgram& loaded, const Profile& profile,
              const std::vector<ReportedOutput>& outputs, const std::vector<DerivedBounds::Note>& notes,
              const std::vector<Reason>& reasons, const std::optional<Isolation>& isolation,
              const std::vector<ReportedOrigin>& origins, const Backend* backend) {
  ReportHeader header;
  header.program = flags.program;
  header.inputs =
      flags.random_inputs ? fmt::format("random, from seed {}", *flags.random_inputs) : flags.inputs;
  header.actual = backend != nullptr ? "outputs of " + backend->Name() : flags.actual;
  header.engine = flags.engine;
  header.command = flags.command;
  header.version = ASSAY_VERSION;
  const absl::StatusOr<std::string> page =
      HtmlReport({header, loaded.program.module(), profile, outputs, notes, reasons,
                  isolation ? &*isolation : nullptr, &origins});
  if (!page.ok()) return FailIn(loaded, page.status(), flags.program);
  const absl::Status written = WriteFileAtomically(flags.html, *page);
  return written.ok() ? 0 : Fail(written, flags.html);
}

// What the program ran on.
struct Given {
  DeviceGrid grid;
  std::vector<DeviceInputs> inputs;
  std::vector<Literal> arguments;  // of one device
  RunOptions options;
};

// The worst element of an output, as --why takes it; empty: none is outside or implausible.
std::string WrongElement(const Conformance& output) {
  const DimVector* index = nullptr;
  if (output.outside > 0 && !output.worst.empty()) index = &output.worst[0].index;
  if (output.outside == 0 && !output.farthest.empty()) index = &output.farthest[0].index;
  if (index == nullptr) return {};
  return output.key + (index->empty() ? "" : fmt::format("[{}]", fmt::join(*index, ",")));
}

// What the worst elements of the first wrong outputs are made of. Where that can't be found out, the note
// says why.
absl::StatusOr<std::vector<ReportedOrigin>> OriginsOfWrong(const LoadedProgram& loaded,
                                                           const std::vector<Conformance>& outputs,
                                                           const Given& given) {
  constexpr size_t kMost = 3;
  std::vector<ReportedOrigin> origins;
  for (const Conformance& output : outputs) {
    const std::string name = WrongElement(output);
    if (name.empty() || origins.size() == kMost) continue;
    ASSAY_ASSIGN_OR_RETURN(const OutputElement element,
                           ParseOutputElement(loaded.program.module(), given.grid, name));
    ReportedOrigin origin{.element = name, .lines = {}, .notes = {}};
    const absl::StatusOr<WhyReport> report =
        ExplainElement(loaded.program, given.grid, given.inputs, given.options, element);
    ASSAY_RETURN_IF_ERROR(PollWork());
    if (report.ok()) {
      for (WhyLine& line : LinesOf(*report)) origin.lines.push_back({line.depth, std::move(line.text)});
      origin.notes = NotesOf(*report);
    } else {
      origin.notes.emplace_back(report.status().message());
    }
    origins.push_back(std::move(origin));
  }
  return origins;
}

// What --tolerances asks for.
absl::Status WriteTolerances(const std::string& path, const std::vector<BoundedOutput>& outputs) {
  std::vector<std::pair<std::string, Literal>> arrays;
  for (const BoundedOutput& output : outputs) {
    const Shape& shape = output.exact.shape();
    std::vector<double> bounds, spreads;
    for (int64_t i = 0; i < shape.num_elements(); ++i) {
      bounds.push_back(output.radius ? output.radius->GetDouble(i) : 0);
      if (output.samples != nullptr) spreads.push_back(output.samples->SpreadOf(i));
    }
    arrays.emplace_back("exact/" + output.key, output.exact);
    arrays.emplace_back("bound/" + output.key,
                        Literal::FromDoubles(ElementType::kF64, shape.sizes(), bounds));
    if (output.samples == nullptr) continue;
    arrays.emplace_back("spread/" + output.key,
                        Literal::FromDoubles(ElementType::kF64, shape.sizes(), spreads));
  }
  return WriteNpzFile(path, arrays);
}

// The first wrong instruction as a program of its own, with the inputs on which it is wrong.
absl::Status WriteIsolated(const DiffFlags& flags, const Isolation& isolation) {
  if (flags.finding.empty() || isolation.first_wrong < 0) return absl::OkStatus();
  const IsolatedInstruction& wrong = isolation.instructions[static_cast<size_t>(isolation.first_wrong)];
  if (wrong.alone == nullptr) return absl::OkStatus();
  FindingFolder folder;
  folder.title = fmt::format("%{} = {} of {}", wrong.name, wrong.op, flags.program);
  folder.what = Blamed("the first wrong instruction", wrong);
  folder.command = [&](const std::string& program, const std::string& inputs) {
    return fmt::format("assay diff {} --inputs {} {}", ShellArgument(program), ShellArgument(inputs),
                       BackendFlagsText(flags, flags.backend, flags.profile));
  };
  folder.notes.push_back("The inputs are the values that the backend gave this instruction's operands.");
  const Module& module = wrong.alone->program.as_written();
  return WriteFinding(flags.finding, folder, module, wrong.alone->arguments, ProgramForm::kHloText).status();
}

// What the outputs are to the bounds, and with --isolate each instruction.
int JudgeAll(const DiffFlags& flags, const LoadedProgram& loaded, const Profile& profile,
             const BoundedOutputs& bounded, const Estimates& estimates, const Backend::Outputs& actual,
             Backend* backend, const Given& given) {
  Findings found;
  found.notes = bounded.unchecked;
  found.loops_with_forms = bounded.loops_with_forms;
  found.estimates = estimates;
  std::vector<ReportedOutput> reported;
  for (const BoundedOutput& output : bounded.outputs) {
    const Literal* const value = ActualOf(actual, output);
    if (!flags.html.empty()) reported.push_back(JudgeForReport(output, value));
    found.outputs.push_back(flags.html.empty() ? CompareToBounds(output, value) : reported.back().judged);
  }
  if (flags.isolate) {
    IsolateOptions isolate;
    isolate.run = given.options;
    isolate.engines = EnginesOf(flags);
    isolate.keeps_wrong = !flags.finding.empty();
    absl::StatusOr<Isolation> isolation =
        Isolate(loaded.program, profile, *backend, given.arguments, isolate);
    if (!isolation.ok()) return FailIn(loaded, isolation.status(), flags.program);
    found.isolation = *std::move(isolation);
    if (const absl::Status written = WriteIsolated(flags, *found.isolation); !written.ok())
      return Fail(written, flags.finding);
  }
  const absl::StatusOr<std::vector<Reason>> reasons =
      ReasonsOf({loaded.program,
                 profile,
                 given.arguments,
                 given.options,
                 {flags.samples, flags.options.run_seed},
                 EnginesOf(flags),
                 flags.isolate ? std::string() : IsolateCommand(flags)},
                bounded, found.outputs);
  if (!reasons.ok()) return FailIn(loaded, reasons.status(), flags.program);
  if (!flags.html.empty()) {
    const absl::StatusOr<std::vector<ReportedOrigin>> origins = OriginsOfWrong(loaded, found.outputs, given);
    if (!origins.ok()) return FailIn(loaded, origins.status(), flags.program);
    const int failed = WritePage(flags, loaded, profile, reported, bounded.unchecked, *reasons,
                                 found.isolation, *origins, backend);
    if (failed != 0) return failed;
  }
  found.reasons = *reasons;
  if (NumOutside(found.outputs) > 0) {
    absl::StatusOr<std::vector<VariantVerdict>> variants = CompareToVariants(
        loaded.program, profile, given.grid, given.inputs, given.options, actual, EnginesOf(flags));
    if (!variants.ok()) return FailIn(loaded, variants.status(), flags.program);
    found.variants = *std::move(variants);
  }
  return ReportBounds(flags, profile, found);
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
  std::unique_ptr<Backend> backend;
  if (NamesBackend(flags)) {
    if (const absl::Status status = CheckBackendInputs(*grid, *inputs); !status.ok())
      return Fail(status, flags.program);
    absl::StatusOr<std::unique_ptr<Backend>> made =
        BackendOf(flags, flags.backend, FormOfProgram(flags.program, loaded->OwnText()));
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
  Given given{*grid, *std::move(inputs), {}, OptionsOf(flags)};
  if (given.inputs.size() == 1) given.arguments = given.inputs[0].arguments;
  given.options.interrupted = Interrupted;
  absl::StatusOr<BoundedOutputs> bounded =
      RunWithBounds(loaded->program, *profile, given.grid, given.inputs, given.options, EnginesOf(flags));
  if (!bounded.ok()) return FailIn(*loaded, bounded.status(), flags.program);
  const EstimateOptions wanted = {flags.samples, flags.options.run_seed, !flags.tolerances.empty()};
  const absl::StatusOr<Estimates> estimates =
      AddSamples(loaded->program, *profile, given.grid, given.inputs[0], given.options, wanted,
                 bounded->outputs, EnginesOf(flags));
  if (!estimates.ok()) return FailIn(*loaded, estimates.status(), flags.program);
  if (!flags.tolerances.empty()) {
    const absl::Status written = WriteTolerances(flags.tolerances, bounded->outputs);
    if (!written.ok()) return Fail(written, flags.tolerances);
  }
  if (backend != nullptr) {
    absl::StatusOr<Backend::Outputs> outputs = RunBackend(flags, *backend, *loaded, given.arguments);
    if (!outputs.ok()) return Fail(outputs.status(), flags.program);
    actual = *std::move(outputs);
  }
  return JudgeAll(flags, *loaded, *profile, *bounded, *estimates, actual, backend.get(), given);
}

}  // namespace assay::cli
