// Bounds, with M = sum |term| and u = 2^-53: doubles (chain + slack) u M; pairs 4 chain^2 u^2 M, where the
// longest chain counts the additions in a part and those of the parts (product_bounds.h has the reasoning).
#include "engines/native/sums/sum_terms.h"

#include <algorithm>
#include <cmath>

#include "engines/native/sums/enclosed_sum.h"
#include "engines/native/sums/row_source.h"
#include "evaluator/scalar/exact_sum.h"
#include "literal/element_io.h"
#include "literal/float_format.h"

namespace assay::native {
namespace {

constexpr int64_t kSliceTerms = 1024;         // vectors of terms, at most 2048 (SumKernels::slices)
constexpr double kLargeMagnitude = 0x1p1000;  // of a sum of doubles whose partial sums can't overflow
constexpr double kSumSlack = 1 + 0x1p-20;

}  // namespace

SumTerms::SumTerms(const SumKernels& kernels, const FloatFormat& format, int64_t count)
    : kernels_(kernels), format_(format), count_(count) {}

SumTerms::SumTerms(const SumKernels& kernels, ElementType type, const std::byte* data, const LoopDims& loops)
    : kernels_(kernels),
      type_(type),
      format_(*Info(type).format),
      pairs_first_(type == ElementType::kF64),
      data_(data),
      bytes_(Bytes(type)) {
  LoopDims merged = MergeLoops(loops);
  count_ = LoopCount(merged);
  run_ = TakeInnermostLoop(merged);
  if (run_.size == 1) run_.strides[0] = 1;
  run_at_ = OffsetsOf(merged, 0);
}

void SumTerms::Gather(int64_t base, int64_t from, int64_t n, double* dst) const {
  for (int64_t run = from / run_.size, skip = from % run_.size; n > 0; ++run, skip = 0) {
    const int64_t count = std::min(n, run_.size - skip);
    WidenRun(kernels_, type_, data_ + (base + run_at_[run] + skip * run_.strides[0]) * bytes_,
             run_.strides[0] * bytes_, count, dst);
    dst += count;
    n -= count;
  }
}

PartialSum SumTerms::Sum(int64_t base, int64_t from, int64_t n) const {
  if (pairs_first_) return PairSum(base, from, n);
  PartialSum result;
  if (data_ != nullptr && run_.strides[0] == 1 && from % run_.size + n <= run_.size) {
    const std::byte* const src = data_ + (base + run_at_[from / run_.size] + from % run_.size) * bytes_;
    if (type_ == ElementType::kF32) {
      kernels_.sum_f32(n, reinterpret_cast<const float*>(src), &result.sum, &result.magnitude);
      return result;
    }
    if (type_ == ElementType::kBF16) {
      kernels_.sum_bf16(n, reinterpret_cast<const uint16_t*>(src), &result.sum, &result.magnitude);
      return result;
    }
  }
  double terms[kPart];
  Gather(base, from, n, terms);
  kernels_.sum(n, terms, &result.sum, &result.magnitude);
  return result;
}

PartialSum SumTerms::PairSum(int64_t base, int64_t from, int64_t n) const {
  double terms[kPart];
  Gather(base, from, n, terms);
  PartialSum result;
  kernels_.pair_sum(n, terms, &result.sum, &result.error, &result.magnitude);
  return result;
}

void SumTerms::AppendSlices(int64_t base, int64_t from, int64_t n, std::vector<double>& slices) const {
  const int lanes = kernels_.lanes;
  alignas(64) double terms[kSliceTerms * kMaxLanes];
  alignas(64) double values[kMaxSlices * kMaxLanes];
  Gather(base, from, n, terms);
  const int64_t vectors = (n + lanes - 1) / lanes;
  std::fill(terms + n, terms + vectors * lanes, 0.0);
  const int levels = kernels_.slices(vectors, terms, values);
  slices.insert(slices.end(), values, values + levels * lanes);
}

PartialSum SumTerms::SumInParts(Parallel& parallel, int64_t base, bool pairs) const {
  const int64_t parts = (count_ + kPart - 1) / kPart;
  std::vector<PartialSum> partial(parts);
  parallel.For(parts, 8, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      const int64_t from = part * kPart, n = std::min(kPart, count_ - from);
      partial[part] = pairs ? PairSum(base, from, n) : Sum(base, from, n);
    }
  });
  PartialSum total;
  for (const PartialSum& part : partial) total.Add(part);
  return total;
}

double SumTerms::RoundedSum(Parallel& parallel, int64_t base, double init, TierCounts& counts) const {
  const PartialSum sum = count_ == 0       ? PartialSum()
                         : count_ <= kPart ? Sum(base, 0, count_)
                                           : SumInParts(parallel, base, pairs_first_);
  return RoundedSum(parallel, base, init, sum, ChainOf(std::min(count_, kPart)), counts);
}

double SumTerms::RoundedSum(Parallel& parallel, int64_t base, double init, const PartialSum& first,
                            int64_t chain, TierCounts& counts) const {
  ++counts.sums;
  const PartialSum start{init, 0, std::fabs(init)};
  PartialSum sum = first;
  sum.Add(start);
  // Finite elements narrower than f64 have finite sums in doubles,
  // so that an infinite or NaN one is the answer.
  if (!pairs_first_ && !std::isfinite(first.sum + init)) return RoundToFormat(first.sum + init, format_);
  if (!(sum.magnitude <= kLargeMagnitude)) return ByAccumulator(base, init);
  if (sum.magnitude == 0) return RoundToFormat(Zero(base, init), format_);
  const int64_t parts = count_ / kPart + 8;
  const double pairs_chain = static_cast<double>(chain + parts);
  const double pairs_bound = 4 * pairs_chain * pairs_chain * 0x1p-106 * kSumSlack * sum.magnitude;
  const double doubles_bound =
      static_cast<double>(chain + 8) * 0x1p-53 * kSumSlack * sum.magnitude + pairs_bound;
  if (!pairs_first_) {
    if (const auto rounded = RoundEnclosed(sum.sum, sum.error, doubles_bound, format_)) return *rounded;
    sum = SumInParts(parallel, base, true);
    sum.Add(start);
  }
  ++counts.pairs;
  // Below 2^-1000 the bound itself could underflow.
  if (pairs_bound > 0x1p-1000) {
    if (const auto rounded = RoundEnclosed(sum.sum, sum.error, pairs_bound, format_)) return *rounded;
  }
  ++counts.slices;
  return BySlices(parallel, base, init);
}

double SumTerms::BySlices(Parallel& parallel, int64_t base, double init) const {
  const int64_t parts = (count_ + kPart - 1) / kPart;
  std::vector<std::vector<double>> slices(parts);
  parallel.For(parts, 8, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      const int64_t to = std::min((part + 1) * kPart, count_), step = kSliceTerms * kernels_.lanes;
      for (int64_t from = part * kPart; from < to; from += step)
        AppendSlices(base, from, std::min(step, to - from), slices[part]);
    }
  });
  ExactSum sum;
  sum.Add(init);
  for (const std::vector<double>& part : slices) {
    for (double slice : part) {
      if (slice != 0) sum.Add(slice);
    }
  }
  return sum.Sign() == 0 ? RoundToFormat(Zero(base, init), format_) : sum.Round(format_);
}

double SumTerms::ByAccumulator(int64_t base, double init) const {
  constexpr double kOne = 1;
  double terms[kPart];
  ExactSum sum;
  sum.Add(init);
  for (int64_t from = 0; from < count_; from += kPart) {
    const int64_t n = std::min(kPart, count_ - from);
    Gather(base, from, n, terms);
    sum.AddProducts(terms, 1, &kOne, 0, n);
  }
  return sum.Round(format_);
}

// A sum that is exactly zero is +0 unless init and every term are -0.
double SumTerms::Zero(int64_t base, double init) const {
  if (init != 0 || !std::signbit(init)) return 0.0;
  double terms[kPart];
  for (int64_t from = 0; from < count_; from += kPart) {
    const int64_t n = std::min(kPart, count_ - from);
    Gather(base, from, n, terms);
    for (int64_t i = 0; i < n; ++i) {
      if (terms[i] != 0 || !std::signbit(terms[i])) return 0.0;
    }
  }
  return -0.0;
}

}  // namespace assay::native
