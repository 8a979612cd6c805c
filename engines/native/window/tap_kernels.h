// The hot loops of reduce-windows of f32 with few elements a window, once an instruction set
// (tap_kernels_body.h): each result folds its window in registers.
#ifndef ASSAY_ENGINES_NATIVE_WINDOW_TAP_KERNELS_H_
#define ASSAY_ENGINES_NATIVE_WINDOW_TAP_KERNELS_H_

#include <cstdint>

#include "engines/native/walk/window_taps.h"
#include "jit/isa.h"

namespace assay::native {

struct TapKernels {
  int lanes;  // of a vector of f32
  // out[j] = init op x[taps[0].base + j] op … op x[taps[n - 1].base + j] for j < width, NaNs canonical.
  using Fold = void (*)(int64_t width, const Tap* taps, int64_t n, const float* x, float init, float* out);
  Fold multiply, maximum, minimum;
  // The same for the exact sum, rounded once. Those that doubles with an error up to `factor` times the
  // number of terms times the largest leave open, or that are no number, are listed in `open`, which has room
  // for `lanes` more than the width; returns how many these are. One may be listed twice.
  int64_t (*sum)(int64_t width, const Tap* taps, int64_t n, const float* x, float init, double factor,
                 float* out, int64_t* open);
  // out[p * pitch + i] = x[i * stride + p] for all i stride + p < n, p < stride.
  void (*unzip)(int64_t n, const float* x, int64_t stride, int64_t pitch, float* out);
};
const TapKernels& TapKernelsOf(Isa isa);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_WINDOW_TAP_KERNELS_H_
