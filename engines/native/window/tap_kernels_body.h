// The bodies of TapKernels (jit/each_isa.inc). No include guard.
#include "engines/native/sums/rounding_body.h"
#include "engines/native/window/tap_kernels.h"

namespace assay::native::ASSAY_ISA {
namespace {

// Vectors of f32 as long as the registers; F32 and I32 are as many as doubles.
constexpr int kWide = ASSAY_BYTES / 4;
using WideF32 = float __attribute__((vector_size(ASSAY_BYTES)));
using WideI32 = int32_t __attribute__((vector_size(ASSAY_BYTES)));
constexpr int32_t kMagnitude = 0x7fffffff, kInfinity = 0x7f800000, kCanonicalNaN = 0x7fc00000;

template <class V>
ASSAY_INLINE V LoadWide(const float* p) {
  V v;
  std::memcpy(&v, p, sizeof(v));
  return v;
}

// ---- maximum and minimum ----

// Patterns as integers in the order of the values (their own inverse), and the largest magnitude, which tells
// of NaNs: they win, whatever their sign.
template <bool kMaximum, class V>
struct Extreme {
  V key, largest;

  ASSAY_INLINE V InOrder(V pattern) { return pattern ^ ((pattern >> 31) & kMagnitude); }
  ASSAY_INLINE Extreme Of(V pattern) { return {InOrder(pattern), pattern & kMagnitude}; }
  ASSAY_INLINE void Add(V pattern, Extreme& fold) {
    const Extreme other = Of(pattern);
    if constexpr (kMaximum) {
      fold.key = fold.key > other.key ? fold.key : other.key;
    } else {
      fold.key = fold.key < other.key ? fold.key : other.key;
    }
    fold.largest = fold.largest > other.largest ? fold.largest : other.largest;
  }
  ASSAY_INLINE V Result(const Extreme& fold) {
    const V result = InOrder(fold.key), nan = V{} + kCanonicalNaN;
    return fold.largest > kInfinity ? nan : result;
  }
};
template <class V>
struct Product {
  V product;

  ASSAY_INLINE Product Of(V x) { return {x}; }
  ASSAY_INLINE void Add(V x, Product& fold) { fold.product *= x; }
  ASSAY_INLINE V Result(const Product& fold) {
    const V nan = V{} + __builtin_nanf("");
    return fold.product == fold.product ? fold.product : nan;
  }
};

// Results [at, at + kVectors vectors).
template <template <class> class Fold, class V, int kVectors>
ASSAY_INLINE void FoldColumns(int64_t at, const Tap* taps, int64_t n, const float* x, V init, float* out) {
  constexpr int kStep = sizeof(V) / 4;
  Fold<V> folds[kVectors];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) folds[v] = Fold<V>::Of(init);
  for (int64_t i = 0; i < n; ++i) {
    const float* const from = x + taps[i].base + at;
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) Fold<V>::Add(LoadWide<V>(from + v * kStep), folds[v]);
  }
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
    const V result = Fold<V>::Result(folds[v]);
    std::memcpy(out + at + v * kStep, &result, sizeof(result));
  }
}

// V: a vector; S: one element of it, for results that fill no vector.
template <template <class> class Fold, class V, class S>
ASSAY_TARGET void FoldTaps(int64_t width, const Tap* taps, int64_t n, const float* x, float init,
                           float* out) {
  S one;
  std::memcpy(&one, &init, sizeof(one));
  const V many = one - V{};  // keeps -0
  int64_t at = 0;
  for (; at + 4 * kWide <= width; at += 4 * kWide) FoldColumns<Fold, V, 4>(at, taps, n, x, many, out);
  for (; at + kWide <= width; at += kWide) FoldColumns<Fold, V, 1>(at, taps, n, x, many, out);
  if (at == width) return;
  // The last vector's results, some of them once more.
  if (width >= kWide) return FoldColumns<Fold, V, 1>(width - kWide, taps, n, x, many, out);
  for (; at < width; ++at) FoldColumns<Fold, S, 1>(at, taps, n, x, one, out);
}

template <class V>
using Maximum = Extreme<true, V>;
template <class V>
using Minimum = Extreme<false, V>;

// ---- sums ----

// Where doubles hold every partial sum, nothing was rounded (SumColumns in fixed_kernels_body.h has the
// reasoning): the largest magnitude times the number of terms is at most 2^29 times the smallest but zero.
template <int kVectors>
ASSAY_INLINE int64_t SumColumns(int64_t at, const Tap* taps, int64_t n, const float* x, float init,
                                double factor, float* out, int64_t* open, int64_t opens) {
  F64 sums[kVectors];
  U32 largest[kVectors], below[kVectors];  // magnitudes; the smallest but zero, less 1
  const U32 first = (U32)(F32{} + init) & 0x7fffffff;
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) sums[v] = Fill(init), largest[v] = first, below[v] = first - 1;
  for (int64_t i = 0; i < n; ++i) {
    const float* const from = x + taps[i].base + at;
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const F32 term = LoadWide<F32>(from + v * kLanes);
      sums[v] += Widen(term);
      const U32 size = (U32)term & 0x7fffffff, less = size - 1;
      largest[v] = largest[v] > size ? largest[v] : size;
      below[v] = below[v] < less ? below[v] : less;
    }
  }
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
    const F64 most = Widen((F32)largest[v]) * static_cast<double>(n + 1),
              smallest = Widen((F32)(below[v] + 1));
    const F64 bound = most * factor, none = {};
    const F64 e = ((most <= smallest * 0x1p29) & (most < __builtin_inf())) ? none : bound;
    const int64_t lane = at + v * kLanes;
    opens = ListLanes(NarrowEnds(sums[v], e, out + lane), lane, open, opens);
  }
  return opens;
}

// One result, which fills no vector; false: open.
ASSAY_TARGET bool SumOne(const Tap* taps, int64_t n, const float* x, float init, double factor, float* out) {
  double sum = init, largest = __builtin_fabs(init), smallest = largest > 0 ? largest : __builtin_inf();
  for (int64_t i = 0; i < n; ++i) {
    const double term = x[taps[i].base], size = __builtin_fabs(term);
    sum += term;
    largest = size > largest ? size : largest;
    smallest = size > 0 && size < smallest ? size : smallest;
  }
  const double most = largest * static_cast<double>(n + 1);
  const double e = most <= smallest * 0x1p29 && most < __builtin_inf() ? 0 : most * factor;
  *out = static_cast<float>(sum - e);
  return *out == static_cast<float>(sum + e) && (*out != 0 || e == 0);
}

ASSAY_TARGET int64_t SumTaps(int64_t width, const Tap* taps, int64_t n, const float* x, float init,
                             double factor, float* out, int64_t* open) {
  int64_t opens = 0, at = 0;
  for (; at + 4 * kLanes <= width; at += 4 * kLanes)
    opens = SumColumns<4>(at, taps, n, x, init, factor, out, open, opens);
  for (; at + kLanes <= width; at += kLanes)
    opens = SumColumns<1>(at, taps, n, x, init, factor, out, open, opens);
  if (at == width) return opens;
  if (width >= kLanes) return SumColumns<1>(width - kLanes, taps, n, x, init, factor, out, open, opens);
  for (; at < width; ++at) {
    if (!SumOne(taps, n, x + at, init, factor, out + at)) open[opens++] = at;
  }
  return opens;
}

// ---- strides ----

// The even and the odd ones of two vectors.
#if ASSAY_BYTES == 64
#define ASSAY_EVEN 0, 2, 4, 6, 8, 10, 12, 14
#define ASSAY_ODD 1, 3, 5, 7, 9, 11, 13, 15
#elif ASSAY_BYTES == 32
#define ASSAY_EVEN 0, 2, 4, 6
#define ASSAY_ODD 1, 3, 5, 7
#else
#define ASSAY_EVEN 0, 2
#define ASSAY_ODD 1, 3
#endif
ASSAY_TARGET void Unzip(int64_t n, const float* x, int64_t stride, int64_t pitch, float* out) {
  int64_t i = 0;  // of the elements of each phase
  if (stride == 2) {
    for (; 2 * (i + kLanes) <= n; i += kLanes) {
      const F32 a = LoadWide<F32>(x + 2 * i), b = LoadWide<F32>(x + 2 * i + kLanes);
      const F32 even = __builtin_shufflevector(a, b, ASSAY_EVEN),
                odd = __builtin_shufflevector(a, b, ASSAY_ODD);
      std::memcpy(out + i, &even, sizeof(even));
      std::memcpy(out + pitch + i, &odd, sizeof(odd));
    }
  }
  for (int64_t p = 0; p < stride; ++p) {
    for (int64_t k = i; k * stride + p < n; ++k) out[p * pitch + k] = x[k * stride + p];
  }
}
#undef ASSAY_EVEN
#undef ASSAY_ODD

constexpr TapKernels kKernels = {.lanes = kWide,
                                 .multiply = FoldTaps<Product, WideF32, float>,
                                 .maximum = FoldTaps<Maximum, WideI32, int32_t>,
                                 .minimum = FoldTaps<Minimum, WideI32, int32_t>,
                                 .sum = SumTaps,
                                 .unzip = Unzip};

}  // namespace
}  // namespace assay::native::ASSAY_ISA
