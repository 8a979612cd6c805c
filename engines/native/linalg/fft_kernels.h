// The hot loops of Fourier transforms, once an instruction set (fft_kernels_body.h).
#ifndef ASSAY_ENGINES_NATIVE_LINALG_FFT_KERNELS_H_
#define ASSAY_ENGINES_NATIVE_LINALG_FFT_KERNELS_H_

#include "engines/native/linalg/fft_plan.h"
#include "engines/native/sums/sum_kernels.h"

namespace assay::native {

// Planes re, im, re_low, im_low; each has kMaxLanes doubles more than there are elements.
using FftPlanes = std::array<double*, 4>;

// Computed values and how the exact ones are rounded: |value * divisor - computed| <= bound, and then times
// two powers of two.
struct FftRounding {
  double bound, divisor;
  double power1 = 1, power2 = 1;
};

// Of some elements: the largest magnitude (NaNs left out), the sum of squares, and the sum of their products
// with 0, which is NaN where one is not finite.
struct FftStatistics {
  double largest = 0, squares = 0, zero = 0;
};

struct FftKernels {
  int lanes;
  // re[i] = x[2 i], im[i] = x[2 i + 1], for i < n.
  void (*split_f32)(int64_t n, const float* x, double* re, double* im);
  // Takes n more elements in.
  void (*statistics)(int64_t n, const double* x, FftStatistics* statistics);
  // Lines side by side: side[j * lanes + l] = x[j * step + l * apart] for j < n and l < count <= lanes, zero
  // for the other l; and back. step or apart is 1.
  void (*gather_lines)(int64_t n, int64_t count, const double* x, int64_t step, int64_t apart, double* side);
  void (*scatter_lines)(int64_t n, int64_t count, const double* side, int64_t step, int64_t apart, double* x);
  // For the inputs c = q + width j in [begin, end) of a pass; in doubles and in pairs.
  void (*pass_of_doubles)(const FftPass& pass, const FftPlanes& from, const FftPlanes& to, int64_t begin,
                          int64_t end);
  void (*pass_of_pairs)(const FftPass& pass, const FftPlanes& from, const FftPlanes& to, int64_t begin,
                        int64_t end);
  // out[i] for i < n (and up to the next multiple of lanes), failed[i] = -1 where it is left open, else 0.
  // Returns whether any was.
  bool (*round_doubles)(int64_t n, const double* x, const FftRounding& values, const NarrowRounding& rounding,
                        double* out, int64_t* failed);
  bool (*round_pairs)(int64_t n, const double* x, const double* low, const FftRounding& values, double* out,
                      int64_t* failed);
};

const FftKernels& FftKernelsOf(Isa isa);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_LINALG_FFT_KERNELS_H_
