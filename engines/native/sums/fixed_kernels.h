// The hot loops of exact f32 sums, once an instruction set (fixed_kernels_body.h): as integers, in units of a
// power of two that divides every term, or in doubles that hold every partial sum.
#ifndef ASSAY_ENGINES_NATIVE_SUMS_FIXED_KERNELS_H_
#define ASSAY_ENGINES_NATIVE_SUMS_FIXED_KERNELS_H_

#include <cstdint>

#include "jit/isa.h"

namespace assay::native {

// Of magnitudes, as their bits.
struct FloatRange {
  uint32_t largest = 0;
  uint32_t below_smallest = ~uint32_t{0};  // the smallest but zero, less 1
  bool negative_zero = false;              // there is one
};

struct FixedKernels {
  // Takes n more floats into the range.
  void (*range)(int64_t n, const float* x, FloatRange* range);
  // q[i] = x[i] * scale, an integer.
  void (*quantize)(int64_t n, const float* x, double scale, int64_t* q);
  // x[i] * scale, cut to an integer high[i]; low[i] = what was cut off, times 2^shift, an integer.
  void (*split)(int64_t n, const float* x, double scale, int shift, int64_t* high, int64_t* low);
  // out[i] = RN(sums[i] * unit), for a unit of at least 2^-149.
  void (*round)(int64_t n, const int64_t* sums, float unit, float* out);
  // sums[i] += x[i].
  void (*add)(int64_t n, const int64_t* x, int64_t* sums);
  // out[j] = RN(row[j] + sum of updates[ids[i] * stride + j] over i < hits), j < n; false where some sum's
  // terms differ too much for doubles to hold all partial sums, or are not finite. kRowsAhead more ids are
  // read, of rows that will be wanted next.
  static constexpr int64_t kRowsAhead = 16;
  bool (*sum_rows)(int64_t n, const float* row, const float* updates, int64_t stride, const int32_t* ids,
                   int64_t hits, float* out);
  // Sums of what `split` gives.
  void (*split_totals)(int64_t n, const float* x, double scale, int shift, int64_t* high, int64_t* low);
  // As prefixes and suffixes by what `split` gives, of units of twice `half_unit` and those over 2^shift; 0
  // <= low < 2^shift. False where some sum has too few units for the bits behind them.
  bool (*split_prefixes)(int64_t n, const float* x, double scale, int shift, int64_t high, int64_t low,
                         float half_unit, float* out);
  bool (*split_suffixes)(int64_t n, const float* x, double scale, int shift, int64_t high, int64_t low,
                         float half_unit, float* out);
  // Sum of x[i] * scale, integers, modulo 2^64.
  int64_t (*total)(int64_t n, const float* x, double scale);
  // out[i] = RN((start + sum of x[j] * scale over j <= i) * unit).
  void (*prefixes)(int64_t n, const float* x, double scale, int64_t start, float unit, float* out);
  // out[i] = RN((all - sum of x[j] * scale over j < i) * unit).
  void (*suffixes)(int64_t n, const float* x, double scale, int64_t all, float unit, float* out);
};
const FixedKernels& FixedKernelsOf(Isa isa);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_SUMS_FIXED_KERNELS_H_
