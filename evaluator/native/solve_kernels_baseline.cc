// SolveKernels for the instruction set "baseline".
#include "evaluator/native/isa.h"

#define ASSAY_TARGET
#define ASSAY_LANES 2
#define ASSAY_SOLVE kBaselineSolve
#include "evaluator/native/solve_kernels_body.h"
