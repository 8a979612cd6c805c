// Arithmetic on elements as they are stored, without loading them into compute kinds: f32, f64 and 32-bit
// integers, where the machine's own operation is the exact result rounded once. It has the op table's bits
// and a third of its time for a sum of f32.
#ifndef ASSAY_ENGINES_NATIVE_ELEMENTWISE_STORED_ARITHMETIC_H_
#define ASSAY_ENGINES_NATIVE_ELEMENTWISE_STORED_ARITHMETIC_H_

#include "engines/elementwise_fn.h"
#include "hlo/opcode.h"
#include "shape/element_type.h"

namespace assay::native {

// Null where there is none. All operands and the result have the element type `type`.
ElementwiseFn StoredArithmeticFor(Opcode opcode, ElementType type);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_ELEMENTWISE_STORED_ARITHMETIC_H_
