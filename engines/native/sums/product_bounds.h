// Error bounds of sums of products of two rows, from what is known of each row alone.
//
// With T = sum |a_k b_k| <= |a| |b| (Cauchy-Schwarz, norms rounded up) and u = 2^-53, n terms:
//   doubles:  partial sums of at most `chain` additions one after the other; each rounds by at most
//             u T(1 + small). bound = (chain + slack) u T
//   pairs:    s + e by TwoSum, e summed in doubles. The TwoSum errors are at most u T each, product errors
//             u |a_k b_k|, so their sum's rounding errors are at most 2n u (n + 1) u T (1 + small).
//             bound = 4 (n + 16)^2 u^2 T
// Exactness: every term is a multiple of 2^L = unit(a) unit(b), and so is every rounding error. Doubles:
// where T < 2^53 2^L no addition rounds. Pairs: where 2 (n + 16) u T < 2^53 2^L the sum of errors does not
// round, so s + e is the exact sum.
//   split:    with q the smallest power of two such that |a| < 2^26 q, the high part of an element is its
//             nearest multiple of q, and |low part| <= q / 2. Sums of products of high parts do not round:
//             they are multiples of q q' below 2^52 q q'. The other sums are sums in doubles, with norms
//             smaller by 2^-27 sqrt(n) and the square of that, and the same two bounds.
#ifndef ASSAY_ENGINES_NATIVE_SUMS_PRODUCT_BOUNDS_H_
#define ASSAY_ENGINES_NATIVE_SUMS_PRODUCT_BOUNDS_H_

#include "engines/native/sums/split_kernels.h"

namespace assay::native {

// The scale of one row: its norm rounded up, and norm / unit rounded up.
struct RowScale {
  double norm = 0, ratio = 0;
  double unit = 0;  // a power of two that every element is a multiple of, or 0
  // Products with another such row, and their TwoProd errors, neither overflow nor underflow.
  bool products_in_range = true;
};
RowScale ScaleOf(const RowStatistics& statistics, int row);

// The scale of a row of n elements split; its norms are infinite where its products may over- or underflow.
SplitScale SplitScaleOf(const RowScale& scale, int64_t n);

// The norm of a row's low parts by the sum of their squares, rounded up.
double LowNormOf(double squares);

// RowBounds::factor for `chain` additions and the rounding of s +- bound.
double DoublesFactor(int64_t chain);
// The bound of pairs, 0 where they are exact.
double PairsBound(int64_t n, const RowScale& a, const RowScale& b);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_SUMS_PRODUCT_BOUNDS_H_
