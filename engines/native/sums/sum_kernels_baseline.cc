// SumKernels for the instruction set "baseline".
#include "jit/isa.h"

#define ASSAY_TARGET
#define ASSAY_LANES 2
#define ASSAY_ROWS 4
#define ASSAY_SUMS kBaselineSums
#include "engines/native/sums/sum_kernels_body.h"
