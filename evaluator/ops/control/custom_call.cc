// custom-call: the targets that real modules contain. Spec: docs/spec/operations-control.md, CustomCall. A
// target that stands for an HLO operation is evaluated as that operation; one of the module's custom_ops
// (custom_op.h) by the kernel that it has for references. No library is ever loaded from a name in a program.
#include "evaluator/ops/control/custom_call.h"

#include <optional>

#include "base/counted.h"
#include "evaluator/audits/rules.h"
#include "evaluator/bounds/rules.h"
#include "evaluator/custom_op.h"
#include "evaluator/device.h"
#include "evaluator/eval_context.h"
#include "evaluator/op.h"
#include "evaluator/open_sizes.h"
#include "evaluator/ops/control/call_config.h"
#include "evaluator/ops/control/control.h"
#include "evaluator/ops/control/function_call.h"
#include "evaluator/ops/control/manual_region.h"
#include "evaluator/ops/control/test_call.h"
#include "evaluator/ops/indexing/dynamic.h"
#include "evaluator/shape_rules.h"
#include "fmt/format.h"
#include "hlo/manual_region.h"
#include "literal/element_io.h"

namespace assay {
namespace {

constexpr AttrSpec kCustomCallAttrs[] = {Required(Attr::kCustomCallTarget),
                                         Optional(Attr::kWindow),
                                         Optional(Attr::kDimLabels),
                                         Optional(Attr::kFeatureGroupCount),
                                         Optional(Attr::kBatchGroupCount),
                                         Optional(Attr::kOperandLayoutConstraints),
                                         Optional(Attr::kCustomCallHasSideEffect),
                                         Optional(Attr::kToApply),
                                         Optional(Attr::kCalledComputations),
                                         Optional(Attr::kOutputToOperandAliasing),
                                         Optional(Attr::kPaddingType),
                                         Optional(Attr::kLiteralValue),
                                         Optional(Attr::kOperandPrecision),
                                         Optional(Attr::kSchedule),
                                         Optional(Attr::kApiVersion)};

// One operation to evaluate in place of the call: opcode, attributes, result shape.
struct StandIn {
  Instruction instruction;
  StandIn(Opcode opcode, const Instruction& call, Shape shape) {
    instruction.opcode = opcode;
    instruction.name = call.name;
    instruction.position = call.position;
    instruction.operands = call.operands;
    instruction.shape = std::make_shared<const Shape>(std::move(shape));
  }
};

const OpDef& DefinitionFor(Opcode opcode) {
  switch (opcode) {
    case Opcode::kTopK:
      return ops::TopK;
    case Opcode::kCholesky:
      return ops::Cholesky;
    default:
      return ops::TriangularSolve;
  }
}

// The shape rule of the operation that stands in, on the call's operands.
absl::Status CheckStandIn(const InferContext& context, const StandIn& stand_in) {
  const InferContext inner{context.module, stand_in.instruction, context.operands,
                           stand_in.instruction.shape.get(), context.computation};
  ASSAY_ASSIGN_OR_RETURN(const Shape inferred, DefinitionFor(stand_in.instruction.opcode).infer(inner));
  if (Shape::Compatible(inferred, *stand_in.instruction.shape)) return absl::OkStatus();
  return InvalidProgram(
      {}, fmt::format("CustomCall: the result is {}, {} gives {}", stand_in.instruction.shape->ToString(),
                      Name(stand_in.instruction.opcode), inferred.ToString()));
}

absl::StatusOr<Literal> EvalStandIn(EvalContext& context, const StandIn& stand_in,
                                    std::span<Literal> operands, StandInFn run) {
  EvalContext inner(context, stand_in.instruction);
  return run(inner, operands);
}

absl::StatusOr<char> ConfigLetter(const Instruction& call, std::string_view name, std::string_view wanted) {
  const std::optional<int64_t> value = ConfigInteger(call, name);
  if (value && *value > 0 && *value < 128 &&
      wanted.find(static_cast<char>(*value)) != std::string_view::npos) {
    return static_cast<char>(*value);
  }
  return InvalidProgram(
      {}, fmt::format("CustomCall: backend_config of {} has {} = {}, wanted the code of one of '{}'",
                      call.attributes.Text(Attr::kCustomCallTarget), name,
                      value ? fmt::format("{}", *value) : "nothing", wanted));
}

// TopK(x) = topk(x), k from the result.
absl::StatusOr<StandIn> TopKStandIn(const Instruction& call, const Shape& result) {
  if (!result.IsTuple() || result.elements().size() != 2 || !result.element(0).IsArray() ||
      result.element(0).rank() == 0) {
    return InvalidProgram(
        {}, fmt::format("CustomCall: the result of TopK is {}, wanted (values, indices)", result.ToString()));
  }
  StandIn stand_in(Opcode::kTopK, call, result);
  stand_in.instruction.attributes.Set(Attr::kK, result.element(0).sizes().back());
  stand_in.instruction.attributes.Set(Attr::kLargest, true);
  return stand_in;
}

// lapack_?potrf_ffi(a) = (cholesky(a) over the triangle `uplo`, the other triangle as in a; info), info 0 or
// the 1-based order of the first leading minor that is not positive.
absl::StatusOr<StandIn> CholeskyStandIn(const Instruction& call, const Shape& result) {
  if (!result.IsTuple() || result.elements().size() != 2 || !result.element(0).IsArray() ||
      !result.element(1).IsArray() || result.element(1).element_type() != ElementType::kS32) {
    return InvalidProgram({}, fmt::format("CustomCall: the result of {} is {}, wanted (factor, s32 info)",
                                          call.attributes.Text(Attr::kCustomCallTarget), result.ToString()));
  }
  ASSAY_ASSIGN_OR_RETURN(const char uplo, ConfigLetter(call, "uplo", "LU"));
  StandIn stand_in(Opcode::kCholesky, call, result.element(0));
  stand_in.instruction.attributes.Set(Attr::kLower, uplo == 'L');
  return stand_in;
}

// lapack_?trsm_ffi(a, b) = triangular-solve(a, b).
absl::StatusOr<StandIn> TriangularSolveStandIn(const Instruction& call, const Shape& result) {
  ASSAY_ASSIGN_OR_RETURN(const char side, ConfigLetter(call, "side", "LR"));
  ASSAY_ASSIGN_OR_RETURN(const char uplo, ConfigLetter(call, "uplo", "LU"));
  ASSAY_ASSIGN_OR_RETURN(const char diag, ConfigLetter(call, "diag", "NU"));
  ASSAY_ASSIGN_OR_RETURN(const char trans, ConfigLetter(call, "trans_x", "NTC"));
  StandIn stand_in(Opcode::kTriangularSolve, call, result);
  AttributeMap& attributes = stand_in.instruction.attributes;
  attributes.Set(Attr::kLeftSide, side == 'L');
  attributes.Set(Attr::kLower, uplo == 'L');
  attributes.Set(Attr::kUnitDiagonal, diag == 'U');
  attributes.Set(Attr::kTransposeA, Word{trans == 'N'   ? "NO_TRANSPOSE"
                                         : trans == 'T' ? "TRANSPOSE"
                                                        : "ADJOINT"});
  return stand_in;
}

bool IsLapack(std::string_view target, std::string_view routine) {
  return target.size() == routine.size() + 12 && target.starts_with("lapack_") &&
         std::string_view("sdcz").find(target[7]) != std::string_view::npos &&
         target.substr(8, routine.size()) == routine && target.substr(8 + routine.size()) == "_ffi";
}

// The operation that the call stands for; nullopt where it stands for none.
absl::StatusOr<std::optional<StandIn>> StandInOf(const Instruction& call, const Shape& result) {
  const std::string_view target = call.attributes.Text(Attr::kCustomCallTarget);
  if (target == "TopK") return TopKStandIn(call, result);
  if (IsLapack(target, "potrf")) return CholeskyStandIn(call, result);
  if (IsLapack(target, "trsm")) return TriangularSolveStandIn(call, result);
  return std::optional<StandIn>();
}

// Targets that give their operand back: annotations, barriers of compilers,
// and pins of an array to a buffer handle.
bool IsIdentity(std::string_view target) {
  constexpr std::string_view kTargets[] = {"Sharding",
                                           "SPMDFullToShardShape",
                                           "SPMDShardToFullShape",
                                           "LayoutConstraint",
                                           "annotate_device_placement",
                                           "MoveToHost",
                                           "MoveToDevice",
                                           "Pin",
                                           "Unpin",
                                           "SetBound",
                                           "ShardBarrierFrom",
                                           "ShardBarrierTo",
                                           "xla.sdy.FuncResultSharding",
                                           "xla.sdy.PropagationBarrier"};
  return std::find(std::begin(kTargets), std::end(kTargets), target) != std::end(kTargets);
}

// Targets that give zeros: an array, or the empty tuple that stands for the dropped group.
bool IsAllocation(std::string_view target) {
  return target == "AllocateBuffer" || target == "xla.sdy.ShardingGroup";
}

// Targets of compilers that have no meaning outside of the library that they name.
struct RefusedTarget {
  std::string_view prefix, reason;
};
constexpr RefusedTarget kRefusedTargets[] = {
    {"__cudnn$fmha",
     "fused attention: which of its steps are rounded, and how dropout draws, is cuDNN's own"},
    {"__cudnn$fhma",
     "fused attention: which of its steps are rounded, and how dropout draws, is cuDNN's own"},
    {"__cudnn$convReorderFilter", "the order of a reordered filter is cuDNN's own"},
    {"__cudnn$blockScaledDot", "how block scales are arranged is cuDNN's own"},
    {"__cudnn$", "no public description of this call of cuDNN"},
    {"__cublas$lt$matmul$mx", "how block scales are arranged is cuBLAS's own"},
    {"__cublas$lt$groupedMatmul", "how groups are told to cuBLAS has no public description"},
    {"__cublas$", "no public description of this call of cuBLAS"},
    {"__onednn$matmul_reorder", "the order of reordered weights is oneDNN's own"},
    {"__onednn$", "no public description of this call of oneDNN"},
    {"__triton", "its meaning is the Triton kernel in it, which is code for a GPU"},
    {"triton_kernel_call", "its meaning is the Triton kernel in it, which is code for a GPU"},
    {"__gpu$xla.gpu.triton", "its meaning is the Triton kernel in it, which is code for a GPU"},
    {"mosaic_gpu", "its meaning is the Mosaic kernel in it, which is code for a GPU"},
    {"tpu_custom_call", "its meaning is the Mosaic kernel in it, which is code for a TPU"},
    {"__nccl", "messages between devices outside of HLO's collectives"},
    {"cusparse_", "its operand `opaque` holds structures of cuSPARSE"},
    {"cusolver_", "jaxlib's solvers for GPUs; lower the program for CPUs"},
    {"__custom_kernel", "its meaning is a kernel, which is code for a GPU"},
};

absl::Status NoSuchTarget(const Instruction& call) {
  const std::string_view target = call.attributes.Text(Attr::kCustomCallTarget);
  if (const std::string* const reason = FrontendAttribute(call, kNotSupportedReason)) {
    return NotSupported({}, fmt::format("{}: {}", target, *reason));
  }
  for (const RefusedTarget& refused : kRefusedTargets) {
    if (target.substr(0, refused.prefix.size()) == refused.prefix)
      return NotSupported({}, fmt::format("no custom call target {}: {}", target, refused.reason));
  }
  return NotSupported({}, fmt::format("no custom call target {}", target));
}

absl::Status CheckLayoutConstraints(const InferContext& context) {
  const AttrValue* const value = context.attributes().Find(Attr::kOperandLayoutConstraints);
  if (value == nullptr) return absl::OkStatus();
  const ShapeList& shapes = std::get<ShapeList>(*value);
  if (static_cast<int64_t>(shapes.size()) != context.num_operands()) {
    return InvalidProgram({}, fmt::format("CustomCall-C2: {} operand_layout_constraints for {}",
                                          shapes.size(), Counted(context.num_operands(), "operand")));
  }
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (!Shape::Compatible(shapes[i], context.operand(i))) {
      return InvalidProgram({}, fmt::format("CustomCall-C2: layout constraint {} is {}, the operand {}", i,
                                            shapes[i].ToString(), context.operand(i).ToString()));
    }
  }
  return absl::OkStatus();
}

// With several devices these two change the shape: what it must be is known when their number is.
bool ChangesShape(std::string_view target) {
  return target == "SPMDFullToShardShape" || target == "SPMDShardToFullShape";
}

// CustomCall-C3: a pin and its end alias their operand, and nothing else.
absl::Status CheckPin(const InferContext& context, std::string_view target) {
  const AttrValue* const value = context.attributes().Find(Attr::kOutputToOperandAliasing);
  if (value != nullptr) {
    const Aliasing& aliasing = std::get<Aliasing>(*value);
    if (aliasing.size() == 1 && aliasing[0].output_index.empty() && aliasing[0].operand == 0 &&
        aliasing[0].operand_index.empty())
      return absl::OkStatus();
  }
  return InvalidProgram(
      {}, fmt::format("CustomCall-C3: {} wants output_to_operand_aliasing={{{{}}: (0, {{}})}}", target));
}

// No result but a value that nobody needs: zeros, an empty tuple.
absl::Status CheckAllocation(const InferContext& context, std::string_view target, const Shape& result) {
  const bool is_group = target == "xla.sdy.ShardingGroup";
  const int64_t wanted = is_group ? 1 : 0;
  if (context.num_operands() != wanted) {
    return InvalidProgram({}, fmt::format("CustomCall: {} takes {}, got {}", target,
                                          Counted(wanted, "operand"), context.num_operands()));
  }
  if (is_group ? result.IsTuple() && result.elements().empty() : result.IsArray()) return absl::OkStatus();
  return InvalidProgram({}, fmt::format("CustomCall: {} gives {}, here {}", target,
                                        is_group ? "()" : "an array", result.ToString()));
}

absl::Status CheckIdentity(const InferContext& context, std::string_view target, const Shape& result) {
  if (context.num_operands() != 1) {
    return InvalidProgram(
        {}, fmt::format("CustomCall: {} takes 1 operand, got {}", target, context.num_operands()));
  }
  const Shape& operand = context.operand(0);
  if (target == "Pin" || target == "Unpin") ASSAY_RETURN_IF_ERROR(CheckPin(context, target));
  const bool kinds_fit = target == "Pin"     ? operand.IsArray() && result.IsBuffer()
                         : target == "Unpin" ? operand.IsBuffer() && result.IsArray()
                                             : operand.kind() == result.kind();
  if (kinds_fit && (ChangesShape(target) || Shape::Compatible(ArrayOf(operand), ArrayOf(result))))
    return absl::OkStatus();
  return InvalidProgram(
      {}, fmt::format("CustomCall: {} of {} can't give {}", target, operand.ToString(), result.ToString()));
}

absl::StatusOr<Shape> InferCustomCall(const InferContext& context) {
  const std::string_view target = context.attributes().Text(Attr::kCustomCallTarget);
  if (target.empty()) return InvalidProgram({}, "CustomCall-C1: custom_call_target is empty");
  if (target[0] == '$') {
    return InvalidProgram(
        {}, fmt::format("CustomCall-C1: custom_call_target '{}': names that start with '$' are reserved",
                        target));
  }
  ASSAY_ASSIGN_OR_RETURN(Shape result, context.Declared());
  ASSAY_RETURN_IF_ERROR(CheckLayoutConstraints(context));
  ASSAY_RETURN_IF_ERROR(CheckOutputOperandAliasing("CustomCall", context, result));
  if (const CustomOp* const op = CustomOpOf(context.module, context.instruction)) return op->Infer(context);
  ASSAY_ASSIGN_OR_RETURN(const std::optional<StandIn> stand_in, StandInOf(context.instruction, result));
  if (stand_in) {
    const OpDef& op = DefinitionFor(stand_in->instruction.opcode);
    if (context.num_operands() != op.operands.min) {
      return InvalidProgram({}, fmt::format("CustomCall: {} takes {}, got {}", target,
                                            Counted(op.operands.min, "operand"), context.num_operands()));
    }
    ASSAY_RETURN_IF_ERROR(CheckStandIn(context, *stand_in));
  }
  if (IsIdentity(target)) ASSAY_RETURN_IF_ERROR(CheckIdentity(context, target, result));
  if (IsAllocation(target)) ASSAY_RETURN_IF_ERROR(CheckAllocation(context, target, result));
  if (IsTestCall(target)) ASSAY_RETURN_IF_ERROR(VerifyTestCall(context, result));
  if (IsFunctionCall(target)) ASSAY_RETURN_IF_ERROR(VerifyFunctionCall(context, result));
  if (IsSizeCall(target)) ASSAY_RETURN_IF_ERROR(VerifySizeCall(context, result));
  if (target == "GetRngSeed" && (context.num_operands() != 0 || !result.IsScalar(ElementType::kU64))) {
    return InvalidProgram({}, fmt::format("CustomCall: GetRngSeed takes no operand and gives u64[], here {}",
                                          result.ToString()));
  }
  if (target == "CreateBuffer" && (context.num_operands() != 0 || !result.IsBuffer())) {
    return InvalidProgram({},
                          fmt::format("CustomCall: CreateBuffer takes no operand and gives a buffer, here {}",
                                      result.ToString()));
  }
  return result;
}

// Element by element over the two last dimensions: the triangle that `lower` leaves out is a's.
void KeepOtherTriangle(const Literal& a, bool lower, Literal& factor) {
  const Shape& shape = factor.shape();
  const int64_t n = shape.sizes().back(), bytes = Bytes(shape.element_type());
  const int64_t matrices = n == 0 ? 0 : shape.num_elements() / (n * n);
  std::byte* const out = factor.MutableBytes().data();
  for (int64_t m = 0; m < matrices; ++m) {
    for (int64_t row = 0; row < n; ++row) {
      const int64_t first = lower ? row + 1 : 0, last = lower ? n : row;
      const int64_t at = ((m * n + row) * n + first) * bytes;
      std::copy_n(a.data() + at, (last - first) * bytes, out + at);
    }
  }
}

bool FirstComponentIsNan(const Literal& literal, int64_t position) {
  const ElementType type = literal.shape().element_type();
  const ScalarValue value = LoadElement(type, literal.data() + position * Bytes(type));
  const double x = IsComplex(type) ? value.c.real() : value.r;
  return x != x;
}

// Order of the smallest leading block of matrix m of `a` that has no Cholesky factor; its whole block has
// none. A block fails exactly when every smaller failing order does, so the order is found by bisection.
absl::StatusOr<int64_t> FailingOrder(EvalContext& context, const StandIn& whole, const Literal& a, int64_t m,
                                     StandInFn run) {
  const ElementType type = a.shape().element_type();
  const int64_t n = a.shape().sizes().back(), bytes = Bytes(type);
  int64_t good = 0, bad = n;
  while (bad - good > 1) {
    const int64_t order = good + (bad - good) / 2;
    const int64_t sizes[] = {order, order};
    StandIn part(Opcode::kCholesky, whole.instruction, Shape::ArrayOrDie(type, sizes));
    part.instruction.attributes = whole.instruction.attributes;
    ASSAY_ASSIGN_OR_RETURN(Literal block, context.NewLiteral(part.instruction.shape));
    std::byte* out = block.MutableBytes().data();
    for (int64_t row = 0; row < order; ++row, out += order * bytes) {
      std::copy_n(a.data() + (m * n + row) * n * bytes, order * bytes, out);
    }
    Literal operands[] = {std::move(block)};
    ASSAY_ASSIGN_OR_RETURN(const Literal factor, EvalStandIn(context, part, operands, run));
    (FirstComponentIsNan(factor, 0) ? bad : good) = order;
  }
  return bad;
}

absl::StatusOr<Literal> EvalPotrf(EvalContext& context, const StandIn& stand_in, std::span<Literal> operands,
                                  StandInFn run) {
  const Literal a = operands[0];
  ASSAY_ASSIGN_OR_RETURN(Literal factor, EvalStandIn(context, stand_in, operands, run));
  ASSAY_ASSIGN_OR_RETURN(Literal info, context.NewResultElement(1, /*zero=*/true));
  const int64_t n = a.shape().sizes().back();
  const int64_t matrices = n == 0 ? 0 : a.shape().num_elements() / (n * n);
  if (info.shape().num_elements() != (n == 0 ? info.shape().num_elements() : matrices)) {
    return EvalError(
        {}, fmt::format("CustomCall: info is {} for {} matrices", info.shape().ToString(), matrices));
  }
  for (int64_t m = 0; m < matrices; ++m) {
    if (!FirstComponentIsNan(factor, m * n * n)) continue;
    ASSAY_ASSIGN_OR_RETURN(const int64_t order, FailingOrder(context, stand_in, a, m, run));
    ScalarValue value;
    value.i = order;
    StoreElement(ElementType::kS32, value, info.MutableBytes().data() + 4 * m);
  }
  KeepOtherTriangle(a, stand_in.instruction.attributes.Bool(Attr::kLower), factor);
  return Literal::Tuple(context.shared_result_shape(), {std::move(factor), std::move(info)});
}

absl::StatusOr<Literal> EvalByReference(EvalContext& context, std::span<Literal> operands) {
  if (const CustomOp* const op = CustomOpOf(context.module(), context.instruction())) {
    ASSAY_ASSIGN_OR_RETURN(
        const std::shared_ptr<const CustomKernel> kernel,
        op->Prepare(context.module(), context.computation(), context.instruction(), KernelRole::kReference));
    return kernel->Run(context, operands);
  }
  return RunStandIn(context, operands, [](EvalContext& inner, std::span<Literal> values) {
    return DefinitionFor(inner.instruction().opcode).eval(inner, values);
  });
}

// Nobody knows what it does with its operands.
Work WorkOfCustomCall(const InstructionView& view) {
  Work work = work::Move(view);
  work.known = view.num_operands() == 0;
  return work;
}

bool HasEffect(const Instruction& call) {
  return call.attributes.Bool(Attr::kCustomCallHasSideEffect) ||
         IsTestCall(call.attributes.Text(Attr::kCustomCallTarget)) || ExitsRegion(call);
}

absl::Status OpenSizesOfCustomCall(OpenSizes& sizes) {
  const Instruction& call = sizes.context().instruction();
  const std::string_view target = call.attributes.Text(Attr::kCustomCallTarget);
  if (CustomOpOf(sizes.context().module(), call) != nullptr) return sizes.NeedsAll();
  if (IsIdentity(target)) return open::Passed(sizes);
  return IsFunctionCall(target) ? open::Elementwise(sizes) : sizes.NeedsAll();
}

// That of the op that it stands for, where that has one; what is handed on is no farther away.
void BoundOfCustomCall(BoundContext& c) {
  const Instruction& call = c.view().instruction;
  const std::string_view target = call.attributes.Text(Attr::kCustomCallTarget);
  if (const CustomOp* const op = CustomOpOf(c.module(), call)) return op->Bound(c);
  if (target == "TopK") return bound::TopK(c);
  const bool is_one_array = c.view().result().IsArray() && c.view().num_operands() == 1 &&
                            Shape::Compatible(c.view().operand(0), c.view().result());
  if (is_one_array && IsIdentity(target)) return c.SetRadius(c.Radius(0));
  if (IsLapackCall(call)) {
    // It was verified.
    const absl::StatusOr<std::optional<StandIn>> stand_in = StandInOf(call, c.view().result());
    if (!stand_in.ok() || !stand_in->has_value()) return bound::NoRule(c);
    const AttributeMap& attributes = (*stand_in)->instruction.attributes;
    if ((*stand_in)->instruction.opcode == Opcode::kCholesky)
      return bound::Potrf(c, attributes.Bool(Attr::kLower));
    return bound::TriangularSolveOf(c, attributes);
  }
  if (!IsAllocation(target)) bound::NoRule(c);
}

}  // namespace

bool IsLapackCall(const Instruction& call) {
  const std::string_view target = call.attributes.Text(Attr::kCustomCallTarget);
  return IsLapack(target, "potrf") || IsLapack(target, "trsm");
}

bool IsTargetOfAssay(std::string_view target) {
  constexpr std::string_view kOthers[] = {"TopK", "GetRngSeed", "CreateBuffer", kGlobalToLocalShape,
                                          kLocalToGlobalShape};
  return (!target.empty() && target[0] == '$') || IsLapack(target, "potrf") || IsLapack(target, "trsm") ||
         IsIdentity(target) || IsAllocation(target) || IsTestCall(target) || IsFunctionCall(target) ||
         IsSizeCall(target) || std::find(std::begin(kOthers), std::end(kOthers), target) != std::end(kOthers);
}

absl::StatusOr<Literal> RunStandIn(EvalContext& context, std::span<Literal> operands, StandInFn run) {
  const Instruction& call = context.instruction();
  const std::string_view target = call.attributes.Text(Attr::kCustomCallTarget);
  if (context.device().grid().size() > 1 && IsRegionBorder(context.computation(), call))
    return EvalBorder(context, operands);
  if (IsManualBorder(call)) {  // of regions of one device
    return context.result_shape().IsTuple()
               ? Literal::Tuple(context.shared_result_shape(), {operands.begin(), operands.end()})
               : std::move(operands[0]);
  }
  if (IsIdentity(target)) return std::move(operands[0]);
  if (IsAllocation(target)) return context.NewLiteral(context.shared_result_shape(), /*zero=*/true);
  if (IsTestCall(target)) return EvalTestCall(context, operands);
  if (IsFunctionCall(target)) return EvalFunctionCall(context, operands);
  if (IsSizeCall(target)) return EvalSizeCall(context, operands);
  ASSAY_ASSIGN_OR_RETURN(const std::optional<StandIn> stand_in, StandInOf(call, context.result_shape()));
  if (stand_in && stand_in->instruction.opcode == Opcode::kCholesky)
    return EvalPotrf(context, *stand_in, operands, run);
  if (stand_in) return EvalStandIn(context, *stand_in, operands, run);
  if (target == "GetRngSeed") {
    return Literal::ScalarInt(ElementType::kU64, static_cast<int64_t>(context.options().run_seed));
  }
  if (target == "CreateBuffer") {
    return context.NewLiteral(std::make_shared<const Shape>(context.result_shape().element(0)),
                              /*zero=*/true);
  }
  return NoSuchTarget(call);
}

constinit const OpDef ops::CustomCall = {
    .operands = AtLeast(0),
    .types = kArrayTypes,
    .attributes = kCustomCallAttrs,
    .infer = InferCustomCall,
    .eval = EvalByReference,
    .work = WorkOfCustomCall,
    .bound = BoundOfCustomCall,
    .audit = audit::Nothing,
    .open_sizes = OpenSizesOfCustomCall,
    .effect_of = HasEffect,
    .calls_may_have_effects = true,
};

}  // namespace assay
