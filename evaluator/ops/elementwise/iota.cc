// iota (docs/spec/operations-shape.md).
//
// out[I] = I[iota_dimension] as the element type: integers wrap, floats are rounded once, complex (x, 0)
#include "evaluator/audits/rules.h"
#include "evaluator/bounds/rules.h"
#include "evaluator/elements.h"
#include "evaluator/meter.h"
#include "evaluator/open_sizes.h"
#include "evaluator/shape_rules.h"
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

void StoreCount(ElementType type, int64_t count, std::byte* dst) {
  if (IsFloat(type) || IsComplex(type)) {
    const double parts[2] = {RoundToFormat(static_cast<double>(count), *Info(type).format), 0};
    StoreStrip(type, parts, 1, dst, 0);
  } else {
    StoreStrip(type, &count, 1, dst, 0);  // the low bits are what is stored
  }
}

absl::StatusOr<Literal> EvalIota(EvalContext& context, std::span<Literal>) {
  const Shape& shape = context.result_shape();
  const int64_t d = context.attributes().Int(Attr::kIotaDimension);
  ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult());
  const MutableArrayView out(result);
  Meter meter(context);
  for (IndexWalk i(shape.sizes()); !i.done(); i.Next()) {
    StoreCount(shape.element_type(), i[d], out.At(i.index()));
    ASSAY_RETURN_IF_ERROR(meter.Add(1));
  }
  ASSAY_RETURN_IF_ERROR(meter.Flush());
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
    .work = work::Move,
    .bound = bound::Exact,
    .audit = audit::Nothing,
    .open_sizes = open::Declared,
    .from_index = true,
};

}  // namespace assay
