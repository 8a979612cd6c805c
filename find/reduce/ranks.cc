// Dimensions of size 1 leave a program.
#include <algorithm>
#include <optional>
#include <set>

#include "evaluator/registry.h"
#include "find/reduce/edit.h"
#include "find/reduce/shapes.h"
#include "find/reduce/size_classes.h"

namespace assay {
namespace {

// The dimensions of an array that leave it, sorted.
using Dropped = std::set<int64_t>;

// What a dimension that stays is called afterwards.
int64_t Renumbered(int64_t d, const Dropped& dropped) {
  return d - std::distance(dropped.begin(), dropped.lower_bound(d));
}

Shape WithoutDimensions(const Shape& array, const Dropped& dropped) {
  DimVector sizes;
  for (int64_t d = 0; d < array.rank(); ++d) {
    if (!dropped.contains(d)) sizes.push_back(array.size(d));
  }
  return Shape::ArrayOrDie(array.element_type(), sizes);
}

// Entries of a list that has one for each dimension.
template <typename List>
void KeepEntries(AttributeMap& attributes, Attr attr, const Dropped& dropped) {
  const AttrValue* const value = attributes.Find(attr);
  if (value == nullptr || !std::holds_alternative<List>(*value)) return;
  List kept;
  const List& before = std::get<List>(*value);
  for (size_t d = 0; d < before.size(); ++d) {
    if (!dropped.contains(static_cast<int64_t>(d))) kept.push_back(before[d]);
  }
  attributes.Set(attr, std::move(kept));
}

// A list of dimensions of an array.
void Renumber(AttributeMap& attributes, Attr attr, const Dropped& dropped) {
  const AttrValue* const value = attributes.Find(attr);
  if (value == nullptr || !std::holds_alternative<Ints>(*value)) return;
  Ints kept;
  for (const int64_t d : std::get<Ints>(*value)) {
    if (!dropped.contains(d)) kept.push_back(Renumbered(d, dropped));
  }
  attributes.Set(attr, std::move(kept));
}

// A program without the dimensions of a class. Operations whose attributes it does not know stay as they are;
// where that is wrong the verifier finds out.
class RankDrop {
 public:
  RankDrop(const CheckedCase& from, int64_t name) : from_(from), classes_(from.module()), name_(name) {}

  absl::StatusOr<TestCase> Run() {
    TestCase to = from_.Copy();
    for (int32_t c = 0; c < static_cast<int32_t>(to.module.computations.size()); ++c) {
      std::vector<Instruction>& instructions = to.module.computations[static_cast<size_t>(c)].instructions;
      for (int32_t k = 0; k < static_cast<int32_t>(instructions.size()); ++k) {
        Instruction& instruction = instructions[static_cast<size_t>(k)];
        if (instruction.extras != nullptr && instruction.extras->declared_shape != nullptr)
          return InvalidProgram({}, "a dynamic dimension");
        FixAttributes(ComputationId{c}, k, instruction);
        int64_t leaf = 0;
        instruction.shape = SharedShape(Without(*instruction.shape, ComputationId{c}, k, leaf));
        if (instruction.literal != nullptr && instruction.shape->IsArray())
          instruction.literal =
              std::make_shared<const Literal>(instruction.literal->WithShape(instruction.shape));
      }
    }
    const Computation& entry = to.module.entry_computation();
    for (size_t k = 0; k < to.arguments.size(); ++k) {
      const auto& shape = entry.instructions[static_cast<size_t>(entry.parameters[k])].shape;
      if (shape->IsArray()) to.arguments[k] = to.arguments[k].WithShape(shape);
    }
    ForgetSignature(to.module);
    return to;
  }

 private:
  Dropped DroppedOf(ComputationId id, int32_t k, int64_t leaf) const {
    const Instruction& instruction = from_.module().computation(id).instructions[static_cast<size_t>(k)];
    const Shape& shape = *LeafShapes(*instruction.shape)[static_cast<size_t>(leaf)];
    Dropped dropped;
    for (int64_t d = 0; shape.IsArray() && d < shape.rank(); ++d) {
      if (classes_.ClassOf(id, k, leaf, d) == name_) dropped.insert(d);
    }
    return dropped;
  }

  Shape Without(const Shape& shape, ComputationId id, int32_t k, int64_t& leaf) const {
    if (shape.IsTuple()) {
      std::vector<Shape> elements;
      for (const Shape& element : shape.elements()) elements.push_back(Without(element, id, k, leaf));
      return Shape::Tuple(std::move(elements));
    }
    const Dropped dropped = DroppedOf(id, k, leaf++);
    return dropped.empty() ? shape : WithoutDimensions(shape, dropped);
  }

  void FixAttributes(ComputationId id, int32_t k, Instruction& instruction) const {
    if (instruction.shape->IsTuple() && instruction.operands.empty()) return;
    const bool is_array = instruction.shape->IsArray();
    const Dropped result = is_array ? DroppedOf(id, k, 0) : Dropped();
    AttributeMap& attributes = instruction.attributes;
    if (instruction.opcode == Opcode::kIota) {
      if (!result.contains(attributes.Int(Attr::kIotaDimension)))
        attributes.Set(Attr::kIotaDimension, Renumbered(attributes.Int(Attr::kIotaDimension), result));
      return;
    }
    if (instruction.operands.empty()) return;
    const auto& instructions = from_.module().computation(id).instructions;
    const int32_t first = instruction.operands[0];
    if (!instructions[static_cast<size_t>(first)].shape->IsArray()) return;
    const Dropped operand = DroppedOf(id, first, 0);
    if (instruction.opcode == Opcode::kBroadcast) {
      // Which dimensions of the result those of the operand are.
      KeepEntries<Ints>(attributes, Attr::kDimensions, operand);
      Renumber(attributes, Attr::kDimensions, result);
      return;
    }
    if (instruction.opcode == Opcode::kDot) {
      for (const Attr attr : {Attr::kLhsBatchDims, Attr::kLhsContractingDims})
        Renumber(attributes, attr, operand);
      const Dropped rhs = DroppedOf(id, instruction.operands[1], 0);
      for (const Attr attr : {Attr::kRhsBatchDims, Attr::kRhsContractingDims})
        Renumber(attributes, attr, rhs);
      return;
    }
    // Dimensions of the operand: transpose, reduce, reverse, concatenate, sort.
    Renumber(attributes, Attr::kDimensions, operand);
    KeepEntries<SliceConfig>(attributes, Attr::kSlice, operand);
    KeepEntries<PaddingConfig>(attributes, Attr::kPadding, operand);
  }

  const CheckedCase& from_;
  const SizeClasses classes_;
  const int64_t name_;
};

}  // namespace

std::vector<ReductionPlace> RankPlaces(const CheckedCase& from) {
  std::vector<ReductionPlace> places;
  const SizeClasses classes(from.module());
  for (const int64_t name : classes.ones()) places.push_back({0, 0, name});
  return places;
}

absl::StatusOr<TestCase> DropRanks(const CheckedCase& from, std::span<const ReductionPlace> places) {
  return RankDrop(from, places[0].which).Run();
}

}  // namespace assay
