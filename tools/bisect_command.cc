// assay bisect --command: after how many passes of a compiler outputs change.
#include "absl/strings/str_replace.h"
#include "base/counted.h"
#include "base/file_io.h"
#include "base/json_writer.h"
#include "base/quoted.h"
#include "check/backends/command_process.h"
#include "find/passes/pass_search.h"
#include "fmt/format.h"
#include "hlo/diagnostics.h"
#include "tools/bisect_reader.h"
#include "tools/bisect_text.h"
#include "tools/commands.h"

namespace assay::cli {
namespace {

struct Range {
  int64_t low = 0, high = 0;
};

// LOW:HIGH, as the validator of --passes takes it.
Range RangeOf(const std::string& text) {
  const size_t colon = text.find(':');
  return {std::stoll(text.substr(0, colon)), std::stoll(text.substr(colon + 1))};
}

// Compiles with so many passes, and reads the program that was written.
absl::StatusOr<Program> Compiled(const BisectFlags& flags, const ProgramReader& reader, int64_t passes) {
  const TemporaryDirectory directory;
  if (!directory.ok()) return EvalError({}, "no temporary directory for the compiler's program");
  const std::string output = directory.File(kTemporaryFiles[0]);
  const std::string command = absl::StrReplaceAll(flags.command, {{"{program}", ShellWord(flags.program)},
                                                                  {"{n}", fmt::format("{}", passes)},
                                                                  {"{output}", ShellWord(output)}});
  ASSAY_ASSIGN_OR_RETURN(const CommandEnd end, RunShellCommand(command));
  const std::string words = end.words.empty() ? "" : "; it wrote: " + end.words;
  if (end.signal != 0)
    return EvalError({}, fmt::format("the compiler was ended by signal {}{}", end.signal, words));
  if (end.exit_code != 0)
    return EvalError({}, fmt::format("the compiler ended with exit code {}, want 0{}", end.exit_code, words));
  const absl::StatusOr<std::string> bytes = ReadFile(output);
  if (!bytes.ok()) return EvalError({}, fmt::format("the compiler wrote no {{output}}{}", words));
  return reader.Load(output, *bytes);
}

std::string BoundaryText(const PassSearch& found, std::string_view what, const PassBoundary& boundary) {
  std::string text =
      fmt::format("{}: after {}, not after {}\n", what, Counted(boundary.after, "pass"), boundary.before);
  return text + TextOf(found.points.at(boundary.after).outputs, found.has_bounds) + TextOf(boundary.detail);
}

// What both ends have in common, where nothing lies between them.
std::string EndsText(const PassSearch& found, bool PassPoint::*holds, std::string_view is,
                     std::string_view is_not) {
  return fmt::format("both ends agree: after {} and after {} passes outputs {}\n", found.low, found.high,
                     found.end().*holds ? is : is_not);
}

std::string SearchText(const PassSearch& found, const std::string& profile) {
  std::string text =
      fmt::format("passes {} to {}, {} evaluated\n", found.low, found.high, found.points.size());
  for (const auto& [passes, point] : found.points) {
    if (!point.why.empty()) text += fmt::format("skipped {} passes: {}\n", passes, EscapeControls(point.why));
  }
  if (found.change) {
    text += BoundaryText(found, "first change of bits", *found.change);
  } else if (found.ended.ok()) {
    text +=
        EndsText(found, &PassPoint::changed, "have other bits than the program's", "have the program's bits");
  }
  if (profile.empty() || !found.ended.ok()) return text;
  if (!found.has_bounds)
    return text + fmt::format("no bounds by profile {}: {}\n", profile, found.why_no_bounds);
  if (found.outside) return text + BoundaryText(found, "first outside of the bounds", *found.outside);
  return text + EndsText(found, &PassPoint::outside,
                         fmt::format("are outside of the bounds by profile {}", profile),
                         fmt::format("do not leave the bounds by profile {}", profile));
}

std::string SearchJson(const PassSearch& found) {
  JsonWriter json;
  const auto write_output = [&](const OutputChange& output) { WriteJson(output, json); };
  const auto write_points = [&] {
    json.Begin("[");
    for (const auto& [passes, point] : found.points) {
      json.Object("passes", passes, "why", point.why, "changed", point.changed, "outside", point.outside,
                  "outputs", [&, &outputs = point.outputs] { json.Array(outputs, write_output); });
    }
    json.End("]");
  };
  const auto write_boundary = [&](const std::optional<PassBoundary>& boundary) {
    if (!boundary) return json.Write(JsonText{"null"});
    json.Begin("{");
    json.Fields("before", boundary->before, "after", boundary->after);
    WriteFields(boundary->detail, json);
    json.End("}");
  };
  json.Object(
      "low", found.low, "high", found.high, "evaluated", found.points.size(), "first_change",
      [&] { write_boundary(found.change); }, "first_outside", [&] { write_boundary(found.outside); },
      "has_bounds", found.has_bounds, "points", write_points);
  return json.text() + "\n";
}

}  // namespace

std::string BisectCommandUsage(const BisectFlags& flags) {
  if (flags.command.empty())
    return flags.passes.empty() ? "" : "--passes is of the compiler that --command names";
  if (flags.passes.empty()) return "bisect --command takes --passes LOW:HIGH";
  for (const std::string_view place : {"{program}", "{n}", "{output}"}) {
    if (flags.command.find(place) == std::string::npos)
      return fmt::format("the command of bisect lacks {}: want 'CMD {{program}} {{n}} {{output}}'", place);
  }
  const Range range = RangeOf(flags.passes);
  return range.low < range.high ? "" : fmt::format("--passes {}: want LOW below HIGH", flags.passes);
}

int BisectCompiler(const BisectFlags& flags, const ProgramReader& reader,
                   const std::optional<Profile>& profile) {
  int exit_code = 0;
  const std::optional<LoadedProgram> loaded = Load(flags, exit_code);
  if (!loaded) return exit_code;
  if (LacksInputs(flags, *loaded)) return AskForInputs(flags, *loaded);
  absl::StatusOr<ProgramInputs> inputs = reader.InputsOf(loaded->program);
  if (!inputs.ok()) return Fail(inputs.status(), InputsOf(flags));
  const absl::StatusOr<Baseline> baseline = Baseline::Make(loaded->program, *std::move(inputs), profile);
  if (!baseline.ok()) return FailIn(*loaded, baseline.status(), flags.program);
  const Range range = RangeOf(flags.passes);
  const absl::StatusOr<PassSearch> found =
      SearchPasses(*baseline, profile, range.low, range.high,
                   [&](int64_t passes) { return Compiled(flags, reader, passes); });
  if (!found.ok()) return Fail(found.status(), flags.program);
  if (!Write(flags.json ? SearchJson(*found) : SearchText(*found, flags.profile))) return 5;
  if (!found->ended.ok()) return Fail(found->ended, flags.program);
  const bool is_bad =
      found->has_bounds ? found->outside || found->end().outside : found->change || found->end().changed;
  return is_bad ? 1 : 0;
}

}  // namespace assay::cli
