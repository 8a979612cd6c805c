// Checks and result building that the families of docs/spec/operations-shape.md share.
#ifndef ASSAY_EVALUATOR_SHAPE_RULES_H_
#define ASSAY_EVALUATOR_SHAPE_RULES_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "evaluator/eval_context.h"
#include "evaluator/op.h"
#include "fmt/format.h"

namespace assay {

// InvalidProgram("LABEL: message"); the caller of the shape rule adds the position.
template <typename... Args>
[[gnu::cold]] absl::Status Violates(std::string_view label, fmt::format_string<Args...> format,
                                    Args&&... args) {
  return InvalidProgram({}, fmt::format("{}: {}", label, fmt::format(format, std::forward<Args>(args)...)));
}

// Operand i is an array ("LABEL: ..."), and not unbounded (DYN-2: NotSupported).
absl::Status RequireArray(const InferContext& context, int64_t i, std::string_view label);
// Every entry of `list` is in [0, limit).
absl::Status RequireInRange(std::string_view label, std::string_view name, std::span<const int64_t> list,
                            int64_t limit);
// No entry occurs twice.
absl::Status RequireDistinct(std::string_view label, std::string_view name, std::span<const int64_t> list);
// Every entry of `list` is in [0, limit) and larger than the one before it.
absl::Status RequireAscending(std::string_view label, std::string_view name, std::span<const int64_t> list,
                              int64_t limit);
// No number stands in both lists.
absl::Status RequireDisjoint(std::string_view label, std::string_view name, std::span<const int64_t> list,
                             std::string_view other_name, std::span<const int64_t> other);
bool Contains(std::span<const int64_t> list, int64_t value);

// The one entry of `dimensions={d}`, in [0, rank) of operand 0.
absl::StatusOr<int64_t> SingleDimension(const InferContext& context, std::string_view label);
// The numbers of [0, n) that stand in neither list, ascending.
DimVector Remaining(int64_t n, std::span<const int64_t> a, std::span<const int64_t> b = {});

// An array shape whose dimension d is dynamic where dynamic(d) says so.
absl::StatusOr<Shape> MakeArray(ElementType type, std::span<const int64_t> sizes,
                                absl::FunctionRef<bool(int64_t)> dynamic);
// Where a result shape is left out, the result lies in memory as this operand of the same rank does. A
// different element type keeps its natural size: E(n) was the operand's.
// A tail that the result can't have is dropped.
void TakeLayout(const Shape& operand, Shape& result);
// The same for a result whose dimension i is dimension permutation[i] of the operand:
// the bytes stay where they are.
void TakePermutedLayout(const Shape& operand, std::span<const int64_t> permutation, Shape& result);

// --- evaluation ---

// The result array with the given run-time sizes (at most the bounds). Zeroed where `zero`, or where an
// element would be dead. Error: a static dimension can't have fewer elements than its size.
absl::StatusOr<Literal> NewSizedResult(EvalContext& context, std::span<const int64_t> runtime_sizes,
                                       bool zero = false);
// Gives an array literal of the result shape its run-time sizes.
absl::Status SetRuntimeSizes(const Instruction& instruction, std::span<const int64_t> sizes,
                             Literal& literal);
// The operand's storage as the result, without a copy; run-time sizes as given.
absl::StatusOr<Literal> ShareStorage(EvalContext& context, const Literal& operand,
                                     std::span<const int64_t> runtime_sizes);
// The literal itself where nobody else holds its storage, else a copy that is counted against the memory
// limit: what may be overwritten in place.
absl::StatusOr<Literal> Writable(EvalContext& context, Literal&& operand);

// The array shape of an array or buffer.
const Shape& ArrayOf(const Shape& shape);

// n integral elements at src, stride_bytes apart, as int64; a u64 above 2^63 - 1 gives 2^63 - 1.
void LoadIndices(ElementType integral, const std::byte* src, int64_t stride_bytes, int64_t n,
                 int64_t* values);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_SHAPE_RULES_H_
