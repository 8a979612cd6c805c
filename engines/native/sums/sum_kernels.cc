#include "engines/native/sums/sum_kernels.h"

#include <cmath>

#define ASSAY_BODIES "engines/native/sums/sum_kernels_body.h"
#include "jit/each_isa.inc"

namespace assay::native {

NarrowRounding::NarrowRounding(const FloatFormat& format)
    : half_less_one(0),
      lsb(1),
      shift(52 - format.mantissa_bits),
      smallest(std::ldexp(1.0, format.min_exponent)),
      largest(format.max_finite) {
  keep = ~((uint64_t{1} << shift) - 1);
  if (format.specials == FloatSpecials::kE8M0) smallest = HUGE_VAL;  // has no sign: nothing is simply rounded
  if (shift == 0) {
    lsb = 0;
  } else {
    half_less_one = (uint64_t{1} << (shift - 1)) - 1;
  }
}

const SumKernels& SumKernelsOf(Isa isa) {
  static constexpr const SumKernels* kOfIsa[] = {&baseline::kKernels, &avx2::kKernels, &avx512::kKernels};
  return *kOfIsa[static_cast<size_t>(isa)];
}

}  // namespace assay::native
