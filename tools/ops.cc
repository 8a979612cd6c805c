// assay ops.
#include <algorithm>

#include "base/file_io.h"
#include "base/json_writer.h"
#include "base/suggestion.h"
#include "custom/compatibility.h"
#include "custom/lapack/lapack_ops.h"
#include "custom/op_document.h"
#include "custom/registry.h"
#include "evaluator/registry.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "hlo/diagnostics.h"
#include "hlo/opcode_names.h"
#include "run/engine_list.h"
#include "tools/commands.h"
#include "tools/specification.h"

namespace assay::cli {
namespace {

constexpr std::string_view kAllEngines = "reference,exact,fast,gpu,gpu-fast";

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

// The choices of --engine that have engines of their own for the op; what they decline is the reference's.
std::string EnginesText(Opcode opcode) {
  std::string text(Name(EngineChoice::kReference));
  std::vector<std::string_view> exact = EnginesFor(opcode, EngineChoice::kExact);
  if (!exact.empty()) text += fmt::format(",{}", Name(EngineChoice::kExact));
  for (const EngineChoice choice : {EngineChoice::kFast, EngineChoice::kGpu, EngineChoice::kGpuFast}) {
    const std::vector<std::string_view> engines = EnginesFor(opcode, choice);
    const bool has_more = std::any_of(engines.begin(), engines.end(), [&](std::string_view engine) {
      return std::find(exact.begin(), exact.end(), engine) == exact.end();
    });
    if (has_more) text += fmt::format(",{}", Name(choice));
  }
  return text;
}

constexpr EngineChoice kAsked[] = {EngineChoice::kExact, EngineChoice::kFast, EngineChoice::kGpu,
                                   EngineChoice::kGpuFast};

// The engines of each choice in the order in which they are asked.
std::string AskedText(Opcode opcode) {
  std::string text;
  for (const EngineChoice choice : kAsked) {
    const std::vector<std::string_view> engines = EnginesFor(opcode, choice);
    if (!engines.empty())
      text += fmt::format("  --engine {:<8} {}\n", Name(choice), fmt::join(engines, ", "));
  }
  return text;
}

std::string Detail(Opcode opcode) {
  const OpDef& op = DefinitionOf(opcode);
  std::string text = fmt::format(
      "{}\n  builder function  {}\n  operands          {}\n  element types     {}\n  engines           {}\n",
      Name(opcode), IdName(opcode), OperandsText(op.operands), TypesText(op.types), EnginesText(opcode));
  text += AskedText(opcode);
  for (const AttrSpec& spec : op.attributes) {
    text += fmt::format("  attribute         {}{}\n", Name(spec.attr), spec.required ? " (required)" : "");
  }
  if (const std::string_view section = SectionOf(Name(opcode)); !section.empty())
    text += fmt::format("\n{}\n", section);
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

// An operation of the table, for tools: what Detail says, as data.
std::string OpJson(Opcode opcode) {
  const OpDef& op = DefinitionOf(opcode);
  std::vector<std::string_view> types;
  for (int i = 0; i < kNumElementTypes; ++i) {
    const ElementType type = static_cast<ElementType>(i);
    if (op.types.Has(type)) types.push_back(Name(type));
  }
  JsonWriter json;
  const auto write_attribute = [&](const AttrSpec& spec) {
    json.Object("name", Name(spec.attr), "required", spec.required);
  };
  const auto write_engines = [&] {
    json.Begin("{");
    for (const EngineChoice choice : kAsked) json.Fields(Name(choice), EnginesFor(opcode, choice));
    json.End("}");
  };
  json.Object(
      "op", Name(opcode), "builder", IdName(opcode), "stablehlo", StableHloName(opcode), "min_operands",
      op.operands.min, "max_operands",
      op.operands.max < 0 ? std::nullopt : std::optional<int>(op.operands.max), "types", types, "attributes",
      [&] { json.Array(op.attributes, write_attribute); }, "engines", write_engines, "rules",
      LabelsOf(Name(opcode)), "section", SectionOf(Name(opcode)));
  return json.text() + "\n";
}

int PrintJson(const custom::OpSet& ops, const std::string& op) {
  if (const std::optional<Opcode> opcode = OpcodeFromName(op); opcode && ops.FindOp(op) == nullptr)
    return Deliver(OpJson(*opcode));
  std::vector<custom::OpInterface> interfaces;
  for (const auto& [name, registered] : ops.ops()) {
    if (op.empty() || name == op) interfaces.push_back(registered->interface());
  }
  if (interfaces.empty() && !op.empty())
    return UsageError(fmt::format("there is no registered operation '{}'", EscapeControls(op)));
  return Write(custom::InterfacesToJson(interfaces)) ? 0 : 5;
}

int PrintWrappers(const OpsFlags& flags) {
  custom::OpRegistry registry;
  if (const absl::Status status = LoadLibraries(flags, registry); !status.ok())
    return Fail(status, "assay ops");
  std::string text;
  for (const auto& [name, registered] : registry.ops()->ops()) {
    const custom::OpInterface& op = registered->interface();
    text += (flags.wrappers == "cpp" ? custom::CppWrapper(op) : custom::PythonWrapper(op)) + "\n";
  }
  return Deliver(text);
}

// What --json and OP may name, for suggestions.
std::vector<std::string> NamesFor(const custom::OpSet& ops) {
  std::vector<std::string> names = OpcodeNames();
  for (const std::string& target : custom::LapackTargets()) names.push_back(target);
  for (const auto& [name, registered] : ops.ops()) names.push_back(name);
  for (std::string& label : AllLabels()) names.push_back(std::move(label));
  return names;
}

int PrintOps(const OpsFlags& flags) {
  const std::string& op = flags.op;
  custom::OpRegistry registry;
  if (const absl::Status status = LoadLibraries(flags, registry); !status.ok())
    return Fail(status, "assay ops");
  const std::shared_ptr<const custom::OpSet> ops = registry.ops();
  if (flags.json) return PrintJson(*ops, op);
  if (!op.empty()) {
    if (const custom::RegisteredOp* const registered = ops->FindOp(op))
      return Deliver(custom::DocumentOf(registered->interface()) + KernelsText(*registered));
    if (custom::LapackOps()->Find(op) != nullptr) return Deliver(LapackDetail(op));
    if (const std::optional<Opcode> opcode = OpcodeFromName(op)) return Deliver(Detail(*opcode));
    if (const std::string_view rule = ParagraphOf(op); !rule.empty())
      return Deliver(fmt::format("{}\n", rule));
    return UsageError(fmt::format("there is no operation and no rule '{}'{}", EscapeControls(op),
                                  EscapeControls(DidYouMean(op, NamesFor(*ops)))));
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

}  // namespace

bool KnowsOp(const std::string& name) {
  return OpcodeFromName(name).has_value() || custom::LapackOps()->Find(name) != nullptr ||
         !ParagraphOf(name).empty();
}

int Ops(const OpsFlags& flags) {
  if (!flags.wrappers.empty()) return PrintWrappers(flags);
  if (flags.lists_lapack) return PrintLapackCalls();
  return flags.compatible.empty() ? PrintOps(flags) : CompareOps(flags.compatible[0], flags.compatible[1]);
}

}  // namespace assay::cli
