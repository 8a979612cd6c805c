// IndexKernels for the instruction set "avx2".
#include "jit/isa.h"

#define ASSAY_TARGET ASSAY_AVX2
#define ASSAY_LANES 4
#define ASSAY_INDEX kAvx2Indices
#include "engines/native/scatter_gather/index_kernels_body.h"
