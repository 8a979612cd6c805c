// IndexKernels for the instruction set "baseline".
#include "jit/isa.h"

#define ASSAY_TARGET
#define ASSAY_LANES 2
#define ASSAY_INDEX kBaselineIndices
#include "engines/native/scatter_gather/index_kernels_body.h"
