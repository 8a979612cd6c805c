// Arguments of sin, cos and tan in quarter turns, by Payne and Hanek (engines/native/functions/circular.h).
#ifndef ASSAY_GPU_PTX_TURNS_H_
#define ASSAY_GPU_PTX_TURNS_H_

#include "gpu/ptx/pairs.h"

namespace assay::gpu {

// k quarter turns, of which the lowest two bits count, and r.
struct Quadrant {
  Register k;
  Approximate r;
};

// Of a in [1/2, 2^(1 + most)), a value of 24 bits at most where the pairs are single doubles.
inline constexpr int kMaxTurnedSingle = 127, kMaxTurnedDouble = 31;  // exponents
Quadrant TurnsOf(PtxWriter& writer, Pairs& pairs, Register a);

}  // namespace assay::gpu

#endif  // ASSAY_GPU_PTX_TURNS_H_
