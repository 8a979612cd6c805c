// The one place where an exact value that no double holds is rounded to a float format (docs/spec/shapes.md
// 2.1).
//
// Whoever computes exactly (MPFR, MPC, ExactSum) hands over the leading 64 bits and whether anything nonzero
// follows them; that is enough to round correctly to every format.
#ifndef ASSAY_EVALUATOR_SCALAR_ROUNDING_H_
#define ASSAY_EVALUATOR_SCALAR_ROUNDING_H_

#include <cstdint>

#include "shape/element_type.h"

namespace assay {

// A nonzero real number v with mantissa * 2^exponent <= |v| < (mantissa + 1) * 2^exponent.
struct Truncated {
  bool negative = false;
  uint64_t mantissa = 0;  // the top bit is set
  int64_t exponent = 0;   // of the mantissa's lowest bit
  bool sticky = false;    // |v| is not mantissa * 2^exponent itself
};

// RN_F(v). Results outside a double's range are handled: they overflow, or underflow with a sign.
double RoundTruncated(const Truncated& v, const FloatFormat& format);

// A nonzero number too small for every format: rounds as any other number below all thresholds.
double RoundTiny(bool negative, const FloatFormat& format);

inline bool IsDouble(const FloatFormat& format) { return format.mantissa_bits == 52; }

}  // namespace assay

#endif  // ASSAY_EVALUATOR_SCALAR_ROUNDING_H_
