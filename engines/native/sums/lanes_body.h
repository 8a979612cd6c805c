// Vectors of ASSAY_BYTES, their doubles' error-free sums and products, for bodies that are compiled once for
// each instruction set (jit/each_isa.inc). No include guard.
#include <immintrin.h>

#include <cstdint>
#include <cstring>

namespace assay::native::ASSAY_ISA {
namespace {

constexpr int kLanes = ASSAY_BYTES / 8;

using F64 = double __attribute__((vector_size(ASSAY_BYTES)));
using I64 = int64_t __attribute__((vector_size(ASSAY_BYTES)));
using U64 = uint64_t __attribute__((vector_size(ASSAY_BYTES)));

ASSAY_INLINE F64 Load(const double* p) {
  F64 v;
  std::memcpy(&v, p, sizeof(v));
  return v;
}
ASSAY_INLINE void Store(double* p, F64 v) { std::memcpy(p, &v, sizeof(v)); }
ASSAY_INLINE F64 Magnitude(F64 v) { return (F64)((U64)v & 0x7fffffffffffffff); }

#if ASSAY_BYTES == 64
ASSAY_INLINE F64 Fill(double x) { return (F64)_mm512_set1_pd(x); }
ASSAY_INLINE F64 Fma(F64 a, F64 b, F64 c) { return (F64)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c); }
ASSAY_INLINE F64 Root(F64 a) { return (F64)_mm512_maskz_sqrt_pd(0xff, (__m512d)a); }
#elif ASSAY_BYTES == 32
ASSAY_INLINE F64 Fill(double x) { return (F64)_mm256_set1_pd(x); }
ASSAY_INLINE F64 Fma(F64 a, F64 b, F64 c) { return (F64)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c); }
ASSAY_INLINE F64 Root(F64 a) { return (F64)_mm256_sqrt_pd((__m256d)a); }
#else
ASSAY_INLINE F64 Fill(double x) { return (F64)_mm_set1_pd(x); }
// Rounds twice: for products that are exact, or where that is in the bound.
ASSAY_INLINE F64 Fma(F64 a, F64 b, F64 c) { return a * b + c; }
ASSAY_INLINE F64 Root(F64 a) { return (F64)_mm_sqrt_pd((__m128d)a); }
#endif

// a * b - p for p = RN(a * b), which is a double where no product of halves under- or overflows.
#if ASSAY_BYTES > 16
ASSAY_INLINE F64 ProductError(F64 a, F64 b, F64 p) { return Fma(a, b, -p); }
#else
// Dekker's product of 26-bit halves.
ASSAY_INLINE F64 UpperHalf(F64 x) {
  const F64 c = x * 134217729.0;
  return c - (c - x);
}
ASSAY_INLINE F64 ProductError(F64 a, F64 b, F64 p) {
  const F64 ah = UpperHalf(a), bh = UpperHalf(b), al = a - ah, bl = b - bh;
  return ((ah * bh - p) + ah * bl + al * bh) + al * bl;
}
#endif

// The error of s + x; s becomes RN(s + x).
ASSAY_INLINE F64 TwoSum(F64& s, F64 x) {
  const F64 t = s + x;
  const F64 z = t - s;
  const F64 error = (s - (t - z)) + (x - z);
  s = t;
  return error;
}

}  // namespace
}  // namespace assay::native::ASSAY_ISA
