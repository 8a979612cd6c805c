#include "hlo/group_mode.h"

namespace assay {
namespace {

bool ShowsOrder(const Module& module, ComputationId id) {
  const Computation& reducer = module.computation(id);
  const Instruction& root = reducer.root_instruction();
  if (reducer.instructions.size() != 3 || root.operands.size() != 2) return true;
  const ElementType type = root.shape->IsArray() ? root.shape->element_type() : ElementType::kPred;
  switch (root.opcode) {
    case Opcode::kAdd:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
      return root.operands[0] == root.operands[1];
    case Opcode::kMaximum:
    case Opcode::kMinimum:
      return root.operands[0] == root.operands[1] || IsComplex(type);
    case Opcode::kMultiply:
      return root.operands[0] == root.operands[1] || IsFloat(type) || IsComplex(type);
    default:
      return true;
  }
}

}  // namespace

bool ShowsGroupOrder(const Module& module, const Instruction& collective) {
  switch (collective.opcode) {
    case Opcode::kAllGather:
    case Opcode::kAllGatherStart:
    case Opcode::kReduceScatter:
      return true;
    case Opcode::kAllReduce:
    case Opcode::kAllReduceStart:
      return ShowsOrder(module, *collective.attributes.Computation(Attr::kToApply));
    default:
      return false;
  }
}

int64_t MembersByShape(const Computation& computation, const Instruction& collective) {
  const bool gathers =
      collective.opcode == Opcode::kAllGather || collective.opcode == Opcode::kAllGatherStart;
  if ((!gathers && collective.opcode != Opcode::kReduceScatter) || collective.operands.empty() ||
      collective.shape == nullptr)
    return 0;
  const Shape& operand = *computation.instructions[static_cast<size_t>(collective.operands[0])].shape;
  const Shape* result = collective.shape.get();  // of a start (operands, results)
  if (collective.opcode == Opcode::kAllGatherStart && result->IsTuple() && result->elements().size() > 1)
    result = &result->element(1);
  if (result->IsTuple() && !result->elements().empty()) result = &result->element(0);
  const int64_t d = collective.attributes.List(Attr::kDimensions)[0];
  if (!operand.IsArray() || !result->IsArray() || d < 0 || d >= operand.rank() || d >= result->rank())
    return 0;
  const int64_t larger = gathers ? result->size(d) : operand.size(d);
  const int64_t smaller = gathers ? operand.size(d) : result->size(d);
  return smaller > 0 && larger > 0 && larger % smaller == 0 ? larger / smaller : 0;
}

}  // namespace assay
