// assay golden check, update, record.
#include <algorithm>
#include <filesystem>

#include "base/file_io.h"
#include "base/run_guard.h"
#include "base/work_stage.h"
#include "check/golden/golden.h"
#include "check/profile.h"
#include "fmt/format.h"
#include "hlo/diagnostics.h"
#include "hlo/load/load.h"
#include "hlo/text/printer.h"
#include "run/inputs/program_io.h"
#include "tools/commands.h"

namespace assay::cli {

namespace {

// Says what could not be searched; returns the exit code, or 0.
int FailAll(const FoundGoldens& found) {
  int exit_code = 0;
  for (const auto& [path, status] : found.errors) exit_code = Fail(status, path);
  return exit_code;
}

// Each line of a report as a terminal may be given it.
std::string EscapedLines(std::string_view text) {
  std::string escaped;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    escaped += EscapeControls(text.substr(at, end - at)) + "\n";
    at = end + 1;
  }
  return escaped;
}

// The backend's outputs for a golden: the file, or NAME.npz of the folder for NAME.hlo.
std::string ActualOf(const std::string& golden, const std::string& actual) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(actual, error)) return actual;
  return (fs::path(actual) / fs::path(golden).stem()).string() + ".npz";
}

// Results of a backend are compared with goldens that allow for its rounding; nothing runs.
int CheckActuals(const FoundGoldens& found, const GoldenCheckFlags& flags) {
  std::error_code error;
  if (found.files.size() > 1 && !std::filesystem::is_directory(flags.actual, error)) {
    return UsageError(
        fmt::format("--actual of {} goldens is a folder with NAME.npz for NAME.hlo", found.files.size()));
  }
  int unread = FailAll(found);
  int64_t passed = 0, failed = 0;
  for (const std::string& path : found.files) {
    const std::string actual = ActualOf(path, flags.actual);
    const GoldenResult result = CheckActual(path, actual);
    if (const absl::Status status = PollWork(); !status.ok()) return Fail(status, path);
    if (!result.read.ok()) {
      unread = Fail(result.read, actual);
      continue;
    }
    ++(result.passed ? passed : failed);
    if (!result.passed &&
        !Write(fmt::format("FAILED {}\n{}", EscapeControls(path), EscapedLines(result.report)))) {
      return 5;
    }
  }
  if (!Write(fmt::format("{} conform, {} do not\n", passed, failed))) return 5;
  return unread != 0 ? unread : failed == 0 ? 0 : 1;
}

}  // namespace

int GoldenCheck(const GoldenCheckFlags& flags) {
  const std::vector<std::string>& paths = flags.paths;
  if (ReadsStandardInputTwice(paths)) return 2;
  if (std::error_code error; !flags.actual.empty() && !std::filesystem::is_directory(flags.actual, error)) {
    if (const int code = CheckFiles({flags.actual}, {}); code != 0) return code;
  }
  if (!flags.actual.empty()) return CheckActuals(FindGoldens(paths), flags);
  if (const absl::Status status = CheckEngine(flags); !status.ok()) return Fail(status, paths[0]);
  const absl::StatusOr<LoadedOps> ops = LoadedOpsOf(flags);
  if (!ops.ok()) return Fail(ops.status(), paths[0]);
  const RunOptions options = OptionsOf(flags);
  const GoldenEngine engine{.engines = EnginesOf(flags),
                            .crosscheck = options.crosscheck,
                            .repro_dir = options.repro_dir,
                            .repro_flags = options.repro_flags,
                            .jobs = options.jobs,
                            .interrupted = Interrupted,
                            .limits = options.limits,
                            .parent_guard = options.parent_guard,
                            .custom_ops = ops->all};
  const FoundGoldens found = FindGoldens(paths);
  // A golden that is not there says nothing of the program under test: no failed check, a bad input.
  int unread = FailAll(found);
  int64_t passed = 0, failed = 0;
  const WorkStage stage("goldens", static_cast<int64_t>(found.files.size()));
  int64_t done = 0;
  for (const std::string& path : found.files) {
    stage.Done(done++);
    const GoldenResult result = CheckGolden(path, engine);
    if (Interrupted()) return Fail(absl::CancelledError("interrupted"), path);
    if (const absl::Status status = PollWork(); !status.ok()) return Fail(status, path);
    if (!result.read.ok()) {
      unread = Fail(result.read, path);
      continue;
    }
    ++(result.passed ? passed : failed);
    if (!result.passed &&
        !Write(fmt::format("FAILED {}\n{}", EscapeControls(path), EscapedLines(result.report)))) {
      return 5;
    }
  }
  SayIdle(IdleEnginesOf(flags));
  if (!Write(fmt::format("{} passed, {} failed\n", passed, failed))) return 5;
  return unread != 0 ? unread : failed == 0 ? 0 : 1;
}

int GoldenUpdateFiles(const GoldenUpdateFlags& flags) {
  const std::vector<std::string>& paths = flags.paths;
  if (std::count(paths.begin(), paths.end(), "-") > 0)
    return UsageError("standard input ('-') can't be updated; golden record writes a new golden");
  const FoundGoldens found = FindGoldens(paths);
  int exit_code = FailAll(found);
  if (const int code = CheckFiles({}, found.files); code != 0) return code;
  for (const std::string& path : found.files) {
    const absl::StatusOr<GoldenUpdate> update = UpdateGolden(path, Interrupted);
    if (Interrupted()) return Fail(absl::CancelledError("interrupted"), path);
    absl::Status status = update.status();
    if (status.ok() && !update->diff.empty()) {
      status = WriteFileAtomically(path, update->new_text);
      if (status.ok() && !Write(fmt::format("--- {}\n{}", EscapeControls(path), EscapedLines(update->diff))))
        return 5;
    }
    if (!status.ok()) exit_code = std::max(exit_code, Fail(status, path));
  }
  return exit_code;
}

int GoldenRecord(const GoldenRecordFlags& flags) {
  if (ReadsStandardInputTwice({flags.program, flags.inputs})) return 2;
  if (const int code = CheckFilesOf(flags, {flags.output}); code != 0) return code;
  if (!flags.profile.empty()) {
    if (const absl::StatusOr<Profile> profile = LoadProfile(flags.profile); !profile.ok())
      return Fail(profile.status(), flags.profile);
  }
  int exit_code = 0;
  const std::optional<LoadedProgram> loaded = Load(flags, exit_code);
  if (!loaded) return exit_code;
  if (LacksInputs(flags, *loaded)) return AskForInputs(flags, *loaded);
  const absl::StatusOr<DeviceGrid> grid = GridOf(flags, *loaded);
  if (!grid.ok()) return Fail(grid.status(), flags.program, loaded->text);
  const absl::StatusOr<std::vector<DeviceInputs>> given = InputsFor(flags, *loaded, *grid);
  if (!given.ok()) return Fail(given.status(), InputsOf(flags));
  NamedLiterals inputs;
  for (size_t id = 0; id < given->size(); ++id) {
    const DeviceInputs& device = (*given)[id];
    if (!device.process.infeed.empty() || !device.process.host_to_device.empty())
      return Fail(NotSupported({}, "recording a golden with items for infeed or host receives"),
                  InputsOf(flags));
    const std::string name = grid->size() == 1 ? "" : grid->NameOf(static_cast<int64_t>(id)) + "/";
    for (size_t i = 0; i < device.arguments.size(); ++i) {
      for (auto& leaf : LeavesOf(fmt::format("{}arg{}", name, i), device.arguments[i]))
        inputs.push_back(std::move(leaf));
    }
  }
  // A golden is text, whatever the program was.
  const bool is_text = FormOfProgram(flags.program, loaded->text) == ProgramForm::kHloText;
  RunOptions options = OptionsOf(flags);
  options.interrupted = Interrupted;
  const absl::StatusOr<std::string> text =
      RecordGolden(is_text ? loaded->text : ModuleToText(loaded->program.as_written()), inputs,
                   {.replicas = flags.replicas, .partitions = flags.partitions}, options,
                   loaded->program.module().custom_ops, flags.profile, "assay " ASSAY_VERSION);
  if (!text.ok()) return Fail(text.status(), flags.program, loaded->text);
  if (flags.output.empty()) return Write(*text) ? 0 : 5;
  const absl::Status status = WriteFileAtomically(flags.output, *text);
  return status.ok() ? 0 : Fail(status, flags.output);
}

}  // namespace assay::cli
