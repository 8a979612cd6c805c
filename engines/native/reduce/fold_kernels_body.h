// The bodies of FoldKernels (jit/each_isa.inc). No include guard.
#include <cstring>
#include <limits>
#include <type_traits>

#include "engines/native/reduce/fold_kernels.h"

namespace assay::native::ASSAY_ISA {
namespace {

template <class T>
struct VectorOf {
  using Type __attribute__((vector_size(ASSAY_BYTES))) = T;
};

// x as keys in the order of the values (see FoldOp).
template <class S, class V>
ASSAY_TARGET static inline __attribute__((always_inline)) V Keys(V x, S largest, S nan) {
  const V sign = x >> (8 * static_cast<int>(sizeof(S)) - 1);
  const V magnitude = x & std::numeric_limits<S>::max();
  const V key = x ^ (sign & std::numeric_limits<S>::max());
  const auto is_nan = magnitude > largest;
  return is_nan ? V{} + nan : key;
}

template <FoldOp kOp, class V, class S>
ASSAY_TARGET static inline __attribute__((always_inline)) V Combine(V a, V x, S largest) {
  if constexpr (kOp == FoldOp::kAdd) return a + x;
  if constexpr (kOp == FoldOp::kMultiply) return a * x;
  if constexpr (kOp == FoldOp::kAnd) return a & x;
  if constexpr (kOp == FoldOp::kOr) return a | x;
  if constexpr (kOp == FoldOp::kXor) return a ^ x;
  if constexpr (kOp == FoldOp::kFloatMaximum) x = Keys<S>(x, largest, std::numeric_limits<S>::max());
  if constexpr (kOp == FoldOp::kFloatMinimum) x = Keys<S>(x, largest, std::numeric_limits<S>::min());
  if constexpr (kOp == FoldOp::kSignedMinimum || kOp == FoldOp::kUnsignedMinimum ||
                kOp == FoldOp::kFloatMinimum) {
    return a < x ? a : x;
  }
  return a > x ? a : x;
}

template <FoldOp kOp, class S>
ASSAY_TARGET void Fold(int64_t n, const void* x, void* folded, uint64_t largest) {
  constexpr bool kSigned = kOp == FoldOp::kSignedMaximum || kOp == FoldOp::kSignedMinimum ||
                           kOp == FoldOp::kFloatMaximum || kOp == FoldOp::kFloatMinimum;
  using T = std::conditional_t<kSigned, S, std::make_unsigned_t<S>>;
  using V = typename VectorOf<T>::Type;
  constexpr int64_t kLanes = ASSAY_BYTES / sizeof(T);
  const auto* const src = static_cast<const T*>(x);
  auto* const dst = static_cast<T*>(folded);
  const auto most = static_cast<S>(largest);
  V a, b;
  int64_t j = 0;
  for (; j + kLanes <= n; j += kLanes) {
    std::memcpy(&a, dst + j, sizeof(V));
    std::memcpy(&b, src + j, sizeof(V));
    a = Combine<kOp>(a, b, most);
    std::memcpy(dst + j, &a, sizeof(V));
  }
  if (j == n) return;
  const size_t rest = static_cast<size_t>(n - j) * sizeof(T);
  a = b = V{};
  std::memcpy(&a, dst + j, rest);
  std::memcpy(&b, src + j, rest);
  a = Combine<kOp>(a, b, most);
  std::memcpy(dst + j, &a, rest);
}

// One vector folded to one element.
template <FoldOp kOp, class T, int kVector>
ASSAY_TARGET static inline __attribute__((always_inline)) T Across(const T* v) {
  using Half __attribute__((vector_size(kVector / 2))) = T;
  constexpr int kHalf = kVector / 2 / static_cast<int>(sizeof(T));
  if constexpr (kVector == 16) {
    T all = v[0];
    for (int l = 1; l < 2 * kHalf; ++l) {
      using Wide = std::conditional_t<(sizeof(T) < 4), unsigned, T>;  // int would overflow
      if constexpr (kOp == FoldOp::kMultiply) {
        all = static_cast<T>(static_cast<Wide>(all) * static_cast<Wide>(v[l]));
      } else {
        all = static_cast<T>(Combine<kOp, T, T>(all, v[l], T{}));
      }
    }
    return all;
  } else {
    Half a, b;
    std::memcpy(&a, v, sizeof(a));
    std::memcpy(&b, v + kHalf, sizeof(b));
    a = Combine<kOp, Half, T>(a, b, T{});
    T half[kHalf];
    std::memcpy(half, &a, sizeof(a));
    return Across<kOp, T, kVector / 2>(half);
  }
}

// Chains of vectors; the elements that fill none are folded with what changes nothing.
template <FoldOp kOp, class T>
ASSAY_TARGET static inline __attribute__((always_inline)) T RunOf(int64_t n, const T* x, T neutral) {
  using V = typename VectorOf<T>::Type;
  constexpr int kChains = 4;
  constexpr int64_t kLanes = ASSAY_BYTES / sizeof(T);
  V chains[kChains], v;
#pragma GCC unroll 4
  for (int c = 0; c < kChains; ++c) chains[c] = V{} + neutral;
  int64_t j = 0;
  for (; j + kChains * kLanes <= n; j += kChains * kLanes) {
#pragma GCC unroll 4
    for (int c = 0; c < kChains; ++c) {
      std::memcpy(&v, x + j + c * kLanes, sizeof(V));
      chains[c] = Combine<kOp, V, T>(chains[c], v, T{});
    }
  }
  for (; j + kLanes <= n; j += kLanes) {
    std::memcpy(&v, x + j, sizeof(V));
    chains[0] = Combine<kOp, V, T>(chains[0], v, T{});
  }
  if (j < n) {
    v = V{} + neutral;
    std::memcpy(&v, x + j, static_cast<size_t>(n - j) * sizeof(T));
    chains[0] = Combine<kOp, V, T>(chains[0], v, T{});
  }
  chains[0] = Combine<kOp, V, T>(chains[0], chains[1], T{});
  chains[2] = Combine<kOp, V, T>(chains[2], chains[3], T{});
  chains[0] = Combine<kOp, V, T>(chains[0], chains[2], T{});
  T lanes[kLanes];
  std::memcpy(lanes, &chains[0], sizeof(V));
  return Across<kOp, T, ASSAY_BYTES>(lanes);
}

template <FoldOp kOp, class T>
constexpr T Neutral() {
  if (kOp == FoldOp::kMultiply) return 1;
  if (kOp == FoldOp::kAnd) return static_cast<T>(-1);
  if (kOp == FoldOp::kSignedMaximum || kOp == FoldOp::kUnsignedMaximum) return std::numeric_limits<T>::min();
  if (kOp == FoldOp::kSignedMinimum || kOp == FoldOp::kUnsignedMinimum) return std::numeric_limits<T>::max();
  return 0;
}

template <class VS, class VU>
ASSAY_TARGET static inline __attribute__((always_inline)) void Include(VS v, VS& most, VU& highest,
                                                                       VU& lowest) {
  most = v > most ? v : most;
  highest = (VU)v > highest ? (VU)v : highest;
  lowest = (VU)v < lowest ? (VU)v : lowest;
}

// Three orders of the patterns say it all: a positive NaN is the largest as a signed number, a negative one
// as an unsigned one; numbers with clear signs are in order as they are, those with the sign set in reverse.
template <FoldOp kOp, class S>
ASSAY_TARGET static inline __attribute__((always_inline)) S FloatRun(int64_t n, const S* x, S largest) {
  using U = std::make_unsigned_t<S>;
  using VS = typename VectorOf<S>::Type;
  using VU = typename VectorOf<U>::Type;
  constexpr int kChains = 2;
  constexpr int64_t kLanes = ASSAY_BYTES / sizeof(S);
  constexpr S kMost = std::numeric_limits<S>::max(), kLeast = std::numeric_limits<S>::min();
  VS most[kChains], v;
  VU highest[kChains], lowest[kChains];
#pragma GCC unroll 2
  for (int c = 0; c < kChains; ++c) {
    most[c] = VS{} + x[0];
    highest[c] = lowest[c] = (VU)most[c];
  }
  int64_t j = 0;
  for (; j + kChains * kLanes <= n; j += kChains * kLanes) {
#pragma GCC unroll 2
    for (int c = 0; c < kChains; ++c) {
      std::memcpy(&v, x + j + c * kLanes, sizeof(VS));
      Include(v, most[c], highest[c], lowest[c]);
    }
  }
  while (j < n) {
    const int64_t count = n - j < kLanes ? n - j : kLanes;
    v = VS{} + x[0];
    std::memcpy(&v, x + j, static_cast<size_t>(count) * sizeof(S));
    Include(v, most[0], highest[0], lowest[0]);
    j += count;
  }
  v = most[1];
  most[0] = v > most[0] ? v : most[0];
  highest[0] = highest[1] > highest[0] ? highest[1] : highest[0];
  lowest[0] = lowest[1] < lowest[0] ? lowest[1] : lowest[0];
  S signs[kLanes];
  U highs[kLanes], lows[kLanes];
  std::memcpy(signs, &most[0], sizeof(VS));
  std::memcpy(highs, &highest[0], sizeof(VU));
  std::memcpy(lows, &lowest[0], sizeof(VU));
  const S top = Across<FoldOp::kSignedMaximum, S, ASSAY_BYTES>(signs);
  const U high = Across<FoldOp::kUnsignedMaximum, U, ASSAY_BYTES>(highs);
  const U low = Across<FoldOp::kUnsignedMinimum, U, ASSAY_BYTES>(lows);
  const bool some_negative = static_cast<S>(high) < 0, all_negative = static_cast<S>(low) < 0;
  const bool nan = top > largest || (some_negative && static_cast<S>(high & kMost) > largest);
  if (kOp == FoldOp::kFloatMaximum) {
    if (nan) return kMost;
    return all_negative ? static_cast<S>(low ^ kMost) : top;
  }
  if (nan) return kLeast;
  return some_negative ? static_cast<S>(high ^ kMost) : static_cast<S>(low);
}

template <FoldOp kOp, class S>
ASSAY_TARGET uint64_t Run(int64_t n, const void* x, uint64_t largest) {
  using U = std::make_unsigned_t<S>;
  if constexpr (kOp == FoldOp::kFloatMaximum || kOp == FoldOp::kFloatMinimum) {
    return static_cast<U>(FloatRun<kOp, S>(n, static_cast<const S*>(x), static_cast<S>(largest)));
  } else if constexpr (kOp == FoldOp::kSignedMaximum || kOp == FoldOp::kSignedMinimum) {
    return static_cast<U>(RunOf<kOp, S>(n, static_cast<const S*>(x), Neutral<kOp, S>()));
  } else {
    return RunOf<kOp, U>(n, static_cast<const U*>(x), Neutral<kOp, U>());
  }
}

#define ASSAY_FOLDS_OF(F, S)                                                                                \
  {                                                                                                         \
    F<FoldOp::kAdd, S>, F<FoldOp::kMultiply, S>, F<FoldOp::kAnd, S>, F<FoldOp::kOr, S>, F<FoldOp::kXor, S>, \
        F<FoldOp::kSignedMaximum, S>, F<FoldOp::kSignedMinimum, S>, F<FoldOp::kUnsignedMaximum, S>,         \
        F<FoldOp::kUnsignedMinimum, S>, F<FoldOp::kFloatMaximum, S>, F<FoldOp::kFloatMinimum, S>            \
  }

constexpr FoldKernels kKernels = {.of = {ASSAY_FOLDS_OF(Fold, int8_t), ASSAY_FOLDS_OF(Fold, int16_t),
                                         ASSAY_FOLDS_OF(Fold, int32_t), ASSAY_FOLDS_OF(Fold, int64_t)},
                                  .run = {ASSAY_FOLDS_OF(Run, int8_t), ASSAY_FOLDS_OF(Run, int16_t),
                                          ASSAY_FOLDS_OF(Run, int32_t), ASSAY_FOLDS_OF(Run, int64_t)}};

}  // namespace
}  // namespace assay::native::ASSAY_ISA
