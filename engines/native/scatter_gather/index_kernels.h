// The hot loops of gather and scatter, once an instruction set (index_kernels_body.h).
#ifndef ASSAY_ENGINES_NATIVE_SCATTER_GATHER_INDEX_KERNELS_H_
#define ASSAY_ENGINES_NATIVE_SCATTER_GATHER_INDEX_KERNELS_H_

#include <cstddef>
#include <cstdint>

#include "jit/isa.h"

namespace assay::native {

struct IndexKernels {
  // dst[i] = x[i].
  void (*widen_s32)(int64_t n, const int32_t* x, int64_t* dst);
  // offsets[i] = first + i * step.
  void (*fill)(int64_t n, int64_t first, int64_t step, int64_t* offsets);
  // offsets[i] += clamp(c[i], 0, limit) * stride.
  void (*clamped)(int64_t n, const int64_t* c, int64_t limit, int64_t stride, int64_t* offsets);
  // The same where 0 <= c[i] <= limit and offsets[i] >= 0; elsewhere offsets[i] = -1.
  void (*inside)(int64_t n, const int64_t* c, int64_t limit, int64_t stride, int64_t* offsets);
  // dst[i] = src[offsets[i]].
  void (*gather4)(int64_t n, const uint32_t* src, const int64_t* offsets, uint32_t* dst);
  // dst[i] = src[clamp(x[i], 0, limit) * stride], where limit * stride < 2^31 and limit, stride >= 0.
  void (*gather4_s32)(int64_t n, const uint32_t* src, const int32_t* x, int32_t limit, int32_t stride,
                      uint32_t* dst);
  void (*gather8)(int64_t n, const uint64_t* src, const int64_t* offsets, uint64_t* dst);
  // `block` >= 16 bytes from src + offsets[i] * scale to dst + i * step.
  void (*copy_blocks)(int64_t n, const std::byte* src, const int64_t* offsets, int64_t scale, int64_t block,
                      std::byte* dst, int64_t step);
};
const IndexKernels& IndexKernelsOf(Isa isa);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_SCATTER_GATHER_INDEX_KERNELS_H_
