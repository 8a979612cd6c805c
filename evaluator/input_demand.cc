#include "evaluator/input_demand.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace assay::demand {

using Component = InputDemand::Component;
using Kind = InputDemand::Kind;

Component RangeUpTo(int64_t high) { return {0, std::max<int64_t>(high, 0) + 1, 1, 0}; }

InputDemand OneRange(int64_t low, int64_t high) {
  InputDemand demand;
  demand.components = {{low, std::max(high, low) - low + 1, 1, 0}};
  return demand;
}

InputDemand IndexVectors(const AttributeMap& attributes, const Shape& operand, const Shape& indices,
                         std::span<const int64_t> map, std::span<const int64_t> extent) {
  InputDemand demand;
  const int64_t v = attributes.Int(Attr::kIndexVectorDim);
  for (int64_t d = v + 1; d < indices.rank(); ++d) demand.inner *= indices.size(d);
  demand.components.clear();
  for (int64_t d : map) {
    Component component = RangeUpTo(operand.size(d) - extent[static_cast<size_t>(d)]);
    component.rank = d;
    demand.components.push_back(component);
  }
  if (demand.components.empty()) demand.components.push_back({});
  demand.sorted = attributes.Bool(Attr::kIndicesAreSorted);
  demand.unique = attributes.Bool(Attr::kUniqueIndices);
  if (demand.unique) {  // no element of a window may meet another window's
    for (size_t j = 0; j < map.size(); ++j) {
      const int64_t size = std::max<int64_t>(extent[static_cast<size_t>(map[j])], 1);
      demand.components[j].count = std::max<int64_t>(operand.size(map[j]) / size, 1);
      demand.components[j].step = size;
    }
  }
  return demand;
}

void AddStarts(const InstructionView& view, size_t first, std::span<const int64_t> extent,
               std::vector<OperandDemand>& demands) {
  const Shape& operand = view.operand(0);
  const size_t starts = view.num_operands() - first;
  const auto high = [&](size_t d) { return operand.size(static_cast<int64_t>(d)) - extent[d]; };
  if (starts == 1 && view.operand(first).rank() == 1) {
    InputDemand demand;
    demand.components.clear();
    for (size_t d = 0; d < static_cast<size_t>(operand.rank()); ++d)
      demand.components.push_back(RangeUpTo(high(d)));
    if (!demand.components.empty()) demands.push_back({static_cast<int64_t>(first), std::move(demand)});
    return;
  }
  for (size_t d = 0; d < starts; ++d)
    demands.push_back({static_cast<int64_t>(first + d), OneRange(0, high(d))});
}

void Matrices(const InstructionView& view, std::vector<OperandDemand>& demands) {
  InputDemand demand;
  demand.kind = Kind::kMatrices;
  demand.width = view.operand(0).size(view.operand(0).rank() - 1);
  demands.push_back({0, std::move(demand)});
}

std::optional<InputDemand> Loosened(const InputDemand& demand) {
  if (demand.kind == Kind::kMatrices) return std::nullopt;
  if (demand.kind == Kind::kPartition) return OneRange(0, demand.bound / std::max<int64_t>(demand.width, 1));
  int64_t low = std::numeric_limits<int64_t>::min(), high = std::numeric_limits<int64_t>::max();
  for (const Component& c : demand.components) {
    low = std::max(low, c.low);
    high = std::min(high, c.low + c.step * (c.count - 1));
  }
  return OneRange(low, high);
}

void AddLoosened(int64_t operand, const InputDemand& demand, std::vector<OperandDemand>& demands) {
  if (auto loosened = Loosened(demand)) demands.push_back({operand, *std::move(loosened)});
}

void Whole(const InstructionView&, const InputDemand& demand, std::span<const int64_t> path,
           std::vector<OperandDemand>& demands) {
  demands.push_back({0, demand, {path.begin(), path.end()}});
}

void OfCallees(const InstructionView& view, const InputDemand& demand, std::span<const int64_t> path,
               std::vector<OperandDemand>& demands) {
  for (ComputationId callee : CalledComputations(view.instruction))
    demands.push_back({0, demand, {path.begin(), path.end()}, callee});
}

std::vector<int64_t> Prepend(int64_t first, std::span<const int64_t> path) {
  std::vector<int64_t> longer = {first};
  longer.insert(longer.end(), path.begin(), path.end());
  return longer;
}

}  // namespace assay::demand
