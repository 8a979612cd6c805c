#include "plan/inline_calls.h"

#include <algorithm>

#include "evaluator/registry.h"
#include "evaluator/steps.h"
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

bool IsMap(const Instruction& instruction) {
  return DefinitionOf(instruction.opcode).arguments == Arguments::kElements;
}

class Inliner {
 public:
  explicit Inliner(const Module& module) : module_(module) {}

  std::shared_ptr<const Module> Run() {
    if (!HasCalls() || Depth() > kMaxDepth) return nullptr;
    live_ = LiveInstructions(module_);
    inlined_.assign(module_.computations.size(), false);
    auto result = std::make_shared<Module>();
    result->name = module_.name;
    result->entry = module_.entry;
    result->replica_count = module_.replica_count;
    result->num_partitions = module_.num_partitions;
    done_ = &result->computations;
    done_->reserve(module_.computations.size());
    for (size_t c = 0; c < module_.computations.size(); ++c) done_->push_back(Rewrite(c));
    if (std::none_of(inlined_.begin(), inlined_.end(), [](bool was) { return was; })) return nullptr;
    RemoveUncalled();
    return result;
  }

 private:
  bool HasCalls() {
    bool any = false;
    for (const Computation& computation : module_.computations) {
      size_ += computation.instructions.size();
      for (const Instruction& instruction : computation.instructions) {
        if (DefinitionOf(instruction.opcode).partner_in_computation) return false;
        any = any || IsMap(instruction) || Callee(instruction).has_value();
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

  // The computation that takes the place of call i, or null.
  const Computation* Body(const Computation& caller, size_t i,
                          const std::vector<bool>& is_predecessor) const {
    const Instruction& call = caller.instructions[i];
    const std::optional<ComputationId> id = Callee(call);
    if (!id || is_predecessor[i] || !call.control_predecessors.empty()) return nullptr;
    const Computation& body = (*done_)[id->value];
    if (size_ + body.instructions.size() > limit_ || !HaveEqualShapes(call, body.root_instruction()))
      return nullptr;
    for (size_t k = 0; k < call.operands.size(); ++k) {
      if (!HaveEqualShapes(caller.instructions[call.operands[k]], body.instructions[body.parameters[k]]))
        return nullptr;
    }
    return &body;
  }

  // The same for a map.
  const Computation* MapBody(const Computation& caller, size_t i,
                             const std::vector<bool>& is_predecessor) const {
    const Instruction& map = caller.instructions[i];
    if (!IsMap(map) || is_predecessor[i] || !map.control_predecessors.empty()) return nullptr;
    const Computation& body = (*done_)[map.attributes.Computation(Attr::kToApply)->value];
    const bool fits = size_ + 2 * body.instructions.size() <= limit_;  // a constant and its broadcast each
    return fits && CanInlineMap(body, map) ? &body : nullptr;
  }

  Computation Rewrite(size_t c) {
    const Computation& old = module_.computations[c];
    Computation result;
    result.name = old.name;
    result.execution_thread = old.execution_thread;
    result.position = old.position;
    result.parameters.resize(old.parameters.size());
    result.inlined_steps = 0;
    std::vector<bool> is_predecessor(old.instructions.size(), false);
    for (const Instruction& instruction : old.instructions) {
      for (int32_t before : instruction.control_predecessors) is_predecessor[before] = true;
    }
    std::vector<int32_t> places(old.instructions.size(), -1);  // of what is now in `result`
    for (size_t i = 0; i < old.instructions.size(); ++i) {
      const Instruction& instruction = old.instructions[i];
      if (!live_[c][i] && instruction.opcode != Opcode::kParameter) continue;
      if (const Computation* const body = Body(old, i, is_predecessor)) {
        places[i] = Insert(*body, instruction, places, result);
        inlined_[Callee(instruction)->value] = true;
      } else if (const Computation* const mapped = MapBody(old, i, is_predecessor)) {
        const size_t before = result.instructions.size();
        places[i] = InsertMap(*mapped, old, instruction, places, result);
        size_ += result.instructions.size() - before;
        inlined_[instruction.attributes.Computation(Attr::kToApply)->value] = true;
      } else if (const int32_t element = ElementOfTuple(instruction, places, result);
                 element >= 0 && !is_predecessor[i]) {
        places[i] = element;
        result.inlined_steps = AddCounts(*result.inlined_steps, CountsOf(old, instruction));
      } else {
        places[i] = Append(instruction, places, result);
      }
    }
    result.root = places[old.root];
    return result;
  }

  // What a get-tuple-element of a tuple that is put together here gives; else -1.
  static int32_t ElementOfTuple(const Instruction& instruction, std::span<const int32_t> places,
                                const Computation& result) {
    if (instruction.opcode != Opcode::kGetTupleElement || !instruction.control_predecessors.empty())
      return -1;
    const Instruction& tuple = result.instructions[places[instruction.operands[0]]];
    if (tuple.opcode != Opcode::kTuple) return -1;
    const int32_t element = tuple.operands[instruction.attributes.Int(Attr::kIndex)];
    return HaveEqualShapes(instruction, result.instructions[element]) ? element : -1;
  }

  static int32_t Append(const Instruction& instruction, std::span<const int32_t> places,
                        Computation& result) {
    const auto at = static_cast<int32_t>(result.instructions.size());
    Instruction& copy = result.instructions.emplace_back(instruction);
    for (int32_t& operand : copy.operands) operand = places[operand];
    for (int32_t& before : copy.control_predecessors) before = places[before];
    if (copy.opcode == Opcode::kParameter) result.parameters[copy.parameter_number] = at;
    return at;
  }

  // The callee's instructions in place of the call; returns where its result is.
  int32_t Insert(const Computation& body, const Instruction& call, std::span<const int32_t> places,
                 Computation& result) {
    std::vector<int32_t> inner(body.instructions.size(), -1);
    for (size_t i = 0; i < inner.size(); ++i) {
      const Instruction& instruction = body.instructions[i];
      inner[i] = instruction.opcode == Opcode::kParameter
                     ? places[call.operands[instruction.parameter_number]]
                     : Append(instruction, inner, result);
    }
    size_ += body.instructions.size();
    // The call, and the computation that it calls.
    result.inlined_steps =
        AddCounts(*result.inlined_steps, AddCounts(2 * kCountsPerStep, *body.inlined_steps));
    return inner[body.root];
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
  std::vector<std::vector<bool>> live_;
  std::vector<Computation>* done_ = nullptr;
  std::vector<bool> inlined_;
};

}  // namespace

std::shared_ptr<const Module> InlineCalls(const Module& module) { return Inliner(module).Run(); }

}  // namespace assay
