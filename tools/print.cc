// assay verify, print, plan.
#include <utility>

#include "hlo/diagnostics.h"
#include "hlo/load/load.h"
#include "hlo/mlir/export/export.h"
#include "hlo/proto/export.h"
#include "hlo/text/printer.h"
#include "plan/plan_text.h"
#include "tools/commands.h"

namespace assay::cli {
namespace {

absl::StatusOr<std::string> Printed(const PrintFlags& flags, const LoadedProgram& loaded) {
  const Module& module = loaded.program.as_written();
  if (loaded.program.has_free_dimensions()) {
    if (flags.form != "mlir" || flags.refine) return LacksShapes(module);
    ASSAY_ASSIGN_OR_RETURN(std::optional<std::string> as_read,
                           FreeProgramText(flags.program, loaded.OwnText()));
    return std::move(as_read).value_or("");
  }
  if (flags.form == "hlo") return ModuleToText(module);
  if (flags.form == "pb") return ExportProto(module);
  ASSAY_ASSIGN_OR_RETURN(std::optional<std::string> quantized,
                         QuantizedProgramText(flags.program, loaded.OwnText()));
  return quantized ? *std::move(quantized) : ExportStableHlo(module);
}

}  // namespace

int VerifyProgram(const ProgramFlags& flags) {
  return ForEachProgram(flags, [](const LoadedProgram&, size_t) { return 0; });
}

// One program after the other, as the file has them.
int Print(const PrintFlags& flags) {
  bool is_first = true;
  return ForEachProgram(flags, [&](const LoadedProgram& loaded, size_t count) {
    if (flags.form == "pb" && count > 1)
      return std::exchange(is_first, false) ? WantsOneProgram(flags, loaded.text) : 2;
    const absl::StatusOr<std::string> text = Printed(flags, loaded);
    if (!text.ok()) return FailIn(loaded, text.status(), flags.program);
    // A module in HLO text ends with an empty line.
    const bool has_separator = !std::exchange(is_first, false) && flags.form == "mlir";
    return Deliver((has_separator ? "\n// -----\n\n" : "") + *text);
  });
}

int PrintPlan(const EngineFlags& flags) {
  if (const absl::Status status = CheckEngine(flags); !status.ok()) return Fail(status, flags.program);
  int exit_code = 0;
  const std::optional<LoadedProgram> loaded = Load(flags, exit_code);
  if (!loaded) return exit_code;
  const absl::StatusOr<std::shared_ptr<const Plan>> plan = loaded->program.PlanFor(EnginesOf(flags));
  if (!plan.ok()) return Fail(plan.status(), flags.program, loaded->text);
  return Deliver(PlanToText(**plan, IdleEnginesOf(flags)));
}

}  // namespace assay::cli
