#include "evaluator/ops/collective/collective_terms.h"

#include <algorithm>

#include "evaluator/replica_groups.h"

namespace assay {
namespace {

// Groups were checked when the program ran.
std::vector<int64_t> MembersOf(const DeviceGrid& grid, const Instruction& instruction, size_t device) {
  const bool has_global_ids = instruction.opcode == Opcode::kAllReduce ||
                              instruction.opcode == Opcode::kReduceScatter ||
                              instruction.opcode == Opcode::kAllGather;
  return GroupOf(grid, instruction.attributes, {.has_global_ids = has_global_ids},
                 static_cast<int64_t>(device));
}

// The device that sends to this one; nullopt: none.
std::optional<int64_t> SourceTo(const DeviceGrid& grid, const Instruction& instruction, int64_t device) {
  const IdKind kind = IdKindOf(instruction.attributes, /*has_global_ids=*/false);
  const DevicePairs pairs =
      PairsOf(grid, instruction.attributes.Lists(Attr::kSourceTargetPairs), kind, device);
  const auto it = std::ranges::find(pairs, device, &DevicePairs::value_type::second);
  return it == pairs.end() ? std::nullopt : std::optional(it->first);
}

// A position whose index in one dimension is split: which part of `size` it is in, and where in it.
struct SplitPosition {
  int64_t part = 0, in_part = 0;
  int64_t outer = 0, inner = 0;  // index before the dimension, and behind it

  // The position in an array of `length` along the dimension, at `index` in it.
  int64_t In(int64_t length, int64_t index, int64_t stride) const {
    return (outer * length + index) * stride + inner;
  }
};

int64_t StrideOf(const Shape& shape, int64_t dimension) {
  return RowMajorStrides(shape.sizes())[static_cast<size_t>(dimension)];
}

SplitPosition SplitAt(const Shape& shape, int64_t dimension, int64_t size, int64_t position) {
  const int64_t stride = StrideOf(shape, dimension), length = shape.size(dimension);
  const int64_t index = position / stride % length;
  return {index / size, index % size, position / stride / length, position % stride};
}

}  // namespace

std::optional<std::vector<DeviceElement>> TermsOfCollective(const DeviceGrid& grid,
                                                            const Instruction& instruction,
                                                            const Shape& operand, const Shape& result,
                                                            size_t device, const ShapeIndex& leaf,
                                                            int64_t position) {
  if (!operand.IsArray() || !result.IsArray() || operand.HasDynamic() || result.HasDynamic())
    return std::nullopt;
  const auto number = leaf.empty() ? 0 : static_cast<int32_t>(leaf[0]);
  const auto at = [number](int64_t id, int64_t where) {
    return DeviceElement{static_cast<size_t>(id), number, where};
  };
  const std::span<const int64_t> dimensions = instruction.attributes.List(Attr::kDimensions);
  std::vector<DeviceElement> terms;
  if (instruction.opcode == Opcode::kCollectivePermute) {
    if (instruction.operands.size() != 1) return std::nullopt;
    const std::optional<int64_t> source = SourceTo(grid, instruction, static_cast<int64_t>(device));
    if (source) terms.push_back(at(*source, position));
    return terms;
  }
  const std::vector<int64_t> members = MembersOf(grid, instruction, device);
  const auto own = std::ranges::find(members, static_cast<int64_t>(device)) - members.begin();
  switch (instruction.opcode) {
    case Opcode::kAllReduce:
      for (const int64_t id : members) terms.push_back(at(id, position));
      return terms;
    case Opcode::kReduceScatter: {
      const SplitPosition split = SplitAt(result, dimensions[0], result.size(dimensions[0]), position);
      const int64_t index = own * result.size(dimensions[0]) + split.in_part;
      for (const int64_t id : members) {
        terms.push_back(
            at(id, split.In(operand.size(dimensions[0]), index, StrideOf(operand, dimensions[0]))));
      }
      return terms;
    }
    case Opcode::kAllGather: {
      const int64_t size = operand.size(dimensions[0]);
      const SplitPosition split = SplitAt(result, dimensions[0], size, position);
      terms.push_back(at(members[static_cast<size_t>(split.part)],
                         split.In(size, split.in_part, StrideOf(operand, dimensions[0]))));
      return terms;
    }
    case Opcode::kAllToAll: {
      if (dimensions.empty() || instruction.operands.size() != 1) return std::nullopt;
      const int64_t part = operand.size(dimensions[0]) / std::ssize(members);
      const SplitPosition split = SplitAt(result, dimensions[0], part, position);
      terms.push_back(at(members[static_cast<size_t>(split.part)],
                         split.In(operand.size(dimensions[0]), own * part + split.in_part,
                                  StrideOf(operand, dimensions[0]))));
      return terms;
    }
    case Opcode::kCollectiveBroadcast:
      if (!members.empty()) terms.push_back(at(members[0], position));
      return terms;
    default:
      return std::nullopt;
  }
}

}  // namespace assay
