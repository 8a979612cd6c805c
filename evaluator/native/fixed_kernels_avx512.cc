// FixedKernels for the instruction set "avx512".
#include "evaluator/native/isa.h"

#define ASSAY_TARGET ASSAY_AVX512
#define ASSAY_LANES 8
#define ASSAY_FIXED kAvx512Fixed
#include "evaluator/native/fixed_kernels_body.h"
