// The hot loops of substitution (substitution.h), once an instruction set (solve_kernels_body.h). A row holds
// one unknown of every column of a panel: SumKernels::tile_columns neighbouring doubles.
#ifndef ASSAY_ENGINES_NATIVE_LINALG_SOLVE_KERNELS_H_
#define ASSAY_ENGINES_NATIVE_LINALG_SOLVE_KERNELS_H_

#include "engines/native/sums/sum_kernels.h"

namespace assay::native {

// |a| of a row of the matrix, rounded up, and the bound of b + sum of a_k x_k: factor * (|b| + |a| |x|).
struct SolveBound {
  double norm, factor;
};

// Each function marks failed[j] = -1 where out[j] is left open, else 0, and returns whether any was marked.
// Zero results are settled only where `keeps_zeros`: the format has both zeros.
struct SolveKernels {
  // c[j] += sum of a[k * a_stride] * x[k * columns + j] over k < n, products exact.
  void (*add_products)(int64_t n, const double* a, int64_t a_stride, const double* x, double* c);
  // out[j] = RN(c[j] + b[j]), c a sum in doubles; sums[j] = c[j] + b[j].
  bool (*round_sums)(const double* c, const double* b, const RowStatistics& columns, const SolveBound& bound,
                     const NarrowRounding& rounding, bool keeps_zeros, double* sums, double* out,
                     int64_t* failed);
  // out[j] = the double nearest to sum[j] + error[j] + b[j], a sum in pairs.
  bool (*round_pairs)(const double* sum, const double* error, const double* b, const RowStatistics& columns,
                      const SolveBound& bound, double* out, int64_t* failed);
  // out[j] = RN(RN_53(s[j] / divisor)): for formats of at most 25 bits the quotient rounded once.
  bool (*divide)(const double* s, double divisor, const NarrowRounding& rounding, bool keeps_zeros,
                 double* out, int64_t* failed);
  // out = (x + iy) / (c + id) by component, for parts of f32 and of f64.
  bool (*divide_complex_f32)(const double* x, const double* y, double c, double d,
                             const NarrowRounding& rounding, double* re, double* im, int64_t* failed);
  bool (*divide_complex_f64)(const double* x, const double* y, double c, double d,
                             const NarrowRounding& rounding, double* re, double* im, int64_t* failed);
  // The columns have one more element each, x[j].
  void (*add_statistics)(const double* x, RowStatistics* columns);
};

const SolveKernels& SolveKernelsOf(Isa isa);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_LINALG_SOLVE_KERNELS_H_
