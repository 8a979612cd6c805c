// FixedKernels for the instruction set "avx2".
#include "jit/isa.h"

#define ASSAY_TARGET ASSAY_AVX2
#define ASSAY_LANES 4
#define ASSAY_FIXED kAvx2Fixed
#include "engines/native/sums/fixed_kernels_body.h"
