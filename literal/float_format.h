// Decode and encode every float format, with ONE rounding (docs/spec/shapes.md 2.1).
//
// Every format is at most as wide as f64, so a value of any format is a double exactly and decoding never
// rounds. NaNs travel in doubles with their sign and payload (the payload in the top mantissa bits), so a
// decode followed by an encode gives the same bits back; RoundToFormat is what arithmetic uses and makes
// every NaN the format's canonical one.
#ifndef ASSAY_LITERAL_FLOAT_FORMAT_H_
#define ASSAY_LITERAL_FLOAT_FORMAT_H_

#include <cstdint>

#include "shape/element_type.h"

namespace assay {

// The value of a bit pattern (low `format.bits` bits). NaN payloads and signs are kept.
double DecodeFloat(uint64_t bits, const FloatFormat& format);

// The bit pattern of a double that is a value of the format (or a NaN as DecodeFloat gives them). A NaN
// whose payload the format can't hold becomes the canonical NaN with its sign where the format has one.
uint64_t EncodeFloat(double value, const FloatFormat& format);

// RN_F(value) as a double: one rounding of the exact value `value`, to nearest, ties to even, gradual
// underflow, overflow as the format says; NaN gives CanonicalNaN.
//
// For exact values that no double holds: a double rounded toward zero at 53 bits with its last bit forced
// to one when anything was cut off ("round to odd") rounds to any format of at most 51 bits precision, or of
// smaller range, as the exact value would. f64 itself must be rounded by the caller.
double RoundToFormat(double value, const FloatFormat& format);

// The same in place over n values, with native conversion for f32 and nothing but NaNs to do for f64.
void RoundStripToFormat(double* values, int64_t n, const FloatFormat& format);

// The format's canonical quiet NaN: positive where it has payloads. It is -0 for formats without NaN.
double CanonicalNaN(const FloatFormat& format);

// The largest value below / smallest above in the format; used by ULP comparison and by rng.
double NextBelow(double value, const FloatFormat& format);

}  // namespace assay

#endif  // ASSAY_LITERAL_FLOAT_FORMAT_H_
