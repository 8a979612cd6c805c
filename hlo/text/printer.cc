// Module to canonical HLO text (docs/spec/hlo-text.md section 8): what XLA's printer writes with its default
// options and large constants, but for negative zero and for what its own parser would read as something
// else. Order and async sugar: print_order.cc; attribute values: print_values.cc; which attributes stand on
// an instruction: print_attributes.cc; the module's first line: print_header.cc.
#include "hlo/text/printer.h"

#include <utility>

#include "base/hash_map.h"
#include "hlo/op_syntax.h"
#include "hlo/text/print_attributes.h"
#include "hlo/text/print_header.h"
#include "hlo/text/print_order.h"
#include "hlo/text/print_values.h"
#include "literal/literal_text.h"
#include "shape/shape_text.h"

namespace assay {
namespace {

using print::AppendListSeparator;

// Names as the parser takes them: legal, and each once.
std::vector<std::string> PrintedNames(const std::vector<std::string_view>& names) {
  std::vector<std::string> printed;
  printed.reserve(names.size());
  HashSet<std::string> used;
  for (const std::string_view name : names) {
    printed.push_back(print::IsLegalName(name) ? std::string(name) : std::string());
    // The first owner of a legal name keeps it, wherever a sanitised one might fall.
    if (!printed.back().empty() && !used.insert(printed.back()).second) printed.back().clear();
  }
  HashMap<std::string, int> next_suffix;
  for (size_t i = 0; i < names.size(); ++i) {
    if (!printed[i].empty()) continue;
    const std::string base = print::SanitizedName(names[i]);
    std::string unique = base;
    int& suffix = next_suffix[base];
    while (!used.insert(unique).second) unique = base + "." + std::to_string(++suffix);
    printed[i] = std::move(unique);
  }
  return printed;
}

std::vector<std::string> ComputationNames(const Module& module) {
  std::vector<std::string_view> names;
  names.reserve(module.computations.size());
  for (const Computation& computation : module.computations) names.push_back(computation.name);
  return PrintedNames(names);
}

std::vector<std::string> InstructionNames(const Computation& computation) {
  std::vector<std::string_view> names;
  names.reserve(computation.instructions.size());
  for (const Instruction& instruction : computation.instructions) names.push_back(instruction.name);
  return PrintedNames(names);
}

// The async-start that each instruction belongs to (itself for a start) if it is written with sugar.
std::vector<int32_t> SugaredStarts(const Computation& computation, const std::vector<bool>& sugared) {
  std::vector<int32_t> starts(computation.instructions.size(), -1);
  for (size_t i = 0; i < starts.size(); ++i) {
    const Instruction& instruction = computation.instructions[i];
    if (instruction.opcode == Opcode::kAsyncStart) {
      const auto callee = instruction.attributes.Computation(Attr::kCalls);
      if (callee && sugared[callee->value]) starts[i] = static_cast<int32_t>(i);
    } else if (Has(instruction.opcode, Syntax::kContinuesAsync)) {
      if (!instruction.operands.empty()) starts[i] = starts[instruction.operands[0]];
    }
  }
  return starts;
}

std::string_view AsyncSuffix(Opcode opcode) {
  const std::string_view name = Name(opcode);  // "async-start"
  return name.substr(name.find('-'));
}

struct InstructionPrinter {
  const Module& module;
  const Computation& computation;
  const std::vector<std::string>& computation_names;
  const std::vector<std::string>& names;
  print::FrameNumbering* frames;

  // `sugared_start`: of an async op that is written "<op>-start"; else -1.
  void Append(int32_t index, int32_t sugared_start, std::string& out) const {
    const Instruction& instruction = computation.instructions[index];
    if (index == computation.root) out += "ROOT ";
    out += "%" + names[index] + " = ";
    if (instruction.shape != nullptr)
      out += ShapeToText(*PrintedShape(instruction), LayoutText::kAlways) + " ";
    const Instruction* wrapped = nullptr;
    if (sugared_start >= 0) {
      const auto callee = computation.instructions[sugared_start].attributes.Computation(Attr::kCalls);
      wrapped = &module.computation(*callee).root_instruction();
      out += Name(wrapped->opcode);
      out += AsyncSuffix(instruction.opcode);
    } else {
      out += Name(instruction.opcode);
    }
    AppendOperands(instruction, out);
    print::AppendAttributes({module, computation, instruction, wrapped, computation_names, names, frames},
                            out);
  }

  void AppendOperands(const Instruction& instruction, std::string& out) const {
    out += "(";
    if (instruction.opcode == Opcode::kParameter) {
      out += std::to_string(instruction.parameter_number);
    } else if (instruction.opcode == Opcode::kConstant) {
      out += instruction.literal == nullptr ? "{...}" : LiteralToText(*instruction.literal);
    } else {
      for (size_t i = 0; i < instruction.operands.size(); ++i) {
        AppendListSeparator(i, out);
        out += "%" + names[instruction.operands[i]];
      }
    }
    out += ")";
  }
};

// "(a: f32[2], b: f32[]) -> f32[2]"
void AppendSignature(const Computation& computation, const std::vector<std::string>& names,
                     std::string& out) {
  out += "(";
  bool first = true;
  for (const int32_t parameter : computation.parameters) {
    if (parameter < 0) continue;
    if (!first) out += ", ";
    first = false;
    out += names[parameter] + ": ";
    const auto& shape = computation.instructions[parameter].shape;
    if (shape != nullptr) out += ShapeToText(*shape, LayoutText::kNone);
  }
  out += ") -> ";
  const auto& shape = PrintedShape(computation.root_instruction());
  if (shape != nullptr) out += ShapeToText(*shape, LayoutText::kNone);
}

void AppendComputation(const Module& module, ComputationId id, const std::vector<int32_t>& order,
                       const std::vector<std::string>& computation_names, const std::vector<bool>& sugared,
                       std::string_view thread, print::FrameNumbering& frames, std::string& out) {
  const Computation& computation = module.computation(id);
  const std::vector<std::string> names = InstructionNames(computation);
  const std::vector<int32_t> starts = SugaredStarts(computation, sugared);
  if (id == module.entry) out += "ENTRY ";
  out += "%" + computation_names[id.value] + " ";
  AppendSignature(computation, names, out);
  out += " {\n";
  const InstructionPrinter printer{module, computation, computation_names, names, &frames};
  for (const int32_t index : order) {
    out += "  ";
    printer.Append(index, starts[index], out);
    out += "\n";
  }
  out += "}";
  if (!thread.empty()) {
    out += ", execution_thread=";
    print::AppendQuoted(thread, out);
  }
  out += "\n\n";
}

}  // namespace

std::string ModuleToText(const Module& module) {
  const auto names = ComputationNames(module);
  const auto sugared = print::SugaredComputations(module);
  const auto threads = print::ExecutionThreads(module);
  const auto orders = print::InstructionOrders(module);
  print::FrameNumbering frames(module.frame_tables);
  std::string computations;
  for (const ComputationId id : print::ComputationOrder(module, orders)) {
    if (sugared[id.value]) continue;
    AppendComputation(module, id, orders[id.value], names, sugared, threads[id.value], frames, computations);
  }
  std::string out;
  print::AppendModuleHeader(module, frames.tables(), out);
  out += computations;
  return out;
}

std::string InstructionToText(const Module& module, const Computation& computation,
                              const Instruction& instruction) {
  const auto index = static_cast<int32_t>(&instruction - computation.instructions.data());
  const auto computation_names = ComputationNames(module);
  const auto names = InstructionNames(computation);
  std::string out;
  const int32_t start = print::AsyncStartOf(computation, index);
  const bool sugar = start >= 0 && SugaredStarts(computation, print::SugaredComputations(module))[index] >= 0;
  InstructionPrinter{module, computation, computation_names, names, nullptr}.Append(index, sugar ? start : -1,
                                                                                    out);
  return out;
}

std::vector<std::string> InstructionsToText(const Module& module, const Computation& computation) {
  const auto computation_names = ComputationNames(module);
  const auto names = InstructionNames(computation);
  const std::vector<int32_t> starts = SugaredStarts(computation, print::SugaredComputations(module));
  const InstructionPrinter printer{module, computation, computation_names, names, nullptr};
  std::vector<std::string> texts(computation.instructions.size());
  for (size_t k = 0; k < texts.size(); ++k) printer.Append(static_cast<int32_t>(k), starts[k], texts[k]);
  return texts;
}

}  // namespace assay
