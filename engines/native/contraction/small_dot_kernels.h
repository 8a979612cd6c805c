// Rows by columns, for dots that are too small to be worth tiles:
// the columns' elements are read where they lie.
#ifndef ASSAY_ENGINES_NATIVE_CONTRACTION_SMALL_DOT_KERNELS_H_
#define ASSAY_ENGINES_NATIVE_CONTRACTION_SMALL_DOT_KERNELS_H_

#include <cstdint>

#include "engines/native/sums/sum_kernels.h"
#include "jit/isa.h"

namespace assay::native {

// Columns of one call: at most this many, 1, 2 or 4 vectors.
inline constexpr int kMaxColumns = 32;

// The few rows of a call: element k of row r at a[r * row_step + k * step], k < length.
template <class T>
struct RowsOf {
  int64_t rows, length;
  const T* a;
  int64_t row_step, step;
};
using FewRows = RowsOf<double>;

struct SmallDotKernels {
  int lanes;
  // sums[r * columns + j] = sum of a(r, k) * b[k * step + j] over k, columns = vectors * lanes; a sum of
  // zeros is +0. norms[j], unless null: the root of the sum of b[k * step + j]^2.
  void (*f32)(const FewRows& a, const float* b, int64_t step, int vectors, double* sums, double* norms);
  void (*bf16)(const FewRows& a, const uint16_t* b, int64_t step, int vectors, double* sums, double* norms);
  void (*f64)(const FewRows& a, const double* b, int64_t step, int vectors, double* sums, double* norms);
  // norms[r] = the root of the sum of a(r, k)^2 over k.
  void (*row_norms)(const FewRows& a, double* norms);
  // units[j]: a power of two that every b[k * step + j], k < n, is a multiple of; inf where all are zero.
  void (*units_f32)(int64_t n, const float* b, int64_t step, int vectors, double* units);
  void (*units_bf16)(int64_t n, const uint16_t* b, int64_t step, int vectors, double* units);
  void (*units_f64)(int64_t n, const double* b, int64_t step, int vectors, double* units);
  // out[r * out_step + j] = sums[r * columns + j] rounded to f32. Bit j of open[r] says that an error up to
  // bounds[r] * norms[j] leaves it open, that it may be a zero of the other sign or that it is no number;
  // returns whether any is set. `columns` is a multiple of lanes.
  bool (*round_f32)(int64_t rows, int64_t columns, const double* sums, const double* norms,
                    const double* bounds, float* out, int64_t out_step, uint32_t* open);
  // One row, of any format, in doubles; returns open[0]. Also open: what is zero,
  // subnormal or infinite there.
  uint32_t (*round)(int64_t columns, const double* sums, const double* norms, double bound,
                    const NarrowRounding& rounding, double* out);
};

const SmallDotKernels& SmallDotKernelsOf(Isa isa);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_CONTRACTION_SMALL_DOT_KERNELS_H_
