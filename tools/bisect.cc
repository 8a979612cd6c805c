// assay bisect: which pass of a compiler changed a program's outputs.
#include "find/passes/bisect.h"

#include "base/json_writer.h"
#include "devices/device_io.h"
#include "evaluator/grid/device_grid.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "hlo/diagnostics.h"
#include "tools/bisect_reader.h"
#include "tools/bisect_text.h"
#include "tools/commands.h"

namespace assay::cli {
namespace {

bool Conforms(const PassBisection& bisection) {
  return bisection.has_bounds ? !bisection.first_outside : !bisection.first_change;
}

int BisectFolder(const BisectFlags& flags, const ProgramReader& reader, std::optional<Profile> profile) {
  const absl::StatusOr<std::vector<ModuleDumps>> modules = ReadDumpFolder(flags.program, flags.module);
  if (!modules.ok()) return Fail(modules.status(), flags.program);
  if (modules->size() > 1 && !flags.inputs.empty()) {
    std::vector<std::string> names;
    for (const ModuleDumps& dumps : *modules) names.push_back(EscapeControls(dumps.module));
    return UsageError(fmt::format("--inputs is of one module: --module REGEX says which one of {}",
                                  fmt::join(names, ", ")));
  }
  const BisectOptions options = {
      .folder = flags.program,
      .profile = std::move(profile),
      .load = [&](const std::string& path, std::string_view bytes) { return reader.Load(path, bytes); },
      .inputs = [&](const Program& program) { return reader.InputsOf(program); }};
  JsonWriter json;
  json.Begin("[");
  std::string text;
  int code = 0;
  for (const ModuleDumps& dumps : *modules) {
    const absl::StatusOr<PassBisection> found = BisectDumps(dumps, options);
    if (!found.ok()) {
      code = std::max(code, Fail(found.status(), flags.program + "/" + dumps.module));
      continue;
    }
    WriteJson(*found, json);
    text += TextOf(*found, flags.profile);
    code = std::max(code, Conforms(*found) ? 0 : 1);
    if (found->ended.ok()) continue;
    code = Fail(found->ended, flags.program + "/" + dumps.module);
    break;
  }
  json.End("]");
  if (flags.json) text = json.text() + "\n";
  return Write(text) ? code : 5;
}

}  // namespace

absl::StatusOr<Program> ProgramReader::Load(const std::string& path, std::string_view bytes) const {
  return Program::Load(path, bytes, {.custom_ops = ops_.all});
}

absl::StatusOr<ProgramInputs> ProgramReader::InputsOf(const Program& program) const {
  const LoadedProgram loaded{"", 0, program};
  if (flags_.inputs.empty() && !flags_.random_inputs &&
      !program.module().entry_computation().parameters.empty())
    return BadInput("the program has parameters: want --inputs IN.npz or --random-inputs SEED");
  ProgramInputs inputs;
  ASSAY_ASSIGN_OR_RETURN(inputs.grid, ResolveDeviceGrid(program.module(), {.replicas = 0, .partitions = 0}));
  ASSAY_ASSIGN_OR_RETURN(inputs.inputs, InputsFor(flags_, loaded, inputs.grid));
  inputs.options = OptionsOf(flags_);
  inputs.options.interrupted = Interrupted;
  return inputs;
}

int Bisect(const BisectFlags& flags) {
  if (const std::string wrong = BisectCommandUsage(flags); !wrong.empty()) return UsageError(wrong);
  if (const int code = CheckFiles({flags.inputs}, {}); code != 0) return code;
  std::optional<Profile> profile;
  if (!flags.profile.empty()) {
    absl::StatusOr<Profile> loaded = LoadProfile(flags.profile);
    if (!loaded.ok()) return Fail(loaded.status(), flags.profile);
    profile = *std::move(loaded);
  }
  absl::StatusOr<LoadedOps> ops = LoadedOpsOf(flags);
  if (!ops.ok()) return Fail(ops.status(), flags.program);
  const ProgramReader reader(flags, *std::move(ops));
  return flags.command.empty() ? BisectFolder(flags, reader, std::move(profile))
                               : BisectCompiler(flags, reader, profile);
}

}  // namespace assay::cli
