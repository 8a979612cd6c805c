// Custom calls of LAPACK routines in the native engine: potrf is cholesky, trsm is triangular-solve.
#ifndef ASSAY_ENGINES_NATIVE_LINALG_LAPACK_CALL_H_
#define ASSAY_ENGINES_NATIVE_LINALG_LAPACK_CALL_H_

#include "engines/engine.h"
#include "jit/isa.h"

namespace assay::native {

// Takes a call for which IsLapackCall is true.
std::shared_ptr<const Kernel> MakeLapackCall(Isa isa);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_LINALG_LAPACK_CALL_H_
