// The parsed command line, and the declarations of the subcommands: their names, flags and help.
#ifndef ASSAY_TOOLS_DECLARATIONS_H_
#define ASSAY_TOOLS_DECLARATIONS_H_

#include <CLI/CLI.hpp>
#include <functional>

#include "tools/flag_groups.h"
#include "tools/flags.h"

namespace assay::cli {

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
  BisectFlags bisect;
  ReplayFlags replay;
  GoldenCheckFlags golden_check;
  GoldenUpdateFlags golden_update;
  GoldenRecordFlags golden_record;
  OpsFlags ops;
  HelpFlags help;
  DoctorFlags doctor;
  ProfileShowFlags profile_show;
  ProfileMeasureFlags profile_measure;
  ReduceFlags reduce;
  FuzzFlags fuzz;
  ConformanceMakeFlags conformance_make;

  bool quiet = false;                   // of every command that takes time
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

// Declares every command, in the order in which --help lists them.
void Declare(CLI::App& app, CommandLine& line);

}  // namespace assay::cli

#endif  // ASSAY_TOOLS_DECLARATIONS_H_
