// Running goldens: check, update, record.
#include <algorithm>
#include <filesystem>

#include "evaluator/executor.h"
#include "evaluator/program_io.h"
#include "fmt/format.h"
#include "golden/golden.h"
#include "hlo/load.h"
#include "hlo/proto/import.h"
#include "literal/literal_text.h"
#include "literal/npz.h"
#include "shape/shape_text.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

using ByKey = std::map<std::string, Literal>;

// Everything that a run of the golden's program gives, by key.
absl::StatusOr<ByKey> RunGolden(const Golden& golden, const std::string& path, const GoldenEngine& engine) {
  ASSAY_ASSIGN_OR_RETURN(Module parsed, LoadProgram(path, golden.program));
  ASSAY_ASSIGN_OR_RETURN(const VerifiedModule module, Verify(std::move(parsed)));
  ASSAY_ASSIGN_OR_RETURN(const Plan plan, engine.engines.empty() ? MakePlan(module, engine.choice, engine.isa)
                                                                 : MakePlan(module, engine.engines));
  RunOptions options = golden.options;
  options.crosscheck = engine.crosscheck;
  options.jobs = engine.jobs;
  Executor executor(plan, options);
  absl::StatusOr<std::vector<Literal>> arguments;
  if (golden.inputs_file.empty()) {
    arguments = ArgumentsFrom(module, golden.inputs, &executor.process().infeed);
  } else {
    ASSAY_ASSIGN_OR_RETURN(const auto arrays,
                           ReadNpzFile(fs::path(path).replace_filename(golden.inputs_file)));
    arguments = ArgumentsFrom(module, arrays, &executor.process().infeed);
  }
  if (!arguments.ok()) return arguments.status();
  ASSAY_ASSIGN_OR_RETURN(const Literal root, executor.Run(*std::move(arguments)));
  ByKey results;
  for (auto& [key, value] : AllResults(root, executor.process())) results.emplace(key, value);
  return results;
}

// What is wrong with `actual`, or nothing.
std::string CompareResults(const Golden& golden, const ByKey& expected, const ByKey& actual) {
  std::string report;
  Tolerance tolerance;
  tolerance.bitwise = !golden.tolerance.has_value();
  tolerance.scale_rtol = golden.tolerance.value_or(0);
  for (const auto& [key, value] : expected) {
    const auto it = actual.find(key);
    if (it == actual.end()) {
      report += fmt::format("  {}: expected, but the program gives no such result\n", key);
      continue;
    }
    const Comparison comparison = CompareLiterals(value, it->second, tolerance);
    if (!comparison.ok()) report += fmt::format("  {}: {}\n", key, comparison.Report());
  }
  for (const auto& [key, value] : actual) {
    if (expected.count(key) == 0) {
      report += fmt::format("  {}: not expected; the program gives {} {}\n", key, value.shape().ToString(),
                            LiteralToText(value, {.hex_floats = true}));
    }
  }
  return report;
}

absl::StatusOr<ByKey> ExpectedOutputs(const Golden& golden, const std::string& path, const ByKey& actual) {
  if (golden.outputs_file.empty()) return golden.outputs;
  ASSAY_ASSIGN_OR_RETURN(const auto arrays,
                         ReadNpzFile(fs::path(path).replace_filename(golden.outputs_file)));
  ByKey expected;
  for (const auto& [key, array] : arrays) {
    const auto it = actual.find(key);
    if (it == actual.end()) {
      return ComparisonFailed(fmt::format("'{}' is expected, the program gives no such result", key));
    }
    ASSAY_ASSIGN_OR_RETURN(Literal value, DecodeNpy(key, array, it->second.shape()));
    expected.emplace(key, std::move(value));
  }
  return expected;
}

std::string Message(const absl::Status& status) { return std::string(status.message()); }

std::string CheckText(const std::string& path, std::string_view text, const GoldenEngine& engine) {
  const absl::StatusOr<Golden> golden = ParseGolden(text);
  if (!golden.ok()) return "  " + Message(golden.status()) + "\n";
  const absl::StatusOr<ByKey> actual = RunGolden(*golden, path, engine);
  if (golden->refuse_code) {
    if (actual.ok())
      return fmt::format("  expected a refusal with exit code {}, but it ran\n", *golden->refuse_code);
    const int code = ExitCodeOf(actual.status());
    const std::string message = Message(actual.status());
    if (code == *golden->refuse_code && message.find(golden->refuse_text) != std::string::npos) return "";
    return fmt::format("  expected: {} {}\n  actual:   {} {}\n", *golden->refuse_code, golden->refuse_text,
                       code, message);
  }
  if (!actual.ok())
    return fmt::format("  {} (exit code {})\n", Message(actual.status()), ExitCodeOf(actual.status()));
  const absl::StatusOr<ByKey> expected = ExpectedOutputs(*golden, path, *actual);
  if (!expected.ok()) return "  " + Message(expected.status()) + "\n";
  return CompareResults(*golden, *expected, *actual);
}

// An HloSnapshot: its program on its arguments against its result, bit by bit.
absl::StatusOr<std::string> CheckSnapshot(const std::string& path, std::string_view bytes,
                                          const GoldenEngine& engine) {
  ASSAY_ASSIGN_OR_RETURN(const std::optional<Snapshot> snapshot, ReadSnapshot(bytes));
  if (!snapshot.has_value() || !snapshot->result.has_value()) {
    return BadInput("the file holds a program without arguments and a result: it is no HloSnapshot");
  }
  Golden golden;
  golden.program = bytes;
  golden.inputs = LeavesOfArguments(snapshot->arguments);
  for (auto& [key, value] : ResultsOf(*snapshot->result)) golden.outputs.emplace(key, value);
  ASSAY_ASSIGN_OR_RETURN(const ByKey actual, RunGolden(golden, path, engine));
  return CompareResults(golden, golden.outputs, actual);
}

std::string HeaderLine(const std::string& key, const Literal& value) {
  return fmt::format("// {}: {} {}", key, value.shape().ToString(),
                     LiteralToText(value, {.hex_floats = true}));
}

bool IsOutputLine(std::string_view line) {
  return line.substr(0, 6) == "// out" && line.substr(0, 11) != "// outputs:";
}

// The golden's text with its output lines replaced.
GoldenUpdate ReplaceOutputs(const std::string& text, const ByKey& actual) {
  GoldenUpdate update;
  bool written = false;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    const bool is_output = IsOutputLine(line);
    if (is_output) update.diff += "- " + line + "\n";
    if (!written && (is_output || line.substr(0, 2) != "//")) {
      for (const auto& [key, value] : actual) {
        update.diff += "+ " + HeaderLine(key, value) + "\n";
        update.new_text += HeaderLine(key, value) + "\n";
      }
      written = true;
    }
    if (!is_output) update.new_text += line + "\n";
  }
  return update;
}

// Snapshots are dumped as NAME.snapshot.0.pb and NAME.hlo_snapshot.pb.
bool IsGoldenName(const fs::path& path) {
  const std::string name = path.filename().string();
  return path.extension() == ".hlo" ||
         (path.extension() == ".pb" && name.find("snapshot") != std::string::npos);
}

}  // namespace

GoldenResult CheckGolden(const std::string& path, const GoldenEngine& engine) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return {path, false, "  " + Message(text.status()) + "\n"};
  if (FormOfProgram(path, *text) != ProgramForm::kProto) {
    const std::string report = CheckText(path, *text, engine);
    return {path, report.empty(), report};
  }
  const absl::StatusOr<std::string> report = CheckSnapshot(path, *text, engine);
  if (report.ok()) return {path, report->empty(), *report};
  return {path, false,
          fmt::format("  {} (exit code {})\n", Message(report.status()), ExitCodeOf(report.status()))};
}

std::vector<std::string> FindGoldens(const std::vector<std::string>& paths) {
  std::vector<std::string> found;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      found.push_back(path);
      continue;
    }
    std::vector<std::string> below;
    for (auto it = fs::recursive_directory_iterator(path, error);
         !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
      // The real programs are plain programs, run by a test of their own.
      if (it->is_directory() && it->path().filename() == "programs") it.disable_recursion_pending();
      if (it->is_regular_file() && IsGoldenName(it->path())) below.push_back(it->path().string());
    }
    std::sort(below.begin(), below.end());
    found.insert(found.end(), below.begin(), below.end());
  }
  return found;
}

absl::StatusOr<GoldenUpdate> UpdateGolden(const std::string& path) {
  ASSAY_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  ASSAY_ASSIGN_OR_RETURN(const Golden golden, ParseGolden(text));
  if (CheckText(path, text, {.choice = EngineChoice::kReference}).empty()) return GoldenUpdate{text, ""};
  if (golden.oracle != "assay") {
    return ComparisonFailed(
        fmt::format("the expected values come from '{}': only values that Assay recorded itself are "
                    "updated",
                    golden.oracle.empty() ? "a refusal" : golden.oracle));
  }
  if (golden.refuse_code || !golden.outputs_file.empty()) {
    return ComparisonFailed("only expected values in the header are updated");
  }
  ASSAY_ASSIGN_OR_RETURN(const ByKey actual, RunGolden(golden, path, {.choice = EngineChoice::kReference}));
  return ReplaceOutputs(text, actual);
}

absl::StatusOr<std::string> RecordGolden(std::string_view program_text,
                                         const std::vector<std::pair<std::string, Literal>>& inputs) {
  Golden golden;
  golden.program = program_text;
  for (const auto& [key, value] : inputs) golden.inputs.emplace(key, value);
  ASSAY_ASSIGN_OR_RETURN(const ByKey results, RunGolden(golden, "-", {.choice = EngineChoice::kReference}));
  std::string text = "// oracle: assay\n";
  for (const auto& [key, value] : inputs) text += HeaderLine(key, value) + "\n";
  for (const auto& [key, value] : results) text += HeaderLine(key, value) + "\n";
  return text + std::string(program_text);
}

}  // namespace assay
