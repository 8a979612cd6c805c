// Numbers of the float types of gpu/kernels, by Assay's own formats and exact sums.
#ifndef ASSAY_TESTS_GPU_KERNELS_FORMATS_H_
#define ASSAY_TESTS_GPU_KERNELS_FORMATS_H_

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "evaluator/scalar/exact_sum.h"
#include "gpu/kernels/formats.h"
#include "literal/float_format.h"
#include "shape/element_type.h"

namespace assay::gpu {

inline ElementType TypeOf(Float type) {
  return type == Float::kF32    ? ElementType::kF32
         : type == Float::kF64  ? ElementType::kF64
         : type == Float::kBf16 ? ElementType::kBF16
                                : ElementType::kF16;
}

inline uint64_t LoadBits(const void* from, int64_t bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, from, bytes);
  return bits;
}

inline uint64_t RoundedBits(const ExactSum& sum, Float type) {
  const FloatFormat& format = *Info(TypeOf(type)).format;
  return EncodeFloat(sum.Round(format), format);
}
inline double ValueOf(uint64_t bits, Float type) { return DecodeFloat(bits, *Info(TypeOf(type)).format); }

}  // namespace assay::gpu

#endif  // ASSAY_TESTS_GPU_KERNELS_FORMATS_H_
