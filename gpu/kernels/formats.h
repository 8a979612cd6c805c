// Element types as kernels' arguments name them, and the shapes of float formats.
#ifndef ASSAY_GPU_KERNELS_FORMATS_H_
#define ASSAY_GPU_KERNELS_FORMATS_H_

#include <cstdint>

namespace assay::gpu {

enum class Float : int32_t { kF32, kF64, kBf16, kF16 };

// A number of the format is an integer below 2^precision times a power of two;
// the least normal one is 2^min_exponent.
struct FloatShape {
  int32_t precision;
  int32_t min_exponent;
  int32_t bits;
};

constexpr FloatShape ShapeOf(Float type) {
  return type == Float::kF32    ? FloatShape{24, -126, 32}
         : type == Float::kF64  ? FloatShape{53, -1022, 64}
         : type == Float::kBf16 ? FloatShape{8, -126, 16}
                                : FloatShape{11, -14, 16};
}
constexpr int32_t BytesOf(Float type) { return ShapeOf(type).bits / 8; }

}  // namespace assay::gpu

#endif  // ASSAY_GPU_KERNELS_FORMATS_H_
