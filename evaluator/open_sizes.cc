#include "evaluator/open_sizes.h"

#include <algorithm>
#include <string>
#include <utility>

#include "evaluator/registry.h"
#include "evaluator/runtime_sizes.h"
#include "fmt/format.h"

namespace assay {
namespace {

bool AnyOpen(std::span<const Literal> values) {
  return std::ranges::any_of(values, [](const Literal& value) { return value.HasOpen(); });
}

// An array with the dimensions of element `element` open.
Literal WithOpened(Literal value, std::span<const ResultDimension> opened, int64_t element) {
  for (const ResultDimension& o : opened) {
    if (o.element == element && value.shape().is_dynamic(o.dimension)) value.set_open(o.dimension);
  }
  return value;
}

}  // namespace

absl::Status OpenSizes::Settle() {
  const OpDef& op = DefinitionOf(context_.instruction().opcode);
  const bool any = AnyOpen(operands_);
  if (op.open_sizes == nullptr && !any) return absl::OkStatus();
  if (op.open_sizes != nullptr && !any && !HasDynamicDimension(context_.result_shape())) {
    return absl::OkStatus();
  }
  if (op.open_sizes != nullptr) {
    ASSAY_RETURN_IF_ERROR(op.open_sizes(*this));
  } else if (op.strip != nullptr) {
    ASSAY_RETURN_IF_ERROR(open::Elementwise(*this));
  } else {
    ASSAY_RETURN_IF_ERROR(NeedsAll());
  }
  // Elementwise ops read live elements alone, but a select by a scalar hands on an operand,
  // dead elements included.
  const bool reads_dead = op.strip == nullptr || shape(0).rank() != context_.result_shape().rank();
  for (int64_t k : settled_) {
    if (!reads_dead || operands_[k].IsFullSize()) continue;
    ASSAY_RETURN_IF_ERROR(operands_[k].Unshare());
    operands_[k].ClearDeadElements();
  }
  return absl::OkStatus();
}

void OpenSizes::MarkResult(Literal& result) const {
  if (passes_ || opened_.empty()) return;
  if (!result.shape().IsTuple()) {
    result = WithOpened(std::move(result), opened_, 0);
    return;
  }
  std::vector<Literal> elements;
  for (int64_t i = 0; i < result.tuple_size(); ++i)
    elements.push_back(WithOpened(result.element(i), opened_, i));
  result = Literal::Tuple(result.shared_shape(), std::move(elements));
}

bool OpenSizes::Meet(std::span<const OperandDimension> dimensions) {
  const OperandDimension* says = nullptr;  // a dynamic one before a static one, which has no say beside it
  for (const OperandDimension& at : dimensions) {
    if (IsOpen(at.operand, at.dimension)) continue;
    if (says == nullptr ||
        (shape(at.operand).is_dynamic(at.dimension) && !shape(says->operand).is_dynamic(says->dimension))) {
      says = &at;
    }
  }
  if (says == nullptr) return true;
  const int64_t size = operands_[says->operand].dynamic_size(says->dimension);
  for (const OperandDimension& at : dimensions) Take(at, size);
  return false;
}

void OpenSizes::Take(OperandDimension at, int64_t size) {
  if (!IsOpen(at.operand, at.dimension)) return;
  operands_[at.operand].set_dynamic_size(at.dimension, std::min(size, shape(at.operand).size(at.dimension)));
  if (std::ranges::find(settled_, at.operand) == settled_.end()) settled_.push_back(at.operand);
}

absl::Status OpenSizes::Needed(int64_t k, int64_t d, const Shape& array) const {
  const Instruction& operand = context_.operand_instruction(k);
  return EvalError(
      context_.instruction().position,
      fmt::format("DYN-7: {} needs the run-time size of dimension {} of operand {} ('%{}', {}), which "
                  "nothing says: the dimension is declared dynamic, but comes from no dynamic dimension",
                  Name(context_.instruction().opcode), d, k, operand.name, array.ToString()));
}

absl::Status OpenSizes::Needs(int64_t k, int64_t d) const {
  return IsOpen(k, d) ? Needed(k, d, shape(k)) : absl::OkStatus();
}

namespace {

// The array, and its dimension, that is open in the value; null where none is.
std::pair<const Literal*, int64_t> FirstOpen(const Literal& value) {
  if (value.shape().IsArray()) {
    for (int64_t d = 0; d < value.shape().rank(); ++d) {
      if (value.is_open(d)) return {&value, d};
    }
  }
  for (int64_t i = 0; i < value.tuple_size(); ++i) {
    if (const auto found = FirstOpen(value.element(i)); found.first != nullptr) return found;
  }
  return {nullptr, 0};
}

}  // namespace

absl::Status OpenSizes::Needs(int64_t k) const {
  const auto [array, d] = FirstOpen(operands_[k]);
  return array == nullptr ? absl::OkStatus() : Needed(k, d, array->shape());
}

absl::Status OpenSizes::NeedsAll() const {
  for (int64_t k = 0; k < num_operands(); ++k) ASSAY_RETURN_IF_ERROR(Needs(k));
  return absl::OkStatus();
}

absl::StatusOr<Literal> EvalSettled(EvalContext& context, const OpDef& op, std::span<Literal> operands) {
  OpenSizes sizes(context, operands);
  ASSAY_RETURN_IF_ERROR(sizes.Settle());
  ASSAY_ASSIGN_OR_RETURN(Literal result, op.eval(context, operands));
  sizes.MarkResult(result);
  return result;
}

Literal WithDeclaredShape(Literal value, std::shared_ptr<const Shape> shape) {
  if (shape->IsArray() && value.shape().IsArray()) {
    Literal declared = value.WithShape(std::move(shape));
    for (int64_t d = 0; d < declared.shape().rank(); ++d) {
      if (!declared.shape().is_dynamic(d)) continue;
      if (value.is_open(d)) {
        declared.set_open(d);
      } else {
        declared.set_dynamic_size(d, value.dynamic_size(d));
      }
    }
    return declared;
  }
  if (!shape->IsTuple() || value.tuple_size() == 0) return value;
  std::vector<Literal> elements = std::move(value).TakeElements();
  for (size_t i = 0; i < elements.size(); ++i) {
    elements[i] =
        WithDeclaredShape(std::move(elements[i]), std::shared_ptr<const Shape>(shape, &shape->elements()[i]));
  }
  return Literal::Tuple(std::move(shape), std::move(elements));
}

absl::Status CheckNotOpen(const Shape& wanted, const Literal& value, std::string_view what) {
  for (int64_t i = 0; i < value.tuple_size(); ++i)
    ASSAY_RETURN_IF_ERROR(CheckNotOpen(wanted.element(i), value.element(i), what));
  if (!wanted.IsArray() || !value.HasOpen()) return absl::OkStatus();
  for (int64_t d = 0; d < wanted.rank(); ++d) {
    if (!wanted.is_dynamic(d) || !value.is_open(d)) continue;
    return EvalError({}, fmt::format("DYN-7: nothing says the run-time size of dimension {} of {}, {}: the "
                                     "dimension is declared dynamic, but comes from no dynamic dimension",
                                     d, what, wanted.ToString()));
  }
  return absl::OkStatus();
}

namespace open {

absl::Status Elementwise(OpenSizes& sizes) {
  const Shape& result = sizes.context().result_shape();
  if (!result.IsArray()) return sizes.Pass(), absl::OkStatus();
  for (int64_t d = 0; d < result.rank(); ++d) {
    std::vector<OperandDimension> met;
    for (int64_t k = 0; k < sizes.num_operands(); ++k) {
      if (sizes.shape(k).IsArray() && sizes.shape(k).rank() == result.rank()) met.push_back({k, d});
    }
    if (sizes.Meet(met)) sizes.Open(d);
  }
  return absl::OkStatus();
}

absl::Status Passed(OpenSizes& sizes) {
  sizes.Pass();
  return absl::OkStatus();
}

absl::Status Declared(OpenSizes& sizes) {
  ASSAY_RETURN_IF_ERROR(sizes.NeedsAll());
  const Shape& result = sizes.context().result_shape();
  const int64_t elements = result.IsTuple() ? std::ssize(result.elements()) : 1;
  for (int64_t i = 0; i < elements; ++i) {
    const Shape& array = result.IsTuple() ? result.element(i) : result;
    for (int64_t d = 0; array.IsArray() && d < array.rank(); ++d) sizes.Open(d, i);
  }
  return absl::OkStatus();
}

}  // namespace open
}  // namespace assay
