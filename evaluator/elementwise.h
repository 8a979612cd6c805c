// Elementwise ops as functions over strips.
//
// A strip is up to kStrip elements in their compute kind (literal/element_io.h). An elementwise op says, for
// its operand types and result type, which strip function it is. The reference applies it to one element
// after the other (map_elements.h), engines to strips, and ScalarFunction (scalar_function.h) chains strip
// functions into compiled small computations. The
// contract of a strip function: inputs are values of the operand types, outputs must be values of the result
// type (wrapped, rounded once, NaN canonical unless the op moves bits).
#ifndef ASSAY_EVALUATOR_ELEMENTWISE_H_
#define ASSAY_EVALUATOR_ELEMENTWISE_H_

#include <cstdint>

#include "evaluator/op.h"
#include "literal/element_io.h"
#include "literal/float_format.h"

namespace assay {

struct StripParams {
  ElementType operand = ElementType::kPred;  // of operand 0 (of operand 1 for select)
  ElementType result = ElementType::kPred;
  const FloatFormat* format = nullptr;  // of the result, or of its component; else null
  int64_t a = 0, b = 0;                 // small attributes: exponent and mantissa bits, direction, …
};

// in[k] and out point at n values of the compute kinds of operand k and result; out may be equal to an in
// of the same kind, else they do not overlap.
using StripFn = void (*)(const StripParams& params, int64_t n, const void* const* in, void* out);

struct StripKernel {
  StripFn fn = nullptr;  // null: these types are not supported by the strip path
  StripParams params;
};

// Shape rules shared by families. `label` is the constraint family ("UNARY", "BINARY").
// One array operand of an element type in `types`: UNARY-C1, C2.
absl::StatusOr<Shape> InferUnary(const InferContext& context, TypeSet types);
// Two arrays of one element type in `types` and equal dimensions: BINARY-C1..C4. Dynamic flags are joined.
absl::StatusOr<Shape> InferBinary(const InferContext& context, TypeSet types);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_ELEMENTWISE_H_
