// What a bitcast does to bytes.
#ifndef ASSAY_EVALUATOR_OPS_INDEXING_BITCAST_H_
#define ASSAY_EVALUATOR_OPS_INDEXING_BITCAST_H_

#include "shape/shape.h"

namespace assay {

// Whether each pattern of bits that an element of `from` holds is one of `to`'s type; where it isn't,
// bits are cut off.
bool BitcastTakesAnyBits(const Shape& from, const Shape& to);

// Whether the bytes of a bitcast's result are those of its operand as they lie, run-time sizes left aside:
// both shapes, arrays, lie row-major without gaps in equally many bytes, and any byte is an element of `to`.
bool BitcastKeepsBytes(const Shape& from, const Shape& to);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_OPS_INDEXING_BITCAST_H_
