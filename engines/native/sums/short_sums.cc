// Let m be the smallest magnitude of a term that is not 0, e its exponent, M the sum of magnitudes. Every
// term is a multiple of 2^(e-23), so is every partial sum, and those below 2^(e-23) 2^53 = 2^(e+30) are
// doubles. m < 2^(e+1), so M < 2^29 m is enough, and as M itself is rounded, M < 2^28 m is asked for.
#include "engines/native/sums/short_sums.h"

#include <algorithm>
#include <cmath>

namespace assay::native {
namespace {

constexpr double kRoom = 0x1p28;
bool RoundShort(double sum, double magnitude, double smallest, double init, float* result) {
  const double size = std::fabs(init);
  if (size > 0) smallest = std::min(smallest, size);
  magnitude += size;
  // An infinite or NaN magnitude fails; where all terms are zeros, their signs decide,
  // which is not done here.
  if (!(magnitude > 0 && magnitude < kRoom * smallest && smallest < HUGE_VAL)) return false;
  *result = static_cast<float>(sum + init);
  return true;
}

}  // namespace

bool AddFew(const SumKernels& kernels, const float* src, int64_t n, double init, float* result) {
  double sum, magnitude, smallest;
  kernels.few_f32(n, src, &sum, &magnitude, &smallest);
  return RoundShort(sum, magnitude, smallest, init, result);
}

uint32_t AddFewRows(const SumKernels& kernels, const float* src, std::span<const int64_t> rows,
                    int64_t columns, double init, float* results) {
  static_assert(kFewColumns % kMaxLanes == 0);
  double sums[kFewColumns], magnitudes[kFewColumns], smallest[kFewColumns];
  kernels.few_rows_f32(rows, columns, src, sums, magnitudes, smallest);
  uint32_t there = 0;
  for (int64_t j = 0; j < columns; ++j)
    there |= uint32_t{RoundShort(sums[j], magnitudes[j], smallest[j], init, results + j)} << j;
  return there;
}

}  // namespace assay::native
