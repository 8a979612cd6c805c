// The exact sum of products of doubles as one big integer: GMP's, in units of 2^-2200, which no product of
// two doubles is finer than. Infinities, NaNs and the sign of a zero sum are those of
// docs/spec/operations.md, NUM-5.
#ifndef ASSAY_PROVE_EXACT_TOTAL_H_
#define ASSAY_PROVE_EXACT_TOTAL_H_

#include <gmp.h>

#include <cstdint>

#include "prove/number_format.h"

namespace assay::prove {

class ExactTotal {
 public:
  ExactTotal() { mpz_inits(sum_, term_, nullptr); }
  ~ExactTotal() { mpz_clears(sum_, term_, nullptr); }
  ExactTotal(const ExactTotal&) = delete;

  void Clear();
  void Add(double x) { AddProduct(x, 1); }
  void AddProduct(double a, double b);
  // The pattern of RN_F of the sum; +0 if nothing was added.
  uint64_t Round(const NumberFormat& format) const;

 private:
  mpz_t sum_, term_;
  bool nan_ = false, positive_infinity_ = false, negative_infinity_ = false;
  bool any_ = false, only_negative_zeros_ = true;
};

}  // namespace assay::prove

#endif  // ASSAY_PROVE_EXACT_TOTAL_H_
