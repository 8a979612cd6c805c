#include "tools/declarations.h"

#include "tools/commands.h"
#include "tools/validators.h"

namespace assay::cli {
namespace {

// Flags that ask where values come from, in place of results.
void DeclareTracing(CLI::App* command, RunFlags& flags) {
  CLI::Option* const nan = command->add_flag(
      "--trace-nan", flags.trace_nan,
      "instead of results, print which instruction gives the first NaN, and how it reaches the outputs "
      "(docs/find.md)");
  CLI::Option* const what =
      command
          ->add_option("--trace-what", flags.trace_what,
                       "as --trace-nan for nan, inf (from finite operands), overflow (of conversions) or "
                       "subnormal")
          ->check(OneOf({"nan", "inf", "overflow", "subnormal"}));
  CLI::Option* const why = command->add_option(
      "--why", flags.why,
      "instead of results, print what this element of an output is made of, such as 'out0[3,7]'");
  why->excludes(nan)->excludes(what);
  for (CLI::Option* const option : {nan, what, why}) {
    for (const char* const other : {"--engine", "--crosscheck", "--trace", "--profile", "--perf-map",
                                    "--plugin", "--shadow", "--output", "--values"})
      option->excludes(other);
  }
}

void DeclareRun(CLI::App& app, CommandLine& line) {
  RunFlags& flags = line.run;
  CLI::App* const command = AddCommand(app, "run", "evaluate a program", line, flags, Run);
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
  AddValuesFlags(command, flags.values, flags.only,
                 "also write the value of every instruction by its name to this .npz file (docs/find.md)");
  CLI::Option* const values = command->get_option("--values");
  for (const char* const own :
       {"--engine", "--crosscheck", "--trace", "--profile", "--perf-map", "--check-composites"}) {
    plugin->excludes(own);
    shadow->excludes(own);
    // Values are those of one step for each instruction.
    if (std::string_view(own) != "--check-composites") values->excludes(own);
  }
  for (const char* const other : {"--plugin", "--output"}) shadow->excludes(other);
  for (const char* const other : {"--plugin", "--shadow"}) values->excludes(other);
  DeclareTracing(command, flags);
}

void DeclareBench(CLI::App& app, CommandLine& line) {
  BenchFlags& flags = line.bench;
  CLI::App* const command = AddCommand(app, "bench", "time a program", line, flags, Bench);
  AddRunFlags(command, flags);
  command->add_flag("--json", flags.json, "print the times as JSON");
  command->add_flag(
      "--steps", flags.steps,
      "also time each step, in separate runs: share of the measured roofline, of the second and third tier");
  AddTraceFlags(command, flags, line.bench_trace);
}

void DeclareVerify(CLI::App& app, CommandLine& line) {
  CLI::App* const command =
      AddCommand(app, "verify", "parse and check a program", line, line.verify, VerifyProgram);
  AddProgram(command, line.verify);
  AddShapesFlag(command, line.verify);
  AddOpsFlags(command, line.verify);
}

void DeclarePrint(CLI::App& app, CommandLine& line) {
  PrintFlags& flags = line.print;
  CLI::App* const command =
      AddCommand(app, "print", "print a program in canonical or another form", line, flags, Print);
  AddProgram(command, flags);
  AddOpsFlags(command, flags);
  AddShapesFlag(command, flags);
  command->add_flag("--refine", flags.refine,
                    "print the program refined by --shapes, not the one that was read");
  command->add_option("--to", flags.form, "hlo (default): HLO text; pb: HloModuleProto; mlir: StableHLO text")
      ->check(OneOf({"hlo", "pb", "mlir"}));
}

void DeclarePlan(CLI::App& app, CommandLine& line) {
  CLI::App* const command =
      AddCommand(app, "plan", "show the steps of a program, their kernels, and what they move and compute",
                 line, line.plan, PrintPlan);
  AddProgram(command, line.plan);
  AddShapesFlag(command, line.plan);
  AddPlanFlags(command, line.plan);
  AddDeviceFlags(command, line.plan);
  AddOpsFlags(command, line.plan);
}

void DeclareAudit(CLI::App& app, CommandLine& line) {
  CLI::App* const command = AddCommand(
      app, "audit", "show where a program depends on implementation-defined or unspecified behaviour", line,
      line.audit, Audit);
  AddExactRunFlags(command, line.audit);
  command->add_flag("--json", line.audit.json, "print the findings as JSON");
}

// What is compared: two files, or a program's outputs with a backend's.
void AddComparedFlags(CLI::App* command, DiffFlags& flags) {
  command->add_flag(
      "--spmd", flags.spmd,
      "FIRST is the partitioned program, SECOND the whole one; inputs are those of the whole program");
  command
      ->add_option("FIRST", flags.program,
                   "an .npz file, or a program: with --actual, --backend or --plugin, or as SECOND")
      ->required()
      ->check(Input());
  command->add_option("SECOND", flags.second, "an .npz file, or the program that FIRST is compared with")
      ->check(Input());
  CLI::Option* const actual =
      command->add_option("--actual", flags.actual, "the backend's outputs, in an .npz file")->check(Input());
  CLI::Option* const backend =
      command
          ->add_option("--backend", flags.backend,
                       "a command that runs the backend: 'CMD {program} {inputs} {outputs}' (docs/bounds.md)")
          ->excludes(actual);
  AddPluginFlags(command, flags)->excludes(actual)->excludes(backend);
}

// How outputs are compared with bounds, and what is written of that.
void AddBoundsFlags(CLI::App* command, DiffFlags& flags) {
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
      ->add_option(
          "--finding", flags.finding,
          "with --isolate, the folder to write: the first wrong instruction as a program, with its inputs "
          "(docs/find.md)")
      ->check(Output());
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
  command->add_flag("--json", flags.json, "with --profile, or of two programs, print the result as JSON");
}

// Element types of the outputs, and tolerances.
void AddToleranceFlags(CLI::App* command, DiffFlags& flags) {
  command
      ->add_option(
          "--types", flags.types,
          "element types of arrays whose files do not contain them: out0=bf16,out1=s4 (docs/limits.md)")
      ->check(Types())
      ->excludes("--backend")
      ->excludes("--plugin");
  AddValuesFlags(
      command, flags.values, flags.only,
      "with --backend or --plugin, also write every instruction's exact value and the backend's to "
      "this .npz file: exact/NAME, actual/NAME (docs/find.md)");
  command->add_option("--rtol", flags.rtol, "relative tolerance (0)")->check(Tolerance());
  command->add_option("--atol", flags.atol, "absolute tolerance (0)")->check(Tolerance());
  command->add_option("--ulps", flags.ulps, "units in the last place (0)")->check(Whole(0, INT64_MAX));
}

void DeclareDiff(CLI::App& app, CommandLine& line) {
  CLI::App* const command = AddCommand(
      app, "diff", "compare two sets of outputs, two programs, or a backend's outputs with the exact ones",
      line, line.diff, Diff);
  AddComparedFlags(command, line.diff);
  AddInputFlags(command, line.diff);
  AddDeviceFlags(command, line.diff);
  AddOpsFlags(command, line.diff);
  AddLimitFlags(command, line.diff);
  AddBoundsFlags(command, line.diff);
  AddToleranceFlags(command, line.diff);
}

void DeclareReplay(CLI::App& app, CommandLine& line) {
  ReplayFlags& flags = line.replay;
  CLI::App* const command =
      AddCommand(app, "replay", "compare a call that assay.record has written with the exact result", line,
                 flags, Replay);
  command->add_option("FOLDER", flags.folder, "the folder of the call, with replay.json")
      ->required()
      ->check(Input());
  CLI::Option* const backend = command->add_option(
      "--backend", flags.backend,
      "run this in place of the recorded outputs: 'CMD {program} {inputs} {outputs}' (docs/bounds.md)");
  AddPluginFlags(command, flags)->excludes(backend);
  AddOpsFlags(command, flags);
  AddLimitFlags(command, flags);
  AddBoundsFlags(command, flags);
}

void DeclareBisect(CLI::App& app, CommandLine& line) {
  BisectFlags& flags = line.bisect;
  CLI::App* const command = AddCommand(
      app, "bisect", "find the pass of a compiler that changed a program's outputs", line, flags, Bisect);
  command
      ->add_option("DUMPS", flags.program,
                   "the folder of --xla_dump_to with --xla_dump_hlo_pass_re=.*, or with --command a program")
      ->required()
      ->check(Input());
  command->add_option("--command", flags.command,
                      "compile with so many passes in place of dumps: 'CMD {program} {n} {output}'");
  command->add_option("--passes", flags.passes, "with --command, the fewest and the most passes: LOW:HIGH")
      ->check(PassRange());
  command->add_option("--module", flags.module,
                      "modules whose name this regular expression is found in; with --command, the program "
                      "of this name");
  AddInputFlags(command, flags);
  command
      ->add_option("--profile", flags.profile,
                   "also say whether outputs leave the bounds of this profile (docs/bounds.md)")
      ->check(Input());
  AddOpsFlags(command, flags);
  AddSeedFlag(command, flags);
  AddLimitFlags(command, flags);
  command->add_flag("--json", flags.json, "print the result as JSON");
}

void DeclareGolden(CLI::App& app, CommandLine& line) {
  CLI::App* const golden = app.add_subcommand("golden", "make and check golden files");
  golden->require_subcommand(1);
  const auto add_paths = [](CLI::App* command, std::vector<std::string>& paths) {
    command->add_option("PATH", paths, "goldens, or directories of them")->required()->check(Input());
  };
  CLI::App* command =
      AddCommand(*golden, "check", "run goldens and compare", line, line.golden_check, GoldenCheck);
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
                       line.golden_update, GoldenUpdateFiles);
  add_paths(command, line.golden_update.paths);
  command = AddCommand(*golden, "record", "make a golden of a program, with the reference's results", line,
                       line.golden_record, GoldenRecord);
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
                                 line.profile_show, ShowProfile);
  command->add_option("PROFILE", line.profile_show.profile, "a name, or a file (docs/bounds.md)")
      ->required()
      ->check(Input());
  command->add_flag("--json", line.profile_show.json, "print it as JSON");
  ProfileMeasureFlags& flags = line.profile_measure;
  command = AddCommand(*profile, "measure", "measure a backend, and write a profile of it", line, flags,
                       MeasureProfileCommand);
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

// The question that is asked of test cases, and who answers it.
void AddQuestionFlags(CLI::App* command, ReduceFlags& flags) {
  command->add_option("--while", flags.while_command,
                      "'CMD {program} {inputs}': reduce while this command ends with exit code 0");
  command->add_flag("--while-outside", flags.while_outside,
                    "reduce while an output has elements outside of the bounds of --profile");
  command->add_flag("--while-implausible", flags.while_implausible,
                    "reduce while an output has elements outside of the bounds, or implausible");
  command->add_flag("--while-crash", flags.while_crash,
                    "reduce while the backend ends by a signal or fails, where Assay evaluates the program");
  command->add_option("--while-message", flags.while_message,
                      "reduce while the backend fails with a message that contains this text");
  command->add_flag("--while-differs", flags.while_differs,
                    "reduce while the outputs of --engine and of the reference differ");
  command
      ->add_option("--profile", flags.profile,
                   "bounds of a conforming backend, as diff takes them (docs/bounds.md)")
      ->check(Input());
  CLI::Option* const backend = command->add_option(
      "--backend", flags.backend,
      "a command that runs the backend: 'CMD {program} {inputs} {outputs}' (docs/bounds.md)");
  CLI::Option* const plugin = AddPluginFlags(command, flags)->excludes(backend);
  command
      ->add_option(
          "--command", flags.command,
          "a command without outputs for --while-crash and --while-message: 'CMD {program} {inputs}'")
      ->excludes(backend)
      ->excludes(plugin);
}

void DeclareReduce(CLI::App& app, CommandLine& line) {
  ReduceFlags& flags = line.reduce;
  CLI::App* const command =
      AddCommand(app, "reduce", "make a program smaller that still shows the same (docs/find.md)", line,
                 flags, ReduceProgram);
  AddProgram(command, flags);
  AddInputFlags(command, flags);
  AddQuestionFlags(command, flags);
  command
      ->add_option("--engine", flags.engine,
                   "with --while-differs: exact (default), reference, fast, gpu or gpu-fast")
      ->check(OneOf({"exact", "reference", "fast", "gpu", "gpu-fast"}));
  command->add_option("--output", flags.output, "the folder to write: program, inputs.npz and README.md")
      ->check(Output());
  command->add_option("--jobs", flags.options.jobs, "programs that are tried at the same time (1)")
      ->check(Whole(1, kMaxTriesAtOnce));
  command->add_option("--try-timeout", flags.try_timeout, "limit on the seconds of one try (10)")
      ->check(Seconds());
  command
      ->add_option("--timeout", flags.timeout,
                   "end after so many seconds, with the smallest program that was found until then")
      ->check(Seconds());
  AddOpsFlags(command, flags);
  AddSeedFlag(command, flags);
  command->add_option("--max-steps", flags.options.limits.max_steps, "limit on the steps of one try")
      ->check(Count());
  command
      ->add_option("--memory-limit", flags.options.limits.memory_limit,
                   "limit in bytes on live values (3/4 of memory)")
      ->check(Count());
}

void DeclareConformance(CLI::App& app, CommandLine& line) {
  CLI::App* const conformance =
      app.add_subcommand("conformance", "make the suite by which backends are checked without Assay");
  conformance->require_subcommand(1);
  ConformanceMakeFlags& flags = line.conformance_make;
  CLI::App* const command = AddCommand(*conformance, "make", "write the cases, exact answers and bounds",
                                       line, flags, ConformanceMake);
  command->add_option("DIR", flags.folder, "the folder to write: new, empty, or of an earlier suite")
      ->required()
      ->check(Output());
  command
      ->add_option(
          "--profile", flags.profiles,
          "a profile whose bounds are written (strict; repeatable, the first is the default of runs)")
      ->allow_extra_args(false)
      ->check(Input());
  command->add_option("--only", flags.only, "cases whose ids begin so, such as add/f32 (repeatable)")
      ->allow_extra_args(false);
  command->add_option("--sample", flags.sample, "so many cases, spread over all")->check(Whole(1, 1'000'000));
  command->add_option("--seed", flags.suite_seed, "seed of the values that are drawn (1)")->check(Seed());
  AddLimitFlags(command, flags);
}

void DeclareOps(CLI::App& app, CommandLine& line) {
  OpsFlags& flags = line.ops;
  CLI::App* const command = AddCommand(app, "ops", "list the operations, or describe one", line, flags, Ops);
  command->add_option("OP", flags.op, "an operation, or the label of a rule (Gather-C4)");
  AddLibraryFlags(command, flags);
  command->add_flag("--json", flags.json,
                    "print the registrations of --load-ops as JSON, or with OP what is known of it");
  command->add_flag("--lapack", flags.lists_lapack, "list the custom calls of JAX's linear algebra instead");
  command
      ->add_option("--wrappers", flags.wrappers,
                   "print source of functions that call the operations of --load-ops")
      ->check(OneOf({"python", "cpp"}));
  command
      ->add_option("--compatible", flags.compatible,
                   "OLD.json NEW.json: check that programs for the OLD registrations keep their meaning with "
                   "the NEW ones")
      ->expected(2)
      ->check(Input());
}

void DeclareDoctor(CLI::App& app, CommandLine& line) {
  DoctorFlags& flags = line.doctor;
  CLI::App* const command =
      AddCommand(app, "doctor", "show what this machine has of what Assay can use, and what is lost without",
                 line, flags, Doctor);
  command->add_option("--python", flags.python, "the Python that is asked for packages (python3)")
      ->check(Input());
  command->add_option("--cuda-driver", flags.gpu.driver, "the CUDA driver library (libcuda.so.1)");
  command->add_flag("--json", flags.json, "print it as JSON");
}

void DeclareHelp(CLI::App& app, CommandLine& line) {
  HelpFlags& flags = line.help;
  CLI::App* const command = app.add_subcommand("help", "tell of a command, topic, flag, operation or rule");
  command->callback([&] {
    line.given = &flags;
    line.action = [&] { return Help(app, flags); };
  });
  CLI::Option* const topic = command->add_option("TOPIC", flags.topic, "what to tell of; without it, a list");
  CLI::Option* const man = command->add_flag("--man", flags.man, "print the manual page assay(1), in roff");
  command->add_option("--completion", flags.completion, "print the completions of a shell")
      ->check(OneOf({"bash", "zsh"}))
      ->excludes(topic)
      ->excludes(man);
  man->excludes(topic);
}

void DeclareFuzz(CLI::App& app, CommandLine& line) {
  FuzzFlags& flags = line.fuzz;
  CLI::App* const command =
      AddCommand(app, "fuzz", "generate programs until an engine or a backend is wrong (docs/find.md)", line,
                 flags, FuzzBackend);
  CLI::Option* const plugin = AddPluginFlags(command, flags);
  command
      ->add_option("--backend", flags.backend,
                   "a command that runs the backend: 'CMD {program} {inputs} {outputs}' (docs/bounds.md)")
      ->excludes(plugin);
  command->add_option("--profile", flags.profile, "the bounds that the backend is held to (docs/bounds.md)")
      ->check(Input());
  AddPlanFlags(command, flags);
  command
      ->add_option("--output", flags.output,
                   "the folder of the findings and of the journal, from which a later session goes on")
      ->required()
      ->check(Output());
  command->add_option("--seed", flags.seed, "seed of the programs (1)")->check(Seed());
  command->add_option("--programs", flags.programs, "end after so many programs")->check(Count());
  command->add_option("--seconds", flags.seconds, "end after so many seconds")->check(Seconds());
  command->add_option("--findings", flags.findings, "end after so many findings")->check(Count());
  command->add_option("--instructions", flags.instructions, "most steps of a generated program (20)")
      ->check(Whole(2, 1000));
  command->add_option("--elements", flags.elements, "most elements of an array (200)")
      ->check(Whole(1, 1'000'000));
  command->add_option("--try-timeout", flags.try_timeout, "limit on the seconds of one run (10)")
      ->check(Seconds());
  command
      ->add_option("--reduce-timeout", flags.reduce_seconds,
                   "limit on the seconds in which a finding is made smaller (60)")
      ->check(Seconds());
  command->add_flag("--json", flags.json, "print the findings as JSON");
  AddOpsFlags(command, flags);
  command->add_option("--max-steps", flags.options.limits.max_steps, "limit on the steps of one run")
      ->check(Count());
}

// The commands whose work is shown where it takes long.
void AddQuietFlags(CLI::App& app, CommandLine& line) {
  for (const std::vector<const char*>& name : {std::vector<const char*>{"run"},
                                               {"bench"},
                                               {"audit"},
                                               {"diff"},
                                               {"bisect"},
                                               {"replay"},
                                               {"reduce"},
                                               {"fuzz"},
                                               {"golden", "check"},
                                               {"golden", "update"},
                                               {"golden", "record"},
                                               {"profile", "measure"},
                                               {"conformance", "make"}}) {
    CLI::App* command = &app;
    for (const char* const word : name) command = command->get_subcommand(word);
    command->add_flag("--quiet", line.quiet, "show no progress on a terminal");
  }
}

}  // namespace

void Declare(CLI::App& app, CommandLine& line) {
  DeclareRun(app, line);
  DeclareVerify(app, line);
  DeclarePrint(app, line);
  DeclarePlan(app, line);
  DeclareBench(app, line);
  DeclareAudit(app, line);
  DeclareDiff(app, line);
  DeclareBisect(app, line);
  DeclareReplay(app, line);
  DeclareGolden(app, line);
  DeclareProfile(app, line);
  DeclareConformance(app, line);
  DeclareOps(app, line);
  DeclareReduce(app, line);
  DeclareFuzz(app, line);
  AddQuietFlags(app, line);
  DeclareDoctor(app, line);
  DeclareHelp(app, line);
}

}  // namespace assay::cli
