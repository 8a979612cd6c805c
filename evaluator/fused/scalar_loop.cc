#include "evaluator/fused/scalar_loop.h"

#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "evaluator/eval_context.h"
#include "evaluator/executor.h"
#include "evaluator/fused/nodes.h"
#include "evaluator/registry.h"
#include "fmt/format.h"
#include "jit/loop.h"

namespace assay::fused {
namespace {

constexpr int kMaxInlining = 64;              // calls in calls
constexpr int64_t kInterpreted = 64;          // iterations that take about as long as making the code
constexpr int64_t kIterations = 1 << 16;      // between two counts of steps
constexpr size_t kMaxInstructions = 1 << 11;  // of condition and body, those of calls included

struct alignas(64) Copies {
  std::byte bytes[jit::kMaxLanes * 8];
};
Copies CopiesOf(const std::byte* element, int bytes) {
  Copies copies;
  for (int64_t i = 0; i < jit::kMaxLanes; ++i) std::memcpy(copies.bytes + i * bytes, element, bytes);
  return copies;
}

// What the interpreter counts of a computation: instructions, and elements of elementwise ones.
struct Work {
  int64_t steps = 0, elements = 0;
};

// A loop as a segment. Streams are the scalars of the state, in the order of its leaves, and then constants.
struct LoopProgram {
  jit::Segment segment;
  int16_t condition = -1;
  std::vector<int> leaf_streams;  // by leaf of the state; -1: not a scalar, comes back as it was
  std::vector<Copies> constants;  // of the streams behind those of the state
  Work condition_work, body_work;
};

// What an instruction gives: a node, a leaf of the state that is no scalar, or a tuple.
struct Value {
  int node = -1, leaf = -1;
  std::vector<Value> parts;
};

class Builder {
 public:
  Builder(const Module& module, jit::Target target) : module_(module), target_(target) {}

  absl::StatusOr<LoopProgram> Run(const Instruction& loop) {
    const Value state = StateOf(*loop.shape);
    if (program_.segment.streams.empty()) return NotSupported({}, "no scalar in the state");
    ASSAY_ASSIGN_OR_RETURN(const Value condition,
                           Inline(*loop.attributes.Computation(Attr::kCondition), {state}, 0));
    program_.condition_work = std::exchange(work_, {});
    ASSAY_ASSIGN_OR_RETURN(const Value next, Inline(*loop.attributes.Computation(Attr::kBody), {state}, 0));
    program_.body_work = work_;
    program_.condition = static_cast<int16_t>(condition.node);
    ASSAY_RETURN_IF_ERROR(StoreState(state, next));
    return std::move(program_);
  }

 private:
  int AddNode(jit::Node node) {
    program_.segment.nodes.push_back(node);
    return static_cast<int>(program_.segment.nodes.size()) - 1;
  }
  // A node that loads a new stream of one element.
  int AddStream(ElementType type) {
    program_.segment.streams.push_back({type, /*repeated=*/true});
    return AddNode({.opcode = Opcode::kParameter,
                    .type = type,
                    .a = static_cast<int64_t>(program_.segment.streams.size()) - 1});
  }

  Value StateOf(const Shape& shape) {
    Value value;
    if (shape.IsTuple()) {
      for (const Shape& element : shape.elements()) value.parts.push_back(StateOf(element));
    } else if (shape.IsScalar() && jit::IsKnown(shape.element_type())) {
      program_.leaf_streams.push_back(static_cast<int>(program_.segment.streams.size()));
      value.node = AddStream(shape.element_type());
    } else {
      value.leaf = static_cast<int>(program_.leaf_streams.size());
      program_.leaf_streams.push_back(-1);
    }
    return value;
  }

  absl::Status StoreState(const Value& old, const Value& next) {
    for (size_t i = 0; i < old.parts.size(); ++i) {
      ASSAY_RETURN_IF_ERROR(StoreState(old.parts[i], next.parts[i]));
    }
    if (old.leaf != next.leaf) return NotSupported({}, "the body changes an array");
    if (old.node < 0 || old.node == next.node) return absl::OkStatus();
    program_.segment.stores.push_back(
        {static_cast<int16_t>(next.node),
         static_cast<int16_t>(program_.segment.nodes[static_cast<size_t>(old.node)].a)});
    return absl::OkStatus();
  }

  // Which instructions the root needs; those with effects are none of ours.
  absl::StatusOr<std::vector<bool>> Needed(const Computation& computation) const {
    std::vector<bool> needed(computation.instructions.size(), false);
    needed[static_cast<size_t>(computation.root)] = true;
    for (size_t i = needed.size(); i-- > 0;) {
      const Instruction& instruction = computation.instructions[i];
      if (HasSideEffect(instruction))
        return NotSupported({}, fmt::format("{} in the loop", Name(instruction.opcode)));
      if (computation.inlined_steps.has_value()) needed[i] = true;
      if (!needed[i]) continue;
      for (int32_t operand : instruction.operands) needed[static_cast<size_t>(operand)] = true;
      for (int32_t before : instruction.control_predecessors) needed[static_cast<size_t>(before)] = true;
    }
    return needed;
  }

  absl::StatusOr<Value> Inline(ComputationId id, std::vector<Value> arguments, int depth) {
    if (depth > kMaxInlining) return NotSupported({}, "too many calls in calls");
    const Computation& computation = module_.computation(id);
    ASSAY_ASSIGN_OR_RETURN(const std::vector<bool> needed, Needed(computation));
    work_.steps += 1 + computation.inlined_steps.value_or(0);
    std::vector<Value> values(computation.instructions.size());
    for (size_t i = 0; i < values.size(); ++i) {
      const Instruction& instruction = computation.instructions[i];
      if (!needed[i]) continue;
      if (instruction.opcode == Opcode::kParameter) {
        values[i] = arguments[static_cast<size_t>(instruction.parameter_number)];
        continue;
      }
      ++work_.steps;
      if (++instructions_ > kMaxInstructions) return NotSupported({}, "a loop of too many instructions");
      ASSAY_ASSIGN_OR_RETURN(values[i], ValueOf(computation, instruction, values, depth));
    }
    return std::move(values[static_cast<size_t>(computation.root)]);
  }

  absl::StatusOr<Value> ValueOf(const Computation& computation, const Instruction& instruction,
                                const std::vector<Value>& values, int depth) {
    std::vector<Value> operands;
    for (int32_t operand : instruction.operands) operands.push_back(values[static_cast<size_t>(operand)]);
    switch (instruction.opcode) {
      case Opcode::kTuple:
        return Value{.parts = std::move(operands)};
      case Opcode::kGetTupleElement:
        return operands[0].parts[static_cast<size_t>(instruction.attributes.Int(Attr::kIndex))];
      case Opcode::kCall:
        return Inline(*instruction.attributes.Computation(Attr::kToApply), std::move(operands), depth + 1);
      case Opcode::kFusion:
        return Inline(*instruction.attributes.Computation(Attr::kCalls), std::move(operands), depth + 1);
      default:
        return ScalarOf(computation, instruction, operands);
    }
  }

  absl::StatusOr<Value> ScalarOf(const Computation& computation, const Instruction& instruction,
                                 const std::vector<Value>& operands) {
    const Shape& shape = *instruction.shape;
    if (!shape.IsScalar())
      return NotSupported({}, fmt::format("{} gives {}", Name(instruction.opcode), shape.ToString()));
    const ElementType type = shape.element_type();
    if (!jit::IsKnown(type)) return NotSupported({}, fmt::format("element type {}", Name(type)));
    if (instruction.opcode == Opcode::kConstant) {
      program_.constants.push_back(CopiesOf(instruction.literal->data(), Bytes(type)));
      return Value{.node = AddStream(type)};
    }
    absl::InlinedVector<ElementType, 3> types;
    for (size_t k = 0; k < operands.size(); ++k) {
      const Shape& operand = *computation.instructions[static_cast<size_t>(instruction.operands[k])].shape;
      if (operands[k].node < 0)
        return NotSupported({}, fmt::format("{} of {}", Name(instruction.opcode), operand.ToString()));
      types.push_back(operand.element_type());
    }
    if (operands.size() == 1 && types[0] == type &&
        (instruction.opcode == Opcode::kCopy || instruction.opcode == Opcode::kBitcast ||
         instruction.opcode == Opcode::kReshape || instruction.opcode == Opcode::kBroadcast)) {
      return operands[0];
    }
    if (DefinitionOf(instruction.opcode).strip == nullptr)
      return NotSupported({}, fmt::format("no code for {}", Name(instruction.opcode)));
    jit::Node node = NodeOf(instruction, types);
    for (size_t k = 0; k < operands.size(); ++k) node.operands[k] = static_cast<int16_t>(operands[k].node);
    if (!jit::CanGenerate(node, types, target_)) {
      return NotSupported({}, fmt::format("no code for {} of {}", Name(instruction.opcode), Name(types[0])));
    }
    ++work_.elements;
    return Value{.node = AddNode(node)};
  }

  const Module& module_;
  const jit::Target target_;
  LoopProgram program_;
  Work work_;
  size_t instructions_ = 0;
};

class ScalarLoop final : public Kernel {
 public:
  ScalarLoop(LoopProgram program, jit::Target target) : program_(std::move(program)), target_(target) {}

  // The first iterations are interpreted: most loops end before code for them would be made.
  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    const ComputationId condition = *context.attributes().Computation(Attr::kCondition);
    const ComputationId body = *context.attributes().Computation(Attr::kBody);
    Literal state = std::move(operands[0]);
    for (int64_t i = 0; !ready_ && (i < kInterpreted || !IsMade()); ++i) {
      ASSAY_ASSIGN_OR_RETURN(const Literal more, context.Call(condition, {state}));
      if (more.GetInt(0) == 0) return state;
      std::vector<Literal> arguments;
      arguments.push_back(std::move(state));
      ASSAY_ASSIGN_OR_RETURN(state, context.Call(body, std::move(arguments)));
    }
    return RunCode(context, state);
  }

 private:
  bool IsMade() const {
    std::call_once(making_, [this] {
      code_ = jit::Recurrence::Make(program_.segment, program_.condition, target_);
      ready_ = code_.ok();
    });
    return ready_;
  }

  absl::StatusOr<Literal> RunCode(EvalContext& context, const Literal& start) const {
    std::vector<Copies> memory;
    FillState(start, memory);
    memory.insert(memory.end(), program_.constants.begin(), program_.constants.end());
    std::vector<void*> streams;
    for (Copies& copies : memory) streams.push_back(copies.bytes);
    int64_t times;
    do {
      times = code_->Run(streams, kIterations);
      ASSAY_RETURN_IF_ERROR(Count(context, times, program_.condition_work));
      ASSAY_RETURN_IF_ERROR(Count(context, times, program_.body_work));
    } while (times == kIterations);
    ASSAY_RETURN_IF_ERROR(Count(context, 1, program_.condition_work));
    size_t leaf = 0;
    return StateFrom(context, start, start.shared_shape(), memory, leaf);
  }

  static absl::Status Count(EvalContext& context, int64_t times, const Work& work) {
    ASSAY_RETURN_IF_ERROR(context.executor().CountSteps(times * work.steps));
    return context.Charge(times * work.elements);
  }

  static void FillState(const Literal& value, std::vector<Copies>& memory) {
    for (int64_t i = 0; i < value.tuple_size(); ++i) FillState(value.element(i), memory);
    if (value.shape().IsScalar() && jit::IsKnown(value.shape().element_type()))
      memory.push_back(CopiesOf(value.data(), Bytes(value.shape().element_type())));
  }

  absl::StatusOr<Literal> StateFrom(EvalContext& context, const Literal& start,
                                    const std::shared_ptr<const Shape>& shape,
                                    const std::vector<Copies>& memory, size_t& leaf) const {
    if (shape->IsTuple()) {
      std::vector<Literal> elements;
      for (int64_t i = 0; i < start.tuple_size(); ++i) {
        const std::shared_ptr<const Shape> part(shape, &shape->element(i));
        ASSAY_ASSIGN_OR_RETURN(Literal element, StateFrom(context, start.element(i), part, memory, leaf));
        elements.push_back(std::move(element));
      }
      return Literal::Tuple(shape, std::move(elements));
    }
    const int stream = program_.leaf_streams[leaf++];
    if (stream < 0) return start;
    ASSAY_ASSIGN_OR_RETURN(Literal scalar, context.NewLiteral(shape));
    const std::span<std::byte> bytes = scalar.MutableBytes();
    std::memcpy(bytes.data(), memory[static_cast<size_t>(stream)].bytes, bytes.size());
    return scalar;
  }

  const LoopProgram program_;
  const jit::Target target_;
  mutable std::once_flag making_;
  mutable std::atomic<bool> ready_ = false;  // code_ is there
  mutable absl::StatusOr<jit::Recurrence> code_ = absl::UnknownError("");
};

class LoopEngineOf final : public Engine {
 public:
  explicit LoopEngineOf(native::Isa isa) : isa_(isa) {}

  std::string_view name() const override { return "loop"; }

  absl::StatusOr<std::shared_ptr<const Kernel>> Prepare(const StepView& step) const override {
    if (step.instruction.opcode != Opcode::kWhile) return NotSupported({}, "no while");
    if (isa_ == native::Isa::kBaseline) return NotSupported({}, "no AVX2");
    const jit::Target target = TargetOf(isa_);
    ASSAY_ASSIGN_OR_RETURN(LoopProgram program, Builder(step.module, target).Run(step.instruction));
    return std::make_shared<ScalarLoop>(std::move(program), target);
  }

  StripKernel Strip(const Instruction&, std::span<const ElementType>, ElementType) const override {
    return {};
  }

 private:
  const native::Isa isa_;
};

}  // namespace

const Engine& LoopEngine(native::Isa isa) {
  using native::Isa;
  static const std::array<LoopEngineOf, 3> engines = {LoopEngineOf(Isa::kBaseline), LoopEngineOf(Isa::kAvx2),
                                                      LoopEngineOf(Isa::kAvx512)};
  return engines[static_cast<size_t>(isa)];
}

}  // namespace assay::fused
