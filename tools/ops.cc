// assay ops.
#include <algorithm>

#include "base/file_io.h"
#include "custom/compatibility.h"
#include "custom/lapack/lapack_ops.h"
#include "custom/op_document.h"
#include "custom/registry.h"
#include "engines/approximate/functions.h"
#include "engines/native/native_engine.h"
#include "evaluator/registry.h"
#include "fmt/format.h"
#include "hlo/diagnostics.h"
#include "tools/commands.h"

namespace assay::cli {
namespace {

constexpr std::string_view kAllEngines = "reference,exact,fast";

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

std::string KernelsText(const custom::RegisteredOp& op) {
  std::string text;
  for (const custom::KernelDef& kernel : op.kernels())
    text += fmt::format("  kernel            {}\n", kernel.Text());
  if (op.kernels().empty()) text = "  kernel            none\n";
  const custom::GradientFunction* const gradient = op.gradient();
  text += fmt::format("  gradient          {}\n", gradient == nullptr          ? "none"
                                                  : gradient->build == nullptr ? "zero (not differentiable)"
                                                                               : "registered");
  return text;
}

// A custom call that JAX's linear algebra makes of a program.
std::string LapackDetail(const std::string& target) {
  return fmt::format(
      "{}\n  custom call of JAX's linear algebra (docs/linear_algebra.md)\n  engines           {}\n", target,
      kAllEngines);
}

int PrintJson(const custom::OpSet& ops, const std::string& op) {
  std::vector<custom::OpInterface> interfaces;
  for (const auto& [name, registered] : ops.ops()) {
    if (op.empty() || name == op) interfaces.push_back(registered->interface());
  }
  if (interfaces.empty() && !op.empty())
    return UsageError(fmt::format("there is no registered operation '{}'", EscapeControls(op)));
  return Write(custom::InterfacesToJson(interfaces)) ? 0 : 5;
}

}  // namespace

int PrintWrappers(const std::string& language, const RunFlags& flags) {
  custom::OpRegistry registry;
  if (const absl::Status status = LoadLibraries(flags, registry); !status.ok())
    return Fail(status, "assay ops");
  std::string text;
  for (const auto& [name, registered] : registry.ops()->ops()) {
    const custom::OpInterface& op = registered->interface();
    text += (language == "cpp" ? custom::CppWrapper(op) : custom::PythonWrapper(op)) + "\n";
  }
  return Deliver(text);
}

int PrintOps(const std::string& op, const RunFlags& flags) {
  custom::OpRegistry registry;
  if (const absl::Status status = LoadLibraries(flags, registry); !status.ok())
    return Fail(status, "assay ops");
  const std::shared_ptr<const custom::OpSet> ops = registry.ops();
  if (flags.json) return PrintJson(*ops, op);
  if (!op.empty()) {
    if (const custom::RegisteredOp* const registered = ops->FindOp(op))
      return Deliver(custom::DocumentOf(registered->interface()) + KernelsText(*registered));
    if (custom::LapackOps()->Find(op) != nullptr) return Deliver(LapackDetail(op));
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
  for (const auto& [name, registered] : ops->ops())
    text += fmt::format("{:<26} {:<20}  {}\n", name, kAllEngines, "registered by a library");
  return Deliver(text);
}

int PrintLapackCalls() {
  std::string text;
  for (const std::string& target : custom::LapackTargets())
    text += fmt::format("{:<26} {:<20}  {}\n", target, kAllEngines, "custom call of JAX's linear algebra");
  return Deliver(text);
}

int CompareOps(const std::string& older, const std::string& newer) {
  std::vector<custom::OpInterface> lists[2];
  for (int i = 0; i < 2; ++i) {
    const std::string& path = i == 0 ? older : newer;
    const absl::StatusOr<std::string> json = ReadFile(path);
    if (!json.ok()) return Fail(json.status(), path);
    absl::StatusOr<std::vector<custom::OpInterface>> ops = custom::InterfacesFromJson(*json);
    if (!ops.ok()) return Fail(ops.status(), path, *json);
    lists[i] = *std::move(ops);
  }
  const std::vector<custom::Incompatibility> unsafe = custom::UnsafeChanges(lists[0], lists[1]);
  std::string text;
  for (const custom::Incompatibility& change : unsafe)
    text += fmt::format("{}: {}: {}\n", change.op, change.rule, change.text);
  if (!Write(text)) return 5;
  return unsafe.empty() ? 0 : 1;
}

}  // namespace assay::cli
