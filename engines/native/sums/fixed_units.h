// Sums of f32 as integers: which units hold every term and every partial sum.
//
// Terms are multiples of 2^lowest below 2^top, so that n of them sum to less than
// 2^(top - lowest + log2 n) units.
#ifndef ASSAY_ENGINES_NATIVE_SUMS_FIXED_UNITS_H_
#define ASSAY_ENGINES_NATIVE_SUMS_FIXED_UNITS_H_

#include <bit>
#include <cstdint>

#include "absl/numeric/int128.h"
#include "base/parallel.h"
#include "engines/native/sums/fixed_kernels.h"

namespace assay::native {

inline constexpr int kUnitBits = 62;  // of a sum's magnitude in an int64_t

struct TermBits {
  explicit TermBits(const FloatRange& range);
  bool finite;
  int lowest, top;

  int width() const { return top - lowest; }
};

// The range of n neighbouring floats.
FloatRange RangeOf(Parallel& parallel, const FixedKernels& kernels, const float* x, int64_t n);
void Include(FloatRange& range, const FloatRange& other);

// sum * 2^lowest, rounded once.
float RoundUnits(absl::int128 sum, int lowest);

// Bits that a sum of n terms may have more than one of them.
inline int BitsOfCount(int64_t n) {
  return n <= 1 ? 0 : static_cast<int>(std::bit_width(static_cast<uint64_t>(n - 1)));
}

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_SUMS_FIXED_UNITS_H_
