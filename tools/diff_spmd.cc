// assay diff --spmd: a partitioned program against the whole one.
#include <algorithm>
#include <cmath>

#include "devices/device_io.h"
#include "devices/partitioned.h"
#include "evaluator/grid/device_grid.h"
#include "evaluator/registry.h"
#include "fmt/format.h"
#include "hlo/diagnostics.h"
#include "literal/compare.h"
#include "tools/commands.h"

namespace assay::cli {
namespace {

int64_t CollectivesOf(const Module& module) {
  int64_t count = 0;
  for (const Computation& computation : module.computations) {
    count += std::count_if(
        computation.instructions.begin(), computation.instructions.end(),
        [](const Instruction& i) { return DefinitionOf(i.opcode).channel == Channel::kCollective; });
  }
  return count;
}

// How far floats may lie apart where nothing is said: a sum that is cut over P devices is rounded P times
// more, by half a unit of its type each, and each collective may be behind such a cut. As a share of the
// largest element of the output.
double ShareOfReordering(ElementType type, int64_t devices, int64_t collectives) {
  const FloatFormat* const format = IsComplex(type) ? Info(ComponentType(type)).format : Info(type).format;
  if (format == nullptr) return 0;
  const double unit = std::ldexp(1.0, -format->mantissa_bits);
  return 4 * unit * static_cast<double>(devices) * static_cast<double>(collectives + 1);
}

absl::StatusOr<std::vector<DeviceOutputs>> RunOn(const EngineFlags& flags, const Program& program,
                                                 const DeviceGrid& grid, std::vector<DeviceInputs> inputs) {
  ASSAY_ASSIGN_OR_RETURN(const std::shared_ptr<const Plan> plan, program.PlanFor(EnginesOf(flags)));
  RunOptions options = OptionsOf(flags);
  options.interrupted = Interrupted;
  return RunDevices(*plan, grid, std::move(inputs), options);
}

// One side of a comparison.
struct Side {
  const EngineFlags& flags;
  const Program& program;
  const DeviceGrid& grid;
  const std::vector<DeviceInputs>& inputs;

  absl::StatusOr<std::vector<DeviceOutputs>> ValueOf(int32_t instruction,
                                                     std::optional<Program>& shorter) const {
    ASSAY_ASSIGN_OR_RETURN(shorter, ProgramOf(program.module(), instruction));
    return RunOn(flags, *shorter, grid, inputs);
  }
};

// Where outputs differ: the first collective whose value, put together, is not that of its counterpart; empty
// where names tell of none.
std::string FirstDifference(const Side& sharded, const Side& whole, const Tolerance& said, bool is_said,
                            int64_t collectives) {
  for (const Counterpart& pair : CounterpartsOf(sharded.program.module(), whole.program.module())) {
    std::optional<Program> shorter_whole, shorter_sharded;
    const auto expected = whole.ValueOf(pair.whole, shorter_whole);
    const auto outputs = sharded.ValueOf(pair.partitioned, shorter_sharded);
    if (!expected.ok() || !outputs.ok()) continue;
    const absl::StatusOr<Literal> assembled = AssembleRoot(shorter_whole->verified(), sharded.grid, *outputs);
    if (!assembled.ok()) continue;
    Tolerance tolerance = said;
    const ElementType type = assembled->shape().element_type();
    if (!is_said) tolerance.scale_rtol = ShareOfReordering(type, sharded.grid.size(), collectives);
    if (CompareLiterals((*expected)[0].root, *assembled, tolerance).ok()) continue;
    const auto name = [](const Side& side, int32_t i) {
      const Instruction& instruction =
          side.program.module().entry_computation().instructions[static_cast<size_t>(i)];
      return fmt::format("'%{} = {}'", EscapeControls(instruction.name), Name(instruction.opcode));
    };
    return fmt::format("the first collective behind which they differ is {}, for {} of the whole program\n",
                       name(sharded, pair.partitioned), name(whole, pair.whole));
  }
  return "";
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
  const int64_t collectives = CollectivesOf(sharded->program.module());
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
          ShareOfReordering(wholes[k].second.shape().element_type(), grid->size(), collectives);
    const Comparison comparison = CompareLiterals(wholes[k].second, actual[k].second, tolerance);
    equal = equal && comparison.ok();
    text += fmt::format("{}: {}\n", wholes[k].first, comparison.Report());
  }
  if (!equal) {
    text += FirstDifference({sharded_flags, sharded->program, *grid, *pieces},
                            {whole_flags, whole->program, *whole_grid, *inputs}, said, is_said, collectives);
  }
  if (!Write(text)) return 5;
  return equal ? 0 : 1;
}

}  // namespace assay::cli
