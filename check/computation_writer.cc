#include "check/computation_writer.h"

#include <bit>
#include <utility>

#include "evaluator/verify.h"
#include "fmt/format.h"

namespace assay {

std::vector<bool> RadiiOf(const std::vector<BoundedLeaf>& leaves) {
  std::vector<bool> radii;
  radii.reserve(leaves.size());
  for (const BoundedLeaf& leaf : leaves) radii.push_back(static_cast<bool>(leaf.radius));
  return radii;
}

void RedirectCalls(Instruction& instruction, absl::FunctionRef<ComputationId(ComputationId)> copy) {
  std::vector<std::pair<Attr, AttrValue>> calls;
  for (const AttributeMap::Entry& entry : instruction.attributes.entries()) {
    if (const auto* const id = std::get_if<ComputationId>(&entry.value)) {
      calls.emplace_back(entry.attr, copy(*id));
    } else if (const auto* const ids = std::get_if<std::vector<ComputationId>>(&entry.value)) {
      std::vector<ComputationId> copies;
      for (const ComputationId called : *ids) copies.push_back(copy(called));
      calls.emplace_back(entry.attr, std::move(copies));
    }
  }
  for (auto& [attr, value] : calls) instruction.attributes.Set(attr, std::move(value));
}

Node ComputationWriter::Write(Instruction instruction) {
  if (!status_.ok() && !computation_.instructions.empty()) return Node{0};
  if (--left_ < 0) {
    Fail(NotSupported({}, "the program that computes its bounds would be too large"));
    if (!computation_.instructions.empty()) return Node{0};
  }
  if (instruction.shape == nullptr) {
    absl::StatusOr<Shape> shape = InferShape(module_, computation_, instruction);
    if (!shape.ok()) {
      Fail(WithPrefix(shape.status(), fmt::format("bounds of '{}'", name_)));
      return Node{0};
    }
    instruction.shape = std::make_shared<const Shape>(*std::move(shape));
  }
  const int32_t id = static_cast<int32_t>(computation_.instructions.size());
  if (instruction.name.empty()) instruction.name = fmt::format("{}~{}", name_, id);
  if (instruction.opcode == Opcode::kParameter) {
    const size_t number = static_cast<size_t>(instruction.parameter_number);
    computation_.parameters.resize(std::max(computation_.parameters.size(), number + 1), -1);
    computation_.parameters[number] = id;
  }
  computation_.instructions.push_back(std::move(instruction));
  return Node{id};
}

Node ComputationWriter::Parameter(int64_t number, std::shared_ptr<const Shape> shape) {
  Instruction instruction(Opcode::kParameter);
  instruction.parameter_number = number;
  instruction.shape = std::move(shape);
  // Changes nothing: without it g++ 12 warns that the empty list is read uninitialized.
  instruction.operands.reserve(1);
  return Write(std::move(instruction));
}

Node ComputationWriter::Element(Node tuple, int64_t index) {
  Instruction instruction(Opcode::kGetTupleElement);
  instruction.attributes.Set(Attr::kIndex, index);
  instruction.operands.push_back(tuple.id);
  instruction.shape = std::make_shared<const Shape>(ShapeOf(tuple).element(index));
  return Write(std::move(instruction));
}

Node ComputationWriter::Tuple(std::span<const Node> elements) {
  Instruction instruction(Opcode::kTuple);
  std::vector<Shape> shapes;
  for (const Node element : elements) {
    instruction.operands.push_back(element.id);
    shapes.push_back(ShapeOf(element));
  }
  instruction.shape = std::make_shared<const Shape>(Shape::Tuple(std::move(shapes)));
  return Write(std::move(instruction));
}

std::vector<Node> ComputationWriter::Call(ComputationId callee, std::span<const Node> elements) {
  Instruction instruction(Opcode::kCall);
  instruction.attributes.Set(Attr::kToApply, callee);
  instruction.operands.push_back(Tuple(elements).id);
  instruction.shape = module_.computation(callee).root_instruction().shape;
  const Node result = Write(std::move(instruction));
  std::vector<Node> results;
  if (!status_.ok())
    return std::vector<Node>(module_.computation(callee).root_instruction().shape->elements().size(), result);
  for (size_t k = 0; k < ShapeOf(result).elements().size(); ++k)
    results.push_back(Element(result, static_cast<int64_t>(k)));
  return results;
}

Node ComputationWriter::Scalar(ElementType type, double value) {
  const auto [it, is_new] = scalars_.try_emplace({type, std::bit_cast<uint64_t>(value)});
  if (!is_new) return it->second;
  Instruction instruction(Opcode::kConstant);
  instruction.shape = std::make_shared<const Shape>(Shape::Scalar(type));
  instruction.literal = std::make_shared<const Literal>(Literal::ScalarDouble(type, value));
  return it->second = Write(std::move(instruction));
}

Node ComputationWriter::Filled(ElementType type, double value, const Shape& like) {
  const Node scalar = Scalar(type, value);
  if (like.rank() == 0) return scalar;
  Shape shape = like;
  shape.set_element_type(type);
  const auto [it, is_new] = filled_.try_emplace(fmt::format("{}:{}", scalar.id, shape.ToString(true)));
  if (!is_new) return it->second;
  Instruction instruction(Opcode::kBroadcast);
  instruction.attributes.Set(Attr::kDimensions, Ints{});
  instruction.operands.push_back(scalar.id);
  instruction.shape = std::make_shared<const Shape>(std::move(shape));
  return it->second = Write(std::move(instruction));
}

ComputationId ComputationWriter::Finish(Node root) {
  computation_.root = root.id;
  module_.computations.push_back(std::move(computation_));
  return ComputationId{static_cast<int32_t>(module_.computations.size()) - 1};
}

}  // namespace assay
