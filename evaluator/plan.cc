#include "evaluator/plan.h"

#include <algorithm>
#include <map>

#include "evaluator/registry.h"
#include "fmt/format.h"
#include "hlo/text/printer.h"

namespace assay {
namespace {

// Each has code in a few mappings of its own, of which a process may have about 65,000, and takes time to make.
constexpr size_t kMaxFusions = 2048;

// Builds the plans of all computations, callees first, so that a call's effects are known.
class Planner {
 public:
  Planner(const Module& module, std::span<const Engine* const> engines)
      : module_(module),
        engines_(engines),
        has_effects_(module.computations.size(), false),
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
      ASSAY_RETURN_IF_ERROR(CheckCopyStarts(module_.computations[i]));
      ASSAY_ASSIGN_OR_RETURN(ComputationPlan plan, PlanComputation(module_.computations[i], i));
      plans.push_back(std::move(plan));
    }
    return plans;
  }

 private:
  bool HasEffect(const Instruction& instruction) const {
    if (HasSideEffect(instruction)) return true;
    for (ComputationId id : CalledComputations(instruction)) {
      if (has_effects_[id.value]) return true;
    }
    return false;
  }

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

  absl::StatusOr<ComputationPlan> PlanComputation(const Computation& computation, size_t index) {
    const auto& instructions = computation.instructions;
    const int32_t count = static_cast<int32_t>(instructions.size());
    std::vector<bool> needed(count, false);
    needed[computation.root] = true;
    for (int32_t i = count - 1; i >= 0; --i) {
      if (HasEffect(instructions[i])) {
        needed[i] = true;
        has_effects_[index] = true;
      }
      if (!needed[i]) continue;
      for (int32_t operand : instructions[i].operands) needed[operand] = true;
      for (int32_t predecessor : instructions[i].control_predecessors) needed[predecessor] = true;
    }
    ComputationPlan plan;
    ASSAY_ASSIGN_OR_RETURN(const std::vector<int32_t> order, ExecutionOrder(computation));
    AddSteps(computation, order, needed, plan);
    ASSAY_RETURN_IF_ERROR(Fuse(computation, in_loop_[index], plan));
    MarkLastUses(computation, plan);
    for (Step& step : plan.steps) {
      if (step.fusion != nullptr) continue;
      ASSAY_RETURN_IF_ERROR(
          Prepare({module_, computation, computation.instructions[step.instruction]}, step));
    }
    return plan;
  }

  // Offers fusions to the engines. Where one is taken, its root's step becomes the fusion's, and steps that
  // nobody needs any more go.
  absl::Status Fuse(const Computation& computation, bool in_loop, ComputationPlan& plan) {
    std::vector<int32_t> order, step_of(computation.instructions.size(), -1);
    for (const Step& step : plan.steps) {
      step_of[step.instruction] = static_cast<int32_t>(order.size());
      order.push_back(step.instruction);
    }
    std::vector<bool> absorbed(computation.instructions.size(), false);
    bool any = false;
    for (const Engine* engine : engines_) {
      if (!engine->fuses() || fusions_ >= kMaxFusions) continue;
      for (Fusion& fusion : FindFusions(module_, computation, order, *engine)) {
        Step& step = plan.steps[step_of[fusion.members.back()]];
        if (fusions_ >= kMaxFusions) break;
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
    if (!any) return absl::OkStatus();
    DropUnread(computation, absorbed, plan);
    CountMembers(computation, plan);
    return absl::OkStatus();
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

  // Steps count alike whoever runs them: a broadcast or iota that several fusions have counts once.
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
        ++step.counts;
        const Instruction& instruction = computation.instructions[member];
        if (!IsRecomputed(computation, instruction)) continue;
        const int64_t elements = instruction.shape->num_elements();
        if (instruction.opcode == Opcode::kIota) {
          const int64_t size = instruction.shape->size(instruction.attributes.Int(Attr::kIotaDimension));
          step.gathered += size == elements ? 0 : size;
        }
        step.gathered += elements;
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
          plan.steps.push_back({.instruction = next, .op = &DefinitionOf(instructions[next].opcode)});
        }
        pending.insert(pending.end(), projections[next].rbegin(), projections[next].rend());
      }
    }
  }

  static void MarkLastUses(const Computation& computation, ComputationPlan& plan) {
    std::vector<bool> used_later(computation.instructions.size(), false);
    used_later[computation.root] = true;
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
  }

  const Module& module_;
  const std::span<const Engine* const> engines_;
  std::vector<bool> has_effects_;
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
  plan.module = verified.shared_module();
  plan.engines = engines;
  ASSAY_ASSIGN_OR_RETURN(plan.computations, Planner(module, plan.engines).Run());
  return plan;
}

absl::StatusOr<Plan> MakePlan(const VerifiedModule& verified, EngineChoice choice, native::Isa isa) {
  return MakePlan(verified, EnginesOf(choice, isa));
}

namespace {

std::string_view MessageOf(const absl::Status& status) {
  return {status.message().data(), status.message().size()};
}

// What the engines said that were asked before the one that took the step.
std::string Declined(const Plan& plan, const StepView& view, const Step& step) {
  std::string text;
  for (const Engine* engine : plan.engines) {
    if (engine == step.engine) break;
    std::string reason;
    if (!engine->fuses()) {
      reason = MessageOf(engine->Prepare(view).status());
    } else if (engine->CanFuse(view, &reason)) {
      reason = step.declined.ok() ? "part of no fusion" : MessageOf(step.declined);
    }
    text += fmt::format("  ({}: {})", engine->name(), reason);
  }
  return text;
}

// "  WHAT %a %b" for the instructions for which `listed` is true.
template <typename Listed>
std::string Names(const Computation& computation, std::string_view what,
                  std::span<const int32_t> instructions, Listed listed) {
  std::string text;
  for (size_t k = 0; k < instructions.size(); ++k) {
    if (listed(k)) text += " %" + computation.instructions[instructions[k]].name;
  }
  return text.empty() ? "" : fmt::format("  {}{}", what, text);
}

}  // namespace

std::string PlanToText(const Plan& plan) {
  std::string text;
  const Module& module = *plan.module;
  for (size_t c = 0; c < plan.computations.size(); ++c) {
    const Computation& computation = module.computations[c];
    const bool entry = static_cast<int32_t>(c) == module.entry.value;
    text += fmt::format("{}{}: {} steps\n", entry ? "entry " : "", computation.name,
                        plan.computations[c].steps.size());
    for (const Step& step : plan.computations[c].steps) {
      const Instruction& instruction = computation.instructions[step.instruction];
      std::string fused;
      if (step.fusion != nullptr) {
        const std::span<const int32_t> members = step.fusion->members;
        fused = Names(computation, "fuses", members.first(members.size() - 1), [](size_t) { return true; });
      }
      const std::string freed =
          Names(computation, "frees", step.Reads(computation), [&](size_t k) { return step.last_use[k]; });
      text += fmt::format("  {:<9}  %{} = {} {}  {} bytes{}{}{}\n",
                          step.engine == nullptr ? "reference" : step.engine->name(), instruction.name,
                          instruction.shape->ToString(), Name(instruction.opcode),
                          instruction.shape->TotalBytes(), fused, freed,
                          Declined(plan, {module, computation, instruction}, step));
    }
  }
  return text;
}

}  // namespace assay
