// Sums of products of split elements, once an instruction set (split_kernels_body.h).
//
// a = ah + al and b = bh + bl, ah and bh so short that sums of their products are exact in doubles:
//   sum ab = sum ah bh + (sum ah bl + sum al bh) + sum al bl
// with a rounding error 2^-25 and 2^-50 times as large as that of the whole sum in doubles
// (after Ozaki, Ogita, Oishi,
// Rump: "Error-free transformations of matrix multiplication"). The three sums are tiles of f64 multiply-adds
// (sum_kernels.h), four or three of them; product_bounds.h has the bounds.
#ifndef ASSAY_ENGINES_NATIVE_SUMS_SPLIT_KERNELS_H_
#define ASSAY_ENGINES_NATIVE_SUMS_SPLIT_KERNELS_H_

#include <cstdint>

#include "engines/native/sums/sum_kernels.h"

namespace assay::native {

// The sums of one row of a tile. Without `low`, middle = sum ah bl + sum al b.
struct SplitSums {
  const double* high;
  const double* middle;
  const double* low;  // or null
};

// What the bounds need to know of a row (product_bounds.h).
struct SplitScale {
  double norm, low_norm, unit, high_unit;
};
struct SplitScales {
  const double *norms, *low_norms, *units, *high_units;
};

struct SplitKernels {
  // Of a packed panel of n elements a row: high = the multiple of high_units[r] nearest to an element of row
  // r, low = the rest.
  void (*split)(int64_t n, const double* panel, int width, const double* high_units, double* high,
                double* low);
  // squares[r] = the sum of the squares of row r's low parts, in doubles.
  void (*low_squares)(int64_t n, const double* panel, int width, const double* high_units, double* squares);
  // The sums rounded to out[j]; failed[j] is 0 where the bounds settle that, 1 where the sum is exactly zero,
  // else -1. Returns whether any is not 0. n is a multiple of lanes;
  // `factor` is the error of a sum of a norm of 1.
  bool (*round)(int64_t n, const SplitSums& sums, const SplitScale& row, const SplitScales& columns,
                double factor, const NarrowRounding& rounding, double* out, int64_t* failed);
};

const SplitKernels& SplitKernelsOf(Isa isa);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_SUMS_SPLIT_KERNELS_H_
