#include "engines/native/linalg/feature_sums.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/parallel.h"
#include "engines/native/sums/enclosed_sum.h"
#include "engines/native/sums/row_source.h"
#include "engines/native/sums/sum_terms.h"
#include "engines/native/sums/tiers.h"

namespace assay::native {
namespace {

constexpr int64_t kStripTerms = 1024;      // terms of a run added at a time
constexpr int64_t kColumns = 128;          // features side by side
constexpr int64_t kRowsInARow = 128;       // rows added without putting the sums aside
constexpr int64_t kTermsOfPart = 1 << 14;  // terms worth a task
constexpr double kFeatureSlack = 1 + 0x1p-20;
constexpr int64_t kStart[] = {0};

struct Sums {
  PartialSum first, second;
};

// Terms(offset, stride, n, feature, step, a, b): n terms of both sums from the elements at `offset`; of the
// features feature, feature + step, ….
template <class Terms>
class Summer {
 public:
  Summer(const SumKernels& kernels, const BatchNormFeatures& f, const Terms& terms)
      : kernels_(kernels), f_(f), terms_(terms), outer_(OffsetsOf(f.others, 0)) {}

  std::vector<Sums> Run() {
    const bool columns = f_.stride == 1 && f_.count > 1 && f_.run.strides[0] != 1;
    return columns ? SideBySide() : OneByOne();
  }

 private:
  std::vector<Sums> OneByOne() const {
    std::vector<Sums> result(f_.count);
    f_.context.parallel().For(f_.count, kTermsOfPart / (f_.n + 1) + 1, [&](int64_t begin, int64_t end) {
      double a[kStripTerms], b[kStripTerms];
      for (int64_t c = begin; c < end; ++c) {
        for (int64_t base : outer_) {
          for (int64_t done = 0; done < f_.run.size; done += kStripTerms) {
            const int64_t n = std::min(kStripTerms, f_.run.size - done);
            terms_(base + c * f_.stride + done * f_.run.strides[0], f_.run.strides[0], n, c, 0, a, b);
            result[c].first.Add(Strip(n, a));
            result[c].second.Add(Strip(n, b));
          }
        }
      }
    });
    return result;
  }
  PartialSum Strip(int64_t n, const double* terms) const {
    PartialSum sum;
    kernels_.sum(n, terms, &sum.sum, &sum.magnitude);
    return sum;
  }

  // Blocks of neighbouring features, and parts of their rows.
  std::vector<Sums> SideBySide() const {
    const int64_t blocks = (f_.count + kColumns - 1) / kColumns;
    const int64_t part_rows = std::max<int64_t>(f_.run.size / std::max<int64_t>(32 / blocks, 1), kRowsInARow);
    const int64_t parts = (f_.run.size + part_rows - 1) / part_rows;
    std::vector<Sums> partial(parts * blocks * kColumns);
    f_.context.parallel().For(parts * blocks, kTermsOfPart / (part_rows * kColumns) + 1,
                              [&](int64_t begin, int64_t end) {
                                for (int64_t i = begin; i < end; ++i) {
                                  const int64_t from = i / blocks * part_rows;
                                  AddRows(i % blocks * kColumns, from,
                                          std::min(from + part_rows, f_.run.size), &partial[i * kColumns]);
                                }
                              });
    std::vector<Sums> result(f_.count);
    for (int64_t part = 0; part < parts; ++part) {
      for (int64_t c = 0; c < f_.count; ++c) {
        const Sums& sums = partial[(part * blocks + c / kColumns) * kColumns + c % kColumns];
        result[c].first.Add(sums.first);
        result[c].second.Add(sums.second);
      }
    }
    return result;
  }
  void AddRows(int64_t column, int64_t from, int64_t to, Sums* total) const {
    alignas(64) double a[kColumns], b[kColumns], sums[4][kColumns];
    const int64_t n = std::min(kColumns, f_.count - column);
    for (int64_t base : outer_) {
      for (int64_t first = from; first < to; first += kRowsInARow) {
        for (auto& row : sums) std::fill_n(row, n, 0.0);
        for (int64_t row = first; row < std::min(first + kRowsInARow, to); ++row) {
          terms_(base + column + row * f_.run.strides[0], 1, n, column, 1, a, b);
          kernels_.add_rows(n, a, {kStart, 1}, sums[0], sums[1]);
          kernels_.add_rows(n, b, {kStart, 1}, sums[2], sums[3]);
        }
        for (int64_t j = 0; j < n; ++j) {
          total[j].first.Add({sums[0][j], 0, sums[1][j]});
          total[j].second.Add({sums[2][j], 0, sums[3][j]});
        }
      }
    }
  }

  const SumKernels& kernels_;
  const BatchNormFeatures& f_;
  const Terms& terms_;
  const std::vector<int64_t> outer_;
};

// Chains of at most 128 additions (SumKernels::sum: fewer) whose sums are added by TwoSum, errors included.
double BoundOf(const PartialSum& sum) { return (kRowsInARow + 32) * 0x1p-53 * kFeatureSlack * sum.magnitude; }

bool IsOrdinary(const PartialSum& sum) { return sum.magnitude > 0x1p-900 && sum.magnitude < 0x1p1000; }

std::optional<FeatureMoments> Moments(const BatchNormFeatures& f, const Sums& sums) {
  if (!IsOrdinary(sums.first) || !IsOrdinary(sums.second)) return std::nullopt;
  const double n = static_cast<double>(f.n), m = (sums.first.sum + sums.first.error) / n;
  const double squares = (sums.second.sum + sums.second.error) / n, v = squares - m * m;
  const double d = (BoundOf(sums.first) / n + 0x1p-51 * std::fabs(m)) * kFeatureSlack;
  const double bound =
      (BoundOf(sums.second) / n + 2 * std::fabs(m) * d + d * d + 0x1p-50 * (squares + m * m)) * kFeatureSlack;
  const auto mean = RoundEnclosed(m, 0, d, f.format), variance = RoundEnclosed(v, 0, bound, f.format);
  if (!mean || !variance) return std::nullopt;
  return FeatureMoments{*mean, *variance};
}

std::optional<FeatureSums> Gradients(const BatchNormFeatures& f, const Sums& sums) {
  if (!IsOrdinary(sums.first) || !IsOrdinary(sums.second)) return std::nullopt;
  const auto gradient = RoundEnclosed(sums.first.sum, sums.first.error, BoundOf(sums.first), f.format);
  const auto product = RoundEnclosed(sums.second.sum, sums.second.error, BoundOf(sums.second), f.format);
  if (!gradient || !product) return std::nullopt;
  return FeatureSums{*gradient, *product};
}

// settle(sums) or exactly(c), for every feature.
template <class Result, class Settle, class Exactly>
std::vector<Result> Settled(const BatchNormFeatures& f, const std::vector<Sums>& sums, const Settle& settle,
                            const Exactly& exactly) {
  std::vector<Result> result(f.count);
  std::vector<int64_t> open;
  for (int64_t c = 0; c < f.count; ++c) {
    const std::optional<Result> settled = sums.empty() ? std::nullopt : settle(f, sums[c]);
    if (settled) result[c] = *settled;
    if (!settled) open.push_back(c);
  }
  const int64_t failed = static_cast<int64_t>(open.size());
  CountTiers({2 * f.count, sums.empty() ? 0 : 2 * failed, 2 * failed});
  f.context.parallel().For(failed, kTermsOfPart / 8 / (f.n + 1) + 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) result[open[i]] = exactly(open[i]);
  });
  return result;
}

}  // namespace

std::vector<FeatureMoments> NativeMoments(const SumKernels& kernels, const BatchNormFeatures& f,
                                          const Literal& x) {
  const int64_t bytes = Bytes(f.type);
  const auto terms = [&](int64_t at, int64_t stride, int64_t n, int64_t, int64_t, double* a, double* b) {
    WidenRun(kernels, f.type, x.data() + at * bytes, stride * bytes, n, a);
    for (int64_t i = 0; i < n; ++i) b[i] = a[i] * a[i];
  };
  // Squares of f64 are no doubles.
  std::vector<Sums> sums;
  if (f.type != ElementType::kF64) sums = Summer(kernels, f, terms).Run();
  return Settled<FeatureMoments>(f, sums, Moments, [&](int64_t c) { return ExactMoments(f, c, x); });
}

std::vector<FeatureSums> NativeFeatureSums(const SumKernels& kernels, const BatchNormFeatures& f,
                                           const Literal& x, const Literal& g,
                                           const std::vector<double>& means) {
  const int64_t bytes = Bytes(f.type);
  const auto terms = [&](int64_t at, int64_t stride, int64_t n, int64_t c, int64_t step, double* a,
                         double* b) {
    WidenRun(kernels, f.type, g.data() + at * bytes, stride * bytes, n, a);
    WidenRun(kernels, f.type, x.data() + at * bytes, stride * bytes, n, b);
    for (int64_t i = 0; i < n; ++i) b[i] -= means[c + i * step];
    for (int64_t done = 0; done < n; done += kStrip)
      RoundStripToFormat(b + done, std::min(kStrip, n - done), f.format);
    for (int64_t i = 0; i < n; ++i) b[i] *= a[i];
  };
  std::vector<Sums> sums;
  if (f.type != ElementType::kF64) sums = Summer(kernels, f, terms).Run();
  return Settled<FeatureSums>(f, sums, Gradients,
                              [&](int64_t c) { return ExactFeatureSums(f, c, x, g, means[c]); });
}

}  // namespace assay::native
