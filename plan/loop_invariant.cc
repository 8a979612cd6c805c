#include "plan/loop_invariant.h"

#include <algorithm>

#include "evaluator/registry.h"
#include "plan/fusion.h"

namespace assay {
namespace {

bool HasStaticArraysOnly(const Shape& shape) {
  if (shape.IsTuple())
    return std::all_of(shape.elements().begin(), shape.elements().end(), HasStaticArraysOnly);
  return shape.IsArray() && !shape.HasDynamic();
}

// The element of the computation's first parameter that the instruction is; -1 where it is none.
int64_t ElementOfParameter(const Computation& computation, const Instruction& instruction) {
  if (instruction.opcode != Opcode::kGetTupleElement || computation.parameters.empty() ||
      instruction.operands[0] != computation.parameters[0]) {
    return -1;
  }
  return instruction.attributes.Int(Attr::kIndex);
}

// The elements of its parameter that a loop's body has in its result as they are.
std::vector<bool> PassedOn(const Computation& body) {
  const Instruction& root = body.root_instruction();
  const Shape& state = *body.instructions[body.parameters[0]].shape;
  std::vector<bool> passed(state.elements().size(), false);
  if (root.opcode != Opcode::kTuple) return passed;
  for (size_t e = 0; e < passed.size(); ++e)
    passed[e] = ElementOfParameter(body, body.instructions[root.operands[e]]) == static_cast<int64_t>(e);
  return passed;
}

}  // namespace

LoopFacts::LoopFacts(const Module& module) : module_(module), unchanged_(module.computations.size()) {
  repeatable_.reserve(module.computations.size());
  for (const Computation& computation : module.computations) {  // callees first
    repeatable_.push_back(
        std::all_of(computation.instructions.begin(), computation.instructions.end(),
                    [&](const Instruction& i) { return i.opcode == Opcode::kParameter || IsPure(i); }));
    for (const Instruction& instruction : computation.instructions) {
      if (instruction.opcode != Opcode::kWhile) continue;
      const ComputationId condition = *instruction.attributes.Computation(Attr::kCondition);
      const ComputationId body = *instruction.attributes.Computation(Attr::kBody);
      const std::vector<bool>& passed = unchanged_[body.value] = PassedOn(module.computation(body));
      std::vector<bool>& seen = unchanged_[condition.value];
      if (seen.empty()) seen.assign(passed.size(), true);  // a condition may have several bodies
      for (size_t e = 0; e < seen.size(); ++e) seen[e] = seen[e] && passed[e];
    }
  }
}

bool LoopFacts::IsPure(const Instruction& instruction) const {
  const OpDef& definition = DefinitionOf(instruction.opcode);
  if (HasSideEffect(instruction) || definition.channel != Channel::kNone ||
      definition.partner_in_computation || definition.gives_async_state || definition.takes_async_state ||
      instruction.opcode == Opcode::kCustomCall) {
    return false;
  }
  const std::vector<ComputationId> called = CalledComputations(instruction);
  return HasStaticArraysOnly(*instruction.shape) &&
         std::all_of(called.begin(), called.end(), [&](ComputationId id) { return repeatable_[id.value]; });
}

bool LoopFacts::IsRepeatable(const Instruction& instruction) const {
  return instruction.opcode != Opcode::kParameter && instruction.control_predecessors.empty() &&
         IsPure(instruction);
}

const std::vector<bool>& LoopFacts::UnchangedElements(const Computation& computation) const {
  return unchanged_[IndexOf(computation)];
}

std::vector<bool> LoopFacts::WorthAStep(const Computation& computation, const std::vector<bool>& live) const {
  const std::vector<bool>& unchanged = UnchangedElements(computation);
  if (unchanged.empty()) return {};
  const std::vector<Instruction>& instructions = computation.instructions;
  std::vector<bool> same(instructions.size(), false), worth(instructions.size(), false);
  bool any = false;
  for (size_t i = 0; i < instructions.size(); ++i) {
    const Instruction& instruction = instructions[i];
    if (!live[i]) continue;
    if (const int64_t element = ElementOfParameter(computation, instruction); element >= 0) {
      same[i] = unchanged[element];
      continue;
    }
    same[i] =
        IsRepeatable(instruction) && std::all_of(instruction.operands.begin(), instruction.operands.end(),
                                                 [&](int32_t operand) { return same[operand]; });
    any = any || (same[i] && DefinitionOf(instruction.opcode).strip != nullptr);
  }
  if (!any) return {};
  // What is had at the cost of an index is so in each iteration, by the fusions that read it.
  int64_t room = kMaxInvariantBytes;
  std::vector<bool> read_each_iteration(instructions.size(), false);
  read_each_iteration[computation.root] = true;
  for (size_t i = instructions.size(); i-- > 0;) {
    if (!live[i]) continue;
    const Instruction& instruction = instructions[i];
    bool runs_once = same[i] && !IsRecomputed(computation, instruction);
    if (runs_once && read_each_iteration[i]) {
      const int64_t bytes = instruction.shape->TotalBytes();
      runs_once = bytes <= room;
      if (runs_once) room -= bytes;
    }
    worth[i] = runs_once && DefinitionOf(instruction.opcode).strip != nullptr;
    if (runs_once) continue;
    for (int32_t operand : instruction.operands) read_each_iteration[operand] = true;
  }
  return worth;
}

void FindLoopInvariants(const LoopFacts& facts, const Computation& computation, ComputationPlan& plan) {
  const std::vector<bool>& elements = facts.UnchangedElements(computation);
  const bool is_body = computation.root_instruction().shape->IsTuple();
  if (elements.empty() || !plan.state.unpacked || (is_body && !plan.state.packed)) return;
  if (!is_body) {
    plan.state.unchanged = elements;
    for (const ElementSlot& input : plan.state.inputs) {
      // The executor takes the decision out of its slot.
      if (input.slot == computation.root) plan.state.unchanged[input.element] = false;
    }
  }
  std::vector<bool> same(computation.instructions.size(), false);
  for (int32_t constant : plan.constants) same[constant] = true;
  for (const ElementSlot& input : plan.state.inputs) same[input.slot] = plan.state.unchanged[input.element];
  for (Step& step : plan.steps) {
    const std::span<const int32_t> reads = step.Reads(computation);
    // What decides on the next iteration is looked at in each.
    step.loop_invariant = step.instruction != computation.root &&
                          facts.IsRepeatable(computation.instructions[step.instruction]) &&
                          std::all_of(reads.begin(), reads.end(), [&](int32_t read) { return same[read]; });
    same[step.instruction] = step.loop_invariant;
  }
  std::vector<bool> read_each_iteration(computation.instructions.size(), false);
  std::vector<bool> kept(computation.instructions.size(), false);
  read_each_iteration[computation.root] = true;
  for (const ElementSlot& output : plan.state.outputs) read_each_iteration[output.slot] = true;
  for (auto step = plan.steps.rbegin(); step != plan.steps.rend(); ++step) {
    const int32_t slot = step->instruction;
    if (step->loop_invariant && read_each_iteration[slot]) {
      const int64_t bytes = computation.instructions[slot].shape->TotalBytes();
      same[slot] = step->loop_invariant = bytes <= kMaxInvariantBytes - plan.invariant_bytes;
      kept[slot] = same[slot];
      if (kept[slot]) {
        plan.invariant_bytes += bytes;
        plan.loop_invariants.push_back(slot);
      }
    }
    if (step->loop_invariant) continue;
    for (int32_t read : step->Reads(computation)) read_each_iteration[read] = true;
  }
  std::reverse(plan.loop_invariants.begin(), plan.loop_invariants.end());
  for (Step& step : plan.steps) {
    if (step.loop_invariant) continue;
    for (int32_t read : step.Reads(computation)) step.unchanged.push_back(same[read]);
  }
  for (ElementSlot& output : plan.state.outputs) {
    if (kept[output.slot]) output.last = false;
  }
}

}  // namespace assay
