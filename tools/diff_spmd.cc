// assay diff --spmd: a partitioned program against the whole one.
#include "devices/device_io.h"
#include "devices/partitioned.h"
#include "evaluator/grid/device_grid.h"
#include "find/programs/first_collective.h"
#include "fmt/format.h"
#include "hlo/diagnostics.h"
#include "literal/compare.h"
#include "tools/commands.h"
#include "tools/pair_text.h"

namespace assay::cli {
namespace {

absl::StatusOr<std::vector<DeviceOutputs>> RunOn(const EngineFlags& flags, const Program& program,
                                                 const DeviceGrid& grid, std::vector<DeviceInputs> inputs) {
  ASSAY_ASSIGN_OR_RETURN(const std::shared_ptr<const Plan> plan, program.PlanFor(EnginesOf(flags)));
  RunOptions options = OptionsOf(flags);
  options.interrupted = Interrupted;
  return RunDevices(*plan, grid, std::move(inputs), options);
}

}  // namespace

int DiffPartitioned(const DiffFlags& flags) {
  const EngineFlags& sharded_flags = flags;
  EngineFlags whole_flags = flags;
  whole_flags.program = flags.second;
  whole_flags.replicas = whole_flags.partitions = 0;
  if (const int code = CheckFiles({flags.program, flags.second, flags.inputs}, {}); code != 0) return code;
  if (const absl::Status status = CheckEngine(flags); !status.ok()) return Fail(status, flags.program);
  int exit_code = 0;
  const std::optional<LoadedProgram> sharded = Load(sharded_flags, exit_code);
  if (!sharded) return exit_code;
  const std::optional<LoadedProgram> whole = Load(whole_flags, exit_code);
  if (!whole) return exit_code;
  if (LacksInputs(whole_flags, *whole)) return AskForInputs(whole_flags, *whole);

  const absl::StatusOr<DeviceGrid> whole_grid =
      ResolveDeviceGrid(whole->program.module(), {.replicas = 0, .partitions = 0});
  if (!whole_grid.ok()) return FailIn(*whole, whole_grid.status(), flags.second);
  const absl::StatusOr<DeviceGrid> grid = GridOf(sharded_flags, *sharded);
  if (!grid.ok()) return FailIn(*sharded, grid.status(), flags.program);
  absl::StatusOr<std::vector<DeviceInputs>> inputs = InputsFor(whole_flags, *whole, *whole_grid);
  if (!inputs.ok()) return Fail(inputs.status(), InputsOf(whole_flags));
  absl::StatusOr<std::vector<DeviceInputs>> pieces =
      SplitArguments(sharded->program.verified(), *grid, (*inputs)[0].arguments);
  if (!pieces.ok()) return FailIn(*sharded, pieces.status(), flags.program);

  const auto expected = RunOn(whole_flags, whole->program, *whole_grid, *inputs);
  if (!expected.ok()) return FailIn(*whole, expected.status(), flags.second);
  const auto outputs = RunOn(sharded_flags, sharded->program, *grid, *pieces);
  if (!outputs.ok()) return FailIn(*sharded, outputs.status(), flags.program);
  const absl::StatusOr<Literal> assembled = AssembleRoot(whole->program.verified(), *grid, *outputs);
  if (!assembled.ok()) return Fail(assembled.status(), flags.program);

  const bool is_said = flags.rtol > 0 || flags.atol > 0 || flags.ulps > 0;
  const NamedLiterals wholes = ResultsOf((*expected)[0].root), actual = ResultsOf(*assembled);
  std::string text;
  bool equal = true;
  Tolerance said;
  said.rtol = flags.rtol;
  said.atol = flags.atol;
  said.ulps = flags.ulps;
  for (size_t k = 0; k < wholes.size(); ++k) {
    Tolerance tolerance = said;
    if (!is_said)
      tolerance.scale_rtol =
          ShareOfReordering(wholes[k].second.shape().element_type(), sharded->program, grid->size());
    const Comparison comparison = CompareLiterals(wholes[k].second, actual[k].second, tolerance);
    equal = equal && comparison.ok();
    text += fmt::format("{}: {}\n", wholes[k].first, comparison.Report());
  }
  if (!equal) {
    RunOptions options = OptionsOf(flags);
    options.interrupted = Interrupted;
    const absl::StatusOr<std::optional<CollectiveDifference>> difference = FirstDifferingCollective(
        sharded->program, {*grid, *pieces, options}, whole->program, {*whole_grid, *inputs, options},
        is_said ? std::optional(said) : std::nullopt, EnginesOf(flags));
    if (!difference.ok()) return Fail(difference.status(), flags.program);
    if (*difference) text += TextOf(**difference);
  }
  if (!Write(text)) return 5;
  return equal ? 0 : 1;
}

}  // namespace assay::cli
