// SolveKernels for the instruction set "baseline".
#include "jit/isa.h"

#define ASSAY_TARGET
#define ASSAY_LANES 2
#define ASSAY_SOLVE kBaselineSolve
#include "engines/native/linalg/solve_kernels_body.h"
