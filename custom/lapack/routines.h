// The routines that custom calls may name.
#ifndef ASSAY_CUSTOM_LAPACK_ROUTINES_H_
#define ASSAY_CUSTOM_LAPACK_ROUTINES_H_

#include <span>

#include "custom/lapack/routine.h"

namespace assay::custom {

// Arguments of Fortran's routines.
using Int = const int*;
using Letter = const char*;

inline constexpr ArrayRule kOneMatrix[] = {{ArrayType::kElement, "mn"}};
inline constexpr ArrayRule kSquare[] = {{ArrayType::kElement, "nn"}};

// Those that end after a number of steps known beforehand: factorizations into triangles and reflectors,
// products of reflectors, systems of equations.
std::span<const Routine> DirectRoutines();
// Those that look for eigenvalues and singular values by iteration.
std::span<const Routine> SpectralRoutines();

}  // namespace assay::custom

#endif  // ASSAY_CUSTOM_LAPACK_ROUTINES_H_
