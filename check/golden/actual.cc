// What a backend gave, held against a golden.
#include <filesystem>

#include "base/counted.h"
#include "base/file_io.h"
#include "check/backends/output_keys.h"
#include "check/conformance.h"
#include "check/golden/golden.h"
#include "fmt/format.h"
#include "literal/literal_text.h"
#include "literal/npz.h"
#include "run/inputs/program_io.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

using Arrays = std::map<std::string, NpyArray>;

// What is wrong with one output, or nothing.
std::string JudgeActual(const BoundedOutput& output, const Arrays& actual) {
  const auto it = actual.find(output.key);
  if (it == actual.end()) return fmt::format("  {}: the backend gave no such output\n", output.key);
  const absl::StatusOr<Literal> value = DecodeNpy(output.key, it->second, output.exact.shape());
  if (!value.ok()) return fmt::format("  {}\n", std::string(value.status().message()));
  const Conformance conformance = CompareToBounds(output, &*value);
  if (!conformance.error.empty()) return fmt::format("  {}: {}\n", output.key, conformance.error);
  if (conformance.outside == 0) return "";
  std::string report = fmt::format("  {}: {}, {} inside, {} outside, {} undecided\n", output.key,
                                   Counted(conformance.elements, "element"), conformance.inside,
                                   conformance.outside, conformance.unchecked);
  for (const Conformance::Element& element : conformance.worst) {
    if (element.share <= 1) break;
    report += fmt::format("    [{}]: exact {}, actual {} ({} ulps), bound +-{:.6g}\n",
                          fmt::join(element.index, ","), element.exact, element.actual, element.ulps,
                          element.radius);
  }
  return report;
}

absl::StatusOr<std::string> ReportOf(const std::string& path, const Golden& golden, const Arrays& actual) {
  if (golden.profile.empty())
    return "  it names no profile: golden record --profile writes goldens for the results of backends\n";
  std::map<std::string, Literal> outputs = golden.outputs;
  if (!golden.outputs_file.empty())
    return NotSupported({}, fmt::format("{}: outputs in a file beside a golden with a profile", path));
  std::string report;
  for (auto& [key, value] : outputs) {
    const auto radius = golden.radii.find(key);
    report += JudgeActual(
        {key, value, radius == golden.radii.end() ? std::nullopt : std::optional(radius->second)}, actual);
  }
  return report;
}

}  // namespace

GoldenResult CheckActual(const std::string& path, const std::string& actual) {
  const auto failed = [&](const absl::Status& status, const absl::Status& read) -> GoldenResult {
    return {path, false, fmt::format("  {}\n", std::string(status.message())), read};
  };
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return failed(text.status(), text.status());
  const absl::StatusOr<Golden> golden = ParseGolden(*text);
  if (!golden.ok()) return failed(golden.status(), absl::OkStatus());
  const absl::StatusOr<Arrays> arrays = ReadOutputs(actual);
  if (!arrays.ok()) return failed(arrays.status(), arrays.status());
  const absl::StatusOr<std::string> report = ReportOf(path, *golden, *arrays);
  if (!report.ok()) return failed(report.status(), absl::OkStatus());
  return {path, report->empty(), *report, absl::OkStatus()};
}

}  // namespace assay
