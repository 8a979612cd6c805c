// Compiling a computation of scalars to a list of strip functions, and applying it (scalar_function.h).
//
// Compile walks the computation once and gives every scalar that the root needs a register; calls and fusions
// are inlined, tuples are taken apart, moves cost nothing. Registers are then placed in slots of one strip
// each. Anything else that a computation may hold (reductions, loops, side effects) makes every application a
// call of the interpreter.
#include "evaluator/scalar_function.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "base/limits.h"
#include "evaluator/elementwise.h"
#include "evaluator/eval_context.h"
#include "evaluator/inlining.h"
#include "evaluator/registry.h"
#include "fmt/format.h"
#include "hlo/annotation.h"
#include "literal/element_io.h"

namespace assay {
namespace {

constexpr int kMaxOperands = 3;
constexpr int kMaxInlineDepth = 64;
constexpr int64_t kMaxInstructions = 10000;  // inlined ones counted each time
constexpr int64_t kChargeEvery = 1 << 20;    // element operations between two polls

struct Register {
  ElementType type;
  LiteralPtr constant;  // null: a parameter or computed
  int parameter = -1;   // its number, or -1
  int last_use = -1;    // position in the list of operations
  bool is_output = false;
  int slot = -1;
};

struct RegisterOp {
  StripKernel kernel;
  int num_operands = 0;
  std::array<int, kMaxOperands> operands{};
  int result = -1;
};

bool IsScalarArray(const std::shared_ptr<const Shape>& shape) {
  return shape != nullptr && shape->IsScalar();
}

// Makes the register program of one computation; an error where the interpreter has to do it. A value's id is
// that of its register.
class Compiler {
 public:
  Compiler(const Module& module, const RunContext& run) : module_(module), run_(run) {}

  // The root's value, or those of the instructions `part` where there are any.
  absl::Status Compile(ComputationId id, std::span<const int32_t> part) {
    const Computation& computation = module_.computation(id);
    std::vector<InlinedValue> arguments;
    for (size_t k = 0; k < computation.parameters.size(); ++k) {
      const Instruction& parameter = computation.instructions[computation.parameters[k]];
      if (!IsScalarArray(parameter.shape)) return NotSupported({}, "a parameter that is not a scalar");
      arguments.push_back(
          NewRegister({.type = parameter.shape->element_type(), .parameter = static_cast<int>(k)}));
    }
    const auto live = [&](ComputationId c) {
      const int32_t& root = module_.computation(c).root;
      return Live(c, c == id && !part.empty() ? part : std::span(&root, 1));
    };
    const auto callee = [&](ComputationId c, int32_t i, int depth) {
      return CalleeOf(module_.computation(c).instructions[i], depth);
    };
    const auto emit = [&](ComputationId c, int32_t i, std::span<const InlinedValue> values) {
      return Emit(module_.computation(c).instructions[i], values);
    };
    ASSAY_ASSIGN_OR_RETURN(const std::vector<InlinedValue> values,
                           InlineInto(module_, id, arguments, {live, callee, emit}));
    const InlinedValue& root = values[computation.root];
    if (part.empty())
      return AddOutputs(root.elements != nullptr ? std::span(*root.elements) : std::span(&root, 1));
    for (int32_t i : part) ASSAY_RETURN_IF_ERROR(AddOutputs({&values[i], 1}));
    return absl::OkStatus();
  }

  std::vector<Register> registers;
  std::vector<RegisterOp> ops;
  std::vector<int> outputs;

 private:
  InlinedValue NewRegister(Register reg) {
    registers.push_back(std::move(reg));
    return {.id = static_cast<int32_t>(registers.size()) - 1};
  }

  absl::Status AddOutputs(std::span<const InlinedValue> values) {
    for (const InlinedValue& output : values) {
      if (output.id < 0) return NotSupported({}, "a result that is not a scalar");
      registers[output.id].is_output = true;
      outputs.push_back(output.id);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<bool>> Live(ComputationId id, std::span<const int32_t> wanted) {
    const Computation& computation = module_.computation(id);
    budget_ -= static_cast<int64_t>(computation.instructions.size());
    if (budget_ < 0) return NotSupported({}, "too many instructions");
    for (const Instruction& instruction : computation.instructions) {
      if (HasEffect(instruction)) return NotSupported({}, "an effect");  // also of a call that nobody reads
    }
    std::vector<bool> live(computation.instructions.size());
    for (int32_t i : wanted) live[i] = true;
    MarkOperands(computation, live);
    return live;
  }

  // True if the instruction or, where it is a call, what it runs has an effect.
  bool HasEffect(const Instruction& instruction) {
    if (HasSideEffect(instruction)) return true;
    const std::vector<ComputationId> called = CalledComputations(instruction);
    if (called.empty()) return false;
    if (effects_.empty()) {
      const auto has_effect = [&](ComputationId id) { return effects_[static_cast<size_t>(id.value)]; };
      for (const Computation& computation : module_.computations) {  // callees come first
        bool any = false;
        for (const Instruction& inner : computation.instructions) {
          const std::vector<ComputationId> inside = CalledComputations(inner);
          any = any || HasSideEffect(inner) || std::any_of(inside.begin(), inside.end(), has_effect);
        }
        effects_.push_back(any);
      }
    }
    return std::any_of(called.begin(), called.end(),
                       [&](ComputationId id) { return effects_[static_cast<size_t>(id.value)]; });
  }

  // Calls, fusions, and maps, which are of scalars here.
  static absl::StatusOr<std::optional<ComputationId>> CalleeOf(const Instruction& instruction, int depth) {
    const bool is_map = DefinitionOf(instruction.opcode).arguments == Arguments::kElements;
    if (instruction.opcode != Opcode::kCall && instruction.opcode != Opcode::kFusion && !is_map)
      return std::nullopt;
    if (depth >= kMaxInlineDepth) return NotSupported({}, "too many calls in calls");
    return CalledComputations(instruction)[0];
  }

  absl::StatusOr<InlinedValue> Emit(const Instruction& instruction, std::span<const InlinedValue> values) {
    switch (instruction.opcode) {
      case Opcode::kConstant:
        if (instruction.literal == nullptr || !instruction.literal->shape().IsScalar())
          return NotSupported({}, "a constant that is not a scalar");
        return NewRegister(
            {.type = instruction.literal->shape().element_type(), .constant = instruction.literal});
      case Opcode::kTuple:
        return TupleOf(instruction, values);
      case Opcode::kGetTupleElement:
        return ElementOf(instruction, values);
      default:
        break;
    }
    const OpDef& op = DefinitionOf(instruction.opcode);
    if (op.is_identity || IsShardingAnnotation(instruction)) return values[instruction.operands[0]];
    if (instruction.opcode == Opcode::kBitcast && ChangesType(instruction, values)) {
      Instruction bits = instruction;
      bits.opcode = Opcode::kBitcastConvert;
      return Elementwise(bits, values);
    }
    return op.source != nullptr ? Move(instruction, values) : Elementwise(instruction, values);
  }

  // A scalar's bitcast to another type, as XLA's passes write bitcast-convert.
  bool ChangesType(const Instruction& bitcast, std::span<const InlinedValue> values) const {
    const int operand = values[bitcast.operands[0]].id;
    return operand >= 0 && IsScalarArray(bitcast.shape) &&
           registers[operand].type != bitcast.shape->element_type();
  }

  // A scalar moved to a scalar of the same type is that scalar.
  absl::StatusOr<InlinedValue> Move(const Instruction& instruction,
                                    std::span<const InlinedValue> values) const {
    if (instruction.operands.size() == 1 && IsScalarArray(instruction.shape)) {
      const InlinedValue& operand = values[instruction.operands[0]];
      if (operand.id >= 0 && registers[operand.id].type == instruction.shape->element_type()) return operand;
    }
    return NotSupported({}, "a move of more than a scalar");
  }

  absl::StatusOr<InlinedValue> Elementwise(const Instruction& instruction,
                                           std::span<const InlinedValue> values) {
    const OpDef& definition = DefinitionOf(instruction.opcode);
    const size_t n = instruction.operands.size();
    if (definition.strip == nullptr || n < 1 || n > kMaxOperands || !IsScalarArray(instruction.shape))
      return NotSupported({}, "no elementwise op of scalars");
    RegisterOp op{.num_operands = static_cast<int>(n)};
    std::array<ElementType, kMaxOperands> types{};
    for (size_t k = 0; k < n; ++k) {
      op.operands[k] = values[instruction.operands[k]].id;
      if (op.operands[k] < 0) return NotSupported({}, "an operand that is not a scalar");
      types[k] = registers[op.operands[k]].type;
    }
    const ElementType result = instruction.shape->element_type();
    op.kernel = run_.StripFor(instruction, {types.data(), n}, result);
    if (op.kernel.fn == nullptr) return NotSupported({}, "no function of these types");
    for (size_t k = 0; k < n; ++k) registers[op.operands[k]].last_use = static_cast<int>(ops.size());
    const InlinedValue value = NewRegister({.type = result});
    op.result = value.id;
    ops.push_back(op);
    return value;
  }

  const Module& module_;
  const RunContext& run_;
  int64_t budget_ = kMaxInstructions;
  std::vector<bool> effects_;  // of running each computation; empty: not asked for yet
};

// Slots of one strip, shared by registers of one kind that are not alive together. The slot of a constant is
// its own.
class SlotAllocator {
 public:
  int Take(ComputeKind kind) {
    std::vector<int>& free = free_[static_cast<int>(kind)];
    if (free.empty()) return Fresh(kind);
    const int slot = free.back();
    free.pop_back();
    return slot;
  }
  int Fresh(ComputeKind kind) {
    offsets_.push_back(size_);
    size_ += kStrip * KindBytes(kind);
    return static_cast<int>(offsets_.size()) - 1;
  }
  void Release(ComputeKind kind, int slot) { free_[static_cast<int>(kind)].push_back(slot); }
  int64_t offset(int slot) const { return offsets_[slot]; }
  int64_t size() const { return size_; }

 private:
  std::array<std::vector<int>, 5> free_;
  std::vector<int64_t> offsets_;
  int64_t size_ = 0;
};

void AssignSlots(Compiler& program, SlotAllocator& slots) {
  for (Register& reg : program.registers) {
    const bool used = reg.last_use >= 0 || reg.is_output;
    if (used && (reg.constant != nullptr || reg.parameter >= 0)) reg.slot = slots.Fresh(KindOf(reg.type));
  }
  for (size_t i = 0; i < program.ops.size(); ++i) {
    const RegisterOp& op = program.ops[i];
    Register& result = program.registers[op.result];
    result.slot = slots.Take(KindOf(result.type));
    for (int k = 0; k < op.num_operands; ++k) {
      Register& operand = program.registers[op.operands[k]];
      if (operand.last_use != static_cast<int>(i) || operand.is_output || operand.constant != nullptr)
        continue;
      operand.last_use = -1;  // named twice: released once
      slots.Release(KindOf(operand.type), operand.slot);
    }
  }
}

struct alignas(64) CacheLine {
  std::byte bytes[64];
};

}  // namespace

struct ScalarFunction::Impl {
  // A strip function with its operands and result in place.
  struct Operation {
    StripKernel kernel;
    std::array<const void*, kMaxOperands> operands{};
    void* result = nullptr;
  };
  struct Port {
    ElementType type = ElementType::kPred;
    std::byte* strip = nullptr;  // null: an input that is not used
    LoadOneFn load_one = nullptr;
    StoreOneFn store_one = nullptr;
    std::shared_ptr<const Shape> shape;
  };

  Impl(RunContext& e, const Module& m, ComputationId i, int d) : run(e), module(m), id(i), depth(d) {}

  absl::Status ReadSignature(std::span<const int32_t> part);
  absl::Status ChargeLater(int64_t n) {
    uncharged += n * static_cast<int64_t>(operations.size());
    return uncharged < kChargeEvery ? absl::OkStatus() : run.Charge(std::exchange(uncharged, 0));
  }
  bool Compile(std::span<const int32_t> part);
  absl::Status RunOne(const std::byte* const* in, std::byte* const* out);
  absl::Status RunCompiled(int64_t n, std::span<const std::byte* const> in,
                           std::span<const int64_t> in_strides, std::span<std::byte* const> out,
                           std::span<const int64_t> out_strides);
  absl::Status Interpret(int64_t n, std::span<const std::byte* const> in, std::span<const int64_t> in_strides,
                         std::span<std::byte* const> out, std::span<const int64_t> out_strides);

  RunContext& run;
  const Module& module;
  const ComputationId id;
  const int depth;
  std::vector<Port> inputs, outputs;
  std::vector<Operation> operations;
  std::vector<CacheLine> storage;
  bool compiled = false;
  bool exact_sum = false;
  int64_t passes_through = -1;
  int64_t uncharged = 0;
};

absl::Status ScalarFunction::Impl::ReadSignature(std::span<const int32_t> part) {
  const Computation& computation = module.computation(id);
  const auto add = [&](std::vector<Port>& ports, std::shared_ptr<const Shape> shape, std::string_view what) {
    if (!shape->IsScalar()) {
      return InvalidProgram(computation.position, fmt::format("{} of computation {} is {}, wanted a scalar",
                                                              what, computation.name, shape->ToString()));
    }
    const ElementType type = shape->element_type();
    ports.push_back({.type = type,
                     .load_one = LoadOneFor(type),
                     .store_one = StoreOneFor(type),
                     .shape = std::move(shape)});
    return absl::OkStatus();
  };
  for (int32_t parameter : computation.parameters) {
    ASSAY_RETURN_IF_ERROR(add(inputs, computation.instructions[parameter].shape, "a parameter"));
  }
  for (int32_t i : part) ASSAY_RETURN_IF_ERROR(add(outputs, computation.instructions[i].shape, "a value"));
  if (!part.empty()) return absl::OkStatus();
  const std::shared_ptr<const Shape>& result = computation.root_instruction().shape;
  if (!result->IsTuple()) return add(outputs, result, "the result");
  for (const Shape& element : result->elements()) {
    ASSAY_RETURN_IF_ERROR(add(outputs, std::shared_ptr<const Shape>(result, &element), "the result"));
  }
  return absl::OkStatus();
}

bool ScalarFunction::Impl::Compile(std::span<const int32_t> part) {
  Compiler program(module, run);
  if (!program.Compile(id, part).ok()) return false;
  SlotAllocator slots;
  AssignSlots(program, slots);
  storage.resize(slots.size() / sizeof(CacheLine));
  std::byte* base = reinterpret_cast<std::byte*>(storage.data());
  const auto strip = [&](int reg) { return base + slots.offset(program.registers[reg].slot); };
  for (size_t r = 0; r < program.registers.size(); ++r) {
    const Register& reg = program.registers[r];
    if (reg.slot < 0) continue;
    if (reg.parameter >= 0) inputs[reg.parameter].strip = strip(static_cast<int>(r));
    if (reg.constant != nullptr) {
      LoadStrip(reg.type, reg.constant->data(), 0, kStrip, strip(static_cast<int>(r)));
    }
  }
  for (const RegisterOp& op : program.ops) {
    Operation operation{.kernel = op.kernel, .result = strip(op.result)};
    for (int k = 0; k < op.num_operands; ++k) operation.operands[k] = strip(op.operands[k]);
    operations.push_back(operation);
  }
  for (size_t k = 0; k < outputs.size(); ++k) outputs[k].strip = strip(program.outputs[k]);
  if (outputs.size() == 1) passes_through = program.registers[program.outputs[0]].parameter;
  return true;
}

absl::Status ScalarFunction::Impl::RunOne(const std::byte* const* in, std::byte* const* out) {
  for (const Port& input : inputs) {
    if (input.strip != nullptr) input.load_one(*in, input.strip);
    ++in;
  }
  for (const Operation& operation : operations) {
    operation.kernel.fn(operation.kernel.params, 1, operation.operands.data(), operation.result);
  }
  for (const Port& output : outputs) output.store_one(output.strip, *out++);
  return ChargeLater(1);
}

absl::Status ScalarFunction::Impl::RunCompiled(int64_t n, std::span<const std::byte* const> in,
                                               std::span<const int64_t> in_strides,
                                               std::span<std::byte* const> out,
                                               std::span<const int64_t> out_strides) {
  for (int64_t begin = 0; begin < n; begin += kStrip) {
    const int64_t count = std::min(kStrip, n - begin);
    for (size_t k = 0; k < inputs.size(); ++k) {
      const Port& input = inputs[k];
      if (input.strip == nullptr) continue;
      LoadStrip(input.type, in[k] + begin * in_strides[k], in_strides[k], count, input.strip);
    }
    for (const Operation& operation : operations) {
      operation.kernel.fn(operation.kernel.params, count, operation.operands.data(), operation.result);
    }
    for (size_t k = 0; k < outputs.size(); ++k) {
      StoreStrip(outputs[k].type, outputs[k].strip, count, out[k] + begin * out_strides[k], out_strides[k]);
    }
    ASSAY_RETURN_IF_ERROR(ChargeLater(count));
  }
  return absl::OkStatus();
}

absl::Status ScalarFunction::Impl::Interpret(int64_t n, std::span<const std::byte* const> in,
                                             std::span<const int64_t> in_strides,
                                             std::span<std::byte* const> out,
                                             std::span<const int64_t> out_strides) {
  for (int64_t i = 0; i < n; ++i) {
    std::vector<Literal> arguments;
    arguments.reserve(inputs.size());
    for (size_t k = 0; k < inputs.size(); ++k) {
      ASSAY_ASSIGN_OR_RETURN(Literal argument, Literal::Make(inputs[k].shape, run.budget(), false));
      std::memcpy(argument.MutableBytes().data(), in[k] + i * in_strides[k], Bytes(inputs[k].type));
      arguments.push_back(std::move(argument));
    }
    ASSAY_ASSIGN_OR_RETURN(const Literal result, run.Call(id, std::move(arguments), depth));
    const bool is_tuple = result.shape().IsTuple();
    for (size_t k = 0; k < outputs.size(); ++k) {
      const Literal& element = is_tuple ? result.element(static_cast<int64_t>(k)) : result;
      std::memcpy(out[k] + i * out_strides[k], element.data(), Bytes(outputs[k].type));
    }
  }
  return absl::OkStatus();
}

ScalarFunction::ScalarFunction(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ScalarFunction::~ScalarFunction() = default;

absl::StatusOr<std::unique_ptr<ScalarFunction>> ScalarFunction::Make(RunContext& run, const Module& module,
                                                                     ComputationId id, int depth,
                                                                     bool interpreted) {
  auto impl = std::make_unique<Impl>(run, module, id, depth);
  ASSAY_RETURN_IF_ERROR(impl->ReadSignature({}));
  impl->compiled = !interpreted && impl->Compile({});
  impl->exact_sum = IsExactSum(module, id);
  return std::unique_ptr<ScalarFunction>(new ScalarFunction(std::move(impl)));
}

std::unique_ptr<ScalarFunction> ScalarFunction::MakePart(RunContext& run, const Module& module,
                                                         ComputationId id, std::span<const int32_t> values) {
  auto impl = std::make_unique<Impl>(run, module, id, /*depth=*/0);
  if (!impl->ReadSignature(values).ok() || !impl->Compile(values)) return nullptr;
  impl->compiled = true;
  return std::unique_ptr<ScalarFunction>(new ScalarFunction(std::move(impl)));
}

int64_t ScalarFunction::num_inputs() const { return static_cast<int64_t>(impl_->inputs.size()); }
int64_t ScalarFunction::num_outputs() const { return static_cast<int64_t>(impl_->outputs.size()); }
ElementType ScalarFunction::input_type(int64_t i) const { return impl_->inputs[i].type; }
ElementType ScalarFunction::output_type(int64_t i) const { return impl_->outputs[i].type; }
bool ScalarFunction::is_exact_sum() const { return impl_->exact_sum; }
int64_t ScalarFunction::passes_through() const { return impl_->passes_through; }

absl::Status ScalarFunction::Run(int64_t n, std::span<const std::byte* const> in,
                                 std::span<const int64_t> in_strides, std::span<std::byte* const> out,
                                 std::span<const int64_t> out_strides) {
  if (n == 1 && impl_->compiled) return impl_->RunOne(in.data(), out.data());
  return impl_->compiled ? impl_->RunCompiled(n, in, in_strides, out, out_strides)
                         : impl_->Interpret(n, in, in_strides, out, out_strides);
}

namespace {

// The instruction whose value another one gives as it is: through annotations, copies (a
// bitcast of a scalar to its own type is one), barriers and tuples,
// which StableHLO and XLA's passes leave out or put in.
int32_t SourceOf(const Computation& computation, int32_t index) {
  const auto at = [&](int32_t i) -> const Instruction& {
    return computation.instructions[static_cast<size_t>(i)];
  };
  while (true) {
    index = WithoutAnnotations(computation, index);
    const Instruction& instruction = at(index);
    const Opcode opcode = instruction.opcode;
    const bool is_copied = opcode == Opcode::kCopy;
    const bool is_same_scalar =
        opcode == Opcode::kBitcast && instruction.shape->IsScalar() &&
        at(instruction.operands[0]).shape->IsScalar(instruction.shape->element_type());
    const bool is_copy_done = opcode == Opcode::kCopyDone;
    if (DefinitionOf(opcode).is_identity || is_copied || is_same_scalar) {
      index = instruction.operands[0];
    } else if (is_copy_done) {  // of a copy-start
      index = at(instruction.operands[0]).operands[0];
    } else if (opcode == Opcode::kGetTupleElement) {
      const int32_t tuple = SourceOf(computation, instruction.operands[0]);
      if (at(tuple).opcode != Opcode::kTuple) return index;
      index = at(tuple).operands[static_cast<size_t>(instruction.attributes.Int(Attr::kIndex))];
    } else {
      return index;
    }
  }
}

}  // namespace

bool HasEffects(const Module& module, ComputationId id) {
  std::vector<ComputationId> open = {id};
  std::vector<bool> seen;  // made where a computation calls another
  while (!open.empty()) {
    const Computation& computation = module.computation(open.back());
    open.pop_back();
    for (const Instruction& instruction : computation.instructions) {
      if (HasSideEffect(instruction)) return true;
      for (ComputationId callee : CalledComputations(instruction)) {
        if (seen.empty()) seen.assign(module.computations.size(), false);
        if (!seen[static_cast<size_t>(callee.value)]) open.push_back(callee);
        seen[static_cast<size_t>(callee.value)] = true;
      }
    }
  }
  return false;
}

bool IsExactSum(const Module& module, ComputationId id) {
  const Computation& computation = module.computation(id);
  const auto source = [&](int32_t index) { return SourceOf(computation, index); };
  int32_t returned = source(computation.root);
  if (computation.instructions[returned].opcode == Opcode::kTuple &&
      computation.instructions[returned].operands.size() == 1)
    returned = source(computation.instructions[returned].operands[0]);
  const Instruction& root = computation.instructions[returned];
  if (computation.parameters.size() != 2 || root.opcode != Opcode::kAdd || !root.shape->IsScalar()) {
    return false;
  }
  const ElementType type = root.shape->element_type();
  if (!IsFloat(type) && !IsComplex(type)) return false;
  const int32_t first = computation.parameters[0];
  const int32_t second = computation.parameters[1];
  const int32_t lhs = source(root.operands[0]), rhs = source(root.operands[1]);
  const bool sums_both = (lhs == first && rhs == second) || (lhs == second && rhs == first);
  return sums_both && computation.instructions[first].shape->IsScalar(type) &&
         computation.instructions[second].shape->IsScalar(type) && !HasEffects(module, id);
}

}  // namespace assay
