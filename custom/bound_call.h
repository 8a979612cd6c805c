// A custom call held against the interface of its operation: which operand is which input, what the attributes are, what the
// results must be (custom-ops.md, CALL-1, CALL-2, ATTR-1..4).
#ifndef ASSAY_CUSTOM_BOUND_CALL_H_
#define ASSAY_CUSTOM_BOUND_CALL_H_

#include <cstdint>
#include <span>
#include <vector>

#include "custom/op_interface.h"
#include "hlo/module.h"
#include "shape/shape.h"

namespace assay::custom {

// Operands, or results, number first … first + count - 1.
struct ArgumentRange {
  int64_t first = 0, count = 1;
};

struct BoundCall {
  OpAttrValues attrs;                          // all of the interface: given, inferred and defaults
  std::vector<ArgumentRange> inputs, outputs;  // by the interface's order
  // The element type that each result must have; kTuple-like kinds (token, opaque) have kPred here and are checked by kind.
  std::vector<ElementType> output_types;
};

// Binds a call of `op`, whose operands have these shapes and whose result is declared as `result` (a tuple of as many as there are
// outputs, or a bare shape of a single one; InvalidProgram where it is neither). backend_config is read as the API version says:
// a dictionary, or a JSON object. Error: InvalidProgram, "op NAME: …".
absl::StatusOr<BoundCall> BindCall(const OpInterface& op, const Instruction& call,
                                   std::span<const Shape* const> operands, const Shape& result);

}  // namespace assay::custom

#endif  // ASSAY_CUSTOM_BOUND_CALL_H_
