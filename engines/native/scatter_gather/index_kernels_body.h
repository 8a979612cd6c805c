// The bodies of IndexKernels (jit/each_isa.inc). No include guard.
#include "engines/native/scatter_gather/index_kernels.h"
#include "engines/native/sums/lanes_body.h"

namespace assay::native::ASSAY_ISA {
namespace {

ASSAY_INLINE I64 LoadInts(const int64_t* p) {
  I64 v;
  std::memcpy(&v, p, sizeof(v));
  return v;
}
ASSAY_INLINE void StoreInts(int64_t* p, I64 v) { std::memcpy(p, &v, sizeof(v)); }

ASSAY_TARGET void WidenS32(int64_t n, const int32_t* x, int64_t* dst) {
  using I32 = int32_t __attribute__((vector_size(4 * kLanes)));
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    I32 v;
    std::memcpy(&v, x + i, sizeof(v));
    StoreInts(dst + i, __builtin_convertvector(v, I64));
  }
  for (; i < n; ++i) dst[i] = x[i];
}

ASSAY_TARGET void FillSteps(int64_t n, int64_t first, int64_t step, int64_t* offsets) {
  I64 v;
  for (int l = 0; l < kLanes; ++l) v[l] = first + l * step;
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes, v += kLanes * step) StoreInts(offsets + i, v);
  for (; i < n; ++i) offsets[i] = first + i * step;
}

ASSAY_TARGET void Clamped(int64_t n, const int64_t* c, int64_t limit, int64_t stride, int64_t* offsets) {
  const I64 most = I64{} + limit;
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const I64 x = LoadInts(c + i);
    const I64 low = x > 0 ? x : I64{};
    const I64 start = low < most ? low : most;
    StoreInts(offsets + i, LoadInts(offsets + i) + (stride == 1 ? start : start * stride));
  }
  for (; i < n; ++i) {
    const int64_t low = c[i] > 0 ? c[i] : 0;
    offsets[i] += (low < limit ? low : limit) * stride;
  }
}

ASSAY_TARGET void Inside(int64_t n, const int64_t* c, int64_t limit, int64_t stride, int64_t* offsets) {
  const I64 most = I64{} + limit;
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const I64 x = LoadInts(c + i), offset = LoadInts(offsets + i);
    const I64 outside = (x < 0) | (x > most) | (offset < 0);
    const I64 start = x & ~outside;
    StoreInts(offsets + i, outside | (offset + (stride == 1 ? start : start * stride)));
  }
  for (; i < n; ++i) {
    const bool inside = c[i] >= 0 && c[i] <= limit && offsets[i] >= 0;
    offsets[i] = inside ? offsets[i] + c[i] * stride : -1;
  }
}

template <class T, class Offset>
ASSAY_INLINE void GatherBody(int64_t n, const T* src, const Offset* offsets, T* dst) {
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    const T a = src[offsets[i]], b = src[offsets[i + 1]], c = src[offsets[i + 2]], d = src[offsets[i + 3]];
    dst[i] = a, dst[i + 1] = b, dst[i + 2] = c, dst[i + 3] = d;
  }
  for (; i < n; ++i) dst[i] = src[offsets[i]];
}
ASSAY_TARGET void Gather4(int64_t n, const uint32_t* src, const int64_t* offsets, uint32_t* dst) {
  GatherBody(n, src, offsets, dst);
}
ASSAY_TARGET void Gather8(int64_t n, const uint64_t* src, const int64_t* offsets, uint64_t* dst) {
  GatherBody(n, src, offsets, dst);
}

// Offsets of 32 bits from the first to the last: half the bytes, and no pass that widens.
ASSAY_TARGET void Gather4S32(int64_t n, const uint32_t* src, const int32_t* x, int32_t limit, int32_t stride,
                             uint32_t* dst) {
  constexpr int64_t kPart = 512;
  using I32 = int32_t __attribute__((vector_size(ASSAY_BYTES)));
  constexpr int64_t kInts = 2 * kLanes;
  const I32 most = I32{} + limit, step = I32{} + stride;
  alignas(64) int32_t offsets[kPart];
  for (int64_t done = 0; done < n; done += kPart) {
    const int64_t part = n - done < kPart ? n - done : kPart;
    const int32_t* const from = x + done;
    uint32_t* const to = dst + done;
    int64_t i = 0;
    for (; i + kInts <= part; i += kInts) {
      I32 v;
      std::memcpy(&v, from + i, sizeof(v));
      v = v > 0 ? v : I32{};
      v = v < most ? v : most;
      if (stride != 1) v *= step;
      std::memcpy(offsets + i, &v, sizeof(v));
    }
    for (; i < part; ++i) {
      const int32_t low = from[i] > 0 ? from[i] : 0;
      offsets[i] = (low < limit ? low : limit) * stride;
    }
    GatherBody(part, src, offsets, to);
  }
}

template <int kBytes>
ASSAY_INLINE void CopyVector(const std::byte* src, std::byte* dst) {
  using Bytes __attribute__((vector_size(kBytes))) = uint8_t;
  Bytes v;
  std::memcpy(&v, src, kBytes);
  std::memcpy(dst, &v, kBytes);
}
// In vectors of kBytes <= block; the last one may overlap the one before.
template <int kBytes>
ASSAY_INLINE void CopyBlocksBy(int64_t n, const std::byte* src, const int64_t* offsets, int64_t scale,
                               int64_t block, std::byte* dst, int64_t step) {
  const int64_t whole = block / kBytes * kBytes, last = block - kBytes;
  for (int64_t i = 0; i < n; ++i, dst += step) {
    const std::byte* const from = src + offsets[i] * scale;
    for (int64_t b = 0; b < whole; b += kBytes) CopyVector<kBytes>(from + b, dst + b);
    if (whole != block) CopyVector<kBytes>(from + last, dst + last);
  }
}
ASSAY_TARGET void CopyBlocks(int64_t n, const std::byte* src, const int64_t* offsets, int64_t scale,
                             int64_t block, std::byte* dst, int64_t step) {
  if (block >= 8 * kLanes) {
    CopyBlocksBy<8 * kLanes>(n, src, offsets, scale, block, dst, step);
  } else {
    CopyBlocksBy<16>(n, src, offsets, scale, block, dst, step);
  }
}

constexpr IndexKernels kKernels = {.widen_s32 = WidenS32,
                                   .fill = FillSteps,
                                   .clamped = Clamped,
                                   .inside = Inside,
                                   .gather4 = Gather4,
                                   .gather4_s32 = Gather4S32,
                                   .gather8 = Gather8,
                                   .copy_blocks = CopyBlocks};

}  // namespace
}  // namespace assay::native::ASSAY_ISA
