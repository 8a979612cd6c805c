#include "plan/inline_calls.h"

#include <algorithm>

#include "evaluator/grid/device_grid.h"
#include "evaluator/inlining.h"
#include "evaluator/registry.h"
#include "evaluator/runtime_sizes.h"
#include "evaluator/steps.h"
#include "hlo/annotation.h"
#include "plan/inline_maps.h"
#include "plan/live.h"

namespace assay {
namespace {

constexpr int kMaxDepth = 64;              // of computations that call computations
constexpr size_t kMaxGrowth = 4;           // instructions that may become of one
constexpr size_t kSmallProgram = 1 << 12;  // instructions that any program may have

std::optional<ComputationId> Callee(const Instruction& instruction) {
  if (instruction.opcode == Opcode::kCall) return instruction.attributes.Computation(Attr::kToApply);
  if (instruction.opcode == Opcode::kFusion) return instruction.attributes.Computation(Attr::kCalls);
  return std::nullopt;
}

// Whether the body of a loop has element k of its state in its result as it is.
bool PassesOn(const Computation& body, int64_t k) {
  const Instruction& root = body.root_instruction();
  if (root.opcode != Opcode::kTuple) return false;
  const Instruction& element = body.instructions[root.operands[k]];
  return element.opcode == Opcode::kGetTupleElement && element.operands[0] == body.parameters[0] &&
         element.attributes.Int(Attr::kIndex) == k && element.control_predecessors.empty();
}

bool IsMap(const Instruction& instruction) {
  return DefinitionOf(instruction.opcode).arguments == Arguments::kElements;
}

class CallInliner {
 public:
  explicit CallInliner(const Module& module) : module_(module) {}

  std::shared_ptr<const Module> Run() {
    if (!HasCalls() || Depth() > kMaxDepth) return nullptr;
    FindLive();
    inlined_.assign(module_.computations.size(), false);
    auto result = std::make_shared<Module>();
    result->name = module_.name;
    result->entry = module_.entry;
    result->replica_count = module_.replica_count;
    result->frontend_attributes = module_.frontend_attributes;  // the meshes of manual regions
    result->num_partitions = module_.num_partitions;
    result->custom_ops = module_.custom_ops;
    result->entry_computation_layout = module_.entry_computation_layout;
    done_ = &result->computations;
    done_->reserve(module_.computations.size());
    for (size_t c = 0; c < module_.computations.size(); ++c) done_->push_back(Rewrite(c));
    if (!passed_loop_ && !has_dropped_ &&
        std::none_of(inlined_.begin(), inlined_.end(), [](bool was) { return was; }))
      return nullptr;
    RemoveUncalled();
    return result;
  }

 private:
  // Parameters stay, read or not.
  void FindLive() {
    live_ = LiveInstructions(module_);
    for (size_t c = 0; c < live_.size(); ++c) {
      const Computation& computation = module_.computations[c];
      for (int32_t parameter : computation.parameters) live_[c][parameter] = true;
      std::vector<bool>& predecessors = is_predecessor_.emplace_back(computation.instructions.size(), false);
      for (const Instruction& instruction : computation.instructions) {
        for (int32_t before : instruction.control_predecessors) predecessors[before] = true;
      }
    }
  }

  bool HasCalls() {
    bool any = false;
    for (const Computation& computation : module_.computations) {
      size_ += computation.instructions.size();
      for (const Instruction& instruction : computation.instructions) {
        if (DefinitionOf(instruction.opcode).partner_in_computation) return false;
        any = any || IsMap(instruction) || Callee(instruction).has_value() ||
              IsShardingAnnotation(instruction) ||
              (instruction.opcode == Opcode::kGetTupleElement &&
               IsPassedByLoop(instruction, computation.instructions[instruction.operands[0]],
                              module_.computations));
      }
    }
    limit_ = std::max(kMaxGrowth * size_, kSmallProgram);
    return any;
  }

  int Depth() const {
    std::vector<int> depths;
    int deepest = 0;
    for (const Computation& computation : module_.computations) {
      int depth = 0;
      for (const Instruction& instruction : computation.instructions) {
        for (ComputationId id : CalledComputations(instruction))
          depth = std::max(depth, depths[id.value] + 1);
      }
      depths.push_back(depth);
      deepest = std::max(deepest, depth);
    }
    return deepest;
  }

  static bool HaveEqualShapes(const Instruction& a, const Instruction& b) {
    return a.shape == b.shape || Shape::Equal(*a.shape, *b.shape);
  }

  // Whether `value` may stand where `instruction` does. One that is declared static and is dynamic by its
  // shape rule checks sizes when it runs (Decision: static-result-size).
  static bool CanReplace(const Instruction& value, const Instruction& instruction) {
    return !IsDeclaredOtherwise(instruction) && HaveEqualShapes(instruction, value);
  }

  // Devices meet by instruction: one that two calls lead to stays one.
  static bool HasCollectives(const Computation& computation) {
    return std::any_of(computation.instructions.begin(), computation.instructions.end(),
                       IsCollectiveOrTransfer);
  }

  // The computation that takes the place of call i, where one does.
  std::optional<ComputationId> Enter(ComputationId caller, int32_t i) {
    const Computation& from = module_.computation(caller);
    const Instruction& call = from.instructions[i];
    const std::optional<ComputationId> id = Callee(call);
    if (!id || HasControl(caller, i)) return std::nullopt;
    const Computation& body = module_.computation(*id);
    if (HasCollectives(body)) return std::nullopt;
    if (size_ + body.instructions.size() > limit_ || !CanReplace(body.root_instruction(), call))
      return std::nullopt;
    for (size_t k = 0; k < call.operands.size(); ++k) {
      if (!HaveEqualShapes(from.instructions[call.operands[k]], body.instructions[body.parameters[k]]))
        return std::nullopt;
    }
    size_ += body.instructions.size();
    inlined_[id->value] = true;
    return id;
  }

  bool HasControl(ComputationId c, int32_t i) const {
    return is_predecessor_[c.value][i] ||
           !module_.computation(c).instructions[i].control_predecessors.empty();
  }

  Computation Rewrite(size_t c) {
    const Computation& old = module_.computations[c];
    Computation result;
    result.name = old.name;
    result.execution_thread = old.execution_thread;
    result.position = old.position;
    result.parameters.resize(old.parameters.size());
    result.inlined_steps = 0;
    const auto live = [&](ComputationId id) -> absl::StatusOr<std::vector<bool>> { return live_[id.value]; };
    const auto callee = [&](ComputationId caller, int32_t call,
                            int) -> absl::StatusOr<std::optional<ComputationId>> {
      const std::optional<ComputationId> id = Enter(caller, call);
      // The call, and the computation that it calls.
      if (id) result.inlined_steps = AddUnits(*result.inlined_steps, 2 * kUnitsPerStep);
      return id;
    };
    const auto emit = [&](ComputationId id, int32_t i, std::span<const InlinedValue> values) {
      return absl::StatusOr<InlinedValue>(InlinedValue{.id = Emit(id, i, values, result)});
    };
    // None of the rules gives an error.
    const auto values = InlineInto(module_, ComputationId{static_cast<int32_t>(c)}, {}, {live, callee, emit});
    result.root = (*values)[old.root].id;
    return result;
  }

  // Where the value of an instruction is in `result`.
  int32_t Emit(ComputationId id, int32_t i, std::span<const InlinedValue> values, Computation& result) {
    const Computation& from = module_.computation(id);
    const Instruction& instruction = from.instructions[i];
    if (HasControl(id, i)) return Append(instruction, values, result);
    if (IsMap(instruction) && size_ < limit_) {
      const size_t before = result.instructions.size();
      if (const auto place = InlineMap({module_, from, instruction, live_}, values, limit_ - size_, result)) {
        size_ += result.instructions.size() - before;
        inlined_[instruction.attributes.Computation(Attr::kToApply)->value] = true;
        return *place;
      }
    }
    if (IsDropped(from, instruction)) {
      has_dropped_ = true;
      result.inlined_steps = AddUnits(*result.inlined_steps, StepUnitsOf(module_, from, instruction));
      return values[instruction.operands[0]].id;
    }
    if (const int32_t element = ElementOfTuple(instruction, values, result); element >= 0) {
      result.inlined_steps = AddUnits(*result.inlined_steps, StepUnitsOf(module_, from, instruction));
      return element;
    }
    if (const int32_t state = StateBefore(instruction, values, result); state >= 0) {
      passed_loop_ = true;
      const Instruction& tuple = result.instructions[state];
      if (tuple.opcode != Opcode::kTuple) {
        const int32_t element = Append(instruction, values, result);
        result.instructions[element].operands[0] = state;
        return element;
      }
      result.inlined_steps = AddUnits(*result.inlined_steps, StepUnitsOf(module_, from, instruction));
      return tuple.operands[instruction.attributes.Int(Attr::kIndex)];
    }
    return Append(instruction, values, result);
  }

  // Annotations, which would keep what is around them from becoming one step. A tile sharding alone may be
  // what the border of a partitioned region behind it goes by.
  static bool IsDropped(const Computation& from, const Instruction& instruction) {
    if (!IsShardingAnnotation(instruction)) return false;
    const bool has_tiles = instruction.extras != nullptr && !instruction.extras->sharding.empty() &&
                           FrontendAttribute(instruction, "xla.sdy.sharding") == nullptr;
    return !has_tiles && CanReplace(from.instructions[instruction.operands[0]], instruction);
  }

  // What a get-tuple-element of a tuple that is put together here gives; else -1.
  static int32_t ElementOfTuple(const Instruction& instruction, std::span<const InlinedValue> values,
                                const Computation& result) {
    if (instruction.opcode != Opcode::kGetTupleElement) return -1;
    const Instruction& tuple = result.instructions[values[instruction.operands[0]].id];
    if (tuple.opcode != Opcode::kTuple) return -1;
    const int32_t element = tuple.operands[instruction.attributes.Int(Attr::kIndex)];
    return CanReplace(result.instructions[element], instruction) ? element : -1;
  }

  // Whether `tuple` is a loop that leaves the element which the get-tuple-element gives as it is.
  static bool IsPassedByLoop(const Instruction& element, const Instruction& tuple,
                             std::span<const Computation> computations) {
    return tuple.opcode == Opcode::kWhile &&
           PassesOn(computations[tuple.attributes.Computation(Attr::kBody)->value],
                    element.attributes.Int(Attr::kIndex));
  }

  // The state before a loop where the instruction gives an element that the loop leaves as it is, a tuple or
  // parameter; else -1. So an outer loop sees what its inner ones do not change.
  int32_t StateBefore(const Instruction& instruction, std::span<const InlinedValue> values,
                      const Computation& result) const {
    if (instruction.opcode != Opcode::kGetTupleElement) return -1;
    const Instruction& loop = result.instructions[values[instruction.operands[0]].id];
    if (!IsPassedByLoop(instruction, loop, *done_)) return -1;
    const int32_t state = loop.operands[0];
    const Instruction& before = result.instructions[state];
    if (IsDeclaredOtherwise(instruction)) return -1;
    if (before.opcode == Opcode::kParameter) return state;
    if (before.opcode != Opcode::kTuple) return -1;
    const int32_t element = before.operands[instruction.attributes.Int(Attr::kIndex)];
    return CanReplace(result.instructions[element], instruction) ? state : -1;
  }

  static int32_t Append(const Instruction& instruction, std::span<const InlinedValue> values,
                        Computation& result) {
    const auto at = static_cast<int32_t>(result.instructions.size());
    Instruction& copy = result.instructions.emplace_back(instruction);
    for (int32_t& operand : copy.operands) operand = values[operand].id;
    for (int32_t& before : copy.control_predecessors) before = values[before].id;
    if (copy.opcode == Opcode::kParameter) result.parameters[copy.parameter_number] = at;
    return at;
  }

  // Nobody makes plans for computations that were inlined wherever they were called.
  void RemoveUncalled() {
    std::vector<bool> called(done_->size(), false);
    called[module_.entry.value] = true;
    for (size_t c = done_->size(); c-- > 0;) {
      if (inlined_[c] && !called[c]) {
        (*done_)[c].instructions.clear();
        (*done_)[c].parameters.clear();
        continue;
      }
      for (const Instruction& instruction : (*done_)[c].instructions) {
        for (ComputationId id : CalledComputations(instruction)) called[id.value] = true;
      }
    }
  }

  const Module& module_;
  size_t size_ = 0, limit_ = 0;
  bool passed_loop_ = false;
  std::vector<std::vector<bool>> live_, is_predecessor_;  // by computation and instruction
  std::vector<Computation>* done_ = nullptr;
  std::vector<bool> inlined_;
  bool has_dropped_ = false;  // an annotation
};

}  // namespace

std::shared_ptr<const Module> InlineCalls(const Module& module) { return CallInliner(module).Run(); }

}  // namespace assay
