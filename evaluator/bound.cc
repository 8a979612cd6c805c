// The words in which bound rules are written.
#include "evaluator/bound.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace assay {
namespace {

std::shared_ptr<const Shape> WithType(const Shape& shape, ElementType type) {
  Shape result = shape;
  result.set_element_type(type);
  return std::make_shared<const Shape>(std::move(result));
}

}  // namespace

ElementType RadiusType(ElementType type) {
  return type == ElementType::kF64 || type == ElementType::kC128 ? ElementType::kF64 : ElementType::kF32;
}

bool BoundContext::AnyRadius() {
  for (size_t k = 0; k < view().num_operands(); ++k) {
    if (view().operand(k).IsArray() && Radius(k)) return true;
  }
  return false;
}

bool BoundContext::AnyLoopForm() {
  for (size_t k = 0; k < view().num_operands(); ++k) {
    if (LoopFormOf(k)) return true;
  }
  return false;
}

Node BoundContext::Write(Opcode op, std::initializer_list<Node> operands) {
  Instruction instruction(op);
  for (const Node operand : operands) instruction.operands.push_back(operand.id);
  return Write(std::move(instruction));
}

Node BoundContext::CloneWith(std::span<const Node> operands) {
  Instruction instruction(view().instruction.opcode);
  instruction.attributes = attributes();
  instruction.shape = WithType(view().result(), RadiusType(result_type()));
  for (const Node operand : operands) instruction.operands.push_back(operand.id);
  return Write(std::move(instruction));
}

Node BoundContext::ConvertTo(Node node, ElementType type) {
  if (!node || ShapeOf(node).element_type() == type) return node;
  Instruction instruction(Opcode::kConvert);
  instruction.shape = WithType(ShapeOf(node), type);
  instruction.operands.push_back(node.id);
  return Write(std::move(instruction));
}

Node BoundContext::Plus(Node a, Node b) { return !a ? b : !b ? a : Write(Opcode::kAdd, {a, b}); }
Node BoundContext::Plus(Node a, double b) { return b == 0 ? a : Write(Opcode::kAdd, {a, Constant(b, a)}); }
Node BoundContext::Minus(Node a, Node b) { return !b ? a : Write(Opcode::kSubtract, {a, b}); }
Node BoundContext::Times(Node a, Node b) { return !a || !b ? Node() : Write(Opcode::kMultiply, {a, b}); }
Node BoundContext::Times(Node a, double b) {
  if (!a || b == 0) return Node();
  return b == 1 ? a : Write(Opcode::kMultiply, {a, Constant(b, a)});
}
Node BoundContext::Over(Node a, Node b) { return !a ? a : Write(Opcode::kDivide, {a, b}); }
Node BoundContext::Max(Node a, Node b) { return !a ? b : !b ? a : Write(Opcode::kMaximum, {a, b}); }
Node BoundContext::Min(Node a, double b) { return !a ? a : Write(Opcode::kMinimum, {a, Constant(b, a)}); }
Node BoundContext::Function(Opcode op, Node a) { return !a ? a : Write(op, {a}); }

Node BoundContext::Compare(std::string_view direction, Node a, Node b) {
  Instruction instruction(Opcode::kCompare);
  instruction.attributes.Set(Attr::kDirection, Word{std::string(direction)});
  instruction.operands = {a.id, b.id};
  return Write(std::move(instruction));
}
Node BoundContext::Compare(std::string_view direction, Node a, double b) {
  return Compare(direction, a, Constant(b, a));
}

Node BoundContext::Choose(Node predicate, Node if_true, Node if_false) {
  if (!if_true && !if_false) return Node();
  const Node like = if_true ? if_true : if_false;
  return Write(Opcode::kSelect, {predicate, OrZero(if_true, like), OrZero(if_false, like)});
}

Node BoundContext::OrZero(Node radius, Node like) { return radius ? radius : Constant(0, like); }

Node BoundContext::Spread(Node scalar, Node like) {
  if (ShapeOf(like).rank() == 0) return scalar;
  Instruction instruction(Opcode::kBroadcast);
  instruction.attributes.Set(Attr::kDimensions, Ints{});
  instruction.shape = WithType(ShapeOf(like), ShapeOf(scalar).element_type());
  instruction.operands.push_back(scalar.id);
  return Write(std::move(instruction));
}

Node BoundContext::Element(Node tuple, int64_t k) {
  Instruction instruction(Opcode::kGetTupleElement);
  instruction.attributes.Set(Attr::kIndex, k);
  instruction.operands = {tuple.id};
  return Write(std::move(instruction));
}

Node BoundContext::SpreadAlong(Node a, std::span<const int64_t> dimensions, Node like) {
  Instruction instruction(Opcode::kBroadcast);
  instruction.attributes.Set(Attr::kDimensions, Ints(dimensions.begin(), dimensions.end()));
  instruction.shape = WithType(ShapeOf(like), ShapeOf(a).element_type());
  instruction.operands = {a.id};
  return Write(std::move(instruction));
}

Node BoundContext::Sliced(Node a, int64_t dimension, int64_t start, int64_t limit) {
  Instruction instruction(Opcode::kSlice);
  SliceConfig parts;
  for (int64_t d = 0; d < ShapeOf(a).rank(); ++d) parts.push_back({0, ShapeOf(a).size(d), 1});
  parts[static_cast<size_t>(dimension)] = {start, limit, 1};
  instruction.attributes.Set(Attr::kSlice, std::move(parts));
  instruction.operands = {a.id};
  return Write(std::move(instruction));
}

Node BoundContext::Reduced(Opcode op, Node a, std::span<const int64_t> dimensions) {
  const ElementType type = ShapeOf(a).element_type();
  Instruction instruction(Opcode::kReduce);
  instruction.attributes.Set(Attr::kDimensions, Ints(dimensions.begin(), dimensions.end()));
  instruction.attributes.Set(Attr::kToApply, Reducer(op, type));
  instruction.operands = {a.id, Scalar(type, 0).id};
  return Write(std::move(instruction));
}

Node BoundContext::Flag(Node radius) {
  DimVector all(static_cast<size_t>(ShapeOf(radius).rank()));
  std::iota(all.begin(), all.end(), 0);
  const Node largest = all.empty() ? radius : Reduced(Opcode::kMaximum, radius, all);
  return Choose(Compare("EQ", largest, 0), Constant(0, largest),
                Constant(std::numeric_limits<double>::infinity(), largest));
}

}  // namespace assay
