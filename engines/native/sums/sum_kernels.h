// The hot loops of exact sums and sums of products, once an instruction set (sum_kernels_body.h).
//
// Matrices are packed: a panel holds `width` rows, element k of row r at panel[k * width + r]. A group is
// `lanes` neighbouring rows of a panel, whose sums are computed side by side.
#ifndef ASSAY_ENGINES_NATIVE_SUMS_SUM_KERNELS_H_
#define ASSAY_ENGINES_NATIVE_SUMS_SUM_KERNELS_H_

#include <cstdint>
#include <span>

#include "jit/isa.h"
#include "shape/element_type.h"

namespace assay::native {

inline constexpr int kMaxLanes = 8;
inline constexpr int kMaxPanelWidth = 32;
inline constexpr int64_t kMaxSlices = 64;

// What the bounds need to know of a row.
struct RowStatistics {
  double squares[kMaxPanelWidth];   // sum of squares in doubles: inf or NaN where an element is
  double smallest[kMaxPanelWidth];  // the smallest magnitude but zero; inf where there is none
  double largest[kMaxPanelWidth];   // the largest magnitude; NaNs are left out
  uint64_t bits[kMaxPanelWidth];    // OR of all patterns
};

// Rounding of doubles to a narrower format inside its normal range, in integer arithmetic: u becomes
// (u + half_less_one + (u >> shift & lsb)) & keep.
struct NarrowRounding {
  explicit NarrowRounding(const FloatFormat& format);
  uint64_t half_less_one, lsb, keep;
  int shift;
  double smallest, largest;  // of the normal range
};

// One row of tile results against its columns: |sum - s[j]| <= factor * row_norm * norms[j], or 0 where
// row_ratio * ratios[j] < 2^52 (the exactness test of product_bounds.h).
struct RowBounds {
  double row_norm, row_ratio, factor;
  const double* norms;
  const double* ratios;
};

struct SumKernels {
  int lanes, tile_rows, tile_columns;
  // c[r * c_stride + j] += sum of a[k * tile_rows + r] * b[k * tile_columns + j] over k < n.
  void (*tile)(int64_t n, const double* a, const double* b, double* c, int64_t c_stride);
  // Of a packed panel of n elements a row; width is tile_rows or tile_columns.
  void (*statistics)(int64_t n, const double* panel, int width, RowStatistics* result);
  // Lane j: sum of a[k * a_stride] * b[k * b_stride + j] over k < n as sum[j] + error[j] by TwoSum; the
  // products are exact doubles, or (two_products) pairs.
  void (*pair_products)(int64_t n, const double* a, int64_t a_stride, const double* b, int64_t b_stride,
                        bool two_products, double* sum, double* error);
  // Products as above: terms[k * lanes + j], and those of pairs behind one another. Returns terms a lane.
  int64_t (*products)(int64_t n, const double* a, int64_t a_stride, const double* b, int64_t b_stride,
                      bool two_products, double* terms);
  // terms[k * lanes + j], n <= 2048: lane j's exact sum is the sum of slices[l * lanes + j] over the returned
  // number of l. `terms` is destroyed. All are finite.
  int (*slices)(int64_t n, double* terms, double* slices);
  // sums[j] rounded to out[j]; failed[j] is -1 where the bound leaves the result open or the result is zero,
  // not finite or not normal, else 0. Returns whether any failed. n is a multiple of lanes.
  bool (*round_row)(int64_t n, const double* sums, const RowBounds& bounds, const NarrowRounding& rounding,
                    double* out, int64_t* failed);
  // Contiguous terms: their sum in doubles (chains of at most n / (4 lanes) + 16 additions) and the sum of
  // their magnitudes.
  void (*sum)(int64_t n, const double* x, double* sum, double* magnitude);
  void (*sum_f32)(int64_t n, const float* x, double* sum, double* magnitude);
  void (*sum_bf16)(int64_t n, const uint16_t* x, double* sum, double* magnitude);
  // Few terms: also the smallest magnitude but zero, inf where there is none.
  void (*few_f32)(int64_t n, const float* x, double* sum, double* magnitude, double* smallest);
  // The same of neighbouring columns, j < columns: x[row + j] over the rows.
  // The three have room for whole vectors.
  void (*few_rows_f32)(std::span<const int64_t> rows, int64_t columns, const float* x, double* sums,
                       double* magnitudes, double* smallest);
  // The sum by TwoSum: sum + error.
  void (*pair_sum)(int64_t n, const double* x, double* sum, double* error, double* magnitude);
  // For each of the rows, x[rows[r] + j], j < n: sums[j] += it, magnitudes[j] += |it|; by TwoSum:
  // errors[j] too.
  void (*add_rows)(int64_t n, const double* x, std::span<const int64_t> rows, double* sums,
                   double* magnitudes);
  void (*add_rows_f32)(int64_t n, const float* x, std::span<const int64_t> rows, double* sums,
                       double* magnitudes);
  void (*add_rows_bf16)(int64_t n, const uint16_t* x, std::span<const int64_t> rows, double* sums,
                        double* magnitudes);
  void (*add_row_pairs)(int64_t n, const double* x, double* sums, double* errors, double* magnitudes);
  // sums[j] += x[j] by TwoSum: its error is added to errors[j], and its magnitude to doubts[j]
  // (NaN where the sum is not finite). The three have room for whole vectors.
  void (*absorb)(int64_t n, const double* x, double* sums, double* errors, double* doubts);
  void (*absorb_f32)(int64_t n, const float* x, double* sums, double* errors, double* doubts);
  // bounds[j] such that the rounded sums[j] -+ bounds[j] enclose what sums[j] with an error up to doubts[j]
  // stands for; 0 where the error is. n is a multiple of lanes.
  void (*bounds_of_doubts)(int64_t n, const double* sums, const double* doubts, double* bounds);
  // dst[i] = x[i].
  void (*widen_f32)(int64_t n, const float* x, double* dst);
  void (*widen_bf16)(int64_t n, const uint16_t* x, double* dst);
  void (*widen_s8)(int64_t n, const int8_t* x, int64_t* dst);
};

const SumKernels& SumKernelsOf(Isa isa);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_SUMS_SUM_KERNELS_H_
