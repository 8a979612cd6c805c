// Run-time sizes of operands and results, and working memory that counts.
#ifndef ASSAY_EVALUATOR_RUNTIME_SIZES_H_
#define ASSAY_EVALUATOR_RUNTIME_SIZES_H_

#include <cstdint>
#include <span>
#include <string>

#include "absl/functional/function_ref.h"
#include "evaluator/eval_context.h"

namespace assay {

// DYN-4: EvalError unless the literals, arrays of one rank, have the same run-time sizes.
absl::Status CheckSameRuntimeSizes(const EvalContext& context, std::span<const Literal> literals);
// The run-time sizes in which an op walks arrays of one rank and the same bounds (DYN-4): a dimension that is
// dynamic in one of them and static in another has the dynamic one's size in all. Two dynamic ones that
// differ are an EvalError, but in dimension `apart`, which is operand 0's.
absl::StatusOr<DimVector> CommonRuntimeSizes(const EvalContext& context, std::span<const Literal> operands,
                                             int64_t apart = -1);
// The run-time sizes of the result of an elementwise op (DYN-7): those in which the operands with the
// result's dimensions agree, else the DYN-4 error. Scalars that are repeated, and static dimensions, have no
// say.
absl::StatusOr<DimVector> JoinRuntimeSizes(EvalContext& context, std::span<const Literal> operands);
// Gives each dynamic dimension of `result` the run-time size sizes[d].
void SetRuntimeSizes(Literal& result, std::span<const int64_t> sizes);
// Counts working memory of `elements` times `bytes_each` against the memory limit for as long as the returned
// value lives.
absl::StatusOr<Literal> ReserveScratch(EvalContext& context, int64_t elements, int64_t bytes_each);
// EvalError where a dimension that is static in `wanted` (an array, or one in tuples) is smaller in the
// value: what reads a value of this shape goes by its static sizes. `what` names the value in the message.
absl::Status CheckStaticSizes(const Shape& wanted, const Literal& value,
                              absl::FunctionRef<std::string()> what);
// Whether the program declares dimensions of the result static that are dynamic by the shape rule.
// Decision: static-result-size
bool IsDeclaredOtherwise(const Instruction& instruction);
// True if some dimension of the shape (or of an element of a tuple) is dynamic: dead elements must be zero.
bool HasDynamicDimension(const Shape& shape);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_RUNTIME_SIZES_H_
