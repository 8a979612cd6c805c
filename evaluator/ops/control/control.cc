// Control flow: call, fusion, conditional, while, and the copy pair. Spec: docs/spec/operations-control.md.
// Asynchronous wrappers are in async.cc, custom calls in custom_call.cc.
#include "evaluator/ops/control/control.h"

#include <optional>

#include "base/counted.h"
#include "evaluator/audits/rules.h"
#include "evaluator/bounds/rules.h"
#include "evaluator/eval_context.h"
#include "evaluator/open_sizes.h"
#include "evaluator/shape_rules.h"
#include "fmt/format.h"

namespace assay {

absl::Status RequireToken(const InferContext& context, int64_t i, std::string_view label) {
  if (context.operand(i).IsToken()) return absl::OkStatus();
  return InvalidProgram(
      {}, fmt::format("{}: operand {} is {}, wanted token[]", label, i, context.operand(i).ToString()));
}

// Call-C1, Call-C2, Fusion-C1, Fusion-C2.
absl::Status CheckCallee(std::string_view op, const InferContext& context, ComputationId id,
                         std::span<const Shape* const> arguments) {
  const ProgramShape called = context.Called(id);
  if (called.parameters.size() != arguments.size()) {
    return InvalidProgram(
        {},
        fmt::format("{}-C1: {} for computation '{}', which has {}", op, Counted(arguments.size(), "operand"),
                    context.CalledComputation(id).name, Counted(called.parameters.size(), "parameter")));
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!Shape::Compatible(*arguments[i], called.parameters[i])) {
      return InvalidProgram({}, fmt::format("{}-C2: operand {} is {}, parameter {} of '{}' is {}", op, i,
                                            arguments[i]->ToString(), i, context.CalledComputation(id).name,
                                            called.parameters[i].ToString()));
    }
  }
  return absl::OkStatus();
}

// CustomCall-C3, Fusion-C3, AsyncStart-C3.
absl::Status CheckOutputOperandAliasing(std::string_view op, const InferContext& context,
                                        const Shape& result) {
  const AttrValue* value = context.attributes().Find(Attr::kOutputToOperandAliasing);
  if (value == nullptr) return absl::OkStatus();
  for (const OutputOperandAlias& alias : std::get<Aliasing>(*value)) {
    const std::string what = fmt::format("{}-C3: output_to_operand_aliasing", op);
    const Shape* const output = SubshapeOrNull(result, alias.output_index);
    if (output == nullptr) {
      return InvalidProgram(
          {}, fmt::format("{}: the result has no element {{{}}}", what, fmt::join(alias.output_index, ",")));
    }
    if (alias.operand < 0 || alias.operand >= context.num_operands()) {
      return InvalidProgram({}, fmt::format("{}: there is no operand {}, the instruction has {}", what,
                                            alias.operand, context.num_operands()));
    }
    const Shape* const operand = SubshapeOrNull(context.operand(alias.operand), alias.operand_index);
    // A buffer b(T) may be an operand of type T, and the other way round.
    if (operand == nullptr || !Shape::Compatible(ArrayOf(*output), ArrayOf(*operand))) {
      return InvalidProgram({},
                            fmt::format("{}: output {{{}}} is {}, operand {} {{{}}} {}", what,
                                        fmt::join(alias.output_index, ","), output->ToString(), alias.operand,
                                        fmt::join(alias.operand_index, ","),
                                        operand == nullptr ? "does not exist" : "is " + operand->ToString()));
    }
  }
  return absl::OkStatus();
}

namespace {

std::vector<Literal> Take(std::span<Literal> operands) {
  return {std::make_move_iterator(operands.begin()), std::make_move_iterator(operands.end())};
}

// call(a...), to_apply=f: f(a...). With is_composite the call stands for the named composite operation, of
// which f is the decomposition: the meaning is f's.
constexpr AttrSpec kCallAttrs[] = {Required(Attr::kToApply), Optional(Attr::kIsComposite)};

absl::Status CheckComposite(const Instruction& instruction) {
  const std::string* name = FrontendAttribute(instruction, "composite.name");
  if (name == nullptr || name->empty()) {
    return InvalidProgram({}, "CompositeCall-C2: frontend attribute composite.name is missing or empty");
  }
  const std::string* attributes = FrontendAttribute(instruction, "composite.attributes");
  if (attributes != nullptr && attributes->empty()) {
    return InvalidProgram({}, "CompositeCall-C3: frontend attribute composite.attributes is empty");
  }
  const std::string* version = FrontendAttribute(instruction, "composite.version");
  const bool is_number =
      version == nullptr || (!version->empty() && version->size() <= 18 &&
                             version->find_first_not_of("0123456789") == std::string::npos);
  if (is_number) return absl::OkStatus();
  return InvalidProgram(
      {}, fmt::format("CompositeCall-C4: frontend attribute composite.version is '{}', wanted an "
                      "integer >= 0",
                      *version));
}

absl::StatusOr<Shape> InferCall(const InferContext& context) {
  const ComputationId callee = *context.attributes().Computation(Attr::kToApply);
  ASSAY_RETURN_IF_ERROR(CheckCallee("Call", context, callee, context.operands));
  if (context.attributes().Bool(Attr::kIsComposite))
    ASSAY_RETURN_IF_ERROR(CheckComposite(context.instruction));
  return context.Called(callee).result;
}

absl::StatusOr<Literal> EvalCall(EvalContext& context, std::span<Literal> operands) {
  return context.Call(*context.attributes().Computation(Attr::kToApply), Take(operands));
}

// fusion(a...), calls=f: f(a...), each fused instruction with its declared type: no extra precision.
constexpr AttrSpec kFusionAttrs[] = {Required(Attr::kKind), Required(Attr::kCalls),
                                     Optional(Attr::kOutputToOperandAliasing)};

absl::StatusOr<Shape> InferFusion(const InferContext& context) {
  const std::string_view kind = context.attributes().Text(Attr::kKind);
  if (kind != "kLoop" && kind != "kInput" && kind != "kOutput" && kind != "kCustom") {
    return InvalidProgram(
        {}, fmt::format("fusion: kind is '{}', wanted kLoop, kInput, kOutput or kCustom", kind));
  }
  const ComputationId callee = *context.attributes().Computation(Attr::kCalls);
  ASSAY_RETURN_IF_ERROR(CheckCallee("Fusion", context, callee, context.operands));
  Shape result = context.Called(callee).result;
  ASSAY_RETURN_IF_ERROR(CheckOutputOperandAliasing("Fusion", context, result));
  return result;
}

absl::StatusOr<Literal> EvalFusion(EvalContext& context, std::span<Literal> operands) {
  return context.Call(*context.attributes().Computation(Attr::kCalls), Take(operands));
}

// conditional(p, t, f): p ? true_computation(t) : false_computation(f)
// conditional(i, a0, .., an-1): branch_k(a_k), k = i where 0 <= i < n, else n - 1. Exactly one branch runs.
constexpr AttrSpec kConditionalAttrs[] = {Optional(Attr::kTrueComputation), Optional(Attr::kFalseComputation),
                                          Optional(Attr::kBranchComputations)};

absl::StatusOr<std::vector<ComputationId>> Branches(const AttributeMap& attributes) {
  const auto on_true = attributes.Computation(Attr::kTrueComputation);
  const auto on_false = attributes.Computation(Attr::kFalseComputation);
  const auto indexed = attributes.Computations(Attr::kBranchComputations);
  if (attributes.Has(Attr::kBranchComputations) ? on_true || on_false : !(on_true && on_false)) {
    return InvalidProgram(
        {}, "conditional takes either true_computation and false_computation or branch_computations");
  }
  if (on_true) return std::vector<ComputationId>{*on_true, *on_false};
  return std::vector<ComputationId>(indexed.begin(), indexed.end());
}

// A dimension of the result is dynamic if it is in any branch.
void JoinDynamic(Shape& shape, const Shape& other) {
  if (shape.IsArray()) {
    for (int64_t d = 0; d < shape.rank(); ++d) {
      if (other.is_dynamic(d)) shape.set_dynamic(d, true);
    }
  } else if (shape.IsTuple()) {
    std::vector<Shape> elements(shape.elements().begin(), shape.elements().end());
    for (size_t i = 0; i < elements.size(); ++i) JoinDynamic(elements[i], other.element(i));
    shape = Shape::Tuple(std::move(elements));
  }
}

absl::Status CheckSelector(const InferContext& context, bool is_pair, size_t branches) {
  const Shape& selector = context.operand(0);
  if (!selector.IsScalar(is_pair ? ElementType::kPred : ElementType::kS32)) {
    return InvalidProgram(
        {}, fmt::format("Conditional-C1: the selector is {}, wanted {} with {}", selector.ToString(),
                        is_pair ? "pred[]" : "s32[]",
                        is_pair ? "true_computation and false_computation" : "branch_computations"));
  }
  return branches == 0 ? InvalidProgram({}, "Conditional-C1: no branch") : absl::OkStatus();
}

absl::StatusOr<Shape> InferConditional(const InferContext& context) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<ComputationId> branches, Branches(context.attributes()));
  ASSAY_RETURN_IF_ERROR(
      CheckSelector(context, context.attributes().Has(Attr::kTrueComputation), branches.size()));
  if (context.operands.size() != branches.size() + 1) {
    return InvalidProgram({}, fmt::format("Conditional-C2: {} branch operands for {}",
                                          context.operands.size() - 1, Counted(branches.size(), "branch")));
  }
  std::optional<Shape> result;
  for (size_t k = 0; k < branches.size(); ++k) {
    const ProgramShape called = context.Called(branches[k]);
    if (called.parameters.size() != 1 || !Shape::Compatible(called.parameters[0], context.operand(k + 1))) {
      const std::string found = called.parameters.size() == 1
                                    ? called.parameters[0].ToString()
                                    : fmt::format("{}", Counted(called.parameters.size(), "parameter"));
      return InvalidProgram({}, fmt::format("Conditional-C3: branch {} takes {}, its operand is {}", k, found,
                                            context.operand(k + 1).ToString()));
    }
    if (!result) {
      result = called.result;
    } else if (!Shape::Compatible(*result, called.result)) {
      return InvalidProgram({}, fmt::format("Conditional-C4: branch {} gives {}, branch 0 gives {}", k,
                                            called.result.ToString(), result->ToString()));
    } else {
      JoinDynamic(*result, called.result);
    }
  }
  return *std::move(result);
}

absl::StatusOr<Literal> EvalConditional(EvalContext& context, std::span<Literal> operands) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<ComputationId> branches, Branches(context.attributes()));
  const int64_t n = static_cast<int64_t>(branches.size());
  const int64_t selector = operands[0].GetInt(0);
  int64_t k = operands[0].shape().element_type() == ElementType::kPred ? 1 - selector : selector;
  if (k < 0 || k >= n) k = n - 1;
  std::vector<Literal> arguments;
  arguments.push_back(std::move(operands[k + 1]));
  return context.Call(branches[k], std::move(arguments));
}

// while(init), condition=c, body=b:  s = init; while c(s): s = b(s); s
constexpr AttrSpec kWhileAttrs[] = {Required(Attr::kCondition), Required(Attr::kBody)};

absl::StatusOr<Shape> InferWhile(const InferContext& context) {
  const Shape& init = context.operand(0);
  const ProgramShape condition = context.Called(*context.attributes().Computation(Attr::kCondition));
  const ProgramShape body = context.Called(*context.attributes().Computation(Attr::kBody));
  if (condition.parameters.size() != 1 || body.parameters.size() != 1) {
    return InvalidProgram(
        {}, fmt::format("While-C1: condition has {} and body {}, wanted 1 each",
                        Counted(condition.parameters.size(), "parameter"), body.parameters.size()));
  }
  if (!condition.result.IsScalar(ElementType::kPred)) {
    return InvalidProgram(
        {}, fmt::format("While-C2: condition gives {}, wanted pred[]", condition.result.ToString()));
  }
  const std::pair<std::string_view, const Shape*> states[] = {
      {"body's parameter", &body.parameters[0]},
      {"body's result", &body.result},
      {"condition's parameter", &condition.parameters[0]}};
  for (const auto& [what, shape] : states) {
    if (!Shape::Compatible(*shape, init)) {
      return InvalidProgram(
          {}, fmt::format("While-C3: {} is {}, init is {}", what, shape->ToString(), init.ToString()));
    }
  }
  return init;
}

absl::StatusOr<Literal> EvalWhile(EvalContext& context, std::span<Literal> operands) {
  const ComputationId condition = *context.attributes().Computation(Attr::kCondition);
  const ComputationId body = *context.attributes().Computation(Attr::kBody);
  Literal state = std::move(operands[0]);
  while (true) {
    ASSAY_ASSIGN_OR_RETURN(const Literal more, context.Call(condition, {state}));
    if (more.GetInt(0) == 0) return state;
    std::vector<Literal> arguments;
    arguments.push_back(std::move(state));
    ASSAY_ASSIGN_OR_RETURN(state, context.Call(body, std::move(arguments)));
  }
}

// copy-start(x) = (x, x, u32 0);  copy-done(s) = s.0
constexpr AttrSpec kCopyStartAttrs[] = {Optional(Attr::kCrossProgramPrefetchIndex)};

absl::StatusOr<Shape> InferCopyStart(const InferContext& context) {
  const Shape& x = context.operand(0);
  if (!x.IsArray())
    return InvalidProgram({}, fmt::format("Copy-C1: the operand is {}, wanted an array", x.ToString()));
  return Shape::Tuple({x, x, Shape::Scalar(ElementType::kU32)});
}

absl::StatusOr<Literal> EvalCopyStart(EvalContext& context, std::span<Literal> operands) {
  return Literal::Tuple(context.shared_result_shape(),
                        {operands[0], operands[0], Literal::ScalarInt(ElementType::kU32, 0)});
}

absl::StatusOr<Shape> InferCopyDone(const InferContext& context) {
  if (context.computation != nullptr && context.operand_instruction(0).opcode != Opcode::kCopyStart) {
    return InvalidProgram({}, fmt::format("Copy-C3: the operand of copy-done is a {}, wanted copy-start",
                                          Name(context.operand_instruction(0).opcode)));
  }
  return context.operand(0).element(0);
}

absl::StatusOr<Literal> EvalCopyDone(EvalContext&, std::span<Literal> operands) {
  return operands[0].element(0);
}

void DemandsOfConditional(const InstructionView& view, std::vector<OperandDemand>& demands) {
  const int64_t branches = static_cast<int64_t>(view.num_operands()) - 1;
  if (view.operand(0).element_type() != ElementType::kPred)
    demands.push_back({0, demand::OneRange(0, branches - 1)});
}

// The state that comes in, and each that the body gives.
void PassDemandOfWhile(const InstructionView& view, const InputDemand& demand, std::span<const int64_t> path,
                       std::vector<OperandDemand>& demands) {
  demand::Whole(view, demand, path, demands);
  if (const auto body = view.attributes().Computation(Attr::kBody))
    demands.push_back({0, demand, {path.begin(), path.end()}, *body});
}

// copy-start gives (copy, operand, context).
void PassDemandOfCopyStart(const InstructionView& view, const InputDemand& demand,
                           std::span<const int64_t> path, std::vector<OperandDemand>& demands) {
  demand::Whole(view, demand, path.empty() ? path : path.subspan(1), demands);
}
void PassDemandOfCopyDone(const InstructionView&, const InputDemand& demand, std::span<const int64_t> path,
                          std::vector<OperandDemand>& demands) {
  demands.push_back({0, demand, demand::Prepend(0, path)});
}

}  // namespace

constinit const OpDef ops::Call = {
    .operands = AtLeast(0),
    .types = kArrayTypes,
    .attributes = kCallAttrs,
    .infer = InferCall,
    .eval = EvalCall,
    .work = work::None,
    .bound = bound::Structure,
    .audit = audit::Nothing,
    .pass_demand = demand::OfCallees,
    .open_sizes = open::Passed,
    .arguments = Arguments::kOperands,
    .runs_steps = true,
    .calls_may_have_effects = true,
};
constinit const OpDef ops::Fusion = {
    .operands = AtLeast(0),
    .types = kArrayTypes,
    .attributes = kFusionAttrs,
    .infer = InferFusion,
    .eval = EvalFusion,
    .work = work::None,
    .bound = bound::Structure,
    .audit = audit::Nothing,
    .pass_demand = demand::OfCallees,
    .open_sizes = open::Passed,
    .arguments = Arguments::kOperands,
    .runs_steps = true,
    .calls_may_have_effects = true,
};
constinit const OpDef ops::Conditional = {
    .operands = AtLeast(1),
    .types = kArrayTypes,
    .attributes = kConditionalAttrs,
    .infer = InferConditional,
    .eval = EvalConditional,
    .work = work::None,
    .bound = bound::Structure,
    .audit = audit::Nothing,
    .demands = DemandsOfConditional,
    .pass_demand = demand::OfCallees,
    .open_sizes = open::Passed,
    .runs_steps = true,
    .calls_may_have_effects = true,
};
constinit const OpDef ops::While = {
    .operands = Exactly(1),
    .types = kArrayTypes,
    .attributes = kWhileAttrs,
    .infer = InferWhile,
    .eval = EvalWhile,
    .work = work::None,
    .bound = bound::Structure,
    .audit = audit::Nothing,
    .pass_demand = PassDemandOfWhile,
    .open_sizes = open::Passed,
    .runs_steps = true,
    .calls_may_have_effects = true,
};
constinit const OpDef ops::CopyStart = {
    .operands = Exactly(1),
    .types = kArrayTypes,
    .attributes = kCopyStartAttrs,
    .infer = InferCopyStart,
    .eval = EvalCopyStart,
    .work = work::None,
    .bound = bound::Structure,
    .audit = audit::Nothing,
    .pass_demand = PassDemandOfCopyStart,
    .open_sizes = open::Passed,
    .partner_in_computation = true,
};
constinit const OpDef ops::CopyDone = {
    .operands = Exactly(1),
    .types = kArrayTypes,
    .infer = InferCopyDone,
    .eval = EvalCopyDone,
    .work = work::None,
    .bound = bound::Structure,
    .audit = audit::Nothing,
    .pass_demand = PassDemandOfCopyDone,
    .open_sizes = open::Passed,
};

}  // namespace assay
