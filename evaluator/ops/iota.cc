// iota (spec/operations-shape.md).
//
// out[I] = I[iota_dimension] as the element type: integers wrap, floats are rounded once, complex (x, 0)
#include <algorithm>
#include <complex>

#include "evaluator/ops/shape_rules.h"
#include "literal/element_io.h"
#include "literal/float_format.h"

namespace assay {
namespace {

absl::StatusOr<Shape> InferIota(const InferContext& context) {
  ASSAY_ASSIGN_OR_RETURN(Shape declared, context.Declared());
  if (!declared.IsArray() || declared.rank() < 1) {
    return Violates("Iota-C1", "the result is {}, wanted an array of rank 1 or more", declared.ToString());
  }
  if (declared.HasUnbounded()) return NotSupported({}, "DYN-2: unbounded dynamism in the result");
  const int64_t d = context.attributes().Int(Attr::kIotaDimension);
  ASSAY_RETURN_IF_ERROR(RequireInRange("Iota-C2", "iota_dimension", {&d, 1}, declared.rank()));
  if (declared.element_type() == ElementType::kPred) {
    return Violates("Iota-C3", "element type pred, wanted integral, floating or complex");
  }
  return declared;
}

// Elements first .. first + n - 1 of the counting vector; n <= kStrip.
void StoreCount(ElementType type, int64_t first, int64_t n, std::byte* dst) {
  alignas(64) std::byte strip[kStripBytes];
  const FloatFormat* format = Info(type).format;
  for (int64_t i = 0; i < n; ++i) {
    switch (KindOf(type)) {
      case ComputeKind::kReal:
        reinterpret_cast<double*>(strip)[i] = RoundToFormat(static_cast<double>(first + i), *format);
        break;
      case ComputeKind::kComplex:
        reinterpret_cast<std::complex<double>*>(strip)[i] = {
            RoundToFormat(static_cast<double>(first + i), *format), 0};
        break;
      default:
        reinterpret_cast<int64_t*>(strip)[i] = first + i;  // the low bits are what is stored
    }
  }
  StoreStrip(type, strip, n, dst, Bytes(type));
}

absl::StatusOr<Literal> EvalIota(EvalContext& context, std::span<Literal>) {
  const Shape& shape = context.result_shape();
  const ElementType type = shape.element_type();
  const int64_t d = context.attributes().Int(Attr::kIotaDimension);
  if (shape.num_elements() == 0) return context.NewResult();
  const int64_t n = shape.size(d);
  const Shape vector = Shape::ArrayOrDie(type, {&n, 1});
  ASSAY_ASSIGN_OR_RETURN(Literal count, context.NewLiteral(std::make_shared<const Shape>(vector)));
  std::byte* out = count.MutableBytes().data();
  for (int64_t first = 0; first < n; first += kStrip) {
    StoreCount(type, first, std::min(kStrip, n - first), out + first * Bytes(type));
  }
  ASSAY_RETURN_IF_ERROR(context.Charge(n));
  if (n == shape.num_elements()) return count.WithShape(context.shared_result_shape());
  ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult());
  AffineMap from{0, DimVector(shape.rank(), 0)};
  from.strides[d] = 1;
  ASSAY_RETURN_IF_ERROR(MoveInto(context, shape.sizes(), count, from, result));
  return result;
}

constexpr AttrSpec kIotaAttrs[] = {Required(Attr::kIotaDimension)};

}  // namespace

constinit const OpDef ops::Iota = {
    .operands = Exactly(0),
    .types = kIntegralTypes | kFloatTypes | kComplexTypes,
    .attributes = kIotaAttrs,
    .infer = InferIota,
    .eval = EvalIota,
};

}  // namespace assay
