// scaled-dot (spec/operations-linalg.md, ScaledDot): a dot of operands with block scales.

#include <algorithm>
#include <complex>

#include "evaluator/eval_context.h"
#include "evaluator/ops/dot_dims.h"
#include "fmt/format.h"
#include "literal/element_io.h"
#include "shape/index.h"

namespace assay {
namespace {

// out = sum over k of (l[I] * ls[I div q]) * (r[J] * rs[J div q'])
//   I, J as in dot; q_d = operand size_d / scale size_d; a scalar scale counts as 1.
// The scaled operands are exact, so that a dot of them is the result: doubles hold the products (or 64-bit
// integers modulo 2^64 where the result is integral), and types whose products they can't hold are refused.
//
// Decision: scaled-dot-wide-types

absl::Status Invalid(const InferContext& context, int c, std::string_view message) {
  return InvalidProgram(context.instruction.position, fmt::format("ScaledDot-C{}: {}", c, message));
}

// C2 and C3 for one operand and its scale.
absl::Status CheckScale(const InferContext& context, int64_t operand, size_t contracting) {
  const Shape& x = context.operand(operand);
  const Shape& scale = context.operand(operand + 2);
  if (!scale.IsArray()) {
    return Invalid(context, 2,
                   fmt::format("operand {} is {}, wanted an array", operand + 2, scale.ToString()));
  }
  if (scale.IsScalar()) return absl::OkStatus();
  if (scale.rank() != x.rank()) {
    return Invalid(
        context, 2,
        fmt::format("the scale of operand {} has rank {}, wanted 0 or {}", operand, scale.rank(), x.rank()));
  }
  for (int64_t d = 0; d < x.rank(); ++d) {
    if (scale.size(d) > 0 ? x.size(d) % scale.size(d) == 0 : x.size(d) == 0) continue;
    return Invalid(context, 2,
                   fmt::format("dimension {} of operand {} has size {}, not a multiple of the scale's {}", d,
                               operand, x.size(d), scale.size(d)));
  }
  if (contracting != 1) {
    return Invalid(context, 3, fmt::format("{} contracting dimensions, wanted 1 with a scale", contracting));
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
        fmt::format("DOT-T: products with a scale of type {} can't be summed in a result of type {}", Name(s),
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
    return Invalid(context, 4, "both scales are scalars, wanted at least one that scales");
  }
  ASSAY_ASSIGN_OR_RETURN(
      const ElementType type,
      ContractionResultType(context, context.operand(0).element_type(), context.operand(1).element_type()));
  ASSAY_RETURN_IF_ERROR(CheckScaleTypes(context, 0, type));
  ASSAY_RETURN_IF_ERROR(CheckScaleTypes(context, 1, type));
  return DotShape(context, dims, type);
}

// Loops over an operand cut into the blocks of its scale: arrays 0 operand, 1 scale.
LoopDims BlockLoops(const Shape& x, const Shape& scale) {
  const DimVector strides = RowMajorStrides(x.sizes()), scale_strides = RowMajorStrides(scale.sizes());
  LoopDims loops;
  for (int64_t d = 0; d < x.rank(); ++d) {
    const int64_t q = scale.size(d) == 0 ? 0 : x.size(d) / scale.size(d);
    loops.push_back({scale.size(d), {q * strides[d], scale_strides[d]}});
    loops.push_back({q, {strides[d], 0}});
  }
  return MergeLoops(loops);
}

// An element of any type as a product's factor: doubles (re, im), or an integer modulo 2^64.
template <typename Store>
void LoadFactors(ElementType type, const std::byte* src, int64_t stride_bytes, int64_t n, Store store) {
  alignas(64) std::byte strip[kStripBytes];
  LoadStrip(type, src, stride_bytes, n, strip);
  for (int64_t i = 0; i < n; ++i) {
    switch (KindOf(type)) {
      case ComputeKind::kBool:
        store(i, static_cast<double>(strip[i]), 0.0, static_cast<uint64_t>(strip[i]));
        break;
      case ComputeKind::kInt64: {
        const int64_t value = reinterpret_cast<const int64_t*>(strip)[i];
        store(i, static_cast<double>(value), 0.0, static_cast<uint64_t>(value));
        break;
      }
      case ComputeKind::kUint64: {
        const uint64_t value = reinterpret_cast<const uint64_t*>(strip)[i];
        store(i, static_cast<double>(value), 0.0, value);
        break;
      }
      case ComputeKind::kReal:
        store(i, reinterpret_cast<const double*>(strip)[i], 0.0, 0);
        break;
      case ComputeKind::kComplex:
        store(i, reinterpret_cast<const double*>(strip)[2 * i],
              reinterpret_cast<const double*>(strip)[2 * i + 1], 0);
        break;
    }
  }
}

// dst[i] = x[i] * scale[i], for a strip of at most kStrip elements.
void MultiplyStrip(ElementType x_type, const std::byte* x, int64_t x_stride, ElementType scale_type,
                   const std::byte* scale, int64_t scale_stride, int64_t n, ElementType dst_type,
                   std::byte* dst, int64_t dst_stride) {
  double re[kStrip], im[kStrip];
  uint64_t bits[kStrip];
  LoadFactors(x_type, x, x_stride, n, [&](int64_t i, double r, double m, uint64_t u) {
    re[i] = r;
    im[i] = m;
    bits[i] = u;
  });
  LoadFactors(scale_type, scale, scale_stride, n, [&](int64_t i, double r, double, uint64_t u) {
    re[i] *= r;
    im[i] *= r;
    bits[i] *= u;
  });
  if (dst_type == ElementType::kU64) {
    StoreStrip(dst_type, bits, n, dst, dst_stride);
  } else if (dst_type == ElementType::kF64) {
    StoreStrip(dst_type, re, n, dst, dst_stride);
  } else {
    std::complex<double> values[kStrip];
    for (int64_t i = 0; i < n; ++i) values[i] = {re[i], im[i]};
    StoreStrip(dst_type, values, n, dst, dst_stride);
  }
}

// The operand times its scale; the operand itself where the scale is a scalar.
absl::StatusOr<Literal> Scaled(EvalContext& context, const Literal& operand, const Literal& scale,
                               bool exact) {
  const Shape& x = operand.shape();
  if (scale.shape().IsScalar()) return operand;
  const ElementType type = !exact                        ? ElementType::kU64
                           : IsComplex(x.element_type()) ? ElementType::kC128
                                                         : ElementType::kF64;
  ASSAY_ASSIGN_OR_RETURN(Shape shape, Shape::Array(type, x.sizes()));
  for (int64_t d = 0; d < x.rank(); ++d) shape.set_dynamic(d, x.is_dynamic(d));
  ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewLiteral(std::make_shared<const Shape>(std::move(shape))));
  std::byte* const dst = result.MutableBytes().data();
  const ElementType x_type = x.element_type(), scale_type = scale.shape().element_type();
  const int64_t x_bytes = Bytes(x_type), scale_bytes = Bytes(scale_type), bytes = Bytes(type);
  LoopDims loops = BlockLoops(x, scale.shape());
  const LoopDim run = TakeInnermostLoop(loops);
  for (Loop loop(loops); !loop.done(); loop.Next()) {
    for (int64_t done = 0; done < run.size; done += kStrip) {
      const int64_t at = loop.offset(0) + done * run.strides[0];
      const int64_t scale_at = loop.offset(1) + done * run.strides[1];
      MultiplyStrip(x_type, operand.data() + at * x_bytes, run.strides[0] * x_bytes, scale_type,
                    scale.data() + scale_at * scale_bytes, run.strides[1] * scale_bytes,
                    std::min(kStrip, run.size - done), type, dst + at * bytes, run.strides[0] * bytes);
    }
  }
  ASSAY_RETURN_IF_ERROR(context.Charge(x.num_elements()));
  SetRuntimeSizes(result, operand.runtime_sizes());
  return result;
}

absl::StatusOr<Literal> EvalScaledDot(EvalContext& context, std::span<Literal> operands) {
  const ElementType type = context.result_shape().element_type();
  const bool exact = IsFloat(type) || IsComplex(type);
  ASSAY_ASSIGN_OR_RETURN(const Literal scaled_lhs, Scaled(context, operands[0], operands[2], exact));
  ASSAY_ASSIGN_OR_RETURN(const Literal scaled_rhs, Scaled(context, operands[1], operands[3], exact));
  const DotArray lhs = ArrayOf(scaled_lhs), rhs = ArrayOf(scaled_rhs);
  const DotDims dims =
      DotDimsOf(context.attributes(), operands[0].shape().rank(), operands[1].shape().rank());
  ASSAY_RETURN_IF_ERROR(CheckDotRuntimeSizes(context, dims, lhs, rhs));
  ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult(context.result_shape().HasDynamic()));
  Meter meter(context);
  const DotBox box = WholeDot(dims, lhs, rhs, StridesOf(result));
  ASSAY_RETURN_IF_ERROR(
      RunDot(Contraction(lhs.type, rhs.type, type), lhs, rhs, box, result.MutableBytes().data(), meter));
  ASSAY_RETURN_IF_ERROR(meter.Flush());
  SetRuntimeSizes(result, DotSizes(dims, lhs, rhs));
  return result;
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
};

}  // namespace assay
