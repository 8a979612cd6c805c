// The hot loop of depthwise convolutions of f32, once an instruction set (depthwise_kernels_body.h).
#ifndef ASSAY_ENGINES_NATIVE_CONTRACTION_DEPTHWISE_KERNELS_H_
#define ASSAY_ENGINES_NATIVE_CONTRACTION_DEPTHWISE_KERNELS_H_

#include <cstdint>

#include "engines/native/walk/window_taps.h"
#include "jit/isa.h"

namespace assay::native {

struct DepthwiseKernels {
  int lanes;
  // out[j] = RN(sum of image[taps[i].base + j] * weights[taps[i].window + j] over i < n) for j < features,
  // which are at least `lanes`; no tap at all: +0. Those whose sum in doubles leaves the rounding open, with
  // an error up to `factor` times the sum of magnitudes, or is no number, are listed in `open`, which has
  // room for `lanes` more than the features; returns how many these are. One may be listed twice.
  int64_t (*f32)(int64_t features, const Tap* taps, int64_t n, const float* image, const float* weights,
                 double factor, float* out, int64_t* open);
};
const DepthwiseKernels& DepthwiseKernelsOf(Isa isa);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_CONTRACTION_DEPTHWISE_KERNELS_H_
