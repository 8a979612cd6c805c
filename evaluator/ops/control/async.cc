// async-start, async-update, async-done. Spec: docs/spec/operations-control.md, "Async".
//
// The wrapped computation f runs once, where the last of its parameters is bound: at the start as a rule,
// else at the update or done that binds it. start and update give ((arguments so far...), result of f,
// context...).
#include "base/counted.h"
#include "evaluator/audits/rules.h"
#include "evaluator/bounds/rules.h"
#include "evaluator/eval_context.h"
#include "evaluator/op.h"
#include "evaluator/open_sizes.h"
#include "evaluator/ops/control/control.h"
#include "fmt/format.h"

namespace assay {
namespace {

constexpr AttrSpec kStartAttrs[] = {Required(Attr::kCalls), Optional(Attr::kAsyncExecutionThread),
                                    Optional(Attr::kOutputToOperandAliasing)};
constexpr AttrSpec kFollowAttrs[] = {Optional(Attr::kCalls), Optional(Attr::kAsyncExecutionThread)};

// The async-start that an update or done belongs to; null where the chain does not
// lead to one through updates.
const Instruction* StartOf(const Computation& computation, const Instruction& instruction) {
  const Instruction* step = &instruction;
  while (step->opcode != Opcode::kAsyncStart) {
    // The result of a done is no state, whatever its shape.
    if (step != &instruction && step->opcode != Opcode::kAsyncUpdate) return nullptr;
    if (step->operands.empty()) return nullptr;
    step = &computation.instructions[step->operands[0]];
  }
  return step;
}

// The thread that an instruction names; "main" is what stands for no name.
std::string_view ThreadOf(const AttributeMap& attributes) {
  const std::string_view thread = attributes.Text(Attr::kAsyncExecutionThread);
  return thread == "main" ? std::string_view() : thread;
}

absl::StatusOr<ComputationId> WrappedComputation(const InferContext& context) {
  if (context.computation == nullptr) return InvalidProgram({}, "async: the computation is unknown");
  const Instruction* const start = StartOf(*context.computation, context.instruction);
  if (start == nullptr) {
    return InvalidProgram({}, "Async-C3: the first operand does not trace to an async-start");
  }
  if (context.attributes().Has(Attr::kAsyncExecutionThread) &&
      ThreadOf(context.attributes()) != ThreadOf(start->attributes)) {
    return InvalidProgram({}, fmt::format("Async-C3: async_execution_thread is '{}', of its start '{}'",
                                          ThreadOf(context.attributes()), ThreadOf(start->attributes)));
  }
  const auto wrapped = start->attributes.Computation(Attr::kCalls);
  if (!wrapped) return InvalidProgram({}, "async-start needs the attribute 'calls'");
  const auto own = context.attributes().Computation(Attr::kCalls);
  if (own && !(*own == *wrapped)) {
    return InvalidProgram(
        {}, fmt::format("Async-C3: calls '{}', but its start calls '{}'",
                        context.CalledComputation(*own).name, context.CalledComputation(*wrapped).name));
  }
  return *wrapped;
}

// `state` is ((arguments bound so far), result, context...): C1, C2.
absl::Status CheckAsyncState(const InferContext& context, const Shape& state, const ProgramShape& wrapped,
                             std::span<const Shape> bound_before, std::span<const Shape* const> bound_now) {
  if (!state.IsTuple() || state.elements().size() < 2 || !state.element(0).IsTuple()) {
    return InvalidProgram(
        {}, fmt::format("Async-C1: the shape is {}, wanted ((arguments...), result, ...)", state.ToString()));
  }
  const auto arguments = state.element(0).elements();
  if (arguments.size() != bound_before.size() + bound_now.size() ||
      arguments.size() > wrapped.parameters.size()) {
    return InvalidProgram(
        {}, fmt::format("Async-C4: the shape lists {}; {} were bound before, {} are bound "
                        "here, '{}' takes {}",
                        Counted(arguments.size(), "argument"), bound_before.size(), bound_now.size(),
                        Name(context.instruction.opcode), wrapped.parameters.size()));
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Shape& given = i < bound_before.size() ? bound_before[i] : *bound_now[i - bound_before.size()];
    if (!Shape::Compatible(arguments[i], given) || !Shape::Compatible(given, wrapped.parameters[i])) {
      return InvalidProgram(
          {}, fmt::format("Async-C2: argument {} is {}, declared as {}, wanted {}", i, given.ToString(),
                          arguments[i].ToString(), wrapped.parameters[i].ToString()));
    }
  }
  if (!Shape::Compatible(state.element(1), wrapped.result)) {
    return InvalidProgram({}, fmt::format("Async-C2: element 1 is {}, the computation gives {}",
                                          state.element(1).ToString(), wrapped.result.ToString()));
  }
  return absl::OkStatus();
}

absl::StatusOr<Shape> InferAsyncStart(const InferContext& context) {
  ASSAY_ASSIGN_OR_RETURN(const ComputationId id, WrappedComputation(context));
  const ProgramShape wrapped = context.Called(id);
  std::vector<Shape> arguments;
  if (context.declared == nullptr) {
    for (const Shape* operand : context.operands) arguments.push_back(*operand);
  } else {
    ASSAY_RETURN_IF_ERROR(CheckAsyncState(context, *context.declared, wrapped, {}, context.operands));
  }
  Shape state = context.declared != nullptr
                    ? *context.declared
                    : Shape::Tuple({Shape::Tuple(std::move(arguments)), wrapped.result});
  ASSAY_RETURN_IF_ERROR(CheckOutputOperandAliasing("AsyncStart", context, state));
  return state;
}

absl::StatusOr<Shape> InferAsyncUpdate(const InferContext& context) {
  ASSAY_ASSIGN_OR_RETURN(const ComputationId id, WrappedComputation(context));
  const Shape& before = context.operand(0);
  ASSAY_ASSIGN_OR_RETURN(Shape result, context.declared != nullptr ? absl::StatusOr<Shape>(*context.declared)
                                       : context.num_operands() == 1 ? absl::StatusOr<Shape>(before)
                                                                     : context.Declared());
  ASSAY_RETURN_IF_ERROR(CheckAsyncState(context, result, context.Called(id), before.element(0).elements(),
                                        context.operands.subspan(1)));
  return result;
}

absl::StatusOr<Shape> InferAsyncDone(const InferContext& context) {
  ASSAY_ASSIGN_OR_RETURN(const ComputationId id, WrappedComputation(context));
  const ProgramShape wrapped = context.Called(id);
  const auto before = context.operand(0).element(0).elements();
  const size_t bound = before.size() + context.operands.size() - 1;
  if (bound != wrapped.parameters.size()) {
    return InvalidProgram(
        {}, fmt::format("Async-C5: {} arguments are bound when async-done runs, '{}' takes {}", bound,
                        context.CalledComputation(id).name, wrapped.parameters.size()));
  }
  for (size_t i = 1; i < context.operands.size(); ++i) {
    const Shape& wanted = wrapped.parameters[before.size() + i - 1];
    if (!Shape::Compatible(context.operand(i), wanted)) {
      return InvalidProgram({}, fmt::format("Async-C4: operand {} is {}, wanted {}", i,
                                            context.operand(i).ToString(), wanted.ToString()));
    }
  }
  return wrapped.result;
}

// A value of any shape whose arrays are zero.
absl::StatusOr<Literal> ZeroResult(EvalContext& context, const std::shared_ptr<const Shape>& shape) {
  return context.NewLiteral(shape, /*zero=*/true);
}

// ((arguments), result or zeros, zeros...) in the instruction's shape.
absl::StatusOr<Literal> StateValue(EvalContext& context, ComputationId id, std::vector<Literal> arguments) {
  const std::shared_ptr<const Shape>& shape = context.shared_result_shape();
  const auto part = [&](int64_t i) { return std::shared_ptr<const Shape>(shape, &shape->element(i)); };
  std::vector<Literal> elements;
  elements.push_back(Literal::Tuple(part(0), arguments));
  const bool ready = arguments.size() == context.module().computation(id).parameters.size();
  ASSAY_ASSIGN_OR_RETURN(Literal result,
                         ready ? context.Call(id, std::move(arguments)) : ZeroResult(context, part(1)));
  elements.push_back(std::move(result));
  for (size_t i = 2; i < shape->elements().size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(Literal zeros, ZeroResult(context, part(static_cast<int64_t>(i))));
    elements.push_back(std::move(zeros));
  }
  return Literal::Tuple(shape, std::move(elements));
}

absl::StatusOr<Literal> EvalAsyncStart(EvalContext& context, std::span<Literal> operands) {
  return StateValue(context, *context.attributes().Computation(Attr::kCalls),
                    {operands.begin(), operands.end()});
}

std::vector<Literal> BoundArguments(std::span<Literal> operands) {
  std::vector<Literal> arguments;
  const Literal& before = operands[0].element(0);
  for (int64_t i = 0; i < before.tuple_size(); ++i) arguments.push_back(before.element(i));
  arguments.insert(arguments.end(), operands.begin() + 1, operands.end());
  return arguments;
}

ComputationId WrappedComputation(const EvalContext& context) {
  return *StartOf(context.computation(), context.instruction())->attributes.Computation(Attr::kCalls);
}

absl::StatusOr<Literal> EvalAsyncUpdate(EvalContext& context, std::span<Literal> operands) {
  if (operands.size() == 1) return std::move(operands[0]);
  return StateValue(context, WrappedComputation(context), BoundArguments(operands));
}

absl::StatusOr<Literal> EvalAsyncDone(EvalContext& context, std::span<Literal> operands) {
  if (operands.size() == 1) return operands[0].element(1);
  return context.Call(WrappedComputation(context), BoundArguments(operands));
}

// An async state is ((arguments), result, context...).
void PassDemandOfAsyncStart(const InstructionView& view, const InputDemand& demand,
                            std::span<const int64_t> path, std::vector<OperandDemand>& demands) {
  if (path.size() > 1 && path[0] == 0) demands.push_back({path[1], demand, {path.begin() + 2, path.end()}});
  if (!path.empty() && path[0] == 1) demand::OfCallees(view, demand, path.subspan(1), demands);
}
void PassDemandOfAsyncDone(const InstructionView&, const InputDemand& demand, std::span<const int64_t> path,
                           std::vector<OperandDemand>& demands) {
  demands.push_back({0, demand, demand::Prepend(1, path)});
}

}  // namespace

constinit const OpDef ops::AsyncStart = {
    .operands = AtLeast(0),
    .types = kArrayTypes,
    .attributes = kStartAttrs,
    .infer = InferAsyncStart,
    .eval = EvalAsyncStart,
    .work = work::None,
    .bound = bound::Asynchronous,
    .audit = audit::Nothing,
    .pass_demand = PassDemandOfAsyncStart,
    .open_sizes = open::Passed,
    .arguments = Arguments::kOperands,
    .runs_steps = true,
    .gives_async_state = true,
    .calls_may_have_effects = true,
};
constinit const OpDef ops::AsyncUpdate = {
    .operands = AtLeast(1),
    .types = kArrayTypes,
    .attributes = kFollowAttrs,
    .infer = InferAsyncUpdate,
    .eval = EvalAsyncUpdate,
    .work = work::None,
    .bound = bound::Asynchronous,
    .audit = audit::Nothing,
    .pass_demand = demand::Whole,
    .open_sizes = open::Passed,
    .runs_steps = true,
    .gives_async_state = true,
    .takes_async_state = true,
    .calls_may_have_effects = true,
};
constinit const OpDef ops::AsyncDone = {
    .operands = AtLeast(1),
    .types = kArrayTypes,
    .attributes = kFollowAttrs,
    .infer = InferAsyncDone,
    .eval = EvalAsyncDone,
    .work = work::None,
    .bound = bound::Asynchronous,
    .audit = audit::Nothing,
    .pass_demand = PassDemandOfAsyncDone,
    .open_sizes = open::Passed,
    .runs_steps = true,
    .takes_async_state = true,
    .calls_may_have_effects = true,
};

}  // namespace assay
