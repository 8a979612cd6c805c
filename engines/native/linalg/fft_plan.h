// Plans of fast Fourier transforms in doubles and in pairs, with proven error bounds.
//
// Stockham's algorithm: passes of radix 4, 2 and odd primes p (directly, p^2 operations), each
//   y[q + width (p j + k)] = w_length^(j k) * sum over r < p of x[q + width (j + count r)] w_p^(r k)
// for j < count, k < p, q < width, where length = p count is what is left to transform and width grows from
// `inner`, the number of transforms whose elements lie side by side.
#ifndef ASSAY_ENGINES_NATIVE_LINALG_FFT_PLAN_H_
#define ASSAY_ENGINES_NATIVE_LINALG_FFT_PLAN_H_

#include <array>
#include <cstdint>
#include <vector>

namespace assay::native {

// Complex numbers as planes of pairs: re, im, re_low, im_low. Transforms in doubles use the first two.
using ComplexTable = std::array<std::vector<double>, 4>;

struct FftPass {
  int64_t radix, count, width;
  // Narrow passes (fewer neighbours than a vector has lanes) have their twiddles for each c = q + width j,
  // others for each j; k's are at [(k - 1) * stride], k > 0.
  bool narrow;
  bool normal;  // pairs: the results are
  int64_t stride;
  ComplexTable twiddles;
  ComplexTable roots;           // w_p^t for odd p
  std::vector<int64_t> places;  // narrow: c + width (p - 1) j, where output 0 of c goes
};

struct FftAxis {
  FftAxis(int64_t size, int64_t neighbours, int lanes);
  int64_t n, inner;
  std::vector<FftPass> passes;
  // ||computed - exact||_2 <= error * sqrt(n) * ||x||_2.
  double error_of_doubles, error_of_pairs;
};

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_LINALG_FFT_PLAN_H_
