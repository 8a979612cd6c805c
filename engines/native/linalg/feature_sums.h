// The exact statistics of batch normalization, feature by feature.
//
// Both sums of a feature are made in doubles, S with |S - sum| <= e (sum_terms.cc has the bound), and a mean
// or variance is tested for its rounding as a sum is; features that fail are summed exactly.
// With m = S / n, v = Q / n - m^2 for Q of the squares, u = 2^-53:
//   |m - mean| <= d = e_S / n + 2u |m|
//   |v - variance| <= e_Q / n + 2 |m| d + d^2 + 4u (Q / n + m^2)
#ifndef ASSAY_ENGINES_NATIVE_LINALG_FEATURE_SUMS_H_
#define ASSAY_ENGINES_NATIVE_LINALG_FEATURE_SUMS_H_

#include <vector>

#include "engines/native/linalg/batch_norm_features.h"
#include "engines/native/sums/sum_kernels.h"

namespace assay::native {

std::vector<FeatureMoments> NativeMoments(const SumKernels& kernels, const BatchNormFeatures& f,
                                          const Literal& x);
std::vector<FeatureSums> NativeFeatureSums(const SumKernels& kernels, const BatchNormFeatures& f,
                                           const Literal& x, const Literal& g,
                                           const std::vector<double>& means);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_LINALG_FEATURE_SUMS_H_
