// The command `assay`: parses arguments and hands them to the subcommands (commands.h). The names, keys and
// exit codes are a contract that outside scripts rely on.
#include <pthread.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cfloat>
#include <charconv>
#include <cstdio>
#include <iostream>
#include <new>
#include <sstream>

#include "base/run_guard.h"
#include "devices/transport.h"
#include "hlo/diagnostics.h"
#include "tools/commands.h"
#include "tools/output_files.h"

namespace {

using assay::cli::DiffFlags;
using assay::cli::RunFlags;

constexpr char kProgramHelp[] =
    "HLO text or protos, StableHLO text or bytecode, known by the content; '-' is standard input";

// A whole number of decimal digits in [low, high]: CLI11 itself would take the nearest one that fits.
CLI::Validator Whole(uint64_t low, uint64_t high) {
  const auto check = [low, high](const std::string& text) -> std::string {
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    if (whole && value >= low && value <= high) return "";
    return "'" + text + "' is no whole number from " + std::to_string(low) + " to " + std::to_string(high);
  };
  return CLI::Validator(check, "");
}
// A number in [low, high], not 0 where it has to be positive; neither nan nor inf.
CLI::Validator Number(double low, double high, bool positive, const std::string& what) {
  const auto check = [=](const std::string& text) -> std::string {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool number = error == std::errc() && end == text.data() + text.size();
    if (number && value >= low && value <= high && !(positive && value == 0)) return "";
    return "'" + text + "' is no " + what;
  };
  return CLI::Validator(check, "");
}
CLI::Validator Seconds() { return Number(0, 1e9, true, "number of seconds, more than 0 and at most 1e9"); }
CLI::Validator Tolerance() { return Number(0, DBL_MAX, false, "number that is at least 0"); }
// What stands for nothing, as an unset variable of a script does, is no file.
CLI::Validator Path(bool output) {
  const auto check = [output](const std::string& text) -> std::string {
    if (text.empty()) return "'' names no file";
    return output && text == "-" ? "'-' names no file to write" : "";
  };
  return CLI::Validator(check, "");
}
CLI::Validator Types() {
  const auto check = [](const std::string& text) {
    return std::string(assay::cli::ParseTypes(text).status().message());
  };
  return CLI::Validator(check, "");
}
CLI::Validator Input() { return Path(false); }
CLI::Validator Output() { return Path(true); }
CLI::Validator Seed() { return Whole(0, UINT64_MAX); }
CLI::Validator Count() { return Whole(1, INT64_MAX); }

// Flags that say who computes.
void AddPlanFlags(CLI::App* command, RunFlags& flags) {
  command->add_option("--engine", flags.engine, "exact (the default), reference, fast or gpu")
      ->check(CLI::IsMember({"exact", "reference", "fast", "gpu"}));
  command->add_flag(
      "--allow-rwx", flags.allow_rwx,
      "with --engine fast, oneDNN too: its code lies in memory that is writable and executable");
  command->add_option("--cuda-driver", flags.gpu.driver,
                      "with --engine gpu, the library with CUDA's driver API (libcuda.so.1)");
  command
      ->add_option("--gpu-min-elements", flags.gpu.min_elements,
                   "with --engine gpu, steps of fewer elements stay on the CPU (65536)")
      ->check(Whole(0, INT64_MAX));
  command->add_option("--cpu", flags.cpu, "use no more than this instruction set: baseline, avx2 or avx512")
      ->check(CLI::IsMember({"baseline", "avx2", "avx512"}));
}

// Those, and how.
void AddEngineFlags(CLI::App* command, RunFlags& flags) {
  AddPlanFlags(command, flags);
  command
      ->add_option(
          "--crosscheck", flags.crosscheck,
          "compare kernels with the reference: off (the default), sample (that of --engine fast) or full")
      ->check(CLI::IsMember({"off", "sample", "full"}));
  command
      ->add_option("--repro-dir", flags.repro_dir,
                   "the directory to make for a step that the cross-check found wrong (assay-repro)")
      ->check(Output());
  command->add_option("--jobs", flags.options.jobs, "threads (one a core)")->check(Whole(1, 1024));
}

// Flags that show where time goes.
void AddProfileFlags(CLI::App* command, RunFlags& flags) {
  command
      ->add_option("--profile", flags.profile,
                   "write a trace of the steps that Perfetto and chrome://tracing open to this .json file")
      ->check(Output());
  command->add_flag("--perf-map", flags.perf_map,
                    "write names of generated code for perf to /tmp/perf-PID.map");
}

void AddProgram(CLI::App* command, RunFlags& flags) {
  command->add_option("PROGRAM", flags.program, kProgramHelp)->required()->check(Input());
  command->add_option("--module", flags.module, "of a file with several programs, the one of this name");
}

// arg0=3x1,arg1.0=4: what the program says of the names is checked later.
CLI::Validator ArgumentShapes() {
  const auto check = [](const std::string& text) -> std::string {
    std::istringstream entries(text);
    std::string entry;
    bool is_right = !text.empty() && text.back() != ',';
    while (is_right && std::getline(entries, entry, ',')) {
      const size_t equals = entry.find('=');
      is_right = equals != std::string::npos && equals > 0;
      bool after_digit = false;
      for (size_t i = equals + 1; is_right && i < entry.size(); ++i) {
        const bool is_digit = std::isdigit(static_cast<unsigned char>(entry[i])) != 0;
        is_right = is_digit || (entry[i] == 'x' && after_digit);
        after_digit = is_digit;
      }
      is_right = is_right && (after_digit || equals + 1 == entry.size());
    }
    return is_right ? "" : "'" + text + "' gives no sizes as in arg0=3x1,arg1=4";
  };
  return CLI::Validator(check, "");
}

void AddShapesFlag(CLI::App* command, RunFlags& flags) {
  command
      ->add_option(
          "--shapes", flags.shapes,
          "arg0=3x1,arg1=…: sizes of arguments, for a program with free dimensions (docs/free_dimensions.md)")
      ->check(ArgumentShapes());
}

void AddInputFlags(CLI::App* command, RunFlags& flags) {
  command->add_option("--inputs", flags.inputs, "arguments by name (arg0, arg1.0, ...) in an .npz file")
      ->check(Input());
  command->add_option("--random-inputs", flags.random_inputs, "make arguments from this seed")
      ->check(Seed())
      ->excludes("--inputs");
  AddShapesFlag(command, flags);
}

// Flags that the program is read and planned by.
void AddDeviceFlags(CLI::App* command, RunFlags& flags) {
  command->add_option("--replicas", flags.replicas, "run on this many replicas")->check(Count());
  command->add_option("--partitions", flags.partitions, "run on this many partitions")->check(Count());
}

// Flags that say which libraries have operations for custom calls.
void AddLibraryFlags(CLI::App* command, RunFlags& flags) {
  command->add_option("--load-ops", flags.load_ops, "a library of operations (repeatable)")
      ->allow_extra_args(false)
      ->check(Input());
  command->add_flag("--isolate-ops", flags.isolate_ops,
                    "open libraries in a child process first, where one that crashes is found out");
  command
      ->add_option("--ffi", flags.ffi,
                   "TARGET=LIB.so:SYMBOL, a handler of XLA's FFI, or LIB.so, which registers its handlers "
                   "(repeatable)")
      ->allow_extra_args(false);
}

// Flags that say which operations custom calls may mean.
void AddOpsFlags(CLI::App* command, RunFlags& flags) {
  AddLibraryFlags(command, flags);
  command->add_flag("--lapack", flags.lapack,
                    "decompositions by the machine's LAPACK, whose bytes depend on the library");
}

void AddSeedFlag(CLI::App* command, RunFlags& flags) {
  command->add_option("--seed", flags.options.run_seed, "seed of rng and GetRngSeed (42)")->check(Seed());
}

// Flags that end a command before it is done (docs/limits.md).
void AddLimitFlags(CLI::App* command, RunFlags& flags) {
  command->add_option("--max-steps", flags.options.limits.max_steps, "give up after this many steps")
      ->check(Count());
  command
      ->add_option("--memory-limit", flags.options.limits.memory_limit,
                   "bytes of live values: inputs, constants, what is computed (3/4 of memory)")
      ->check(Count());
  command->add_option("--timeout", flags.options.limits.timeout_seconds, "give up after this many seconds")
      ->check(Seconds());
}

// Flags that say what to run, on what, by whom and with which limits.
void AddRunFlags(CLI::App* command, RunFlags& flags) {
  AddProgram(command, flags);
  AddInputFlags(command, flags);
  AddEngineFlags(command, flags);
  AddDeviceFlags(command, flags);
  AddOpsFlags(command, flags);
  AddSeedFlag(command, flags);
  AddLimitFlags(command, flags);
}

// Flags that name a library with PJRT's C API.
CLI::Option* AddPluginFlags(CLI::App* command, RunFlags& flags) {
  CLI::Option* const plugin =
      command->add_option("--plugin", flags.plugin, "a PJRT plugin that runs the program (docs/jax.md)")
          ->check(Input());
  command
      ->add_option(
          "--plugin-option", flags.plugin_options,
          "NAME=VALUE for its client: a string, or by their form a whole number, [a list of these], a "
          "number with a point, true or false (repeatable)")
      ->allow_extra_args(false)
      ->needs(plugin);
  return plugin;
}

struct Arguments {
  RunFlags run;
  DiffFlags diff;
  std::string form = "hlo", op, wrappers;
  bool lapack = false;
  std::vector<std::string> paths;
};

// Declares every subcommand; `action` is set to the one that was given.
void Declare(CLI::App& app, Arguments& arguments, std::function<int()>& action) {
  const auto command = [&](CLI::App& parent, const char* name, const char* help, std::function<int()> run) {
    CLI::App* const sub = parent.add_subcommand(name, help);
    sub->callback([&action, run = std::move(run)] { action = run; });
    return sub;
  };
  RunFlags& run = arguments.run;

  CLI::App* sub = command(app, "run", "evaluate a program", [&] { return assay::cli::Run(run); });
  AddRunFlags(sub, run);
  sub->add_option("--output", run.output, "write results by name (out0, ...) to this .npz file")
      ->check(Output());
  sub->add_flag("--json", run.json, "print results as JSON");
  sub->add_flag("--check-composites,--check_composites", run.check_composites,
                "compare composite calls with the operations of --load-ops that may be taken for them");
  AddProfileFlags(sub, run);
  // What says how Assay itself runs has no meaning there.
  CLI::Option* const plugin = AddPluginFlags(sub, run);
  for (const char* const own : {"--engine", "--crosscheck", "--profile", "--perf-map", "--check-composites"})
    plugin->excludes(own);
  CLI::Option* const shadow = sub->add_flag(
      "--shadow", run.shadow,
      "evaluate by numbers of 256 bits besides, and show in place of results which roundings the "
      "outputs' error comes from (docs/shadow.md)");
  for (const char* const other :
       {"--engine", "--crosscheck", "--profile", "--perf-map", "--check-composites", "--plugin", "--output"})
    shadow->excludes(other);

  sub = command(app, "verify", "parse and check a program", [&] { return assay::cli::VerifyProgram(run); });
  AddProgram(sub, run);
  AddShapesFlag(sub, run);
  AddOpsFlags(sub, run);

  sub = command(app, "print", "print a program in canonical form, or in another one",
                [&] { return assay::cli::Print(run, arguments.form); });
  AddProgram(sub, run);
  AddOpsFlags(sub, run);
  AddShapesFlag(sub, run);
  sub->add_flag("--refine", run.refine,
                "print a program with free dimensions as --shapes refines it, not as it was written");
  sub->add_option("--to", arguments.form,
                  "hlo (the default): HLO text; pb: HloModuleProto; mlir: StableHLO text")
      ->check(CLI::IsMember({"hlo", "pb", "mlir"}));

  sub = command(app, "plan", "show the steps of a program, who runs them and what they move and compute",
                [&] { return assay::cli::PrintPlan(run); });
  AddProgram(sub, run);
  AddShapesFlag(sub, run);
  AddPlanFlags(sub, run);
  AddDeviceFlags(sub, run);
  AddOpsFlags(sub, run);

  sub = command(app, "bench", "time a program", [&] { return assay::cli::Bench(run); });
  AddRunFlags(sub, run);
  sub->add_flag("--json", run.json, "print the times as JSON");
  sub->add_flag(
      "--steps", run.steps,
      "in runs of their own, time each step: share of the roofline measured here, second and third tier");
  AddProfileFlags(sub, run);

  sub = command(app, "audit", "show where a program depends on what its specification leaves open",
                [&] { return assay::cli::Audit(run); });
  AddProgram(sub, run);
  AddInputFlags(sub, run);
  AddDeviceFlags(sub, run);
  AddOpsFlags(sub, run);
  AddSeedFlag(sub, run);
  AddLimitFlags(sub, run);
  sub->add_flag("--json", run.json, "print the findings as JSON");

  sub = command(app, "diff", "compare two sets of outputs, or a backend's outputs with the exact ones", [&] {
    arguments.diff.run = run;
    arguments.diff.run.program = arguments.diff.first;
    return assay::cli::Diff(arguments.diff);
  });
  sub->add_flag("--spmd", arguments.diff.spmd,
                "FIRST is a partitioned program, SECOND the whole one; inputs are the whole one's");
  sub->add_option("FIRST", arguments.diff.first,
                  "an .npz file, or a program with --actual, --backend or --plugin")
      ->required()
      ->check(Input());
  sub->add_option("SECOND", arguments.diff.second, "an .npz file, or with --spmd a program")->check(Input());
  CLI::Option* const actual =
      sub->add_option("--actual", arguments.diff.actual, "the backend's outputs, in an .npz file")
          ->check(Input());
  CLI::Option* const backend =
      sub->add_option("--backend", arguments.diff.backend,
                      "the command that gives them: 'CMD {program} {inputs} {outputs}' (docs/bounds.md)")
          ->excludes(actual);
  CLI::Option* const diff_plugin = AddPluginFlags(sub, run)->excludes(actual)->excludes(backend);
  AddInputFlags(sub, run);
  AddDeviceFlags(sub, run);
  AddOpsFlags(sub, run);
  AddLimitFlags(sub, run);
  sub->add_option("--profile", arguments.diff.profile,
                  "compare with what a conforming backend may give, by strict, xla-cpu, xla-gpu, "
                  "xla-gpu-tf32, tpu-bf16 or "
                  "a file (docs/bounds.md): exit 1 only for a proven violation")
      ->check(Input());
  sub->add_flag("--isolate", arguments.diff.isolate,
                "with --profile and --backend, check every instruction alone, on the backend's own values: "
                "the first wrong one "
                "is named");
  sub->add_option("--html", arguments.diff.html,
                  "with --profile, also write a page that shows the program's graph, elements and errors "
                  "(docs/bounds.md)")
      ->check(Output());
  sub->add_flag("--json", run.json, "with --profile, print the result as JSON");
  sub->add_option("--types", arguments.diff.types,
                  "element types of arrays whose files don't say them: out0=bf16,out1=s4 (docs/limits.md)")
      ->check(Types())
      ->excludes(backend)
      ->excludes(diff_plugin);
  sub->add_option("--rtol", arguments.diff.rtol, "relative tolerance (0)")->check(Tolerance());
  sub->add_option("--atol", arguments.diff.atol, "absolute tolerance (0)")->check(Tolerance());
  sub->add_option("--ulps", arguments.diff.ulps, "units in the last place (0)")->check(Whole(0, INT64_MAX));

  CLI::App* const golden = app.add_subcommand("golden", "make and check golden files");
  golden->require_subcommand(1);
  sub = command(*golden, "check", "run goldens and compare",
                [&] { return assay::cli::GoldenCheck(arguments.paths, run); });
  AddEngineFlags(sub, run);
  AddOpsFlags(sub, run);
  AddLimitFlags(sub, run);
  sub->add_option(
         "--actual", run.actual,
         "compare these outputs of a backend (.npz, or a folder with NAME.npz for NAME.hlo) with goldens "
         "that were recorded with a --profile")
      ->check(Input());
  sub->add_option("PATH", arguments.paths, "goldens, or directories of them")->required()->check(Input());
  sub = command(*golden, "update", "rewrite values that Assay recorded itself",
                [&] { return assay::cli::GoldenUpdateFiles(arguments.paths); });
  sub->add_option("PATH", arguments.paths, "goldens, or directories of them")->required()->check(Input());
  sub = command(*golden, "record", "make a golden of a program, with the reference's results",
                [&] { return assay::cli::GoldenRecord(run); });
  AddProgram(sub, run);
  AddInputFlags(sub, run);
  AddDeviceFlags(sub, run);
  AddOpsFlags(sub, run);
  AddSeedFlag(sub, run);
  AddLimitFlags(sub, run);
  sub->add_option("--profile", run.bounds,
                  "store how far backends of this profile may be off (docs/bounds.md), for check --actual")
      ->check(Input());
  sub->add_option("--output", run.output, "the golden file to write")->check(Output());

  sub = command(app, "ops", "list the operations, or describe one", [&] {
    const std::vector<std::string>& lists = arguments.paths;
    if (!arguments.wrappers.empty()) return assay::cli::PrintWrappers(arguments.wrappers, run);
    if (arguments.lapack) return assay::cli::PrintLapackCalls();
    return lists.empty() ? assay::cli::PrintOps(arguments.op, run)
                         : assay::cli::CompareOps(lists[0], lists[1]);
  });
  sub->add_option("OP", arguments.op, "an operation, or the label of a rule (Gather-C4)");
  AddLibraryFlags(sub, run);
  sub->add_flag("--json", run.json, "the registrations of --load-ops as JSON");
  sub->add_flag("--lapack", arguments.lapack, "list the custom calls of JAX's linear algebra instead");
  sub->add_option("--wrappers", arguments.wrappers,
                  "functions that call the operations of --load-ops, as source")
      ->check(CLI::IsMember({"python", "cpp"}));
  sub->add_option(
         "--compatible", arguments.paths,
         "OLD.json NEW.json: whether programs of the older registrations mean the same with the newer ones")
      ->expected(2)
      ->check(Input());
}

// Commands that scripts may know and this build does not have are not supported; others are wrong usage.
int UnknownCommand(const std::string& name) {
  if (name == "bisect" || name == "reduce" || name == "fuzz") {
    std::fprintf(stderr, "assay: error: the command '%s' is not part of this build\n", name.c_str());
    return 4;
  }
  return assay::cli::UsageError("there is no command '" + assay::EscapeControls(name) +
                                "'; assay --help lists them");
}

// The command as a shell takes it.
std::string CommandOf(int argc, char** argv) {
  std::string command = "assay";
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const auto is_plain = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
             std::string_view("_-+=./:,%@").find(c) != std::string_view::npos;
    };
    if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) {
      command.append(" ").append(word);
      continue;
    }
    command += " '";
    for (const char c : word) command += c == '\'' ? std::string("'\\''") : std::string(1, c);
    command += "'";
  }
  return command;
}

int Main(int argc, char** argv) {
  CLI::App app("Assay says what an HLO program means, to the last bit.", "assay");
  app.set_version_flag("--version", "assay " ASSAY_VERSION);
  app.require_subcommand(1);
  Arguments arguments;
  arguments.run.command = CommandOf(argc, argv);
  std::function<int()> action;
  Declare(app, arguments, action);
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    return "assay: error: " + assay::EscapeControls(error.what()) +
           "\nassay --help and assay COMMAND --help say more\n";
  });
  const auto lacks = [&](CLI::App& parent, int i) {
    const auto is_it = [&](const CLI::App* command) { return command->get_name() == argv[i]; };
    return argc > i && argv[i][0] != '-' && parent.get_subcommands(is_it).empty();
  };
  if (lacks(app, 1)) return UnknownCommand(argv[1]);
  if (argc > 1 && argv[1] == std::string_view("golden") && lacks(*app.get_subcommand("golden"), 2))
    return UnknownCommand(std::string("golden ") + argv[2]);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream help;
    if (app.exit(error, help, std::cerr) != 0) return 2;
    return assay::cli::Write(help.str()) ? 0 : 5;
  }
  // The limits hold from here, the first byte read, to the last one written.
  assay::cli::EnforceTimeout(arguments.run);
  const assay::WorkScope work(
      std::make_shared<assay::RunGuard>(arguments.run.options.limits, assay::cli::Interrupted));
  return action();
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

// Nested programs, within the limits of base/limits.h, need up to this much; a smaller stack is passed by for one of a
// thread's own.
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
