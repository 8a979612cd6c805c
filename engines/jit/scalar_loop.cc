#include "engines/jit/scalar_loop.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "base/counted.h"
#include "engines/codegen/inliner.h"
#include "engines/codegen/nodes.h"
#include "engines/codegen/tiered_code.h"
#include "evaluator/eval_context.h"
#include "evaluator/registry.h"
#include "fmt/format.h"
#include "jit/loop.h"

namespace assay::jit {
namespace {

constexpr int64_t kInterpreted = 64;  // iterations, of all runs, that take about as long as making the code
constexpr int64_t kIterations = 1 << 16;  // between two counts of steps

// A loop as a segment. Streams are the small arrays of the state, in the order of its leaves,
// and then constants.
struct LoopProgram {
  jit::Segment segment;
  int16_t condition = -1;
  int64_t elements = 1;                    // of the largest array
  std::vector<int> leaf_streams;           // by leaf of the state; -1: no small array, comes back as it was
  std::vector<codegen::Copies> constants;  // of the streams behind those of the state
  int64_t condition_counts = 0, body_counts = 0;  // of one run each
};

class LoopBuilder {
 public:
  LoopBuilder(const Module& module, Isa target, int64_t most_elements)
      : target_(target), inliner_(module, target, most_elements) {}

  absl::StatusOr<LoopProgram> Run(const Instruction& loop) {
    const InlinedValue state = StateOf(*loop.shape);
    if (inliner_.segment.streams.empty())
      return NotSupported({}, "no scalar or small array in the loop state");
    ASSAY_ASSIGN_OR_RETURN(const InlinedValue condition,
                           inliner_.Inline(*loop.attributes.Computation(Attr::kCondition), {&state, 1}));
    program_.condition_counts = std::exchange(inliner_.counts, 0);
    ASSAY_ASSIGN_OR_RETURN(const InlinedValue next,
                           inliner_.Inline(*loop.attributes.Computation(Attr::kBody), {&state, 1}));
    program_.body_counts = inliner_.counts;
    program_.condition = static_cast<int16_t>(condition.id);
    ASSAY_RETURN_IF_ERROR(StoreState(state, next));
    program_.elements = inliner_.elements;
    if (const int lanes = jit::MaxLanes(inliner_.segment, target_); program_.elements > lanes)
      return NotSupported(
          {}, fmt::format("{} exceed {} vector lanes", Counted(program_.elements, "element"), lanes));
    program_.segment = std::move(inliner_.segment);
    program_.segment.origin = loop.name;
    program_.constants = std::move(inliner_.constants);
    return std::move(program_);
  }

 private:
  InlinedValue StateOf(const Shape& shape) {
    if (shape.IsTuple()) {
      std::vector<InlinedValue> elements;
      for (const Shape& element : shape.elements()) elements.push_back(StateOf(element));
      return {.elements = std::make_shared<const std::vector<InlinedValue>>(std::move(elements))};
    }
    if (!inliner_.Fits(shape)) {
      program_.leaf_streams.push_back(-1);
      return codegen::LeafValue(static_cast<int>(program_.leaf_streams.size()) - 1);
    }
    inliner_.elements = std::max(inliner_.elements, shape.num_elements());
    program_.leaf_streams.push_back(static_cast<int>(inliner_.segment.streams.size()));
    return codegen::NodeValue(inliner_.AddStream(shape.element_type()));
  }

  absl::Status StoreState(const InlinedValue& old, const InlinedValue& next) {
    if (old.elements != nullptr) {
      for (size_t i = 0; i < old.elements->size(); ++i) {
        ASSAY_RETURN_IF_ERROR(StoreState((*old.elements)[i], (*next.elements)[i]));
      }
      return absl::OkStatus();
    }
    if (old.id == next.id) return absl::OkStatus();
    if (old.id < 0 || next.id < 0) return NotSupported({}, "the body changes an array");
    inliner_.segment.stores.push_back(
        {static_cast<int16_t>(next.id),
         static_cast<int16_t>(inliner_.segment.nodes[static_cast<size_t>(old.id)].a)});
    return absl::OkStatus();
  }

  const Isa target_;
  codegen::Inliner inliner_;
  LoopProgram program_;
};

class ScalarLoop final : public Kernel {
 public:
  ScalarLoop(LoopProgram program, Isa target)
      : program_(std::move(program)), code_(kInterpreted, [this, target] {
          return jit::Recurrence::Make(program_.segment, program_.condition, target, program_.elements);
        }) {}

  // The first iterations are interpreted: most loops end before code for them would be made.
  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    const ComputationId condition = *context.attributes().Computation(Attr::kCondition);
    const ComputationId body = *context.attributes().Computation(Attr::kBody);
    Literal state = std::move(operands[0]);
    const jit::Recurrence* code = nullptr;
    while ((code = code_.Get()) == nullptr) {
      code_.Count(1);
      ASSAY_ASSIGN_OR_RETURN(const Literal more, context.Call(condition, {state}));
      if (more.GetInt(0) == 0) return state;
      std::vector<Literal> arguments;
      arguments.push_back(std::move(state));
      ASSAY_ASSIGN_OR_RETURN(state, context.Call(body, std::move(arguments)));
    }
    return RunCode(context, *code, state);
  }

 private:
  absl::StatusOr<Literal> RunCode(EvalContext& context, const jit::Recurrence& code,
                                  const Literal& start) const {
    std::vector<codegen::Copies> memory;
    size_t first = 0;
    FillState(start, first, memory);
    memory.insert(memory.end(), program_.constants.begin(), program_.constants.end());
    std::vector<void*> streams;
    streams.reserve(memory.size());
    for (codegen::Copies& copies : memory) streams.push_back(copies.bytes);
    int64_t times;
    do {
      times = code.Run(streams, kIterations);
      ASSAY_RETURN_IF_ERROR(context.run().Count(times * (program_.condition_counts + program_.body_counts)));
    } while (times == kIterations);
    ASSAY_RETURN_IF_ERROR(context.run().Count(program_.condition_counts));
    size_t leaf = 0;
    return StateFrom(context, start, start.shared_shape(), memory, leaf);
  }

  void FillState(const Literal& value, size_t& leaf, std::vector<codegen::Copies>& memory) const {
    if (value.shape().IsTuple()) {
      for (int64_t i = 0; i < value.tuple_size(); ++i) FillState(value.element(i), leaf, memory);
      return;
    }
    if (program_.leaf_streams[leaf++] < 0) return;
    const int64_t n = value.shape().num_elements();
    const int bytes = Bytes(value.shape().element_type());
    memory.push_back(n == 1 ? codegen::CopiesOf(value.data(), bytes)
                            : codegen::LanesOf(value.data(), n, bytes));
  }

  absl::StatusOr<Literal> StateFrom(EvalContext& context, const Literal& start,
                                    const std::shared_ptr<const Shape>& shape,
                                    const std::vector<codegen::Copies>& memory, size_t& leaf) const {
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
    ASSAY_ASSIGN_OR_RETURN(Literal array, context.NewLiteral(shape));
    const std::span<std::byte> bytes = array.MutableBytes();
    std::memcpy(bytes.data(), memory[static_cast<size_t>(stream)].bytes, bytes.size());
    return array;
  }

  const LoopProgram program_;
  const codegen::TieredCode<jit::Recurrence> code_;  // its work: iterations, of all runs
};

class LoopEngineOf final : public Engine {
 public:
  explicit LoopEngineOf(Isa isa) : isa_(isa) {}

  std::string_view name() const override { return "loop"; }
  bool MayTake(Opcode opcode) const override { return opcode == Opcode::kWhile && isa_ != Isa::kBaseline; }

  absl::StatusOr<std::shared_ptr<const Kernel>> Prepare(const FusionView& fusion) const override {
    ASSAY_ASSIGN_OR_RETURN(const StepView step, SingleInstruction(fusion));
    // Said of nearly every step of every plan: a copy costs no memory.
    static const absl::Status& not_while = *new absl::Status(NotSupported({}, "not a while loop"));
    if (step.instruction.opcode != Opcode::kWhile) return not_while;
    if (isa_ == Isa::kBaseline) return NotSupported({}, "no AVX2");
    const Isa target = isa_;
    const int lanes = jit::MaxLanes({}, target);
    absl::StatusOr<LoopProgram> program = LoopBuilder(step.module, target, lanes).Run(step.instruction);
    // With elements of 64 bits there are half as many lanes; arrays that fill all
    // of them may be such as stay.
    if (!program.ok()) {
      absl::StatusOr<LoopProgram> half = LoopBuilder(step.module, target, lanes / 2).Run(step.instruction);
      if (half.ok()) program = std::move(half);
    }
    if (!program.ok()) return program.status();
    return std::make_shared<ScalarLoop>(*std::move(program), target);
  }

 private:
  const Isa isa_;
};

}  // namespace

const Engine& LoopEngine(Isa isa) {
  static const std::array<LoopEngineOf, 3> engines = {LoopEngineOf(Isa::kBaseline), LoopEngineOf(Isa::kAvx2),
                                                      LoopEngineOf(Isa::kAvx512)};
  return engines[static_cast<size_t>(isa)];
}

}  // namespace assay::jit
