// The bodies of DepthwiseKernels (jit/each_isa.inc). No include guard.
#include "engines/native/contraction/depthwise_kernels.h"
#include "engines/native/sums/rounding_body.h"

namespace assay::native::ASSAY_ISA {
namespace {

// Features [at, at + kVectors * kLanes); returns how many are open by now. Products of f32 are doubles, so
// that only additions round, each by at most 2^-53 of the sum of magnitudes.
template <int kVectors>
ASSAY_INLINE int64_t Features(int64_t at, const Tap* taps, int64_t n, const float* image,
                              const float* weights, double factor, float* out, int64_t* open, int64_t opens) {
  F64 sums[kVectors], sizes[kVectors];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) sums[v] = sizes[v] = F64{};
  for (int64_t i = 0; i < n; ++i) {
    const float *const x = image + taps[i].base + at, *const w = weights + taps[i].window + at;
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const F64 product = Widen(x + v * kLanes) * Widen(w + v * kLanes);
      sums[v] += product;
      sizes[v] += Magnitude(product);
    }
  }
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
    const int64_t lane = at + v * kLanes;
    opens = ListLanes(NarrowEnds(sums[v], sizes[v] * factor, out + lane), lane, open, opens);
  }
  return opens;
}

ASSAY_TARGET int64_t Depthwise(int64_t features, const Tap* taps, int64_t n, const float* image,
                               const float* weights, double factor, float* out, int64_t* open) {
  int64_t opens = 0, at = 0;
  for (; at + 4 * kLanes <= features; at += 4 * kLanes)
    opens = Features<4>(at, taps, n, image, weights, factor, out, open, opens);
  for (; at + kLanes <= features; at += kLanes)
    opens = Features<1>(at, taps, n, image, weights, factor, out, open, opens);
  if (at == features) return opens;  // else the last vector's features, some of them once more
  return Features<1>(features - kLanes, taps, n, image, weights, factor, out, open, opens);
}

constexpr DepthwiseKernels kKernels = {.lanes = kLanes, .f32 = Depthwise};

}  // namespace
}  // namespace assay::native::ASSAY_ISA
