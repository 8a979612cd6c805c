// SolveKernels for the instruction set "avx512".
#include "evaluator/native/isa.h"

#define ASSAY_TARGET ASSAY_AVX512
#define ASSAY_LANES 8
#define ASSAY_SOLVE kAvx512Solve
#include "evaluator/native/solve_kernels_body.h"
