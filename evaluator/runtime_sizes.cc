#include "evaluator/runtime_sizes.h"

#include <algorithm>

#include "base/error.h"
#include "fmt/format.h"

namespace assay {

namespace {

// Decision: elementwise-static-with-dynamic. A static dimension takes part with its whole size and does not
// contradict a smaller run-time size of another operand.
absl::Status JoinDimension(const EvalContext& context, std::span<const Literal> operands, int64_t d,
                           int64_t& size) {
  int64_t first = -1;
  for (size_t k = 0; k < operands.size(); ++k) {
    const bool repeated = operands[k].shape().rank() == 0;
    if (repeated || !operands[k].shape().is_dynamic(d)) continue;
    size = operands[k].dynamic_size(d);
    if (first >= 0 && operands[first].dynamic_size(d) != size) {
      return EvalError(
          context.instruction().position,
          fmt::format("DYN-4: {}: dimension {} has run-time size {} in operand {} and {} in operand {}",
                      Name(context.instruction().opcode), d, operands[first].dynamic_size(d), first, size,
                      k));
    }
    first = static_cast<int64_t>(k);
  }
  return absl::OkStatus();
}

}  // namespace

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

absl::StatusOr<DimVector> CommonRuntimeSizes(const EvalContext& context, std::span<const Literal> operands,
                                             int64_t apart) {
  DimVector sizes = operands.front().runtime_sizes();
  for (int64_t d = 0; d < std::ssize(sizes); ++d) {
    if (d != apart) ASSAY_RETURN_IF_ERROR(JoinDimension(context, operands, d, sizes[d]));
  }
  return sizes;
}

absl::StatusOr<DimVector> JoinRuntimeSizes(EvalContext& context, std::span<const Literal> operands) {
  const Shape& result = context.result_shape();
  DimVector sizes(result.sizes().begin(), result.sizes().end());
  for (int64_t d = 0; d < result.rank(); ++d)
    ASSAY_RETURN_IF_ERROR(JoinDimension(context, operands, d, sizes[d]));
  return sizes;
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

absl::Status CheckStaticSizes(const Shape& wanted, const Literal& value,
                              absl::FunctionRef<std::string()> what) {
  for (int64_t i = 0; i < value.tuple_size(); ++i)
    ASSAY_RETURN_IF_ERROR(CheckStaticSizes(wanted.element(i), value.element(i), what));
  if (value.IsFullSize()) return absl::OkStatus();
  const DimVector sizes = value.runtime_sizes();
  for (int64_t d = 0; d < wanted.rank(); ++d) {
    if (wanted.is_dynamic(d) || sizes[d] == wanted.size(d)) continue;
    return EvalError({}, fmt::format("dimension {} of {}, {}, is static and has size {}, but {} at run time",
                                     d, what(), wanted.ToString(), wanted.size(d), sizes[d]));
  }
  return absl::OkStatus();
}

bool IsDeclaredOtherwise(const Instruction& instruction) {
  return PrintedShape(instruction) != instruction.shape;
}

bool HasDynamicDimension(const Shape& shape) {
  if (shape.IsArray()) return shape.HasDynamic();
  return std::any_of(shape.elements().begin(), shape.elements().end(), HasDynamicDimension);
}

}  // namespace assay
