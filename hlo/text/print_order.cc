// Canonical order and async sugar (docs/spec/hlo-text.md section 8).
#include "hlo/text/print_order.h"

#include <numeric>
#include <utility>

#include "hlo/op_syntax.h"

namespace assay::print {
namespace {

// What an instruction calls, in the order in which the walk visits it: a loop's body comes first.
std::vector<ComputationId> CalledInVisitOrder(const Instruction& instruction) {
  std::vector<ComputationId> called = CalledComputations(instruction);
  if (instruction.opcode == Opcode::kWhile && called.size() == 2) std::swap(called[0], called[1]);
  return called;
}

// All computations called from each computation, by printed instruction.
std::vector<std::vector<ComputationId>> CallLists(
    const Module& module, const std::vector<std::vector<int32_t>>& instruction_orders) {
  std::vector<std::vector<ComputationId>> lists(module.computations.size());
  for (size_t c = 0; c < lists.size(); ++c) {
    for (const int32_t index : instruction_orders[c]) {
      const auto called = CalledInVisitOrder(module.computations[c].instructions[index]);
      lists[c].insert(lists[c].end(), called.begin(), called.end());
    }
  }
  return lists;
}

// Opcodes with a -start of their own, and those that the sugar's reader would take for something else.
bool SugarIsAmbiguous(Opcode opcode) {
  if (opcode == Opcode::kParameter || opcode == Opcode::kConstant || Has(opcode, Syntax::kOwnAsyncForm))
    return true;
  const std::string_view name = Name(opcode);
  return name.ends_with("-start") || name.ends_with("-update") || name.ends_with("-done");
}

// The computation is its parameters 0..n-1 and one root that takes just them, in order.
bool IsWrapperOfOneOp(const Computation& computation) {
  if (computation.root < 0) return false;
  const Instruction& root = computation.root_instruction();
  if (SugarIsAmbiguous(root.opcode) || computation.instructions.size() != root.operands.size() + 1)
    return false;
  for (size_t i = 0; i < root.operands.size(); ++i) {
    const Instruction& operand = computation.instructions[root.operands[i]];
    if (operand.opcode != Opcode::kParameter || operand.parameter_number != static_cast<int64_t>(i)) {
      return false;
    }
  }
  return root.control_predecessors.empty();
}

bool SameStringOrJson(const StringOrJson& a, const StringOrJson& b) { return a.text == b.text; }

// Reading the sugared form gives the wrapped op the start's backend_config and frontend_attributes: true if
// those are what it has.
bool ExtrasAgree(const Instruction& start, const Instruction& wrapped) {
  static const auto* const kNone = new InstructionExtras();
  const InstructionExtras& a = start.extras ? *start.extras : *kNone;
  const InstructionExtras& b = wrapped.extras ? *wrapped.extras : *kNone;
  if (!SameStringOrJson(a.backend_config, b.backend_config)) return false;
  if (a.frontend_attributes.size() != b.frontend_attributes.size()) return false;
  for (size_t i = 0; i < a.frontend_attributes.size(); ++i) {
    const auto& [a_key, a_value] = a.frontend_attributes[i];
    const auto& [b_key, b_value] = b.frontend_attributes[i];
    if (a_key != b_key || !SameStringOrJson(a_value, b_value)) return false;
  }
  return true;
}

// The start's shape is ((operand shapes...), result shape, ...) with exactly the wrapped shapes.
bool ShapesAgree(const Instruction& start, const Computation& wrapper) {
  if (start.shape == nullptr || !start.shape->IsTuple()) return false;
  const auto parts = start.shape->elements();
  const Instruction& root = wrapper.root_instruction();
  if (parts.size() < 2 || !parts[0].IsTuple() || parts[0].elements().size() != root.operands.size())
    return false;
  for (size_t i = 0; i < root.operands.size(); ++i) {
    const auto& shape = wrapper.instructions[root.operands[i]].shape;
    if (shape == nullptr || !Shape::Equal(*shape, parts[0].element(i))) return false;
  }
  return root.shape != nullptr && Shape::Equal(*root.shape, parts[1]);
}

bool CanSugar(const Instruction& start, const Computation& wrapper) {
  if (start.opcode != Opcode::kAsyncStart || !IsWrapperOfOneOp(wrapper)) return false;
  const Instruction& root = wrapper.root_instruction();
  // In sugar one attribute stands for the start's or for the wrapped op's.
  const Instruction& without = Has(root.opcode, Syntax::kOwnAliasing) ? start : root;
  if (without.attributes.Has(Attr::kOutputToOperandAliasing)) return false;
  return start.operands.size() == root.operands.size() && ExtrasAgree(start, root) &&
         ShapesAgree(start, wrapper);
}

// A call that says so, and StableHLO's checks and probes, which need not say it.
bool HasOrderedEffect(const Instruction& call) {
  const std::string_view target = call.attributes.Text(Attr::kCustomCallTarget);
  return call.attributes.Bool(Attr::kCustomCallHasSideEffect) || target.starts_with("check.") ||
         target.starts_with("interpreter.");
}

// For each instruction that keeps its place among others of its kind, or calls one: the one before it; else
// -1. `ordered` says it of the computations above, and gets this one.
std::vector<int32_t> OrderedBefore(const Computation& computation, std::vector<bool>& ordered) {
  const auto& instructions = computation.instructions;
  std::vector<int32_t> before(instructions.size(), -1);
  int32_t last = -1;
  for (size_t i = 0; i < instructions.size(); ++i) {
    const Instruction& instruction = instructions[i];
    bool keeps = Has(instruction.opcode, Syntax::kKeepsOrder) ||
                 (instruction.opcode == Opcode::kCustomCall && HasOrderedEffect(instruction));
    // An update or done may be where the computation of its start runs.
    const int32_t caller = Has(instruction.opcode, Syntax::kContinuesAsync)
                               ? AsyncStartOf(computation, static_cast<int32_t>(i))
                               : static_cast<int32_t>(i);
    if (caller >= 0) {
      for (const ComputationId id : CalledComputations(instructions[static_cast<size_t>(caller)]))
        keeps = keeps || ordered[static_cast<size_t>(id.value)];
    }
    if (!keeps) continue;
    before[i] = last;
    last = static_cast<int32_t>(i);
  }
  ordered.push_back(last >= 0);
  return before;
}

// Depth-first post-order.
std::vector<int32_t> PostOrder(const Computation& computation, const std::vector<int32_t>& ordered_before) {
  const auto& instructions = computation.instructions;
  std::vector<bool> has_user(instructions.size(), false);
  for (const Instruction& instruction : instructions) {
    for (const int32_t operand : instruction.operands) has_user[operand] = true;
  }
  enum class State : uint8_t { kNew, kOpen, kDone };
  std::vector<State> states(instructions.size(), State::kNew);
  std::vector<int32_t> order, stack;
  order.reserve(instructions.size());
  for (size_t sink = 0; sink < instructions.size(); ++sink) {
    if (has_user[sink]) continue;
    stack.push_back(static_cast<int32_t>(sink));
    while (!stack.empty()) {
      const int32_t current = stack.back();
      const Instruction& instruction = instructions[current];
      if (states[current] != State::kNew) {
        stack.pop_back();
        if (states[current] == State::kOpen) order.push_back(current);
        states[current] = State::kDone;
        continue;
      }
      states[current] = State::kOpen;
      // Visited last, so that it changes the order only where that would be another one.
      if (const int32_t before = ordered_before[static_cast<size_t>(current)]; before >= 0)
        stack.push_back(before);
      stack.insert(stack.end(), instruction.operands.rbegin(), instruction.operands.rend());
      stack.insert(stack.end(), instruction.control_predecessors.begin(),
                   instruction.control_predecessors.end());
    }
  }
  return order;
}

// True for each computation that a fusion calls.
std::vector<bool> FusionComputations(const Module& module) {
  std::vector<bool> result(module.computations.size(), false);
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions) {
      if (instruction.opcode != Opcode::kFusion) continue;
      for (const ComputationId id : CalledComputations(instruction)) result[id.value] = true;
    }
  }
  return result;
}

}  // namespace

std::vector<std::vector<int32_t>> InstructionOrders(const Module& module) {
  const std::vector<bool> fused = FusionComputations(module);
  std::vector<std::vector<int32_t>> orders(module.computations.size());
  std::vector<bool> ordered;
  for (size_t c = 0; c < orders.size(); ++c) {
    const std::vector<int32_t> before = OrderedBefore(module.computations[c], ordered);
    if (module.is_scheduled && !fused[c]) {
      orders[c].resize(module.computations[c].instructions.size());
      std::iota(orders[c].begin(), orders[c].end(), 0);
    } else {
      orders[c] = PostOrder(module.computations[c], before);
    }
  }
  return orders;
}

std::vector<ComputationId> ComputationOrder(const Module& module,
                                            const std::vector<std::vector<int32_t>>& instruction_orders) {
  const auto calls = CallLists(module, instruction_orders);
  std::vector<bool> is_called(calls.size(), false), entered(calls.size(), false);
  for (const auto& list : calls) {
    for (const ComputationId id : list) is_called[id.value] = true;
  }
  std::vector<ComputationId> order;
  order.reserve(calls.size());
  std::vector<std::pair<int32_t, size_t>> stack;  // computation, how many of its calls are done
  for (size_t root = 0; root < calls.size(); ++root) {
    if (is_called[root]) continue;
    stack.emplace_back(static_cast<int32_t>(root), 0);
    entered[root] = true;
    while (!stack.empty()) {
      auto& [computation, done] = stack.back();
      if (done == calls[computation].size()) {
        order.push_back(ComputationId{computation});
        stack.pop_back();
        continue;
      }
      const int32_t callee = calls[computation][done++].value;
      if (entered[callee]) continue;
      entered[callee] = true;
      stack.emplace_back(callee, 0);
    }
  }
  return order;
}

std::vector<bool> SugaredComputations(const Module& module) {
  std::vector<bool> allowed(module.computations.size(), true), called(module.computations.size(), false);
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions) {
      if (Has(instruction.opcode, Syntax::kContinuesAsync)) continue;
      for (const ComputationId id : CalledComputations(instruction)) {
        called[id.value] = true;
        allowed[id.value] = allowed[id.value] && CanSugar(instruction, module.computation(id));
      }
    }
  }
  for (size_t i = 0; i < allowed.size(); ++i) allowed[i] = allowed[i] && called[i];
  return allowed;
}

std::vector<std::string_view> ExecutionThreads(const Module& module) {
  std::vector<std::string_view> threads;
  threads.reserve(module.computations.size());
  for (const Computation& computation : module.computations) threads.push_back(computation.execution_thread);
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions) {
      if (instruction.opcode != Opcode::kAsyncStart) continue;
      const auto callee = instruction.attributes.Computation(Attr::kCalls);
      const std::string_view thread = instruction.attributes.Text(Attr::kAsyncExecutionThread);
      if (callee && !thread.empty() && threads[callee->value].empty()) threads[callee->value] = thread;
    }
  }
  for (std::string_view& thread : threads) {
    if (thread == "main") thread = {};
  }
  return threads;
}

int32_t AsyncStartOf(const Computation& computation, int32_t instruction) {
  while (instruction >= 0) {
    const Instruction& current = computation.instructions[instruction];
    if (current.opcode == Opcode::kAsyncStart) return instruction;
    if (!Has(current.opcode, Syntax::kContinuesAsync)) return -1;
    instruction = current.operands.empty() ? -1 : current.operands[0];
  }
  return -1;
}

}  // namespace assay::print
