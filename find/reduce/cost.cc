#include "find/reduce/cost.h"

#include <algorithm>
#include <cmath>
#include <complex>

#include "find/reduce/attributes.h"
#include "find/reduce/edit.h"
#include "find/reduce/shapes.h"
#include "literal/element_io.h"
#include "literal/leaves.h"

namespace assay {
namespace {

bool IsStructure(Opcode opcode) {
  switch (opcode) {
    case Opcode::kCall:
    case Opcode::kFusion:
    case Opcode::kWhile:
    case Opcode::kConditional:
      return true;
    default:
      return false;
  }
}

int64_t CostOfNumber(double number) {
  if (number == 0) return std::signbit(number) ? 2 : 0;
  if (number == 1) return 1;
  if (!std::isfinite(number)) return 4;
  if (number == std::trunc(number) && std::abs(number) <= 16) return 2;
  if (number * 8 == std::trunc(number * 8) && std::abs(number) <= 1024) return 3;
  return 5;
}

int64_t CostOfElement(const ScalarValue& value) {
  switch (value.kind) {
    case ComputeKind::kBool:
      return value.b == 0 ? 0 : 1;
    case ComputeKind::kInt64:
      return CostOfNumber(static_cast<double>(value.i));
    case ComputeKind::kUint64:
      return CostOfNumber(static_cast<double>(value.u));
    case ComputeKind::kReal:
      return CostOfNumber(value.r);
    case ComputeKind::kComplex:
      return CostOfNumber(value.c.real()) + CostOfNumber(value.c.imag());
  }
  return 0;
}

}  // namespace

int64_t CostOfType(ElementType type) {
  switch (type) {
    case ElementType::kF32:
    case ElementType::kS32:
    case ElementType::kPred:
      return 0;
    case ElementType::kF64:
    case ElementType::kS64:
      return 1;
    case ElementType::kBF16:
    case ElementType::kF16:
    case ElementType::kU32:
    case ElementType::kU64:
      return 2;
    default:
      return 3;
  }
}

int64_t CostOfValues(const Literal& array) {
  if (!array.shape().IsArray()) return 0;
  const ElementType type = array.shape().element_type();
  const std::byte* bytes = array.data();
  int64_t cost = 0;
  for (int64_t k = 0; k < array.shape().num_elements(); ++k, bytes += Bytes(type))
    cost += CostOfElement(LoadElement(type, bytes));
  return cost;
}

Cost CostOf(const CheckedCase& test_case) {
  const Module& module = test_case.module();
  Cost cost;
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions) {
      const bool is_given =
          instruction.opcode == Opcode::kParameter || instruction.opcode == Opcode::kConstant;
      cost.structure += IsStructure(instruction.opcode) ? 1 : 0;
      cost.operations += is_given ? 0 : 1;
      // Twice, so that a constant may stand beside a parameter.
      cost.instructions += 2;
      if (instruction.opcode == Opcode::kConstant) {
        const bool is_large =
            instruction.shape->IsArray() && instruction.shape->num_elements() > kMaxConstant;
        cost.instructions += is_large ? 1 : -1;
        if (instruction.literal != nullptr) cost.values += CostOfValues(*instruction.literal);
      }
      ForEachLeaf(*instruction.shape, [&](const ShapeIndex&, const Shape& leaf) {
        if (!leaf.IsArray()) return;
        cost.elements += leaf.num_elements();
        cost.ranks += leaf.rank();
        cost.types += CostOfType(leaf.element_type());
      });
    }
  }
  cost.attributes = CostOfAttributes(module) + CostOfWindows(module);
  for (const Literal& argument : test_case.arguments())
    ForEachLeaf(argument, [&](const ShapeIndex&, const Literal& leaf) { cost.values += CostOfValues(leaf); });
  return cost;
}

}  // namespace assay
