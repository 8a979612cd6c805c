// Flags that several subcommands take, one function a group.
#ifndef ASSAY_TOOLS_FLAG_GROUPS_H_
#define ASSAY_TOOLS_FLAG_GROUPS_H_

#include <CLI/CLI.hpp>
#include <string>

#include "tools/flags.h"

namespace assay::cli {

// --trace FILE.json, and its name up to version 0.1, --profile.
struct TraceFlag {
  std::string path, by_old_name;
};

// Flags that select engines.
void AddPlanFlags(CLI::App* command, EngineFlags& flags);
// Flags that select engines, and how they run.
void AddEngineFlags(CLI::App* command, EngineFlags& flags);
// Flags for profiling.
void AddTraceFlags(CLI::App* command, EngineFlags& flags, TraceFlag& trace);
// PROGRAM and --module.
void AddProgram(CLI::App* command, ProgramFlags& flags);
// --shapes.
void AddShapesFlag(CLI::App* command, ProgramFlags& flags);
// --inputs, --random-inputs and --shapes.
void AddInputFlags(CLI::App* command, ProgramFlags& flags);
// The number of devices.
void AddDeviceFlags(CLI::App* command, ProgramFlags& flags);
// Flags for libraries of operations for custom calls.
void AddLibraryFlags(CLI::App* command, ProgramFlags& flags);
// Flags that define the operations of custom calls.
void AddOpsFlags(CLI::App* command, ProgramFlags& flags);
// --seed.
void AddSeedFlag(CLI::App* command, ProgramFlags& flags);
// Limits on a command (docs/limits.md).
void AddLimitFlags(CLI::App* command, ProgramFlags& flags);
// Flags for the program, its inputs, engines, devices and limits.
void AddRunFlags(CLI::App* command, EngineFlags& flags);
// --values and --only.
void AddValuesFlags(CLI::App* command, std::string& values, std::string& only, const char* help);
// Flags that name a library with PJRT's C API.
CLI::Option* AddPluginFlags(CLI::App* command, EngineFlags& flags);
// Flags of commands that run a program by the exact engine.
void AddExactRunFlags(CLI::App* command, ProgramFlags& flags);

}  // namespace assay::cli

#endif  // ASSAY_TOOLS_FLAG_GROUPS_H_
