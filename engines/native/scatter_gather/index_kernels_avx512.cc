// IndexKernels for the instruction set "avx512".
#include "jit/isa.h"

#define ASSAY_TARGET ASSAY_AVX512
#define ASSAY_LANES 8
#define ASSAY_INDEX kAvx512Indices
#include "engines/native/scatter_gather/index_kernels_body.h"
