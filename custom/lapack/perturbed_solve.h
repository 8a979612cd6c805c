// tridiagonal_solve_perturbed_ffi, which jaxlib has among its LAPACK targets: a system whose matrix may be
// singular, for inverse iteration. No library is asked.
#ifndef ASSAY_CUSTOM_LAPACK_PERTURBED_SOLVE_H_
#define ASSAY_CUSTOM_LAPACK_PERTURBED_SOLVE_H_

#include "custom/lapack/routine.h"

namespace assay::custom {

// Operands and result are those of gtsv: dl, d, du, b; x.
const Routine& PerturbedSolve();

}  // namespace assay::custom

#endif  // ASSAY_CUSTOM_LAPACK_PERTURBED_SOLVE_H_
