// assay verify, print, plan, ops.
#include <algorithm>

#include "engines/approximate/functions.h"
#include "engines/native/native_engine.h"
#include "evaluator/registry.h"
#include "fmt/format.h"
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

std::string TypesText(TypeSet types) {
  if (types == kArrayTypes) return "all array types";
  std::string text;
  for (int i = 0; i < kNumElementTypes; ++i) {
    const ElementType type = static_cast<ElementType>(i);
    if (types.Has(type)) text += (text.empty() ? "" : " ") + std::string(Name(type));
  }
  return text.empty() ? "no array operand" : text;
}

std::string OperandsText(const Arity& arity) {
  if (arity.max == arity.min) return fmt::format("{}", arity.min);
  return arity.max < 0 ? fmt::format("{} or more", arity.min) : fmt::format("{} to {}", arity.min, arity.max);
}

// Who has code of his own for it; every engine leaves the rest to the reference.
std::string EnginesText(Opcode opcode) {
  const OpDef& op = DefinitionOf(opcode);
  const bool jit_or_loop = op.from_index || op.arguments == Arguments::kElements || opcode == Opcode::kWhile;
  if (!jit_or_loop && !native::HasKernelFor(opcode)) return "reference";
  const std::span<const approximate::ApproximateFunction> approximations =
      approximate::ApproximateFunctions(MachineIsa());
  const bool is_fast =
      op.sum.of == SumDef::Of::kProducts ||
      std::any_of(approximations.begin(), approximations.end(),
                  [&](const approximate::ApproximateFunction& row) { return row.opcode == opcode; });
  return is_fast ? "reference,exact,fast" : "reference,exact";
}

std::string Detail(Opcode opcode) {
  const OpDef& op = DefinitionOf(opcode);
  std::string text = fmt::format(
      "{}\n  builder function  {}\n  operands          {}\n  element types     {}\n  engines           {}\n",
      Name(opcode), IdName(opcode), OperandsText(op.operands), TypesText(op.types), EnginesText(opcode));
  for (const AttrSpec& spec : op.attributes) {
    text += fmt::format("  attribute         {}{}\n", Name(spec.attr), spec.required ? " (required)" : "");
  }
  return text;
}

}  // namespace

int VerifyProgram(const std::string& program) {
  RunFlags flags;
  flags.program = program;
  return ForEachProgram(flags, [](const ProgramInFile&, size_t) { return 0; });
}

int Print(const std::string& program, const std::string& form) {
  int exit_code = 0;
  RunFlags flags;
  flags.program = program;
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

int PrintOps(const std::string& op) {
  if (!op.empty()) {
    const std::optional<Opcode> opcode = OpcodeFromName(op);
    return opcode ? Deliver(Detail(*opcode))
                  : UsageError(fmt::format("there is no operation '{}'", EscapeControls(op)));
  }
  std::string text;
  for (int i = 0; i < kNumOpcodes; ++i) {
    const Opcode opcode = static_cast<Opcode>(i);
    text += fmt::format("{:<26} {:<20}  {}\n", Name(opcode), EnginesText(opcode),
                        TypesText(DefinitionOf(opcode).types));
  }
  return Deliver(text);
}

}  // namespace assay::cli
