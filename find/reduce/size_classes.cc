#include "find/reduce/size_classes.h"

#include <algorithm>
#include <span>

#include "evaluator/registry.h"

namespace assay {
namespace {

int64_t NumLeaves(const Shape& shape) {
  int64_t leaves = 0;
  ForEachLeaf(shape, [&](const ShapeIndex&, const Shape&) { ++leaves; });
  return leaves;
}

bool ListHas(std::span<const int64_t> list, int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace

std::vector<ReshapeGroup> ReshapeGroups(const Shape& operand, const Shape& result) {
  std::vector<ReshapeGroup> groups;
  ReshapeGroup group;
  while (group.a_end < operand.rank() || group.b_end < result.rank()) {
    int64_t a = 1, b = 1;
    if (group.a_end < operand.rank()) a = operand.size(group.a_end++);
    if (group.b_end < result.rank()) b = result.size(group.b_end++);
    while (a != b) {
      if (a < b && group.a_end < operand.rank()) {
        a *= operand.size(group.a_end++);
      } else if (b < a && group.b_end < result.rank()) {
        b *= result.size(group.b_end++);
      } else {
        break;  // zero elements
      }
    }
    groups.push_back(group);
    group = {group.a_end, group.a_end, group.b_end, group.b_end};
  }
  return groups;
}

SizeClasses::SizeClasses(const Module& module) : module_(module) {
  AddDimensions();
  for (int32_t c = 0; c < static_cast<int32_t>(module.computations.size()); ++c) {
    const Computation& computation = module.computations[static_cast<size_t>(c)];
    for (int32_t k = 0; k < static_cast<int32_t>(computation.instructions.size()); ++k)
      UniteInstruction(ComputationId{c}, k);
  }
  for (int64_t d = 0; d < std::ssize(sizes_); ++d) {
    if (Find(d) != d) continue;
    if (sizes_[static_cast<size_t>(d)] > 1) choices_.push_back(d);
    if (sizes_[static_cast<size_t>(d)] == 1) ones_.push_back(d);
  }
}

void SizeClasses::AddDimensions() {
  for (const Computation& computation : module_.computations) {
    auto& of_computation = first_.emplace_back();
    for (const Instruction& instruction : computation.instructions) {
      auto& of_instruction = of_computation.emplace_back();
      ForEachLeaf(*instruction.shape, [&](const ShapeIndex&, const Shape& leaf) {
        of_instruction.push_back(std::ssize(sizes_));
        if (leaf.IsArray()) sizes_.insert(sizes_.end(), leaf.sizes().begin(), leaf.sizes().end());
      });
    }
  }
  for (int64_t d = 0; d < std::ssize(sizes_); ++d) parents_.push_back(d);
}

int64_t SizeClasses::Find(int64_t dimension) const {
  int64_t root = dimension;
  while (parents_[static_cast<size_t>(root)] != root) root = parents_[static_cast<size_t>(root)];
  while (parents_[static_cast<size_t>(dimension)] != root) {
    const int64_t next = parents_[static_cast<size_t>(dimension)];
    parents_[static_cast<size_t>(dimension)] = root;
    dimension = next;
  }
  return root;
}

void SizeClasses::Unite(int64_t a, int64_t b) {
  if (sizes_[static_cast<size_t>(a)] != sizes_[static_cast<size_t>(b)]) return;
  const int64_t root_a = Find(a), root_b = Find(b);
  // The first dimension names the class.
  parents_[static_cast<size_t>(std::max(root_a, root_b))] = std::min(root_a, root_b);
}

void SizeClasses::UniteDimension(ComputationId id, int32_t a, int64_t dim_a, int32_t b, int64_t dim_b) {
  Unite(FirstOf(id, a, 0) + dim_a, FirstOf(id, b, 0) + dim_b);
}

void SizeClasses::UniteLeaves(ComputationId of_a, int32_t a, int64_t leaf_a, ComputationId of_b, int32_t b,
                              int64_t leaf_b) {
  const Shape& shape = *LeafShapes(
      *module_.computation(of_a).instructions[static_cast<size_t>(a)].shape)[static_cast<size_t>(leaf_a)];
  if (!shape.IsArray()) return;
  for (int64_t d = 0; d < shape.rank(); ++d)
    Unite(FirstOf(of_a, a, leaf_a) + d, FirstOf(of_b, b, leaf_b) + d);
}

void SizeClasses::UniteValues(ComputationId of_a, int32_t a, ComputationId of_b, int32_t b, int64_t leaf_b) {
  const int64_t leaves = NumLeaves(*module_.computation(of_a).instructions[static_cast<size_t>(a)].shape);
  for (int64_t leaf = 0; leaf < leaves; ++leaf) UniteLeaves(of_a, a, leaf, of_b, b, leaf_b + leaf);
}

void SizeClasses::UniteInstruction(ComputationId id, int32_t k) {
  if (!UniteCalls(id, k) && !UniteTuples(id, k)) UniteArrays(id, k);
}

bool SizeClasses::UniteCalls(ComputationId id, int32_t k) {
  const Instruction& instruction = module_.computation(id).instructions[static_cast<size_t>(k)];
  const std::vector<ComputationId> called = CalledComputations(instruction);
  const auto parameter = [&](ComputationId callee, size_t number) {
    return module_.computation(callee).parameters[number];
  };
  switch (instruction.opcode) {
    case Opcode::kCall:
    case Opcode::kFusion:
      for (size_t o = 0; o < instruction.operands.size(); ++o)
        UniteValues(id, instruction.operands[o], called[0], parameter(called[0], o));
      UniteValues(id, k, called[0], module_.computation(called[0]).root);
      return true;
    case Opcode::kConditional:
      for (size_t b = 0; b < called.size(); ++b) {
        UniteValues(id, instruction.operands[b + 1], called[b], parameter(called[b], 0));
        UniteValues(id, k, called[b], module_.computation(called[b]).root);
      }
      return true;
    case Opcode::kWhile:
      UniteValues(id, k, id, instruction.operands[0]);
      for (const ComputationId callee : called) UniteValues(id, k, callee, parameter(callee, 0));
      UniteValues(id, k, *instruction.attributes.Computation(Attr::kBody),
                  module_.computation(*instruction.attributes.Computation(Attr::kBody)).root);
      return true;
    default:
      return false;
  }
}

bool SizeClasses::UniteTuples(ComputationId id, int32_t k) {
  const std::vector<Instruction>& instructions = module_.computation(id).instructions;
  const Instruction& instruction = instructions[static_cast<size_t>(k)];
  int64_t leaf = 0;
  switch (instruction.opcode) {
    case Opcode::kTuple:
      for (const int32_t operand : instruction.operands) {
        UniteValues(id, operand, id, k, leaf);
        leaf += NumLeaves(*instructions[static_cast<size_t>(operand)].shape);
      }
      return true;
    case Opcode::kGetTupleElement: {
      const Shape& tuple = *instructions[static_cast<size_t>(instruction.operands[0])].shape;
      for (int64_t e = 0; e < instruction.attributes.Int(Attr::kIndex); ++e)
        leaf += NumLeaves(tuple.element(e));
      UniteValues(id, k, id, instruction.operands[0], leaf);
      return true;
    }
    case Opcode::kOptBarrier:
      UniteValues(id, k, id, instruction.operands[0]);
      return true;
    default:
      return false;
  }
}

void SizeClasses::UniteAlike(ComputationId id, int32_t a, int32_t b, int64_t leaf_b, const Window& window) {
  const auto& instructions = module_.computation(id).instructions;
  const Shape& shape_a = *instructions[static_cast<size_t>(a)].shape;
  const Shape& shape_b =
      *LeafShapes(*instructions[static_cast<size_t>(b)].shape)[static_cast<size_t>(leaf_b)];
  if (!shape_a.IsArray() || !shape_b.IsArray() || shape_a.rank() != shape_b.rank()) return;
  for (int64_t d = 0; d < shape_a.rank(); ++d) {
    if (d >= std::ssize(window) || window[static_cast<size_t>(d)] == WindowDimension())
      Unite(FirstOf(id, a, 0) + d, FirstOf(id, b, leaf_b) + d);
  }
}

void SizeClasses::UniteArrays(ComputationId id, int32_t k) {
  const Instruction& instruction = module_.computation(id).instructions[static_cast<size_t>(k)];
  const std::span<const int64_t> dimensions = instruction.attributes.List(Attr::kDimensions);
  switch (instruction.opcode) {
    case Opcode::kBroadcast:
      for (size_t d = 0; d < dimensions.size(); ++d)
        UniteDimension(id, instruction.operands[0], static_cast<int64_t>(d), k, dimensions[d]);
      return;
    case Opcode::kTranspose:
      for (size_t d = 0; d < dimensions.size(); ++d)
        UniteDimension(id, instruction.operands[0], dimensions[d], k, static_cast<int64_t>(d));
      return;
    case Opcode::kReduce:
      return UniteReduction(id, k);
    case Opcode::kReshape:
    case Opcode::kBitcast:
      return UniteReshape(id, k);
    case Opcode::kDot:
      return UniteDot(id, k);
    case Opcode::kConvolution:
      return UniteConvolution(id, k);
    case Opcode::kGather:
      return UniteGather(id, k);
    case Opcode::kScatter:
      return UniteScatter(id, k);
    default:
      break;
  }
  // Whatever stays as long as it was: elementwise operations, and dimensions that are not sliced, padded or
  // concatenated. Where equal sizes have another reason the change is found to be invalid.
  const int64_t leaves = NumLeaves(*instruction.shape);
  for (const int32_t operand : instruction.operands) {
    for (int64_t leaf = 0; leaf < leaves; ++leaf)
      UniteAlike(id, operand, k, leaf, instruction.attributes.WindowOf());
  }
}

void SizeClasses::UniteReduction(ComputationId id, int32_t k) {
  const Instruction& instruction = module_.computation(id).instructions[static_cast<size_t>(k)];
  const std::span<const int64_t> dimensions = instruction.attributes.List(Attr::kDimensions);
  const size_t arrays = instruction.operands.size() / 2;
  const int32_t first = instruction.operands[0];
  for (size_t o = 1; o < arrays; ++o) UniteAlike(id, first, instruction.operands[o]);
  const int64_t rank = module_.computation(id).instructions[static_cast<size_t>(first)].shape->rank();
  for (int64_t leaf = 0; leaf < NumLeaves(*instruction.shape); ++leaf) {
    for (int64_t d = 0, next = 0; d < rank; ++d) {
      if (!ListHas(dimensions, d)) Unite(FirstOf(id, first, 0) + d, FirstOf(id, k, leaf) + next++);
    }
  }
}

void SizeClasses::UniteReshape(ComputationId id, int32_t k) {
  const auto& instructions = module_.computation(id).instructions;
  const Instruction& instruction = instructions[static_cast<size_t>(k)];
  const Shape& operand = *instructions[static_cast<size_t>(instruction.operands[0])].shape;
  for (const ReshapeGroup& group : ReshapeGroups(operand, *instruction.shape)) {
    if (group.a_end - group.a_begin == 1 && group.b_end - group.b_begin == 1)
      UniteDimension(id, instruction.operands[0], group.a_begin, k, group.b_begin);
  }
}

void SizeClasses::UniteDot(ComputationId id, int32_t k) {
  const auto& instructions = module_.computation(id).instructions;
  const Instruction& instruction = instructions[static_cast<size_t>(k)];
  const AttributeMap& attributes = instruction.attributes;
  const std::span<const int64_t> batch[2] = {attributes.List(Attr::kLhsBatchDims),
                                             attributes.List(Attr::kRhsBatchDims)};
  const std::span<const int64_t> contracting[2] = {attributes.List(Attr::kLhsContractingDims),
                                                   attributes.List(Attr::kRhsContractingDims)};
  const int32_t lhs = instruction.operands[0], rhs = instruction.operands[1];
  for (size_t d = 0; d < std::min(contracting[0].size(), contracting[1].size()); ++d)
    UniteDimension(id, lhs, contracting[0][d], rhs, contracting[1][d]);
  int64_t result = 0;
  for (size_t d = 0; d < std::min(batch[0].size(), batch[1].size()); ++d, ++result) {
    UniteDimension(id, lhs, batch[0][d], k, result);
    UniteDimension(id, rhs, batch[1][d], k, result);
  }
  for (size_t side = 0; side < 2; ++side) {
    const int32_t operand = instruction.operands[side];
    const int64_t rank = instructions[static_cast<size_t>(operand)].shape->rank();
    for (int64_t d = 0; d < rank && result < instruction.shape->rank(); ++d) {
      if (!ListHas(batch[side], d) && !ListHas(contracting[side], d))
        UniteDimension(id, operand, d, k, result++);
    }
  }
}

void SizeClasses::UniteConvolution(ComputationId id, int32_t k) {
  const Instruction& instruction = module_.computation(id).instructions[static_cast<size_t>(k)];
  const AttrValue* const value = instruction.attributes.Find(Attr::kDimLabels);
  if (value == nullptr) return;
  const ConvDimensionNumbers& numbers = *std::get<std::shared_ptr<const ConvDimensionNumbers>>(*value);
  const int32_t input = instruction.operands[0], kernel = instruction.operands[1];
  UniteDimension(id, input, numbers.input_batch, k, numbers.output_batch);
  UniteDimension(id, input, numbers.input_feature, kernel, numbers.kernel_input_feature);
  UniteDimension(id, kernel, numbers.kernel_output_feature, k, numbers.output_feature);
}

void SizeClasses::UniteGather(ComputationId id, int32_t k) {
  const auto& instructions = module_.computation(id).instructions;
  const Instruction& instruction = instructions[static_cast<size_t>(k)];
  const AttributeMap& attributes = instruction.attributes;
  const int32_t operand = instruction.operands[0], indices = instruction.operands[1];
  const std::span<const int64_t> offsets = attributes.List(Attr::kOffsetDims);
  const std::span<const int64_t> collapsed = attributes.List(Attr::kCollapsedSliceDims);
  const std::span<const int64_t> batching = attributes.List(Attr::kOperandBatchingDims);
  const int64_t index_dim = attributes.Int(Attr::kIndexVectorDim);
  int64_t next = 0;
  for (int64_t d = 0; d < instructions[static_cast<size_t>(operand)].shape->rank(); ++d) {
    if (ListHas(collapsed, d) || ListHas(batching, d) || next >= std::ssize(offsets)) continue;
    UniteDimension(id, operand, d, k, offsets[static_cast<size_t>(next++)]);
  }
  next = 0;
  for (int64_t d = 0; d < instruction.shape->rank(); ++d) {
    if (ListHas(offsets, d)) continue;
    if (next == index_dim) ++next;
    if (next < instructions[static_cast<size_t>(indices)].shape->rank())
      UniteDimension(id, indices, next++, k, d);
  }
}

void SizeClasses::UniteScatter(ComputationId id, int32_t k) {
  const auto& instructions = module_.computation(id).instructions;
  const Instruction& instruction = instructions[static_cast<size_t>(k)];
  const AttributeMap& attributes = instruction.attributes;
  const size_t arrays = instruction.operands.size() / 2;
  const int32_t indices = instruction.operands[arrays];
  const std::span<const int64_t> window = attributes.List(Attr::kUpdateWindowDims);
  const std::span<const int64_t> inserted = attributes.List(Attr::kInsertedWindowDims);
  const std::span<const int64_t> batching = attributes.List(Attr::kInputBatchingDims);
  for (size_t a = 0; a < arrays; ++a) {
    const int32_t operand = instruction.operands[a], updates = instruction.operands[arrays + 1 + a];
    UniteAlike(id, operand, k, static_cast<int64_t>(a));
    UniteAlike(id, instruction.operands[arrays + 1], updates);
    int64_t next = 0;
    for (int64_t d = 0; d < instructions[static_cast<size_t>(operand)].shape->rank(); ++d) {
      if (ListHas(inserted, d) || ListHas(batching, d) || next >= std::ssize(window)) continue;
      UniteDimension(id, operand, d, updates, window[static_cast<size_t>(next++)]);
    }
    next = 0;
    for (int64_t d = 0; d < instructions[static_cast<size_t>(updates)].shape->rank(); ++d) {
      if (ListHas(window, d)) continue;
      if (next == attributes.Int(Attr::kIndexVectorDim)) ++next;
      if (next < instructions[static_cast<size_t>(indices)].shape->rank())
        UniteDimension(id, indices, next++, updates, d);
    }
  }
}

}  // namespace assay
