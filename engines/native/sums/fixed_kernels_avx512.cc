// FixedKernels for the instruction set "avx512".
#include "jit/isa.h"

#define ASSAY_TARGET ASSAY_AVX512
#define ASSAY_LANES 8
#define ASSAY_FIXED kAvx512Fixed
#include "engines/native/sums/fixed_kernels_body.h"
