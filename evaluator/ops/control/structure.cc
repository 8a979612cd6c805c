// Parameters, constants, tuples, tokens and other instructions that only give programs their structure.
// Spec: docs/spec/operations-control.md (Parameter, Tuple, GetTupleElement, AddDependency, AfterAll,
// OptimizationBarrier, Domain), docs/spec/operations-shape.md (Constant) and
// docs/spec/operations-collective.md (ReplicaId, PartitionId). Nothing here copies an element: values are
// handles on shared storage.
#include "base/counted.h"
#include "evaluator/audits/rules.h"
#include "evaluator/bounds/rules.h"
#include "evaluator/device.h"
#include "evaluator/eval_context.h"
#include "evaluator/op.h"
#include "evaluator/open_sizes.h"
#include "evaluator/ops/control/control.h"
#include "fmt/format.h"

namespace assay {
namespace {

absl::StatusOr<Literal> EvalFirstOperand(EvalContext&, std::span<Literal> operands) {
  return std::move(operands[0]);
}

absl::StatusOr<Literal> EvalToken(EvalContext&, std::span<Literal>) { return Literal::Token(); }

// parameter(k): the k-th argument of the computation. The executor binds arguments before the first step, so
// a parameter is never evaluated.
absl::StatusOr<Shape> InferParameter(const InferContext& context) { return context.Declared(); }

absl::StatusOr<Literal> EvalParameter(EvalContext&, std::span<Literal>) {
  ASSAY_CHECK(false);
  return Literal();
}

// constant(literal). An elided literal "{...}" stands for data that the text does not hold.
// Decision: elided-constants
absl::StatusOr<Shape> InferConstant(const InferContext& context) {
  if (context.instruction.literal == nullptr) return context.Declared();
  const Shape& literal = context.instruction.literal->shape();
  ASSAY_ASSIGN_OR_RETURN(Shape shape, context.Declared());
  if (!Shape::Compatible(literal, shape)) {
    return InvalidProgram({}, fmt::format("Constant-C1: the literal is {}, the instruction {}",
                                          literal.ToString(), shape.ToString()));
  }
  return shape;
}

absl::StatusOr<Literal> EvalConstant(EvalContext& context, std::span<Literal>) {
  if (context.instruction().literal == nullptr) {
    return EvalError(
        context.instruction().position,
        fmt::format("LIT-3: the value of constant '{}' is elided: '{{...}}' stands for data that the "
                    "program text does not hold",
                    context.instruction().name));
  }
  return *context.instruction().literal;
}

// tuple(a, b, ...) = (a, b, ...).
absl::StatusOr<Shape> InferTuple(const InferContext& context) {
  std::vector<Shape> elements;
  elements.reserve(context.operands.size());
  for (const Shape* operand : context.operands) elements.push_back(*operand);
  return Shape::Tuple(std::move(elements));
}

absl::StatusOr<Literal> EvalTuple(EvalContext& context, std::span<Literal> operands) {
  return Literal::Tuple(context.shared_result_shape(),
                        {std::make_move_iterator(operands.begin()), std::make_move_iterator(operands.end())});
}

// get-tuple-element(t), index=i: element i of t.
constexpr AttrSpec kGetTupleElementAttrs[] = {Required(Attr::kIndex)};

absl::StatusOr<Shape> InferGetTupleElement(const InferContext& context) {
  const Shape& tuple = context.operand(0);
  if (!tuple.IsTuple()) {
    return InvalidProgram(
        {}, fmt::format("GetTupleElement-C1: the operand is {}, wanted a tuple", tuple.ToString()));
  }
  const int64_t index = context.attributes().Int(Attr::kIndex);
  const int64_t arity = static_cast<int64_t>(tuple.elements().size());
  if (index < 0 || index >= arity) {
    return InvalidProgram({}, fmt::format("GetTupleElement-C2: index is {}, but the tuple has {}", index,
                                          Counted(arity, "element")));
  }
  return tuple.element(index);
}

absl::StatusOr<Literal> EvalGetTupleElement(EvalContext& context, std::span<Literal> operands) {
  return operands[0].element(context.attributes().Int(Attr::kIndex));
}

// after-all(t...): a token that follows all of its operands.
absl::StatusOr<Shape> InferAfterAll(const InferContext& context) {
  for (int64_t i = 0; i < context.num_operands(); ++i)
    ASSAY_RETURN_IF_ERROR(RequireToken(context, i, "AfterAll-C1"));
  return Shape::Token();
}

// add-dependency(x, token): x, evaluated after the token's producers.
absl::StatusOr<Shape> InferAddDependency(const InferContext& context) {
  ASSAY_RETURN_IF_ERROR(RequireToken(context, 1, "AddDependency-C1"));
  return context.operand(0);
}

// opt-barrier(x), domain(x): x.
absl::StatusOr<Shape> InferIdentity(const InferContext& context) { return context.operand(0); }

constexpr AttrSpec kDomainAttrs[] = {Required(Attr::kDomain)};

void PassDemandOfTuple(const InstructionView&, const InputDemand& demand, std::span<const int64_t> path,
                       std::vector<OperandDemand>& demands) {
  if (!path.empty()) demands.push_back({path[0], demand, {path.begin() + 1, path.end()}});
}
void PassDemandOfElement(const InstructionView& view, const InputDemand& demand,
                         std::span<const int64_t> path, std::vector<OperandDemand>& demands) {
  demands.push_back({0, demand, demand::Prepend(view.attributes().Int(Attr::kIndex), path)});
}

// replica-id() = r, partition-id() = p: ReplicaId-C1, PartitionId-C1.
absl::StatusOr<Shape> InferId(const InferContext& context) {
  const Shape wanted = Shape::Scalar(ElementType::kU32);
  if (context.declared != nullptr && !Shape::Compatible(*context.declared, wanted)) {
    return InvalidProgram({}, fmt::format("{}-C1: the result is {}, wanted u32[]",
                                          IdName(context.instruction.opcode), context.declared->ToString()));
  }
  return wanted;
}

absl::StatusOr<Literal> EvalReplicaId(EvalContext& context, std::span<Literal>) {
  return Literal::ScalarInt(ElementType::kU32, context.device().grid().replica(context.device().id()));
}

// SDY-19: in a manual region, too, the number of the device, not its position in the mesh.
absl::StatusOr<Literal> EvalPartitionId(EvalContext& context, std::span<Literal>) {
  return Literal::ScalarInt(ElementType::kU32, context.device().grid().partition(context.device().id()));
}

}  // namespace

constinit const OpDef ops::Parameter = {
    .operands = Exactly(0),
    .types = kArrayTypes,
    .infer = InferParameter,
    .eval = EvalParameter,
    .work = work::None,
    .bound = bound::Exact,
    .audit = audit::Nothing,
};
constinit const OpDef ops::Constant = {
    .operands = Exactly(0),
    .types = kArrayTypes,
    .infer = InferConstant,
    .eval = EvalConstant,
    .work = work::None,
    .bound = bound::Exact,
    .audit = audit::Nothing,
};
constinit const OpDef ops::Tuple = {
    .operands = AtLeast(0),
    .types = kArrayTypes,
    .infer = InferTuple,
    .eval = EvalTuple,
    .work = work::None,
    .bound = bound::Structure,
    .audit = audit::Nothing,
    .pass_demand = PassDemandOfTuple,
    .open_sizes = open::Passed,
};
constinit const OpDef ops::GetTupleElement = {
    .operands = Exactly(1),
    .types = kArrayTypes,
    .attributes = kGetTupleElementAttrs,
    .infer = InferGetTupleElement,
    .eval = EvalGetTupleElement,
    .work = work::None,
    .bound = bound::Structure,
    .audit = audit::Nothing,
    .pass_demand = PassDemandOfElement,
    .open_sizes = open::Passed,
};
constinit const OpDef ops::AfterAll = {
    .operands = AtLeast(0),
    .types = kNoTypes,
    .infer = InferAfterAll,
    .eval = EvalToken,
    .work = work::None,
    .bound = bound::Exact,
    .audit = audit::Nothing,
};
constinit const OpDef ops::AddDependency = {
    .operands = Exactly(2),
    .types = kArrayTypes,
    .infer = InferAddDependency,
    .eval = EvalFirstOperand,
    .work = work::None,
    .bound = bound::Structure,
    .audit = audit::Nothing,
    .pass_demand = demand::Whole,
    .open_sizes = open::Passed,
    .is_identity = true,
};
constinit const OpDef ops::OptBarrier = {
    .operands = Exactly(1),
    .types = kArrayTypes,
    .infer = InferIdentity,
    .eval = EvalFirstOperand,
    .work = work::None,
    .bound = bound::Structure,
    .audit = audit::Nothing,
    .pass_demand = demand::Whole,
    .open_sizes = open::Passed,
    .is_identity = true,
};
constinit const OpDef ops::Domain = {
    .operands = Exactly(1),
    .types = kArrayTypes,
    .attributes = kDomainAttrs,
    .infer = InferIdentity,
    .eval = EvalFirstOperand,
    .work = work::None,
    .bound = bound::Structure,
    .audit = audit::Nothing,
    .pass_demand = demand::Whole,
    .open_sizes = open::Passed,
    .is_identity = true,
};
constinit const OpDef ops::ReplicaId = {.operands = Exactly(0),
                                        .types = TypeSet::Of(ElementType::kU32),
                                        .infer = InferId,
                                        .eval = EvalReplicaId,
                                        .work = work::Move,
                                        .bound = bound::Exact,
                                        .audit = audit::Nothing};
constinit const OpDef ops::PartitionId = {.operands = Exactly(0),
                                          .types = TypeSet::Of(ElementType::kU32),
                                          .infer = InferId,
                                          .eval = EvalPartitionId,
                                          .work = work::Move,
                                          .bound = bound::Exact,
                                          .audit = audit::Nothing};

}  // namespace assay
