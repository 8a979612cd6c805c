#include "plan/inline_maps.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "evaluator/elementwise.h"
#include "evaluator/registry.h"
#include "evaluator/steps.h"

namespace assay {
namespace {

bool IsStatic(const Shape& shape) { return shape.IsArray() && !shape.HasDynamic() && !shape.HasUnbounded(); }

std::vector<bool> NeededByRoot(const Computation& body) {
  std::vector<bool> needed(body.instructions.size(), false);
  needed[static_cast<size_t>(body.root)] = true;
  for (size_t i = needed.size(); i-- > 0;) {
    if (!needed[i]) continue;
    for (int32_t operand : body.instructions[i].operands) needed[static_cast<size_t>(operand)] = true;
  }
  return needed;
}

// A scalar that stays as it is.
bool IsMove(const Computation& body, const Instruction& instruction) {
  const OpDef& op = DefinitionOf(instruction.opcode);
  return (op.source != nullptr || op.is_identity) &&
         body.instructions[static_cast<size_t>(instruction.operands[0])].shape->element_type() ==
             instruction.shape->element_type();
}

bool IsElementwise(const Computation& body, const Instruction& instruction) {
  const StripFor strip = DefinitionOf(instruction.opcode).strip;
  if (strip == nullptr || instruction.operands.empty()) return false;
  absl::InlinedVector<ElementType, 3> types;
  for (int32_t operand : instruction.operands)
    types.push_back(body.instructions[static_cast<size_t>(operand)].shape->element_type());
  return strip(instruction, types, instruction.shape->element_type()).fn != nullptr;
}

int32_t Append(Instruction instruction, Computation& result) {
  result.instructions.push_back(std::move(instruction));
  return static_cast<int32_t>(result.instructions.size()) - 1;
}

// An instruction of one operand that stands for `instruction` in messages.
Instruction InPlaceOf(const Instruction& instruction, Opcode opcode, std::shared_ptr<const Shape> shape,
                      int32_t operand) {
  Instruction made(opcode);
  made.position = instruction.position;
  made.name = instruction.name;
  made.shape = std::move(shape);
  made.operands = {operand};
  return made;
}

std::shared_ptr<const Shape> Spread(const Shape& scalar, const Shape& array) {
  return std::make_shared<const Shape>(Shape::ArrayOrDie(scalar.element_type(), array.sizes()));
}

}  // namespace

bool CanInlineMap(const Computation& body, const Instruction& map) {
  // The widest elements that an op in between may have.
  if (!IsStatic(*map.shape) || !Shape::Array(ElementType::kC128, map.shape->sizes()).ok()) return false;
  const std::vector<bool> needed = NeededByRoot(body);
  for (size_t i = 0; i < needed.size(); ++i) {
    const Instruction& instruction = body.instructions[i];
    if (!needed[i]) continue;
    if (!instruction.shape->IsScalar() || !instruction.control_predecessors.empty()) return false;
    const bool is_value = instruction.opcode == Opcode::kParameter ||
                          (instruction.opcode == Opcode::kConstant && instruction.literal != nullptr);
    if (!is_value && !IsMove(body, instruction) && !IsElementwise(body, instruction)) return false;
  }
  return true;
}

int32_t InsertMap(const Computation& body, const Computation& caller, const Instruction& map,
                  std::span<const int32_t> places, Computation& result) {
  const size_t begin = result.instructions.size();
  const std::vector<bool> needed = NeededByRoot(body);
  std::vector<int32_t> inner(body.instructions.size(), -1);
  for (size_t i = 0; i < inner.size(); ++i) {
    const Instruction& instruction = body.instructions[i];
    if (!needed[i]) continue;
    if (instruction.opcode == Opcode::kParameter) {
      inner[i] = places[static_cast<size_t>(map.operands[static_cast<size_t>(instruction.parameter_number)])];
    } else if (IsMove(body, instruction)) {
      inner[i] = inner[static_cast<size_t>(instruction.operands[0])];
    } else {
      Instruction copy = instruction;
      for (int32_t& operand : copy.operands) operand = inner[static_cast<size_t>(operand)];
      if (copy.opcode != Opcode::kConstant) copy.shape = Spread(*copy.shape, *map.shape);
      inner[i] = Append(std::move(copy), result);
      if (instruction.opcode == Opcode::kConstant && map.shape->rank() > 0) {
        Instruction broadcast =
            InPlaceOf(instruction, Opcode::kBroadcast, Spread(*instruction.shape, *map.shape), inner[i]);
        broadcast.attributes.Set(Attr::kDimensions, Ints{});
        inner[i] = Append(std::move(broadcast), result);
      }
    }
  }
  int32_t value = inner[static_cast<size_t>(body.root)];
  if (!Shape::Equal(*result.instructions[static_cast<size_t>(value)].shape, *map.shape)) {
    // A parameter of another layout, or a layout that the map alone has.
    value = Append(InPlaceOf(map, Opcode::kCopy, map.shape, value), result);
  }
  int64_t counts = CountsOf(caller, map);
  for (size_t i = begin; i < result.instructions.size(); ++i)
    counts = AddCounts(counts, -CountsOf(result, result.instructions[i]));
  result.inlined_steps = AddCounts(*result.inlined_steps, counts);
  return value;
}

}  // namespace assay
