#include "engines/native/reduce/reducer_operands.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "literal/element_io.h"
#include "literal/float_format.h"

namespace assay::native {

absl::StatusOr<Literal> ConvertForFold(EvalContext& context, const Literal& literal, ElementType type) {
  const Shape& from = literal.shape();
  if (from.element_type() == type) return literal;
  Shape to = Shape::ArrayOrDie(type, from.sizes());
  for (int64_t d = 0; d < from.rank(); ++d) to.set_dynamic(d, from.is_dynamic(d));
  ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewLiteral(std::make_shared<const Shape>(std::move(to))));
  const std::byte* src = literal.data();
  std::byte* dst = result.MutableBytes().data();
  const int64_t src_bytes = Bytes(from.element_type()), dst_bytes = Bytes(type);
  const int64_t elements = from.num_elements();
  alignas(64) double strip[kStrip];
  for (int64_t done = 0; done < elements; done += kStrip) {
    const int64_t n = std::min(kStrip, elements - done);
    LoadStrip(from.element_type(), src + done * src_bytes, src_bytes, n, strip);
    RoundStripToFormat(strip, n, *Info(type).format);
    StoreStrip(type, strip, n, dst + done * dst_bytes, dst_bytes);
  }
  for (int64_t d = 0; d < from.rank(); ++d) {
    if (from.is_dynamic(d)) result.set_dynamic_size(d, literal.dynamic_size(d));
  }
  ASSAY_RETURN_IF_ERROR(context.Charge(elements));
  return result;
}

absl::StatusOr<std::vector<Literal>> ConvertForFold(EvalContext& context, std::span<const Literal> operands,
                                                    ComputationId reducer) {
  const Computation& computation = context.module().computation(reducer);
  const size_t n = operands.size() / 2;
  std::vector<Literal> converted;
  for (size_t k = 0; k < operands.size(); ++k) {
    const int32_t parameter = computation.parameters[(k + n) % operands.size()];
    ASSAY_ASSIGN_OR_RETURN(
        Literal value,
        ConvertForFold(context, operands[k], computation.instructions[parameter].shape->element_type()));
    converted.push_back(std::move(value));
  }
  return converted;
}

}  // namespace assay::native
