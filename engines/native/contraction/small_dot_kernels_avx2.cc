// SmallDotKernels for the instruction set "avx2".
#include "jit/isa.h"

#define ASSAY_TARGET ASSAY_AVX2
#define ASSAY_LANES 4
#define ASSAY_REGISTERS 16
#define ASSAY_SMALL_DOTS kAvx2SmallDots
#include "engines/native/contraction/small_dot_kernels_body.h"
