// A custom call held against the interface of its operation: which operand is which input, what the
// attributes are, what the results must be (docs/spec/custom-ops.md, CALL-1, CALL-2, ATTR-1..4).
#ifndef ASSAY_CUSTOM_RESOLVED_CALL_H_
#define ASSAY_CUSTOM_RESOLVED_CALL_H_

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

struct ResolvedCall {
  OpAttrValues attrs;                          // all of the interface: given, inferred and defaults
  std::vector<ArgumentRange> inputs, outputs;  // by the interface's order
  // The element type that each result has; tokens and opaques have kPred here.
  std::vector<ElementType> output_types;
};

// Binds a call of `op`, whose operands have these shapes and whose result is declared as `result`: a tuple of
// as many as there are results, or a bare shape of a single one, of the outputs' element types.
// backend_config is read as the API version says: a dictionary, or a JSON object.
//
// Operands say the attributes that inputs name; the call may give them, too, and then says the same. One
// sequence among the inputs takes the operands that the others leave. With several of different lengths, the
// call gives the lengths of all but one, or they are those of the defaults. Error: InvalidProgram, "op NAME:
// …" or, of one attribute, "attr 'a' of op NAME …".
// Null `result`: it is not declared yet, and the interface says how many there are.
absl::StatusOr<ResolvedCall> BindCall(const OpInterface& op, const Instruction& call,
                                      std::span<const Shape* const> operands, const Shape* result);

}  // namespace assay::custom

#endif  // ASSAY_CUSTOM_RESOLVED_CALL_H_
