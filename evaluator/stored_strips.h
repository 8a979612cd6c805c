// Elementwise functions that work on elements as they are stored, without loading them into compute kinds:
// f32 and 32-bit integer arithmetic, where the machine's own operation is the exact result rounded once.
// They change no bit and are here for speed alone (an f32 sum takes a third of the time).
#ifndef ASSAY_EVALUATOR_STORED_STRIPS_H_
#define ASSAY_EVALUATOR_STORED_STRIPS_H_

#include <cstddef>
#include <cstdint>

#include "hlo/opcode.h"
#include "shape/element_type.h"

namespace assay {

// out[i] = op(in[0][i], in[1][i]) for n elements; out may be an input.
using StoredFn = void (*)(int64_t n, const std::byte* const* in, std::byte* out);

// An op's, by element type (x32: s32 and u32); null where there is none.
struct StoredStrips {
  StoredFn f32, f64, x32;
};
extern const StoredStrips kStoredAdd, kStoredSubtract, kStoredMultiply, kStoredDivide;

// Null where there is none. All operands and the result have the element type `type`.
StoredFn StoredStripFor(Opcode opcode, ElementType type);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_STORED_STRIPS_H_
