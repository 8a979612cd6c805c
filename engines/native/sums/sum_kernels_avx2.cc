// SumKernels for the instruction set "avx2".
#include "jit/isa.h"

#define ASSAY_TARGET ASSAY_AVX2
#define ASSAY_LANES 4
#define ASSAY_ROWS 6
#define ASSAY_SUMS kAvx2Sums
#include "engines/native/sums/sum_kernels_body.h"
