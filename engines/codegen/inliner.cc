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

// What the root needs; instructions with effects are refused. The computation itself counts here.
absl::StatusOr<std::vector<bool>> Inliner::Live(const Computation& computation) {
  for (const Instruction& instruction : computation.instructions) {
    if (HasSideEffect(instruction))
      return NotSupported({}, fmt::format("{} in the computation", Name(instruction.opcode)));
  }
  counts = AddUnits(counts, AddUnits(kUnitsPerStep, computation.inlined_steps.value_or(0)));
  std::vector<bool> live(computation.instructions.size(), computation.inlined_steps.has_value());
  live[static_cast<size_t>(computation.root)] = true;
  MarkOperands(computation, live);
  for (size_t i = 0; i < live.size(); ++i) {
    // It may have an effect.
    if (!live[i] && !CalledComputations(computation.instructions[i]).empty())
      return NotSupported({}, "the result of the call is unused");
  }
  return live;
}

// Every live instruction counts, calls too.
absl::StatusOr<std::optional<ComputationId>> Inliner::CalleeOf(const Computation& caller, int32_t index,
                                                               int depth) {
  const Instruction& instruction = caller.instructions[static_cast<size_t>(index)];
  counts = AddUnits(counts, StepUnitsOf(module_, caller, instruction));
  if (++instructions_ > kMaxInstructions) return NotSupported({}, "too many instructions");
  if (instruction.opcode != Opcode::kCall && instruction.opcode != Opcode::kFusion) return std::nullopt;
  if (depth >= kMaxInlining) return NotSupported({}, "calls nested too deeply");
  return CalledComputations(instruction)[0];
}

absl::StatusOr<InlinedValue> Inliner::Emit(const Computation& computation, int32_t index,
                                           std::span<const InlinedValue> values) {
  const Instruction& instruction = computation.instructions[static_cast<size_t>(index)];
  switch (instruction.opcode) {
    case Opcode::kTuple:
      return TupleOf(instruction, values);
    case Opcode::kGetTupleElement:
      return ElementOf(instruction, values);
    default:
      return ArrayOf(computation, instruction, values);
  }
}

absl::StatusOr<InlinedValue> Inliner::Inline(ComputationId id, std::span<const InlinedValue> arguments) {
  const auto live = [&](ComputationId c) { return Live(module_.computation(c)); };
  const auto callee = [&](ComputationId c, int32_t i, int depth) {
    return CalleeOf(module_.computation(c), i, depth);
  };
  const auto emit = [&](ComputationId c, int32_t i, std::span<const InlinedValue> values) {
    return Emit(module_.computation(c), i, values);
  };
  ASSAY_ASSIGN_OR_RETURN(std::vector<InlinedValue> values,
                         InlineInto(module_, id, arguments, {live, callee, emit}));
  return std::move(values[static_cast<size_t>(module_.computation(id).root)]);
}

InlinedValue Inliner::ConstantOf(const Literal& literal) {
  const int64_t n = literal.shape().num_elements();
  const ElementType type = literal.shape().element_type();
  constants.push_back(n == 1 ? CopiesOf(literal.data(), Bytes(type))
                             : LanesOf(literal.data(), n, Bytes(type)));
  constant_streams.push_back(static_cast<int>(segment.streams.size()));
  return NodeValue(AddStream(type));
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
  return NodeValue(AddNode({.opcode = Opcode::kBroadcast,
                            .type = shape.element_type(),
                            .operands = {static_cast<int16_t>(operand.id), -1, -1},
                            .a = lane}));
}

absl::StatusOr<InlinedValue> Inliner::ArrayOf(const Computation& computation, const Instruction& instruction,
                                              std::span<const InlinedValue> values) {
  const Shape& shape = *instruction.shape;
  if (shape.IsArray() && !jit::IsKnown(shape.element_type()))
    return NotSupported({}, fmt::format("element type {}", Name(shape.element_type())));
  if (!Fits(shape))
    return NotSupported({}, fmt::format("{} gives {}", Name(instruction.opcode), shape.ToString()));
  elements = std::max(elements, shape.num_elements());
  if (instruction.opcode == Opcode::kConstant && instruction.literal == nullptr)
    return NotSupported({}, "a constant without a value");
  if (instruction.opcode == Opcode::kConstant) return ConstantOf(*instruction.literal);
  absl::InlinedVector<ElementType, 3> types;
  for (int32_t operand : instruction.operands) {
    const Shape& from = *computation.instructions[static_cast<size_t>(operand)].shape;
    if (values[static_cast<size_t>(operand)].id < 0)
      return NotSupported({}, fmt::format("{} of {}", Name(instruction.opcode), from.ToString()));
    types.push_back(from.element_type());
  }
  if (types.size() == 1 && types[0] == shape.element_type()) {
    const InlinedValue& operand = values[static_cast<size_t>(instruction.operands[0])];
    if (const std::optional<InlinedValue> moved = Moved(computation, instruction, operand)) return *moved;
  }
  if (DefinitionOf(instruction.opcode).strip == nullptr)
    return NotSupported({}, fmt::format("no code for {}", Name(instruction.opcode)));
  jit::Node node = NodeOf(instruction, types);
  for (size_t k = 0; k < types.size(); ++k) {
    const int32_t operand = instruction.operands[k];
    node.operands[k] = static_cast<int16_t>(values[static_cast<size_t>(operand)].id);
  }
  if (!jit::CanGenerate(node, types, target_)) {
    return NotSupported({}, fmt::format("no code for {} of {}", Name(instruction.opcode), Name(types[0])));
  }
  return NodeValue(AddNode(node));
}

}  // namespace assay::codegen
