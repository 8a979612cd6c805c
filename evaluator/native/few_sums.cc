// Let m be the smallest magnitude of a term that is not 0, e its exponent, M the sum of magnitudes. Every term is a multiple
// of 2^(e-23), so is every partial sum, and those below 2^(e-23) 2^53 = 2^(e+30) are doubles. m < 2^(e+1), so
// M < 2^29 m is enough, and as M itself is rounded, M < 2^28 m is asked for.
#include "evaluator/native/few_sums.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace assay::native {
namespace {

constexpr double kRoom = 0x1p28;
constexpr int kLanes = 4;

typedef float F32x4 __attribute__((vector_size(4 * kLanes)));
typedef double F64x4 __attribute__((vector_size(8 * kLanes)));
typedef int64_t I64x4 __attribute__((vector_size(8 * kLanes)));

// Sums side by side, one a lane.
struct Lanes {
  F64x4 sum{}, magnitude{}, smallest = F64x4{} + HUGE_VAL;

  void Add(F32x4 terms) {
    const F64x4 x = __builtin_convertvector(terms, F64x4);
    const auto bits = reinterpret_cast<I64x4>(x) & 0x7fffffffffffffff;
    const auto size = reinterpret_cast<F64x4>(bits);
    sum += x;
    magnitude += size;
    // Zeros do not count; NaN fails every comparison, and magnitude keeps it.
    const auto counts = (size != 0) & (size < smallest);
    smallest = reinterpret_cast<F64x4>((counts & bits) | (~counts & reinterpret_cast<I64x4>(smallest)));
  }
};

F32x4 Load(const float* src, int64_t n) {
  F32x4 terms{};
  std::memcpy(&terms, src, 4 * static_cast<size_t>(n));
  return terms;
}

bool Round(double sum, double magnitude, double smallest, double init, float* result) {
  const double size = std::fabs(init);
  if (size > 0) smallest = std::min(smallest, size);
  magnitude += size;
  // An infinite or NaN magnitude fails; where all terms are zeros, their signs decide, which is not done here.
  if (!(magnitude > 0 && magnitude < kRoom * smallest && smallest < HUGE_VAL)) return false;
  *result = static_cast<float>(sum + init);
  return true;
}

}  // namespace

bool AddFew(const float* src, int64_t n, double init, float* result) {
  Lanes lanes;
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) lanes.Add(Load(src + i, kLanes));
  if (i < n) lanes.Add(Load(src + i, n - i));
  double sum = 0, magnitude = 0, smallest = HUGE_VAL;
  for (int k = 0; k < kLanes; ++k) {
    sum += lanes.sum[k];
    magnitude += lanes.magnitude[k];
    smallest = std::min(smallest, lanes.smallest[k]);
  }
  return Round(sum, magnitude, smallest, init, result);
}

uint32_t AddFewRows(const float* src, std::span<const int64_t> rows, int64_t columns, double init,
                    float* results) {
  uint32_t there = 0;
  for (int64_t first = 0; first < columns; first += kLanes) {
    const int64_t n = std::min<int64_t>(kLanes, columns - first);
    Lanes lanes;
    if (n == kLanes) {
      for (int64_t row : rows) lanes.Add(Load(src + row + first, kLanes));
    } else {
      for (int64_t row : rows) lanes.Add(Load(src + row + first, n));
    }
    for (int64_t k = 0; k < n; ++k) {
      const bool exact =
          Round(lanes.sum[k], lanes.magnitude[k], lanes.smallest[k], init, results + first + k);
      there |= uint32_t{exact} << (first + k);
    }
  }
  return there;
}

}  // namespace assay::native
