#include "find/origin/value_source.h"

#include <algorithm>
#include <utility>

namespace assay {
namespace {

ShapeIndex WithoutFirst(const ShapeIndex& leaf) { return {leaf.begin() + 1, leaf.end()}; }

// Conditional: true is branch 0, false branch 1; a number out of range takes the last branch.
size_t ChosenBranch(const Literal& selector, size_t branches) {
  const int64_t number = selector.GetInt(0);
  if (selector.shape().element_type() == ElementType::kPred) return number != 0 ? 0 : 1;
  return number < 0 || number >= static_cast<int64_t>(branches) ? branches - 1 : static_cast<size_t>(number);
}

class Resolver {
 public:
  explicit Resolver(const Module& module) : module_(module) {}

  // The place that this one's value comes from; nullopt: its instruction computed it.
  std::optional<ValuePlace> Before(const ValuePlace& place) const {
    const Instruction& instruction = InstructionAt(module_, place);
    const auto operand = [&](size_t k, ShapeIndex leaf) {
      return ValuePlace{place.call, instruction.operands[k], std::move(leaf)};
    };
    if (instruction.opcode == Opcode::kOptBarrier) return operand(0, place.leaf);
    switch (instruction.opcode) {
      case Opcode::kGetTupleElement: {
        ShapeIndex leaf = {instruction.attributes.Int(Attr::kIndex)};
        leaf.insert(leaf.end(), place.leaf.begin(), place.leaf.end());
        return operand(0, std::move(leaf));
      }
      case Opcode::kTuple:
        if (place.leaf.empty()) return std::nullopt;
        return operand(static_cast<size_t>(place.leaf[0]), WithoutFirst(place.leaf));
      case Opcode::kParameter:
        return Argument(place, instruction);
      case Opcode::kCall:
      case Opcode::kFusion:
        return RootOf(place, {CalledComputations(instruction)[0], place.instruction, -1, false});
      case Opcode::kConditional: {
        const RecordedStep* const step = place.call->StepOf(place.instruction);
        if (step == nullptr) return std::nullopt;
        const std::vector<ComputationId> branches = CalledComputations(instruction);
        const size_t branch = ChosenBranch(step->operands[0], branches.size());
        return RootOf(place, {branches[branch], place.instruction, -1, false});
      }
      case Opcode::kWhile: {
        const RecordedStep* const step = place.call->StepOf(place.instruction);
        if (step == nullptr || step->iterations < 0) return std::nullopt;
        if (step->iterations == 0) return operand(0, place.leaf);
        return RootOf(place, {*instruction.attributes.Computation(Attr::kBody), place.instruction,
                              step->iterations - 1, false});
      }
      default:
        return std::nullopt;
    }
  }

 private:
  ValuePlace RootOf(const ValuePlace& place, const CallPlace& called) const {
    RecordedCall& call = CallAt(module_, *place.call, called);
    return {&call, module_.computation(called.computation).root, place.leaf};
  }

  std::optional<ValuePlace> Argument(const ValuePlace& place, const Instruction& parameter) const {
    RecordedCall* const around = place.call->around;
    if (around == nullptr) return std::nullopt;
    const CallPlace& called = place.call->place;
    const Instruction& caller =
        module_.computation(around->place.computation).instructions[static_cast<size_t>(called.caller)];
    const auto operand = [&](size_t k) { return ValuePlace{around, caller.operands[k], place.leaf}; };
    const size_t number = static_cast<size_t>(parameter.parameter_number);
    switch (caller.opcode) {
      case Opcode::kCall:
      case Opcode::kFusion:
        return operand(number);
      case Opcode::kConditional: {
        const RecordedStep* const step = around->StepOf(called.caller);
        const std::vector<ComputationId> branches = CalledComputations(caller);
        const size_t branch =
            step != nullptr
                ? ChosenBranch(step->operands[0], branches.size())
                : static_cast<size_t>(std::find(branches.begin(), branches.end(), called.computation) -
                                      branches.begin());
        return operand(branch + 1);
      }
      case Opcode::kWhile: {
        const ComputationId body = *caller.attributes.Computation(Attr::kBody);
        if (called.iteration == 0 || StaysInLoop(body, place.leaf)) return operand(0);
        return RootOf({around, called.caller, place.leaf},
                      {body, called.caller, called.iteration - 1, false});
      }
      default:
        return std::nullopt;
    }
  }

  // Whether the body gives this element of its state out as it is.
  bool StaysInLoop(ComputationId body, const ShapeIndex& leaf) const {
    const Computation& computation = module_.computation(body);
    const Instruction& root = computation.root_instruction();
    if (root.opcode == Opcode::kParameter) return true;
    if (root.opcode != Opcode::kTuple || leaf.empty()) return false;
    const Instruction& element =
        computation.instructions[static_cast<size_t>(root.operands[static_cast<size_t>(leaf[0])])];
    return element.opcode == Opcode::kGetTupleElement && element.operands[0] == computation.parameters[0] &&
           element.attributes.Int(Attr::kIndex) == leaf[0];
  }

  const Module& module_;
};

}  // namespace

const Instruction& InstructionAt(const Module& module, const ValuePlace& place) {
  return module.computation(place.call->place.computation)
      .instructions[static_cast<size_t>(place.instruction)];
}

ValuePlace SourceOf(const Module& module, ValuePlace place) {
  const Resolver resolver(module);
  while (std::optional<ValuePlace> before = resolver.Before(place)) place = *std::move(before);
  return place;
}

const Literal& LeafAt(const Literal& value, const ShapeIndex& leaf) {
  const Literal* at = &value;
  for (const int64_t k : leaf) at = &at->element(k);
  return *at;
}

std::optional<Literal> RecordedValue(const Module& module, const RecordedDevice& device,
                                     const ValuePlace& place) {
  const Instruction& instruction = InstructionAt(module, place);
  if (instruction.opcode == Opcode::kConstant && instruction.literal != nullptr)
    return LeafAt(*instruction.literal, place.leaf);
  if (instruction.opcode == Opcode::kParameter && place.call->around == nullptr)
    return LeafAt(device.arguments[static_cast<size_t>(instruction.parameter_number)], place.leaf);
  const RecordedStep* const step = place.call->StepOf(place.instruction);
  if (step == nullptr) return std::nullopt;
  return LeafAt(step->result, place.leaf);
}

}  // namespace assay
