#include "check/isolate/value_sources.h"

#include "evaluator/registry.h"

namespace assay {
namespace {

bool HasArraysOnly(const Shape& shape) {
  for (const Shape* const leaf : LeafShapes(shape)) {
    if (!leaf->IsArray()) return false;
  }
  return true;
}

std::string_view ReasonToLeaveOut(const Computation& computation, const Instruction& instruction) {
  if (HasSideEffect(instruction)) return "it has a side effect, or draws numbers of its own";
  const OpDef& definition = DefinitionOf(instruction.opcode);
  if (definition.gives_async_state || definition.takes_async_state || definition.partner_in_computation)
    return "it is asynchronous";
  bool arrays = HasArraysOnly(*instruction.shape);
  for (const int32_t k : instruction.operands)
    arrays = arrays && HasArraysOnly(*computation.instructions[static_cast<size_t>(k)].shape);
  return arrays ? "" : "it takes or gives a value that is not an array";
}

}  // namespace

ValueSources::ValueSources(const Computation& computation) {
  for (const Instruction& instruction : computation.instructions) Add(computation, instruction);
}

void ValueSources::Add(const Computation& computation, const Instruction& instruction) {
  const int32_t id = static_cast<int32_t>(roles_.size());
  IsolatedAs role = IsolatedAs::kChecked;
  std::string_view why;
  std::vector<ValueId> values;
  switch (instruction.opcode) {
    case Opcode::kParameter:
    case Opcode::kConstant:
      role = IsolatedAs::kGiven;
      break;
    case Opcode::kTuple:
      role = IsolatedAs::kForwarded;
      for (const int32_t k : instruction.operands) values.insert(values.end(), Of(k).begin(), Of(k).end());
      break;
    case Opcode::kGetTupleElement: {
      role = IsolatedAs::kForwarded;
      const int32_t tuple = instruction.operands[0];
      const Shape& shape = *computation.instructions[static_cast<size_t>(tuple)].shape;
      size_t first = 0;
      const int64_t index = instruction.attributes.Int(Attr::kIndex);
      for (int64_t k = 0; k < index; ++k) first += LeafShapes(shape.element(k)).size();
      const size_t size = LeafShapes(shape.element(index)).size();
      for (size_t k = first; k < first + size; ++k) values.push_back(Of(tuple)[k]);
      break;
    }
    default:
      if (DefinitionOf(instruction.opcode).is_identity) {
        role = IsolatedAs::kForwarded;
        values = Of(instruction.operands[0]);
        break;
      }
      why = ReasonToLeaveOut(computation, instruction);
      if (!why.empty()) role = IsolatedAs::kLeftOut;
  }
  if (role != IsolatedAs::kForwarded) {
    const std::vector<const Shape*> leaves = LeafShapes(*instruction.shape);
    for (size_t k = 0; k < leaves.size(); ++k) {
      values.push_back({id, static_cast<int32_t>(k)});
      if (role != IsolatedAs::kGiven && leaves[k]->IsArray()) own_.push_back(values.back());
    }
  }
  roles_.push_back(role);
  why_.push_back(why);
  values_.push_back(std::move(values));
}

int64_t ValueSources::OwnBytes(const Computation& computation) const {
  int64_t bytes = 0;
  for (const ValueId value : own_) {
    const Shape& shape = *computation.instructions[static_cast<size_t>(value.instruction)].shape;
    bytes += LeafShapes(shape)[static_cast<size_t>(value.leaf)]->num_bytes();
  }
  return bytes;
}

}  // namespace assay
