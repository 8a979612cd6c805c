// Float formats and rounding as the prover sees them: written from docs/spec/shapes.md 2.1 alone, without the
// library's own formats, so that a mistake there is found and not repeated.
//
// A format is its list of non-negative values in the order of their patterns (ValueOf). Rounding a real
// number looks for its two neighbours in that list and compares it with the middle between them.
#ifndef ASSAY_PROVE_NUMBER_FORMAT_H_
#define ASSAY_PROVE_NUMBER_FORMAT_H_

#include <mpfr.h>

#include <cstdint>
#include <span>

#include "shape/element_type.h"

namespace assay::prove {

enum class Beyond : uint8_t {
  kInfinity,  // overflow gives an infinity
  kNaN,       // no infinities, overflow gives NaN
  kSaturate,  // neither infinity nor NaN: the largest value; a NaN becomes -0
};

struct NumberFormat {
  ElementType type;
  int bits;
  int mantissa_bits;
  int bias;
  uint64_t largest;  // pattern of the largest finite value
  uint64_t nan;      // pattern of a NaN result
  Beyond beyond;
  bool negative_zero;       // false: the pattern of -0 is NaN
  bool power_only = false;  // f8e8m0fnu: unsigned, no zero
};

// All float types of at most 64 bits. f64 is here for its name; RoundDouble rounds to it.
std::span<const NumberFormat> NumberFormats();
const NumberFormat& FormatOf(ElementType type);

// The value of a pattern of at most 32 bits. NaN patterns give NaN.
double ValueOf(uint64_t pattern, const NumberFormat& format);

// A real number known well enough to be rounded to a format of at most 32 bits: `magnitude` if `cut` is
// false, else a number above it and below the next double. NaNs and infinities are doubles.
struct Real {
  double magnitude = 0;
  bool negative = false;
  bool cut = false;
};
Real RealOf(double x);
// Takes an MPFR number that was rounded toward zero with at least 53 bits, with its ternary value.
Real RealOf(mpfr_srcptr value, int ternary);

// The pattern of RN_F(x).
uint64_t RoundReal(const Real& x, const NumberFormat& format);

// Sets the exponent range of doubles for its lifetime; the range that was is restored.
class DoubleRange {
 public:
  DoubleRange();
  ~DoubleRange();
  DoubleRange(const DoubleRange&) = delete;

 private:
  const mpfr_exp_t min_, max_;
};
// The double nearest a number that MPFR rounded to nearest with 53 bits inside a DoubleRange; NaN canonical.
uint64_t RoundDouble(mpfr_ptr value, int ternary);

}  // namespace assay::prove

#endif  // ASSAY_PROVE_NUMBER_FORMAT_H_
