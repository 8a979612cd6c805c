#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>
#include <set>

#include "base/counted.h"
#include "base/file_io.h"
#include "base/json_writer.h"
#include "check/backends/command_process.h"
#include "custom/composites.h"
#include "devices/device_io.h"
#include "devices/transport.h"
#include "evaluator/grid/device_grid.h"
#include "fmt/format.h"
#include "hlo/diagnostics.h"
#include "hlo/load/load.h"
#include "jit/perf_map.h"
#include "literal/npz.h"
#include "run/inputs/known_arguments.h"
#include "run/inputs/program_io.h"
#include "run/trace/step_trace.h"
#include "tools/about/progress.h"
#include "tools/commands.h"

namespace assay::cli {
namespace {

volatile std::sig_atomic_t interrupted = 0, ends_on_second = 0;

// What a handler says when it ends the process.
constexpr char kInterruptedWords[] = "assay: error: interrupted\n";
char timeout_words[512];

[[noreturn]] void ExitNow(const char* words) {
  RemoveUnfinishedFile();
  EndCommands();
  for (const char* const part : {ClearingBytes(), words})
    static_cast<void>(!write(STDERR_FILENO, part, std::strlen(part)));
  _exit(5);
}

void StartTimer(double seconds) {
  itimerval timer = {};
  timer.it_value.tv_sec = static_cast<time_t>(seconds);
  timer.it_value.tv_usec =
      static_cast<suseconds_t>((seconds - static_cast<double>(timer.it_value.tv_sec)) * 1e6);
  setitimer(ITIMER_REAL, &timer, nullptr);
}

// What is at work is asked to end, and made to end where it does not: it may wait for a pipe, or be in a
// library. A second Ctrl-C ends it at once.
void OnSignal(int) {
  if (interrupted != 0) ExitNow(kInterruptedWords);
  interrupted = 1;
  if (ends_on_second == 0) StartTimer(0.7);
}

void OnTimer(int) { ExitNow(interrupted != 0 ? kInterruptedWords : timeout_words); }

// Takes the file's name from the front of the message, since the diagnostic has it.
absl::Status WithoutName(const absl::Status& status, const std::string& file) {
  const std::string name = file + ": ";
  const absl::string_view message = status.message();
  if (message.size() <= name.size() || message.substr(0, name.size()) != name) return status;
  absl::Status shorter(status.code(), message.substr(name.size()));
  status.ForEachPayload(
      [&](absl::string_view key, const absl::Cord& value) { shorter.SetPayload(key, value); });
  return shorter;
}

EngineChoice ChoiceOf(const EngineFlags& flags) {
  return flags.engine == "fast"        ? EngineChoice::kFast
         : flags.engine == "gpu"       ? EngineChoice::kGpu
         : flags.engine == "gpu-fast"  ? EngineChoice::kGpuFast
         : flags.engine == "reference" ? EngineChoice::kReference
                                       : EngineChoice::kExact;
}

absl::Status MovedTo(int32_t lines_before, const absl::Status& status) {
  return WithPositionMovedTo(status, {lines_before + 1, 1});
}

// The arrays of a file, which is read once where the program's sizes are taken from it, too: standard input
// has no second time.
struct ArraysOfFile {
  std::string path;
  std::map<std::string, NpyArray> arrays;
};
std::optional<ArraysOfFile>& KnownArrays() {
  static auto* const known = new std::optional<ArraysOfFile>();
  return *known;
}

absl::StatusOr<std::map<std::string, NpyArray>> InputArrays(const std::string& path) {
  std::optional<ArraysOfFile>& known = KnownArrays();
  if (known && known->path == path) {
    std::map<std::string, NpyArray> arrays = std::move(known->arrays);
    known.reset();
    return arrays;
  }
  ASSAY_ASSIGN_OR_RETURN(auto arrays, ReadNpzFile(path));
  if (arrays.size() == 1 && arrays.count("") == 1) arrays["arg0"] = std::move(arrays.extract("").mapped());
  return arrays;
}

}  // namespace

absl::StatusOr<std::optional<std::vector<KnownArgument>>> KnownArgumentsOf(const ProgramFlags& flags,
                                                                           const Module& module) {
  std::vector<KnownArgument> arguments;
  if (!flags.shapes.empty()) {
    ASSAY_ASSIGN_OR_RETURN(arguments, KnownArgumentsOfText(module, flags.shapes));
  } else if (!flags.inputs.empty()) {
    ASSAY_ASSIGN_OR_RETURN(auto arrays, InputArrays(flags.inputs));
    absl::StatusOr<std::vector<KnownArgument>> known = KnownArgumentsFrom(module, arrays);
    KnownArrays() = ArraysOfFile{flags.inputs, std::move(arrays)};
    ASSAY_ASSIGN_OR_RETURN(arguments, std::move(known));
  } else {
    return std::nullopt;
  }
  return std::optional(std::move(arguments));
}

bool Interrupted() { return interrupted != 0; }

void EndOnSecondSignal() { ends_on_second = 1; }

void InstallSignalHandlers() {
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  for (const int signal : {SIGINT, SIGTERM, SIGQUIT}) sigaction(signal, &action, nullptr);
  struct sigaction hang_up;  // nohup has it ignored
  if (sigaction(SIGHUP, nullptr, &hang_up) == 0 && hang_up.sa_handler != SIG_IGN)
    sigaction(SIGHUP, &action, nullptr);
  action.sa_handler = OnTimer;
  sigaction(SIGALRM, &action, nullptr);
  // A closed pipe, or a file that may not grow, is an output that could not be written: exit 5.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

void InstallTerminateHandler() {
  static std::terminate_handler before;
  before = std::set_terminate([] {
    if (const std::exception_ptr thrown = std::current_exception()) {
      try {
        std::rethrow_exception(thrown);
      } catch (const std::bad_alloc&) {
        ExitNow("assay: error: out of memory\n");
      } catch (...) {
      }
    }
    before();
  });
}

void EnforceTimeout(const ProgramFlags& flags) {
  const double seconds = flags.options.limits.timeout_seconds;
  if (seconds <= 0 || seconds > 1e8) return;
  constexpr double kGrace = 0.5;  // for what polls, which says where it was
  const std::string words =
      fmt::format("{}: error: timeout after {} seconds (--timeout)\n",
                  EscapeControls(flags.program.empty() ? "assay" : flags.program), seconds);
  words.copy(timeout_words, sizeof(timeout_words) - 1);
  StartTimer(seconds + kGrace);
}

void OccupyStandardStreams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free number is `fd`. Opened the wrong way round, it still can't be read from or written to.
    if (open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0) return;
  }
}

void SilenceOtherProcesses() {
  if (ProcessRank() == 0) return;
  for (std::FILE* const stream : {stdout, stderr}) {
    if (std::freopen("/dev/null", "w", stream) == nullptr) std::fclose(stream);
  }
}

bool Write(std::string_view text) {
  ClearProgress();
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0)
    return true;
  static bool said = false;
  if (!said) std::fputs("assay: error: standard output could not be written\n", stderr);
  said = true;
  return false;
}

int Deliver(std::string_view text) { return Write(text) ? 0 : 5; }

bool SameFile(const std::string& a, const std::string& b) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (fs::is_other(a, error)) return false;
  const fs::path first = fs::weakly_canonical(a, error);
  return !error && first == fs::weakly_canonical(b, error) && !error;
}

bool ReadsStandardInputTwice(const std::vector<std::string>& paths) {
  if (std::count(paths.begin(), paths.end(), "-") < 2) return false;
  UsageError("standard input ('-') can be read once");
  return true;
}

int CheckFiles(const std::vector<std::string>& read, const std::vector<std::string>& written) {
  for (const std::string& path : read) {
    if (path.empty()) continue;
    if (const absl::Status status = CheckReadable(path); !status.ok()) return Fail(status, path);
  }
  for (const std::string& path : written) {
    if (path.empty()) continue;
    if (const absl::Status status = CheckWritable(path); !status.ok()) return Fail(status, path);
  }
  return 0;
}

int CheckFilesOf(const ProgramFlags& flags, const std::vector<std::string>& written) {
  return CheckFiles({flags.program, flags.inputs}, ProcessRank() == 0 ? written : std::vector<std::string>());
}

int Fail(const absl::Status& full, const std::string& file, std::string_view source) {
  const absl::Status status = WithoutName(full, file);
  ClearProgress();
  std::fputs(RenderDiagnostic(status, file, source).c_str(), stderr);
  return ExitCodeOf(status);
}

int WriteTrace(const StepTrace& trace, const std::string& path) {
  if (const absl::Status status = WriteFileAtomically(path, trace.ToJson()); !status.ok())
    return Fail(status, path);
  if (trace.dropped() > 0) {
    std::fprintf(stderr, "assay: note: %s has %lld events; %lld more are left out\n",
                 EscapeControls(path).c_str(), static_cast<long long>(trace.kept()),
                 static_cast<long long>(trace.dropped()));
  }
  return 0;
}

int UsageError(const std::string& message) {
  ClearProgress();
  std::fprintf(stderr, "assay: error: %s\n", message.c_str());
  return 2;
}

absl::Status CheckEngine(const EngineFlags& flags) {
  if (!IsaOf(flags)) return NotSupported({}, fmt::format("this machine has no {}", flags.cpu));
  return absl::OkStatus();
}

absl::Status StartProfiles(const EngineFlags& flags) {
  return flags.perf_map ? jit::StartPerfMap() : absl::OkStatus();
}

std::span<const Engine* const> EnginesOf(const EngineFlags& flags) {
  return assay::EnginesOf(ChoiceOf(flags), *IsaOf(flags), flags.allow_rwx, flags.gpu);
}

std::vector<IdleEngine> IdleEnginesOf(const EngineFlags& flags) {
  return IdleEngines(ChoiceOf(flags), *IsaOf(flags), flags.allow_rwx, flags.gpu);
}

void SayIdle(std::span<const IdleEngine> idle) {
  static auto* const said = new std::set<const Engine*>;
  for (const IdleEngine& one : idle) {
    if (!said->insert(one.engine).second) continue;
    ClearProgress();
    std::fprintf(stderr, "assay: note: engine %s is not available, other engines took its steps: %s\n",
                 std::string(one.engine->name()).c_str(), EscapeControls(one.why).c_str());
  }
}

void AddIdleEngines(std::span<const IdleEngine> idle, JsonWriter& json) {
  if (idle.empty()) return;
  json.Fields("unavailable_engines", [&] {
    json.Array(idle,
               [&](const IdleEngine& one) { json.Object("engine", one.engine->name(), "reason", one.why); });
  });
}

RunOptions OptionsOf(const EngineFlags& flags) {
  RunOptions options = flags.options;
  options.parent_guard = WorkScope::Current();
  const std::string& wanted = flags.crosscheck;
  options.crosscheck =
      wanted == "full" ? Crosscheck::kFull
      : wanted == "sample" || (wanted.empty() && (flags.engine == "fast" || flags.engine == "gpu-fast"))
          ? Crosscheck::kSample
          : Crosscheck::kOff;
  options.repro_dir = flags.repro_dir;
  options.repro_flags = "--engine " + flags.engine;
  if (flags.allow_rwx) options.repro_flags += " --allow-rwx";
  if (!flags.gpu.driver.empty()) options.repro_flags += fmt::format(" --cuda-driver '{}'", flags.gpu.driver);
  if (flags.gpu.min_elements != gpu::GpuOptions().min_elements)
    options.repro_flags += fmt::format(" --gpu-min-elements {}", flags.gpu.min_elements);
  if (flags.gpu.residues_from != gpu::GpuOptions().residues_from)
    options.repro_flags += fmt::format(" --gpu-residues-from {}", flags.gpu.residues_from);
  if (!flags.cpu.empty()) options.repro_flags += " --cpu " + flags.cpu;
  if (flags.lapack) options.repro_flags += " --lapack";
  for (const std::string& ffi : flags.ffi) options.repro_flags += fmt::format(" --ffi '{}'", ffi);
  if (options.jobs > 0) options.repro_flags += fmt::format(" --jobs {}", options.jobs);
  for (const std::string& library : flags.load_ops)
    options.repro_flags += fmt::format(" --load-ops '{}'", library);
  return options;
}

absl::StatusOr<Program> LoadPart(const ProgramFlags& flags, std::string_view text, const LoadedOps& ops,
                                 absl::StatusOr<std::optional<Snapshot>>& snapshot) {
  std::vector<Warning> warnings;
  absl::StatusOr<Program> program = Program::Load(
      flags.program, text,
      {.custom_ops = ops.all,
       .checked_composites = flags.check_composites ? ops.registered : nullptr,
       .replicas = flags.replicas,
       .partitions = flags.partitions,
       .arguments = [&](const Module& parameters) { return KnownArgumentsOf(flags, parameters); },
       .warnings = &warnings,
       .snapshot = &snapshot});
  for (const Warning& warning : warnings)
    std::fputs(RenderWarning(warning, flags.program, text).c_str(), stderr);
  return program;
}

std::optional<Isa> IsaOf(const EngineFlags& flags) {
  const Isa machine = MachineIsa();
  if (flags.cpu.empty()) return machine;
  const Isa isa = flags.cpu == "avx512" ? Isa::kAvx512 : flags.cpu == "avx2" ? Isa::kAvx2 : Isa::kBaseline;
  return isa <= machine ? std::optional(isa) : std::nullopt;
}

std::optional<LoadedProgram> Load(const ProgramFlags& flags, int& exit_code) {
  absl::StatusOr<std::string> text = ReadFile(flags.program);
  if (!text.ok()) {
    exit_code = Fail(text.status(), flags.program);
    return std::nullopt;
  }
  const absl::StatusOr<LoadedOps> ops = LoadedOpsOf(flags);
  if (!ops.ok()) {
    exit_code = Fail(ops.status(), flags.program);
    return std::nullopt;
  }
  const std::vector<ProgramPart> parts = ChosenParts(flags, *text);
  if (parts.size() != 1) {
    exit_code = WantsOneProgram(flags, *text);
    return std::nullopt;
  }
  // With empty lines for those before, so that places in it are places in the file.
  if (parts[0].text.size() != text->size())
    *text = std::string(static_cast<size_t>(parts[0].lines_before), '\n') + std::string(parts[0].text);
  absl::StatusOr<std::optional<Snapshot>> snapshot = std::nullopt;
  absl::StatusOr<Program> program = LoadPart(flags, *text, *ops, snapshot);
  if (!program.ok()) {
    exit_code = Fail(program.status(), flags.program, *text);
    return std::nullopt;
  }
  return LoadedProgram{*std::move(text), 0, *std::move(program), std::move(snapshot)};
}

std::vector<ProgramPart> ChosenParts(const ProgramFlags& flags, std::string_view text) {
  std::vector<ProgramPart> parts = PartsOfFile(flags.program, text);
  if (!flags.module.empty())
    std::erase_if(parts, [&](const ProgramPart& part) { return part.Name() != flags.module; });
  return parts;
}

int WantsOneProgram(const ProgramFlags& flags, std::string_view text) {
  constexpr size_t kMaxNamed = 20;
  const std::vector<ProgramPart> parts = PartsOfFile(flags.program, text);
  std::string names;
  for (size_t i = 0; i < std::min(parts.size(), kMaxNamed); ++i)
    names += fmt::format("{}{}", i == 0 ? "" : ", ",
                         parts[i].Name().empty() ? "(no name)" : EscapeControls(parts[i].Name()));
  if (parts.size() > kMaxNamed) names += ", ...";
  return UsageError(fmt::format("{} holds {}, {}: --module NAME says which one",
                                EscapeControls(flags.program), Counted(parts.size(), "program"), names));
}

int ForEachProgram(const ProgramFlags& flags,
                   absl::FunctionRef<int(const LoadedProgram& loaded, size_t count)> each) {
  const absl::StatusOr<std::string> text = ReadFile(flags.program);
  if (!text.ok()) return Fail(text.status(), flags.program);
  const absl::StatusOr<LoadedOps> ops = LoadedOpsOf(flags);
  if (!ops.ok()) return Fail(ops.status(), flags.program);
  const std::vector<ProgramPart> parts = ChosenParts(flags, *text);
  if (parts.empty() && !flags.module.empty()) return WantsOneProgram(flags, *text);
  std::optional<LoadedProgram> loaded;  // holds the text once for all parts
  int exit_code = 0;
  for (const ProgramPart& part : parts) {
    absl::StatusOr<std::optional<Snapshot>> snapshot = std::nullopt;
    absl::StatusOr<Program> program = LoadPart(flags, part.text, *ops, snapshot);
    int code = 0;
    if (program.ok()) {
      if (!loaded) {
        loaded = LoadedProgram{*text, part.lines_before, *std::move(program)};
      } else {
        loaded->lines_before = part.lines_before;
        loaded->program = *std::move(program);
      }
      loaded->snapshot = std::move(snapshot);
      loaded->begin = static_cast<size_t>(part.text.data() - text->data());
      loaded->size = part.text.size();
      code = each(*loaded, parts.size());
    } else {
      code = Fail(part.lines_before == 0 ? program.status() : MovedTo(part.lines_before, program.status()),
                  flags.program, *text);
    }
    if (exit_code == 0) exit_code = code;
    if (Interrupted()) break;
  }
  return exit_code;
}

int FailIn(const LoadedProgram& loaded, const absl::Status& status, const std::string& file) {
  return Fail(loaded.lines_before == 0 ? status : MovedTo(loaded.lines_before, status), file, loaded.text);
}

int AskForInputs(const ProgramFlags& flags, const LoadedProgram& loaded) {
  return UsageError(
      fmt::format("{0} takes inputs: {1}\ngive them as arrays of these names with --inputs FILE.npz, for "
                  "example from Python:\n"
                  "  np.savez(\"inputs.npz\", arg0=...)\nor let Assay make some with --random-inputs SEED",
                  EscapeControls(flags.program), DescribeParameters(loaded.program.verified())));
}

bool LacksInputs(const ProgramFlags& flags, const LoadedProgram& loaded) {
  return flags.inputs.empty() && !flags.random_inputs &&
         DescribeParameters(loaded.program.verified()) != "nothing" && !HasSnapshot(loaded);
}

bool HasSnapshot(const LoadedProgram& loaded) {
  return !loaded.snapshot.ok() || loaded.snapshot->has_value();
}

absl::StatusOr<DeviceGrid> GridOf(const ProgramFlags& flags, const LoadedProgram& loaded) {
  const Module& module = loaded.program.module();
  ASSAY_ASSIGN_OR_RETURN(const DeviceGrid grid, ResolveDeviceGrid(module, {.replicas = flags.replicas,
                                                                           .partitions = flags.partitions}));
  if (grid.size() > std::max<int64_t>(flags.replicas, module.replica_count) *
                        std::max<int64_t>(flags.partitions, module.num_partitions)) {
    std::fprintf(stderr,
                 "%s: note: runs on %lld replicas of %lld partitions, the fewest that its groups name\n",
                 EscapeControls(flags.program).c_str(), static_cast<long long>(grid.replicas),
                 static_cast<long long>(grid.partitions));
  }
  return grid;
}

absl::StatusOr<std::vector<DeviceInputs>> InputsFor(const ProgramFlags& flags, const LoadedProgram& loaded,
                                                    const DeviceGrid& grid) {
  const VerifiedModule& module = loaded.program.verified();
  if (loaded.program.has_free_dimensions()) return LacksShapes(module.module());
  if (flags.random_inputs) return RandomInputsOfDevices(module, grid, *flags.random_inputs);
  if (flags.inputs.empty()) {
    if (!loaded.snapshot.ok()) return loaded.snapshot.status();
    if (const std::optional<Snapshot>& snapshot = *loaded.snapshot)
      return InputsOfDevices(module, grid, LeavesOfArguments(snapshot->arguments));
  }
  std::map<std::string, NpyArray> arrays;
  if (!flags.inputs.empty()) {
    ASSAY_ASSIGN_OR_RETURN(arrays, InputArrays(flags.inputs));
  }
  return InputsOfDevices(module, grid, arrays);
}

}  // namespace assay::cli
