// scaled-dot (docs/spec/operations-linalg.md, ScaledDot): a dot of operands with block scales.

#include "evaluator/audits/rules.h"
#include "evaluator/bounds/rules.h"
#include "evaluator/ops/contraction/contraction.h"
#include "evaluator/ops/contraction/dot_index.h"
#include "fmt/format.h"
#include "literal/element_io.h"

namespace assay {
namespace {

// out = sum over k of (l[I] * ls[I div q]) * (r[J] * rs[J div q'])
//   I, J as in dot; q_d = operand size_d / scale size_d; a scalar scale counts as 1.
// The scaled operands are exact, so that a dot of them is the result: doubles hold the products (or 64-bit
// integers modulo 2^64 where the result is integral), and types whose products they can't hold are refused.
//
// Decision: scaled-dot-wide-types

absl::Status InvalidScaledDot(const InferContext& context, int c, std::string_view message) {
  return InvalidProgram(context.instruction.position, fmt::format("ScaledDot-C{}: {}", c, message));
}

// ScaledDot-C2, ScaledDot-C3 for one operand and its scale.
absl::Status CheckScale(const InferContext& context, int64_t operand, size_t contracting) {
  const Shape& x = context.operand(operand);
  const Shape& scale = context.operand(operand + 2);
  if (!scale.IsArray()) {
    return InvalidScaledDot(context, 2,
                            fmt::format("operand {} is {}, wanted an array", operand + 2, scale.ToString()));
  }
  if (scale.IsScalar()) return absl::OkStatus();
  if (scale.rank() != x.rank()) {
    return InvalidScaledDot(
        context, 2,
        fmt::format("the scale of operand {} has rank {}, wanted 0 or {}", operand, scale.rank(), x.rank()));
  }
  for (int64_t d = 0; d < x.rank(); ++d) {
    if (scale.size(d) > 0 ? x.size(d) % scale.size(d) == 0 : x.size(d) == 0) continue;
    return InvalidScaledDot(
        context, 2,
        fmt::format("dimension {} of operand {} has size {}, not a multiple of the scale's {}", d, operand,
                    x.size(d), scale.size(d)));
  }
  if (contracting != 1) {
    return InvalidScaledDot(context, 3,
                            fmt::format("{} contracting dimensions, wanted 1 with a scale", contracting));
  }
  return absl::OkStatus();
}

int Precision(ElementType type) {
  const ElementTypeInfo& info = Info(type);
  return info.format != nullptr ? info.format->mantissa_bits + 1 : info.bits;
}

absl::Status CheckScaleTypes(const InferContext& context, int64_t operand, ElementType result) {
  const Shape& scale = context.operand(operand + 2);
  if (scale.IsScalar()) return absl::OkStatus();
  const ElementType x = context.operand(operand).element_type(), s = scale.element_type();
  const bool exact = IsFloat(result) || IsComplex(result);
  if (!exact && (IsFloat(s) || IsComplex(s))) {
    return InvalidProgram(
        context.instruction.position,
        fmt::format("DOT-1: products with a scale of type {} can't be summed in a result of type {}", Name(s),
                    Name(result)));
  }
  if (!exact || (!IsComplex(s) && Precision(x) + Precision(s) <= 53)) return absl::OkStatus();
  return NotSupported(
      context.instruction.position,
      fmt::format("scaled-dot: operand {} of type {} with a scale of type {}", operand, Name(x), Name(s)));
}

absl::StatusOr<Shape> InferScaledDot(const InferContext& context) {
  ASSAY_ASSIGN_OR_RETURN(const DotDims dims, CheckDotDims(context, "DotGeneral"));
  ASSAY_RETURN_IF_ERROR(CheckPrecision(context, 2, 4));
  ASSAY_RETURN_IF_ERROR(CheckScale(context, 0, dims.lhs.contracting.size()));
  ASSAY_RETURN_IF_ERROR(CheckScale(context, 1, dims.lhs.contracting.size()));
  if (context.operand(2).IsScalar() && context.operand(3).IsScalar()) {
    return InvalidScaledDot(context, 4, "both scales are scalars, wanted at least one that scales");
  }
  ASSAY_ASSIGN_OR_RETURN(
      const ElementType type,
      ContractionResultType(context, context.operand(0).element_type(), context.operand(1).element_type()));
  ASSAY_RETURN_IF_ERROR(CheckScaleTypes(context, 0, type));
  ASSAY_RETURN_IF_ERROR(CheckScaleTypes(context, 1, type));
  return DotShape(context, dims, type);
}

// A factor of a product: doubles (re, im), or an integer modulo 2^64.
struct ScaledFactor {
  ScaledFactor(ElementType type, const std::byte* src) {
    const ScalarValue value = LoadElement(type, src);
    switch (value.kind) {
      case ComputeKind::kBool:
        integer = value.b;
        real = static_cast<double>(value.b);
        break;
      case ComputeKind::kInt64:
        integer = static_cast<uint64_t>(value.i);
        real = static_cast<double>(value.i);
        break;
      case ComputeKind::kUint64:
        integer = value.u;
        real = static_cast<double>(value.u);
        break;
      case ComputeKind::kReal:
        real = value.r;
        break;
      case ComputeKind::kComplex:
        real = value.c.real();
        imaginary = value.c.imag();
        break;
    }
  }
  double real = 0, imaginary = 0;
  uint64_t integer = 0;
};

// An operand with its scale: l[I] * ls[I div q], as an element of type().
class ScaledOperand {
 public:
  ScaledOperand(const Literal& operand, const Literal& scale, bool exact)
      : x_(operand),
        scale_(scale),
        x_type_(operand.shape().element_type()),
        scale_type_(scale.shape().element_type()),
        is_scaled_(!scale.shape().IsScalar()) {
    type_ = !is_scaled_          ? x_type_
            : !exact             ? ElementType::kU64
            : IsComplex(x_type_) ? ElementType::kC128
                                 : ElementType::kF64;
    for (int64_t d = 0; is_scaled_ && d < operand.shape().rank(); ++d) {
      const int64_t blocks = scale.shape().size(d);
      block_sizes_.push_back(blocks == 0 ? 0 : operand.shape().size(d) / blocks);
    }
  }

  ElementType type() const { return type_; }

  // The element, which stays until the next call.
  const std::byte* At(Index index) {
    if (!is_scaled_) return x_.At(index);
    scale_index_.assign(index.begin(), index.end());
    for (size_t d = 0; d < index.size(); ++d) scale_index_[d] /= block_sizes_[d];
    const ScaledFactor x(x_type_, x_.At(index)), scale(scale_type_, scale_.At(scale_index_));
    if (type_ == ElementType::kU64) {
      const uint64_t product = x.integer * scale.integer;
      StoreStrip(type_, &product, 1, element_, 0);
    } else {
      const double product[2] = {x.real * scale.real, x.imaginary * scale.real};
      StoreStrip(type_, product, 1, element_, 0);
    }
    return element_;
  }

 private:
  const ArrayView x_, scale_;
  const ElementType x_type_, scale_type_;
  const bool is_scaled_;
  ElementType type_;
  DimVector block_sizes_;  // q
  DimVector scale_index_;
  alignas(16) std::byte element_[16];
};

absl::StatusOr<Literal> EvalScaledDot(EvalContext& context, std::span<Literal> operands) {
  DimVector lhs_sizes = operands[0].runtime_sizes(), rhs_sizes = operands[1].runtime_sizes();
  const DotDims dims =
      DotDimsOf(context.attributes(), operands[0].shape().rank(), operands[1].shape().rank());
  ASSAY_RETURN_IF_ERROR(JoinDotSizes(context, dims, operands, lhs_sizes, rhs_sizes));
  const ElementType type = context.result_shape().element_type();
  const bool exact = IsFloat(type) || IsComplex(type);
  ScaledOperand lhs(operands[0], operands[2], exact), rhs(operands[1], operands[3], exact);
  return SumProducts(context, dims, lhs, rhs, lhs_sizes, rhs_sizes, ProductSum(lhs.type(), rhs.type(), type));
}

constexpr AttrSpec kScaledDotAttributes[] = {
    Optional(Attr::kLhsBatchDims),       Optional(Attr::kRhsBatchDims),
    Optional(Attr::kLhsContractingDims), Optional(Attr::kRhsContractingDims),
    Optional(Attr::kOperandPrecision),   Optional(Attr::kAlgorithm),
};

}  // namespace

constinit const OpDef ops::ScaledDot = {
    .operands = Exactly(4),
    .types = kArrayTypes,
    .attributes = kScaledDotAttributes,
    .infer = InferScaledDot,
    .eval = EvalScaledDot,
    .work = WorkOfDot,
    .bound = bound::ScaledDot,
    .audit = audit::Computes,
};

}  // namespace assay
