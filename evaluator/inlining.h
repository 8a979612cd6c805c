// A computation written out with the bodies of what it calls in place of the calls: the parameters of a body
// are the call's operands, and the call's value is that of the body's root. This is the one walk for
// everybody who inlines: the planner (plan/inline_calls.h), functions of scalars (scalar_function.h) and
// generated code (engines/codegen).
#ifndef ASSAY_EVALUATOR_INLINING_H_
#define ASSAY_EVALUATOR_INLINING_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "base/error.h"
#include "hlo/module.h"

namespace assay {

// What an instruction became: a number that has a meaning to the user of the walk alone, or a tuple of such.
// A tuple's elements are shared, since a tuple of tuples may be wide.
struct InlinedValue {
  int32_t id = -1;
  std::shared_ptr<const std::vector<InlinedValue>> elements = nullptr;  // null: not taken apart
};

// The tuple of the operands of `tuple`, and the element that `get_tuple_element` takes of an operand with
// elements. `values`: of the instructions of the computation that they stand in.
InlinedValue TupleOf(const Instruction& tuple, std::span<const InlinedValue> values);
const InlinedValue& ElementOf(const Instruction& get_tuple_element, std::span<const InlinedValue> values);

// Marks what must have run before the marked instructions: operands and control predecessors, and theirs.
void MarkOperands(const Computation& computation, std::vector<bool>& live);

// What differs between those who inline. An error of any of them ends the walk.
struct InliningRules {
  // Which instructions of a computation are written out.
  absl::FunctionRef<absl::StatusOr<std::vector<bool>>(ComputationId)> live;
  // Which computation takes the place of instruction `call` of `caller`; nothing: the instruction stays.
  // Calls of the walk's first computation have depth 0. Whoever limits depth and size does it here.
  absl::FunctionRef<absl::StatusOr<std::optional<ComputationId>>(ComputationId caller, int32_t call,
                                                                 int depth)>
      callee;
  // Writes out instruction `index`, whose operands have their `values`.
  absl::FunctionRef<absl::StatusOr<InlinedValue>(ComputationId, int32_t index,
                                                 std::span<const InlinedValue> values)>
      emit;
};

// The values of the computation's instructions; of those that are not live, none. A parameter's value is
// among `arguments`; where these are empty, parameters are emitted.
absl::StatusOr<std::vector<InlinedValue>> InlineInto(const Module& module, ComputationId id,
                                                     std::span<const InlinedValue> arguments,
                                                     const InliningRules& rules);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_INLINING_H_
