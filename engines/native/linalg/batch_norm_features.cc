#include "engines/native/linalg/batch_norm_features.h"

#include "evaluator/scalar/exact_sum.h"
#include "evaluator/scalar/real.h"

namespace assay::native {

FeatureMoments ExactMoments(const BatchNormFeatures& f, int64_t c, const Literal& x) {
  ExactSum sum, squares;
  f.ForEachStrip(c, [&](int64_t at, int64_t stride, int64_t count) {
    constexpr double kOne = 1;
    double v[kStrip];
    LoadStrip(f.type, x.data() + at, stride, count, v);
    sum.AddProducts(v, 1, &kOne, 0, count);
    squares.AddProducts(v, 1, v, 1, count);
  });
  if (f.n == 0) return FeatureMoments{CanonicalNaN(f.format), CanonicalNaN(f.format)};
  return FeatureMoments{sum.RoundQuotient(f.n, f.format), RoundVariance(sum, squares, f.n, f.format)};
}

FeatureSums ExactFeatureSums(const BatchNormFeatures& f, int64_t c, const Literal& x, const Literal& g,
                             double mean) {
  ExactSum sum, products;
  f.ForEachStrip(c, [&](int64_t at, int64_t stride, int64_t count) {
    constexpr double kOne = 1;
    double d[kStrip], v[kStrip];
    LoadStrip(f.type, x.data() + at, stride, count, d);
    LoadStrip(f.type, g.data() + at, stride, count, v);
    for (int64_t i = 0; i < count; ++i) d[i] = RealSubtract(d[i], mean, f.format);
    sum.AddProducts(v, 1, &kOne, 0, count);
    products.AddProducts(v, 1, d, 1, count);
  });
  return FeatureSums{sum.Round(f.format), products.Round(f.format)};
}

}  // namespace assay::native
