// The flags of the subcommands, one struct a command. What several of them take is in the structs that they
// derive from.
#ifndef ASSAY_TOOLS_FLAGS_H_
#define ASSAY_TOOLS_FLAGS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engines/engine.h"
#include "evaluator/eval_context.h"
#include "gpu/gpu_engine.h"

namespace assay::cli {

// What is read, on how many devices it runs, and within which limits.
struct ProgramFlags {
  std::string program;
  std::string module;  // of a file with several programs, the one of this name; empty: all
  std::string inputs;  // .npz; empty: none
  std::optional<uint64_t> random_inputs;
  std::string shapes;  // arg0=3x1,…: what a program with free dimensions is refined for; empty: as the inputs
  int64_t replicas = 0, partitions = 0;  // 0: as the module says
  std::vector<std::string> load_ops;     // libraries of operations
  bool isolate_ops = false;              // each is opened by a child process first
  std::vector<std::string> ffi;          // TARGET=LIB.so:SYMBOL, or LIB.so
  bool lapack = false;                   // decompositions by the machine's LAPACK
  bool check_composites = false;  // hold composite calls against the operations that may be taken for them
  RunOptions options;
};

// Who computes.
struct EngineFlags : ProgramFlags {
  std::string engine = "exact";
  bool allow_rwx = false;  // engines that map writable and executable memory
  gpu::GpuOptions gpu;     // of engine gpu
  std::string cpu;         // the best instruction set that kernels may use; empty: the machine's
  std::string crosscheck;  // off, sample or full; empty: as the engine wants it
  std::string repro_dir = "assay-repro";  // where a step that the cross-check found wrong is written
  std::string plugin;  // a library with PJRT's C API that runs the program; empty: Assay does
  std::vector<std::string> plugin_options;  // NAME=VALUE, of its client
  bool perf_map = false;                    // names of generated code for perf
};

struct RunFlags : EngineFlags {
  std::string output;  // .npz; empty: print
  std::string trace;   // .json; empty: none
  bool json = false;
  bool shadow = false;     // where the error comes from, in place of results
  std::string values;      // .npz of intermediate values; empty: none
  std::string only;        // a regular expression that their names match; empty: all
  bool trace_nan = false;  // where a NaN comes from, in place of results
  std::string trace_what;  // nan, inf, overflow or subnormal; empty: nan where trace_nan
  std::string why;         // an element of an output that is explained, in place of results; empty: none
};

struct BenchFlags : EngineFlags {
  std::string trace;  // .json; empty: none
  bool json = false;
  bool steps = false;  // times of each step
};

struct PrintFlags : ProgramFlags {
  bool refine = false;       // the program as --shapes refines it
  std::string form = "hlo";  // hlo, pb or mlir
};

struct AuditFlags : EngineFlags {
  bool json = false;
};

struct OpsFlags : ProgramFlags {
  std::string op;  // empty: all
  bool json = false;
  bool lists_lapack = false;            // the custom calls of JAX's linear algebra
  std::string wrappers;                 // the language of functions for the operations; empty: none
  std::vector<std::string> compatible;  // older and newer registrations to compare; empty: none
};

struct HelpFlags : ProgramFlags {
  std::vector<std::string> topic;  // words of a command's name, or one name of anything; empty: all
  bool man = false;
  std::string completion;  // bash or zsh; empty: none
};

struct DoctorFlags : EngineFlags {
  std::string python = "python3";  // the interpreter that is asked for packages
  bool json = false;
};

// `program` is the first one that is named: one of two .npz files, or a program.
struct DiffFlags : EngineFlags {
  std::string second;        // an .npz file, another program, or with `spmd` the whole one
  bool spmd = false;         // `program` is partitioned
  std::string actual;        // the outputs to compare
  std::string backend;       // the command that gives them
  std::string profile;       // bounds by this one, in place of tolerances; empty: none
  bool isolate = false;      // every instruction alone
  std::string finding;       // the folder to write with the first wrong one; empty: none
  std::string html;          // the page to write; empty: none
  std::string tolerances;    // .npz of what elements are compared with; empty: none
  int64_t samples = 16;      // of conforming backends, where bounds leave elements undecided
  bool proven_only = false;  // what is implausible does not fail
  bool json = false;
  double rtol = 0, atol = 0;
  int64_t ulps = 0;
  std::string values;   // .npz of intermediate values, the exact and the backend's; empty: none
  std::string only;     // a regular expression that their names match; empty: all
  std::string types;    // of arrays in .npz files, as ParseTypes takes them; empty: none
  std::string command;  // as it was given, for the page
};

// `program` is a folder of dumps, or with `command` what is compiled; `module` is a regular expression.
struct BisectFlags : EngineFlags {
  std::string profile;  // empty: bits alone
  std::string command;  // that compiles with so many passes; empty: there are dumps
  std::string passes;   // LOW:HIGH, of `command`
  bool json = false;
};

struct ReplayFlags : DiffFlags {
  std::string folder;  // has the program, its inputs and outputs, and the profile
};

struct GoldenCheckFlags : EngineFlags {
  std::vector<std::string> paths;
  std::string actual;  // a backend's outputs, or a folder of them; empty: what runs is checked
};

struct GoldenUpdateFlags : ProgramFlags {
  std::vector<std::string> paths;
};

struct GoldenRecordFlags : EngineFlags {
  std::string profile;  // the golden has bounds for this one; empty: none
  std::string output;   // empty: print
};

struct ProfileShowFlags : ProgramFlags {
  std::string profile;  // a name or a path
  bool json = false;
};

struct ProfileMeasureFlags : EngineFlags {
  std::string backend;              // the command that is measured; empty: `plugin` is
  std::string output;               // empty: print
  int64_t count = 100'000;          // arguments of all exponents, and as many near 1
  std::vector<std::string> origin;  // lines of the profile on what was measured
};

// Each try has up to two temporary directories (check/backends/command_process.h).
inline constexpr uint64_t kMaxTriesAtOnce = 64;

// One of the `while_` flags is the question; docs/find.md.
struct ReduceFlags : EngineFlags {
  std::string output;         // the folder to write
  std::string while_command;  // 'CMD {program} {inputs}'; empty: another question
  bool while_outside = false, while_implausible = false;
  bool while_crash = false;
  std::string while_message;
  bool while_differs = false;
  std::string profile;
  std::string backend;      // 'CMD {program} {inputs} {outputs}'
  std::string command;      // 'CMD {program} {inputs}'
  double try_timeout = 10;  // seconds
  double timeout = 0;       // of the search, which then ends with what it has; 0: none
};

struct FuzzFlags : EngineFlags {
  std::string backend;  // a command that is tried; empty: `plugin`, or else `engine`
  std::string profile;
  std::string output;         // the folder of the campaign
  uint64_t seed = 1;          // of the programs
  int64_t programs = 0;       // of this session; 0: no limit
  double seconds = 0;         // of this session; 0: no limit
  int64_t findings = 0;       // ends after so many; 0: no limit
  int64_t instructions = 20;  // about as many in a program, at most
  int64_t elements = 200;     // of an array, at most
  double try_timeout = 10, reduce_seconds = 60;
  bool json = false;
};

struct ConformanceMakeFlags : EngineFlags {
  std::string folder;
  std::vector<std::string> profiles;  // the first is the default of who runs the suite; empty: strict
  std::vector<std::string> only;      // beginnings of ids; empty: all
  int64_t sample = 0;                 // so many cases; 0: all
  uint64_t suite_seed = 1;
};

}  // namespace assay::cli

#endif  // ASSAY_TOOLS_FLAGS_H_
