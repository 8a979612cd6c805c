// IndexKernels for the instruction set "avx512".
#include "evaluator/native/isa.h"

#define ASSAY_TARGET ASSAY_AVX512
#define ASSAY_LANES 8
#define ASSAY_INDEX kAvx512Indices
#include "evaluator/native/index_kernels_body.h"
