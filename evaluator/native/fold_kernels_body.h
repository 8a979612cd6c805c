// The bodies of FoldKernels: the including file defines ASSAY_TARGET, ASSAY_BYTES (of a vector) and ASSAY_FOLDS (the
// table's name). No include guard.
#include <cstring>
#include <limits>
#include <type_traits>

#include "evaluator/native/fold_kernels.h"

namespace assay::native {
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

#define ASSAY_FOLDS_OF(S)                                                                           \
  {                                                                                                 \
    Fold<FoldOp::kAdd, S>, Fold<FoldOp::kMultiply, S>, Fold<FoldOp::kAnd, S>, Fold<FoldOp::kOr, S>, \
        Fold<FoldOp::kXor, S>, Fold<FoldOp::kSignedMaximum, S>, Fold<FoldOp::kSignedMinimum, S>,    \
        Fold<FoldOp::kUnsignedMaximum, S>, Fold<FoldOp::kUnsignedMinimum, S>,                       \
        Fold<FoldOp::kFloatMaximum, S>, Fold<FoldOp::kFloatMinimum, S>                              \
  }

}  // namespace

const FoldKernels ASSAY_FOLDS = {
    {ASSAY_FOLDS_OF(int8_t), ASSAY_FOLDS_OF(int16_t), ASSAY_FOLDS_OF(int32_t), ASSAY_FOLDS_OF(int64_t)}};

}  // namespace assay::native
