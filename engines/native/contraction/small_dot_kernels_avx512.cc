// SmallDotKernels for the instruction set "avx512".
#include "jit/isa.h"

#define ASSAY_TARGET ASSAY_AVX512
#define ASSAY_LANES 8
#define ASSAY_REGISTERS 32
#define ASSAY_SMALL_DOTS kAvx512SmallDots
#include "engines/native/contraction/small_dot_kernels_body.h"
