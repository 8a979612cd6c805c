#include "find/fuzz/rewrite_parts.h"

#include <utility>

#include "evaluator/patterns/associative.h"

namespace assay::fuzz {
namespace {

// Folds by the reducer give the same in any order. A sum of floats is the exact sum, rounded once
// (docs/spec/operations.md).
bool HasNoOrder(const Module& module, ComputationId reducer) {
  const Computation& computation = module.computation(reducer);
  const Instruction& root = computation.root_instruction();
  const bool is_sum = root.opcode == Opcode::kAdd && computation.instructions.size() == 3 &&
                      root.operands[0] != root.operands[1] && !IsComplex(root.shape->element_type());
  return is_sum || IsAssociative(module, reducer);
}

}  // namespace

bool IsStaticArray(const Module&, const Instruction& instruction) {
  const Shape& shape = *instruction.shape;
  return shape.IsArray() && !shape.HasDynamic() &&
         Shape::Equal(shape, Shape::ArrayOrDie(shape.element_type(), shape.sizes()));
}

bool Commutes(const Module& module, const Instruction& instruction) {
  if (!IsStaticArray(module, instruction) || IsComplex(instruction.shape->element_type())) return false;
  switch (instruction.opcode) {
    case Opcode::kAdd:
    case Opcode::kMultiply:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
      return true;
    default:
      return false;
  }
}

bool IsPlainReduce(const Module& module, const Instruction& instruction) {
  return instruction.opcode == Opcode::kReduce && IsStaticArray(module, instruction) &&
         instruction.operands.size() == 2 && !instruction.attributes.List(Attr::kDimensions).empty() &&
         HasNoOrder(module, *instruction.attributes.Computation(Attr::kToApply));
}

bool IsPlainDot(const Module& module, const Instruction& instruction) {
  if (instruction.opcode != Opcode::kDot || instruction.operands.size() != 2) return false;
  if (!IsStaticArray(module, instruction) || IsComplex(instruction.shape->element_type())) return false;
  return !instruction.attributes.Has(Attr::kAlgorithm) && !instruction.attributes.Has(Attr::kSparsityConfig);
}

bool SumsFloats(const Module& module, const Instruction& reduce) {
  const Instruction& root =
      module.computation(*reduce.attributes.Computation(Attr::kToApply)).root_instruction();
  return root.opcode == Opcode::kAdd && IsFloat(root.shape->element_type());
}

int32_t WritePartialStart(RewriteSite& site) {
  const Instruction& reduce = site.before();
  const Instruction& root =
      site.module.computation(*reduce.attributes.Computation(Attr::kToApply)).root_instruction();
  const ElementType type = root.shape->element_type();
  const bool is_pred = type == ElementType::kPred;
  // x + -0 is x for each x. Additions and products of pred are or and and.
  if (root.opcode == Opcode::kAdd && IsFloat(type))
    return site.edit.AddConstant(Literal::ScalarDouble(type, -0.0));
  if ((root.opcode == Opcode::kAdd && !is_pred) || root.opcode == Opcode::kXor)
    return site.edit.AddConstant(Literal::ScalarInt(type, 0));
  if (root.opcode == Opcode::kMultiply && !is_pred) return site.edit.AddConstant(Literal::ScalarInt(type, 1));
  return site.edit.At(reduce.operands[1]);
}

Shape WithType(const Shape& shape, ElementType type) { return Shape::ArrayOrDie(type, shape.sizes()); }

int32_t Write(RewriteSite& site, Opcode opcode, std::initializer_list<int32_t> operands,
              std::vector<AttributeMap::Entry> attributes, std::optional<Shape> shape) {
  Instruction instruction(opcode);
  instruction.operands.assign(operands.begin(), operands.end());
  for (AttributeMap::Entry& entry : attributes)
    instruction.attributes.Set(entry.attr, std::move(entry.value));
  if (shape) instruction.shape = SharedShape(*std::move(shape));
  return site.edit.Add(std::move(instruction));
}

}  // namespace assay::fuzz
