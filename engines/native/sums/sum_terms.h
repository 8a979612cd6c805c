// The terms of many exact sums of array elements, and how one of them is summed:
// what reduce and reduce-window share.
#ifndef ASSAY_ENGINES_NATIVE_SUMS_SUM_TERMS_H_
#define ASSAY_ENGINES_NATIVE_SUMS_SUM_TERMS_H_

#include <vector>

#include "base/parallel.h"
#include "engines/native/sums/sum_kernels.h"
#include "engines/native/sums/tiers.h"
#include "engines/native/walk/loops.h"

namespace assay::native {

// A partial sum: |terms' sum - (sum + error)| <= the bound of whoever made it;
// magnitude is the sum of |term|.
struct PartialSum {
  double sum = 0, error = 0, magnitude = 0;

  void Add(const PartialSum& other) {
    const double t = sum + other.sum, z = t - sum;
    error += ((sum - (t - z)) + (other.sum - z)) + other.error;
    sum = t;
    magnitude += other.magnitude;
  }
};

// Terms of sums: elements of one float type at data + (base + offset) for the offsets of nested loops.
class SumTerms {
 public:
  // `loops`: array 0 moves through the elements.
  SumTerms(const SumKernels& kernels, ElementType type, const std::byte* data, const LoopDims& loops);
  virtual ~SumTerms() = default;
  int64_t count() const { return count_; }

  // dst = terms [from, from + n) of the sum at `base`.
  virtual void Gather(int64_t base, int64_t from, int64_t n, double* dst) const;
  // Those terms in doubles; in pairs where the type is f64.
  PartialSum Sum(int64_t base, int64_t from, int64_t n) const;
  PartialSum PairSum(int64_t base, int64_t from, int64_t n) const;
  // Doubles with exactly the sum of those terms, all finite, appended. n <= kSliceTerms.
  void AppendSlices(int64_t base, int64_t from, int64_t n, std::vector<double>& slices) const;

  // RN of init + all terms at `base`, cut into parts for the threads where there are many. `first` is what is
  // known already: the parts' sums in doubles (f64: pairs) with `chain` additions in a row at most.
  double RoundedSum(Parallel& parallel, int64_t base, double init, const PartialSum& first, int64_t chain,
                    TierCounts& counts) const;
  double RoundedSum(Parallel& parallel, int64_t base, double init, TierCounts& counts) const;

  static constexpr int64_t kPart = 1 << 13;
  // The longest chain of additions in a part of n terms.
  int64_t ChainOf(int64_t n) const { return n / (4 * kernels_.lanes) + 24; }
  bool pairs_first() const { return pairs_first_; }

 protected:
  // Terms that Gather makes, doubles whose sums don't overflow; the format is the sum's.
  SumTerms(const SumKernels& kernels, const FloatFormat& format, int64_t count);
  const SumKernels& kernels_;

 private:
  PartialSum SumInParts(Parallel& parallel, int64_t base, bool pairs) const;
  double BySlices(Parallel& parallel, int64_t base, double init) const;
  double ByAccumulator(int64_t base, double init) const;
  double Zero(int64_t base, double init) const;

  const ElementType type_ = ElementType::kF32;
  const FloatFormat& format_;
  const bool pairs_first_ = false;
  const std::byte* const data_ = nullptr;  // null: Gather alone knows the terms
  const int64_t bytes_ = 0;
  LoopDim run_;                  // the innermost loop
  std::vector<int64_t> run_at_;  // the others
  int64_t count_ = 0;
};

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_SUMS_SUM_TERMS_H_
