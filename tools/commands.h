// The subcommands of `assay`, one file each; declarations.cc declares their flags. Every function returns the
// exit code of docs/architecture.md: 0 fine, 1 a comparison failed, 2 usage, 3 invalid, 4 not supported, 5
// failed.
#ifndef ASSAY_TOOLS_COMMANDS_H_
#define ASSAY_TOOLS_COMMANDS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "base/error.h"
#include "devices/run_devices.h"
#include "hlo/load/load.h"
#include "jit/isa.h"
#include "literal/literal.h"
#include "plan/plan_text.h"
#include "run/program.h"
#include "tools/flags.h"

namespace CLI {
class App;
}  // namespace CLI

namespace assay {
class Backend;
class CustomOps;
class JsonWriter;
class StepTrace;
}  // namespace assay

namespace assay::custom {
class OpRegistry;
class OpSet;
}  // namespace assay::custom

namespace assay::cli {

int Run(const RunFlags& flags);
int Bench(const BenchFlags& flags);
struct LoadedProgram;
// run --shadow, of a program that was read.
int RunShadowOf(const RunFlags& flags, const LoadedProgram& loaded);
// run --trace-nan and --trace-what.
int RunTraceOf(const RunFlags& flags, const LoadedProgram& loaded);
// run --why.
int RunWhyOf(const RunFlags& flags, const LoadedProgram& loaded);
int VerifyProgram(const ProgramFlags& flags);
int Print(const PrintFlags& flags);
int PrintPlan(const EngineFlags& flags);
// The operations that programs may use: as text; with --json the registrations of --load-ops, which
// --compatible reads; with --wrappers a function for each of these. --compatible: whether programs of the
// older registrations mean the same with the newer ones: 0, or 1 with what is not safe.
int Ops(const OpsFlags& flags);
// Whether Ops describes an operation or a rule of this name, of Assay's own.
bool KnowsOp(const std::string& name);
// What `app`, the command line, has of a name.
int Help(const CLI::App& app, const HelpFlags& flags);
// What this machine has of what Assay can use, and what is lost by each thing that is missing: always 0.
int Doctor(const DoctorFlags& flags);
// Where the program depends on what its specification leaves open: 0 with what was found.
int Audit(const AuditFlags& flags);
int Diff(const DiffFlags& flags);
int DiffPartitioned(const DiffFlags& flags);
int DiffByProfile(const DiffFlags& flags);
// Two programs, not two .npz files: the content decides.
bool ComparesPrograms(const DiffFlags& flags);
int DiffPrograms(const DiffFlags& flags);
// Which pass of a compiler changed outputs: 0 where none does, with a profile where none leaves the bounds.
int Bisect(const BisectFlags& flags);
// diff of a call of a JAX function that was recorded.
int Replay(const ReplayFlags& flags);
int GoldenCheck(const GoldenCheckFlags& flags);
int GoldenUpdateFiles(const GoldenUpdateFlags& flags);
int GoldenRecord(const GoldenRecordFlags& flags);
int ShowProfile(const ProfileShowFlags& flags);
int MeasureProfileCommand(const ProfileMeasureFlags& flags);
int ReduceProgram(const ReduceFlags& flags);
int FuzzBackend(const FuzzFlags& flags);
// Writes the conformance suite to a folder (docs/conformance.md).
int ConformanceMake(const ConformanceMakeFlags& flags);

// Shared by the commands.

// Says on standard error what went wrong, with FILE:LINE:COL, the source line and a caret where the place is
// known; returns the exit code.
// The shapes of --shapes or of the inputs, for a program with free dimensions. nullopt: neither says them.
absl::StatusOr<std::optional<std::vector<KnownArgument>>> KnownArgumentsOf(const ProgramFlags& flags,
                                                                           const Module& module);
int Fail(const absl::Status& full, const std::string& file, std::string_view source = {});
int UsageError(const std::string& message);
// A program and the file that it stands in, whose lines errors show.
struct LoadedProgram {
  std::string text;          // of the file
  int32_t lines_before = 0;  // in it
  Program program;
  absl::StatusOr<std::optional<Snapshot>> snapshot = std::nullopt;  // LoadOptions::snapshot
  size_t begin = 0, size = std::string::npos;                       // of the program's own text

  std::string_view OwnText() const { return std::string_view(text).substr(begin, size); }
};
// Fail for an error in the program.
int FailIn(const LoadedProgram& loaded, const absl::Status& status, const std::string& file);
// Reads, parses and verifies the one program of a file, or the one that --module names. On failure the error
// is shown and nullopt returned with `exit_code` set.
std::optional<LoadedProgram> Load(const ProgramFlags& flags, int& exit_code);
// Loads a file with several programs alike: calls `each` with each one (with --module the one of that name),
// and returns its exit code, or the first that is not 0.
int ForEachProgram(const ProgramFlags& flags,
                   absl::FunctionRef<int(const LoadedProgram& loaded, size_t count)> each);
// The programs of a file, or those that --module names.
std::vector<ProgramPart> ChosenParts(const ProgramFlags& flags, std::string_view text);
// The file has not one program, or none that --module names: says which there are; returns the exit code, 2.
int WantsOneProgram(const ProgramFlags& flags, std::string_view text);
// The devices that the program runs on, by --replicas and --partitions; says on standard error how many,
// where neither they nor the program's header do.
absl::StatusOr<DeviceGrid> GridOf(const ProgramFlags& flags, const LoadedProgram& loaded);
// What each device is given by --inputs or --random-inputs, or else a snapshot's: arguments, and what there
// is for infeed and host receives.
absl::StatusOr<std::vector<DeviceInputs>> InputsFor(const ProgramFlags& flags, const LoadedProgram& loaded,
                                                    const DeviceGrid& grid);
// The program has parameters, and nobody said what they are: says what to give; returns the exit code, 2.
bool LacksInputs(const ProgramFlags& flags, const LoadedProgram& loaded);
int AskForInputs(const ProgramFlags& flags, const LoadedProgram& loaded);
// The file that an error of the arguments is about.
inline const std::string& InputsOf(const ProgramFlags& flags) {
  return flags.inputs.empty() ? flags.program : flags.inputs;
}
// The program is an HloSnapshot, which brings arguments along.
bool HasSnapshot(const LoadedProgram& loaded);
// Engines and options that this build does not have are refused (exit 4), never replaced silently.
absl::Status CheckEngine(const EngineFlags& flags);
// What has to be on before the program is planned: names of generated code.
absl::Status StartProfiles(const EngineFlags& flags);
// The engines of --engine and --cpu, where CheckEngine has nothing against them.
std::span<const Engine* const> EnginesOf(const EngineFlags& flags);
// Those of them that this machine can't use, once the program is planned.
std::vector<IdleEngine> IdleEnginesOf(const EngineFlags& flags);
// Says so on standard error, one line for each, once a process.
void SayIdle(std::span<const IdleEngine> idle);
// Where there are some, as a field: "unavailable_engines": [{"engine": "gpu", "reason": "…"}].
void AddIdleEngines(std::span<const IdleEngine> idle, JsonWriter& json);
// The library of --plugin, opened, with its client.
absl::StatusOr<std::unique_ptr<Backend>> PluginOf(const EngineFlags& flags);
// What custom calls mean by --load-ops and --ffi.
struct LoadedOps {
  std::shared_ptr<const CustomOps> all;             // null where neither is given
  std::shared_ptr<const custom::OpSet> registered;  // those of --load-ops; null where there are none
};
absl::StatusOr<LoadedOps> LoadedOpsOf(const ProgramFlags& flags);
// The libraries of --load-ops in the order in which they are given.
absl::Status LoadLibraries(const ProgramFlags& flags, custom::OpRegistry& registry);
// flags.options with what the other flags say.
RunOptions OptionsOf(const EngineFlags& flags);
// Nothing where the machine has no such instruction set, which CheckEngine refuses.
std::optional<Isa> IsaOf(const EngineFlags& flags);
// Writes the trace to a file, and to standard error what was left out of it; returns the exit code.
int WriteTrace(const StepTrace& trace, const std::string& path);
// Writes to standard output, at once; false, with a message, if it can't be written (exit 5).
bool Write(std::string_view text);
// The same; returns the exit code.
int Deliver(std::string_view text);
// Takes the numbers of standard streams that are closed, so that no file that is opened later
// gets what is meant for them.
void OccupyStandardStreams();
// Of the processes that mpirun started together the first one alone speaks and writes.
void SilenceOtherProcesses();
// Whether two paths name one file; a device, such as /dev/null, is none.
bool SameFile(const std::string& a, const std::string& b);
// What can be told of files before anything is computed: those that will be read are there, those that will
// be written can be. Empty names are no files. 0, or the exit code of what was said.
int CheckFiles(const std::vector<std::string>& read, const std::vector<std::string>& written);
// The same of a program, its inputs and what a command writes, which of several processes the first one does.
int CheckFilesOf(const ProgramFlags& flags, const std::vector<std::string>& written);
// More than one of the inputs is "-": says so (exit 2).
bool ReadsStandardInputTwice(const std::vector<std::string>& paths);

// True once Ctrl-C, SIGTERM, SIGHUP or SIGQUIT came. What does not end by itself soon after
// that is ended, with exit 5.
bool Interrupted();
void InstallSignalHandlers();
// Where an allocation fails and no exception may pass, the process ends with the message, and exit 5.
void InstallTerminateHandler();
// From now on only the second signal ends the process; the first one is for who asks Interrupted.
void EndOnSecondSignal();
// The same for --timeout.
void EnforceTimeout(const ProgramFlags& flags);

}  // namespace assay::cli

#endif  // ASSAY_TOOLS_COMMANDS_H_
