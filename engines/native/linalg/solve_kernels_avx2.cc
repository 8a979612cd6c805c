// SolveKernels for the instruction set "avx2".
#include "jit/isa.h"

#define ASSAY_TARGET ASSAY_AVX2
#define ASSAY_LANES 4
#define ASSAY_SOLVE kAvx2Solve
#include "engines/native/linalg/solve_kernels_body.h"
