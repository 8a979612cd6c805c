// assay run --shadow: which roundings the error of a program's outputs comes from.
#include "check/shadow/shadow.h"

#include <algorithm>
#include <cmath>

#include "base/counted.h"
#include "base/json_writer.h"
#include "devices/device_io.h"
#include "fmt/format.h"
#include "hlo/diagnostics.h"
#include "tools/commands.h"

namespace assay::cli {
namespace {

std::string ShadowJson(const ShadowReport& report) {
  JsonWriter json;
  const auto write_outputs = [&] {
    json.Begin("{");
    for (const ShadowOutput& of : report.outputs) {
      json.Fields(of.key, [&] {
        json.Object("elements", of.elements, "error_ulps", of.error_ulps, "relative_error",
                    of.relative_error);
      });
    }
    json.End("}");
  };
  const auto write_instruction = [&](const ShadowInstruction& of) {
    json.Object("computation", of.computation, "name", of.name, "op", of.op, "shape", of.shape, "runs",
                of.runs, "elements", of.elements, "local_ulps", of.local_ulps, "inherited_ulps",
                of.inherited_ulps, "error_ulps", of.error_ulps, "cancelled_digits", of.cancelled_digits,
                "otherwise", of.otherwise, "restarted", of.restarted, "share",
                of.share < 0 ? std::nullopt : std::optional(of.share), "group", of.group, "group_size",
                of.group_size);
  };
  json.Object(
      "outputs", write_outputs, "instructions", [&] { json.Array(report.instructions, write_instruction); },
      "evaluations", report.evaluations);
  return json.text() + "\n";
}

std::string ShadowText(ShadowReport report) {
  std::string text;
  for (const ShadowOutput& of : report.outputs) {
    text += fmt::format("{}: {}, off by up to {:.4g} ulps, relative error {:.3g}\n", EscapeControls(of.key),
                        Counted(of.elements, "element"), of.error_ulps, of.relative_error);
  }
  std::stable_sort(report.instructions.begin(), report.instructions.end(), [](const auto& a, const auto& b) {
    return std::pair(a.share, a.cancelled_digits) > std::pair(b.share, b.cancelled_digits);
  });
  text += "share of error  own ulps  inherited ulps  digits cancelled  instruction\n";
  for (const ShadowInstruction& of : report.instructions) {
    std::string share = of.share < 0 ? "-" : fmt::format("{:.3g} %", 100 * of.share);
    if (of.group_size > 1) share += fmt::format(" (of {})", of.group_size);
    text += fmt::format("{:>14}  {:>8.3g}  {:>14.4g}  {:>16.1f}  %{} = {} {}", share, of.local_ulps,
                        of.inherited_ulps, of.cancelled_digits, EscapeControls(of.name), of.shape, of.op);
    if (of.runs > 1) text += fmt::format(", {}", Counted(of.runs, "run"));
    if (of.otherwise > 0) text += fmt::format(", {} otherwise decided", Counted(of.otherwise, "element"));
    if (!of.restarted.empty()) text += fmt::format(", restarts from its rounded result: {}", of.restarted);
    text += "\n";
  }
  return text;
}

}  // namespace

int RunShadowOf(const RunFlags& flags, const LoadedProgram& loaded) {
  const absl::StatusOr<DeviceGrid> grid = GridOf(flags, loaded);
  if (!grid.ok()) return FailIn(loaded, grid.status(), flags.program);
  if (grid->size() != 1) {
    return Fail(NotSupported({}, fmt::format("--shadow runs a program of one device, this one is of {}",
                                             grid->size())),
                flags.program);
  }
  absl::StatusOr<std::vector<DeviceInputs>> inputs = InputsFor(flags, loaded, *grid);
  if (!inputs.ok()) return Fail(inputs.status(), InputsOf(flags));
  RunOptions options = OptionsOf(flags);
  options.interrupted = Interrupted;
  const absl::StatusOr<ShadowReport> report = RunShadow(loaded.program, (*inputs)[0], options);
  if (!report.ok()) return FailIn(loaded, report.status(), flags.program);
  return Write(flags.json ? ShadowJson(*report) : ShadowText(*report)) ? 0 : 5;
}

}  // namespace assay::cli
