// A fast Fourier transform in 128-bit fixed point with a proven error bound: the first try of exact_dft.h.
#ifndef ASSAY_EVALUATOR_SCALAR_FIXED_FFT_H_
#define ASSAY_EVALUATOR_SCALAR_FIXED_FFT_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "base/error.h"

namespace assay {

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 Uint128;

// A number in units of the fixed point chosen by the user.
struct FixedComplex {
  Int128 re = 0, im = 0;
};

// Transforms of one length n: X[k] = sum_j x[j] w^(jk), w = e^(-2 pi i / n), or its conjugate for the inverse
// (no scaling).
class FixedFft {
 public:
  FixedFft(int64_t n, bool inverse);
  int64_t n() const { return n_; }

  // Works in place over n values. |x[j]| (as complex numbers) times n must stay below 2^126. `charge` is told
  // of the work and may end it.
  absl::Status Transform(FixedComplex* x, absl::FunctionRef<absl::Status(int64_t)> charge);

  // If every x[j] is within `error` of the number meant and has an absolute value of at most `magnitude`,
  // then every X[k] is within the returned bound, and at most n * magnitude in absolute value (plus the
  // error).
  double ErrorAfter(double error, double magnitude) const;

 private:
  void MakeRoots(bool inverse);
  absl::Status Pass(int64_t p, int64_t length, int64_t done, const FixedComplex* x, FixedComplex* y,
                    absl::FunctionRef<absl::Status(int64_t)> charge) const;

  const int64_t n_;
  std::vector<int64_t> factors_;
  std::vector<FixedComplex> roots_;  // w^t, in units of 2^-126, each component within kRootError units
  std::vector<FixedComplex> scratch_;
};

}  // namespace assay

#endif  // ASSAY_EVALUATOR_SCALAR_FIXED_FFT_H_
