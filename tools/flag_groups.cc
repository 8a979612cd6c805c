#include "tools/flag_groups.h"

#include "tools/validators.h"

namespace assay::cli {
namespace {

constexpr char kProgramHelp[] =
    "HLO text or proto, StableHLO text or bytecode; the content determines the form; '-' is standard input";

}  // namespace

void AddPlanFlags(CLI::App* command, EngineFlags& flags) {
  command->add_option("--engine", flags.engine, "exact (default), reference, fast, gpu or gpu-fast")
      ->check(OneOf({"exact", "reference", "fast", "gpu", "gpu-fast"}));
  command->add_flag("--allow-rwx", flags.allow_rwx,
                    "with --engine fast, also use oneDNN, which maps memory that is writable and executable");
  command->add_option("--cuda-driver", flags.gpu.driver,
                      "with --engine gpu and gpu-fast, the CUDA driver library (libcuda.so.1)");
  command
      ->add_option(
          "--gpu-min-elements", flags.gpu.min_elements,
          "with --engine gpu and gpu-fast, steps of fewer elements stay on the CPU (by what the CPU takes)")
      ->check(Whole(0, INT64_MAX));
  command
      ->add_option("--gpu-residues-from", flags.gpu.residues_from,
                   "with --engine gpu and gpu-fast, exact dots of so many products are done by residues, on "
                   "devices that can (by type)")
      ->check(Whole(0, INT64_MAX));
  command->add_option("--cpu", flags.cpu, "use no more than this instruction set: baseline, avx2 or avx512")
      ->check(OneOf({"baseline", "avx2", "avx512"}));
}

void AddEngineFlags(CLI::App* command, EngineFlags& flags) {
  AddPlanFlags(command, flags);
  command
      ->add_option("--crosscheck", flags.crosscheck,
                   "compare kernels with the reference: off (default), sample (default of --engine fast and "
                   "gpu-fast) or full")
      ->check(OneOf({"off", "sample", "full"}));
  command
      ->add_option("--repro-dir", flags.repro_dir,
                   "directory for the reproducer of a step that fails the cross-check (assay-repro)")
      ->check(Output());
  command->add_option("--jobs", flags.options.jobs, "number of threads (one per core)")
      ->check(Whole(1, 1024));
}

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

void AddDeviceFlags(CLI::App* command, ProgramFlags& flags) {
  command->add_option("--replicas", flags.replicas, "run on this many replicas")->check(Count());
  command->add_option("--partitions", flags.partitions, "run on this many partitions")->check(Count());
}

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

void AddOpsFlags(CLI::App* command, ProgramFlags& flags) {
  AddLibraryFlags(command, flags);
  command->add_flag("--lapack", flags.lapack,
                    "compute decompositions by the installed LAPACK; their bits depend on it");
}

void AddSeedFlag(CLI::App* command, ProgramFlags& flags) {
  command->add_option("--seed", flags.options.run_seed, "seed of rng and GetRngSeed (42)")->check(Seed());
}

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

void AddRunFlags(CLI::App* command, EngineFlags& flags) {
  AddProgram(command, flags);
  AddInputFlags(command, flags);
  AddEngineFlags(command, flags);
  AddDeviceFlags(command, flags);
  AddOpsFlags(command, flags);
  AddSeedFlag(command, flags);
  AddLimitFlags(command, flags);
}

void AddValuesFlags(CLI::App* command, std::string& values, std::string& only, const char* help) {
  CLI::Option* const file = command->add_option("--values", values, help)->check(Output());
  command->add_option("--only", only, "with --values, only names that this regular expression is found in")
      ->check(Regex())
      ->needs(file);
}

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

void AddExactRunFlags(CLI::App* command, ProgramFlags& flags) {
  AddProgram(command, flags);
  AddInputFlags(command, flags);
  AddDeviceFlags(command, flags);
  AddOpsFlags(command, flags);
  AddSeedFlag(command, flags);
  AddLimitFlags(command, flags);
}

}  // namespace assay::cli
