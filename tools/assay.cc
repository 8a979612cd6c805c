// The command `assay`: parses arguments and hands them to the subcommands (commands.h). The names, keys and
// exit codes are a contract that outside scripts rely on.
#include <pthread.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <iostream>
#include <new>
#include <sstream>

#include "base/quoted.h"
#include "base/run_guard.h"
#include "devices/transport.h"
#include "fmt/format.h"
#include "hlo/diagnostics.h"
#include "tools/commands.h"
#include "tools/validators.h"

namespace {

using assay::cli::ArgumentShapes;
using assay::cli::AuditFlags;
using assay::cli::BenchFlags;
using assay::cli::Count;
using assay::cli::DiffFlags;
using assay::cli::EngineFlags;
using assay::cli::GoldenCheckFlags;
using assay::cli::GoldenRecordFlags;
using assay::cli::GoldenUpdateFlags;
using assay::cli::Input;
using assay::cli::OpsFlags;
using assay::cli::Output;
using assay::cli::PrintFlags;
using assay::cli::ProfileMeasureFlags;
using assay::cli::ProfileShowFlags;
using assay::cli::ProgramFlags;
using assay::cli::RunFlags;
using assay::cli::Seconds;
using assay::cli::Seed;
using assay::cli::Tolerance;
using assay::cli::Types;
using assay::cli::Whole;

constexpr char kProgramHelp[] =
    "HLO text or proto, StableHLO text or bytecode; the content determines the form; '-' is standard input";

// Flags that select engines.
void AddPlanFlags(CLI::App* command, EngineFlags& flags) {
  command->add_option("--engine", flags.engine, "exact (default), reference, fast or gpu")
      ->check(CLI::IsMember({"exact", "reference", "fast", "gpu"}));
  command->add_flag("--allow-rwx", flags.allow_rwx,
                    "with --engine fast, also use oneDNN, which maps memory that is writable and executable");
  command->add_option("--cuda-driver", flags.gpu.driver,
                      "with --engine gpu, the CUDA driver library (libcuda.so.1)");
  command
      ->add_option("--gpu-min-elements", flags.gpu.min_elements,
                   "with --engine gpu, steps of fewer elements stay on the CPU (65536)")
      ->check(Whole(0, INT64_MAX));
  command
      ->add_option(
          "--gpu-residues-from", flags.gpu.residues_from,
          "with --engine gpu, dots of so many products are done by residues, on devices that can (by type)")
      ->check(Whole(0, INT64_MAX));
  command->add_option("--cpu", flags.cpu, "use no more than this instruction set: baseline, avx2 or avx512")
      ->check(CLI::IsMember({"baseline", "avx2", "avx512"}));
}

// Flags that select engines, and how they run.
void AddEngineFlags(CLI::App* command, EngineFlags& flags) {
  AddPlanFlags(command, flags);
  command
      ->add_option(
          "--crosscheck", flags.crosscheck,
          "compare kernels with the reference: off (default), sample (default of --engine fast) or full")
      ->check(CLI::IsMember({"off", "sample", "full"}));
  command
      ->add_option("--repro-dir", flags.repro_dir,
                   "directory for the reproducer of a step that fails the cross-check (assay-repro)")
      ->check(Output());
  command->add_option("--jobs", flags.options.jobs, "number of threads (one per core)")
      ->check(Whole(1, 1024));
}

// --trace FILE.json, and its name up to version 0.1, --profile.
struct TraceFlag {
  std::string path, by_old_name;
};

// Flags for profiling.
void AddTraceFlags(CLI::App* command, EngineFlags& flags, TraceFlag& trace) {
  const auto add = [&](const char* name, std::string& path) {
    return command
        ->add_option(name, path,
                     "write a trace of the steps to this .json file, for Perfetto or chrome://tracing")
        ->check(Output());
  };
  CLI::Option* const now = add("--trace", trace.path);
  add("--profile", trace.by_old_name)->group("Old names")->excludes(now);
  command->add_flag("--perf-map", flags.perf_map,
                    "write the symbols of generated code to /tmp/perf-PID.map, for perf");
}

void AddProgram(CLI::App* command, ProgramFlags& flags) {
  command->add_option("PROGRAM", flags.program, kProgramHelp)->required()->check(Input());
  command->add_option("--module", flags.module, "select this program of a file with several");
}

void AddShapesFlag(CLI::App* command, ProgramFlags& flags) {
  command
      ->add_option(
          "--shapes", flags.shapes,
          "arg0=3x1,arg1=…: sizes of arguments, for a program with free dimensions (docs/free_dimensions.md)")
      ->check(ArgumentShapes());
}

void AddInputFlags(CLI::App* command, ProgramFlags& flags) {
  command->add_option("--inputs", flags.inputs, "arguments by name (arg0, arg1.0, ...) in an .npz file")
      ->check(Input());
  command->add_option("--random-inputs", flags.random_inputs, "generate arguments from this seed")
      ->check(Seed())
      ->excludes("--inputs");
  AddShapesFlag(command, flags);
}

// The number of devices.
void AddDeviceFlags(CLI::App* command, ProgramFlags& flags) {
  command->add_option("--replicas", flags.replicas, "run on this many replicas")->check(Count());
  command->add_option("--partitions", flags.partitions, "run on this many partitions")->check(Count());
}

// Flags for libraries of operations for custom calls.
void AddLibraryFlags(CLI::App* command, ProgramFlags& flags) {
  command->add_option("--load-ops", flags.load_ops, "a library of operations (repeatable)")
      ->allow_extra_args(false)
      ->check(Input());
  command->add_flag("--isolate-ops", flags.isolate_ops,
                    "open libraries in a child process first, to detect crashes");
  command
      ->add_option("--ffi", flags.ffi,
                   "TARGET=LIB.so:SYMBOL, a handler of XLA's FFI, or LIB.so, which registers its handlers "
                   "(repeatable)")
      ->allow_extra_args(false);
}

// Flags that define the operations of custom calls.
void AddOpsFlags(CLI::App* command, ProgramFlags& flags) {
  AddLibraryFlags(command, flags);
  command->add_flag("--lapack", flags.lapack,
                    "compute decompositions by the installed LAPACK; their bits depend on it");
}

void AddSeedFlag(CLI::App* command, ProgramFlags& flags) {
  command->add_option("--seed", flags.options.run_seed, "seed of rng and GetRngSeed (42)")->check(Seed());
}

// Limits on a command (docs/limits.md).
void AddLimitFlags(CLI::App* command, ProgramFlags& flags) {
  command->add_option("--max-steps", flags.options.limits.max_steps, "limit on steps (exit 5 beyond it)")
      ->check(Count());
  command
      ->add_option("--memory-limit", flags.options.limits.memory_limit,
                   "limit in bytes on live values: inputs, constants, results (3/4 of memory)")
      ->check(Count());
  command
      ->add_option("--timeout", flags.options.limits.timeout_seconds, "limit on seconds (exit 5 beyond it)")
      ->check(Seconds());
}

// Flags for the program, its inputs, engines, devices and limits.
void AddRunFlags(CLI::App* command, EngineFlags& flags) {
  AddProgram(command, flags);
  AddInputFlags(command, flags);
  AddEngineFlags(command, flags);
  AddDeviceFlags(command, flags);
  AddOpsFlags(command, flags);
  AddSeedFlag(command, flags);
  AddLimitFlags(command, flags);
}

// Flags that name a library with PJRT's C API.
CLI::Option* AddPluginFlags(CLI::App* command, EngineFlags& flags) {
  CLI::Option* const plugin =
      command->add_option("--plugin", flags.plugin, "a PJRT plugin that runs the program (docs/jax.md)")
          ->check(Input());
  command
      ->add_option("--plugin-option", flags.plugin_options,
                   "NAME=VALUE, an option of the plugin's client; the form of VALUE determines its type: "
                   "12, [1,2], 0.5, true, or a string (repeatable)")
      ->allow_extra_args(false)
      ->needs(plugin);
  return plugin;
}

// The parsed command line: the flags of every command, and the command that was given.
struct CommandLine {
  RunFlags run;
  BenchFlags bench;
  TraceFlag run_trace, bench_trace;
  ProgramFlags verify;
  PrintFlags print;
  EngineFlags plan;
  AuditFlags audit;
  DiffFlags diff;
  GoldenCheckFlags golden_check;
  GoldenUpdateFlags golden_update;
  GoldenRecordFlags golden_record;
  OpsFlags ops;
  ProfileShowFlags profile_show;
  ProfileMeasureFlags profile_measure;

  const ProgramFlags* given = nullptr;  // flags of the command that was given
  std::function<int()> action;          // runs it
};

// Declares a command: where it is given, `run` is called with its flags.
template <typename Flags>
CLI::App* AddCommand(CLI::App& parent, const char* name, const char* help, CommandLine& line, Flags& flags,
                     int (*run)(const Flags&)) {
  CLI::App* const command = parent.add_subcommand(name, help);
  command->callback([&line, &flags, run] {
    line.given = &flags;
    line.action = [&flags, run] { return run(flags); };
  });
  return command;
}

void DeclareRun(CLI::App& app, CommandLine& line) {
  RunFlags& flags = line.run;
  CLI::App* const command = AddCommand(app, "run", "evaluate a program", line, flags, assay::cli::Run);
  AddRunFlags(command, flags);
  command->add_option("--output", flags.output, "write results by name (out0, ...) to this .npz file")
      ->check(Output());
  command->add_flag("--json", flags.json, "print results as JSON");
  command->add_flag("--check-composites,--check_composites", flags.check_composites,
                    "compare composite calls with the matching operations of --load-ops");
  AddTraceFlags(command, flags, line.run_trace);
  // Flags for the engines of Assay do not apply to a plugin or to the shadow evaluation.
  CLI::Option* const plugin = AddPluginFlags(command, flags);
  CLI::Option* const shadow = command->add_flag(
      "--shadow", flags.shadow,
      "also evaluate with 256 bits; instead of results, print which roundings cause the error of the "
      "outputs (docs/shadow.md)");
  for (const char* const own :
       {"--engine", "--crosscheck", "--trace", "--profile", "--perf-map", "--check-composites"}) {
    plugin->excludes(own);
    shadow->excludes(own);
  }
  for (const char* const other : {"--plugin", "--output"}) shadow->excludes(other);
}

void DeclareBench(CLI::App& app, CommandLine& line) {
  BenchFlags& flags = line.bench;
  CLI::App* const command = AddCommand(app, "bench", "time a program", line, flags, assay::cli::Bench);
  AddRunFlags(command, flags);
  command->add_flag("--json", flags.json, "print the times as JSON");
  command->add_flag(
      "--steps", flags.steps,
      "also time each step, in separate runs: share of the measured roofline, of the second and third tier");
  AddTraceFlags(command, flags, line.bench_trace);
}

void DeclareVerify(CLI::App& app, CommandLine& line) {
  CLI::App* const command =
      AddCommand(app, "verify", "parse and check a program", line, line.verify, assay::cli::VerifyProgram);
  AddProgram(command, line.verify);
  AddShapesFlag(command, line.verify);
  AddOpsFlags(command, line.verify);
}

void DeclarePrint(CLI::App& app, CommandLine& line) {
  PrintFlags& flags = line.print;
  CLI::App* const command = AddCommand(app, "print", "print a program in canonical or another form", line,
                                       flags, assay::cli::Print);
  AddProgram(command, flags);
  AddOpsFlags(command, flags);
  AddShapesFlag(command, flags);
  command->add_flag("--refine", flags.refine,
                    "print the program refined by --shapes, not the one that was read");
  command->add_option("--to", flags.form, "hlo (default): HLO text; pb: HloModuleProto; mlir: StableHLO text")
      ->check(CLI::IsMember({"hlo", "pb", "mlir"}));
}

void DeclarePlan(CLI::App& app, CommandLine& line) {
  CLI::App* const command =
      AddCommand(app, "plan", "show the steps of a program, their kernels, and what they move and compute",
                 line, line.plan, assay::cli::PrintPlan);
  AddProgram(command, line.plan);
  AddShapesFlag(command, line.plan);
  AddPlanFlags(command, line.plan);
  AddDeviceFlags(command, line.plan);
  AddOpsFlags(command, line.plan);
}

// Flags of commands that run a program by the exact engine.
void AddExactRunFlags(CLI::App* command, ProgramFlags& flags) {
  AddProgram(command, flags);
  AddInputFlags(command, flags);
  AddDeviceFlags(command, flags);
  AddOpsFlags(command, flags);
  AddSeedFlag(command, flags);
  AddLimitFlags(command, flags);
}

void DeclareAudit(CLI::App& app, CommandLine& line) {
  CLI::App* const command = AddCommand(
      app, "audit", "show where a program depends on implementation-defined or unspecified behaviour", line,
      line.audit, assay::cli::Audit);
  AddExactRunFlags(command, line.audit);
  command->add_flag("--json", line.audit.json, "print the findings as JSON");
}

// What is compared: two files, or a program's outputs with a backend's.
void AddComparedFlags(CLI::App* command, DiffFlags& flags) {
  command->add_flag(
      "--spmd", flags.spmd,
      "FIRST is the partitioned program, SECOND the whole one; inputs are those of the whole program");
  command
      ->add_option("FIRST", flags.program, "an .npz file, or a program with --actual, --backend or --plugin")
      ->required()
      ->check(Input());
  command->add_option("SECOND", flags.second, "an .npz file, or with --spmd a program")->check(Input());
  CLI::Option* const actual =
      command->add_option("--actual", flags.actual, "the backend's outputs, in an .npz file")->check(Input());
  CLI::Option* const backend =
      command
          ->add_option("--backend", flags.backend,
                       "a command that runs the backend: 'CMD {program} {inputs} {outputs}' (docs/bounds.md)")
          ->excludes(actual);
  AddPluginFlags(command, flags)->excludes(actual)->excludes(backend);
}

// How the outputs are compared.
void AddComparisonFlags(CLI::App* command, DiffFlags& flags) {
  command
      ->add_option("--profile", flags.profile,
                   "compare with the bounds of a conforming backend: strict, xla-cpu, xla-gpu, xla-gpu-tf32, "
                   "tpu-bf16 or a file (docs/bounds.md); exit 1 for a proven violation and for "
                   "what is implausible")
      ->check(Input());
  command->add_flag(
      "--isolate", flags.isolate,
      "with --profile and --backend, check each instruction by itself, on the backend's values, "
      "and name the first wrong one");
  command
      ->add_option("--html", flags.html,
                   "with --profile, also write a page that shows the program's graph, elements and errors "
                   "(docs/bounds.md)")
      ->check(Output());
  command
      ->add_option("--tolerances", flags.tolerances,
                   "with --profile, also write an .npz file of what elements are compared with: exact/out0, "
                   "bound/out0 (inf: none), and the spread of the samples, spread/out0")
      ->check(Output());
  command
      ->add_option("--samples", flags.samples,
                   "with --profile, how many conforming backends are sampled where bounds leave elements "
                   "undecided (16); 0: none")
      ->check(Whole(0, 10000));
  command->add_option("--seed", flags.options.run_seed, "seed of rng, GetRngSeed and the samples (42)")
      ->check(Seed());
  command->add_flag("--proven-only", flags.proven_only,
                    "with --profile, exit 1 only for what is proven: implausible elements do not fail");
  command->add_flag("--json", flags.json, "with --profile, print the result as JSON");
  command
      ->add_option(
          "--types", flags.types,
          "element types of arrays whose files do not contain them: out0=bf16,out1=s4 (docs/limits.md)")
      ->check(Types())
      ->excludes("--backend")
      ->excludes("--plugin");
  command->add_option("--rtol", flags.rtol, "relative tolerance (0)")->check(Tolerance());
  command->add_option("--atol", flags.atol, "absolute tolerance (0)")->check(Tolerance());
  command->add_option("--ulps", flags.ulps, "units in the last place (0)")->check(Whole(0, INT64_MAX));
}

void DeclareDiff(CLI::App& app, CommandLine& line) {
  CLI::App* const command =
      AddCommand(app, "diff", "compare two sets of outputs, or a backend's outputs with the exact ones", line,
                 line.diff, assay::cli::Diff);
  AddComparedFlags(command, line.diff);
  AddInputFlags(command, line.diff);
  AddDeviceFlags(command, line.diff);
  AddOpsFlags(command, line.diff);
  AddLimitFlags(command, line.diff);
  AddComparisonFlags(command, line.diff);
}

void DeclareGolden(CLI::App& app, CommandLine& line) {
  CLI::App* const golden = app.add_subcommand("golden", "make and check golden files");
  golden->require_subcommand(1);
  const auto add_paths = [](CLI::App* command, std::vector<std::string>& paths) {
    command->add_option("PATH", paths, "goldens, or directories of them")->required()->check(Input());
  };
  CLI::App* command = AddCommand(*golden, "check", "run goldens and compare", line, line.golden_check,
                                 assay::cli::GoldenCheck);
  AddEngineFlags(command, line.golden_check);
  AddOpsFlags(command, line.golden_check);
  AddLimitFlags(command, line.golden_check);
  command
      ->add_option(
          "--actual", line.golden_check.actual,
          "compare these outputs of a backend (.npz, or a folder with NAME.npz for NAME.hlo) with goldens "
          "recorded with --profile")
      ->check(Input());
  add_paths(command, line.golden_check.paths);
  command = AddCommand(*golden, "update", "rewrite values that Assay recorded itself", line,
                       line.golden_update, assay::cli::GoldenUpdateFiles);
  add_paths(command, line.golden_update.paths);
  command = AddCommand(*golden, "record", "make a golden of a program, with the reference's results", line,
                       line.golden_record, assay::cli::GoldenRecord);
  AddExactRunFlags(command, line.golden_record);
  command
      ->add_option("--profile", line.golden_record.profile,
                   "also store the bounds of this profile (docs/bounds.md), for check --actual")
      ->check(Input());
  command->add_option("--output", line.golden_record.output, "the golden file to write")->check(Output());
}

void DeclareProfile(CLI::App& app, CommandLine& line) {
  CLI::App* const profile =
      app.add_subcommand("profile", "show and measure what a conforming backend may do");
  profile->require_subcommand(1);
  CLI::App* command = AddCommand(*profile, "show", "print a profile with all that it inherits", line,
                                 line.profile_show, assay::cli::ShowProfile);
  command->add_option("PROFILE", line.profile_show.profile, "a name, or a file (docs/bounds.md)")
      ->required()
      ->check(Input());
  command->add_flag("--json", line.profile_show.json, "print it as JSON");
  ProfileMeasureFlags& flags = line.profile_measure;
  command = AddCommand(*profile, "measure", "measure a backend, and write a profile of it", line, flags,
                       assay::cli::MeasureProfileCommand);
  CLI::Option* const plugin = AddPluginFlags(command, flags);
  command
      ->add_option("--backend", flags.backend,
                   "a command that runs the backend: 'CMD {program} {inputs} {outputs}' (docs/bounds.md)")
      ->excludes(plugin);
  command->add_option("--output", flags.output, "the profile to write")->check(Output());
  command
      ->add_option("--count", flags.count,
                   "arguments of all exponents of each function, and as many near 1 (100000)")
      ->check(Whole(100, 10'000'000));
  command->add_option("--seed", flags.options.run_seed, "seed of the arguments (42)")->check(Seed());
  command
      ->add_option(
          "--origin", flags.origin,
          "a line on what is measured, such as 'driver 580.1': made_by, backend, device, driver, date "
          "or arguments (repeatable)")
      ->allow_extra_args(false);
  AddLimitFlags(command, flags);
}

void DeclareOps(CLI::App& app, CommandLine& line) {
  OpsFlags& flags = line.ops;
  CLI::App* const command =
      AddCommand(app, "ops", "list the operations, or describe one", line, flags, assay::cli::Ops);
  command->add_option("OP", flags.op, "an operation, or the label of a rule (Gather-C4)");
  AddLibraryFlags(command, flags);
  command->add_flag("--json", flags.json, "print the registrations of --load-ops as JSON");
  command->add_flag("--lapack", flags.lists_lapack, "list the custom calls of JAX's linear algebra instead");
  command
      ->add_option("--wrappers", flags.wrappers,
                   "print source of functions that call the operations of --load-ops")
      ->check(CLI::IsMember({"python", "cpp"}));
  command
      ->add_option("--compatible", flags.compatible,
                   "OLD.json NEW.json: check that programs for the OLD registrations keep their meaning with "
                   "the NEW ones")
      ->expected(2)
      ->check(Input());
}

// In the order in which --help lists them.
void Declare(CLI::App& app, CommandLine& line) {
  DeclareRun(app, line);
  DeclareVerify(app, line);
  DeclarePrint(app, line);
  DeclarePlan(app, line);
  DeclareBench(app, line);
  DeclareAudit(app, line);
  DeclareDiff(app, line);
  DeclareGolden(app, line);
  DeclareProfile(app, line);
  DeclareOps(app, line);
}

// The trace's path, by whichever name it was given.
std::string PathOf(const TraceFlag& trace) {
  if (trace.by_old_name.empty()) return trace.path;
  std::fputs(
      "assay: note: --profile of run and bench is now --trace; the next release removes the old name\n",
      stderr);
  return trace.by_old_name;
}

// A command of the contract that this build lacks is not supported; any other unknown one is wrong usage.
int UnknownCommand(const std::string& name) {
  if (name == "bisect" || name == "reduce" || name == "fuzz") {
    std::fprintf(stderr, "assay: error: the command '%s' is not part of this build\n", name.c_str());
    return 4;
  }
  return assay::cli::UsageError("unknown command '" + assay::EscapeControls(name) + "'; see assay --help");
}

// The command as a shell takes it.
std::string CommandOf(int argc, char** argv) {
  std::string command = "assay";
  for (int i = 1; i < argc; ++i) command += " " + assay::ShellArgument(argv[i]);
  return command;
}

int Main(int argc, char** argv) {
  CLI::App app("Assay: reference evaluator and conformance checker for XLA programs (HLO, StableHLO)",
               "assay");
  app.set_version_flag("--version", "assay " ASSAY_VERSION);
  app.require_subcommand(1);
  CommandLine line;
  line.diff.command = CommandOf(argc, argv);
  Declare(app, line);
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    return "assay: error: " + assay::EscapeControls(error.what()) +
           "\nsee assay --help and assay COMMAND --help\n";
  });
  const auto lacks = [&](CLI::App& parent, int i) {
    const auto is_it = [&](const CLI::App* command) { return command->get_name() == argv[i]; };
    return argc > i && argv[i][0] != '-' && parent.get_subcommands(is_it).empty();
  };
  if (lacks(app, 1)) return UnknownCommand(argv[1]);
  for (const char* const group : {"golden", "profile"}) {
    if (argc > 1 && argv[1] == std::string_view(group) && lacks(*app.get_subcommand(group), 2))
      return UnknownCommand(fmt::format("{} {}", group, argv[2]));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream help;
    if (app.exit(error, help, std::cerr) != 0) return 2;
    return assay::cli::Write(help.str()) ? 0 : 5;
  }
  line.run.trace = PathOf(line.run_trace);
  line.bench.trace = PathOf(line.bench_trace);
  // The limits hold from here, the first byte read, to the last one written.
  assay::cli::EnforceTimeout(*line.given);
  const assay::WorkScope work(
      std::make_shared<assay::RunGuard>(line.given->options.limits, assay::cli::Interrupted));
  return line.action();
}

struct Command {
  int argc;
  char** argv;
  int exit_code = 5;
};

void* RunCommand(void* state) {
  Command& command = *static_cast<Command*>(state);
  try {
    command.exit_code = Main(command.argc, command.argv);
  } catch (const std::bad_alloc&) {
    std::fputs("assay: error: out of memory\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "assay: error: %s\n", error.what());
  }
  return nullptr;
}

// Nested programs, within the limits of base/limits.h, need up to this much; a smaller stack is passed by for
// one of a thread's own.
constexpr size_t kStackBytes = size_t{8} << 20;

bool StackIsSmall() {
  rlimit limit;
  return getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < kStackBytes;
}

}  // namespace

int main(int argc, char** argv) {
  assay::cli::OccupyStandardStreams();
  assay::cli::InstallSignalHandlers();
  assay::cli::SilenceOtherProcesses();
  Command command{argc, argv};
  pthread_attr_t attributes;
  pthread_t thread;
  if (!StackIsSmall() || pthread_attr_init(&attributes) != 0) {
    RunCommand(&command);
  } else if (pthread_attr_setstacksize(&attributes, kStackBytes) != 0 ||
             pthread_create(&thread, &attributes, RunCommand, &command) != 0 ||
             pthread_join(thread, nullptr) != 0) {
    std::fputs("assay: error: out of memory\n", stderr);
  }
  assay::CloseTransport();
  return command.exit_code;
}
