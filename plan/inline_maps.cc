#include "plan/inline_maps.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "evaluator/elementwise.h"
#include "evaluator/registry.h"
#include "evaluator/static_shape.h"
#include "evaluator/steps.h"

namespace assay {
namespace {

// A scalar that stays as it is.
bool IsMove(const Computation& body, const Instruction& instruction) {
  const OpDef& op = DefinitionOf(instruction.opcode);
  return (op.source != nullptr || op.is_identity) &&
         body.instructions[static_cast<size_t>(instruction.operands[0])].shape->element_type() ==
             instruction.shape->element_type();
}

bool IsElementwiseIn(const Computation& body, const Instruction& instruction) {
  const StripFor strip = DefinitionOf(instruction.opcode).strip;
  if (strip == nullptr || instruction.operands.empty()) return false;
  absl::InlinedVector<ElementType, 3> types;
  for (int32_t operand : instruction.operands)
    types.push_back(body.instructions[static_cast<size_t>(operand)].shape->element_type());
  return strip(instruction, types, instruction.shape->element_type()).fn != nullptr;
}

// An instruction of one operand that stands for `instruction` in messages.
Instruction InPlaceOf(const Instruction& instruction, Opcode opcode, std::shared_ptr<const Shape> shape,
                      int32_t operand) {
  Instruction made(opcode);
  made.position = instruction.position;
  made.name = instruction.name;
  made.shape = std::move(shape);
  made.operands = {operand};
  return made;
}

std::shared_ptr<const Shape> Spread(const Shape& scalar, const Shape& array) {
  return std::make_shared<const Shape>(Shape::ArrayOrDie(scalar.element_type(), array.sizes()));
}

// Writes one map out.
class MapWriter {
 public:
  MapWriter(const MapSite& site, size_t most, Computation& result)
      : site_(site), most_(result.instructions.size() + most), result_(result) {}

  absl::StatusOr<int32_t> Run(std::span<const InlinedValue> places) {
    std::vector<InlinedValue> arguments;
    for (int32_t operand : site_.map.operands) arguments.push_back(places[static_cast<size_t>(operand)]);
    const auto live = [&](ComputationId id) -> absl::StatusOr<std::vector<bool>> {
      return site_.live[static_cast<size_t>(id.value)];
    };
    const auto callee = [&](ComputationId id, int32_t i, int) {
      return CalleeOf(site_.module.computation(id), i);
    };
    const auto emit = [&](ComputationId id, int32_t i, std::span<const InlinedValue> values) {
      return Emit(site_.module.computation(id), i, values);
    };
    const ComputationId body = *site_.map.attributes.Computation(Attr::kToApply);
    ASSAY_ASSIGN_OR_RETURN(const std::vector<InlinedValue> values,
                           InlineInto(site_.module, body, arguments, {live, callee, emit}));
    const int32_t value = values[static_cast<size_t>(site_.module.computation(body).root)].id;
    if (Shape::Equal(*result_.instructions[static_cast<size_t>(value)].shape, *site_.map.shape)) return value;
    // A parameter of another layout, or a layout that the map alone has.
    return Append(InPlaceOf(site_.map, Opcode::kCopy, site_.map.shape, value));
  }

 private:
  static absl::StatusOr<std::optional<ComputationId>> CalleeOf(const Computation& caller, int32_t i) {
    const Instruction& instruction = caller.instructions[static_cast<size_t>(i)];
    if (!instruction.control_predecessors.empty()) return NotSupported({}, "a control dependency");
    const bool is_map = DefinitionOf(instruction.opcode).arguments == Arguments::kElements;
    if (instruction.opcode != Opcode::kCall && instruction.opcode != Opcode::kFusion && !is_map)
      return std::nullopt;
    return CalledComputations(instruction)[0];
  }

  absl::StatusOr<InlinedValue> Emit(const Computation& body, int32_t i,
                                    std::span<const InlinedValue> values) {
    const Instruction& instruction = body.instructions[static_cast<size_t>(i)];
    if (instruction.opcode == Opcode::kTuple) return TupleOf(instruction, values);
    if (instruction.opcode == Opcode::kGetTupleElement) return ElementOf(instruction, values);
    if (!instruction.shape->IsScalar()) return NotSupported({}, "not a scalar");
    if (instruction.opcode == Opcode::kConstant) return Constant(instruction);
    if (IsMove(body, instruction)) return values[static_cast<size_t>(instruction.operands[0])];
    if (!IsElementwiseIn(body, instruction)) return NotSupported({}, "not elementwise");
    Instruction copy = instruction;
    for (int32_t& operand : copy.operands) operand = values[static_cast<size_t>(operand)].id;
    copy.shape = Spread(*copy.shape, *site_.map.shape);
    return Emitted(std::move(copy));
  }

  absl::StatusOr<InlinedValue> Constant(const Instruction& constant) {
    if (constant.literal == nullptr) return NotSupported({}, "a constant without a value");
    ASSAY_ASSIGN_OR_RETURN(const InlinedValue scalar, Emitted(constant));
    if (site_.map.shape->rank() == 0) return scalar;
    Instruction broadcast =
        InPlaceOf(constant, Opcode::kBroadcast, Spread(*constant.shape, *site_.map.shape), scalar.id);
    broadcast.attributes.Set(Attr::kDimensions, Ints{});
    return Emitted(std::move(broadcast));
  }

  absl::StatusOr<InlinedValue> Emitted(Instruction instruction) {
    if (result_.instructions.size() >= most_) return NotSupported({}, "too many instructions");
    return InlinedValue{.id = Append(std::move(instruction))};
  }

  int32_t Append(Instruction instruction) {
    result_.instructions.push_back(std::move(instruction));
    return static_cast<int32_t>(result_.instructions.size()) - 1;
  }

  const MapSite& site_;
  const size_t most_;  // instructions of the whole result
  Computation& result_;
};

}  // namespace

std::optional<int32_t> InlineMap(const MapSite& site, std::span<const InlinedValue> places, size_t most,
                                 Computation& result) {
  const Shape& shape = *site.map.shape;
  // The widest elements that an op in between may have.
  if (!IsStaticArray(shape) || !Shape::Array(ElementType::kC128, shape.sizes()).ok()) return std::nullopt;
  const size_t begin = result.instructions.size();
  const absl::StatusOr<int32_t> value = MapWriter(site, most, result).Run(places);
  if (!value.ok()) {
    result.instructions.resize(begin);
    return std::nullopt;
  }
  int64_t counts = StepUnitsOf(site.module, site.caller, site.map);
  for (size_t i = begin; i < result.instructions.size(); ++i)
    counts = AddUnits(counts, -StepUnitsOf(site.module, result, result.instructions[i]));
  result.inlined_steps = AddUnits(*result.inlined_steps, counts);
  return *value;
}

}  // namespace assay
