// assay verify, print, plan.
#include "hlo/diagnostics.h"
#include "hlo/load/load.h"
#include "hlo/mlir/export.h"
#include "hlo/proto/export.h"
#include "hlo/text/printer.h"
#include "plan/plan_text.h"
#include "tools/commands.h"

namespace assay::cli {
namespace {

int Deliver(std::string_view text) { return Write(text) ? 0 : 5; }

}  // namespace

int VerifyProgram(const RunFlags& flags) {
  return ForEachProgram(flags, [](const ProgramInFile&, size_t) { return 0; });
}

int Print(const RunFlags& flags, const std::string& form) {
  int exit_code = 0;
  const std::string& program = flags.program;
  const std::optional<ProgramInFile> loaded = Load(flags, exit_code);
  if (!loaded) return exit_code;
  const Module& module = loaded->program.module();
  if (form == "hlo") return Deliver(ModuleToText(module));
  if (form == "mlir") {
    const auto quantized = QuantizedProgramText(program, loaded->text);
    if (!quantized.ok()) return Fail(quantized.status(), program, loaded->text);
    if (*quantized) return Deliver(**quantized);
  }
  const absl::StatusOr<std::string> bytes = form == "mlir" ? ExportStableHlo(module) : ExportProto(module);
  return bytes.ok() ? Deliver(*bytes) : Fail(bytes.status(), program, loaded->text);
}

int PrintPlan(const RunFlags& flags) {
  if (const absl::Status status = CheckEngine(flags); !status.ok()) return Fail(status, flags.program);
  int exit_code = 0;
  const std::optional<ProgramInFile> loaded = Load(flags, exit_code);
  if (!loaded) return exit_code;
  const absl::StatusOr<std::shared_ptr<const Plan>> plan = loaded->program.PlanFor(EnginesOf(flags));
  if (!plan.ok()) return Fail(plan.status(), flags.program, loaded->text);
  return Deliver(PlanToText(**plan));
}

}  // namespace assay::cli
