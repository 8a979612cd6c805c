// SolveKernels for the instruction set "avx512".
#include "jit/isa.h"

#define ASSAY_TARGET ASSAY_AVX512
#define ASSAY_LANES 8
#define ASSAY_SOLVE kAvx512Solve
#include "engines/native/linalg/solve_kernels_body.h"
