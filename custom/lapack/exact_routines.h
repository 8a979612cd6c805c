// Routines of LAPACK by wide numbers (custom/linalg/ladder.h): each writes the results of one matrix, as its
// own Fortran routine would, computed with numbers of `limbs` x 64 bits, and answers whether it was sure of
// its decisions. The types that it has are those of its row in DirectRoutines and SpectralRoutines.
#ifndef ASSAY_CUSTOM_LAPACK_EXACT_ROUTINES_H_
#define ASSAY_CUSTOM_LAPACK_EXACT_ROUTINES_H_

#include "custom/lapack/routine.h"

namespace assay::custom {

ExactRoutine ExactGeqrf, ExactGeqp3, ExactOrgqr, ExactOrmqr;
ExactRoutine ExactGehrd, ExactSytrd;
ExactRoutine ExactSyevd, ExactSvd;
ExactRoutine ExactGeev, ExactGees;

}  // namespace assay::custom

#endif  // ASSAY_CUSTOM_LAPACK_EXACT_ROUTINES_H_
