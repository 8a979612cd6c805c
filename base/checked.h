// int64 arithmetic that reports overflow: the only way sizes are computed (SHAPE-3 of the specification).
#ifndef ASSAY_BASE_CHECKED_H_
#define ASSAY_BASE_CHECKED_H_

#include <cstdint>
#include <optional>
#include <span>

namespace assay {

inline std::optional<int64_t> CheckedAdd(int64_t a, int64_t b) {
  int64_t result;
  if (__builtin_add_overflow(a, b, &result)) return std::nullopt;
  return result;
}
inline std::optional<int64_t> CheckedSub(int64_t a, int64_t b) {
  int64_t result;
  if (__builtin_sub_overflow(a, b, &result)) return std::nullopt;
  return result;
}
inline std::optional<int64_t> CheckedMul(int64_t a, int64_t b) {
  int64_t result;
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}

// The product of sizes >= 0: 0 as soon as one is 0, whatever the others are; 1 for no sizes.
inline std::optional<int64_t> CheckedProduct(std::span<const int64_t> sizes) {
  for (int64_t size : sizes) {
    if (size == 0) return 0;
  }
  int64_t product = 1;
  for (int64_t size : sizes) {
    if (__builtin_mul_overflow(product, size, &product)) return std::nullopt;
  }
  return product;
}

// ceil(a / b) for a >= 0, b > 0.
inline constexpr int64_t CeilDiv(int64_t a, int64_t b) { return a / b + (a % b != 0); }

}  // namespace assay

#endif  // ASSAY_BASE_CHECKED_H_
