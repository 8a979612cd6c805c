// Sums of few f32 terms. Where every partial sum of theirs is a double, adding them in doubles is exact and
// one rounding of the result is all there is to do: no bound, no test, and ties, which are frequent in sums
// of two or three terms, need no more digits.
#ifndef ASSAY_ENGINES_NATIVE_SUMS_SHORT_SUMS_H_
#define ASSAY_ENGINES_NATIVE_SUMS_SHORT_SUMS_H_

#include <cstdint>
#include <span>

#include "engines/native/sums/sum_kernels.h"

namespace assay::native {

inline constexpr int64_t kFewTerms = 512;
inline constexpr int64_t kFewColumns = 16;

// result = RN(init + src[0] + ... + src[n-1]); false where doubles do not hold it,
// or something is not finite.
bool AddFew(const SumKernels& kernels, const float* src, int64_t n, double init, float* result);

// Makes `columns` <= kFewColumns neighbouring sums so: sum j has the terms src[rows[i] + j]. Bit j of what is
// returned says that results[j] is there.
uint32_t AddFewRows(const SumKernels& kernels, const float* src, std::span<const int64_t> rows,
                    int64_t columns, double init, float* results);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_SUMS_SHORT_SUMS_H_
