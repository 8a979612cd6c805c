#include "evaluator/runtime_sizes.h"

#include <algorithm>

#include "fmt/format.h"
#include "shape/error.h"

namespace assay {

absl::Status CheckSameRuntimeSizes(const EvalContext& context, std::span<const Literal> literals) {
  const Literal& first = literals.front();
  for (const Literal& literal : literals) {
    for (int64_t d = 0; d < first.shape().rank(); ++d) {
      if (literal.dynamic_size(d) == first.dynamic_size(d)) continue;
      return EvalError(
          context.instruction().position,
          fmt::format("DYN-4: {}: run-time sizes of dimension {} are {} and {}",
                      Name(context.instruction().opcode), d, first.dynamic_size(d), literal.dynamic_size(d)));
    }
  }
  return absl::OkStatus();
}

void SetRuntimeSizes(Literal& result, std::span<const int64_t> sizes) {
  for (int64_t d = 0; d < result.shape().rank(); ++d) {
    if (result.shape().is_dynamic(d)) result.set_dynamic_size(d, sizes[d]);
  }
}

absl::StatusOr<Literal> ReserveScratch(EvalContext& context, int64_t elements, int64_t bytes_each) {
  // Memory that nobody touches: the system gives it no pages.
  const int64_t sizes[] = {elements, bytes_each};
  ASSAY_ASSIGN_OR_RETURN(Shape shape, Shape::Array(ElementType::kU8, sizes));
  return context.NewLiteral(std::make_shared<const Shape>(std::move(shape)));
}

bool HasDynamicDimension(const Shape& shape) {
  if (shape.IsArray()) return shape.HasDynamic();
  return std::any_of(shape.elements().begin(), shape.elements().end(), HasDynamicDimension);
}

}  // namespace assay
