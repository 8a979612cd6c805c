// Discrete Fourier transforms of rank 1 to 3 whose every output component is the exact value rounded once
// (docs/spec/operations-linalg.md, Fft).
//
// The value of an output component is sum_u C_u cos(2 pi u / L) with dyadic C_u, divided by N for the
// inverse. It is found in three steps:
//   1. A fixed-point FFT with an error bound (fixed_fft.h). If all numbers within the bound round to the same
//      value, that is it. This decides nearly every component.
//   2. Else the component may be exactly zero, or exactly between two neighbouring values of the format. Both
//      are rational, and whether the sum is rational is decided exactly: the sum is an element of the
//      cyclotomic field Q(zeta_L), which is written in a basis that contains 1 by using, for every prime p
//      dividing L, that the p numbers zeta^(u + j L / p) sum to zero. It is rational if and only if all
//      coefficients but that of 1 vanish, and its value is then that coefficient. If a component at k is
//      rational, the automorphisms of the field that fix i show that the components at u k, for u = 1 (mod 4)
//      prime to L, are the same number, so that one computation answers for all of them.
//   3. Else it is irrational, hence never zero nor between two values: it is computed with MPFR at growing
//      precision until the rounding is decided, which must happen.
#ifndef ASSAY_EVALUATOR_SCALAR_EXACT_DFT_H_
#define ASSAY_EVALUATOR_SCALAR_EXACT_DFT_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "base/error.h"
#include "shape/element_type.h"

namespace assay {

class ExactDft {
 public:
  // Lengths n_d >= 1. Forward: sum_j x[j] prod_d e^(-2 pi i j_d k_d / n_d); inverse: the conjugate roots, and
  // divided by N = prod n_d. Results are of `format`, f32's or f64's.
  ExactDft(std::vector<int64_t> lengths, bool inverse, const FloatFormat& format);
  ~ExactDft();

  // Input element j (row-major): (re[j] + i im[j]) * 2^doubled[j]; all finite.
  struct Line {
    std::vector<double> re, im;
    std::vector<uint8_t> doubled;
  };
  // Output components, row-major. Only outputs whose last index is below `last_limit` are computed, and
  // imaginary parts only if `imaginary`.
  struct Output {
    std::vector<double> re, im;
  };
  using Charge = absl::FunctionRef<absl::Status(int64_t)>;
  absl::Status Transform(const Line& line, int64_t last_limit, bool imaginary, Output& output, Charge charge);
  // Settles the components with a nonzero mark alone, for users with a fast transform of their own:
  // steps 2 and 3.
  absl::Status Decide(const Line& line, std::vector<uint8_t>& marked_re, std::vector<uint8_t>& marked_im,
                      Output& output, Charge charge);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace assay

#endif  // ASSAY_EVALUATOR_SCALAR_EXACT_DFT_H_
