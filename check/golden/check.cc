// Running goldens: check, update, record.
#include <algorithm>
#include <filesystem>

#include "base/file_io.h"
#include "check/conformance.h"
#include "check/golden/golden.h"
#include "devices/device_io.h"
#include "devices/run_devices.h"
#include "evaluator/grid/device_grid.h"
#include "fmt/format.h"
#include "hlo/load/load.h"
#include "hlo/proto/import.h"
#include "literal/literal_text.h"
#include "literal/npz.h"
#include "run/inputs/known_arguments.h"
#include "run/inputs/program_io.h"
#include "run/program.h"
#include "shape/shape_text.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

using ByKey = std::map<std::string, Literal>;

RunOptions OptionsOf(const Golden& golden, const GoldenEngine& engine) {
  RunOptions options = golden.options;
  options.crosscheck = engine.crosscheck;
  options.repro_dir = engine.repro_dir;
  options.repro_flags = engine.repro_flags;
  options.jobs = engine.jobs;
  options.interrupted = engine.interrupted;
  options.parent_guard = engine.parent_guard;
  RunLimits& limits = options.limits;
  if (limits.max_steps == 0) limits.max_steps = engine.limits.max_steps;
  if (limits.memory_limit == 0) limits.memory_limit = engine.limits.memory_limit;
  return options;
}

absl::StatusOr<std::vector<DeviceInputs>> InputsOf(const Golden& golden, const std::string& path,
                                                   const Program& program, const DeviceGrid& grid) {
  if (golden.inputs_file.empty()) return InputsOfDevices(program.verified(), grid, golden.inputs);
  ASSAY_ASSIGN_OR_RETURN(const auto arrays, ReadNpzFile(fs::path(path).replace_filename(golden.inputs_file)));
  return InputsOfDevices(program.verified(), grid, arrays);
}

// The golden's program; where its dimensions are free, refined for its inputs.
absl::StatusOr<Program> ProgramOf(const Golden& golden, const std::string& path, const GoldenEngine& engine) {
  ASSAY_ASSIGN_OR_RETURN(const Program program,
                         Program::Load(path, golden.program, {.custom_ops = engine.custom_ops}));
  if (!program.has_free_dimensions()) return program;
  std::vector<KnownArgument> arguments;
  if (golden.inputs_file.empty()) {
    ASSAY_ASSIGN_OR_RETURN(arguments, KnownArgumentsFrom(program.module(), golden.inputs));
  } else {
    ASSAY_ASSIGN_OR_RETURN(const auto arrays,
                           ReadNpzFile(fs::path(path).replace_filename(golden.inputs_file)));
    ASSAY_ASSIGN_OR_RETURN(arguments, KnownArgumentsFrom(program.module(), arrays));
  }
  return program.RefinedFor(arguments);
}

// Everything that a run of the golden's program gives, by key.
absl::StatusOr<ByKey> RunGolden(const Golden& golden, const std::string& path, const GoldenEngine& engine) {
  ASSAY_ASSIGN_OR_RETURN(const Program program, ProgramOf(golden, path, engine));
  ASSAY_ASSIGN_OR_RETURN(const std::shared_ptr<const Plan> plan, program.PlanFor(engine.engines));
  const RunOptions options = OptionsOf(golden, engine);
  ASSAY_ASSIGN_OR_RETURN(const DeviceGrid grid, ResolveDeviceGrid(program.module(), golden.devices));
  ASSAY_ASSIGN_OR_RETURN(std::vector<DeviceInputs> inputs, InputsOf(golden, path, program, grid));
  ASSAY_ASSIGN_OR_RETURN(const std::vector<DeviceOutputs> outputs,
                         RunDevices(*plan, grid, std::move(inputs), options));
  ByKey results;
  for (auto& [key, value] : ResultsOfDevices(grid, outputs)) results.emplace(key, value);
  return results;
}

// The radii of the golden's profile, by the keys of the outputs; none where it has none.
absl::StatusOr<ByKey> RadiiOf(const Golden& golden, const std::string& path, const GoldenEngine& engine) {
  ByKey radii;
  if (golden.profile.empty()) return radii;
  ASSAY_ASSIGN_OR_RETURN(const Profile profile, LoadProfile(golden.profile));
  ASSAY_ASSIGN_OR_RETURN(const Program program, ProgramOf(golden, path, engine));
  ASSAY_ASSIGN_OR_RETURN(const DeviceGrid grid, ResolveDeviceGrid(program.module(), golden.devices));
  ASSAY_ASSIGN_OR_RETURN(std::vector<DeviceInputs> inputs, InputsOf(golden, path, program, grid));
  ASSAY_ASSIGN_OR_RETURN(const BoundedOutputs bounded,
                         RunWithBounds(program, profile, grid, std::move(inputs), OptionsOf(golden, engine)));
  for (const BoundedOutput& output : bounded.outputs) {
    if (output.radius.has_value()) radii.emplace(output.key, *output.radius);
  }
  return radii;
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

// A limit that the golden's header does not name.
bool IsLimitOf(const GoldenEngine& engine, const absl::Status& status) {
  const RunLimits& limits = engine.limits;
  return status.code() == absl::StatusCode::kResourceExhausted && ExitCodeOf(status) == 5 &&
         (limits.max_steps > 0 || limits.memory_limit > 0 || limits.timeout_seconds > 0);
}

// What is wrong, or nothing. An error is a limit of the engine's.
absl::StatusOr<std::string> CheckText(const std::string& path, std::string_view text,
                                      const GoldenEngine& engine) {
  const absl::StatusOr<Golden> golden = ParseGolden(text);
  if (IsLimitOf(engine, golden.status())) return golden.status();
  if (!golden.ok()) return "  " + Message(golden.status()) + "\n";
  const absl::StatusOr<ByKey> actual = RunGolden(*golden, path, engine);
  if (!golden->refuse_code && IsLimitOf(engine, actual.status())) return actual.status();
  if (golden->refuse_code) {
    if (actual.ok())
      return fmt::format("  expected a refusal with exit code {}, but it ran\n", *golden->refuse_code);
    const int code = ExitCodeOf(actual.status());
    const std::string message = Message(actual.status());
    if (code == *golden->refuse_code && message.find(golden->refuse_text) != std::string::npos)
      return std::string();
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
    return BadInput("the file holds a program without arguments and a result: it is not an HloSnapshot");
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
  if (line.starts_with("// radius.")) return true;
  const size_t key = std::min<size_t>(line.size(), 3);
  return line.substr(0, key) == "// " &&
         (WithoutDevice(line.substr(key)).substr(0, 3) == "out" || line.substr(key).starts_with("probe/")) &&
         !line.starts_with("// outputs:");
}

// The lines of outputs and of their radii.
std::vector<std::string> OutputLines(const ByKey& outputs, const ByKey& radii) {
  std::vector<std::string> lines;
  for (const auto& [key, value] : outputs) lines.push_back(HeaderLine(key, value));
  for (const auto& [key, value] : radii) lines.push_back(HeaderLine("radius." + key, value));
  return lines;
}

// The golden's text with its output lines replaced.
GoldenUpdate ReplaceOutputs(const std::string& text, const std::vector<std::string>& lines) {
  GoldenUpdate update;
  bool written = false;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    const bool is_output = IsOutputLine(line);
    if (is_output) update.diff += "- " + line + "\n";
    if (!written && (is_output || !line.starts_with("//"))) {
      for (const std::string& new_line : lines) {
        update.diff += "+ " + new_line + "\n";
        update.new_text += new_line + "\n";
      }
      written = true;
    }
    if (!is_output) update.new_text += line + "\n";
  }
  return update;
}

// Programs in either text. Snapshots are dumped as NAME.snapshot.0.pb and NAME.hlo_snapshot.pb.
bool IsGoldenName(const fs::path& path) {
  const std::string name = path.filename().string();
  return path.extension() == ".hlo" || path.extension() == ".mlir" ||
         (path.extension() == ".pb" && name.find("snapshot") != std::string::npos);
}

// A file, or what can't be known to be one, such as a link to nowhere: reading it says why.
bool MayBeFile(const fs::directory_entry& entry) {
  std::error_code error;
  const fs::file_type type = entry.status(error).type();
  return type == fs::file_type::regular || type == fs::file_type::not_found || type == fs::file_type::none;
}

void FindBelow(const std::string& root, FoundGoldens& found) {
  const size_t files_before = found.files.size(), errors_before = found.errors.size();
  std::vector<fs::path> pending = {root};
  while (!pending.empty()) {
    const fs::path directory = std::move(pending.back());
    pending.pop_back();
    std::error_code error;
    for (auto it = fs::directory_iterator(directory, error); !error && it != fs::directory_iterator();
         it.increment(error)) {
      std::error_code unknown;
      // The real programs are plain programs, run by a test of their own.
      if (it->symlink_status(unknown).type() == fs::file_type::directory) {
        if (!it->path().filename().string().starts_with("programs")) pending.push_back(it->path());
      } else if (IsGoldenName(it->path()) && MayBeFile(*it)) {
        found.files.push_back(it->path().string());
      }
    }
    if (error) {
      found.errors.emplace_back(directory.string(),
                                BadInput(fmt::format("can't read the directory: {}", error.message())));
    }
  }
  std::sort(found.files.begin() + static_cast<std::ptrdiff_t>(files_before), found.files.end());
  if (found.files.size() == files_before && found.errors.size() == errors_before)
    found.errors.emplace_back(root, BadInput("no golden found: no .hlo or .mlir file and no snapshot"));
}

}  // namespace

GoldenResult CheckGolden(const std::string& path, const GoldenEngine& engine) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return {path, false, "  " + Message(text.status()) + "\n", text.status()};
  const bool is_snapshot = FormOfProgram(path, *text) == ProgramForm::kProto;
  const absl::StatusOr<std::string> report =
      is_snapshot ? CheckSnapshot(path, *text, engine) : CheckText(path, *text, engine);
  if (report.ok()) return {path, report->empty(), *report, absl::OkStatus()};
  return {path, false,
          fmt::format("  {} (exit code {})\n", Message(report.status()), ExitCodeOf(report.status())),
          IsLimitOf(engine, report.status()) ? report.status() : absl::OkStatus()};
}

FoundGoldens FindGoldens(const std::vector<std::string>& paths) {
  FoundGoldens found;
  for (const std::string& path : paths) {
    std::error_code error;
    if (fs::is_directory(path, error)) {
      FindBelow(path, found);
    } else {
      found.files.push_back(path);
    }
  }
  return found;
}

absl::StatusOr<GoldenUpdate> UpdateGolden(const std::string& path, const std::function<bool()>& interrupted) {
  const GoldenEngine reference{.engines = EnginesOf(EngineChoice::kReference), .interrupted = interrupted};
  ASSAY_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  ASSAY_ASSIGN_OR_RETURN(const Golden golden, ParseGolden(text));
  ASSAY_ASSIGN_OR_RETURN(const std::string wrong, CheckText(path, text, reference));
  if (wrong.empty()) return GoldenUpdate{text, ""};
  if (golden.oracle != "assay") {
    return ComparisonFailed(
        fmt::format("the expected values come from '{}': only values that Assay recorded itself are "
                    "updated",
                    golden.oracle.empty() ? "a refusal" : golden.oracle));
  }
  if (golden.refuse_code || !golden.outputs_file.empty()) {
    return ComparisonFailed("only expected values in the header are updated");
  }
  ASSAY_ASSIGN_OR_RETURN(const ByKey actual, RunGolden(golden, path, reference));
  ASSAY_ASSIGN_OR_RETURN(const ByKey radii, RadiiOf(golden, path, reference));
  GoldenUpdate update = ReplaceOutputs(text, OutputLines(actual, radii));
  // The check may have lacked memory that there is now.
  if (update.new_text == text) update.diff.clear();
  return update;
}

absl::StatusOr<std::string> RecordGolden(std::string_view program_text,
                                         const std::vector<std::pair<std::string, Literal>>& inputs,
                                         const DeviceGrid& devices, const RunOptions& options,
                                         std::shared_ptr<const CustomOps> custom_ops,
                                         const std::string& profile, const std::string& generator) {
  ASSAY_ASSIGN_OR_RETURN(const std::string program, WithoutHeader(program_text));
  Golden golden;
  golden.profile = profile;
  golden.program = program_text;  // as it was given: errors have places in it
  golden.options = options;
  golden.devices = devices;
  for (const auto& [key, value] : inputs) golden.inputs.emplace(key, value);
  const GoldenEngine reference{.engines = EnginesOf(EngineChoice::kReference),
                               .interrupted = options.interrupted,
                               .parent_guard = options.parent_guard,
                               .custom_ops = std::move(custom_ops)};
  ASSAY_ASSIGN_OR_RETURN(const ByKey results, RunGolden(golden, "-", reference));
  ASSAY_ASSIGN_OR_RETURN(const ByKey radii, RadiiOf(golden, "-", reference));
  std::string text = "// oracle: assay\n";
  if (!profile.empty()) text += fmt::format("// generator: {}\n// profile: {}\n", generator, profile);
  std::string kept;
  if (options.run_seed != RunOptions().run_seed) kept += fmt::format(" --seed {}", options.run_seed);
  if (devices.replicas > 0) kept += fmt::format(" --replicas {}", devices.replicas);
  if (devices.partitions > 0) kept += fmt::format(" --partitions {}", devices.partitions);
  if (!kept.empty()) text += "// options:" + kept + "\n";
  for (const auto& [key, value] : inputs) text += HeaderLine(key, value) + "\n";
  for (const auto& [key, value] : results) {
    const std::string line = HeaderLine(key, value) + "\n";
    if (!WithoutHeader(line).ok() || !WithoutHeader(line)->empty())
      return NotSupported({}, fmt::format("a golden can't hold the result '{}'", key));
  }
  for (const std::string& line : OutputLines(results, radii)) text += line + "\n";
  return text + program;
}

}  // namespace assay
