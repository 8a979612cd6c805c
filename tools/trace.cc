// assay run --trace-nan: where a NaN comes from.
#include "find/origin/trace.h"

#include <utility>

#include "base/counted.h"
#include "base/json_writer.h"
#include "devices/device_io.h"
#include "fmt/format.h"
#include "hlo/diagnostics.h"
#include "tools/commands.h"
#include "tools/described_json.h"

namespace assay::cli {
namespace {

std::string TraceJson(const TraceReport& report) {
  JsonWriter json;
  const auto write_element = [&](const DescribedElement& of) { WriteElement(of, json); };
  const auto write_producer = [&](const TracedProducer& of) {
    json.Object(
        "element", [&] { write_element(of.element); }, "elements", of.elements, "runs", of.runs, "operands",
        [&] { json.Array(of.operands, write_element); }, "more_operands", of.more_operands);
  };
  const auto write_output = [&](const TracedOutput& of) {
    json.Object(
        "key", of.key, "elements", of.elements, "count", of.count, "index", of.index, "from_first",
        of.from_first, "path", [&] { json.Array(of.path, write_element); }, "left_out_of_path",
        of.left_out_of_path, "complete", of.is_complete);
  };
  const auto write_first = [&] {
    if (report.first) {
      write_producer(*report.first);
    } else {
      json.Write(JsonText{"null"});
    }
  };
  json.Object(
      "what", Name(report.kind), "first", write_first, "outputs",
      [&] { json.Array(report.outputs, write_output); }, "ended_at",
      [&] { json.Array(report.ended_at, write_element); }, "more_ended_at", report.more_ended_at, "others",
      [&] { json.Array(report.others, write_producer); }, "more_others", report.more_others, "left_out",
      report.left_out, "partial", report.is_partial, "search_cut", report.is_search_cut);
  return json.text() + "\n";
}

std::string ProducerText(const TracedProducer& of) {
  std::string text = ToText(of.element);
  if (of.elements > 1) text += fmt::format(", one of {}", Counted(of.elements, "such element"));
  if (of.runs > 1) text += fmt::format(", in {}", Counted(of.runs, "run"));
  return text + "\n";
}

std::string FirstText(const TraceReport& report) {
  const TracedProducer& first = *report.first;
  std::string text = fmt::format("the first {}: {}", Noun(report.kind), ProducerText(first));
  for (const LoopIteration& loop : first.element.loops) {
    text += fmt::format("  in the {} of iteration {} of %{}\n", loop.is_condition ? "condition" : "body",
                        loop.iteration, loop.loop);
  }
  if (!first.element.device.empty()) text += fmt::format("  on device {}\n", first.element.device);
  for (const DescribedElement& operand : first.operands) text += "  of " + ToText(operand) + "\n";
  if (first.more_operands > 0)
    text += fmt::format("  and {} more\n", Counted(first.more_operands, "element"));
  return text;
}

std::string OutputText(const TracedOutput& output, TraceKind kind) {
  const std::string of = Counted(output.elements, "element");
  if (output.count == 0) return fmt::format("{}: none of {} is {}\n", output.key, of, Adjective(kind));
  std::string text = fmt::format("{}: {} of {} {} {}; {}{} comes from {}, by\n", output.key, output.count, of,
                                 output.count == 1 ? "is" : "are", Adjective(kind), output.key,
                                 IndexText(output.index), output.from_first ? "the first" : "elsewhere");
  if (!output.is_complete) text += "  a step that was left out\n";
  const size_t gap = output.left_out_of_path > 0 ? output.path.size() / 2 : output.path.size();
  for (size_t k = 0; k < output.path.size(); ++k) {
    if (k == gap) text += fmt::format("  … {} …\n", Counted(output.left_out_of_path, "element"));
    text += "  " + ToText(output.path[k]) + "\n";
  }
  return text;
}

std::string TraceText(const TraceReport& report) {
  std::string text;
  if (report.first) {
    text += FirstText(report);
  } else {
    text += fmt::format("no {} in the run\n", Noun(report.kind));
  }
  bool reaches = false;
  for (const TracedOutput& output : report.outputs) {
    text += OutputText(output, report.kind);
    reaches = reaches || output.from_first;
  }
  if (report.first && !reaches) {
    text += report.is_search_cut ? "no path from the first one to an output was found"
                                 : "no output has the first one";
    text += report.ended_at.empty() ? "\n" : "; it ends at\n";
    for (const DescribedElement& end : report.ended_at) text += "  " + ToText(end) + "\n";
    if (report.more_ended_at > 0)
      text += fmt::format("  and {} more\n", Counted(report.more_ended_at, "instruction"));
  }
  if (!report.others.empty()) text += "other instructions that give one:\n";
  for (const TracedProducer& other : report.others) text += "  " + ProducerText(other);
  if (report.more_others > 0)
    text += fmt::format("  and {} more\n", Counted(report.more_others, "instruction"));
  if (report.left_out > 0)
    text += fmt::format("{} left out, by the limits on their number and on memory: there may be more\n",
                        Counted(report.left_out, "step"));
  if (report.is_partial)
    text += "not all elements were looked at, there are too many: more instructions may give one\n";
  if (report.is_search_cut) text += "the search for paths was cut, there are too many elements\n";
  return text;
}

}  // namespace

int RunTraceOf(const RunFlags& flags, const LoadedProgram& loaded) {
  const absl::StatusOr<DeviceGrid> grid = GridOf(flags, loaded);
  if (!grid.ok()) return FailIn(loaded, grid.status(), flags.program);
  absl::StatusOr<std::vector<DeviceInputs>> inputs = InputsFor(flags, loaded, *grid);
  if (!inputs.ok()) return Fail(inputs.status(), InputsOf(flags));
  RunOptions options = OptionsOf(flags);
  options.interrupted = Interrupted;
  const TraceKind kind = flags.trace_what.empty() ? TraceKind::kNan : *TraceKindOf(flags.trace_what);
  const absl::StatusOr<TraceReport> report =
      TraceRun(loaded.program, *grid, *std::move(inputs), options, kind);
  if (!report.ok()) return FailIn(loaded, report.status(), flags.program);
  return Write(flags.json ? TraceJson(*report) : TraceText(*report)) ? 0 : 5;
}

}  // namespace assay::cli
