#include "check/isolate/site_modules.h"

#include <algorithm>

#include "fmt/format.h"

namespace assay {
namespace {

std::shared_ptr<const Shape> Shared(Shape shape) { return std::make_shared<const Shape>(std::move(shape)); }

// Names that XLA's parser takes, no two alike in a computation; the first one that has a name keeps it.
void NameApart(Computation& computation) {
  std::set<std::string> taken;
  for (Instruction& instruction : computation.instructions) {
    std::replace(instruction.name.begin(), instruction.name.end(), '~', '.');
    std::string name = instruction.name;
    for (int k = 1; !taken.insert(name).second; ++k) name = fmt::format("{}.{}", instruction.name, k);
    instruction.name = name;
  }
}

// Names of computations are one space.
void NameComputationsApart(Module& module) {
  std::set<std::string> taken;
  for (Computation& computation : module.computations) {
    std::string name = computation.name;
    for (int k = 1; !taken.insert(name).second; ++k) name = fmt::format("{}.{}", computation.name, k);
    computation.name = name;
    NameApart(computation);
  }
}

Shape Stacked(const Shape& array, int64_t slots) {
  DimVector sizes = {slots};
  sizes.insert(sizes.end(), array.sizes().begin(), array.sizes().end());
  return Shape::ArrayOrDie(array.element_type(), sizes);
}

std::vector<Node> Elements(ComputationWriter& writer, Node tuple, size_t first, size_t count) {
  std::vector<Node> nodes;
  for (size_t k = first; k < first + count; ++k)
    nodes.push_back(writer.Element(tuple, static_cast<int64_t>(k)));
  return nodes;
}

}  // namespace

SiteModule::SiteModule(const Module& from, std::string_view what)
    : from_(from), writer_(module_, std::string(what), left_) {
  module_.name = fmt::format("{}_{}", from.name, what);
  module_.custom_ops = from.custom_ops;
  module_.frontend_attributes = from.frontend_attributes;  // the meshes that shardings name
  writer_.NameThem(what);
}

ComputationId SiteModule::Copied(ComputationId id) {
  if (const auto it = copied_.find(id.value); it != copied_.end()) return it->second;
  Computation computation = from_.computation(id);
  for (Instruction& instruction : computation.instructions) {
    std::vector<int32_t> before = instruction.control_predecessors;
    auto operands = instruction.operands;
    instruction = Copy(instruction);
    instruction.control_predecessors = std::move(before);
    instruction.operands = std::move(operands);
  }
  left_ -= static_cast<int64_t>(computation.instructions.size());
  module_.computations.push_back(std::move(computation));
  const ComputationId copy{static_cast<int32_t>(module_.computations.size()) - 1};
  copied_.emplace(id.value, copy);
  return copy;
}

// Without operands: what it calls is copied, and what is said of several devices left out.
Instruction SiteModule::Copy(const Instruction& instruction) {
  Instruction copy = instruction;
  copy.operands.clear();
  copy.control_predecessors.clear();
  if (copy.extras != nullptr) {
    auto extras = std::make_shared<InstructionExtras>(*copy.extras);
    extras->sharding.clear();
    extras->parameter_replication.clear();
    copy.extras = std::move(extras);
  }
  RedirectCalls(copy, [&](ComputationId id) { return Copied(id); });
  return copy;
}

Node SiteModule::NewParameter(const Shape& shape) {
  return writer_.Parameter(next_parameter_++, Shared(shape));
}

Node SiteModule::Assemble(ComputationWriter& writer, const Shape& shape, const std::vector<Node>& leaves,
                          size_t& next) {
  if (!shape.IsTuple()) return leaves[next++];
  std::vector<Node> elements;
  for (const Shape& element : shape.elements()) elements.push_back(Assemble(writer, element, leaves, next));
  return writer.Tuple(elements);
}

Node SiteModule::LeafOf(ComputationWriter& writer, const Computation& computation,
                        const std::vector<Node>& nodes, ValueId value) {
  const size_t instruction = static_cast<size_t>(value.instruction);
  Node node = nodes[instruction];
  int32_t leaf = 0;
  ForEachLeaf(*computation.instructions[instruction].shape, [&](const ShapeIndex& path, const Shape&) {
    if (leaf++ != value.leaf) return;
    for (const int64_t index : path) node = writer.Element(node, index);
  });
  return node;
}

std::vector<Node> SiteModule::Inline(ComputationWriter& writer, const Computation& computation,
                                     const std::vector<Node>& arguments) {
  std::vector<Node> nodes(computation.instructions.size());
  size_t next = 0;
  for (const int32_t p : computation.parameters) {
    const size_t parameter = static_cast<size_t>(p);
    nodes[parameter] = Assemble(writer, *computation.instructions[parameter].shape, arguments, next);
  }
  for (size_t k = 0; k < nodes.size(); ++k) {
    const Instruction& instruction = computation.instructions[k];
    if (instruction.opcode == Opcode::kParameter) continue;
    Instruction copy = Copy(instruction);
    for (const int32_t operand : instruction.operands)
      copy.operands.push_back(nodes[static_cast<size_t>(operand)].id);
    nodes[k] = writer.Write(std::move(copy));
  }
  return nodes;
}

void SiteModule::AddValues(ComputationId id, const ValueSources& sources) {
  const Computation& computation = from_.computation(id);
  std::vector<Node> arguments;
  for (const int32_t p : computation.parameters) {
    for (const Shape* const leaf : LeafShapes(*computation.instructions[static_cast<size_t>(p)].shape))
      arguments.push_back(NewParameter(*leaf));
  }
  const std::vector<Node> nodes = Inline(writer_, computation, arguments);
  for (const ValueId value : sources.own()) outputs_.push_back(LeafOf(writer_, computation, nodes, value));
}

Node SiteModule::Constant(ComputationWriter& writer, ElementType type, int64_t value) {
  Instruction constant(Opcode::kConstant);
  constant.shape = Shared(Shape::Scalar(type));
  constant.literal = std::make_shared<const Literal>(Literal::ScalarInt(type, value));
  return writer.Write(std::move(constant));
}

Node SiteModule::Zeros(ComputationWriter& writer, const Shape& shape) {
  const absl::StatusOr<Literal> zero = Literal::Make(Shape::Scalar(shape.element_type()));
  if (!zero.ok()) writer.Fail(zero.status());
  Instruction constant(Opcode::kConstant), broadcast(Opcode::kBroadcast);
  constant.shape = Shared(Shape::Scalar(shape.element_type()));
  constant.literal = std::make_shared<const Literal>(zero.ok() ? *zero : Literal());
  broadcast.operands = {writer.Write(std::move(constant)).id};
  broadcast.attributes.Set(Attr::kDimensions, Ints{});
  broadcast.shape = Shared(shape);
  return writer.Write(std::move(broadcast));
}

Node SiteModule::AddedOne(ComputationWriter& writer, Node counter) {
  Instruction sum(Opcode::kAdd);
  sum.operands = {counter.id, Constant(writer, ElementType::kS32, 1).id};
  return writer.Write(std::move(sum));
}

Node SiteModule::Stored(ComputationWriter& writer, Node stack, Node value, Node slot) {
  Instruction reshape(Opcode::kReshape), update(Opcode::kDynamicUpdateSlice);
  reshape.operands = {value.id};
  reshape.shape = Shared(Stacked(writer.ShapeOf(value), 1));
  update.operands = {stack.id, writer.Write(std::move(reshape)).id, slot.id};
  const Node zero = Constant(writer, ElementType::kS32, 0);
  for (int64_t d = 1; d < writer.ShapeOf(stack).rank(); ++d) update.operands.push_back(zero.id);
  return writer.Write(std::move(update));
}

std::vector<Node> SiteModule::WriteLoop(const Instruction& loop, std::vector<Node> state,
                                        const std::vector<ValueId>& shown, int64_t slots) {
  const Computation& body = from_.computation(*loop.attributes.Computation(Attr::kBody));
  const Computation& condition = from_.computation(*loop.attributes.Computation(Attr::kCondition));
  const size_t size = state.size();
  state.push_back(Constant(writer_, ElementType::kS32, 0));
  for (const ValueId value : shown) {
    const Shape& array = *LeafShapes(
        *body.instructions[static_cast<size_t>(value.instruction)].shape)[static_cast<size_t>(value.leaf)];
    state.push_back(Zeros(writer_, Stacked(array, slots)));
  }
  const Node packed = writer_.Tuple(state);
  const auto shape = Shared(writer_.ShapeOf(packed));

  ComputationWriter test(module_, condition.name, left_), iteration(module_, body.name, left_);
  Node parameter = test.Parameter(0, shape);
  std::vector<Node> nodes = Inline(test, condition, Elements(test, parameter, 0, size));
  const ComputationId test_id = test.Finish(nodes[static_cast<size_t>(condition.root)]);

  parameter = iteration.Parameter(0, shape);
  const std::vector<Node> before = Elements(iteration, parameter, 0, state.size());
  nodes = Inline(iteration, body, {before.begin(), before.begin() + static_cast<std::ptrdiff_t>(size)});
  const Node counter = before[size];
  std::vector<Node> after;
  for (size_t k = 0; k < size; ++k)
    after.push_back(LeafOf(iteration, body, nodes, {body.root, static_cast<int32_t>(k)}));
  after.push_back(AddedOne(iteration, counter));
  for (size_t k = 0; k < shown.size(); ++k) {
    const Node value = LeafOf(iteration, body, nodes, shown[k]);
    after.push_back(Stored(iteration, before[size + 1 + k], value, counter));
  }
  const Node next = iteration.Tuple(after);
  for (const ComputationWriter* const writer : {&test, &iteration}) {
    if (!writer->status().ok()) writer_.Fail(writer->status());
  }
  const ComputationId iteration_id = iteration.Finish(next);

  Instruction instruction(Opcode::kWhile);
  instruction.name = loop.name;
  instruction.operands = {packed.id};
  instruction.attributes.Set(Attr::kCondition, test_id);
  instruction.attributes.Set(Attr::kBody, iteration_id);
  instruction.shape = shape;
  const Node result = writer_.Write(std::move(instruction));
  return Elements(writer_, result, 0, state.size());
}

void SiteModule::AddLoop(const Instruction& loop, const ValueSources& body_sources, int64_t slots) {
  std::vector<Node> state;
  for (const Shape* const leaf : LeafShapes(*loop.shape)) state.push_back(NewParameter(*leaf));
  const std::vector<Node> result = WriteLoop(loop, state, body_sources.own(), slots);
  outputs_.insert(outputs_.end(), result.begin() + std::ssize(state), result.end());
}

void SiteModule::AddCountedLoop(int64_t set, ComputationId id, const ValueSources& sources,
                                int32_t instruction) {
  const Instruction& loop = from_.computation(id).instructions[static_cast<size_t>(instruction)];
  const std::vector<Node> result =
      WriteLoop(loop, OperandLeaves(set, id, sources, loop.operands[0]), {}, /*slots=*/1);
  outputs_.insert(outputs_.end(), result.begin(), result.end());
}

std::vector<Node> SiteModule::OperandLeaves(int64_t set, ComputationId id, const ValueSources& sources,
                                            int32_t operand) {
  const Computation& computation = from_.computation(id);
  std::vector<Node> leaves;
  for (const ValueId value : sources.Of(operand)) {
    const Instruction& source = computation.instructions[static_cast<size_t>(value.instruction)];
    if (source.opcode == Opcode::kConstant) {
      const auto [it, is_new] = constants_.try_emplace({id.value, value.instruction});
      if (is_new) it->second = writer_.Write(Copy(source));
      leaves.push_back(it->second);
      continue;
    }
    const auto [it, is_new] = given_.try_emplace({set, value});
    if (is_new) {
      it->second = NewParameter(*LeafShapes(*source.shape)[static_cast<size_t>(value.leaf)]);
      parameters_.emplace_back(set, value);
    }
    leaves.push_back(it->second);
  }
  return leaves;
}

Node SiteModule::Operand(int64_t set, ComputationId id, const ValueSources& sources, int32_t operand) {
  const Instruction& instruction = from_.computation(id).instructions[static_cast<size_t>(operand)];
  size_t next = 0;
  return Assemble(writer_, *instruction.shape, OperandLeaves(set, id, sources, operand), next);
}

void SiteModule::AddAlone(int64_t set, ComputationId id, const ValueSources& sources, int32_t instruction) {
  const Computation& computation = from_.computation(id);
  const Instruction& from = computation.instructions[static_cast<size_t>(instruction)];
  Instruction copy = Copy(from);
  for (const int32_t operand : from.operands) copy.operands.push_back(Operand(set, id, sources, operand).id);
  const Node result = writer_.Write(std::move(copy));
  ForEachLeaf(*from.shape, [&](const ShapeIndex& path, const Shape&) {
    Node node = result;
    for (const int64_t index : path) node = writer_.Element(node, index);
    outputs_.push_back(node);
  });
}

absl::StatusOr<Program> SiteModule::Finish() && {
  const Node root = writer_.Tuple(outputs_);
  ASSAY_RETURN_IF_ERROR(writer_.status());
  module_.entry = writer_.Finish(root);
  NameComputationsApart(module_);
  return Program::OfModule(std::move(module_));
}

}  // namespace assay
