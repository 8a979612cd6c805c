// Integer operations of any width from 1 to 64 bits (docs/spec/operations-elementwise.md, NUM-2).
//
// Signed values travel sign-extended in int64_t, unsigned ones zero-extended in uint64_t; `bits` is the width
// of the element type. Operands are values of that type, and so is every result (wrapped mod 2^bits). The
// plain wraps are WrapSigned and WrapUnsigned of literal/element_io.h.
#ifndef ASSAY_EVALUATOR_SCALAR_INTEGER_H_
#define ASSAY_EVALUATOR_SCALAR_INTEGER_H_

#include <cstdint>

namespace assay {

// Toward zero. x / 0 is -1 (signed) or all ones (unsigned); min / -1 is min.
int64_t SignedDivide(int64_t a, int64_t b, int bits);
uint64_t UnsignedDivide(uint64_t a, uint64_t b, int bits);

// a - trunc(a / b) * b. x rem 0 is x; min rem -1 is 0.
int64_t SignedRemainder(int64_t a, int64_t b, int bits);
uint64_t UnsignedRemainder(uint64_t a, uint64_t b, int bits);

// a^b mod 2^bits, 0^0 = 1. Negative exponents: 1 for base 1, 1 or -1 by parity for base -1, else 0.
int64_t SignedPower(int64_t a, int64_t b, int bits);
uint64_t UnsignedPower(uint64_t a, uint64_t b, int bits);

// floor(a * b / 2^bits) of the exact product.
int64_t SignedMultiplyHigh(int64_t a, int64_t b, int bits);
uint64_t UnsignedMultiplyHigh(uint64_t a, uint64_t b, int bits);

// The amount is read as an unsigned number of `bits` bits. Amounts of `bits` or more give 0, and the
// arithmetic shift copies of the top bit of the pattern (unsigned types have one too).
int64_t SignedShiftLeft(int64_t a, int64_t amount, int bits);
uint64_t UnsignedShiftLeft(uint64_t a, uint64_t amount, int bits);
int64_t SignedShiftRightLogical(int64_t a, int64_t amount, int bits);
uint64_t UnsignedShiftRightLogical(uint64_t a, uint64_t amount, int bits);
int64_t SignedShiftRightArithmetic(int64_t a, int64_t amount, int bits);
uint64_t UnsignedShiftRightArithmetic(uint64_t a, uint64_t amount, int bits);

// Counts in the pattern of `bits` bits. The count itself is wrapped to the type (s2 of -1 has count 2: -2).
int64_t SignedPopulationCount(int64_t a, int bits);
uint64_t UnsignedPopulationCount(uint64_t a, int bits);
int64_t SignedCountLeadingZeros(int64_t a, int bits);
uint64_t UnsignedCountLeadingZeros(uint64_t a, int bits);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_SCALAR_INTEGER_H_
