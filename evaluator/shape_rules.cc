#include "evaluator/shape_rules.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/checked.h"
#include "literal/element_io.h"

namespace assay {

absl::Status RequireArray(const InferContext& context, int64_t i, std::string_view label) {
  const Shape& shape = context.operand(i);
  if (!shape.IsArray()) {
    return Violates(label, "operand {} is {}, not an array", i, shape.ToString());
  }
  if (shape.HasUnbounded()) {
    return NotSupported({}, fmt::format("DYN-2: unbounded dynamism in operand {}: {}", i, shape.ToString()));
  }
  return absl::OkStatus();
}

absl::Status RequireInRange(std::string_view label, std::string_view name, std::span<const int64_t> list,
                            int64_t limit) {
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i] < 0 || list[i] >= limit) {
      return Violates(label, "{}[{}] is {}, wanted a number in [0, {})", name, i, list[i], limit);
    }
  }
  return absl::OkStatus();
}

absl::Status RequireDistinct(std::string_view label, std::string_view name, std::span<const int64_t> list) {
  for (size_t i = 0; i < list.size(); ++i) {
    if (Contains(list.first(i), list[i])) return Violates(label, "{} has {} twice", name, list[i]);
  }
  return absl::OkStatus();
}

absl::Status RequireAscending(std::string_view label, std::string_view name, std::span<const int64_t> list,
                              int64_t limit) {
  ASSAY_RETURN_IF_ERROR(RequireInRange(label, name, list, limit));
  for (size_t i = 1; i < list.size(); ++i) {
    if (list[i] <= list[i - 1]) {
      return Violates(label, "{} has {} after {}, wanted ascending numbers", name, list[i], list[i - 1]);
    }
  }
  return absl::OkStatus();
}

absl::Status RequireDisjoint(std::string_view label, std::string_view name, std::span<const int64_t> list,
                             std::string_view other_name, std::span<const int64_t> other) {
  for (int64_t value : list) {
    if (Contains(other, value)) {
      return Violates(label, "{} stands in {} and in {}", value, name, other_name);
    }
  }
  return absl::OkStatus();
}

bool Contains(std::span<const int64_t> list, int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

absl::StatusOr<int64_t> SingleDimension(const InferContext& context, std::string_view label) {
  const auto list = context.attributes().List(Attr::kDimensions);
  if (list.size() != 1) return Violates(label, "dimensions has {} entries, wanted 1", list.size());
  ASSAY_RETURN_IF_ERROR(RequireInRange(label, "dimensions", list, context.operand(0).rank()));
  return list[0];
}

DimVector Remaining(int64_t n, std::span<const int64_t> a, std::span<const int64_t> b) {
  DimVector result;
  for (int64_t i = 0; i < n; ++i) {
    if (!Contains(a, i) && !Contains(b, i)) result.push_back(i);
  }
  return result;
}

absl::StatusOr<Shape> MakeArray(ElementType type, std::span<const int64_t> sizes,
                                absl::FunctionRef<bool(int64_t)> dynamic) {
  ASSAY_ASSIGN_OR_RETURN(Shape shape, Shape::Array(type, sizes));
  for (int64_t d = 0; d < shape.rank(); ++d) shape.set_dynamic(d, dynamic(d));
  return shape;
}

namespace {

// The tail that `operand` has, for `result`; null where there is none or where it does not fit.
std::shared_ptr<const LayoutTail> TailFor(const Shape& operand, const Shape& result) {
  std::shared_ptr<const LayoutTail> tail = operand.layout().tail;
  if (tail == nullptr || operand.element_type() == result.element_type()) return tail;
  auto changed = std::make_shared<LayoutTail>(*tail);
  changed->element_size_in_bits = 0;
  changed->padding_value.clear();
  if (*changed == LayoutTail{}) return nullptr;
  return changed;
}

void SetLayoutOrDropTail(Layout layout, Shape& result) {
  result.set_layout(std::move(layout));
  if (result.layout().tail == nullptr || ValidateLayout(result).ok()) return;
  result.set_layout(Layout{result.layout().minor_to_major, nullptr});
}

}  // namespace

void TakeLayout(const Shape& operand, Shape& result) {
  SetLayoutOrDropTail({operand.layout().minor_to_major, TailFor(operand, result)}, result);
}

void TakePermutedLayout(const Shape& operand, std::span<const int64_t> permutation, Shape& result) {
  DimVector position(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i) position[permutation[i]] = static_cast<int64_t>(i);
  Layout layout{operand.layout().minor_to_major, operand.layout().tail};
  for (int64_t& d : layout.minor_to_major) d = position[d];
  if (layout.tail != nullptr && !layout.tail->padded_dimensions.empty()) {
    auto tail = std::make_shared<LayoutTail>(*layout.tail);
    for (size_t i = 0; i < permutation.size(); ++i) {
      tail->padded_dimensions[i] = layout.tail->padded_dimensions[permutation[i]];
    }
    layout.tail = std::move(tail);
  }
  SetLayoutOrDropTail(std::move(layout), result);
}

absl::Status SetRuntimeSizes(const Instruction& instruction, std::span<const int64_t> sizes,
                             Literal& literal) {
  const Shape& shape = ArrayOf(literal.shape());
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (shape.is_dynamic(d)) {
      literal.set_dynamic_size(d, sizes[d]);
    } else if (sizes[d] != shape.size(d)) {
      return EvalError(
          instruction.position,
          fmt::format("{}: dimension {} of the result is static and has size {}, but {} at run time",
                      Name(instruction.opcode), d, shape.size(d), sizes[d]));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Literal> NewSizedResult(EvalContext& context, std::span<const int64_t> runtime_sizes,
                                       bool zero) {
  const auto bounds = context.result_shape().sizes();
  if (!std::equal(bounds.begin(), bounds.end(), runtime_sizes.begin())) zero = true;
  ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult(zero));
  ASSAY_RETURN_IF_ERROR(SetRuntimeSizes(context.instruction(), runtime_sizes, result));
  return result;
}

absl::StatusOr<Literal> ShareStorage(EvalContext& context, const Literal& operand,
                                     std::span<const int64_t> runtime_sizes) {
  Literal result = operand.WithShape(context.shared_result_shape());
  ASSAY_RETURN_IF_ERROR(SetRuntimeSizes(context.instruction(), runtime_sizes, result));
  return result;
}

absl::StatusOr<Literal> Writable(EvalContext& context, Literal&& operand) {
  if (operand.IsUnique() || !operand.shape().IsArray()) return std::move(operand);
  ASSAY_ASSIGN_OR_RETURN(Literal copy, context.NewLiteral(operand.shared_shape()));
  const auto from = operand.bytes();
  if (!from.empty()) std::memcpy(copy.MutableBytes().data(), from.data(), from.size());
  for (int64_t d = 0; d < operand.shape().rank(); ++d) {
    if (operand.shape().is_dynamic(d)) copy.set_dynamic_size(d, operand.dynamic_size(d));
  }
  return copy;
}

const Shape& ArrayOf(const Shape& shape) { return shape.IsBuffer() ? shape.element(0) : shape; }

void LoadIndices(ElementType integral, const std::byte* src, int64_t stride_bytes, int64_t n,
                 int64_t* values) {
  LoadStrip(integral, src, stride_bytes, n, values);
  if (IsSignedIntegral(integral)) return;
  // A strip of unsigned values has the same width: what looks negative is too large.
  for (int64_t i = 0; i < n; ++i) {
    if (values[i] < 0) values[i] = std::numeric_limits<int64_t>::max();
  }
}

}  // namespace assay
