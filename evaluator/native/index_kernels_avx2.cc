// IndexKernels for the instruction set "avx2".
#include "evaluator/native/isa.h"

#define ASSAY_TARGET ASSAY_AVX2
#define ASSAY_LANES 4
#define ASSAY_INDEX kAvx2Indices
#include "evaluator/native/index_kernels_body.h"
