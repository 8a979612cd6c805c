#include "check/mapped_computation.h"

#include <utility>

#include "evaluator/registry.h"

namespace assay {

std::optional<Computation> MappedOver(const Computation& computation, const Shape& sizes) {
  Computation mapped;
  mapped.name = computation.name;
  mapped.parameters.resize(computation.parameters.size());
  std::vector<int32_t> written;  // by instruction
  const auto write = [&](Instruction instruction) {
    Shape shape = sizes;
    shape.set_element_type(instruction.shape->element_type());
    instruction.shape = std::make_shared<const Shape>(std::move(shape));
    mapped.instructions.push_back(std::move(instruction));
    return static_cast<int32_t>(mapped.instructions.size()) - 1;
  };
  for (const Instruction& instruction : computation.instructions) {
    if (!instruction.shape->IsScalar()) return std::nullopt;
    Instruction copy = instruction;
    for (int32_t& operand : copy.operands) operand = written[static_cast<size_t>(operand)];
    if (instruction.opcode == Opcode::kConstant) {
      mapped.instructions.push_back(std::move(copy));
      Instruction spread(Opcode::kBroadcast);
      spread.name = instruction.name + "~spread";
      spread.attributes.Set(Attr::kDimensions, Ints{});
      spread.operands = {static_cast<int32_t>(mapped.instructions.size()) - 1};
      spread.shape = instruction.shape;
      written.push_back(write(std::move(spread)));
      continue;
    }
    const bool is_parameter = instruction.opcode == Opcode::kParameter;
    if (!is_parameter && DefinitionOf(instruction.opcode).strip == nullptr) return std::nullopt;
    written.push_back(write(std::move(copy)));
    if (is_parameter) mapped.parameters[static_cast<size_t>(instruction.parameter_number)] = written.back();
  }
  mapped.root = written[static_cast<size_t>(computation.root)];
  return mapped;
}

}  // namespace assay
