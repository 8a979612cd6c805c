#include "run/inputs/input_demands.h"

#include <algorithm>
#include <set>
#include <utility>

#include "evaluator/registry.h"
#include "hlo/storage_range.h"

namespace assay {
namespace {

using Component = InputDemand::Component;

// One array in the program: what an instruction gives, or a part of it.
struct Place {
  int32_t computation, instruction;
  std::vector<int64_t> path;
  auto operator<=>(const Place&) const = default;
};

struct Task {
  Place place;
  InputDemand demand;
  int origin;  // which op made the demand: no place is visited twice for one
};

// What the walks of all demands together may cost; demands beyond it are given up, so that the analysis of a
// large program takes seconds at most.
constexpr int64_t kMaxSteps = 5'000'000;

class Analysis {
 public:
  explicit Analysis(const Module& module);
  std::map<ParameterLeaf, InputDemand> Run();

 private:
  struct Caller {
    int32_t computation, instruction;
  };
  const Instruction& At(const Place& place) const {
    return module_.computations[place.computation].instructions[place.instruction];
  }

  InstructionView ViewOf(const Place& place) const {
    return {module_.computations[place.computation], At(place)};
  }

  // Demands that one instruction makes.
  void Collect(const Place& op);
  // One step back from a place.
  void Step(const Task& task);
  void StepParameter(const Task& task);
  void Passed(const Place& op, int origin, OperandDemand demand);
  void Arrive(const Task& task, int64_t parameter);

  const Module& module_;
  std::vector<std::vector<Caller>> callers_;
  std::vector<Task> tasks_;
  std::set<std::pair<int, Place>> visited_;
  std::map<ParameterLeaf, InputDemand> found_;
  int origins_ = 0;
  int64_t steps_ = 0;
};

Analysis::Analysis(const Module& module) : module_(module), callers_(module.computations.size()) {
  for (size_t c = 0; c < module.computations.size(); ++c) {
    const auto& instructions = module.computations[c].instructions;
    for (size_t i = 0; i < instructions.size(); ++i) {
      for (ComputationId callee : CalledComputations(instructions[i])) {
        callers_[callee.value].push_back({static_cast<int32_t>(c), static_cast<int32_t>(i)});
      }
    }
  }
}

void Analysis::Collect(const Place& op) {
  const DemandFn demands_of = DefinitionOf(At(op).opcode).demands;
  if (demands_of == nullptr) return;
  std::vector<OperandDemand> demands;
  demands_of(ViewOf(op), demands);
  for (OperandDemand& demand : demands) Passed(op, origins_++, std::move(demand));
}

// --- The walk back ----------------------------------------------------------------------------------------

void Analysis::Passed(const Place& op, int origin, OperandDemand demand) {
  Place at{op.computation, 0, std::move(demand.path)};
  if (demand.callee.has_value()) {
    at.computation = demand.callee->value;
    at.instruction = module_.computation(*demand.callee).root;
  } else {
    at.instruction = At(op).operands[demand.operand];
  }
  tasks_.push_back({std::move(at), std::move(demand.demand), origin});
}

void Analysis::Arrive(const Task& task, int64_t parameter) {
  const auto [at, is_new] = found_.emplace(ParameterLeaf(parameter, task.place.path), task.demand);
  if (is_new) return;
  InputDemand& old = at->second;
  // Whole-array demands win over ranges: an evaluation fails without them.
  if (old.kind != InputDemand::Kind::kIndices) return;
  if (task.demand.kind != InputDemand::Kind::kIndices) {
    old = task.demand;
    return;
  }
  InputDemand next = task.demand;
  if (old.components.size() != next.components.size() || old.inner != next.inner) {
    old = *demand::Loosened(old);
    next = *demand::Loosened(next);
  }
  for (size_t j = 0; j < old.components.size(); ++j) {
    Component &a = old.components[j], &b = next.components[j];
    const int64_t low = std::max(a.low, b.low), step = std::max(a.step, b.step);
    const int64_t high = std::min(a.low + a.step * (a.count - 1), b.low + b.step * (b.count - 1));
    a = {low, std::max<int64_t>(high - low, 0) / step + 1, step, a.rank};
  }
  old.sorted |= next.sorted;
  old.unique |= next.unique;
}

// A parameter is what the callers pass.
void Analysis::StepParameter(const Task& task) {
  const int64_t number = At(task.place).parameter_number;
  const std::vector<int64_t>& path = task.place.path;
  if (task.place.computation == module_.entry.value) return Arrive(task, number);
  for (const Caller& caller : callers_[task.place.computation]) {
    const Place call{caller.computation, caller.instruction, path};
    const InstructionView view = ViewOf(call);
    std::vector<OperandDemand> demands;
    switch (view.instruction.opcode) {
      case Opcode::kWhile:  // what a demand on its result falls on
        DefinitionOf(Opcode::kWhile).pass_demand(view, task.demand, path, demands);
        break;
      case Opcode::kConditional: {
        const std::vector<ComputationId> branches = CalledComputations(view.instruction);
        for (size_t i = 0; i < branches.size(); ++i) {
          if (branches[i].value == task.place.computation)
            demands.push_back({static_cast<int64_t>(i) + 1, task.demand, path});
        }
        break;
      }
      default: {
        const Arguments arguments = DefinitionOf(view.instruction.opcode).arguments;
        if (arguments == Arguments::kOperands) demands.push_back({number, task.demand, path});
        if (arguments == Arguments::kElements) demand::AddLoosened(number, task.demand, demands);
      }
    }
    for (OperandDemand& demand : demands) Passed(call, task.origin, std::move(demand));
  }
}

// Moved elements demand of the operands what is demanded of the result: operand k has them all, or is result
// k of several.
void PassToMoved(const InstructionView& view, const MoveDef& moves, const InputDemand& demand,
                 std::span<const int64_t> path, std::vector<OperandDemand>& demands) {
  for (int64_t k = 0; k < static_cast<int64_t>(moves.count(view.num_operands())); ++k) {
    if (!path.empty() && path[0] != k) continue;
    if (moves.in_place) {
      demands.push_back({k, demand});
    } else {
      demand::AddLoosened(k, demand, demands);
    }
  }
}

void Analysis::Step(const Task& task) {
  const InstructionView view = ViewOf(task.place);
  if (view.instruction.opcode == Opcode::kParameter) return StepParameter(task);
  const OpDef& op = DefinitionOf(view.instruction.opcode);
  std::vector<OperandDemand> demands;
  if (op.pass_demand != nullptr) {
    op.pass_demand(view, task.demand, task.place.path, demands);
  } else {
    PassToMoved(view, op.moves, task.demand, task.place.path, demands);
  }
  for (OperandDemand& demand : demands) Passed(task.place, task.origin, std::move(demand));
}

std::map<ParameterLeaf, InputDemand> Analysis::Run() {
  for (size_t c = 0; c < module_.computations.size(); ++c) {
    for (size_t i = 0; i < module_.computations[c].instructions.size(); ++i) {
      Collect({static_cast<int32_t>(c), static_cast<int32_t>(i), {}});
      for (; !tasks_.empty(); ++steps_) {
        const Task task = std::move(tasks_.back());
        tasks_.pop_back();
        if (steps_ < kMaxSteps && visited_.emplace(task.origin, task.place).second) Step(task);
      }
      visited_.clear();
    }
  }
  return std::move(found_);
}

}  // namespace

std::map<ParameterLeaf, InputDemand> InputDemands(const Module& module) {
  std::map<ParameterLeaf, InputDemand> demands = Analysis(module).Run();
  const Computation& entry = module.entry_computation();
  for (const int32_t index : entry.parameters) {
    const Instruction& parameter = entry.instructions[static_cast<size_t>(index)];
    if (parameter.extras == nullptr || !parameter.shape->IsArray() ||
        !IsIntegral(parameter.shape->element_type()))
      continue;
    for (const auto& [name, value] : parameter.extras->frontend_attributes) {
      const auto range = name == kStorageRange ? ParseStorageRange(value.text) : std::nullopt;
      if (range)
        demands.try_emplace({parameter.parameter_number, {}}, demand::OneRange(range->first, range->second));
    }
  }
  return demands;
}

}  // namespace assay
