#include "plan/plan.h"

#include <algorithm>
#include <map>

#include "evaluator/registry.h"
#include "evaluator/steps.h"
#include "fmt/format.h"
#include "plan/inline_calls.h"
#include "plan/live.h"
#include "plan/move_fusion.h"

namespace assay {
namespace {

// Each has code in a few mappings of its own, of which a process may have about 65,000, and takes time to make.
constexpr size_t kMaxFusions = 2048;
// Bytes of the results of a loop's body that are kept until the loop ends.
constexpr int64_t kMostOnce = 1 << 20;

// Builds the plans of all computations, callees first, so that a call's effects are known.
class Planner {
 public:
  Planner(const Module& module, std::span<const Engine* const> engines)
      : module_(module),
        engines_(engines),
        needed_(NeededInstructions(module)),
        in_loop_(module.computations.size(), false) {
    // Callers stand behind what they call.
    for (size_t c = module.computations.size(); c-- > 0;) {
      for (const Instruction& instruction : module.computations[c].instructions) {
        if (!in_loop_[c] && instruction.opcode != Opcode::kWhile) continue;
        for (ComputationId id : CalledComputations(instruction)) in_loop_[id.value] = true;
      }
    }
  }

  absl::StatusOr<std::vector<ComputationPlan>> Run() {
    std::vector<ComputationPlan> plans;
    plans.reserve(module_.computations.size());
    for (size_t i = 0; i < module_.computations.size(); ++i) {
      ComputationPlan& plan = plans.emplace_back();
      const Computation& computation = module_.computations[i];
      if (computation.instructions.empty()) continue;  // inlined
      ASSAY_RETURN_IF_ERROR(CheckCopyStarts(computation));
      ASSAY_RETURN_IF_ERROR(PlanComputation(computation, i, plans, plan));
    }
    return plans;
  }

 private:
  // Copy-C2: a copy-start has exactly one user, a copy-done.
  absl::Status CheckCopyStarts(const Computation& computation) const {
    std::vector<int> users(computation.instructions.size(), 0);
    bool any = false;
    for (const Instruction& instruction : computation.instructions) {
      any = any || instruction.opcode == Opcode::kCopyStart;
      for (int32_t operand : instruction.operands)
        users[operand] += instruction.opcode == Opcode::kCopyDone ? 1 : 2;
    }
    if (!any) return absl::OkStatus();
    for (size_t i = 0; i < users.size(); ++i) {
      const Instruction& instruction = computation.instructions[i];
      if (instruction.opcode == Opcode::kCopyStart && users[i] != 1) {
        return EvalError(instruction.position,
                         fmt::format("Copy-C2: copy-start '{}' must have exactly one user, a copy-done",
                                     instruction.name));
      }
    }
    return absl::OkStatus();
  }

  // `plans` has those of the computations before.
  absl::Status PlanComputation(const Computation& computation, size_t index,
                               std::span<const ComputationPlan> plans, ComputationPlan& plan) {
    ASSAY_ASSIGN_OR_RETURN(const std::vector<int32_t> order, ExecutionOrder(computation));
    AddSteps(computation, order, needed_[index], plan);
    if (!engines_.empty()) {
      ASSAY_RETURN_IF_ERROR(Fuse(computation, in_loop_[index], plan));
      Structure(computation, plan);
      if (in_loop_[index]) FindOnce(computation, plan);
    }
    MarkLastUses(computation, plan);
    for (Step& step : plan.steps) {
      if (step.fusion != nullptr || step.kind != StepKind::kEvaluate) continue;
      ASSAY_RETURN_IF_ERROR(
          Prepare({module_, computation, computation.instructions[step.instruction]}, step));
      if (step.kernel == nullptr && IsLoop(computation.instructions[step.instruction], plans))
        step.kind = StepKind::kLoop;
    }
    return absl::OkStatus();
  }

  static bool IsLoop(const Instruction& instruction, std::span<const ComputationPlan> plans) {
    if (instruction.opcode != Opcode::kWhile) return false;
    const StateSlots& condition = plans[instruction.attributes.Computation(Attr::kCondition)->value].state;
    const StateSlots& body = plans[instruction.attributes.Computation(Attr::kBody)->value].state;
    return condition.unpacked && body.unpacked && body.packed;
  }

  // Offers fusions to the engines. Where one is taken, its root's step becomes the fusion's, and steps that
  // nobody needs any more go.
  absl::Status Fuse(const Computation& computation, bool in_loop, ComputationPlan& plan) {
    std::vector<bool> absorbed(computation.instructions.size(), false);
    ASSAY_ASSIGN_OR_RETURN(const bool any, FuseElementwise(computation, in_loop, plan, absorbed));
    ASSAY_ASSIGN_OR_RETURN(const bool moves, FuseMoves(computation, in_loop, plan, absorbed));
    if (!any && !moves) return absl::OkStatus();
    DropUnread(computation, absorbed, plan);
    CountMembers(computation, plan);
    return absl::OkStatus();
  }

  // True where there is a fusion; its members are absorbed.
  absl::StatusOr<bool> FuseElementwise(const Computation& computation, bool in_loop, ComputationPlan& plan,
                                       std::vector<bool>& absorbed) {
    std::vector<int32_t> order, step_of(computation.instructions.size(), -1);
    for (const Step& step : plan.steps) {
      step_of[step.instruction] = static_cast<int32_t>(order.size());
      order.push_back(step.instruction);
    }
    bool any = false;
    for (const Engine* engine : engines_) {
      if (!engine->fuses()) continue;
      for (Fusion& fusion : FindFusions(module_, computation, order, *engine)) {
        Step& step = plan.steps[step_of[fusion.members.back()]];
        if (fusions_ >= kMaxFusions) {
          step.declined = NotSupported({}, fmt::format("{} fusions already", kMaxFusions));
          continue;
        }
        absl::StatusOr<std::shared_ptr<const Kernel>> kernel =
            engine->PrepareFusion({module_, computation, fusion.members, fusion.operands, in_loop});
        if (absl::IsUnimplemented(kernel.status())) {
          step.declined = kernel.status();
          continue;
        }
        ASSAY_ASSIGN_OR_RETURN(step.kernel, std::move(kernel));
        step.engine = engine;
        ++fusions_;
        for (int32_t member : fusion.members) absorbed[member] = true;
        step.fusion = std::make_shared<const Fusion>(std::move(fusion));
        any = true;
      }
      break;  // of two engines that fuse, the first
    }
    return any;
  }

  // The same for concatenates and what they read through.
  absl::StatusOr<bool> FuseMoves(const Computation& computation, bool in_loop, ComputationPlan& plan,
                                 std::vector<bool>& absorbed) const {
    std::vector<bool> may_join(computation.instructions.size(), false);
    bool any = false, concatenates = false;
    for (const Step& step : plan.steps) {
      may_join[step.instruction] = step.fusion == nullptr;
      concatenates |= computation.instructions[step.instruction].opcode == Opcode::kConcatenate;
    }
    if (!concatenates) return false;
    // What control dependencies order stays where it is.
    for (size_t i = 0; i < computation.instructions.size(); ++i) {
      const auto& before = computation.instructions[i].control_predecessors;
      if (before.empty()) continue;
      may_join[i] = false;
      for (int32_t other : before) may_join[other] = false;
    }
    for (Step& step : plan.steps) {
      if (step.fusion != nullptr || computation.instructions[step.instruction].opcode != Opcode::kConcatenate)
        continue;
      std::optional<Fusion> fusion = FusionOfConcatenate(computation, step.instruction, may_join);
      if (!fusion.has_value()) continue;
      for (const Engine* engine : engines_) {
        if (engine->fuses()) continue;
        absl::StatusOr<std::shared_ptr<const Kernel>> kernel =
            engine->PrepareFusion({module_, computation, fusion->members, fusion->operands, in_loop});
        if (absl::IsUnimplemented(kernel.status())) continue;
        ASSAY_ASSIGN_OR_RETURN(step.kernel, std::move(kernel));
        step.engine = engine;
        break;
      }
      if (step.kernel == nullptr) continue;
      for (int32_t member : fusion->members) absorbed[member] = true;
      step.fusion = std::make_shared<const Fusion>(*std::move(fusion));
      any = true;
    }
    return any;
  }

  // Removes the steps of members whose value no step that stays reads.
  static void DropUnread(const Computation& computation, const std::vector<bool>& absorbed,
                         ComputationPlan& plan) {
    std::vector<bool> read(computation.instructions.size(), false);
    read[computation.root] = true;
    std::vector<Step> kept;
    kept.reserve(plan.steps.size());
    for (auto step = plan.steps.rbegin(); step != plan.steps.rend(); ++step) {
      if (step->fusion == nullptr && absorbed[step->instruction] && !read[step->instruction]) continue;
      for (int32_t operand : step->Reads(computation)) read[operand] = true;
      kept.push_back(std::move(*step));
    }
    std::reverse(kept.begin(), kept.end());
    plan.steps = std::move(kept);
  }

  // Steps count alike whoever runs them: a member that several fusions have counts once.
  static void CountMembers(const Computation& computation, ComputationPlan& plan) {
    std::vector<bool> counted(computation.instructions.size(), false);
    for (const Step& step : plan.steps) {
      if (step.fusion == nullptr) counted[step.instruction] = true;
    }
    for (Step& step : plan.steps) {
      if (step.fusion == nullptr) continue;
      step.counts = 0;
      for (int32_t member : step.fusion->members) {
        if (counted[member]) continue;
        counted[member] = true;
        step.counts = AddCounts(step.counts, CountsOf(computation, computation.instructions[member]));
      }
    }
  }

  // The kernel of the first engine that takes the instruction, or none.
  absl::Status Prepare(const StepView& view, Step& step) const {
    for (const Engine* engine : engines_) {
      if (engine->fuses()) continue;
      absl::StatusOr<std::shared_ptr<const Kernel>> kernel = engine->Prepare(view);
      if (absl::IsUnimplemented(kernel.status())) continue;
      ASSAY_ASSIGN_OR_RETURN(step.kernel, std::move(kernel));
      step.engine = engine;
      break;
    }
    return absl::OkStatus();
  }

  // Textual order, but that a recv-done waits for the sends on its channel in the same computation: they and
  // what they need come first. A wait that closes a cycle is a deadlock.
  static absl::StatusOr<std::vector<int32_t>> ExecutionOrder(const Computation& computation) {
    const auto& instructions = computation.instructions;
    const int32_t count = static_cast<int32_t>(instructions.size());
    enum : uint8_t { kNew, kOpen, kDone };
    std::map<int64_t, std::vector<int32_t>> sends;  // on device channels
    for (int32_t i = 0; i < count; ++i) {
      if (instructions[i].opcode == Opcode::kSend && !instructions[i].attributes.Bool(Attr::kIsHostTransfer))
        sends[instructions[i].attributes.Int(Attr::kChannelId)].push_back(i);
    }
    std::vector<uint8_t> state(count, kNew);
    std::vector<int32_t> order, pending;
    order.reserve(count);
    for (int32_t first = 0; first < count; ++first) {
      pending.push_back(first);
      while (!pending.empty()) {
        const int32_t i = pending.back();
        if (state[i] != kNew) {
          pending.pop_back();
          if (state[i] == kOpen) order.push_back(i);
          state[i] = kDone;
          continue;
        }
        state[i] = kOpen;
        for (int32_t before : Predecessors(computation, sends, i)) {
          if (state[before] == kNew) pending.push_back(before);
          if (state[before] == kOpen) {
            return EvalError(instructions[i].position,
                             fmt::format("deadlock: '{}' and '{}' wait for each other", instructions[i].name,
                                         instructions[before].name));
          }
        }
      }
    }
    return order;
  }

  // What must run before instruction i. Operands and control predecessors stand before it in the text, so
  // they are listed only where a recv-done has pulled something forward.
  static std::vector<int32_t> Predecessors(const Computation& computation,
                                           const std::map<int64_t, std::vector<int32_t>>& sends, int32_t i) {
    const Instruction& instruction = computation.instructions[i];
    std::vector<int32_t> result(instruction.operands.begin(), instruction.operands.end());
    result.insert(result.end(), instruction.control_predecessors.begin(),
                  instruction.control_predecessors.end());
    if (instruction.opcode != Opcode::kRecvDone || instruction.attributes.Bool(Attr::kIsHostTransfer))
      return result;
    const auto send = sends.find(instruction.attributes.Int(Attr::kChannelId));
    if (send != sends.end()) result.insert(result.end(), send->second.begin(), send->second.end());
    return result;
  }

  // In the given order, but a get-tuple-element follows its tuple at once: the tuple can then be freed early,
  // which leaves its elements unshared, so that updates can happen in place.
  static void AddSteps(const Computation& computation, const std::vector<int32_t>& order,
                       const std::vector<bool>& needed, ComputationPlan& plan) {
    const auto& instructions = computation.instructions;
    const int32_t count = static_cast<int32_t>(instructions.size());
    std::vector<std::vector<int32_t>> projections(count);
    for (int32_t i = 0; i < count; ++i) {
      const Instruction& instruction = instructions[i];
      if (needed[i] && instruction.opcode == Opcode::kGetTupleElement &&
          instruction.control_predecessors.empty()) {
        projections[instruction.operands[0]].push_back(i);
      }
    }
    std::vector<bool> done(count, false);
    std::vector<int32_t> pending;
    for (int32_t i : order) {
      if (!needed[i] || done[i]) continue;
      pending.push_back(i);
      while (!pending.empty()) {
        const int32_t next = pending.back();
        pending.pop_back();
        done[next] = true;
        if (instructions[next].opcode != Opcode::kParameter) {
          plan.steps.push_back({.instruction = next,
                                .op = &DefinitionOf(instructions[next].opcode),
                                .counts = CountsOf(computation, instructions[next])});
        }
        pending.insert(pending.end(), projections[next].rbegin(), projections[next].rend());
      }
    }
  }

  // Steps that only give the program its structure become data of the plan, or the executor's own.
  static void Structure(const Computation& computation, ComputationPlan& plan) {
    plan.counts = computation.inlined_steps.value_or(0);
    DropUnreadTuples(computation, plan);
    FindState(computation, plan);
    std::vector<Step> kept;
    kept.reserve(plan.steps.size());
    for (Step& step : plan.steps) {
      const Instruction& instruction = computation.instructions[step.instruction];
      if (IsStructure(computation, plan, instruction, step.instruction)) {
        plan.counts = AddCounts(plan.counts, step.counts);
        continue;
      }
      if (instruction.opcode == Opcode::kTuple) step.kind = StepKind::kTuple;
      if (instruction.opcode == Opcode::kGetTupleElement) {
        step.kind = StepKind::kGetTupleElement;
        step.element = instruction.attributes.Int(Attr::kIndex);
      }
      kept.push_back(std::move(step));
    }
    plan.steps = std::move(kept);
  }

  static bool IsStructure(const Computation& computation, ComputationPlan& plan,
                          const Instruction& instruction, int32_t index) {
    switch (instruction.opcode) {
      case Opcode::kConstant:
        plan.constants.push_back(index);
        return true;
      case Opcode::kGetTupleElement:
        return plan.state.unpacked && instruction.operands[0] == computation.parameters[0];
      case Opcode::kTuple:
        return plan.state.packed && index == computation.root;
      default:
        return false;
    }
  }

  // Tuples of which inlining left nothing to be read.
  static void DropUnreadTuples(const Computation& computation, ComputationPlan& plan) {
    std::vector<bool> read(computation.instructions.size(), false);
    read[computation.root] = true;
    std::vector<bool> unread(computation.instructions.size(), false);
    for (auto step = plan.steps.rbegin(); step != plan.steps.rend(); ++step) {
      const int32_t i = step->instruction;
      unread[i] = !read[i] && computation.instructions[i].opcode == Opcode::kTuple;
      if (unread[i]) {
        plan.counts = AddCounts(plan.counts, step->counts);
        continue;
      }
      for (int32_t operand : step->Reads(computation)) read[operand] = true;
    }
    std::erase_if(plan.steps, [&](const Step& step) { return unread[step.instruction]; });
  }

  static void FindState(const Computation& computation, ComputationPlan& plan) {
    const int32_t root = computation.root;
    const bool takes_tuple = computation.parameters.size() == 1 && root != computation.parameters[0] &&
                             computation.instructions[computation.parameters[0]].shape->IsTuple();
    StateSlots& state = plan.state;
    state.unpacked = takes_tuple;
    state.packed = computation.root_instruction().opcode == Opcode::kTuple;
    for (const Step& step : plan.steps) {
      const Instruction& instruction = computation.instructions[step.instruction];
      for (int32_t operand : step.Reads(computation)) {
        if (operand == root) state.packed = false;
        if (takes_tuple && operand == computation.parameters[0]) {
          if (instruction.opcode != Opcode::kGetTupleElement) state.unpacked = false;
          state.inputs.push_back({instruction.attributes.Int(Attr::kIndex), step.instruction});
        }
      }
    }
    if (!state.unpacked) state.inputs.clear();
    std::stable_sort(state.inputs.begin(), state.inputs.end(),
                     [](const ElementSlot& a, const ElementSlot& b) { return a.element < b.element; });
    for (size_t k = 0; k + 1 < state.inputs.size(); ++k)
      state.inputs[k].last = state.inputs[k].element != state.inputs[k + 1].element;
    if (state.packed) FindOutputs(computation, state);
  }

  static void FindOutputs(const Computation& computation, StateSlots& state) {
    const Instruction& root = computation.root_instruction();
    std::vector<bool> given(computation.instructions.size(), false);
    for (int32_t slot : root.operands)
      state.outputs.push_back({static_cast<int64_t>(state.outputs.size()), slot});
    for (auto output = state.outputs.rbegin(); output != state.outputs.rend(); ++output) {
      const Instruction& instruction = computation.instructions[output->slot];
      output->last = !given[output->slot] && instruction.opcode != Opcode::kConstant;
      given[output->slot] = true;
    }
    state.kept.assign(root.operands.size(), false);
    if (!state.unpacked ||
        root.operands.size() != computation.instructions[computation.parameters[0]].shape->elements().size())
      return;
    std::vector<int> readers(root.operands.size(), 0);
    for (const ElementSlot& input : state.inputs) ++readers[input.element];
    for (const ElementSlot& input : state.inputs) {
      const ElementSlot& output = state.outputs[input.element];
      state.kept[input.element] = readers[input.element] == 1 && output.last && output.slot == input.slot;
    }
  }

  // In a body whose state lies in slots: steps without effects that read only what no turn changes.
  static void FindOnce(const Computation& computation, ComputationPlan& plan) {
    if (!plan.state.unpacked || !plan.state.packed) return;
    std::vector<bool> unchanged(computation.instructions.size(), false);
    for (int32_t constant : plan.constants) unchanged[constant] = true;
    for (size_t e = 0; e < plan.state.kept.size(); ++e) {
      if (plan.state.kept[e]) unchanged[plan.state.outputs[e].slot] = true;
    }
    int64_t room = kMostOnce;
    for (Step& step : plan.steps) {
      const std::span<const int32_t> reads = step.Reads(computation);
      const Instruction& instruction = computation.instructions[step.instruction];
      step.once = IsRepeatable(instruction) && instruction.shape->TotalBytes() <= room &&
                  std::all_of(reads.begin(), reads.end(), [&](int32_t read) { return unchanged[read]; });
      if (!step.once) continue;
      room -= instruction.shape->TotalBytes();
      unchanged[step.instruction] = true;
      plan.once.push_back(step.instruction);
      for (ElementSlot& output : plan.state.outputs) {
        if (output.slot == step.instruction) output.last = false;
      }
    }
  }

  // Running it again with the same operands gives the same array and does nothing else.
  static bool IsRepeatable(const Instruction& instruction) {
    return instruction.shape->IsArray() && !instruction.shape->HasDynamic() && !HasSideEffect(instruction) &&
           instruction.opcode != Opcode::kCustomCall && CalledComputations(instruction).empty() &&
           instruction.control_predecessors.empty();
  }

  static void MarkLastUses(const Computation& computation, ComputationPlan& plan) {
    std::vector<bool> used_later(computation.instructions.size(), false);
    used_later[computation.root] = true;
    for (const ElementSlot& output : plan.state.outputs) used_later[output.slot] = true;
    for (int32_t constant : plan.constants) used_later[constant] = true;
    for (int32_t slot : plan.once) used_later[slot] = true;
    for (auto step = plan.steps.rbegin(); step != plan.steps.rend(); ++step) {
      const std::span<const int32_t> operands = step->Reads(computation);
      step->last_use.assign(operands.size(), false);
      for (size_t k = operands.size(); k-- > 0;) {
        step->last_use[k] = !used_later[operands[k]];
        used_later[operands[k]] = true;
      }
      step->result_used = used_later[step->instruction];
    }
    plan.parameter_used.reserve(computation.parameters.size());
    for (int32_t parameter : computation.parameters) plan.parameter_used.push_back(used_later[parameter]);
    std::erase_if(plan.state.inputs, [&](const ElementSlot& input) { return !used_later[input.slot]; });
  }

  const Module& module_;
  const std::span<const Engine* const> engines_;
  const std::vector<std::vector<bool>> needed_;
  std::vector<bool> in_loop_;  // reached from a while
  size_t fusions_ = 0;
};

}  // namespace

absl::StatusOr<Plan> MakePlan(const VerifiedModule& verified, std::span<const Engine* const> engines) {
  const Module& module = verified.module();
  if (module.replica_count != 1 || module.num_partitions != 1) {
    return NotSupported(
        {}, fmt::format("the module runs on {} replicas and {} partitions; only one device is supported",
                        module.replica_count, module.num_partitions));
  }
  Plan plan;
  if (!engines.empty()) plan.module = InlineCalls(module);
  if (plan.module == nullptr) plan.module = verified.shared_module();
  plan.engines = engines;
  ASSAY_ASSIGN_OR_RETURN(plan.computations, Planner(*plan.module, plan.engines).Run());
  return plan;
}

absl::StatusOr<Plan> MakePlan(const VerifiedModule& verified, EngineChoice choice, native::Isa isa) {
  return MakePlan(verified, EnginesOf(choice, isa));
}

}  // namespace assay
