// Rewrites that share an instruction's work out to several devices: each computes a part of its result, or of
// what is summed up for it, and collectives put the parts together. Every device then has what the whole
// instruction gives.
#include <algorithm>
#include <optional>
#include <utility>

#include "evaluator/registry.h"
#include "find/fuzz/rewrite_parts.h"

namespace assay::fuzz {
namespace {

constexpr int64_t kMostDevices = 4;

// A dimension of some array that is cut into equal parts, one for each device.
struct Cut {
  int64_t dimension = 0, devices = 0;
};

std::vector<Cut> CutsOf(const Shape& shape, std::span<const int64_t> dimensions) {
  std::vector<Cut> cuts;
  for (const int64_t d : dimensions) {
    for (int64_t devices = 2; devices <= kMostDevices; ++devices) {
      if (shape.size(d) > 0 && shape.size(d) % devices == 0) cuts.push_back({d, devices});
    }
  }
  return cuts;
}

const Shape& ShapeOfOperand(const Module& module, const Instruction& instruction, size_t k) {
  return *module.entry_computation().instructions[static_cast<size_t>(instruction.operands[k])].shape;
}

// --- Parts ---

// Sets the number of devices, and gives the number of this one times `part`.
int32_t StartOfPart(RewriteSite& site, int64_t devices, int64_t part) {
  site.devices = devices;
  const int32_t id = Write(site, Opcode::kPartitionId, {});
  const int32_t size = site.edit.AddConstant(Literal::ScalarInt(ElementType::kU32, part));
  return Write(site, Opcode::kMultiply, {id, size});
}

int32_t PartOf(RewriteSite& site, int32_t array, int64_t dimension, int64_t part, int32_t start) {
  const Shape shape = *site.edit.at(array).shape;
  const int32_t zero = site.edit.AddConstant(Literal::ScalarInt(ElementType::kU32, 0));
  Instruction slice(Opcode::kDynamicSlice);
  slice.operands = {array};
  Ints sizes;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    slice.operands.push_back(d == dimension ? start : zero);
    sizes.push_back(d == dimension ? part : shape.size(d));
  }
  slice.attributes.Set(Attr::kDynamicSliceSizes, std::move(sizes));
  return site.edit.Add(std::move(slice));
}

// Of all devices, by their ids.
std::vector<AttributeMap::Entry> AllDevices(int64_t devices) {
  ReplicaGroups groups;
  groups.groups.emplace_back();
  for (int64_t id = 0; id < devices; ++id) groups.groups[0].push_back(id);
  return {{Attr::kReplicaGroups, std::make_shared<const ReplicaGroups>(std::move(groups))},
          {Attr::kChannelId, int64_t{1}},
          {Attr::kUseGlobalDeviceIds, true}};
}

int32_t Gathered(RewriteSite& site, int32_t part, const Cut& cut) {
  std::vector<AttributeMap::Entry> attributes = AllDevices(cut.devices);
  attributes.push_back({Attr::kDimensions, Ints{cut.dimension}});
  return Write(site, Opcode::kAllGather, {part}, std::move(attributes));
}

int32_t Reduced(RewriteSite& site, int32_t part, int64_t devices, ComputationId reducer) {
  std::vector<AttributeMap::Entry> attributes = AllDevices(devices);
  attributes.push_back({Attr::kToApply, reducer});
  return Write(site, Opcode::kAllReduce, {part}, std::move(attributes));
}

// --- Elementwise operations ---

std::vector<Cut> CutsOfElementwise(const Module& module, const Instruction& instruction) {
  if (DefinitionOf(instruction.opcode).strip == nullptr || instruction.operands.empty()) return {};
  if (!IsStaticArray(module, instruction)) return {};
  for (size_t k = 0; k < instruction.operands.size(); ++k) {
    const Instruction& operand =
        module.entry_computation().instructions[static_cast<size_t>(instruction.operands[k])];
    if (!IsStaticArray(module, operand) ||
        !std::ranges::equal(operand.shape->sizes(), instruction.shape->sizes()))
      return {};
  }
  Ints all;
  for (int64_t d = 0; d < instruction.shape->rank(); ++d) all.push_back(d);
  return CutsOf(*instruction.shape, all);
}

bool IsShareable(const Module& module, const Instruction& instruction) {
  return !CutsOfElementwise(module, instruction).empty();
}

Cut AnyOf(RewriteSite& site, std::span<const Cut> cuts) {
  return cuts[static_cast<size_t>(site.choices.Below(std::ssize(cuts)))];
}

int32_t ShareElementwise(RewriteSite& site) {
  const Cut cut = AnyOf(site, CutsOfElementwise(site.module, site.before()));
  const int64_t part = site.shape().size(cut.dimension) / cut.devices;
  const int32_t start = StartOfPart(site, cut.devices, part);
  Instruction some = site.before();
  for (int32_t& operand : some.operands)
    operand = PartOf(site, site.edit.At(operand), cut.dimension, part, start);
  DimVector sizes(site.shape().sizes().begin(), site.shape().sizes().end());
  sizes[static_cast<size_t>(cut.dimension)] = part;
  some.shape = SharedShape(Shape::ArrayOrDie(site.shape().element_type(), sizes));
  return Gathered(site, site.edit.Add(std::move(some)), cut);
}

// --- Dots: parts of what is contracted ---

std::vector<Cut> CutsOfDot(const Module& module, const Instruction& instruction) {
  if (!IsPlainDot(module, instruction)) return {};
  return CutsOf(ShapeOfOperand(module, instruction, 0),
                instruction.attributes.List(Attr::kLhsContractingDims));
}

bool IsSharedDot(const Module& module, const Instruction& instruction) {
  return !CutsOfDot(module, instruction).empty() && !IsFloat(instruction.shape->element_type());
}

bool IsSharedFloatDot(const Module& module, const Instruction& instruction) {
  return !CutsOfDot(module, instruction).empty() && IsFloat(instruction.shape->element_type());
}

// a + b
std::vector<Computation> AdderOf(Choices&, const Module&, const Instruction& instruction) {
  const auto scalar = SharedShape(Shape::Scalar(instruction.shape->element_type()));
  Computation sum;
  sum.name = "sum";
  for (int64_t k = 0; k < 2; ++k) {
    Instruction parameter(Opcode::kParameter);
    parameter.shape = scalar;
    parameter.parameter_number = k;
    parameter.name = k == 0 ? "a" : "b";
    sum.parameters.push_back(static_cast<int32_t>(k));
    sum.instructions.push_back(std::move(parameter));
  }
  Instruction add(Opcode::kAdd);
  add.operands = {0, 1};
  add.shape = scalar;
  add.name = "c";
  sum.instructions.push_back(std::move(add));
  sum.root = 2;
  return {std::move(sum)};
}

int32_t ShareDot(RewriteSite& site) {
  const Instruction& dot = site.before();
  const Cut cut = AnyOf(site, CutsOfDot(site.module, dot));
  const std::span<const int64_t> contracted = dot.attributes.List(Attr::kLhsContractingDims);
  const auto k = static_cast<size_t>(std::ranges::find(contracted, cut.dimension) - contracted.begin());
  const int64_t part = ShapeOfOperand(site.module, dot, 0).size(cut.dimension) / cut.devices;
  const int32_t start = StartOfPart(site, cut.devices, part);
  Instruction some = dot;
  const int32_t lhs = PartOf(site, site.edit.At(dot.operands[0]), cut.dimension, part, start);
  some.operands = {lhs, PartOf(site, site.edit.At(dot.operands[1]),
                               dot.attributes.List(Attr::kRhsContractingDims)[k], part, start)};
  return Reduced(site, site.edit.Add(std::move(some)), cut.devices, site.callees[0]);
}

// --- Reduces: parts of what is reduced ---

std::vector<Cut> CutsOfReduce(const Module& module, const Instruction& instruction) {
  if (!IsPlainReduce(module, instruction)) return {};
  return CutsOf(ShapeOfOperand(module, instruction, 0), instruction.attributes.List(Attr::kDimensions));
}

bool IsSharedReduce(const Module& module, const Instruction& instruction) {
  return !CutsOfReduce(module, instruction).empty() && !SumsFloats(module, instruction);
}

bool IsSharedSum(const Module& module, const Instruction& instruction) {
  return !CutsOfReduce(module, instruction).empty() && SumsFloats(module, instruction);
}

int32_t ShareReduce(RewriteSite& site) {
  Instruction some = site.before();
  const Cut cut = AnyOf(site, CutsOfReduce(site.module, some));
  const int64_t part = ShapeOfOperand(site.module, some, 0).size(cut.dimension) / cut.devices;
  const int32_t start = StartOfPart(site, cut.devices, part);
  const int32_t operand = PartOf(site, site.edit.At(some.operands[0]), cut.dimension, part, start);
  const ComputationId reducer = *some.attributes.Computation(Attr::kToApply);
  const Instruction& root = site.module.computation(reducer).root_instruction();
  const int32_t start_value = site.edit.At(some.operands[1]);
  some.operands = {operand, WritePartialStart(site)};
  const int32_t all = Reduced(site, site.edit.Add(std::move(some)), cut.devices, reducer);
  const int32_t once = Write(site, Opcode::kBroadcast, {start_value}, {{Attr::kDimensions, Ints{}}},
                             WithType(site.shape(), site.shape().element_type()));
  return Write(site, root.opcode, {all, once});
}

constexpr EqualRewrite kDeviceRewrites[] = {
    {"share out the elements", IsShareable, nullptr, ShareElementwise, Keeps::kBits, true},
    {"share out a dot", IsSharedDot, AdderOf, ShareDot, Keeps::kBits, true},
    {"share out a dot of floats", IsSharedFloatDot, AdderOf, ShareDot, Keeps::kMeaning, true},
    {"share out a reduce", IsSharedReduce, nullptr, ShareReduce, Keeps::kBits, true},
    {"share out a sum", IsSharedSum, nullptr, ShareReduce, Keeps::kMeaning, true},
};

}  // namespace

std::span<const EqualRewrite> DeviceRewrites() { return kDeviceRewrites; }

}  // namespace assay::fuzz
