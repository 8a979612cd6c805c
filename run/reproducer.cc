#include "run/reproducer.h"

#include <algorithm>
#include <fstream>
#include <set>

#include "base/file_io.h"
#include "base/new_folder.h"
#include "fmt/format.h"
#include "hlo/text/printer.h"
#include "literal/npz.h"
#include "run/inputs/program_io.h"

namespace assay {
namespace {

// Calls fn for every reference to a computation.
template <typename Fn>
void ForEachCalled(Instruction& instruction, Fn fn) {
  std::vector<Attr> attrs;
  for (const AttributeMap::Entry& entry : instruction.attributes.entries()) attrs.push_back(entry.attr);
  for (Attr attr : attrs) {
    AttrValue* const value = instruction.attributes.FindMutable(attr);
    if (auto* const id = std::get_if<ComputationId>(value)) fn(*id);
    if (auto* const ids = std::get_if<std::vector<ComputationId>>(value)) {
      for (ComputationId& id : *ids) fn(id);
    }
  }
}

// Copies the computations that the instructions call, and those that these call, to `target`;
// ids are changed to theirs.
void CopyCalled(const Module& source, std::vector<Instruction>& instructions, Module& target) {
  std::vector<bool> needed(source.computations.size(), false);
  for (Instruction& instruction : instructions)
    ForEachCalled(instruction, [&](ComputationId id) { needed[id.value] = true; });
  for (size_t c = source.computations.size(); c-- > 0;) {
    if (!needed[c]) continue;
    for (const Instruction& instruction : source.computations[c].instructions) {
      for (ComputationId id : CalledComputations(instruction)) needed[id.value] = true;
    }
  }
  std::vector<int32_t> moved(source.computations.size(), -1);
  const auto move = [&](ComputationId& id) { id.value = moved[id.value]; };
  for (size_t c = 0; c < source.computations.size(); ++c) {
    if (!needed[c]) continue;
    moved[c] = static_cast<int32_t>(target.computations.size());
    target.computations.push_back(source.computations[c]);
    for (Instruction& instruction : target.computations.back().instructions) ForEachCalled(instruction, move);
  }
  for (Instruction& instruction : instructions) ForEachCalled(instruction, move);
}

// The first line of /proc/cpuinfo that starts with `key`.
std::string CpuInfo(std::string_view key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(key)) return line;
  }
  return "";
}

absl::Status WriteFiles(const std::string& dir, const std::string& readme, const WrongStep& step) {
  const StepValues& values = step.values;
  NamedLiterals inputs;
  for (size_t k = 0; k < values.values.size(); ++k) {
    for (auto& leaf : LeavesOf(fmt::format("arg{}", k), values.values[k])) inputs.push_back(std::move(leaf));
  }
  const Module module = ModuleOfStep(step.module, values.computation, values.members, values.operands);
  ASSAY_RETURN_IF_ERROR(WriteFileAtomically(dir + "/program.hlo", ModuleToText(module)));
  ASSAY_RETURN_IF_ERROR(WriteNpzFile(dir + "/inputs.npz", inputs));
  NamedLiterals expected = ResultsOf(step.expected);
  if (const int64_t n = static_cast<int64_t>(step.positions.size()); n > 0)
    expected.emplace_back("positions", Literal::FromInts(ElementType::kS64, {&n, 1}, step.positions));
  ASSAY_RETURN_IF_ERROR(WriteNpzFile(dir + "/expected.npz", expected));
  ASSAY_RETURN_IF_ERROR(WriteNpzFile(dir + "/actual.npz", ResultsOf(step.actual)));
  return WriteFileAtomically(dir + "/README", readme);
}

std::string CommandFor(const std::string& dir, const RunOptions& options) {
  return fmt::format("assay run {0}/program.hlo --inputs {0}/inputs.npz {1} --crosscheck full", dir,
                     options.repro_flags);
}

std::string ReadmeFor(const absl::Status& failure, const std::string& dir, const RunOptions& options) {
  return fmt::format("{}\n\n{}\n\nflags: {}\n{}\n{}\n",
                     std::string_view(failure.message().data(), failure.message().size()),
                     CommandFor(dir, options), options.repro_flags, CpuInfo("model name"), CpuInfo("flags"));
}

absl::StatusOr<std::string> WriteDirectory(const absl::Status& failure, const WrongStep& step,
                                           const RunOptions& options) {
  return WriteNewFolder(options.repro_dir, [&](const std::string& folder, const std::string& name) {
    return WriteFiles(folder, ReadmeFor(failure, name, options), step);
  });
}

}  // namespace

Module ModuleOfStep(const Module& module, const Computation& computation, std::span<const int32_t> members,
                    std::span<const int32_t> operands) {
  Module step;
  step.custom_ops = module.custom_ops;
  step.frontend_attributes = module.frontend_attributes;  // the meshes that shardings name
  step.name = "wrong_step";
  Computation entry;
  entry.name = "main";
  std::set<std::string> names;
  for (int32_t member : members) names.insert(computation.instructions[member].name);
  std::vector<int32_t> moved(computation.instructions.size(), -1);
  for (size_t k = 0; k < operands.size(); ++k) {
    Instruction parameter;
    parameter.opcode = Opcode::kParameter;
    parameter.parameter_number = static_cast<int64_t>(k);
    parameter.shape = computation.instructions[operands[k]].shape;
    parameter.name = fmt::format("arg{}", k);
    while (!names.insert(parameter.name).second) parameter.name += '_';
    moved[operands[k]] = static_cast<int32_t>(entry.instructions.size());
    entry.parameters.push_back(moved[operands[k]]);
    entry.instructions.push_back(std::move(parameter));
  }
  std::vector<Instruction> body;
  names.clear();
  for (const Instruction& parameter : entry.instructions) names.insert(parameter.name);
  for (int32_t member : members) {
    moved[member] = static_cast<int32_t>(entry.instructions.size() + body.size());
    Instruction instruction = computation.instructions[member];
    instruction.control_predecessors.clear();
    // Inlined calls of one function have instructions of the same names (inline_calls.h).
    while (!names.insert(instruction.name).second) instruction.name += '_';
    for (int32_t& operand : instruction.operands) operand = moved[operand];
    body.push_back(std::move(instruction));
  }
  CopyCalled(module, body, step);
  while (std::any_of(step.computations.begin(), step.computations.end(),
                     [&](const Computation& c) { return c.name == entry.name; }))
    entry.name += '_';
  for (Instruction& instruction : body) entry.instructions.push_back(std::move(instruction));
  entry.root = static_cast<int32_t>(entry.instructions.size()) - 1;
  step.entry.value = static_cast<int32_t>(step.computations.size());
  step.computations.push_back(std::move(entry));
  return step;
}

absl::Status WithReproducer(const absl::Status& failure, const WrongStep& step, const RunOptions& options) {
  const absl::StatusOr<std::string> dir = WriteDirectory(failure, step, options);
  if (!dir.ok()) {
    return WithSuffix(
        failure, fmt::format("; no reproducer could be written: {}",
                             std::string_view(dir.status().message().data(), dir.status().message().size())));
  }
  return WithSuffix(failure, fmt::format("; to repeat this step alone: {}", CommandFor(*dir, options)));
}

}  // namespace assay
