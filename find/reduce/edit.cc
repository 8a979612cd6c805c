#include "find/reduce/edit.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "check/computation_writer.h"
#include "evaluator/inlining.h"
#include "evaluator/registry.h"
#include "evaluator/verify.h"
#include "fmt/format.h"

namespace assay {

std::shared_ptr<const Shape> SharedShape(Shape shape) {
  return std::make_shared<const Shape>(std::move(shape));
}

ComputationEdit::ComputationEdit(Module& module, ComputationId id)
    : module_(module), id_(id), before_(module.computation(id)), became_(before_.instructions.size(), -1) {
  after_.name = before_.name;
  after_.execution_thread = before_.execution_thread;
  after_.position = before_.position;
}

int32_t ComputationEdit::Keep(int32_t k) {
  Instruction instruction = before(k);
  for (int32_t& operand : instruction.operands) operand = At(operand);
  std::vector<int32_t> predecessors;
  const int32_t index = static_cast<int32_t>(after_.instructions.size());
  for (const int32_t predecessor : instruction.control_predecessors) {
    const int32_t now = At(predecessor);
    if (now >= 0 && now < index &&
        std::find(predecessors.begin(), predecessors.end(), now) == predecessors.end())
      predecessors.push_back(now);
  }
  instruction.control_predecessors = std::move(predecessors);
  Become(k, Add(std::move(instruction)));
  return At(k);
}

int32_t ComputationEdit::Add(Instruction instruction) {
  const int32_t index = static_cast<int32_t>(after_.instructions.size());
  for (const int32_t operand : instruction.operands) {
    if (operand >= 0 && operand < index) continue;
    if (status_.ok()) status_ = InvalidProgram(instruction.position, "an operand is no longer there");
    return -1;
  }
  if (instruction.shape == nullptr) {
    absl::StatusOr<Shape> shape = InferShape(module_, after_, instruction);
    if (!shape.ok()) {
      if (status_.ok()) status_ = shape.status();
      return -1;
    }
    instruction.shape = SharedShape(*std::move(shape));
  }
  if (instruction.name.empty()) instruction.name = std::string(Name(instruction.opcode));
  after_.instructions.push_back(std::move(instruction));
  return index;
}

int32_t ComputationEdit::AddConstant(Literal value) {
  Instruction constant(Opcode::kConstant);
  constant.shape = value.shared_shape();
  constant.literal = std::make_shared<const Literal>(std::move(value));
  return Add(std::move(constant));
}

int32_t ComputationEdit::AddElement(int32_t tuple, int64_t index) {
  if (tuple >= 0 && at(tuple).opcode == Opcode::kTuple) return at(tuple).operands[static_cast<size_t>(index)];
  Instruction element(Opcode::kGetTupleElement);
  element.operands = {tuple};
  element.attributes.Set(Attr::kIndex, index);
  return Add(std::move(element));
}

// The tuple whose elements these are, all of them in order; -1: none.
int32_t ComputationEdit::WholeTuple(std::span<const int32_t> elements) const {
  int32_t tuple = -1;
  for (size_t k = 0; k < elements.size(); ++k) {
    if (elements[k] < 0) return -1;
    const Instruction& element = at(elements[k]);
    if (element.opcode != Opcode::kGetTupleElement ||
        element.attributes.Int(Attr::kIndex) != static_cast<int64_t>(k))
      return -1;
    if (k > 0 && element.operands[0] != tuple) return -1;
    tuple = element.operands[0];
  }
  const bool is_whole = tuple >= 0 && at(tuple).shape->elements().size() == elements.size();
  return is_whole ? tuple : -1;
}

int32_t ComputationEdit::AddTuple(std::span<const int32_t> elements) {
  if (const int32_t whole = WholeTuple(elements); whole >= 0) return whole;
  Instruction tuple(Opcode::kTuple);
  tuple.operands.assign(elements.begin(), elements.end());
  return Add(std::move(tuple));
}

int32_t ComputationEdit::AddFilled(const std::shared_ptr<const Shape>& shape, int64_t number) {
  if (!shape->IsArray()) {
    if (status_.ok()) status_ = InvalidProgram({}, "no array");
    return -1;
  }
  const ElementType type = shape->element_type();
  const bool is_integral = KindOf(type) != ComputeKind::kReal && KindOf(type) != ComputeKind::kComplex;
  const int32_t scalar = AddConstant(is_integral ? Literal::ScalarInt(type, number)
                                                 : Literal::ScalarDouble(type, static_cast<double>(number)));
  if (shape->rank() == 0) return scalar;
  Instruction broadcast(Opcode::kBroadcast);
  broadcast.operands = {scalar};
  broadcast.attributes.Set(Attr::kDimensions, Ints{});
  broadcast.shape = shape;
  return Add(std::move(broadcast));
}

int32_t ComputationEdit::Inline(ComputationId callee, std::span<const int32_t> arguments) {
  const Computation& computation = module_.computation(callee);
  std::vector<int32_t> values(computation.instructions.size(), -1);
  for (size_t k = 0; k < values.size(); ++k) {
    Instruction instruction = computation.instructions[k];
    if (instruction.opcode == Opcode::kParameter) {
      const size_t number = static_cast<size_t>(instruction.parameter_number);
      if (number < arguments.size()) values[k] = arguments[number];
      continue;
    }
    for (int32_t& operand : instruction.operands) operand = values[static_cast<size_t>(operand)];
    for (int32_t& predecessor : instruction.control_predecessors)
      predecessor = values[static_cast<size_t>(predecessor)];
    std::erase_if(instruction.control_predecessors, [](int32_t predecessor) { return predecessor < 0; });
    values[k] = Add(std::move(instruction));
  }
  return values[static_cast<size_t>(computation.root)];
}

absl::Status ComputationEdit::Finish() {
  ASSAY_RETURN_IF_ERROR(status_);
  after_.root = root_ >= 0 ? root_ : At(before_.root);
  if (after_.root < 0) return InvalidProgram({}, "the root is no longer there");
  for (size_t k = 0; k < after_.instructions.size(); ++k) {
    const Instruction& instruction = after_.instructions[k];
    if (instruction.opcode != Opcode::kParameter) continue;
    const size_t number = static_cast<size_t>(instruction.parameter_number);
    after_.parameters.resize(std::max(after_.parameters.size(), number + 1), -1);
    after_.parameters[number] = static_cast<int32_t>(k);
  }
  module_.computations[static_cast<size_t>(id_.value)] = std::move(after_);
  return absl::OkStatus();
}

namespace {

void RemoveDeadInstructions(Computation& computation, const std::vector<bool>& has_effects) {
  const size_t count = computation.instructions.size();
  std::vector<bool> live(count, false);
  live[static_cast<size_t>(computation.root)] = true;
  for (size_t k = 0; k < count; ++k) {
    const Instruction& instruction = computation.instructions[k];
    bool stays = instruction.opcode == Opcode::kParameter || HasSideEffect(instruction);
    for (const ComputationId id : CalledComputations(instruction))
      stays = stays || has_effects[static_cast<size_t>(id.value)];
    if (stays) live[k] = true;
  }
  MarkOperands(computation, live);
  std::vector<int32_t> moved(count, -1);
  std::vector<Instruction> kept;
  for (size_t k = 0; k < count; ++k) {
    if (!live[k]) continue;
    Instruction& instruction = computation.instructions[k];
    for (int32_t& operand : instruction.operands) operand = moved[static_cast<size_t>(operand)];
    for (int32_t& predecessor : instruction.control_predecessors)
      predecessor = moved[static_cast<size_t>(predecessor)];
    moved[k] = static_cast<int32_t>(kept.size());
    kept.push_back(std::move(instruction));
  }
  computation.instructions = std::move(kept);
  computation.root = moved[static_cast<size_t>(computation.root)];
  for (int32_t& parameter : computation.parameters) parameter = moved[static_cast<size_t>(parameter)];
}

void RemoveDeadComputations(Module& module) {
  const size_t count = module.computations.size();
  std::vector<bool> needed(count, false);
  needed[static_cast<size_t>(module.entry.value)] = true;
  for (size_t c = count; c-- > 0;) {
    if (!needed[c]) continue;
    for (const Instruction& instruction : module.computations[c].instructions) {
      for (const ComputationId id : CalledComputations(instruction))
        needed[static_cast<size_t>(id.value)] = true;
    }
  }
  std::vector<int32_t> moved(count, -1);
  std::vector<Computation> kept;
  for (size_t c = 0; c < count; ++c) {
    if (!needed[c]) continue;
    moved[c] = static_cast<int32_t>(kept.size());
    kept.push_back(std::move(module.computations[c]));
    for (Instruction& instruction : kept.back().instructions) {
      if (CalledComputations(instruction).empty()) continue;
      RedirectCalls(instruction,
                    [&](ComputationId id) { return ComputationId{moved[static_cast<size_t>(id.value)]}; });
    }
  }
  module.computations = std::move(kept);
  module.entry.value = moved[static_cast<size_t>(module.entry.value)];
}

std::string Apart(std::set<std::string>& taken, const std::string& wanted) {
  std::string name = wanted;
  for (int k = 1; !taken.insert(name).second; ++k) name = fmt::format("{}.{}", wanted, k);
  return name;
}

}  // namespace

void RemoveDead(Module& module) {
  std::vector<bool> has_effects;
  for (Computation& computation : module.computations) {
    RemoveDeadInstructions(computation, has_effects);
    bool any = false;
    for (const Instruction& instruction : computation.instructions) {
      any = any || HasSideEffect(instruction);
      for (const ComputationId id : CalledComputations(instruction))
        any = any || has_effects[static_cast<size_t>(id.value)];
    }
    has_effects.push_back(any);
  }
  RemoveDeadComputations(module);
  NameApart(module);
}

void NameApart(Module& module) {
  std::set<std::string> computations;
  for (Computation& computation : module.computations) {
    computation.name = Apart(computations, computation.name);
    std::set<std::string> names;
    for (Instruction& instruction : computation.instructions)
      instruction.name = Apart(names, instruction.name);
  }
}

void ForgetSignature(Module& module) {
  module.entry_computation_layout.reset();
  module.input_output_alias.clear();
  module.buffer_donor.clear();
  module.allow_spmd_sharding_propagation_to_parameters.clear();
  module.allow_spmd_sharding_propagation_to_output.clear();
}

std::vector<int32_t> NumUsers(const Computation& computation) {
  std::vector<int32_t> users(computation.instructions.size(), 0);
  for (const Instruction& instruction : computation.instructions) {
    for (const int32_t operand : instruction.operands) ++users[static_cast<size_t>(operand)];
  }
  return users;
}

void DropParameters(TestCase& test_case, absl::FunctionRef<bool(int64_t number)> drops) {
  Computation& entry = test_case.module.computations[static_cast<size_t>(test_case.module.entry.value)];
  const std::vector<int32_t> users = NumUsers(entry);
  std::vector<bool> dropped(entry.instructions.size(), false);
  std::vector<Literal> arguments;
  int64_t number = 0;
  for (size_t k = 0; k < entry.parameters.size(); ++k) {
    const size_t parameter = static_cast<size_t>(entry.parameters[k]);
    if (users[parameter] == 0 && entry.root != entry.parameters[k] && drops(static_cast<int64_t>(k))) {
      dropped[parameter] = true;
      continue;
    }
    entry.instructions[parameter].parameter_number = number++;
    arguments.push_back(test_case.arguments[k]);
  }
  if (arguments.size() == test_case.arguments.size()) return;
  test_case.arguments = std::move(arguments);
  ForgetSignature(test_case.module);
  ComputationEdit edit(test_case.module, test_case.module.entry);
  for (int32_t k = 0; k < edit.size(); ++k) {
    if (!dropped[static_cast<size_t>(k)]) edit.Keep(k);
  }
  static_cast<void>(edit.Finish());  // nothing else changes
}

int64_t NumInstructions(const Module& module) {
  int64_t count = 0;
  for (const Computation& computation : module.computations) count += std::ssize(computation.instructions);
  return count;
}

int64_t NumElements(const Module& module) {
  int64_t count = 0;
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions) {
      ForEachLeaf(*instruction.shape, [&](const ShapeIndex&, const Shape& leaf) {
        if (leaf.IsArray()) count += leaf.num_elements();
      });
    }
  }
  return count;
}

}  // namespace assay
