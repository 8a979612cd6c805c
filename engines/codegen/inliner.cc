#include "engines/codegen/inliner.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "engines/codegen/nodes.h"
#include "evaluator/registry.h"
#include "evaluator/steps.h"
#include "fmt/format.h"
#include "plan/fusion.h"
#include "shape/index.h"

namespace assay::codegen {
namespace {

constexpr int kMaxInlining = 64;              // calls in calls
constexpr size_t kMaxInstructions = 1 << 11;  // those of calls included

}  // namespace

Copies CopiesOf(const std::byte* element, int bytes) {
  Copies copies;
  for (int64_t i = 0; i < jit::kMaxLanes; ++i) std::memcpy(copies.bytes + i * bytes, element, bytes);
  return copies;
}

Copies LanesOf(const std::byte* elements, int64_t n, int bytes) {
  Copies copies{};
  std::memcpy(copies.bytes, elements, static_cast<size_t>(n * bytes));
  return copies;
}

bool Inliner::Fits(const Shape& shape) const {
  return shape.IsArray() && !shape.HasDynamic() && !shape.HasUnbounded() && shape.num_elements() >= 1 &&
         shape.num_elements() <= most_elements_ && jit::IsKnown(shape.element_type());
}

int Inliner::AddNode(jit::Node node) {
  segment.nodes.push_back(node);
  return static_cast<int>(segment.nodes.size()) - 1;
}

int Inliner::AddStream(ElementType type) {
  segment.streams.push_back({type, /*repeated=*/true});
  return AddNode(
      {.opcode = Opcode::kParameter, .type = type, .a = static_cast<int64_t>(segment.streams.size()) - 1});
}

// Which instructions the root needs; those with effects are none of ours.
absl::StatusOr<std::vector<bool>> Inliner::Needed(const Computation& computation) const {
  std::vector<bool> needed(computation.instructions.size(), false);
  needed[static_cast<size_t>(computation.root)] = true;
  for (size_t i = needed.size(); i-- > 0;) {
    const Instruction& instruction = computation.instructions[i];
    if (HasSideEffect(instruction))
      return NotSupported({}, fmt::format("{} in the computation", Name(instruction.opcode)));
    if (computation.inlined_steps.has_value()) needed[i] = true;
    if (!needed[i]) continue;
    for (int32_t operand : instruction.operands) needed[static_cast<size_t>(operand)] = true;
    for (int32_t before : instruction.control_predecessors) needed[static_cast<size_t>(before)] = true;
  }
  return needed;
}

absl::StatusOr<InlinedValue> Inliner::Inline(ComputationId id, std::vector<InlinedValue> arguments,
                                             int depth) {
  if (depth > kMaxInlining) return NotSupported({}, "too many calls in calls");
  const Computation& computation = module_.computation(id);
  ASSAY_ASSIGN_OR_RETURN(const std::vector<bool> needed, Needed(computation));
  counts = AddCounts(counts, AddCounts(kCountsPerStep, computation.inlined_steps.value_or(0)));
  std::vector<InlinedValue> values(computation.instructions.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const Instruction& instruction = computation.instructions[i];
    if (!needed[i]) continue;
    if (instruction.opcode == Opcode::kParameter) {
      values[i] = arguments[static_cast<size_t>(instruction.parameter_number)];
      continue;
    }
    counts = AddCounts(counts, CountsOf(computation, instruction));
    if (++instructions_ > kMaxInstructions) return NotSupported({}, "too many instructions");
    ASSAY_ASSIGN_OR_RETURN(values[i], ValueOf(computation, instruction, values, depth));
  }
  return std::move(values[static_cast<size_t>(computation.root)]);
}

absl::StatusOr<InlinedValue> Inliner::ValueOf(const Computation& computation, const Instruction& instruction,
                                              const std::vector<InlinedValue>& values, int depth) {
  std::vector<InlinedValue> operands;
  for (int32_t operand : instruction.operands) operands.push_back(values[static_cast<size_t>(operand)]);
  switch (instruction.opcode) {
    case Opcode::kTuple:
      return InlinedValue{.parts = std::move(operands)};
    case Opcode::kGetTupleElement:
      return operands[0].parts[static_cast<size_t>(instruction.attributes.Int(Attr::kIndex))];
    case Opcode::kCall:
      return Inline(*instruction.attributes.Computation(Attr::kToApply), std::move(operands), depth + 1);
    case Opcode::kFusion:
      return Inline(*instruction.attributes.Computation(Attr::kCalls), std::move(operands), depth + 1);
    default:
      return ArrayOf(computation, instruction, operands);
  }
}

InlinedValue Inliner::ConstantOf(const Literal& literal) {
  const int64_t n = literal.shape().num_elements();
  const ElementType type = literal.shape().element_type();
  constants.push_back(n == 1 ? CopiesOf(literal.data(), Bytes(type))
                             : LanesOf(literal.data(), n, Bytes(type)));
  constant_streams.push_back(static_cast<int>(segment.streams.size()));
  return InlinedValue{.node = AddStream(type)};
}

std::optional<InlinedValue> Inliner::Moved(const Computation& computation, const Instruction& instruction,
                                           const InlinedValue& operand) {
  const Shape &from = *computation.instructions[static_cast<size_t>(instruction.operands[0])].shape,
              &shape = *instruction.shape;
  const int64_t n = shape.num_elements();
  const bool stays = n == 1 && from.num_elements() == 1 && instruction.opcode == Opcode::kBitcast
                         ? from.element_type() == shape.element_type()
                         : KeepsPositions(computation, instruction);
  if (stays) return operand;
  if (instruction.opcode == Opcode::kBroadcast && from.num_elements() == 1) return operand;
  if (instruction.opcode != Opcode::kSlice || n != 1) return std::nullopt;
  const auto& slice = std::get<SliceConfig>(*instruction.attributes.Find(Attr::kSlice));
  const DimVector strides = RowMajorStrides(from.sizes());
  int64_t lane = 0;
  for (size_t d = 0; d < slice.size(); ++d) lane += slice[d].start * strides[d];
  return InlinedValue{.node = AddNode({.opcode = Opcode::kBroadcast,
                                       .type = shape.element_type(),
                                       .operands = {static_cast<int16_t>(operand.node), -1, -1},
                                       .a = lane})};
}

absl::StatusOr<InlinedValue> Inliner::ArrayOf(const Computation& computation, const Instruction& instruction,
                                              const std::vector<InlinedValue>& operands) {
  const Shape& shape = *instruction.shape;
  if (shape.IsArray() && !jit::IsKnown(shape.element_type()))
    return NotSupported({}, fmt::format("element type {}", Name(shape.element_type())));
  if (!Fits(shape))
    return NotSupported({}, fmt::format("{} gives {}", Name(instruction.opcode), shape.ToString()));
  elements = std::max(elements, shape.num_elements());
  if (instruction.opcode == Opcode::kConstant) return ConstantOf(*instruction.literal);
  absl::InlinedVector<ElementType, 3> types;
  for (size_t k = 0; k < operands.size(); ++k) {
    const Shape& operand = *computation.instructions[static_cast<size_t>(instruction.operands[k])].shape;
    if (operands[k].node < 0)
      return NotSupported({}, fmt::format("{} of {}", Name(instruction.opcode), operand.ToString()));
    types.push_back(operand.element_type());
  }
  if (operands.size() == 1 && types[0] == shape.element_type()) {
    if (const std::optional<InlinedValue> moved = Moved(computation, instruction, operands[0])) return *moved;
  }
  if (DefinitionOf(instruction.opcode).strip == nullptr)
    return NotSupported({}, fmt::format("no code for {}", Name(instruction.opcode)));
  jit::Node node = NodeOf(instruction, types);
  for (size_t k = 0; k < operands.size(); ++k) node.operands[k] = static_cast<int16_t>(operands[k].node);
  if (!jit::CanGenerate(node, types, target_)) {
    return NotSupported({}, fmt::format("no code for {} of {}", Name(instruction.opcode), Name(types[0])));
  }
  return InlinedValue{.node = AddNode(node)};
}

}  // namespace assay::codegen
