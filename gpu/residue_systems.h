// The moduli of dots by residues, and what belongs to so many of them.
#ifndef ASSAY_GPU_RESIDUE_SYSTEMS_H_
#define ASSAY_GPU_RESIDUE_SYSTEMS_H_

#include <vector>

#include "gpu/kernels/residues/residue_arguments.h"

namespace assay::gpu {

// System i is that of i moduli, the first of 256, 255, 253, 251, 247, …: the greatest that are coprime to all
// before. Those of fewer than kLeastModuli are empty.
inline constexpr int kLeastModuli = 2;
const std::vector<ResidueSystem>& ResidueSystems();

// How many moduli a dot of k terms has that is rounded to `precision` bits: the least with (log2 P - log2 k)
// / 2 - precision >= guard, at most `most`. On normal data about 1 % of the entries is open with a guard of 9
// bits, and 0.006 % with 13 bits.
inline constexpr int kMendedGuardBits = 9, kGuardBits = 13;
int UsualModuli(int precision, int64_t k, int guard, int most);
// Open entries of f32 and narrower types are mended, but that needs rows of few cuts, which elements of more
// bits than the result has do not give.
constexpr int GuardBits(bool is_double, int operand_precision, int precision) {
  return is_double || operand_precision > precision ? kGuardBits : kMendedGuardBits;
}

}  // namespace assay::gpu

#endif  // ASSAY_GPU_RESIDUE_SYSTEMS_H_
