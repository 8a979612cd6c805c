// Arrays of real numbers of 256 bits, for evaluations in which rounding plays no part. MPFR's exponents are
// wide, so nothing overflows where a format would; NaN and infinities are MPFR's own.
#ifndef ASSAY_EVALUATOR_SCALAR_HIGH_ARRAY_H_
#define ASSAY_EVALUATOR_SCALAR_HIGH_ARRAY_H_

#include <compare>
#include <cstdint>
#include <memory>

#include "base/error.h"
#include "base/memory_budget.h"

namespace assay {

enum class HighFunction : uint8_t {
  kNone,
  // Of one number.
  kCopy,
  kAbs,
  kAcos,
  kAcosh,
  kAsin,
  kAsinh,
  kAtanh,
  kCbrt,
  kCos,
  kCosh,
  kErf,
  kExp,
  kExpm1,
  kLog,
  kLog1p,
  kLogistic,
  kNegate,
  kRsqrt,
  kSin,
  kSinh,
  kSqrt,
  kTan,
  kTanh,
  // Of two.
  kAdd,
  kAtan2,
  kDivide,
  kMaximum,
  kMinimum,
  kMultiply,
  kPower,
  kRemainder,
  kSubtract,
};
constexpr bool TakesTwo(HighFunction f) { return f >= HighFunction::kAdd; }

class HighArray {
 public:
  static constexpr int kPrecision = 256;
  static constexpr int64_t kBytes = 64;  // of one number

  // Zeros, counted by the budget (null: by nobody).
  static absl::StatusOr<std::shared_ptr<HighArray>> Make(int64_t size,
                                                         const std::shared_ptr<MemoryBudget>& budget);
  ~HighArray();
  HighArray(const HighArray&) = delete;
  HighArray& operator=(const HighArray&) = delete;

  int64_t size() const;
  void Set(int64_t i, double x);
  void SetInt(int64_t i, int64_t x);
  void SetUint(int64_t i, uint64_t x);
  void Copy(int64_t i, const HighArray& from, int64_t j);

  // this[i] = f(a[j]), f(a[j], b[k]); this[i] may be one of these.
  void Apply(HighFunction f, int64_t i, const HighArray& a, int64_t j);
  void Apply(HighFunction f, int64_t i, const HighArray& a, int64_t j, const HighArray& b, int64_t k);
  // this[i] += a[j] * b[k]
  void AddProduct(int64_t i, const HighArray& a, int64_t j, const HighArray& b, int64_t k);

  double Get(int64_t i) const;  // the nearest double
  bool IsFinite(int64_t i) const;
  // this[i] - x, and this[i] - other[j], each rounded to a double at the end.
  double Minus(int64_t i, double x) const;
  double Minus(int64_t i, const HighArray& other, int64_t j) const;
  std::partial_ordering Compare(int64_t i, const HighArray& other, int64_t j) const;

 private:
  struct Numbers;
  HighArray(std::unique_ptr<Numbers> numbers, std::shared_ptr<MemoryBudget> budget);

  const std::unique_ptr<Numbers> numbers_;
  const std::shared_ptr<MemoryBudget> budget_;
};

}  // namespace assay

#endif  // ASSAY_EVALUATOR_SCALAR_HIGH_ARRAY_H_
