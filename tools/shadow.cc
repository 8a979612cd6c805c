// assay run --shadow: which roundings the error of a program's outputs comes from.
#include "check/shadow/shadow.h"

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "devices/device_io.h"
#include "fmt/format.h"
#include "hlo/diagnostics.h"
#include "tools/commands.h"

namespace assay::cli {
namespace {

std::string ShadowNumber(double value) { return std::isfinite(value) ? fmt::format("{}", value) : "null"; }

std::string ShadowJson(const ShadowReport& report) {
  std::string text = "{\"outputs\": {";
  for (size_t k = 0; k < report.outputs.size(); ++k) {
    const ShadowOutput& of = report.outputs[k];
    text += fmt::format("{}{}: {{\"elements\": {}, \"error_ulps\": {}, \"relative_error\": {}}}",
                        k == 0 ? "" : ", ", JsonString(of.key), of.elements, ShadowNumber(of.error_ulps),
                        ShadowNumber(of.relative_error));
  }
  text += "}, \"instructions\": [";
  for (size_t k = 0; k < report.instructions.size(); ++k) {
    const ShadowInstruction& of = report.instructions[k];
    text += fmt::format(
        "{}{{\"computation\": {}, \"name\": {}, \"op\": {}, \"shape\": {}, \"runs\": {}, \"elements\": {}, "
        "\"local_ulps\": {}, \"inherited_ulps\": {}, \"error_ulps\": {}, \"cancelled_digits\": {}, "
        "\"otherwise\": {}, \"restarted\": {}, \"share\": {}, \"group\": {}, \"group_size\": {}}}",
        k == 0 ? "" : ", ", JsonString(of.computation), JsonString(of.name), JsonString(of.op),
        JsonString(of.shape), of.runs, of.elements, ShadowNumber(of.local_ulps),
        ShadowNumber(of.inherited_ulps), ShadowNumber(of.error_ulps), ShadowNumber(of.cancelled_digits),
        of.otherwise, JsonString(of.restarted), of.share < 0 ? "null" : ShadowNumber(of.share), of.group,
        of.group_size);
  }
  return text + fmt::format("], \"evaluations\": {}}}\n", report.evaluations);
}

std::string ShadowText(ShadowReport report) {
  std::string text;
  for (const ShadowOutput& of : report.outputs) {
    text += fmt::format("{}: {} elements, off by up to {:.4g} ulps, relative error {:.3g}\n",
                        EscapeControls(of.key), of.elements, of.error_ulps, of.relative_error);
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
    if (of.runs > 1) text += fmt::format(", {} runs", of.runs);
    if (of.otherwise > 0) text += fmt::format(", {} elements otherwise decided", of.otherwise);
    if (!of.restarted.empty()) text += fmt::format(", restarts from its rounded result: {}", of.restarted);
    text += "\n";
  }
  return text;
}

}  // namespace

int RunShadowOf(const RunFlags& flags, const ProgramInFile& loaded) {
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
  const absl::StatusOr<ShadowReport> report = RunShadow(loaded.program, std::move((*inputs)[0]), options);
  if (!report.ok()) return FailIn(loaded, report.status(), flags.program);
  return Write(flags.json ? ShadowJson(*report) : ShadowText(*report)) ? 0 : 5;
}

}  // namespace assay::cli
